package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// said exports what it holds, and breaks in the middle of the key "broken".
type said map[string]string

func (s said) Export(_ context.Context, session string, w io.Writer) error {
	if _, err := io.WriteString(w, s[session]); err != nil {
		return err
	}
	if session == "broken" {
		return errors.New("the disk is full")
	}
	return nil
}

// Each export is a file of its own: nothing is written over, nothing half written stays, no key leads out of the directory.
func TestExporter(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	export := exporter(said{"agent:main:main": "one", "../../etc/passwd": "two", "agent:main:会議": "three", "broken": "half"}, dir)
	for _, c := range []struct{ session, file, text string }{
		{"agent:main:main", "agent_main_main.jsonl", "one"},
		{"agent:main:main", "agent_main_main-2.jsonl", "one"},
		{"../../etc/passwd", "_.._etc_passwd.jsonl", "two"},
		{"agent:main:会議", "agent_main___.jsonl", "three"},
		{strings.Repeat("k", 500), strings.Repeat("k", 120) + ".jsonl", ""},
	} {
		path, err := export(t.Context(), c.session)
		require.NoError(t, err)
		require.Equal(t, filepath.Join(dir, c.file), path)
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, c.text, string(text))
	}
	_, err := export(t.Context(), "broken")
	require.ErrorContains(t, err, "the disk is full")
	require.NoFileExists(t, filepath.Join(dir, "broken.jsonl"))
}

// Directories that hold sessions are offered once each, as a person writes them; others are not.
func TestOpenClawDirs(t *testing.T) {
	home := t.TempDir()
	for _, dir := range []string{".openclaw/agents/main/sessions", ".openclaw-work/agents/a/sessions", ".openclaw-empty", "elsewhere/agents/b/sessions"} {
		require.NoError(t, os.MkdirAll(filepath.Join(home, dir), 0o700))
	}
	env := map[string]string{"HOME": home, "OPENCLAW_STATE_DIR": filepath.Join(home, "elsewhere")}
	a := &app{streams: streams{getenv: func(name string) string { return env[name] }}}
	require.Equal(t, []string{"~/elsewhere", "~/.openclaw", "~/.openclaw-work"}, a.openClawDirs())
	env["OPENCLAW_STATE_DIR"] = filepath.Join(home, ".openclaw")
	require.Equal(t, []string{"~/.openclaw", "~/.openclaw-work"}, a.openClawDirs())
	env = nil
	require.Empty(t, a.openClawDirs())
}
