package ui

import (
	"errors"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/stretchr/testify/require"

	"cordboard/core"
	"cordboard/ui/uitest"
)

func alt(key string) tea.KeyMsg {
	msg := keyMsg(key)
	msg.Alt = true
	return msg
}

// esc and another key right after it come as one key with alt: nothing is typed by it, and esc does what it does.
func TestEscThenAnotherKeyAtOnce(t *testing.T) {
	for _, c := range []struct {
		name string
		open []string
	}{
		{"filter", []string{"/"}}, {"palette", []string{":"}}, {"help", []string{"?"}}, {"find", []string{"enter", "/"}}, {"views", []string{"b"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			board, _ := engineOn(t, true)
			for _, key := range []tea.KeyMsg{alt("q"), alt("é"), alt(" "), alt("y")} {
				s := newConsole(t, board, 120, 40)
				s.press(c.open...)
				require.True(t, s.m.typing())
				s.send(key)
				require.False(t, s.m.typing(), "%s closes", key)
				require.False(t, s.quit)
				require.Empty(t, s.m.filter.input.Value())
			}
			s := newConsole(t, board, 120, 40)
			s.press(c.open...)
			s.send(alt("b"))
			require.True(t, s.m.typing(), "alt+b goes back by a word")
		})
	}
	board, _ := engineOn(t, true)
	s := newConsole(t, board, 120, 40)
	s.press("/", "o", "p", "s", "enter", "?")
	s.send(alt("esc"))
	require.Nil(t, s.m.top(), "the first esc")
	require.False(t, s.m.filter.active(), "the second one")
}

// ctrl+z suspends wherever the keyboard is.
func TestSuspendsFromEverywhere(t *testing.T) {
	board, _ := engineOn(t, true)
	for _, open := range [][]string{nil, {"/"}, {":"}, {"?"}, {"enter", "/"}, {"b"}, {"f"}, {"ctrl+t"}} {
		s := newConsole(t, board, 120, 40, wearing)
		s.press(open...)
		before := s.view()
		_, cmd := s.m.Update(tea.KeyMsg{Type: tea.KeyCtrlZ})
		require.True(t, suspends(cmd), "%v", open)
		require.Equal(t, len(before) > 0, s.m.typing() || open == nil)
	}
}

func suspends(cmd tea.Cmd) bool {
	if cmd == nil {
		return false
	}
	switch msg := cmd().(type) {
	case tea.SuspendMsg:
		return true
	case tea.BatchMsg:
		for _, each := range msg {
			if suspends(each) {
				return true
			}
		}
	}
	return false
}

// What a link on the command line filters by holds for that run and no longer.
func TestALinkLeavesTheRememberedFilter(t *testing.T) {
	board, _ := engineOn(t, true)
	state := uitest.NewState()
	first := newConsole(t, board, 120, 40, keeping(state))
	first.press("/", "o", "p", "s", "enter")
	require.NoError(t, first.m.Close())
	linked := newConsole(t, board, 120, 40, keeping(state), func(e *Env) { e.Start.Filter = "backup" })
	require.Equal(t, "backup", linked.m.filter.input.Value())
	linked.press("down", "tab")
	linked.elapse(saveAfter)
	require.NoError(t, linked.m.Close())
	next := newConsole(t, board, 120, 40, keeping(state))
	require.Equal(t, "ops", next.m.filter.input.Value())
}

// closedState cannot keep anything, and knows.
type closedState struct{ *uitest.State }

func (closedState) Check() error { return errors.New("the disk is read only") }

func (closedState) Save(string, []byte) error { return errors.New("the disk is read only") }

// That nothing will be remembered is told at the start, not first at the end; the end is none the worse for it.
func TestNothingCanBeRemembered(t *testing.T) {
	c := newConsole(t, uitest.New("/data"), 120, 40, func(e *Env) { e.State = closedState{uitest.NewState()} })
	require.Equal(t, "what this console remembers cannot be saved: the disk is read only", c.told())
	c.press("tab")
	require.NoError(t, c.m.Close())
	require.Equal(t, "What this console remembers could not be saved: the disk is read only", c.m.Farewell())
}

// A figure is never cut, whatever it is, and a window that is overfull many times is no full one.
func TestHugeFigures(t *testing.T) {
	h := &core.Head{Flags: core.FlagTokensKnown | core.FlagContextKnown | core.FlagTokensStale, Tokens: 9_007_199_254_740_992, ContextTokens: 200_000}
	require.Equal(t, "~9.0P", tokens(h))
	s := &sheet{k: newInks(styles(t, "dark", 0)), w: 60}
	(&inspector{}).tokens(s, h)
	require.Contains(t, s.out[0], "~9.0P of 200k")
	require.Contains(t, s.out[0], "more than fits")
}
