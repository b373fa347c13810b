package ui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cordboard/core"
	"cordboard/core/proptest"
	"cordboard/ui/uitest"
)

func TestRunsScreens(t *testing.T) {
	standScreens(t, func() core.Board { return floor() }, map[string]func(*console){
		"runs":         func(c *console) { c.press("r") },
		"runs-row":     func(c *console) { c.press("r", "down", "down", "i") },
		"runs-session": func(c *console) { c.press("r", "down", "s") },
		"runs-filter":  func(c *console) { c.press("r", "f", "f", "f", "/"); c.typed("rate") },
		"runs-none":    func(c *console) { c.press("r", "/"); c.typed("zeppelin"); c.press("enter") },
		"runs-stop":    func(c *console) { c.press("r", "down", "X") },
	})
}

// runAtCursor is the id under the cursor of the view on top, and onRun puts it on one.
func (c *console) rowAtCursor() string { return c.m.stage().base().rows.cursor }

func (c *console) onRow(id string) {
	c.t.Helper()
	require.True(c.t, c.m.stage().base().rows.goTo(id), "no row %q", id)
	c.send(nil)
}

// row is the line on the screen that holds a text.
func (c *console) row(text string) string {
	for _, l := range splitLines(sgr.ReplaceAllString(c.view(), "")) {
		if strings.Contains(l, text) {
			return l
		}
	}
	return ""
}

// A queued run is aborted at once: the cursor stays on it, and what waited behind it moves up in its line.
func TestAbortAQueuedRun(t *testing.T) {
	b := floor()
	c := newConsole(t, b, 160, 45)
	c.press("r")
	c.onRow("r-q1")
	require.Contains(t, c.row("log-sweep is done"), "queued #2")
	c.press("x")
	require.Equal(t, []core.Command{{Abort: &core.Abort{Run: "r-q1"}}}, b.Commands())
	require.Equal(t, "aborted the run of Mira", c.footer())
	c.live()
	require.Equal(t, "r-q1", c.rowAtCursor())
	require.Contains(t, c.row("And tell Jonas."), "⊘ aborted")
	require.Contains(t, c.row("log-sweep is done"), "queued #1")
	c.press("x")
	require.Equal(t, "it has ended", c.footer())
}

// A run at work is asked about first, and a refusal is told.
func TestAbortARunAtWork(t *testing.T) {
	b := floor()
	c := newConsole(t, b, 120, 30)
	c.press("r")
	c.onRow("r-ops")
	c.press("x", "y")
	require.Empty(t, b.Commands(), "a key meant for the list is not taken for an answer")
	c.now = c.now.Add(time.Second)
	b.Refuse(core.Errorf(core.CodeNotFound, "it ended meanwhile"))
	c.press("y")
	require.Equal(t, []core.Command{{Abort: &core.Abort{Run: "r-ops"}}}, b.Commands())
	require.Contains(t, c.view(), "it ended meanwhile")
}

func TestRetryAFailedRun(t *testing.T) {
	b := floor()
	c := newConsole(t, b, 160, 45)
	c.press("r", "R")
	require.Equal(t, "it has not ended yet", c.footer())
	c.onRow("r-digest")
	c.press("R")
	require.Equal(t, "it ended well: there is nothing to retry", c.footer())
	c.onRow("r-lounge")
	c.press("R")
	require.Equal(t, []core.Command{{Retry: &core.Retry{Run: "r-lounge"}}}, b.Commands())
	c.live()
	require.Contains(t, c.row("queued #1    main/Ops Lounge"), "Is the freeze over?")
	require.Equal(t, "r-lounge", c.rowAtCursor())
}

// Stopping names every session that it reaches and wants the count typed.
func TestStopASubtree(t *testing.T) {
	b := floor()
	c := newConsole(t, b, 160, 45)
	c.press("r")
	c.onRow("r-main")
	c.press("X")
	require.Contains(t, c.view(), "Stop 3 sessions?")
	c.now = c.now.Add(time.Second)
	c.press("3", "enter")
	require.Equal(t, []core.Command{{Stop: &core.Stop{Session: "agent:main:main"}}}, b.Commands())
	c.live()
	for _, id := range []string{"r-main", "r-q1", "r-q2", "r-sweep"} {
		require.Equal(t, core.OutcomeAborted, c.m.stand.runs.runs[id].Outcome, id)
	}
	require.Equal(t, core.RunRunning, c.m.stand.runs.runs["r-ops"].State)
}

// Enter goes to the session, where the run wrote; the view opens again as it was left.
func TestGoToARun(t *testing.T) {
	b := floor()
	c := newConsole(t, b, 160, 45)
	c.press("r")
	c.onRow("r-slow")
	c.press("enter")
	require.Nil(t, c.m.stage())
	require.Equal(t, "agent:ops:discord:channel:991", c.m.tree.selected())
	require.Equal(t, paneTranscript, c.m.focus)
	c.press("r")
	require.Equal(t, "r-slow", c.rowAtCursor())
}

// Durations of what is live count once a second, and only while they are on the screen; no column moves.
func TestRunsTick(t *testing.T) {
	b := floor()
	c := newConsole(t, b, 160, 45)
	c.press("r")
	before := c.row("What did you find")
	require.Contains(t, before, "   58s ")
	c.elapse(time.Second)
	after := c.row("What did you find")
	require.Contains(t, after, "   59s ")
	require.Equal(t, strings.Index(before, "qwen3"), strings.Index(after, "qwen3"))
	ticks := func() (n int) {
		for _, msg := range c.timers {
			if _, ok := msg.(tickMsg); ok {
				n++
			}
		}
		return n
	}
	require.Equal(t, 1, ticks())
	c.press("esc")
	c.open("agent:research:cron:weekly")
	c.elapse(time.Second)
	require.Zero(t, ticks(), "nothing counts while nobody looks")
}

// The view takes no key of the panes, help begins with its keys, and a paste runs nothing.
func TestViewsTakeTheKeys(t *testing.T) {
	c := newConsole(t, floor(), 160, 45)
	c.press("r", "tab", "a", "S", "m")
	require.False(t, c.m.filter.active())
	require.Empty(t, c.m.marks.keys)
	require.Equal(t, byRecency, c.m.order)
	require.Equal(t, "Runs", scopeTitles[c.m.scopesFromHere()[0]])
	c.press("?")
	require.Contains(t, c.view(), "go to the session, where this run wrote")
	c.press("esc")
	require.NotNil(t, c.m.stage())
	c.press(":")
	c.typed("archived")
	c.press("enter")
	require.Nil(t, c.m.stage(), "what is done in the panes shows them")
	require.True(t, c.m.filter.archived)
	c.press(":")
	c.typed("abort this run")
	c.press("enter")
	require.Equal(t, "only in the view: runs", c.footer())
}

// Runs come, move and go in any order: the cursor stays on its run, the list holds each once, and every run queued has the place that
// the board says.
func TestRunsFollowTheBoard(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		b := floor()
		c := newConsole(t, b, 120, 20)
		c.press("r", "down", "down")
		for range rapid.IntRange(1, 12).Draw(t, "changes") {
			id := fmt.Sprintf("r%d", rapid.IntRange(0, 5).Draw(t, "run"))
			state := rapid.SampledFrom([]core.RunState{core.RunQueued, core.RunRunning, core.RunEnded}).Draw(t, "state")
			if old := c.m.stand.runs.runs[id]; old != nil && old.State != core.RunQueued && state == core.RunQueued {
				state = core.RunEnded // no run goes back
			}
			key := "agent:main:main"
			if id > "r3" {
				key = "agent:ops:main"
			}
			cursor := c.rowAtCursor()
			b.PutRun(core.Run{ID: id, SessionKey: key, State: state, QueuedAt: 5, StartedAt: 6, EndedAt: 7, Message: hostile[3]})
			c.live()
			require.Equal(t, cursor, c.rowAtCursor())
			page, err := b.Records(t.Context(), core.RecordQuery{Kind: core.RecordRuns})
			require.NoError(t, err)
			require.Len(t, c.m.stand.runs.rows.ids, len(page.Runs))
			require.Equal(t, page.Positions, c.m.stand.runs.place)
			sound(t, c.view(), 120, 20)
		}
	})
}

func TestDurations(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 12 * time.Millisecond: "12ms", 3240 * time.Millisecond: "3.2s", 42 * time.Second: "42s", 185 * time.Second: "3m05s",
		124 * time.Minute: "2h04m", 76 * time.Hour: "3d04h", 99 * 24 * time.Hour: "99d00h", 2000 * 24 * time.Hour: "2000d",
	} {
		require.Equal(t, want, lasted(1, 1+d.Milliseconds()))
		require.LessOrEqual(t, len(want), durationWide)
	}
	require.Empty(t, lasted(0, 5))
	require.Empty(t, lasted(5, 4))
	require.Equal(t, "9s", ticking(noon, noon.Add(-9900*time.Millisecond).UnixMilli()))
	require.Equal(t, "0s", ticking(noon, noon.Add(time.Hour).UnixMilli()), "a clock that runs behind")
}

// A run that has started keeps no message: what is shown of it is read from the transcript, once, and the filter finds it.
func TestRunsTellWhatTheyBeganWith(t *testing.T) {
	b := floor()
	b.PutRun(core.Run{ID: "r-began", SessionKey: "agent:ops:main", SessionID: "s4", Kind: core.RunChat, State: core.RunRunning, QueuedAt: at(time.Hour), StartedAt: at(time.Hour), FirstSeq: 2})
	b.PutRun(core.Run{ID: "r-gone", SessionKey: "agent:ops:main", SessionID: "nowhere", Kind: core.RunChat, State: core.RunRunning, QueuedAt: at(time.Hour), StartedAt: at(time.Hour), FirstSeq: 9})
	c := newConsole(t, b, 160, 45)
	c.press("r")
	require.Contains(t, c.row("1h00m"), "what is new?")
	require.Equal(t, map[string]string{"r-began": "what is new?", "r-gone": ""}, c.m.stand.runs.began)
	c.press("/")
	c.typed("is new")
	require.Equal(t, []string{"r-began"}, c.m.stage().base().rows.ids)
}

// A run that waits on the operator says so.
func TestRunsThatAsk(t *testing.T) {
	b := floor()
	b.Update("agent:ops:main", func(h *core.Head) { h.Flags |= core.FlagAsks })
	c := newConsole(t, b, 80, 24)
	c.press("r")
	require.Contains(t, c.row("What did you find"), "? waits on you")
	require.Contains(t, c.row("And tell Jonas."), "queued #1")
}

// esc with another key close behind it, which to a terminal is one key with alt, closes the view and does nothing else.
func TestEscAndAKeyCloseAView(t *testing.T) {
	b := floor()
	c := newConsole(t, b, 80, 24)
	c.press("r")
	c.onRow("r-q1")
	c.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("x"), Alt: true})
	require.Nil(t, c.m.stage())
	require.Empty(t, b.Commands())
}

// g r lists the runs of the session under the cursor, r afterwards what was listed last.
func TestRunsOfThisSession(t *testing.T) {
	c := newConsole(t, floor(), 80, 24)
	c.open("agent:ops:main")
	c.press("g", "r")
	require.Equal(t, []string{"r-ops", "r-q3"}, c.m.stage().base().rows.ids)
	c.press("s")
	require.Len(t, c.m.stage().base().rows.ids, 11)
	c.press("esc", "home", "g", "r")
	require.Equal(t, "choose a session", c.footer())
}

// The accessible console shows a view without boxes, leaves the news below it, and its cursor stands on the row.
func TestViewsForReaders(t *testing.T) {
	c := consoleIn(t, Env{Board: floor(), Accessible: true}, noon, 100, 30)
	for _, keys := range [][]string{{"r"}, {"esc", "home", "e"}, {"enter"}, {"g", "d"}, {"A"}, {"g", "u"}} {
		c.press(keys...)
		sound(t, c.view(), 100, 30)
		require.NotContains(t, c.view(), "┃")
		row, col := c.m.Cursor()
		require.Equal(t, ">", string([]rune(splitLines(c.view())[row-1])[col-1]), keys)
	}
}

// BenchmarkRunsFollow is a run that changes while 2,000 are listed, with the frame that shows it.
func BenchmarkRunsFollow(b *testing.B) {
	board := uitest.New("/data")
	for i := range runsMost {
		board.PutRun(core.Run{ID: fmt.Sprint("r", i), SessionKey: fmt.Sprintf("agent:main:s%d", i%50), State: core.RunEnded, Outcome: core.OutcomeOK, QueuedAt: int64(i), EndedAt: int64(i + 5), Message: "what is new?"})
	}
	c := newConsole(b, board, 160, 45)
	c.press("r")
	run := core.Run{ID: "live", SessionKey: "agent:main:s1", State: core.RunRunning, QueuedAt: 1, StartedAt: 2}
	for i := 0; b.Loop(); i++ {
		run.StartedAt = int64(i)
		c.send(batchMsg{c.m.link.stream, core.Batch{To: core.Rev(i + 1e6), Changes: []core.Change{{Kind: core.ChangeRun, ID: run.ID, Run: &run}}}, nil})
		_ = c.view()
	}
}
