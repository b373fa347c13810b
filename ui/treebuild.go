package ui

import (
	"slices"
	"strings"

	"cordboard/core"
	"cordboard/core/key"
)

// agentPrefix starts the node id of an agent. No session key starts with it: NUL is not printable and no agent id holds it.
const agentPrefix = "\x00agent\x00"

func agentNode(id string) string { return agentPrefix + id }

// adrift says why a spawned session stands under its own agent instead of under its parent.
type adrift uint8

const (
	notAdrift       adrift = iota
	parentGone             // the store does not hold the parent
	parentArchived         // it does, but archived sessions are left out
	parentLoop             // the lineage comes back to the session itself
	parentUnseen           // the viewpoint may not see the parent, and hidden rows are left out
	parentElsewhere        // the parent runs under an agent that is left out
)

// node is an agent or a session in the forest.
type node struct {
	id     string // session key, or agentNode(id)
	agent  string
	parent int // -1 for an agent
	kids   []int
	adrift adrift
	main   bool
	live   bool // a run is queued or running
	at     int64
	rank   rank
}

func (n *node) isAgent() bool { return n.parent < 0 }

// forest is every agent with its sessions, each spawned session under the one that spawned it, whatever agent it runs under
// (console.md §2).
type forest struct {
	nodes []node
	roots []int // the agents
	index map[string]int
	owned map[string]int // sessions by the agent they run under

	sessions, live int
	needs          int // sessions that need the operator, whether they are in the forest or not

	list   []candidate // every session there is, whether it is in the forest or not
	hidden int         // of them, those that the viewpoint may not see
}

func (f *forest) find(id string) (int, bool) {
	i, ok := f.index[id]
	return i, ok
}

// buildInput is a snapshot of what a forest is built from.
type buildInput struct {
	heads    []*core.Head
	agents   []core.AgentInfo
	names    key.Names
	about    map[string]*about // for the filter
	order    order
	archived bool            // also archived sessions
	agent    string          // only sessions of this one; "" = all
	sight    map[string]bool // what the viewpoint may see; nil = all
	hide     bool            // the others are left out
}

// leavesOut says why a session is not in the forest, as one says it of a parent: notAdrift when it is.
func (in *buildInput) leavesOut(c *candidate) adrift {
	switch {
	case !in.archived && c.head.Flags.Has(core.FlagArchived):
		return parentArchived
	case in.agent != "" && c.agent != in.agent:
		return parentElsewhere
	case in.hide && !in.sees(c):
		return parentUnseen
	}
	return notAdrift
}

func (in *buildInput) sees(c *candidate) bool { return in.sight == nil || in.sight[c.head.Key] }

// build makes the forest: the default agent first, the others by id; the sessions of each in the order asked for.
func build(in buildInput) *forest {
	f := &forest{
		index: make(map[string]int, len(in.heads)+len(in.agents)), owned: map[string]int{},
		nodes: make([]node, 0, len(in.heads)+len(in.agents)+1), list: make([]candidate, 0, len(in.heads)),
	}
	for _, h := range in.heads {
		f.list = append(f.list, newCandidate(h, in.names.AgentOf(h.Key), in.about[h.Key]))
	}
	f.addAgents(&in)
	absent := f.addSessions(&in)
	for i := range f.nodes {
		if n := &f.nodes[i]; !n.isAgent() {
			n.parent = f.agentOf(n)
		}
	}
	f.link(in.heads, absent)
	f.cutLoops()
	for i := range f.nodes {
		if n := &f.nodes[i]; !n.isAgent() {
			f.nodes[n.parent].kids = append(f.nodes[n.parent].kids, i)
		}
	}
	f.sorted()
	if in.hide || in.agent != "" {
		f.roots = slices.DeleteFunc(f.roots, func(i int) bool { return len(f.nodes[i].kids) == 0 })
	}
	return f
}

// addAgents adds those that have a session in the forest, and the configured ones when all are asked for.
func (f *forest) addAgents(in *buildInput) {
	ids := map[string]bool{}
	for _, a := range in.agents {
		if a.Configured && !in.hide && (in.agent == "" || in.agent == a.ID) {
			ids[a.ID] = true
		}
	}
	for i := range f.list {
		if c := &f.list[i]; in.leavesOut(c) == notAdrift {
			ids[c.agent] = true
		}
	}
	sorted := make([]string, 0, len(ids))
	for id := range ids {
		sorted = append(sorted, id)
	}
	first := in.names.DefaultAgent()
	slices.SortFunc(sorted, func(a, b string) int {
		if (a == first) != (b == first) {
			return trueFirst(a == first)
		}
		return strings.Compare(a, b)
	})
	for _, id := range sorted {
		f.roots = append(f.roots, f.add(node{id: agentNode(id), agent: id, parent: -1}))
	}
}

// addSessions adds a node for every session that is not left out, and returns why the others are.
func (f *forest) addSessions(in *buildInput) map[string]adrift {
	absent := map[string]adrift{}
	for i := range f.list {
		c := &f.list[i]
		h := c.head
		if needsYou(h) {
			f.needs++
		}
		if !in.sees(c) && (in.archived || !h.Flags.Has(core.FlagArchived)) {
			f.hidden++
		}
		if why := in.leavesOut(c); why != notAdrift {
			absent[h.Key] = why
			continue
		}
		n := node{id: h.Key, agent: c.agent, main: h.Kind == core.KindMain, live: live(h), at: h.UpdatedAt, rank: in.order.rank(h)}
		f.add(n)
		f.owned[c.agent]++
		f.sessions++
		if n.live {
			f.live++
		}
	}
	return absent
}

func (f *forest) add(n node) int {
	f.nodes = append(f.nodes, n)
	f.index[n.id] = len(f.nodes) - 1
	return len(f.nodes) - 1
}

// below counts the sessions under a node, at any depth.
func (f *forest) below(i int) int {
	n := 0
	for _, kid := range f.nodes[i].kids {
		n += 1 + f.below(kid)
	}
	return n
}

func (f *forest) agentOf(n *node) int { return f.index[agentNode(n.agent)] }

// link puts every spawned session under its parent.
func (f *forest) link(heads []*core.Head, absent map[string]adrift) {
	for _, h := range heads {
		i, shown := f.index[h.Key]
		if !shown || h.Parent == "" {
			continue
		}
		n := &f.nodes[i]
		parent, ok := f.index[h.Parent]
		switch {
		case ok && parent == i:
			n.adrift = parentLoop
		case ok:
			n.parent = parent
		case absent[h.Parent] != notAdrift:
			n.adrift = absent[h.Parent]
		default:
			n.adrift = parentGone
		}
	}
}

// cutLoops takes one session out of every loop of parents, so that each is reached from its agent.
func (f *forest) cutLoops() {
	seen := make([]int, len(f.nodes)) // the walk that came by, from 1
	for start := range f.nodes {
		for i := start; i >= 0 && !f.nodes[i].isAgent() && seen[i] != start+1; i = f.nodes[i].parent {
			if seen[i] != 0 {
				break // an earlier walk went on from here to an agent
			}
			seen[i] = start + 1
			if next := f.nodes[i].parent; seen[next] == start+1 {
				f.nodes[next].adrift = parentLoop
				f.nodes[next].parent = f.agentOf(&f.nodes[next])
				break
			}
		}
	}
}

func trueFirst(first bool) int {
	if first {
		return -1
	}
	return 1
}

// row is one line of the flattened tree.
type row struct {
	node   int
	depth  int
	guides uint64 // bit d: an ancestor at depth d has a later sibling, so its line goes on
	last   bool   // no sibling follows
	folded bool
	aside  bool // shown only because something below it matches the filter, or because it is pinned
	pinned bool // in view although it is older than the filter asks for, or has ended
}

// flatten lists the rows in view. With a filter the matches and their ancestors are shown and folds do not count; what matches holds as
// false is in view and no match.
func (f *forest) flatten(folded map[string]bool, matches map[string]bool) []row {
	w := flattener{f: f, folded: folded, matches: matches, rows: make([]row, 0, len(f.nodes))}
	if matches != nil {
		w.below = f.ancestors(matches)
	}
	for _, root := range f.roots {
		w.walk(root, row{last: true})
	}
	return w.rows
}

type flattener struct {
	f       *forest
	folded  map[string]bool
	matches map[string]bool
	below   []bool // node → something at or below it matches
	rows    []row
}

func (w *flattener) walk(i int, r row) {
	n := &w.f.nodes[i]
	r.node = i
	if w.matches != nil {
		found, kept := w.matches[n.id]
		r.aside, r.pinned = !found, kept && !found
	} else {
		r.folded = len(n.kids) > 0 && w.folded[n.id]
	}
	if w.matches == nil || w.below[i] {
		w.rows = append(w.rows, r)
	}
	if r.folded {
		return
	}
	kids := n.kids
	if w.matches != nil {
		kids = slices.DeleteFunc(slices.Clone(kids), func(k int) bool { return !w.below[k] })
	}
	below := row{depth: r.depth + 1, guides: r.guides}
	if !r.last && r.depth < 64 {
		below.guides |= 1 << r.depth
	}
	for k, kid := range kids {
		below.last = k == len(kids)-1
		w.walk(kid, below)
	}
}

// ancestors marks the nodes that match or have a match below them.
func (f *forest) ancestors(matches map[string]bool) []bool {
	below := make([]bool, len(f.nodes))
	for id := range matches {
		i, ok := f.index[id]
		for ok && i >= 0 && !below[i] {
			below[i] = true
			i = f.nodes[i].parent
		}
	}
	return below
}
