package ui

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cordboard/core"
)

// What is held is told in the header until it is let go; z takes back either.
func TestHoldAndRelease(t *testing.T) {
	b := floor()
	c := newConsole(t, b, 160, 45)
	c.open("agent:main:main")
	c.press("H")
	require.Equal(t, []core.Command{{Hold: &core.Hold{Session: "agent:main:main"}}}, b.Commands())
	require.Equal(t, "held: Mira · z takes it back", c.footer())
	c.live()
	require.Contains(t, splitLines(c.view())[0], "1 session held")
	c.press("r")
	c.onRow("r-q1")
	require.Contains(t, c.view(), "the session is held: H lets")
	c.press("H")
	require.Equal(t, core.Hold{Session: "agent:main:main", Release: true}, *b.Commands()[1].Hold)
	c.live()
	require.NotContains(t, splitLines(c.view())[0], "held")
	c.press("z")
	require.Equal(t, core.Hold{Session: "agent:main:main"}, *b.Commands()[2].Hold, "what was let go is held again")
	c.press("esc", "z")
	require.Equal(t, core.Hold{Session: "agent:main:main", Release: true}, *b.Commands()[3].Hold)
}

// H is about what is marked, about an agent on its row, and g H about everything.
func TestHoldMany(t *testing.T) {
	b := floor()
	c := newConsole(t, b, 160, 45)
	c.open("agent:ops:main")
	c.press("m", "m", "H")
	require.Len(t, b.Commands(), 2)
	require.Empty(t, c.m.marks.keys)
	c.live()
	require.Contains(t, splitLines(c.view())[0], "2 sessions held")
	c.press("home", "H")
	require.Equal(t, core.Hold{Agent: "main"}, *b.Commands()[2].Hold)
	c.live()
	require.Contains(t, splitLines(c.view())[0], "1 agent and 2 sessions held")
	c.press("g", "H")
	require.Equal(t, core.Hold{}, *b.Commands()[3].Hold)
	c.live()
	require.Contains(t, splitLines(c.view())[0], "all held")
	require.Contains(t, c.m.heldBy("agent:research:main"), "everything is held")
	again := newConsole(t, b, 160, 45)
	require.Contains(t, splitLines(again.view())[0], "all held", "a console that opens later tells it too")
	c.press("g", "H")
	c.live()
	require.Contains(t, c.m.heldBy("agent:main:main"), "agent main is held")
	require.Contains(t, c.m.heldBy("agent:ops:main"), "the session is held")
	require.Empty(t, c.m.heldBy("agent:research:main"))
}

// ! shows what needs the operator, as many as the header says; what was seen to stays under the cursor and goes when that moves on.
func TestNeedsYou(t *testing.T) {
	b := floor()
	b.Update("agent:ops:discord:channel:991", func(h *core.Head) { h.Flags = core.FlagAsks })
	b.Update("agent:research:main", func(h *core.Head) { h.Flags = core.FlagUndelivered })
	b.Update("agent:research:cron:weekly", func(h *core.Head) { h.Flags = core.FlagFailed | core.FlagArchived })
	b.Put(core.Head{Key: "agent:ops:mirrored", Flags: core.FlagFailed | core.FlagMirrored}, core.SessionDetail{})
	c := newConsole(t, b, 160, 45)
	require.Contains(t, splitLines(c.view())[0], "! 3 need you")
	c.press("!")
	require.Contains(t, splitLines(c.view())[0], "filter: needs you (3)")
	require.Equal(t, 3, c.m.filter.found)
	_, all := c.m.tree.count()
	require.Equal(t, 3, all)
	require.Contains(t, c.row(" ops  "), "1 of 3", "of the agent's sessions one needs you")
	require.Contains(t, c.row(" main  "), "1 of 4")
	c.open("agent:research:main")
	b.Update("agent:research:main", func(h *core.Head) { h.Flags = 0 })
	c.live()
	c.elapse(restFor * 2)
	c.elapse(restFor * 2)
	require.Equal(t, "agent:research:main", c.m.tree.selected())
	require.Contains(t, splitLines(c.view())[0], "! 2 need you")
	require.Equal(t, 2, c.m.filter.found)
	c.press("!")
	require.NotContains(t, splitLines(c.view())[0], "needs you")
	c.press("!")
	require.True(t, c.m.view("now").Needs)
}

// R runs the last run's message again where that failed, and says why not elsewhere.
func TestRetryTheLastRun(t *testing.T) {
	b := floor()
	c := newConsole(t, b, 160, 45)
	for key, why := range map[string]string{
		"agent:research:cron:weekly": "its last run ended well: there is nothing to retry", "agent:main:main": "its run has not ended yet",
	} {
		c.open(key)
		c.press("R")
		require.Equal(t, why, c.footer())
	}
	c.open("agent:main:telegram:group:-100184")
	c.press("R")
	require.Equal(t, []core.Command{{Retry: &core.Retry{Run: "r-lounge"}}}, b.Commands())
}

func TestNeedsScreens(t *testing.T) {
	board := func() core.Board {
		b := floor()
		b.Update("agent:ops:discord:channel:991", func(h *core.Head) { h.Flags = core.FlagAsks })
		b.Update("agent:ops:main", func(h *core.Head) { h.Flags = core.FlagUndelivered | core.FlagHeld })
		return b
	}
	standScreens(t, board, map[string]func(*console){
		"needs-you": func(c *console) { c.press("!") },
		"held":      func(c *console) { c.press("g", "H"); c.live(); c.open("agent:ops:main") },
	})
}
