package ui

import (
	"slices"
	"strconv"

	tea "github.com/charmbracelet/bubbletea"
)

// marks are the sessions that the operator has chosen for one action on all of them. They are keys: filters, folds and sorting neither
// add to them nor take from them.
type marks struct {
	keys  map[string]bool
	first string // where a range begins: the row marked or unmarked last
}

// toggleMark marks the session under the cursor or takes its mark away, and goes on to the next row.
func (m *Model) toggleMark() tea.Cmd {
	if key := m.tree.selected(); key != "" {
		m.setMark(key, !m.marks.keys[key])
		m.marks.first = key
	}
	m.tree.move(1)
	return nil
}

func (m *Model) setMark(key string, on bool) {
	if m.marks.keys == nil {
		m.marks.keys = map[string]bool{}
	}
	if on {
		m.marks.keys[key] = true
	} else {
		delete(m.marks.keys, key)
	}
	m.barsDirty, m.tree.dirty = true, true
}

// markRange marks every session from the one marked last to the cursor.
func (m *Model) markRange() tea.Cmd {
	from := m.tree.index
	if i, ok := m.tree.forest.find(m.marks.first); ok && m.tree.at[i] >= 0 {
		from = m.tree.at[i]
	}
	for _, key := range m.tree.between(min(from, m.tree.index), max(from, m.tree.index)) {
		m.setMark(key, true)
	}
	m.marks.first = m.tree.selected()
	return nil
}

// markOn marks the session under the cursor and the one it moves to.
func markOn(by int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		for _, step := range [...]int{by, 0} {
			if key := m.tree.selected(); key != "" {
				m.setMark(key, true)
				m.marks.first = key
			}
			m.tree.move(step)
		}
		return nil
	}
}

// markAll marks every session in view, those further up and down too; once more it takes all marks away.
func (m *Model) markAll() tea.Cmd {
	all := m.tree.between(0, len(m.tree.rows)-1)
	if !slices.ContainsFunc(all, func(key string) bool { return !m.marks.keys[key] }) {
		return m.clearMarks()
	}
	for _, key := range all {
		m.setMark(key, true)
	}
	return nil
}

func (m *Model) clearMarks() tea.Cmd {
	m.marks = marks{}
	m.barsDirty, m.tree.dirty = true, true
	return nil
}

// between are the sessions in the rows from one to another; what stands there only for the sake of others is none of them.
func (t *tree) between(from, to int) []string {
	var keys []string
	for i := max(from, 0); i <= to && i < len(t.rows); i++ {
		if n := &t.forest.nodes[t.rows[i].node]; !n.isAgent() && !t.rows[i].aside {
			keys = append(keys, n.id)
		}
	}
	return keys
}

// chosen are the sessions that an action is about: those marked, in the order of the tree, else the one under the cursor.
func (m *Model) chosen() []string {
	if len(m.marks.keys) == 0 {
		if key := m.tree.selected(); key != "" {
			return []string{key}
		}
		return nil
	}
	var keys, absent []string
	for key := range m.marks.keys {
		if i, ok := m.tree.forest.find(key); ok && m.tree.at[i] >= 0 {
			keys = append(keys, key)
		} else if m.fleet.heads[key] != nil {
			absent = append(absent, key)
		}
	}
	row := func(key string) int { i, _ := m.tree.forest.find(key); return m.tree.at[i] }
	slices.SortFunc(keys, func(a, b string) int { return row(a) - row(b) })
	slices.Sort(absent)
	return append(keys, absent...)
}

// marksNotice says what can be done with what is marked.
func (m *Model) marksNotice() string {
	text := strconv.Itoa(len(m.marks.keys)) + " marked"
	for _, each := range [...]struct{ id, verb string }{{"session.archive", "archives"}, {"policy.open", "sets policy"}, {"session.export", "exports"}, {"session.read", "takes as read"}} {
		if a := m.action(each.id); a != nil && a.off(m) == "" {
			text += " · " + m.keyFor(each.id) + " " + each.verb
		}
	}
	return text + " · " + m.keyFor("console.back") + " clears"
}

func noMarks(m *Model) string {
	if len(m.marks.keys) == 0 {
		return "nothing is marked"
	}
	return ""
}

func nothingChosen(m *Model) string {
	if len(m.marks.keys) == 0 && m.tree.selected() == "" {
		return "choose a session, or mark some"
	}
	return ""
}
