package ui

import (
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/stretchr/testify/require"

	"cordboard/core"
	"cordboard/ui/uitest"
)

// No key means two things in one place, and every action can be found in the help.
func TestActions(t *testing.T) {
	type place struct {
		scope scope
		key   string
	}
	seen := map[place]string{}
	help := strings.Join(newConsole(t, uitest.New("/data"), 160, 45).m.helpLines(300), "\n")
	ids := map[string]bool{}
	for _, a := range actions() {
		require.NotNil(t, a.run, a.text)
		require.Regexp(t, `^[a-z]+\.[a-zA-Z]+$`, a.id)
		require.False(t, ids[a.id], "two actions are called %s", a.id)
		ids[a.id] = true
		require.Contains(t, help, a.text)
		for _, key := range a.keys {
			require.Empty(t, seen[place{a.scope, key}], "%q is also %q", key, a.text)
			seen[place{a.scope, key}] = a.text
		}
	}
}

// A key that cannot do anything now says why, in the footer.
func TestDisabledActionsSayWhy(t *testing.T) {
	cases := []struct {
		name string
		keys []string
		want string
	}{
		{"no parent", []string{"u"}, "nobody spawned this session"},
		{"parent gone", []string{"down", "u"}, "the session that spawned this one is gone"},
		{"wrapped", []string{"enter", "$"}, "lines are wrapped: w lets them run on"},
		{"one transcript", []string{"enter", "o"}, "this session has one transcript only"},
		{"folds under a filter", []string{"/", "a", "enter", "-"}, "folds do not count while a filter is set: esc clears it"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			b := uitest.New("/data")
			b.Put(core.Head{Key: "agent:main:a", UpdatedAt: 2}, core.SessionDetail{})
			b.Put(core.Head{Key: "agent:main:b", UpdatedAt: 1, Parent: "agent:main:gone"}, core.SessionDetail{})
			con := newConsole(t, b, 120, 30)
			con.press(c.keys...)
			require.Equal(t, c.want, con.footer())
			con.press("esc")
			require.NotEqual(t, c.want, con.footer(), "the next key clears it")
		})
	}
}

// R176: esc closes the top layer only, one at a time, and never the console.
func TestEscClosesOneLayer(t *testing.T) {
	board, _ := engineOn(t, true)
	c := newConsole(t, board, 80, 24)
	c.press("/")
	c.typed("main")
	c.press("enter", "enter", "i", "?")
	c.press("esc")
	require.Nil(t, c.m.top())
	require.Equal(t, paneInspector, c.m.focus)
	c.press("esc")
	require.Equal(t, paneTranscript, c.m.focus)
	c.press("esc")
	require.Equal(t, paneTree, c.m.focus)
	require.NotNil(t, c.m.filter.matches)
	c.press("esc")
	require.Nil(t, c.m.filter.matches)
	c.press("esc", "esc")
	require.False(t, c.quit)
	c.press("q")
	require.True(t, c.quit)
	require.Empty(t, c.m.Farewell())
}

// R174: ctrl+c says what it does, from wherever it is pressed.
func TestCtrlC(t *testing.T) {
	for _, open := range [][]string{{}, {"?"}, {"enter"}, {"i"}, {"/", "x"}} {
		c := newConsole(t, uitest.New("/data"), 80, 24)
		c.press(open...)
		c.press("ctrl+c")
		require.True(t, c.quit, open)
		require.Contains(t, c.m.Farewell(), "Nothing that runs was stopped")
	}
}

// R153: a paste is text for the filter and nothing anywhere else.
func TestPasteRunsNoAction(t *testing.T) {
	board, _ := engineOn(t, true)
	c := newConsole(t, board, 80, 24)
	before := c.view()
	c.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("q\nj?"), Paste: true})
	require.False(t, c.quit)
	require.Equal(t, "pasted text runs no command", c.footer())
	c.press("esc")
	require.Equal(t, before, c.view())
	c.press("/")
	c.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("ops\nlounge"), Paste: true})
	require.Equal(t, "ops lounge", c.m.filter.input.Value())
	require.Len(t, c.m.filter.matches, 1)
}

func TestFocus(t *testing.T) {
	cases := []struct {
		name  string
		w     int
		keys  []string
		focus pane
	}{
		{"wide: tab goes round three panes", 160, []string{"tab", "tab"}, paneInspector},
		{"wide: and back to the first", 160, []string{"tab", "tab", "tab"}, paneTree},
		{"wide: backwards", 160, []string{"shift+tab"}, paneInspector},
		{"medium: tab goes round two", 80, []string{"tab", "tab"}, paneTree},
		{"medium: i opens the inspector", 80, []string{"i"}, paneInspector},
		{"medium: i closes it", 80, []string{"enter", "i", "i"}, paneTranscript},
		{"medium: tab closes it too", 80, []string{"enter", "i", "tab"}, paneTranscript},
		{"narrow: tab goes round three", 40, []string{"tab", "tab", "tab"}, paneTree},
		{"enter reads", 80, []string{"enter"}, paneTranscript},
		{"left goes back", 80, []string{"enter", "left"}, paneTree},
		{"right reads a session without children", 80, []string{"down", "right"}, paneTranscript},
	}
	board, _ := engineOn(t, true)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			con := newConsole(t, board, c.w, 24)
			con.press(c.keys...)
			require.Equal(t, c.focus, con.m.focus)
		})
	}
}

func TestUpToTheParent(t *testing.T) {
	board, _ := engineOn(t, true)
	c := newConsole(t, board, 160, 45)
	c.open("agent:research:subagent:6f45c390-1de3-43f6-a6f4-55da09d84f4c")
	c.press("u")
	require.Equal(t, "agent:main:main", c.m.tree.selected())
	c.open("agent:main:subagent:4df511fc-771d-42b2-a7e1-6a3a829d2b43")
	c.press("i", "enter")
	require.Equal(t, "agent:main:main", c.m.tree.selected())
}

// Keys that arrive together, as over a slow line, are keys one by one; more of them than anybody types are a paste (R153).
func TestKeysThatArriveTogether(t *testing.T) {
	board, _ := engineOn(t, true)
	c := newConsole(t, board, 120, 30)
	start := c.m.tree.index
	c.together("jjj")
	require.Equal(t, start+3, c.m.tree.index)
	c.together("/lounge")
	require.Equal(t, "lounge", c.m.filter.input.Value())
	c.press("esc")
	c.together("qwertyui q")
	require.False(t, c.quit)
	require.Equal(t, "pasted text runs no command", c.footer())
	c.together(":quit")
	c.press("enter")
	require.True(t, c.quit)
}
