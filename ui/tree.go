package ui

// tree is the left pane. The cursor is a node id: it stays on its session whatever is sorted, loaded or folded around it.
type tree struct {
	forest  *forest
	rows    []row
	at      []int // node → its row, -1 when it is not in view
	folded  map[string]bool
	matches map[string]bool // of the filter; nil = no filter
	found   map[string]int  // of it, by the agent they run under

	cursor string // node id, "" until there is a row
	index  int    // its row
	top    int    // first row on the screen
	height int
	held   bool // the cursor stays where it is: before, it goes to the first session that comes

	dirty bool
}

func newTree() tree { return tree{forest: build(buildInput{}), folded: map[string]bool{}, dirty: true} }

// setForest replaces the forest and keeps the cursor's session where it is on the screen.
func (t *tree) setForest(f *forest) {
	t.forest = f
	t.reflow()
}

// reflow lists the rows anew after a fold, a filter or a new forest.
func (t *tree) reflow() {
	offset := t.index - t.top
	if !t.held {
		t.cursor = ""
	}
	t.rows = t.forest.flatten(t.folded, t.matches)
	t.at = make([]int, len(t.forest.nodes))
	for i := range t.at {
		t.at[i] = -1
	}
	for i, r := range t.rows {
		t.at[r.node] = i
	}
	t.index = t.locate()
	t.top = t.index - offset
	if !t.held {
		t.top = 0
	}
	t.adopt()
}

// locate is the cursor's row: its own, that of the nearest ancestor in view, or the one that now stands where it was.
func (t *tree) locate() int {
	if t.cursor == "" {
		return t.firstSession()
	}
	if i, ok := t.forest.find(t.cursor); ok {
		for ; i >= 0; i = t.forest.nodes[i].parent {
			if t.at[i] >= 0 {
				return t.at[i]
			}
		}
	}
	return clamp(t.index, 0, len(t.rows)-1)
}

// setMatches shows what a filter found, nil for no filter. A cursor that is neither among it nor kept goes to the first that is.
func (t *tree) setMatches(matches map[string]bool, keep string) {
	t.matches, t.found = matches, map[string]int{}
	for key, is := range matches {
		if i, ok := t.forest.find(key); ok && is {
			t.found[t.forest.nodes[i].agent]++
		}
	}
	t.reflow()
	if matches != nil && !matches[t.cursor] && (t.cursor == "" || t.cursor != keep) && len(t.rows) > 0 {
		t.jump(t.firstSession())
	}
}

// firstSession is the first row worth looking at: a session, and with a filter one that matches.
func (t *tree) firstSession() int {
	for i, r := range t.rows {
		if !t.forest.nodes[r.node].isAgent() && !r.aside {
			return i
		}
	}
	return 0
}

// adopt makes the row at index the cursor's and scrolls it into view.
func (t *tree) adopt() {
	t.index = max(0, min(t.index, len(t.rows)-1))
	if len(t.rows) > 0 {
		t.cursor = t.forest.nodes[t.rows[t.index].node].id
	}
	t.scroll()
	t.dirty = true
}

func (t *tree) scroll() {
	t.top = max(t.top, t.index-t.height+1)
	t.top = min(t.top, t.index, max(len(t.rows)-t.height, 0))
	t.top = max(t.top, 0)
}

func (t *tree) resize(h int) {
	if t.height != h {
		if t.height <= 0 {
			t.top = 0
		}
		t.height = h
		t.scroll()
	}
	t.dirty = true
}

func (t *tree) move(by int) { t.jump(t.index + by) }

func (t *tree) jump(index int) {
	t.held = true
	t.index = index
	t.adopt()
}

// goTo moves the cursor to a node, unfolding what hides it. It reports false when the node is not there.
func (t *tree) goTo(id string) bool {
	i, ok := t.forest.find(id)
	if !ok || t.matches != nil && t.at[i] < 0 {
		return false
	}
	for p := t.forest.nodes[i].parent; p >= 0; p = t.forest.nodes[p].parent {
		delete(t.folded, t.forest.nodes[p].id)
	}
	t.cursor, t.held = id, true
	t.reflow()
	return true
}

func (t *tree) node() *node {
	if len(t.rows) == 0 {
		return nil
	}
	return &t.forest.nodes[t.rows[t.index].node]
}

// selected is the key of the session under the cursor, "" for an agent.
func (t *tree) selected() string {
	if n := t.node(); n != nil && !n.isAgent() {
		return n.id
	}
	return ""
}

func (t *tree) fold(id string, folded bool) {
	if folded {
		t.folded[id] = true
	} else {
		delete(t.folded, id)
	}
	t.reflow()
}

func (t *tree) toggle() {
	if n := t.node(); n != nil && len(n.kids) > 0 {
		t.fold(n.id, !t.folded[n.id])
	}
}

// foldAll folds every agent and every session that spawned others.
func (t *tree) foldAll() {
	for i := range t.forest.nodes {
		if n := &t.forest.nodes[i]; len(n.kids) > 0 {
			t.folded[n.id] = true
		}
	}
	t.reflow()
}

func (t *tree) unfoldAll() {
	clear(t.folded)
	t.reflow()
}

// out folds the node under the cursor, or moves to its parent when there is nothing to fold.
func (t *tree) out() {
	n := t.node()
	switch {
	case n == nil:
	case len(n.kids) > 0 && !t.folded[n.id] && t.matches == nil:
		t.fold(n.id, true)
	case n.parent >= 0:
		t.jump(t.at[n.parent])
	}
}

// in unfolds the node under the cursor, or moves to its first child. It reports false when there is none.
func (t *tree) in() bool {
	n := t.node()
	switch {
	case n == nil || len(n.kids) == 0:
		return false
	case t.folded[n.id] && t.matches == nil:
		t.fold(n.id, false)
	default:
		t.move(1)
	}
	return true
}

// count is which of the sessions in the rows the cursor is on, 0 on an agent, and how many there are. Rows that stand there only for the
// sake of others do not count.
func (t *tree) count() (at, all int) {
	for i, r := range t.rows {
		if t.forest.nodes[r.node].isAgent() || r.aside && !r.pinned {
			continue
		}
		if all++; i == t.index {
			at = all
		}
	}
	return at, all
}

// visible reports whether a session is on the screen, so that a change of it has to be drawn.
func (t *tree) visible(key string) bool {
	i, ok := t.forest.find(key)
	if !ok || t.at[i] < 0 {
		return false
	}
	return t.at[i] >= t.top && t.at[i] < t.top+t.height
}
