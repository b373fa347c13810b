package ui

import (
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/exp/teatest"
	"github.com/muesli/termenv"
	"github.com/stretchr/testify/require"

	"cordboard/core"
	"cordboard/themes"
	"cordboard/ui/uitest"
)

// An operator talks to a session, in a whole program: browse, open the send form, paste five thousand lines, send, wait, read the answer;
// then turn the send policy around and back.
func TestTalkFlow(t *testing.T) {
	b := talkBoard()
	m := New(Env{Board: b, Theme: styles(t, themes.Dark, termenv.Ascii), Title: "~/data", Now: time.Now, Zone: time.UTC, State: uitest.NewState()})
	tm := teatest.NewTestModel(t, m, teatest.WithInitialTermSize(120, 36))
	sees(t, tm.Output(), "agent:main:main ─ webchat")
	tm.Send(keyMsg("down"))
	sees(t, tm.Output(), "agent:main:discord:group:77 ─ discord")
	tm.Send(keyMsg("up"))
	tm.Send(keyMsg("s"))
	sees(t, tm.Output(), "It starts at once")
	text := strings.Repeat("a line\tof a log\r\n", 5000)
	tm.Send(paste(text))
	sees(t, tm.Output(), "5001 lines")
	require.Empty(t, b.Sent())
	tm.Send(keyMsg("ctrl+s"))
	sees(t, tm.Output(), "◌ queued")
	require.Equal(t, text, b.Sent()[0].Text)
	b.Start("run-1")
	sees(t, tm.Output(), "● running")
	b.End("run-1", core.OutcomeOK, "I have read all of them.")
	sees(t, tm.Output(), "✓ answered after")
	tm.Send(keyMsg("q"))

	tm.Send(keyMsg("p"))
	sees(t, tm.Output(), "now: inherit, allowed by default")
	tm.Send(keyMsg("d"))
	sees(t, tm.Output(), "now: deny, denied by session override")
	tm.Send(keyMsg("z"))
	sees(t, tm.Output(), "now: inherit, allowed by default")
	tm.Send(keyMsg("esc"))
	tm.Send(keyMsg("q"))
	final := tm.FinalModel(t, teatest.WithFinalTimeout(10*time.Second)).(*Model)
	require.NoError(t, final.Close())
	fits(t, final.View(), 120, 36)
	require.Contains(t, final.View(), "I have read all of them.")
}

// The owner of the store goes away while a form is open and a message is waited for: the text stays, the wait says so and goes on once
// the store is back.
func TestTheOwnerGoesAway(t *testing.T) {
	b, state := talkBoard(), uitest.NewState()
	c := newConsole(t, b, 100, 30, func(e *Env) { e.State = state })
	c.open(talkMain)
	c.press("s")
	c.typed("first")
	c.press("ctrl+s")
	c.live()
	lost := core.Errorf(core.CodeInternal, "the owner of the store went away")
	b.Fail(lost)
	c.elapse(time.Second)
	require.Contains(t, c.view(), "The owner of the store does not answer, asking again: the owner of the store went away")
	c.press("n")
	c.typed("second, not sent yet")
	c.elapse(time.Second)
	require.Contains(t, state.Text(draftsName), "second, not sent yet")
	b.Fail(nil)
	b.End("run-1", core.OutcomeOK, "here I am")
	c.elapse(time.Second)
	require.Equal(t, "second, not sent yet", c.form().area.text.text())
	require.Equal(t, "Mira's main answered: here I am", c.told())
}

// Drafts that are too large for a file are kept as long as the console runs, and the newest are written.
func TestDraftsFitTheirFile(t *testing.T) {
	large := strings.Repeat("x", draftsMost/2)
	kept := fitting(map[string]draft{"a": {Text: large, At: 1}, "b": {Text: "small", At: 2}, "c": {Text: large, At: 3}, "d": {Text: strings.Repeat("y", draftsMost), At: 4}})
	require.Len(t, kept, 2)
	require.Contains(t, kept, "b")
	require.Contains(t, kept, "c")
}

// A draft that no file takes, or that could not be written, is told, and stays as long as the console runs.
func TestDraftsThatAreNotWritten(t *testing.T) {
	state := uitest.NewState()
	c := newConsole(t, talkBoard(), 100, 30, func(e *Env) { e.State = state })
	c.open(talkMain)
	c.press("s")
	c.send(paste(strings.Repeat("x", draftsMost)))
	c.elapse(time.Second)
	require.Contains(t, c.told(), "a draft of 6.3 MB is more than is kept over a restart (6.3 MB in all)")
	require.NotContains(t, state.Text(draftsName), "xxx")
	c.form().area.text.set("small")
	state.Fail(core.Errorf(core.CodeStoreIO, "the disk is full"))
	c.press("!")
	c.elapse(time.Second)
	require.Contains(t, c.told(), "the disk is full")
	state.Fail(nil)
	c.press("left")
	c.elapse(time.Second)
	require.Contains(t, state.Text(draftsName), "small!", "it is written once the disk takes it")
}

// What is damaged is told and left out; another console's drafts stay when this one's are written.
func TestDraftsOfOthers(t *testing.T) {
	state := uitest.NewState()
	state.Set(draftsName, "{broken")
	c := newConsole(t, talkBoard(), 100, 30, func(e *Env) { e.State = state })
	require.Contains(t, c.told(), "drafts of earlier could not be read")
	state.Set(draftsName, `{"send agent:x:y":{"text":"theirs","at":1}}`)
	c.open(talkMain)
	c.press("s")
	c.typed("mine")
	c.press("esc")
	c.elapse(time.Second)
	require.Contains(t, state.Text(draftsName), "theirs")
	require.Contains(t, state.Text(draftsName), "mine")
}

// BenchmarkFormKey is what a key costs in a form with a megabyte in it, drawn.
func BenchmarkFormKey(b *testing.B) {
	c := newConsole(b, talkBoard(), 160, 50)
	c.open(talkMain)
	c.press("s")
	c.send(paste(strings.Repeat(strings.Repeat("word ", 20)+"\n", 10_000)))
	b.ReportAllocs()
	for b.Loop() {
		c.m.Update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("x")})
		_ = c.m.View()
	}
}
