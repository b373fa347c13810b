package main

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What a message says goes to the terminal's clipboard when y is pressed and not before, between two frames and whole (R158, R160).
func TestClipboardOfTheTerminal(t *testing.T) {
	for _, c := range []struct{ name, env, opens string }{
		{"a terminal", "X=1", "\x1b]52;c;"},
		{"tmux", "TMUX=/tmp/t,1,0", "\x1bPtmux;\x1b\x1b]52;c;"},
		{"screen", "STY=1.x", "\x1bP\x1b]52;c;"},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := console(t, filled(t), look{w: 100, h: 24, env: []string{c.env}}, "--theme", "dark")
			x.sees("1/23")
			x.keys("\r/backup\rNn")
			x.sees("/5 ")
			require.NotContains(t, x.bytes(), "]52;")
			x.keys("\x1b")
			x.loses("/5 ")
			x.keys("Gy")
			x.sees("sent to the terminal's clipboard")
			_, rest, ok := strings.Cut(x.bytes(), c.opens)
			require.True(t, ok)
			encoded, _, ok := strings.Cut(rest, "\a")
			require.True(t, ok)
			encoded = strings.ReplaceAll(encoded, "\x1b\\\x1bP", "") // screen takes it in pieces
			text, err := base64.StdEncoding.DecodeString(encoded)
			require.NoError(t, err)
			require.Equal(t, "Good. I have noted it in the runbook as *logrotate must not restart services*.", string(text))
			x.keys("q")
			require.Zero(t, x.ends())
		})
	}
}

// Editor and pager get the terminal and a private file, and give both back; what they did to the screen is gone.
func TestEditorTakesTheTerminal(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "program")
	script := "#!/bin/sh\nstat -c %a \"$2\" >" + dir + "/mode\ncp \"$2\" " + dir + "/seen\ntest -t 0 && test -t 1 && echo \"terminal: $1\"\nread line\necho \"$line\" >" + dir + "/typed\n"
	require.NoError(t, os.WriteFile(program, []byte(script), 0o700))
	tmp := t.TempDir()
	x := console(t, filled(t), look{w: 100, h: 24, dir: t.TempDir(), env: []string{"EDITOR=" + program + " --edit", "PAGER=" + program + " --page", "TMPDIR=" + tmp}}, "--theme", "dark")
	x.sees("1/23")
	for _, c := range []struct{ keys, option, holds string }{
		{"\rE", "--edit", "*logrotate must not restart services*"},
		{"P", "--page", "# agent:main:main\n"},
	} {
		x.keys(c.keys)
		x.sees("terminal: " + c.option)
		x.loses("Sessions")
		x.keys("some words\r")
		x.sees("following")
		x.loses("terminal: ")
		seen, err := os.ReadFile(filepath.Join(dir, "seen"))
		require.NoError(t, err)
		require.Contains(t, string(seen), c.holds)
		typed, err := os.ReadFile(filepath.Join(dir, "typed"))
		require.NoError(t, err)
		require.Equal(t, "some words\n", string(typed))
		mode, err := os.ReadFile(filepath.Join(dir, "mode"))
		require.NoError(t, err)
		require.Equal(t, "600\n", string(mode))
	}
	left, err := os.ReadDir(tmp)
	require.NoError(t, err)
	require.Empty(t, left, "nothing is left behind")
	x.keys("x6")
	x.sees("written to cordboard-export/agent_main_main.jsonl")
	x.keys("q")
	require.Zero(t, x.ends())
}
