package ui

import (
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"cordboard/ui/safe"
)

// jumpActions go along the lineage.
func jumpActions() []action {
	return []action{
		{id: "session.child", keys: []string{"U"}, text: "go to the first session that this one spawned", run: (*Model).toChild, off: noChild},
		{id: "session.next", keys: []string{"]"}, text: "go to the next one under the same parent", run: toSibling(1)},
		{id: "session.previous", keys: []string{"["}, text: "go to the one before it under the same parent", run: toSibling(-1)},
		{id: "session.news", keys: []string{"."}, text: "go to the next session with unread messages", scope: inTree, run: (*Model).toNews},
		{id: "session.read", keys: []string{","}, text: "take the session, or those marked, as read", scope: inTree, run: (*Model).readChosen, off: nothingChosen},
		{id: "views.open", keys: []string{"b"}, text: "saved views: order, filters and viewpoint under a name", run: (*Model).openViews},
	}
}

func (m *Model) toChild() tea.Cmd {
	n := m.tree.node()
	m.goTo(m.tree.forest.nodes[n.kids[0]].id)
	return nil
}

func noChild(m *Model) string {
	if n := m.tree.node(); n == nil || len(n.kids) == 0 {
		return "this session spawned none that is in view"
	}
	return ""
}

// toSibling goes to the next or the previous session under the same parent that is in view.
func toSibling(by int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		t := &m.tree
		n := t.node()
		if n == nil {
			return nil
		}
		kids := t.forest.roots
		if !n.isAgent() {
			kids = t.forest.nodes[n.parent].kids
		}
		at := slices.IndexFunc(kids, func(k int) bool { return t.forest.nodes[k].id == n.id })
		for i := at + by; i >= 0 && i < len(kids); i += by {
			if row := t.at[kids[i]]; row >= 0 {
				t.jump(row)
				return nil
			}
		}
		m.said = map[int]string{1: "this is the last one", -1: "this is the first one"}[by] + " under its parent"
		return nil
	}
}

// goTo puts the cursor on a session, or says why it is not there.
func (m *Model) goTo(key string) {
	if !m.tree.goTo(key) {
		m.said = "the filter leaves out " + key + ": " + m.keyFor("filter.clear") + " clears it"
	}
}

// toNews goes to the next session with unread messages, around at the end, unfolding what hides it.
func (m *Model) toNews() tea.Cmd {
	t := &m.tree
	order := t.forest.flatten(nil, t.matches)
	at := slices.IndexFunc(order, func(r row) bool { return t.forest.nodes[r.node].id == t.cursor })
	for i := range order {
		id := t.forest.nodes[order[(at+1+i)%len(order)].node].id
		if h := m.fleet.heads[id]; h != nil && id != t.cursor && m.unread.news(h) {
			m.goTo(id)
			return nil
		}
	}
	m.said = "nothing is unread"
	return nil
}

// breadcrumb is the way from the agent to a session in the tree, "" when it is only one step.
func (m *Model) breadcrumb(key string) string {
	f := m.tree.forest
	i, ok := f.find(key)
	var names []string
	for ; ok && i >= 0; i = f.nodes[i].parent {
		name := f.nodes[i].agent
		if h := m.fleet.heads[f.nodes[i].id]; h != nil {
			name = nameOf(h)
		}
		names = append(names, safe.Column(name))
	}
	if len(names) < 3 {
		return ""
	}
	slices.Reverse(names)
	return strings.Join(names, " › ")
}
