package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOutsideFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("TMPDIR", t.TempDir())
	o := &outside{}
	for _, make := range []func(name, extension string) (string, error){
		func(name, extension string) (string, error) {
			f, err := o.Create(name, extension)
			if err != nil {
				return "", err
			}
			return f.Name(), f.Close()
		},
		func(name, extension string) (string, error) {
			f, err := o.Scratch(name, extension)
			if err != nil {
				return "", err
			}
			return f.Name(), f.Close()
		},
	} {
		seen := map[string]bool{}
		for range 3 {
			path, err := make("../agent:main:main", ".md")
			require.NoError(t, err)
			require.False(t, seen[path], "nothing is written over")
			seen[path] = true
			require.NotContains(t, filepath.Base(path), "/")
			require.Equal(t, ".md", filepath.Ext(path))
			info, err := os.Stat(path)
			require.NoError(t, err)
			require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
		}
		for path := range seen {
			require.NoError(t, o.Remove(path))
			require.NoFileExists(t, path)
		}
	}
}

// $EDITOR and $PAGER may hold options and be unset; a path is never read by the shell.
func TestOutsidePrograms(t *testing.T) {
	env := map[string]string{"EDITOR": "printf '%s|' edit", "PAGER": "printf '%s|' page --plain"}
	o := &outside{getenv: func(name string) string { return env[name] }}
	run := func(line string, args []string) string {
		t.Helper()
		require.Equal(t, []string{"sh", "-c"}, args[:2])
		cmd := o.program(args[4], line)
		var out bytes.Buffer
		cmd.Stdout = &out
		require.NoError(t, cmd.Run())
		return out.String()
	}
	const path = "/tmp/a $(b) 'c'.md"
	require.Equal(t, "edit|"+path+"|", run(env["EDITOR"], o.Editor(path).Args))
	require.Equal(t, "page|--plain|"+path+"|", run(env["PAGER"], o.Pager(path).Args))
	require.Contains(t, o.Editor(path).Args[2], "edit")
	env["VISUAL"] = "code -w"
	require.Equal(t, `code -w "$1"`, o.Editor(path).Args[2])
	clear(env)
	require.Equal(t, `vi "$1"`, o.Editor(path).Args[2])
	require.Equal(t, `less "$1"`, o.Pager(path).Args[2])
}
