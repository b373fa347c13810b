package ui

import (
	"bytes"
	"io"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/exp/teatest"
	"github.com/muesli/termenv"
	"github.com/stretchr/testify/require"

	"cordboard/core"
	"cordboard/themes"
)

// An operator's first minutes, in a whole program over the real engine: open, browse, filter, read, see a message come in, leave.
func TestFlow(t *testing.T) {
	board, store := engineOn(t, true)
	m := New(Env{Board: board, Theme: styles(t, themes.Dark, termenv.Ascii), Title: "~/data", Now: func() time.Time { return evening }, Zone: time.UTC})
	tm := teatest.NewTestModel(t, m, teatest.WithInitialTermSize(120, 30))
	sees(t, tm.Output(), "agent:main:main ─ webchat")
	tm.Send(keyMsg("down"))
	sees(t, tm.Output(), "research/pg18-notes")

	tm.Send(keyMsg("/"))
	tm.Type("lounge")
	sees(t, tm.Output(), "filter: lounge (1)")
	tm.Send(keyMsg("enter"))
	tm.Send(keyMsg("enter"))
	sees(t, tm.Output(), "Freeze from 13:30")

	_, err := store.Update(t.Context(), func(tx core.Tx) error {
		s, _, err := tx.Session("agent:main:telegram:group:-1001843377")
		if err != nil {
			return err
		}
		_, _, err = tx.Append(s.SessionID, say(1, "the bell rings")...)
		return err
	})
	require.NoError(t, err)
	sees(t, tm.Output(), "the bell rings")

	tm.Send(keyMsg("q"))
	final := tm.FinalModel(t, teatest.WithFinalTimeout(10*time.Second)).(*Model)
	require.NoError(t, final.Close())
	fits(t, final.View(), 120, 30)
	require.Contains(t, final.View(), "the bell rings")
	require.Equal(t, paneTranscript, final.focus)
}

// sees waits until the program's output holds a text.
func sees(t *testing.T, out io.Reader, text string) {
	t.Helper()
	teatest.WaitFor(t, out, func(b []byte) bool { return bytes.Contains(b, []byte(text)) },
		teatest.WithDuration(10*time.Second), teatest.WithCheckInterval(5*time.Millisecond))
}

// Closing a console that was never run, and closing it twice, leaves nothing behind.
func TestClose(t *testing.T) {
	board, _ := engineOn(t, false)
	m := New(Env{Board: board, Theme: styles(t, themes.Dark, termenv.Ascii), Now: time.Now, Zone: time.UTC})
	require.NoError(t, m.Close())
	require.NoError(t, m.Close())
	require.Nil(t, m.after(time.Hour, agesMsg{})(), "a timer ends with the console")
}

// ctrl+z hands the terminal back, and what comes after fg is drawn from nothing (R186, R187).
func TestSuspend(t *testing.T) {
	c := newConsole(t, talk(3), 80, 24)
	a := c.m.keys.find(inTree, "ctrl+z")
	require.IsType(t, tea.SuspendMsg{}, a.run(c.m)())
	before := c.view()
	_, cmd := c.m.Update(tea.ResumeMsg{})
	require.NotNil(t, cmd)
	require.IsType(t, tea.ClearScreen(), cmd())
	require.Equal(t, before, c.view())
}

// An operator asks whose business a session is, in a whole program: look through the main session's eyes, leave out what it does not see,
// try a wider scope on a smaller screen, and come back.
func TestLookFlow(t *testing.T) {
	board, _ := engineOn(t, true)
	m := New(Env{Board: board, Theme: styles(t, themes.Dark, termenv.Ascii), Title: "~/data", Now: func() time.Time { return evening }, Zone: time.UTC})
	tm := teatest.NewTestModel(t, m, teatest.WithInitialTermSize(160, 40))
	sees(t, tm.Output(), "agent:main:main ─ webchat")
	tm.Send(keyMsg("V"))
	sees(t, tm.Output(), "looking as agent:main:main · scope tree · 20 hidden")
	tm.Send(keyMsg("d"))
	sees(t, tm.Output(), "1 agent · 3 sessions")
	tm.Send(tea.WindowSizeMsg{Width: 80, Height: 24})
	tm.Send(keyMsg("v"))
	sees(t, tm.Output(), "scope agent")
	tm.Send(keyMsg("f"))
	sees(t, tm.Output(), "shows 8 of 8 sessions")
	tm.Send(keyMsg("esc"))
	tm.Send(keyMsg("X"))
	sees(t, tm.Output(), "sessions_history  ✓ allowed")
	tm.Send(keyMsg("esc"))
	tm.Send(keyMsg("esc"))
	sees(t, tm.Output(), "23 sessions")
	tm.Send(keyMsg("q"))
	final := tm.FinalModel(t, teatest.WithFinalTimeout(10*time.Second)).(*Model)
	require.NoError(t, final.Close())
	fits(t, final.View(), 80, 24)
	require.Empty(t, final.sight.viewpoint)
}
