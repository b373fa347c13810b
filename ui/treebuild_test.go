package ui

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cordboard/core"
	"cordboard/core/key"
	"cordboard/core/proptest"
)

func heads(list ...core.Head) []*core.Head {
	out := make([]*core.Head, len(list))
	for i := range list {
		out[i] = &list[i]
	}
	return out
}

// picture draws a flattened tree as indented ids.
func picture(f *forest, rows []row) string {
	var b strings.Builder
	for _, r := range rows {
		n := &f.nodes[r.node]
		id := n.id
		if n.isAgent() {
			id = n.agent
		}
		b.WriteString(strings.Repeat("  ", r.depth) + id)
		if r.folded {
			b.WriteString(" folded")
		}
		if n.adrift != notAdrift {
			b.WriteString(" " + n.adrift.word())
		}
		if r.aside {
			b.WriteString(" aside")
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestForest(t *testing.T) {
	archived := core.FlagArchived
	cases := []struct {
		name     string
		heads    []core.Head
		agents   []core.AgentInfo
		archived bool
		folded   []string
		matches  []string
		want     string
	}{
		{name: "R179: three levels", heads: []core.Head{
			{Key: "agent:main:a"}, {Key: "agent:main:b", Parent: "agent:main:a"}, {Key: "agent:main:c", Parent: "agent:main:b"},
		}, want: `
main
  agent:main:a
    agent:main:b
      agent:main:c
`},
		{name: "R054: a child under the parent's agent, whatever agent it runs under", heads: []core.Head{
			{Key: "agent:main:a"}, {Key: "agent:b:child", Parent: "agent:main:a"},
		}, want: `
main
  agent:main:a
    agent:b:child
b
`},
		{name: "R179: parent gone", heads: []core.Head{{Key: "agent:b:child", Parent: "agent:main:gone"}}, want: `
b
  agent:b:child detached
`},
		{name: "parent archived", heads: []core.Head{
			{Key: "agent:main:a", Flags: archived}, {Key: "agent:main:b", Parent: "agent:main:a"},
		}, want: `
main
  agent:main:b parent archived
`},
		{name: "archived shown", archived: true, heads: []core.Head{
			{Key: "agent:main:a", Flags: archived}, {Key: "agent:main:b", Parent: "agent:main:a"},
		}, want: `
main
  agent:main:a
    agent:main:b
`},
		{name: "R179: a loop of three does not hang", heads: []core.Head{
			{Key: "agent:main:a", Parent: "agent:main:c"}, {Key: "agent:main:b", Parent: "agent:main:a"}, {Key: "agent:main:c", Parent: "agent:main:b"},
		}, want: `
main
  agent:main:a loop
    agent:main:b
      agent:main:c
`},
		{name: "its own parent", heads: []core.Head{{Key: "agent:main:a", Parent: "agent:main:a"}}, want: `
main
  agent:main:a loop
`},
		{name: "bare keys belong to the default agent", heads: []core.Head{{Key: "cron:x"}}, want: `
main
  cron:x
`},
		{name: "main first, then live, then recent, then by key", heads: []core.Head{
			{Key: "agent:main:old", UpdatedAt: 1},
			{Key: "agent:main:new", UpdatedAt: 9},
			{Key: "agent:main:b", UpdatedAt: 5},
			{Key: "agent:main:a", UpdatedAt: 5},
			{Key: "agent:main:run", UpdatedAt: 2, Run: core.RunRunning},
			{Key: "agent:main:main", Kind: core.KindMain},
		}, want: `
main
  agent:main:main
  agent:main:run
  agent:main:new
  agent:main:a
  agent:main:b
  agent:main:old
`},
		{
			name:   "configured agents show without sessions, the default one first",
			agents: []core.AgentInfo{{ID: "alpha", Configured: true}, {ID: "main", Configured: true}, {ID: "seen"}}, want: `
main
alpha
`,
		},
		{name: "keys that differ in case are two sessions", heads: []core.Head{{Key: "agent:main:Digest"}, {Key: "agent:main:digest"}}, want: `
main
  agent:main:Digest
  agent:main:digest
`},
		{name: "folded", folded: []string{"agent:main:a"}, heads: []core.Head{
			{Key: "agent:main:a"}, {Key: "agent:main:b", Parent: "agent:main:a"},
		}, want: `
main
  agent:main:a folded
`},
		{name: "matches keep their ancestors, folded or not", folded: []string{"agent:main:a"}, matches: []string{"agent:main:b"}, heads: []core.Head{
			{Key: "agent:main:a"}, {Key: "agent:main:b", Parent: "agent:main:a"}, {Key: "agent:main:other"}, {Key: "agent:ops:x"},
		}, want: `
main aside
  agent:main:a aside
    agent:main:b
`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			f := build(buildInput{heads: heads(c.heads...), agents: c.agents, names: key.NewNames(core.Naming{}, ""), archived: c.archived})
			folded := map[string]bool{}
			for _, id := range c.folded {
				folded[id] = true
			}
			var matches map[string]bool
			if c.matches != nil {
				matches = map[string]bool{}
			}
			for _, id := range c.matches {
				matches[id] = true
			}
			require.Equal(t, strings.TrimPrefix(c.want, "\n"), picture(f, f.flatten(folded, matches)))
		})
	}
}

// Whatever the lineage is, every session is in the tree once.
func TestForestHoldsEverySessionOnce(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 40).Draw(t, "sessions")
		list := make([]core.Head, n)
		for i := range list {
			list[i] = core.Head{Key: fmt.Sprintf("agent:%c:%d", 'a'+i%3, i)}
			if p := rapid.IntRange(-1, n).Draw(t, "parent"); p >= 0 {
				list[i].Parent = fmt.Sprintf("agent:%c:%d", 'a'+p%3, p)
			}
		}
		f := build(buildInput{heads: heads(list...), names: key.NewNames(core.Naming{}, "")})
		seen := map[string]int{}
		for _, r := range f.flatten(nil, nil) {
			if n := &f.nodes[r.node]; !n.isAgent() {
				seen[n.id]++
			}
		}
		require.Len(t, seen, n)
		for id, times := range seen {
			require.Equal(t, 1, times, id)
		}
	})
}

func TestGuides(t *testing.T) {
	f := build(buildInput{heads: heads(
		core.Head{Key: "agent:main:a"}, core.Head{Key: "agent:main:b", Parent: "agent:main:a"},
		core.Head{Key: "agent:main:c", Parent: "agent:main:b"}, core.Head{Key: "agent:main:d", Parent: "agent:main:a"}, core.Head{Key: "agent:main:z"},
	), names: key.NewNames(core.Naming{}, "")})
	var got []string
	for _, r := range f.flatten(nil, nil)[1:] {
		got = append(got, guide(&f.nodes[r.node], r, 80)+f.nodes[r.node].id[len("agent:main:"):])
	}
	require.Equal(t, []string{" ▾a", "  ├▾b", "  │ └ c", "  └ d", "  z"}, got)
}
