package ui

import (
	tea "github.com/charmbracelet/bubbletea"

	"cordboard/ui/safe"
)

// notices is the layer with the log of toasts, the newest first.
type notices struct{ scroller }

const noticesWide = 88

func (m *Model) openNotices() tea.Cmd {
	for i := range m.toasts.log {
		m.toasts.log[i].over = true // it is read here
	}
	m.open(&notices{})
	return nil
}

func (n *notices) press(m *Model, msg tea.KeyMsg) tea.Cmd {
	w, room := m.layerRoom(noticesWide)
	if key := msg.String(); key == "q" || key == "enter" || key == "ctrl+n" {
		m.closeTop()
	} else {
		n.scroll(key, len(m.noticeLines(w-2)), room-2)
	}
	return nil
}

func (n *notices) draw(m *Model) []string {
	w, room := m.layerRoom(noticesWide)
	return n.scroller.draw(m, "Notices", m.noticeLines(w-2), w, room)
}

func (m *Model) noticeLines(w int) []string {
	const stamp = 11
	k := &m.k.panel
	var out []string
	for i := len(m.toasts.log) - 1; i >= 0; i-- {
		t := &m.toasts.log[i]
		label, ground := t.at.In(m.env.Zone).Format("15:04:05"), k.text
		if t.bad {
			ground = k.err
			label += " !"
		}
		for _, text := range safe.Wrap(t.text, max(w-stamp-2, 1)) {
			out = append(out, newLine(w).add(k.muted, safe.Pad(" "+label, stamp+1)).add(ground, text).end(k.text))
			label = ""
		}
	}
	if len(out) == 0 {
		out = append(out, newLine(w).add(k.muted, " Nothing has been told since the start.").end(k.text))
	}
	return out
}
