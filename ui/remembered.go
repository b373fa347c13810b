package ui

import (
	"encoding/json"
	"maps"
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"cordboard/core"
)

// consoleMemories are what is remembered of the console as a whole.
func consoleMemories() []memory {
	return []memory{
		{name: "selection", keep: func(m *Model) any { return keepText(m.tree.cursor) }, recall: func(m *Model, raw json.RawMessage) error {
			return json.Unmarshal(raw, &m.arrival.key)
		}},
		{name: "folds", keep: func(m *Model) any { return slices.Sorted(maps.Keys(m.tree.folded)) }, recall: func(m *Model, raw json.RawMessage) error {
			var folded []string
			if err := json.Unmarshal(raw, &folded); err != nil {
				return err
			}
			for _, id := range folded {
				m.tree.folded[id] = true
			}
			return nil
		}},
		{name: "commands", keep: func(m *Model) any { return m.ran }, recall: func(m *Model, raw json.RawMessage) error {
			return json.Unmarshal(raw, &m.ran)
		}},
		{name: "panes", keep: func(m *Model) any { return m.widths }, recall: func(m *Model, raw json.RawMessage) error {
			return json.Unmarshal(raw, &m.widths)
		}},
	}
}

// transcriptMemories are how transcripts are read.
func transcriptMemories() []memory {
	type shown struct {
		Wrap     bool `json:"wrap"`
		Tools    bool `json:"tools"`
		Thinking bool `json:"thinking"`
		Raw      bool `json:"raw"`
	}
	return []memory{{
		name: "reading",
		keep: func(m *Model) any {
			return shown{m.trans.read.wrap, m.trans.read.tools, m.trans.read.thinking, m.trans.read.raw}
		},
		recall: func(m *Model, raw json.RawMessage) error {
			s := shown{Wrap: true}
			if err := json.Unmarshal(raw, &s); err != nil {
				return err
			}
			r := m.trans.read
			r.wrap, r.tools, r.thinking, r.raw = s.Wrap, s.Tools, s.Thinking, s.Raw
			m.trans.setReading(r)
			return nil
		},
	}}
}

// keepText is a text to remember, or nothing.
func keepText(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// arrival is the session the console is to open on, from the command line or from the last run. It is given up when the operator goes
// elsewhere before it has come.
type arrival struct {
	key   string
	asked bool // by the command line or the operator: to miss it is worth a word
	sure  bool // wherever the cursor has gone meanwhile
}

// arrive puts the cursor on the session to open on once the tree holds it, and says so when it never will.
func (m *Model) arrive() tea.Cmd {
	a := m.arrival
	switch {
	case a.key == "":
		return nil
	case m.tree.held && !m.lastKey.IsZero() && !a.sure:
		m.arrival = arrival{} // the operator has chosen a row already
		return nil
	case m.tree.goTo(a.key):
		m.arrival = arrival{}
		return nil
	case m.fleet.loaded == 0 || m.link.buildAgain, a.sure && m.fleet.heads[a.key] == nil:
		return nil
	case a.sure: // the filter leaves it out
		m.arrival = arrival{}
		return m.visitTo(target{key: a.key})
	}
	if h := m.fleet.heads[a.key]; a.asked && h != nil && h.Flags.Has(core.FlagArchived) && !m.filter.archived {
		m.filter.archived = true
		return m.rebuild()
	}
	m.arrival = arrival{}
	if !a.asked {
		return nil
	}
	return m.warn("there is no session " + a.key)
}
