package main

import (
	"bytes"
	"os"
	"os/exec"
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
		cmd, _ := o.program("program", args[4], line, "NONE")
		var out bytes.Buffer
		cmd.Stdout = &out
		require.NoError(t, cmd.Run())
		return out.String()
	}
	args := func(cmd *exec.Cmd, _ string) []string { return cmd.Args }
	name := func(_ *exec.Cmd, name string) string { return name }
	const path = "/tmp/a $(b) 'c'.md"
	require.Equal(t, "edit|"+path+"|", run(env["EDITOR"], args(o.Editor(path))))
	require.Equal(t, "page|--plain|"+path+"|", run(env["PAGER"], args(o.Pager(path))))
	require.Contains(t, args(o.Editor(path))[2], "edit")
	require.Equal(t, "the editor printf '%s|' edit ($EDITOR)", name(o.Editor(path)))
	env["VISUAL"] = "code -w"
	require.Equal(t, "the editor code -w ($VISUAL)", name(o.Editor(path)))
	require.Equal(t, `code -w "$1"`, args(o.Editor(path))[2])
	clear(env)
	require.Equal(t, "the pager less (the usual one: $PAGER is not set)", name(o.Pager(path)))
	require.Equal(t, `vi "$1"`, args(o.Editor(path))[2])
	require.Equal(t, `less "$1"`, args(o.Pager(path))[2])
}
