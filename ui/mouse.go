package ui

import tea "github.com/charmbracelet/bubbletea"

// The mouse is left to the terminal, where it selects text (R158), unless ui.mouse or the operator asks for it: then the wheel scrolls
// what it points at and a click goes there.

// wheelLines is how far a notch of the wheel goes.
const wheelLines = 3

func (m *Model) toggleMouse() tea.Cmd {
	m.mouse = !m.mouse
	if m.mouse {
		m.said = "the mouse scrolls and chooses; " + m.keyFor("mouse.toggle") + " gives it back to the terminal"
		return tea.EnableMouseCellMotion
	}
	m.said = "the mouse is the terminal's again: it selects text"
	return tea.DisableMouse
}

func (m *Model) onMouse(msg tea.MouseMsg) tea.Cmd {
	if !m.mouse || m.lay.screen == screenTooSmall {
		return nil
	}
	m.lastKey = m.env.Now()
	by := 0
	switch msg.Button {
	case tea.MouseButtonWheelDown:
		by = wheelLines
	case tea.MouseButtonWheelUp:
		by = -wheelLines
	case tea.MouseButtonLeft:
		if msg.Action != tea.MouseActionPress {
			return nil
		}
	default:
		return nil
	}
	if l := m.top(); l != nil {
		return m.wheelLayer(l, by)
	}
	p, ok := m.paneAt(msg.X, msg.Y)
	switch {
	case !ok:
		return nil
	case by != 0:
		m.wheel(p, by)
		return nil
	}
	return m.click(p, msg.Y)
}

// wheelLayer turns the wheel into the keys that a layer knows.
func (m *Model) wheelLayer(l layer, by int) tea.Cmd {
	key := tea.KeyMsg{Type: tea.KeyDown}
	if by < 0 {
		key.Type = tea.KeyUp
	}
	if by == 0 {
		return nil
	}
	return m.pressLayer(l, key)
}

// paneAt is the pane at a cell of the window; what lies over another is found first.
func (m *Model) paneAt(x, y int) (pane, bool) {
	for p := len(m.lay.panes) - 1; p >= 0; p-- {
		r := m.lay.panes[p]
		if r.shown() && x >= r.x && x < r.x+r.w && y >= r.y && y < r.y+r.h {
			return pane(p), true
		}
	}
	return 0, false
}

func (m *Model) wheel(p pane, by int) {
	switch p {
	case paneTree:
		m.tree.move(by)
	case paneTranscript:
		m.trans.scroll(by)
	case paneInspector:
		m.insp.scroll(by)
	}
}

// click gives a pane the focus, and in tree and transcript the cursor to what is there.
func (m *Model) click(p pane, y int) tea.Cmd {
	cmd := m.focusOn(p)
	if p == paneTree {
		r := m.lay.panes[paneTree]
		if row := y - (r.y + r.h - 1 - m.tree.height); row >= 0 && m.tree.top+row < len(m.tree.rows) && row < m.tree.height {
			m.tree.jump(m.tree.top + row)
		}
	}
	if p == paneTranscript {
		r := m.lay.panes[paneTranscript]
		m.trans.pointTo(y - (r.y + r.h - 1 - m.trans.h))
	}
	return cmd
}
