package main

import (
	"errors"
	"io"
	"os"
	"strings"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"

	"cordboard/core"
	"cordboard/core/host"
	"cordboard/themes"
	"cordboard/ui"
)

// wardrobe is the themes there are for this terminal, and the one that is worn at the start. It is a ui.Looks.
type wardrobe struct {
	dirs     []string
	renderer *lipgloss.Renderer
	styles   *themes.Styles
	name     string
	plain    bool // no colours, whatever is chosen
	notices  []string

	asked bool   // the terminal was asked and has not answered yet
	typed []byte // what was typed meanwhile
}

// dress chooses the theme: --theme, ui.theme, COLORFGBG, else what the terminal itself answers within 150 ms, else dark. NO_COLOR takes
// the colours away and keeps bold and reverse, so that the selection is seen; a dumb terminal gets none of them. A theme of the config
// that is broken is told and done without; one that the command line names must be right.
func (a *app) dress(s host.ConfigUI) (*wardrobe, error) {
	w := &wardrobe{renderer: lipgloss.NewRenderer(io.Discard)}
	w.dirs = themeDirs()
	w.renderer.SetColorProfile(termenv.NewOutput(os.Stdout, termenv.WithEnvironment(environ(a.getenv))).EnvColorProfile())
	if w.plain = a.getenv("NO_COLOR") != "" || a.getenv("TERM") == "dumb"; w.plain {
		w.renderer.SetColorProfile(termenv.Ascii)
		if a.getenv("TERM") != "dumb" {
			w.renderer.SetColorProfile(termenv.ANSI)
		}
		styles, err := w.Load(themes.NoColour)
		w.styles, w.name = styles, themes.NoColour
		return w, err
	}
	w.name = a.theme(w, a.home(s.Theme))
	styles, err := w.Load(w.name)
	if err != nil && a.console.theme == "" {
		w.notices = append(w.notices, "your theme is left out: "+err.Error())
		w.name = a.theme(w, "")
		styles, err = w.Load(w.name)
	}
	w.styles = styles
	if e, ok := errors.AsType[*core.Error](err); ok && a.console.theme != "" { // not the config's: the flag named it
		flagged := *e
		flagged.Message, flagged.ConfigKey = "--theme: "+e.Message, ""
		err = &flagged
	}
	return w, err
}

// theme is the name of the theme to wear. The terminal is asked only when nobody else says anything.
func (a *app) theme(w *wardrobe, configured string) string {
	if chosen, ok := themes.Chosen(a.console.theme, configured, a.getenv("COLORFGBG")); ok {
		return chosen
	}
	in, inOK := a.in.(*os.File)
	out, outOK := a.out.(*os.File)
	if !a.terminal || !inOK || !outOK {
		return themes.Dark
	}
	light, known, typed := askBackground(in, out)
	w.asked, w.typed = !known, typed
	if light {
		return themes.Light
	}
	return themes.Dark
}

// Names implements ui.Looks.
func (w *wardrobe) Names() []string { return themes.Names(w.dirs...) }

// Load implements ui.Looks.
func (w *wardrobe) Load(name string) (*themes.Styles, error) {
	palette, err := themes.Load(name, w.dirs...)
	if err != nil {
		return nil, err
	}
	return themes.Compile(palette, w.renderer), nil
}

// others are the themes to choose from; none where nothing would come of it.
func (w *wardrobe) others() ui.Looks {
	if w.plain {
		return nil
	}
	return w
}

// environ lets termenv read our surroundings.
type environ func(string) string

func (e environ) Getenv(name string) string { return e(name) }

func (e environ) Environ() []string {
	var list []string
	for _, pair := range os.Environ() {
		name, _, _ := strings.Cut(pair, "=")
		list = append(list, name+"="+e(name))
	}
	return list
}
