package ui

import (
	"cmp"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"cordboard/core"
	"cordboard/ui/safe"
)

// order is how the sessions under one parent are sorted; live ones come first in each (console.md §2).
type order uint8

const (
	byRecency order = iota // main sessions before all others
	byName
	byTokens // the most first, unknown ones last
	byState
	orderCount
)

func (o order) word() string { return [orderCount]string{"recency", "name", "tokens", "state"}[o] }

// orderNamed finds an order by its word.
func orderNamed(word string) (order, bool) {
	for o := range orderCount {
		if o.word() == word {
			return o, true
		}
	}
	return 0, false
}

// rank is what an order looks at, taken from the head once.
type rank struct {
	name  string
	key   int64 // what the order compares after live: the smaller first
	live  bool
	first bool
}

func (o order) rank(h *core.Head) rank {
	r := rank{live: live(h), key: -h.UpdatedAt}
	switch o {
	case byRecency:
		r.first = h.Kind == core.KindMain
	case byName:
		r.name, r.key = strings.ToLower(nameOf(h)), 0
	case byTokens:
		r.key = 1
		if h.Flags.Has(core.FlagTokensKnown) || h.Flags.Has(core.FlagTokensStale) {
			r.key = -h.Tokens
		}
	case byState:
		r.key = int64(stateOf(h))
	}
	return r
}

// nameOf is what a row calls its session.
func nameOf(h *core.Head) string {
	if name := safe.Column(h.Title); name != "" {
		return name
	}
	return safe.Column(shortKey(h.Key))
}

// compare sorts nodes; what is equal in the order stands the most recent first.
func (f *forest) compare(a, b int) int {
	x, y := &f.nodes[a], &f.nodes[b]
	switch {
	case x.rank.first != y.rank.first:
		return trueFirst(x.rank.first)
	case x.rank.live != y.rank.live:
		return trueFirst(x.rank.live)
	}
	return cmp.Or(cmp.Compare(x.rank.key, y.rank.key), strings.Compare(x.rank.name, y.rank.name), cmp.Compare(y.at, x.at), strings.Compare(x.id, y.id))
}

// sorted puts the children of every node in order.
func (f *forest) sorted() {
	for i := range f.nodes {
		slices.SortFunc(f.nodes[i].kids, f.compare)
	}
}

// nextOrder sorts by the next order.
func (m *Model) nextOrder() tea.Cmd {
	return m.setOrder((m.order + 1) % orderCount)
}

func (m *Model) setOrder(o order) tea.Cmd {
	m.order = o
	m.said = "sorted by " + o.word() + ", live sessions first"
	m.barsDirty = true
	return m.rebuild()
}
