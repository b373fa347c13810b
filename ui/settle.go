package ui

import tea "github.com/charmbracelet/bubbletea"

// settle brings everything that depends on something up to date after a message: layout, the panes that follow the cursor, the lines of
// what changed, and the requests that are due.
func (m *Model) settle() tea.Cmd {
	m.lay = arrange(m.w, m.h, m.focus, m.widths)
	if m.env.Accessible {
		m.lay = linear(m.w, m.h, m.focus)
	}
	if m.lay != m.laidOut {
		m.laidOut = m.lay
		m.barsDirty, m.tree.dirty, m.trans.dirty, m.insp.dirty = true, true, true, true
		m.resize()
		m.relistStages()
	}
	m.fitTranscript()
	m.followCursor()
	finding, dwell, records := m.keepFinding(), m.readSoon(), m.settleStages()
	m.readShown()
	m.drawTree()
	m.drawTranscript()
	m.drawInspector()
	if m.barsDirty && m.lay.screen != screenTooSmall {
		m.head, m.foot = m.header(), m.footer()
		m.barsDirty, m.dirty = false, true
	}
	if m.env.Accessible {
		m.placeCursor()
	}
	return tea.Batch(finding, dwell, records, m.requests())
}

func (m *Model) resize() {
	m.dirty = true
	if r := m.lay.panes[paneInspector]; r.shown() {
		m.insp.resize(r.inner())
	}
}

// fitTranscript sets the lines that are left for messages.
func (m *Model) fitTranscript() {
	if r := m.lay.panes[paneTranscript]; r.shown() {
		w, h := r.inner()
		if m.find.active() {
			h--
		}
		if c := m.composing(); c != nil {
			h = max(h-c.rows(m), 1)
		}
		m.trans.resize(w, h)
	}
}

// followCursor turns the other panes to the session under the cursor, or to the one that is visited.
func (m *Model) followCursor() {
	key, generation := m.tree.selected(), ""
	if v := m.visit; v != nil && v.from == key {
		key, generation = v.key, v.generation
	} else {
		m.visit = nil
	}
	if key != m.trans.key || key == "" && generation != m.trans.generation {
		m.trans.show(key, generation)
		m.barsDirty = true
	}
	if key == "" {
		key = m.tree.selected() // a transcript that no session names has nothing to inspect
	}
	if key != m.insp.key {
		m.insp.show(key)
	}
}

func (m *Model) requests() tea.Cmd {
	var cmds []tea.Cmd
	if q, ok := m.trans.wants(); ok {
		m.trans.asked()
		cmds = append(cmds, m.pageCmd(m.trans.fetch.begin(), q))
	}
	if m.insp.wants() {
		m.insp.stale = false
		cmds = append(cmds, m.detailCmd(m.insp.fetch.begin(), m.insp.key))
	}
	return tea.Batch(append(cmds, m.keepFocus())...)
}
