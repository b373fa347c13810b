package ui

import (
	"encoding/json"
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

// news are the sessions with an unread mark in view.
func (c *console) news() string {
	var names []string
	for _, r := range c.m.tree.rows {
		if h := c.m.fleet.heads[c.m.tree.forest.nodes[r.node].id]; h != nil && c.m.unread.news(h) {
			names = append(names, shortKey(h.Key))
		}
	}
	return strings.Join(names, " ")
}

// grow tells of new messages in a session.
func grow(b *uitest.Board, key string, at time.Time) {
	b.Update(key, func(h *core.Head) { h.LastSeq += 2; h.UpdatedAt = at.UnixMilli() })
}

// Messages that come while one looks elsewhere leave a mark; it goes once their end was on the screen for a second, not by passing by.
func TestUnread(t *testing.T) {
	b := fleetOf(4)
	for _, key := range []string{"s00", "s01", "s02", "s03"} {
		b.Append("agent:main:"+key, say(1, "hello")...)
		b.Update("agent:main:"+key, func(h *core.Head) { h.LastSeq = 1 })
	}
	c := newConsole(t, b, 120, 30)
	require.Empty(t, c.news(), "what was there before is no news")
	c.elapse(readAfter)
	now := noon.Add(time.Minute)
	grow(b, "agent:main:s02", now)
	grow(b, "agent:main:s03", now)
	grow(b, "agent:main:s00", now)
	c.live()
	c.now = now
	require.Equal(t, "s02 s03", c.news(), "s00 is being read")
	require.Equal(t, 2, strings.Count(c.pane(paneTree), "•"))

	c.press(".")
	require.Equal(t, "agent:main:s02", c.m.tree.selected())
	require.Contains(t, c.pane(paneInspector), "unread    • new messages")
	c.press("down")
	require.Equal(t, "s02 s03", c.news(), "passing by is not reading")
	c.elapse(readAfter)
	require.Equal(t, "s02", c.news())
	c.press(".")
	c.press(",")
	require.Empty(t, c.news())
	c.press(".")
	require.Equal(t, "nothing is unread", c.footer())
	grow(b, "agent:main:s01", now)
	c.live()
	require.Equal(t, "s01", c.news())
}

// A reset counts a session's messages anew: what comes after it is news.
func TestUnreadAfterAReset(t *testing.T) {
	b := fleetOf(2)
	b.Update("agent:main:s01", func(h *core.Head) { h.LastSeq = 90 })
	c := newConsole(t, b, 120, 30)
	c.open("agent:main:s01")
	c.press(",")
	c.press("up")
	b.Update("agent:main:s01", func(h *core.Head) { h.LastSeq = 3 })
	c.live()
	require.Equal(t, "s01", c.news())
}

// What was read is remembered, and what came in between is news.
func TestUnreadIsRemembered(t *testing.T) {
	u := unread{Since: 1000, Read: map[string]uint64{"a": 5}}
	require.False(t, u.news(&core.Head{Key: "a", LastSeq: 5, UpdatedAt: 2000}))
	require.True(t, u.news(&core.Head{Key: "a", LastSeq: 6, UpdatedAt: 900}))
	require.True(t, u.news(&core.Head{Key: "b", LastSeq: 1, UpdatedAt: 2000}))
	require.False(t, u.news(&core.Head{Key: "b", LastSeq: 1, UpdatedAt: 900}), "an old session that was imported since")
	require.False(t, u.news(&core.Head{Key: "b", UpdatedAt: 2000}), "no messages, no news")
	m := newConsole(t, fleetOf(1), 80, 24).m
	raw, err := json.Marshal(u)
	require.NoError(t, err)
	require.NoError(t, unreadMemory().recall(m, raw))
	require.Equal(t, u, unreadMemory().keep(m))
	require.Error(t, unreadMemory().recall(m, []byte(`{"since":"x"}`)))
	require.Equal(t, u, m.unread, "what cannot be read changes nothing")
}

// R179: ways along the lineage, and the way from the agent down.
func TestAlongTheLineage(t *testing.T) {
	b := uitest.New("/data")
	for _, h := range []core.Head{
		{Key: "agent:main:main", Kind: core.KindMain, UpdatedAt: 9, Title: "Mira"},
		{Key: "agent:main:one", Parent: "agent:main:main", UpdatedAt: 8},
		{Key: "agent:ops:two", Parent: "agent:main:main", UpdatedAt: 7},
		{Key: "agent:ops:deep", Parent: "agent:ops:two", UpdatedAt: 6},
		{Key: "agent:ops:main", Kind: core.KindMain, UpdatedAt: 5},
	} {
		b.Put(h, core.SessionDetail{})
	}
	cases := []struct{ name, from, keys, to, said string }{
		{"to the first child", "agent:main:main", "U", "agent:main:one", ""},
		{"a leaf has none", "agent:main:one", "U", "agent:main:one", "this session spawned none that is in view"},
		{"the next sibling", "agent:main:one", "]", "agent:ops:two", ""},
		{"over its own children", "agent:ops:two", "[", "agent:main:one", ""},
		{"the last", "agent:ops:two", "]", "agent:ops:two", "this is the last one under its parent"},
		{"the first", "agent:main:one", "[", "agent:main:one", "this is the first one under its parent"},
		{"down and up", "agent:ops:two", "Uuu", "agent:main:main", ""},
		{"among agents", agentNode("main"), "]", "", ""},
	}
	for _, k := range cases {
		t.Run(k.name, func(t *testing.T) {
			c := newConsole(t, b, 120, 30)
			c.open(k.from)
			c.typed(k.keys)
			require.Equal(t, k.to, c.m.tree.selected())
			require.Equal(t, k.said, c.m.said)
		})
	}
	c := newConsole(t, b, 160, 30)
	c.open("agent:ops:deep")
	require.Contains(t, c.pane(paneInspector), "main › Mira › two › deep")
	c.press("g", " ")
	c.open("agent:ops:main")
	require.NotContains(t, c.pane(paneInspector), "›", "one step is no way")
}

// A view is kept under a name with everything it sets, comes back as it was, and one that is damaged is left out by name.
func TestSavedViews(t *testing.T) {
	board, _ := engineOn(t, true)
	c := newConsole(t, board, 160, 45)
	c.press("S", "V", "v", "d", "f")
	c.choose("kind group", "enter")
	c.choose("archived", " ", "esc")
	c.press("/")
	c.typed("ops")
	c.press("enter", "b")
	c.typed("what main sees")
	c.press("enter", "esc")
	kept := c.m.view("what main sees")
	require.Equal(t, SavedView{
		Name: "what main sees", Sort: "name", Text: "ops", Kinds: []core.Kind{core.KindGroup}, Archived: true,
		LookAs: "agent:main:main", Scope: core.VisibilityAgent, Hide: true,
	}, kept)
	tree := c.inTree()
	c.press("esc", "esc", "S", "S", "S")
	require.Contains(t, c.header(), "as operator")
	require.Equal(t, byRecency, c.m.order)
	c.press("b", "enter")
	require.Equal(t, kept, c.m.view(kept.Name))
	require.Equal(t, tree, c.inTree())

	raw, err := json.Marshal(viewsMemory().keep(c.m))
	require.NoError(t, err)
	next := consoleIn(t, Env{Board: board, Start: Start{View: "what main sees"}}, noon, 160, 45)
	require.Contains(t, next.view(), "there is no saved view what main sees: b lists them")
	require.NoError(t, viewsMemory().recall(next.m, raw))
	require.Equal(t, c.m.views, next.m.views)
	err = viewsMemory().recall(next.m, []byte(`[{"name":"good","sort":"name"},{"name":"bad","sort":"size"},{"name":"odd","kinds":["robot"]},{"sort":"name"},{"name":"far","withinMinutes":-1},{"name":"s","scope":"some"},7]`))
	require.Error(t, err)
	require.Equal(t, []string{"good", "what main sees"}, []string{next.m.views[0].Name, next.m.views[1].Name})
	require.Len(t, next.m.views, 2)
	next.press("b", "x", "x", "x")
	require.Empty(t, next.m.views)
}

// Deep links: a filter and the eyes to look through are in force at the start.
func TestDeepLinks(t *testing.T) {
	board, _ := engineOn(t, true)
	c := consoleIn(t, Env{Board: board, Start: Start{Filter: "desk", LookAs: "agent:ops:main"}}, noon, 160, 45)
	require.Contains(t, c.header(), "looking as agent:ops:main")
	require.Contains(t, c.header(), "filter: desk (2)")
}

// Keys that come in one go are keys, each of them; a text that was pasted without saying so is none.
func TestBursts(t *testing.T) {
	c := newConsole(t, fleetOf(30), 80, 24)
	c.together("jjjjjjjj")
	require.Equal(t, "agent:main:s08", c.m.tree.selected())
	c.together("m ")
	require.Len(t, c.m.marks.keys, 1)
	at := c.m.tree.selected()
	c.together("mmjj kkx")
	require.Equal(t, at, c.m.tree.selected())
	require.Len(t, c.m.marks.keys, 1)
	c.press("/")
	c.together("s2")
	require.Equal(t, "s2", c.m.filter.input.Value())
	c.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(" agent:main"), Paste: true})
	require.Equal(t, "s2 agent:main", c.m.filter.input.Value())
}

// drawer is a State that lives in memory.
type drawer map[string][]byte

func (d drawer) Load(name string) ([]byte, error)    { return d[name], nil }
func (d drawer) Save(name string, data []byte) error { d[name] = data; return nil }

// The next run finds order, filters, views and what was read as they were left, and looks as the operator.
func TestTheNextRun(t *testing.T) {
	b := mixture()
	d := drawer{}
	c := consoleIn(t, Env{Board: b, State: d}, noon, 160, 45)
	c.press("S", "S", "f")
	c.choose("kind cron", " ")
	c.choose("agent main", " ", "esc")
	c.press("b")
	c.typed("mine")
	c.press("enter", "esc", "enter")
	c.elapse(readAfter)
	tree := c.inTree()
	require.NoError(t, c.m.Close())

	read := c.m.tree.selected()
	grow(b, read, noon.Add(time.Hour))
	b.Put(core.Head{Key: "agent:main:later", LastSeq: 3, UpdatedAt: noon.Add(time.Hour).UnixMilli()}, core.SessionDetail{})
	next := consoleIn(t, Env{Board: b, State: d}, noon.Add(2*time.Hour), 160, 45)
	require.Contains(t, next.header(), "filter: no cron · agent main")
	require.Contains(t, next.header(), "sort tokens")
	require.Contains(t, next.header(), "as operator")
	require.Len(t, next.inTree(), len(tree)+1)
	require.Len(t, next.m.views, 1)
	require.True(t, next.m.unread.news(next.m.fleet.heads["agent:main:later"]))
	require.True(t, next.m.unread.news(next.m.fleet.heads[read]))
	next.press("F")
	require.Contains(t, next.header(), "filter: none")

	d["console"] = []byte(`{"filters": {"name": "last", "sort": "sideways"}, "views": 7, "unread": []}`)
	odd := consoleIn(t, Env{Board: b, State: d}, noon, 160, 45)
	require.Contains(t, odd.header(), "filter: none")
	require.Contains(t, odd.view(), "sideways")
}

// The accessible console says in words what is a sign elsewhere, and its cursor stands where a layer wants it.
func TestSignsInWords(t *testing.T) {
	board, _ := engineOn(t, true)
	c := consoleIn(t, Env{Board: board, Accessible: true}, noon, 100, 30)
	c.press("m", "up", "V")
	require.Contains(t, splitLines(c.view())[3], "marked")
	require.Contains(t, splitLines(c.view())[3], "viewpoint")
	require.Contains(t, c.view(), "unread")
	at := func() string {
		row, col := c.m.Cursor()
		return string([]rune(splitLines(c.view())[row-1])[col-1:])
	}
	c.press("L")
	c.typed("desk")
	require.Equal(t, ' ', []rune(at())[0], "behind what is typed")
	c.press("esc", "f", "down")
	require.True(t, strings.HasPrefix(at(), "> [ ] archived too"), at())
}

// However much was read, tidying up changes no mark.
func TestTidyChangesNoMark(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		u := unread{Since: 50, Read: map[string]uint64{}}
		heads := map[string]*core.Head{}
		for i := range rapid.IntRange(0, 30).Draw(t, "sessions") {
			h := &core.Head{Key: string(rune('a' + i)), LastSeq: uint64(rapid.IntRange(0, 9).Draw(t, "last")), UpdatedAt: int64(rapid.IntRange(0, 200).Draw(t, "at"))}
			heads[h.Key] = h
			if rapid.Bool().Draw(t, "looked") {
				u.Read[h.Key] = uint64(rapid.IntRange(0, 9).Draw(t, "read"))
			}
		}
		before := map[string]bool{}
		for key, h := range heads {
			before[key] = u.news(h)
		}
		u.tidy(heads, time.UnixMilli(100))
		for key, h := range heads {
			require.Equal(t, before[key], u.news(h), key)
		}
		for key := range u.Read {
			require.True(t, before[key])
		}
	})
}

// R179: a folded session tells how many it hides, at any depth.
func TestFoldedTellsHowMany(t *testing.T) {
	b := uitest.New("/data")
	for _, h := range []core.Head{
		{Key: "agent:main:top", UpdatedAt: 9},
		{Key: "agent:main:mid", Parent: "agent:main:top"},
		{Key: "agent:ops:low", Parent: "agent:main:mid"},
		{Key: "agent:main:side", Parent: "agent:main:top"},
	} {
		b.Put(h, core.SessionDetail{})
	}
	c := newConsole(t, b, 80, 24)
	require.NotContains(t, c.pane(paneTree), "+")
	c.press(" ")
	require.Contains(t, c.pane(paneTree), "▸· top +3")
}
