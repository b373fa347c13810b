package themes

import (
	"embed"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"cordboard/core"
)

//go:embed *.json
var builtin embed.FS

// The built-in themes.
const (
	Dark         = "dark"
	Light        = "light"
	HighContrast = "high-contrast"
	NoColour     = "no-colour"
	auto         = "auto"
)

const extension = ".json"

// Load finds a theme: a path (with a separator, or ending in .json), else a name, looked up in the user's directories first and
// then among the built-in ones. Unknown names are core.CodeNotFound with the known ones in Allowed; bad files core.CodeConfig.
func Load(nameOrPath string, dirs ...string) (Palette, error) {
	if strings.ContainsAny(nameOrPath, `/\`) || strings.HasSuffix(nameOrPath, extension) {
		data, err := os.ReadFile(nameOrPath)
		if err != nil {
			return Palette{}, core.Errorf(core.CodeNotFound, "cannot read the theme file: %w", err).Because("ui.theme")
		}
		return parseFile(nameOrPath, data)
	}
	for _, dir := range dirs {
		path := filepath.Join(dir, nameOrPath+extension)
		data, err := os.ReadFile(path)
		if err == nil {
			return parseFile(path, data)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return Palette{}, core.Errorf(core.CodeConfig, "cannot read the theme file: %w", err).Because("ui.theme")
		}
	}
	data, err := builtin.ReadFile(nameOrPath + extension)
	if err != nil {
		return Palette{}, unknownTheme(nameOrPath, Names(dirs...))
	}
	return parseFile(nameOrPath, data)
}

// parseFile is Parse with the file named in the error.
func parseFile(path string, data []byte) (Palette, error) {
	p, err := Parse(data)
	if err == nil {
		return p, nil
	}
	named := core.Errorf(core.CodeConfig, "theme %s: %w", path, err)
	if cause, ok := errors.AsType[*core.Error](err); ok {
		named.ConfigKey, named.Allowed = cause.ConfigKey, cause.Allowed
	}
	return Palette{}, named
}

func unknownTheme(name string, known []string) error {
	hint := ""
	if near := core.Nearest(name, known); near != "" {
		hint = ", did you mean " + strconv.Quote(near) + "?"
	}
	return core.Errorf(core.CodeNotFound, "no theme is called %q%s", name, hint).Because("ui.theme").Accept(known...)
}

// Names lists the themes Load knows by name: the built-in ones and the user's, sorted. A directory that cannot be read has none.
func Names(dirs ...string) []string {
	names := namesIn(builtin)
	for _, dir := range dirs {
		names = append(names, namesIn(os.DirFS(dir))...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func namesIn(fsys fs.FS) []string {
	files, err := fs.Glob(fsys, "*"+extension)
	if err != nil {
		return nil
	}
	for i, file := range files {
		files[i] = strings.TrimSuffix(file, extension)
	}
	return files
}

// Choose picks a theme name or path as Chosen does, and takes the dark one where nobody chose. It never asks the terminal.
func Choose(flag, config, colorfgbg string) string {
	if name, ok := Chosen(flag, config, colorfgbg); ok {
		return name
	}
	return Dark
}

// Chosen is the theme name or path that somebody chose: the flag, else the config (ui.theme), else what COLORFGBG says about the
// background. "auto" and "" mean: not chosen here.
func Chosen(flag, config, colorfgbg string) (string, bool) {
	for _, chosen := range []string{flag, config} {
		if chosen != "" && chosen != auto {
			return chosen, true
		}
	}
	light, known := lightBackground(colorfgbg)
	if light {
		return Light, true
	}
	return Dark, known
}

// lightBackground reads COLORFGBG, "foreground;background" or "foreground;default;background" in indexes of the 16 colours: white
// (7) and the bright ones but dark grey (8) are light.
func lightBackground(colorfgbg string) (light, known bool) {
	parts := strings.Split(colorfgbg, ";")
	if len(parts) < 2 {
		return false, false
	}
	bg, err := strconv.Atoi(parts[len(parts)-1])
	if err != nil || bg < 0 || bg > 15 {
		return false, false
	}
	return bg == 7 || bg > 8, true
}
