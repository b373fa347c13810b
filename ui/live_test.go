package ui

import (
	"context"
	"errors"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/stretchr/testify/require"

	"cordboard/core"
	"cordboard/ui/uitest"
)

// Lost history is read anew; neither the cursor nor the place in the transcript moves.
func TestGap(t *testing.T) {
	b := fleetOf(60)
	b.Append("agent:main:s40", say(1, numbered(1, 50)...)...)
	c := newConsole(t, b, 80, 24)
	c.open("agent:main:s40")
	c.press("enter", "pgup")
	at, lines := c.rowOf(), c.lines()
	stream := c.stream
	c.stream = nil // what is told now is lost
	b.Delete("agent:main:s01")
	b.Put(core.Head{Key: "agent:main:new", UpdatedAt: noon.UnixMilli()}, core.SessionDetail{})
	b.Append("agent:main:s40", say(51, "message 51")...)
	c.send(batchMsg{stream, core.Batch{Gap: true}, nil})
	require.Nil(t, c.m.fleet.heads["agent:main:s01"])
	require.NotNil(t, c.m.fleet.heads["agent:main:new"])
	require.Equal(t, "agent:main:s40", c.m.tree.selected())
	require.Equal(t, at, c.rowOf())
	require.Equal(t, lines, c.lines())
	require.Contains(t, c.view(), "▼ 1 new")
	require.Same(t, stream, c.stream, "the stream is listened to on")
}

// A stream that broke is opened anew, and what was missed meanwhile is made up for.
func TestBrokenStream(t *testing.T) {
	b := talk(3)
	c := newConsole(t, b, 80, 24)
	old := c.stream
	b.Fail(core.Errorf(core.CodeStoreLocked, "the store is in use"))
	c.send(batchMsg{old, core.Batch{}, core.Errorf(core.CodeStoreLocked, "the store is in use")})
	require.Contains(t, c.footer(), "store busy: the store is in use · trying again")
	require.Contains(t, c.view(), "message 3")
	b.Append("agent:main:main", say(4, "message 4")...)
	b.Put(core.Head{Key: "agent:main:second"}, core.SessionDetail{})

	c.elapse(time.Second) // still busy
	require.Contains(t, c.footer(), "store busy")
	b.Fail(nil)
	c.elapse(time.Second)
	require.NotContains(t, c.view(), "store busy")
	require.NotSame(t, old, c.stream)
	require.Contains(t, c.view(), "message 4")
	require.Contains(t, c.pane(paneTree), "second")

	b.Append("agent:main:main", say(5, "message 5")...)
	c.live()
	require.Contains(t, c.view(), "message 5")
	c.send(batchMsg{old, core.Batch{}, errors.New("late")})
	require.NotContains(t, c.view(), "late", "a stream that was given up has no say")
}

// Retries slow down up to a bound, and begin anew once one succeeds.
func TestRetriesSlowDown(t *testing.T) {
	b := talk(1)
	var waits []time.Duration
	c := newConsole(t, b, 80, 24)
	c.m.seams.after = func(d time.Duration, msg tea.Msg) tea.Cmd {
		if _, ok := msg.(retryMsg); ok {
			waits = append(waits, d)
			c.timers = append(c.timers, msg)
		}
		return nil
	}
	b.Fail(errors.New("disk on fire"))
	c.press("ctrl+r")
	for range 6 {
		c.elapse(time.Second)
	}
	require.Contains(t, c.footer(), "cannot read the store: disk on fire · trying again")
	require.Equal(t, []time.Duration{
		250 * time.Millisecond, 500 * time.Millisecond, time.Second, 2 * time.Second, 4 * time.Second, 4 * time.Second, 4 * time.Second,
	}, waits)
	b.Fail(nil)
	c.elapse(time.Second)
	b.Fail(errors.New("again"))
	c.press("ctrl+r")
	require.Equal(t, retryFirst, waits[len(waits)-1])
}

// The inspector follows what is written: label, run and verdict show without a key.
func TestInspectorIsLive(t *testing.T) {
	b := talk(1)
	c := newConsole(t, b, 160, 45)
	require.NotContains(t, c.pane(paneInspector), "deny")
	b.Put(core.Head{Key: "agent:main:main", Kind: core.KindMain, Title: "Desk", Flags: core.FlagSendDeny}, core.SessionDetail{
		Send: core.Verdict{Rule: "session override"},
		Runs: []core.Run{{Kind: core.RunSpawn, State: core.RunEnded, Outcome: core.OutcomeTimeout, Label: "sweep", Result: "nothing\nfound", QueuedAt: noon.UnixMilli()}},
	})
	c.live()
	for _, want := range []string{" Desk", "verdict   ▲ deny", "rule      session override", "spawn     ✗ timed out · now · sweep", "nothing found"} {
		require.Contains(t, c.pane(paneInspector), want)
	}
	require.Contains(t, c.pane(paneTranscript), "▲deny (session override)")
	require.Contains(t, c.pane(paneTree), "▲deny")
}

// While the cursor runs over many sessions only the one it rests on is read in the end; one request is out at a time.
func TestOneRequestAtATime(t *testing.T) {
	b := fleetOf(40)
	for _, key := range []string{"s00", "s39"} {
		b.Append("agent:main:"+key, say(1, "hello from "+key)...)
	}
	counted := &counting{Board: b}
	c := newConsole(t, counted, 80, 24)
	counted.pages = 0
	var held []tea.Cmd
	for range 39 {
		_, cmd := c.m.Update(keyMsg("down"))
		held = append(held, cmd)
	}
	for _, cmd := range held {
		c.run(cmd)
	}
	require.Contains(t, c.view(), "hello from s39")
	require.Equal(t, 2, counted.pages)
}

type counting struct {
	*uitest.Board
	pages int
}

func (b *counting) Messages(ctx context.Context, q core.MessageQuery) (core.MessagePage, error) {
	b.pages++
	return b.Board.Messages(ctx, q)
}

// A session that has no transcript yet shows its first message when it comes.
func TestFirstMessage(t *testing.T) {
	b := uitest.New("/data")
	b.Put(core.Head{Key: "agent:main:main"}, core.SessionDetail{})
	c := newConsole(t, b, 80, 24)
	require.Contains(t, c.view(), "No messages in this transcript.")
	b.Append("agent:main:main", say(1, "first")...)
	c.live()
	require.Equal(t, "first", c.lastLine())
}
