package ui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cordboard/core"
	"cordboard/core/key"
	"cordboard/core/proptest"
	"cordboard/ui/uitest"
)

// mixture is R180's fleet: 375 sessions of all kinds, of two agents, some of them live, some archived.
func mixture() *uitest.Board {
	b := uitest.New("/data")
	put := func(n int, format string, change func(i int, h *core.Head)) {
		for i := range n {
			h := core.Head{Key: fmt.Sprintf(format, i), Kind: core.KindOther, Channel: "unknown", UpdatedAt: noon.Add(-time.Duration(i) * time.Minute).UnixMilli()}
			change(i, &h)
			b.Put(h, core.SessionDetail{})
		}
	}
	put(200, "agent:main:cron:job%03d", func(_ int, h *core.Head) { h.Kind, h.Channel = core.KindCron, "internal" })
	put(100, "agent:main:subagent:%03d", func(i int, h *core.Head) {
		h.Parent = "agent:main:main"
		if i < 3 {
			h.Run = core.RunRunning
		}
	})
	put(50, "agent:ops:telegram:group:%03d", func(i int, h *core.Head) { h.Kind, h.Channel = core.KindGroup, "telegram" })
	put(15, "agent:ops:hook:%03d", func(_ int, h *core.Head) { h.Kind, h.Channel, h.Flags = core.KindHook, "internal", core.FlagArchived })
	put(8, "agent:main:direct:%03d", func(_ int, h *core.Head) { h.Channel = "signal" })
	for _, agent := range []string{"main", "ops"} {
		b.Put(core.Head{Key: "agent:" + agent + ":main", Kind: core.KindMain, Channel: "webchat", UpdatedAt: noon.Add(-time.Hour).UnixMilli()}, core.SessionDetail{})
	}
	return b
}

// choose puts the menu's cursor on a choice and presses keys on it.
func (c *console) choose(id string, keys ...string) {
	c.t.Helper()
	menu := c.m.menu()
	require.NotNil(c.t, menu, "the menu is not open")
	require.True(c.t, slices.ContainsFunc(c.m.choices(), func(each choice) bool { return each.id == id }), "no choice %q", id)
	menu.at = id
	c.press(keys...)
}

// counted is the number beside a choice.
func (c *console) counted(id string) string {
	for _, each := range c.m.choices() {
		if each.id == id {
			return each.count
		}
	}
	return "none"
}

// R180, R189: toggles change the rows exactly as they count beforehand, the header tells the filter, and one key shows everything again.
func TestFilterMenu(t *testing.T) {
	c := newConsole(t, mixture(), 160, 45)
	require.Contains(t, c.header(), "2 agents · 360 sessions · 3 live")
	c.press("f")
	require.Contains(t, c.view(), "shows 360 of 360 sessions")
	for _, step := range []struct {
		id, count, key, header string
		rows                   int
	}{
		{"kind cron", "200", " ", "filter: no cron (160)", 160},
		{"kind sub-agent", "100", " ", "filter: no cron, no sub-agent (60)", 60},
		{"channel telegram", "50", " ", "filter: no cron, no sub-agent · telegram (50)", 50},
		{"channel telegram", "50", " ", "filter: no cron, no sub-agent (60)", 60},
		{"agent ops", "51", " ", "filter: no cron, no sub-agent · agent ops (51)", 51},
		{"archived", "+15", " ", "filter: no cron, no sub-agent · agent ops · archived too (66)", 66},
		{"within 15m", "31", " ", "filter: no cron, no sub-agent · agent ops · updated within 15m · archived too (31)", 31},
		{"kind group", "16", "enter", "filter: group · agent ops · updated within 15m · archived too (16)", 16},
		{"kind group", "16", "enter", "filter: agent ops · updated within 15m · archived too (31)", 31},
	} {
		require.Equal(t, step.count, c.counted(step.id), step.id)
		c.choose(step.id, step.key)
		require.Contains(t, c.header()+c.m.filterWords()+c.m.filterCount(), strings.TrimPrefix(step.header, "filter: "))
		require.Len(t, c.inTree(), step.rows, step.header)
	}
	c.press("F")
	require.Contains(t, c.header(), "filter: none")
	require.Len(t, c.inTree(), 360)
	require.Equal(t, "3", c.counted("live"))
	c.choose("live", " ")
	require.Len(t, c.inTree(), 3)
	c.press("esc", "F")
	require.Contains(t, c.header(), "filter: none")
	c.press("F")
	require.Equal(t, "no filter is set", c.footer())
}

// R053: with an agent chosen there is no row of another, in the list, in a search and in a jump; its child stands under its own agent.
func TestAgentFilter(t *testing.T) {
	b := uitest.New("/data")
	b.Put(core.Head{Key: "agent:main:main", Kind: core.KindMain, UpdatedAt: 3}, core.SessionDetail{})
	b.Put(core.Head{Key: "agent:ops:child", Parent: "agent:main:main", UpdatedAt: 2}, core.SessionDetail{})
	b.Put(core.Head{Key: "agent:ops:other", UpdatedAt: 1}, core.SessionDetail{})
	c := newConsole(t, b, 120, 30)
	c.press("f")
	c.choose("agent ops", " ", "esc")
	require.Equal(t, []string{"agent:ops:child", "agent:ops:other"}, c.inTree())
	require.NotContains(t, c.pane(paneTree), "main")
	require.Contains(t, c.pane(paneTree), "other's child")
	c.press("/")
	c.typed("main")
	require.Empty(t, c.inTree())
	c.press("esc")
	c.open("agent:ops:child")
	c.press("u")
	require.Contains(t, c.footer(), "the filter leaves out the session that spawned this one: F clears it")
}

// R050, R051: main stays in view under "updated within", marked with its age, is no match, and time takes others away.
func TestUpdatedWithin(t *testing.T) {
	b := fleetOf(30)
	b.Put(core.Head{Key: "agent:main:main", Kind: core.KindMain, UpdatedAt: noon.Add(-time.Hour).UnixMilli()}, core.SessionDetail{})
	c := newConsole(t, b, 120, 40)
	c.press("f")
	c.choose("within 15m", " ", "esc")
	require.Contains(t, c.header(), "filter: updated within 15m (16)")
	require.Contains(t, c.pane(paneTree), "idle 1h")
	require.Len(t, c.inTree(), 16)
	c.elapse(5 * time.Minute)
	require.Contains(t, c.header(), "filter: updated within 15m (11)")
	b.Update("agent:main:s29", func(h *core.Head) { h.Run = core.RunRunning })
	c.live()
	c.elapse(time.Second)
	require.Contains(t, c.inTree(), "agent:main:s29", "what runs is not old")
}

// For any fleet and criteria, what each choice of the menu counts is what choosing it leaves.
func TestFacetsCountWhatTheyLeave(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		var list []*core.Head
		for i := range rapid.IntRange(0, 40).Draw(t, "sessions") {
			list = append(list, &core.Head{
				Key:  fmt.Sprintf("agent:%s:%d", rapid.SampledFrom([]string{"a", "b"}).Draw(t, "agent"), i),
				Kind: rapid.SampledFrom(core.Kinds).Draw(t, "kind"), Channel: rapid.SampledFrom([]string{"x", "y"}).Draw(t, "channel"),
				Run:       rapid.SampledFrom([]core.RunState{"", core.RunRunning}).Draw(t, "run"),
				Flags:     rapid.SampledFrom([]core.HeadFlags{0, core.FlagArchived}).Draw(t, "flags"),
				Title:     rapid.SampledFrom([]string{"", "deploy"}).Draw(t, "title"),
				UpdatedAt: noon.Add(-time.Duration(rapid.IntRange(0, 200).Draw(t, "age")) * time.Hour).UnixMilli(),
			})
		}
		f := build(buildInput{heads: list, names: key.NewNames(core.Naming{}, ""), archived: true})
		q := question{now: noon, query: rapid.SampledFrom([]string{"", "dep"}).Draw(t, "query"), criteria: criteria{
			kinds: sorts(rapid.IntRange(0, int(everySort)).Draw(t, "kinds")), agent: rapid.SampledFrom([]string{"", "a"}).Draw(t, "of"),
			channel: rapid.SampledFrom([]string{"", "x"}).Draw(t, "on"), live: rapid.Bool().Draw(t, "live"),
			within: rapid.SampledFrom([]time.Duration{0, withins[2]}).Draw(t, "within"), archived: rapid.Bool().Draw(t, "archived"),
		}}
		facets := ask(q, f.list, true).facets
		left := func(change func(*criteria)) int {
			other := q
			change(&other.criteria)
			return ask(other, f.list, false).found
		}
		require.Equal(t, left(func(c *criteria) { c.live = true }), facets.live)
		for i, d := range withins {
			require.Equal(t, left(func(c *criteria) { c.within = d }), facets.within[i])
		}
		for i := range kindsShown {
			require.Equal(t, left(func(c *criteria) { c.kinds = 1 << i }), facets.kinds[i])
		}
		for _, agent := range []string{"a", "b"} {
			require.Equal(t, left(func(c *criteria) { c.agent = agent }), facets.agents[agent])
		}
		for _, channel := range []string{"x", "y"} {
			require.Equal(t, left(func(c *criteria) { c.channel = channel }), facets.channels[channel])
		}
		with, without := left(func(c *criteria) { c.archived = true }), left(func(c *criteria) { c.archived = false })
		require.Equal(t, with-without, facets.archived)
	})
}

// Orders: live first in each; main first by recency only; equal ones by recency.
func TestOrders(t *testing.T) {
	b := uitest.New("/data")
	for _, h := range []core.Head{
		{Key: "agent:main:main", Kind: core.KindMain, UpdatedAt: 1, Tokens: 5, Flags: core.FlagTokensKnown},
		{Key: "agent:main:beta", UpdatedAt: 9},
		{Key: "agent:main:Alpha", UpdatedAt: 3, Tokens: 70, Flags: core.FlagTokensKnown | core.FlagFailed},
		{Key: "agent:main:zed", UpdatedAt: 2, Run: core.RunRunning},
	} {
		b.Put(h, core.SessionDetail{})
	}
	c := newConsole(t, b, 160, 30)
	order := func() string {
		var names []string
		for _, r := range c.m.tree.rows[1:] {
			names = append(names, shortKey(c.m.tree.forest.nodes[r.node].id))
		}
		return strings.Join(names, " ")
	}
	for _, step := range []struct{ want, header string }{
		{"main zed beta Alpha", "scope all"},
		{"zed Alpha beta main", "sort name"},
		{"zed Alpha main beta", "sort tokens"},
		{"zed beta main Alpha", "sort state"},
		{"main zed beta Alpha", "scope all"},
	} {
		require.Equal(t, step.want, order())
		require.Contains(t, c.header(), step.header)
		c.press("S")
	}
	require.Contains(t, c.footer(), "sorted by name, live sessions first")
}

// The label, the sessionId and the model are found although no head holds them.
func TestFilterByWhatHeadsDoNotTell(t *testing.T) {
	_, store := engineOn(t, false)
	sessionsIn(t, store,
		core.Session{Key: "agent:main:main", UpdatedAt: 3},
		core.Session{Key: "agent:main:one", UpdatedAt: 2, SessionID: "0f8fad5b-d9cb-469f-a165-70867728950e", DisplayName: "Shown", Label: "quarterly", Model: "qwen3:32b"})
	c := newConsole(t, boardOver(t, store, "", core.Operator), 120, 30)
	for _, query := range []string{"quarterly", "70867728", "qwen3"} {
		c.press("/")
		c.typed(query)
		require.Equal(t, []string{"agent:main:one"}, c.inTree(), query)
		c.press("esc")
	}
}

// What is being read stays in view when it no longer meets the filter by itself; when the operator goes on, or sets another filter, it goes.
func TestWhatIsReadIsNotTakenAway(t *testing.T) {
	b := fleetOf(4)
	for _, key := range []string{"agent:main:s01", "agent:main:s02"} {
		b.Update(key, func(h *core.Head) { h.Run = core.RunRunning })
	}
	c := newConsole(t, b, 120, 30)
	c.press("f")
	c.choose("live", " ", "esc")
	require.Equal(t, []string{"agent:main:s01", "agent:main:s02"}, c.inTree())
	require.Equal(t, "agent:main:s01", c.m.tree.selected())
	b.Update("agent:main:s01", func(h *core.Head) { h.Run = "" })
	c.live()
	c.elapse(time.Second)
	require.Equal(t, "agent:main:s01", c.m.trans.key)
	require.Contains(t, c.pane(paneTree), "idle 1m")
	require.Contains(t, c.header(), "filter: live (1)")
	c.press("up")
	c.elapse(time.Second)
	b.Update("agent:main:s02", func(h *core.Head) { h.UpdatedAt++ })
	c.live()
	c.elapse(time.Second)
	require.NotContains(t, c.pane(paneTree), "s01")
}
