package ui

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/charmbracelet/bubbles/textinput"
	tea "github.com/charmbracelet/bubbletea"

	"cordboard/core"
	"cordboard/ui/safe"
)

// filter is what the tree is narrowed by: a text of which every word must be found in a session, and criteria.
type filter struct {
	criteria
	input   textinput.Model
	editing bool

	asked asked  // last
	query string // of the findings
	findings
	number int // of the last question asked; answers to older ones are dropped

	about   map[string]*about
	aboutAt core.Rev // of the fleet that about was told of
	asking  bool     // for it
}

func newFilter() filter {
	f := newField()
	f.input.Blur()
	return filter{input: f.input}
}

// asked is a filter as it was asked for.
type asked struct {
	criteria
	query string
}

// typed reports whether the line of the text is on the screen.
func (f *filter) typed() bool { return f.editing || f.input.Value() != "" }

// active reports whether anything is set that can be cleared.
func (f *filter) active() bool { return f.typed() || f.criteria != criteria{} }

// about is what the filter reads of a session beside its head, in lower case.
type about struct {
	id    string
	names []string // label, model
}

// filterLine is the first line of the tree while a filter is set.
func (m *Model) filterLine(w int) string {
	k := m.k
	found := ""
	if m.filter.matches != nil {
		found = count(int64(m.filter.found)) + " of " + count(int64(m.filter.all))
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
	return tea.Batch(m.focusOn(paneTree), m.askAbout())
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

// clearFilter takes the text away and keeps the criteria.
func (m *Model) clearFilter() tea.Cmd {
	m.closeFilter()
	m.filter.input.SetValue("")
	return m.runFilter()
}

// clearFilters is the one key that shows everything again (R180).
func (m *Model) clearFilters() tea.Cmd {
	m.filter.criteria = criteria{}
	return tea.Batch(m.clearFilter(), m.rebuild())
}

// narrow changes the criteria; what takes sessions out of the forest has it built anew.
func (m *Model) narrow(change func(*criteria)) tea.Cmd {
	before := m.filter.criteria
	change(&m.filter.criteria)
	m.barsDirty, m.tree.dirty = true, true
	if now := m.filter.criteria; before.agent != now.agent || before.archived != now.archived {
		return m.rebuild()
	}
	return m.runFilter()
}

// question is what the tree is asked for now.
func (m *Model) question() question {
	return question{criteria: m.filter.criteria, query: m.filter.input.Value(), seen: m.onlySeen(), now: m.env.Now()}
}

// runFilter asks for the sessions in view as the filter stands.
func (m *Model) runFilter() tea.Cmd {
	m.filter.number++
	m.barsDirty = true
	q, menu := m.question(), m.menu() != nil
	if _, shown := m.filter.matches[m.tree.cursor]; shown && m.filter.asked == (asked{q.criteria, q.query}) {
		q.keep = m.tree.cursor
	}
	m.filter.asked = asked{q.criteria, q.query}
	if !q.narrows() && !menu {
		m.setFindings(q.query, findings{})
		return nil
	}
	return m.askCmd(m.filter.number, q, m.tree.forest.list, menu)
}

func (m *Model) setFindings(query string, a findings) {
	m.filter.query, m.filter.findings = query, a
	if f := m.menu(); f != nil {
		f.most = max(f.most, len(m.choices()))
	}
	m.tree.setMatches(a.matches, a.keep)
	m.barsDirty, m.dirty = true, true
}

// askAbout reads what the heads do not tell of sessions, when they have changed since it was read.
func (m *Model) askAbout() tea.Cmd {
	if m.filter.asking || m.filter.about != nil && m.filter.aboutAt == m.fleet.rev {
		return nil
	}
	m.filter.asking, m.filter.aboutAt = true, m.fleet.rev
	return m.aboutCmd()
}

type aboutMsg struct {
	about map[string]*about
	err   error
}

// aboutCmd asks for every row as the operator's sessions_list tells it: label, sessionId and model are in no index.
func (m *Model) aboutCmd() tea.Cmd {
	return func() tea.Msg {
		list, err := guarded(func() (map[string]*about, error) { return readAbout(m.ctx, m.env.Board) })
		return aboutMsg{list, err}
	}
}

func readAbout(ctx context.Context, board core.Board) (map[string]*about, error) {
	list := map[string]*about{}
	for before := ""; ; {
		params, err := json.Marshal(map[string]any{"includeArchived": true, "before": before})
		if before == "" {
			params, err = []byte(`{"includeArchived":true}`), nil
		}
		if err != nil {
			return nil, err
		}
		result, err := board.Call(ctx, core.ToolCall{Tool: "sessions_list", Params: params})
		if err != nil {
			return nil, err
		}
		var page struct {
			Sessions   []struct{ Key, SessionID, Label, Model string }
			NextBefore string
		}
		if err := json.Unmarshal(result.Body, &page); err != nil {
			return nil, err
		}
		for _, s := range page.Sessions {
			list[s.Key] = &about{strings.ToLower(s.SessionID), []string{strings.ToLower(s.Label), strings.ToLower(s.Model)}}
		}
		if before = page.NextBefore; before == "" {
			return list, nil
		}
	}
}

// apply takes what came. A board that has no tools is filtered by what the heads tell.
func (msg aboutMsg) apply(m *Model) tea.Cmd {
	m.filter.asking = false
	if msg.err != nil {
		return nil
	}
	m.filter.about = msg.about
	return m.rebuild()
}
