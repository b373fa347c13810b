package core_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The arrows between rooms: which of our own packages a room may import. A room is the longest prefix that matches; what a room does
// not list it may not import. Test files are free.
var arrows = map[string][]string{
	"core":          {},
	"core/key":      {"core"},
	"core/policy":   {"core", "core/key"},
	"core/config":   {"core", "core/key", "core/config"},
	"core/tool":     {"core", "core/key"},
	"core/runtime":  {"core", "core/key"},
	"core/channel":  {"core", "core/key"},
	"core/openclaw": {"core", "core/key"},
	"core/gateway":  {"core", "core/key", "core/gateway"},
	"core/mcp":      {"core", "core/key", "core/tool"},
	"core/engine":   {"core", "core/key", "core/policy", "core/config", "core/tool"},
	"core/host":     {"core", "store"},
	"store":         {"core", "core/key", "store"},
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

// The top level is fixed, so that whoever opens the project finds the rooms at a glance.
func TestTopLevel(t *testing.T) {
	entries, err := os.ReadDir(moduleRoot(t))
	require.NoError(t, err)
	want := []string{"README.md", "cmd", "core", "go.mod", "go.sum", "store", "testdata", "themes", "ui"}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") {
			assert.Contains(t, want, e.Name())
		}
	}
}
