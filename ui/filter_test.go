package ui

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"cordboard/core"
	"cordboard/core/key"
	"cordboard/ui/uitest"
)

func TestSearch(t *testing.T) {
	heads := map[string]*core.Head{}
	var list []*core.Head
	for _, h := range []core.Head{
		{Key: "agent:main:main", Title: "Mira", Channel: "webchat"},
		{Key: "agent:main:discord:channel:1180223344556677889", Title: "#deploys", Channel: "discord"},
		{Key: "agent:ops:subagent:4df511fc-771d-42b2-a7e1-6a3a829d2b43", Title: "log-sweep"},
		{Key: "agent:ops:my-stream", Channel: "webchat"},
		{Key: "agent:ops:会議室"},
	} {
		heads[h.Key] = &h
		list = append(list, &h)
	}
	f := build(buildInput{heads: list, names: key.NewNames(core.Naming{}, ""), about: map[string]*about{
		"agent:ops:会議室": {id: "5ceb3a8a-bac0-4845-a4ce-916f4ed9fc5f", names: []string{"quarterly review", "claude-sonnet-4-5"}},
	}})
	cases := []struct {
		name, query string
		want        []string
	}{
		{"by name", "deploy", []string{"agent:main:discord:channel:1180223344556677889"}},
		{"by channel", "disc", []string{"agent:main:discord:channel:1180223344556677889"}},
		{"by key", "agent:ops", []string{"agent:ops:my-stream", "agent:ops:subagent:4df511fc-771d-42b2-a7e1-6a3a829d2b43", "agent:ops:会議室"}},
		{"fuzzy: letters in order and near", "mstr", []string{"agent:ops:my-stream"}},
		{"case does not count", "MIRA", []string{"agent:main:main"}},
		{"every word", "ops webchat", []string{"agent:ops:my-stream"}},
		{"a few hex digits are not found all over a UUID", "dead", nil},
		{"the end of an id is", "829d2b43", []string{"agent:ops:subagent:4df511fc-771d-42b2-a7e1-6a3a829d2b43"}},
		{"CJK", "会議", []string{"agent:ops:会議室"}},
		{"by label", "quarterly", []string{"agent:ops:会議室"}},
		{"by session id", "916f4ed9", []string{"agent:ops:会議室"}},
		{"by model", "sonnet", []string{"agent:ops:会議室"}},
		{"a number stands as it is written", "118 677", []string{"agent:main:discord:channel:1180223344556677889"}},
		{"and is not put together from digits", "1122", nil},
		{"nothing", "zzz", nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for k := range ask(question{query: c.query}, f.list, false).matches {
				got = append(got, k)
			}
			slices.Sort(got)
			require.Equal(t, c.want, got)
		})
	}
}

// The filter is set and cleared by the operator only, its count is shown, and the cursor goes to what it found.
func TestFilterFlow(t *testing.T) {
	board, _ := engineOn(t, true)
	c := newConsole(t, board, 120, 40)
	require.Contains(t, c.view(), "filter: none")
	c.press("/")
	c.typed("sweep")
	require.Contains(t, c.pane(paneTree), "1 of 23")
	require.Contains(t, c.view(), "filter: sweep (1)")
	require.Equal(t, "agent:main:subagent:4df511fc-771d-42b2-a7e1-6a3a829d2b43", c.m.tree.selected())
	require.Contains(t, c.pane(paneTree), "Mira", "the parent stays in view")
	c.press("backspace", "backspace", "backspace", "backspace", "enter")
	require.Contains(t, c.view(), "filter: s (")
	require.Greater(t, len(c.m.filter.matches), 1, "a shorter query searches everything again")
	found := c.m.tree.selected()
	c.press("esc")
	require.Contains(t, c.view(), "filter: none")
	require.Equal(t, found, c.m.tree.selected(), "what was found stays selected")
	require.Contains(t, c.view(), "23 sessions")
}

// The answer to an older query is dropped.
func TestStaleSearch(t *testing.T) {
	c := newConsole(t, fleetOf(3), 80, 24)
	c.press("/")
	c.typed("s0")
	number := c.m.filter.number
	c.typed("1")
	c.send(foundMsg{number: number, query: "s0", findings: findings{matches: map[string]bool{}}})
	require.Equal(t, map[string]bool{"agent:main:s01": true}, c.m.filter.matches)
}

// Sessions that come while a filter is set are searched too.
func TestFilterSeesNewSessions(t *testing.T) {
	b := fleetOf(3)
	c := newConsole(t, b, 80, 24)
	c.press("/")
	c.typed("deploy")
	require.Empty(t, c.m.filter.matches)
	require.Contains(t, c.view(), "Nothing matches.")
	b.Put(core.Head{Key: "agent:main:x", Title: "deploys"}, core.SessionDetail{})
	c.live()
	require.Len(t, c.m.filter.matches, 1)
	require.Contains(t, c.pane(paneTree), "deploys")
}

// What is archived is no match until it is shown.
func TestFilterLeavesOutArchived(t *testing.T) {
	b := uitest.New("/data")
	b.Put(core.Head{Key: "agent:main:one", Title: "same"}, core.SessionDetail{})
	b.Put(core.Head{Key: "agent:main:two", Title: "same", Flags: core.FlagArchived}, core.SessionDetail{})
	c := newConsole(t, b, 80, 24)
	c.press("/")
	c.typed("same")
	require.Contains(t, c.pane(paneTree), "1 of 1")
	c.press("enter", "a")
	require.Contains(t, c.pane(paneTree), "2 of 2")
}
