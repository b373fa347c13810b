package ui

import (
	"strings"

	"github.com/charmbracelet/bubbles/cursor"
	"github.com/charmbracelet/bubbles/key"
	"github.com/charmbracelet/bubbles/textinput"
	tea "github.com/charmbracelet/bubbletea"
	"github.com/sahilm/fuzzy"

	"cordboard/core"
	"cordboard/ui/safe"
)

// filter narrows the tree to the sessions whose key, name or channel match every word of a query.
type filter struct {
	input   textinput.Model
	editing bool

	query   string          // of matches
	matches map[string]bool // nil = no filter
	number  int             // of the last search begun; answers to older ones are dropped
}

func newFilter() filter {
	in := textinput.New()
	in.CharLimit = 200
	in.Cursor.SetMode(cursor.CursorStatic)
	in.KeyMap.Paste = key.NewBinding(key.WithDisabled()) // it reads the clipboard of the machine; a terminal's own paste comes as keys
	return filter{input: in}
}

func (f *filter) active() bool { return f.editing || f.input.Value() != "" }

// candidate is a session as the filter reads it.
type candidate struct {
	key    string
	fields [3]string
}

// candidates are the sessions in the tree, all of them or those among some.
func candidates(f *forest, heads map[string]*core.Head, among map[string]bool) []candidate {
	list := make([]candidate, 0, len(f.nodes))
	for i := range f.nodes {
		k := f.nodes[i].id
		if h := heads[k]; h != nil && (among == nil || among[k]) {
			list = append(list, candidate{k, [3]string{k, h.Title, h.Channel}})
		}
	}
	return list
}

// search returns the keys of the candidates that match every word of the query in one of their fields.
func search(query string, list []candidate) map[string]bool {
	found := map[string]bool{}
	words := strings.Fields(query)
	for i := range list {
		matches := true
		for _, word := range words {
			matches = matches && list[i].matches(word)
		}
		if matches {
			found[list[i].key] = true
		}
	}
	return found
}

func (c *candidate) matches(word string) bool {
	for _, field := range c.fields {
		if fuzzily(word, field) {
			return true
		}
	}
	return false
}

// fuzzily reports whether the letters of word stand in text in their order and near each other: keys hold UUIDs, in which a few hex
// digits are found anywhere.
func fuzzily(word, text string) bool {
	found := fuzzy.FindNoSort(word, []string{text})
	if len(found) == 0 {
		return false
	}
	at := found[0].MatchedIndexes
	return at[len(at)-1]-at[0] < 2*len(word)+2
}

// filterLine is the first line of the tree while a filter is set.
func (m *Model) filterLine(w int) string {
	k := m.k
	found := ""
	if m.filter.matches != nil {
		found = count(int64(len(m.filter.matches))) + " of " + count(int64(m.shownSessions()))
	}
	l := newLine(w).add(k.accent, " / ")
	room := l.left - safe.Width(found) - 2
	if m.filter.editing {
		value, at := []rune(m.filter.input.Value()), m.filter.input.Position()
		before, after := safe.Line(string(value[:at])), safe.Line(string(value[at:]))
		l.add(k.text, safe.KeepTail(before, room-1)).add(k.accent, "▏").add(k.text, safe.Cut(after, room-1-safe.Width(before)))
	} else {
		l.add(k.text, safe.Cut(safe.Line(m.filter.input.Value()), room))
	}
	return l.space(k.text, l.left-safe.Width(found)-1).add(k.muted, found).end(k.text)
}

// editFilter opens the filter line.
func (m *Model) editFilter() tea.Cmd {
	m.filter.editing = true
	m.filter.input.Focus()
	m.tree.dirty = true
	return m.focusOn(paneTree)
}

// typeFilter handles a key while the filter line is open.
func (m *Model) typeFilter(msg tea.KeyMsg) tea.Cmd {
	switch msg.String() {
	case "esc":
		return m.clearFilter()
	case "ctrl+c":
		return m.interrupt()
	case "enter", "tab":
		m.closeFilter()
		return nil
	case "down", "up":
		m.closeFilter()
		return m.press(msg)
	}
	before := m.filter.input.Value()
	m.filter.input, _ = m.filter.input.Update(msg)
	m.tree.dirty = true
	if after := m.filter.input.Value(); after != before {
		return m.runFilter()
	}
	return nil
}

// closeFilter leaves the line and keeps what it filters.
func (m *Model) closeFilter() {
	m.filter.editing = false
	m.filter.input.Blur()
	m.tree.dirty = true
}

func (m *Model) clearFilter() tea.Cmd {
	m.closeFilter()
	m.filter.input.SetValue("")
	return m.runFilter()
}

// runFilter begins a search for the query as it stands, among the matches of the last one when it only grew.
func (m *Model) runFilter() tea.Cmd {
	m.filter.number++
	m.barsDirty = true
	query := m.filter.input.Value()
	if strings.TrimSpace(query) == "" {
		m.setMatches("", nil)
		return nil
	}
	var among map[string]bool
	if old := m.filter.query; m.filter.matches != nil && old != "" && strings.HasPrefix(query, old) {
		among = m.filter.matches
	}
	return m.searchCmd(m.filter.number, query, candidates(m.tree.forest, m.fleet.heads, among))
}

func (m *Model) setMatches(query string, matches map[string]bool) {
	m.filter.query, m.filter.matches = query, matches
	m.tree.setMatches(matches)
	m.barsDirty = true
}
