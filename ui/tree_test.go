package ui

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/muesli/termenv"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cordboard/core"
	"cordboard/core/proptest"
	"cordboard/themes"
	"cordboard/ui/uitest"
)

// fleetOf is a board with sessions agent:main:s00 … , the first the most recent.
func fleetOf(n int) *uitest.Board {
	b := uitest.New("/data")
	for i := range n {
		b.Put(core.Head{Key: fmt.Sprintf("agent:main:s%02d", i), UpdatedAt: noon.Add(-time.Duration(i) * time.Minute).UnixMilli()}, core.SessionDetail{})
	}
	return b
}

// rowOf is the screen row of the cursor.
func (c *console) rowOf() int { return c.m.tree.index - c.m.tree.top }

// The cursor stays on its session and on its screen row while sessions come, go and are sorted around it.
func TestCursorHoldsItsSession(t *testing.T) {
	b := fleetOf(60)
	c := newConsole(t, b, 80, 24)
	for range 30 {
		c.press("down")
	}
	key, at := c.m.tree.selected(), c.rowOf()
	require.Equal(t, "agent:main:s30", key)

	b.Put(core.Head{Key: "agent:main:new", UpdatedAt: noon.UnixMilli()}, core.SessionDetail{})
	c.live()
	require.Equal(t, key, c.m.tree.selected())
	require.Equal(t, at, c.rowOf())

	b.Update("agent:main:s50", func(h *core.Head) { h.UpdatedAt = noon.UnixMilli() + 1 })
	c.live()
	c.elapse(time.Second)
	require.Equal(t, key, c.m.tree.selected())
	require.Equal(t, at, c.rowOf())

	b.Delete("agent:main:s02")
	c.live()
	require.Equal(t, key, c.m.tree.selected())
	require.Equal(t, at, c.rowOf())

	index := c.m.tree.index
	b.Delete(key)
	c.live()
	require.Equal(t, index, c.m.tree.index, "the next row comes under the cursor")
	require.Equal(t, "agent:main:s31", c.m.tree.selected())
	require.Equal(t, "agent:main:s31", c.m.trans.key)
}

// Rows are sorted anew only once the cursor has rested.
func TestRowsDoNotMoveUnderTheFinger(t *testing.T) {
	b := fleetOf(5)
	c := newConsole(t, b, 80, 24)
	b.Update("agent:main:s04", func(h *core.Head) { h.UpdatedAt = noon.UnixMilli() + 1 })
	c.press("down")
	c.live()
	order := func() string {
		var keys []string
		for _, r := range c.m.tree.rows[1:] {
			keys = append(keys, strings.TrimPrefix(c.m.tree.forest.nodes[r.node].id, "agent:main:"))
		}
		return strings.Join(keys, " ")
	}
	c.elapse(restFor / 2)
	require.Equal(t, "s00 s01 s02 s03 s04", order())
	c.elapse(restFor)
	require.Equal(t, "s04 s00 s01 s02 s03", order())
	require.Equal(t, "agent:main:s01", c.m.tree.selected())
}

// A run that starts shows on its row at once, as glyph and word, and is counted.
func TestLiveStateShows(t *testing.T) {
	b := fleetOf(5)
	c := newConsole(t, b, 80, 24)
	require.NotContains(t, c.pane(paneTree), "running")
	b.Update("agent:main:s03", func(h *core.Head) { h.Run = core.RunRunning })
	c.live()
	require.Equal(t, 1, strings.Count(c.pane(paneTree), "● s03"))
	require.Equal(t, 1, strings.Count(c.pane(paneTree), "running"))
	c.elapse(time.Second)
	require.Contains(t, splitLines(c.view())[0], "1 agent · 5 sessions · 1 live")
	require.Contains(t, splitLines(c.pane(paneTree))[2], "s03", "live first")
}

// R048: nothing is hidden for its age, and the header says that no filter is set.
func TestOldSessionsAreShown(t *testing.T) {
	b := uitest.New("/data")
	b.Put(core.Head{Key: "agent:main:old", UpdatedAt: noon.AddDate(-1, 0, 0).UnixMilli()}, core.SessionDetail{})
	c := newConsole(t, b, 80, 24)
	require.Contains(t, c.pane(paneTree), "old")
	require.Contains(t, c.view(), "filter: none")
}

// Archived sessions are left out until a shows them, and the header says so.
func TestArchived(t *testing.T) {
	b := fleetOf(2)
	b.Put(core.Head{Key: "agent:main:away", Flags: core.FlagArchived}, core.SessionDetail{})
	c := newConsole(t, b, 80, 24)
	require.NotContains(t, c.view(), "away")
	require.Contains(t, c.view(), "2 sessions")
	c.press("a")
	require.Contains(t, c.pane(paneTree), "▫ away")
	require.Contains(t, c.pane(paneTree), "archived")
	require.Contains(t, c.view(), "filter: archived too (3)")
	c.press("a")
	require.NotContains(t, c.view(), "away")
}

func TestFolds(t *testing.T) {
	b := uitest.New("/data")
	b.Put(core.Head{Key: "agent:main:main", Kind: core.KindMain}, core.SessionDetail{})
	b.Put(core.Head{Key: "agent:main:child", Parent: "agent:main:main"}, core.SessionDetail{})
	b.Put(core.Head{Key: "agent:main:grand", Parent: "agent:main:child"}, core.SessionDetail{})
	shown := func(c *console) string {
		return picture(c.m.tree.forest, c.m.tree.rows)
	}
	all := "main\n  agent:main:main\n    agent:main:child\n      agent:main:grand\n"
	cases := []struct {
		name   string
		keys   []string
		want   string
		cursor string
	}{
		{"space folds", []string{" "}, "main\n  agent:main:main folded\n", "agent:main:main"},
		{"space unfolds", []string{" ", " "}, all, "agent:main:main"},
		{"left folds, then goes up", []string{"left", "left"}, "main\n  agent:main:main folded\n", agentNode("main")},
		{"right unfolds, then goes in", []string{"left", "right", "right"}, all, "agent:main:child"},
		{"fold all takes the cursor to what is in view", []string{"G", "-"}, "main folded\n", agentNode("main")},
		{"unfold all", []string{"-", "+"}, all, agentNode("main")},
		{"enter folds an agent", []string{"g", "enter"}, "main folded\n", agentNode("main")},
		{"left of a leaf goes to its parent", []string{"G", "left"}, all, "agent:main:child"},
	}
	for _, k := range cases {
		t.Run(k.name, func(t *testing.T) {
			c := newConsole(t, b, 80, 24)
			require.Equal(t, "agent:main:main", c.m.tree.selected())
			c.press(k.keys...)
			require.Equal(t, k.want, shown(c))
			require.Equal(t, k.cursor, c.m.tree.cursor)
		})
	}
}

// pagesSeen tells what the console shows each time it asks for heads.
type pagesSeen struct {
	core.Board
	shows func() string
	seen  []string
}

func (p *pagesSeen) Sessions(ctx context.Context, q core.SessionQuery) (core.SessionPage, error) {
	if p.shows != nil {
		p.seen = append(p.seen, p.shows())
	}
	return p.Board.Sessions(ctx, q)
}

// Heads come by pages, and each is on the screen before the next is asked for.
func TestHeadsComeByPages(t *testing.T) {
	b := uitest.New("/data")
	for i := range 2500 {
		b.Put(core.Head{Key: fmt.Sprintf("agent:main:s%04d", i), UpdatedAt: int64(i + 1)}, core.SessionDetail{})
	}
	pages := &pagesSeen{Board: b}
	c := &console{t: t, now: noon}
	c.m = New(Env{Board: pages, Theme: styles(t, themes.Dark, termenv.Ascii), Now: func() time.Time { return noon }, Zone: time.UTC, Width: 80, Height: 24})
	c.m.seams = seams{after: func(time.Duration, tea.Msg) tea.Cmd { return nil }, listen: func(core.Stream) tea.Cmd { return nil }}
	t.Cleanup(func() { require.NoError(t, c.m.Close()) })
	pages.shows = func() string { return c.m.counts() }
	c.run(c.m.Init())
	require.Equal(t, []string{"0 agents · 0 sessions · loading…", "1 agent · 1000 sessions · loading…", "1 agent · 2000 sessions · loading…"}, pages.seen)
	require.Equal(t, "1 agent · 2500 sessions", c.m.counts())
	require.Equal(t, "agent:main:s2499", c.m.tree.selected())
}

// What changes while heads are loaded is not undone by a page of an older snapshot.
func TestChangesDuringALoad(t *testing.T) {
	f := newFleet()
	f.begin()
	f.addPage(core.SessionPage{At: core.Cursor{Epoch: "e", Rev: 5}, Rows: []core.SessionRow{{Head: core.Head{Key: "a", Rev: 1}}}})
	require.Equal(t, impactShape, f.apply(core.Change{Kind: core.ChangeSession, ID: "new", Head: &core.Head{Key: "new", Rev: 6}}, 6))
	require.Equal(t, impactNone, f.apply(core.Change{Kind: core.ChangeSession, ID: "gone", Deleted: true}, 7))
	require.Equal(t, impactOrder, f.apply(core.Change{Kind: core.ChangeSession, ID: "a", Head: &core.Head{Key: "a", Rev: 8, UpdatedAt: 9}}, 8))
	f.addPage(core.SessionPage{At: core.Cursor{Epoch: "e", Rev: 6}, Rows: []core.SessionRow{
		{Head: core.Head{Key: "gone", Rev: 2}}, {Head: core.Head{Key: "a", Rev: 1}}, {Head: core.Head{Key: "b", Rev: 3}},
	}})
	f.end()
	require.Len(t, f.heads, 3)
	require.NotNil(t, f.heads["new"])
	require.Equal(t, int64(9), f.heads["a"].UpdatedAt)
	require.Nil(t, f.heads["gone"])

	f.begin() // b was deleted while nobody listened
	f.addPage(core.SessionPage{At: core.Cursor{Epoch: "e", Rev: 9}, Rows: []core.SessionRow{{Head: core.Head{Key: "a", Rev: 8}}, {Head: core.Head{Key: "new", Rev: 6}}}})
	f.end()
	require.Nil(t, f.heads["b"])
	require.Len(t, f.heads, 2)
}

// Whatever is pressed, the cursor's row is in view and is the cursor's.
func TestCursorIsAlwaysInView(t *testing.T) {
	keys := []string{"down", "up", "pgdown", "pgup", "g", "G", " ", "left", "right", "-", "+", "a", "u"}
	proptest.Check(t, func(t *rapid.T) {
		b := uitest.New("/data")
		n := rapid.IntRange(0, 30).Draw(t, "sessions")
		for i := range n {
			h := core.Head{Key: fmt.Sprintf("agent:%c:%d", 'a'+i%2, i), UpdatedAt: int64(i)}
			if i > 0 && rapid.Bool().Draw(t, "spawned") {
				p := rapid.IntRange(0, i-1).Draw(t, "parent")
				h.Parent = fmt.Sprintf("agent:%c:%d", 'a'+p%2, p)
			}
			b.Put(h, core.SessionDetail{})
		}
		c := newConsole(t, b, 80, rapid.IntRange(minHeight, 24).Draw(t, "height"))
		for _, key := range rapid.SliceOfN(rapid.SampledFrom(keys), 0, 40).Draw(t, "keys") {
			c.press(key)
			c.m.focus = paneTree
			tree := &c.m.tree
			if len(tree.rows) == 0 {
				continue
			}
			require.Equal(t, tree.cursor, tree.forest.nodes[tree.rows[tree.index].node].id)
			require.GreaterOrEqual(t, tree.index, tree.top)
			require.Less(t, tree.index, tree.top+tree.height)
		}
	})
}
