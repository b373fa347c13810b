package core_test

import (
	"errors"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A room is a folder with a job of its own, and the arrows say which of our other rooms it may import: what is not listed it may not.
// A file belongs to the room that is the longest prefix of its path. Test files are free. Whoever makes a room adds it here.
var arrows = map[string][]string{
	"core":          {},
	"core/key":      {"core"},
	"core/policy":   {"core", "core/key"},
	"core/config":   {"core", "core/key", "core/config"},
	"core/tool":     {"core", "core/key"},
	"core/runtime":  {"core", "core/key", "core/runtime/child"},
	"core/channel":  {"core", "core/key"},
	"core/openclaw": {"core", "core/key"},
	"core/proptest": {},
	"core/mcp":      {"core", "core/tool", "core/runtime/child"},
	"core/gateway":  {"core", "core/key", "core/gateway"},
	"core/engine":   {"core", "core/key", "core/policy", "core/config", "core/tool"},
	"core/host":     {"core", "store"},
	"store":         {"core", "core/key", "core/proptest", "store"},
	"themes":        {"core", "themes"},
	"ui":            {"core", "core/key", "themes", "ui"},
	"cmd":           {"core", "core/key", "core/host", "themes", "ui", "store", "testdata"},
}

// Rooms that see every room below them, not only the named one.
var subtree = map[string]bool{"core/host": true}

// Only core is bound to the standard library; the leaf package that must run before the terminal library's init to lipgloss.
func TestArrows(t *testing.T) {
	root := moduleRoot(t)
	checked := 0
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && file != root && (strings.HasPrefix(name, ".") || name == "testdata") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		rel, err := filepath.Rel(root, file)
		require.NoError(t, err)
		checkFile(t, file, filepath.ToSlash(rel))
		checked++
		return nil
	})
	require.NoError(t, err)
	assert.Positive(t, checked)
}

func checkFile(t *testing.T, file, rel string) {
	pkg := path.Dir(rel)
	room := roomOf(pkg)
	require.NotEmpty(t, room, "%s is in no room: add it to the arrows or move it", rel)
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
	require.NoError(t, err)
	for _, spec := range parsed.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		require.NoError(t, err)
		own, ours := strings.CutPrefix(imported, "cordboard/")
		switch {
		case ours:
			assert.True(t, allowed(room, own), "%s imports %s: room %q may import %v", rel, imported, room, arrows[room])
		case pkg == "core":
			assert.NotContains(t, strings.SplitN(imported, "/", 2)[0], ".", "%s imports %s: core is standard library only", rel, imported)
		case pkg == "themes/early":
			assert.Equal(t, "github.com/charmbracelet/lipgloss", imported, "%s must stay a leaf: its init has to run first", rel)
		}
	}
}

func allowed(room, imported string) bool {
	if subtree[room] && (imported == "core" || strings.HasPrefix(imported, "core/") || strings.HasPrefix(imported, "store/")) {
		return true
	}
	return slices.ContainsFunc(arrows[room], func(may string) bool {
		return imported == may || strings.HasPrefix(imported, may+"/") && may != "core"
	})
}

func roomOf(pkg string) string {
	best := ""
	for room := range arrows {
		if (pkg == room || strings.HasPrefix(pkg, room+"/")) && len(room) > len(best) {
			best = room
		}
	}
	return best
}

func moduleRoot(t *testing.T) string {
	dir, err := os.Getwd()
	require.NoError(t, err)
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		require.NotEqual(t, dir, parent, "no go.mod above")
		dir = parent
	}
}

// Every room of the table is there, so that the table can be read as a map.
func TestEveryRoomExists(t *testing.T) {
	for room := range arrows {
		assert.DirExists(t, filepath.Join(moduleRoot(t), room), "the arrows name a room that is not there: take its row out of arrows")
	}
}

var topLevel = []string{"README.md", "cmd", "core", "go.mod", "go.sum", "store", "testdata", "themes", "ui"}

// The top level is fixed, so that whoever opens the project finds the rooms at a glance.
func TestTopLevel(t *testing.T) {
	for _, name := range entriesOf(t, moduleRoot(t)) {
		assert.Contains(t, topLevel, name, "%s is new at the top level: move it into a room, or name it in topLevel; what you built for "+
			"yourself goes elsewhere (go build -o /tmp/cordboard ./cmd/cordboard) or into .gitignore", name)
	}
}

// What somebody builds or leaves lying in a checkout is not part of the project.
func TestTopLevelCountsWhatBelongsToTheProject(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		".gitignore": "# builds\n/cordboard\n*.db\n/out/\n", "README.md": "", "cordboard": "", "x.db": "", "out/a": "", "cmd/main.go": "",
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	assert.Equal(t, []string{"README.md", "cmd"}, entriesOf(t, dir), "an unpacked archive: by .gitignore")
	if _, err := exec.LookPath("git"); err != nil {
		return
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "README.md", "cmd", ".gitignore"}} {
		out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "notes.txt"), nil, 0o600))
	assert.Equal(t, []string{"README.md", "cmd"}, entriesOf(t, dir), "a checkout: what git tracks")
}

// entriesOf names what belongs to the project at its top level, hidden files aside: what git tracks, else what .gitignore does not name.
func entriesOf(t *testing.T, root string) []string {
	names, ok := tracked(root)
	if !ok {
		entries, err := os.ReadDir(root)
		require.NoError(t, err)
		ignore := ignored(t, root)
		for _, e := range entries {
			if !ignore(e.Name()) {
				names = append(names, e.Name())
			}
		}
	}
	names = slices.DeleteFunc(names, func(name string) bool { return strings.HasPrefix(name, ".") })
	slices.Sort(names)
	return slices.Compact(names)
}

func tracked(root string) (names []string, ok bool) {
	if _, err := os.Stat(filepath.Join(root, ".git")); err != nil {
		return nil, false
	}
	out, err := exec.Command("git", "-C", root, "ls-files", "-z").Output()
	if err != nil {
		return nil, false
	}
	for file := range strings.SplitSeq(strings.TrimRight(string(out), "\x00"), "\x00") {
		name, _, _ := strings.Cut(file, "/")
		names = append(names, name)
	}
	return names, true
}

// ignored reads the patterns of .gitignore as far as they can match an entry of the top level.
func ignored(t *testing.T, root string) func(name string) bool {
	text, err := os.ReadFile(filepath.Join(root, ".gitignore"))
	if !errors.Is(err, fs.ErrNotExist) {
		require.NoError(t, err)
	}
	patterns := strings.Fields(string(text))
	return func(name string) bool {
		return slices.ContainsFunc(patterns, func(pattern string) bool {
			match, err := path.Match(strings.Trim(pattern, "/"), name)
			return err == nil && match
		})
	}
}
