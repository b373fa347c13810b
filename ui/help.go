package ui

import (
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"cordboard/ui/safe"
)

// help is the layer with every key, made from the actions, and what the signs mean.
type help struct{ scroller }

// helpWide is the width of the help where there is room, helpKeys that of its column of keys.
const (
	helpWide = 88
	helpKeys = 20
)

func (m *Model) openHelp() tea.Cmd {
	m.open(&help{})
	return nil
}

func (h *help) press(m *Model, msg tea.KeyMsg) tea.Cmd {
	if msg.String() == "?" || msg.String() == "q" || msg.String() == "enter" {
		m.closeTop()
		return nil
	}
	w, room := m.layerRoom(helpWide)
	h.scroll(msg.String(), len(m.helpLines(w-2)), room-2)
	return nil
}

func (h *help) draw(m *Model) []string {
	w, room := m.layerRoom(helpWide)
	return h.scroller.draw(m, "Keys", m.helpLines(w-2), w, room)
}

// scroller is a layer's lines that are scrolled when they do not fit.
type scroller struct{ at int }

// scroll moves by a key; n lines are there, h of them fit.
func (l *scroller) scroll(key string, n, h int) {
	switch key {
	case "down", "j":
		l.at++
	case "up", "k":
		l.at--
	case "pgdown", " ", "ctrl+d":
		l.at += h - 1
	case "pgup", "ctrl+u":
		l.at -= h - 1
	case "g", "home":
		l.at = 0
	case "G", "end":
		l.at = n
	}
	l.at = clamp(l.at, 0, max(n-h, 0))
}

// draw is the box with the lines that are in view.
func (l *scroller) draw(m *Model, title string, lines []string, w, room int) []string {
	h := min(room, 2+len(lines))
	at := clamp(l.at, 0, max(len(lines)-(h-2), 0))
	foot := ""
	if at+h-2 < len(lines) {
		foot = "↓ more"
	}
	return m.panel(title, foot, lines[at:min(at+h-2, len(lines))], w, h)
}

// scopesFromHere are the scopes as the help lists them: the pane in focus or the view, what works everywhere, the other panes.
func (m *Model) scopesFromHere() []scope {
	here := m.scope()
	order := here.chain()
	for s := range scopeTitles {
		if !slices.Contains(order, scope(s)) {
			order = append(order, scope(s))
		}
	}
	return order
}

func (m *Model) helpLines(w int) []string {
	k := &m.k.panel
	var out []string
	add := func(runs ...run) { out = append(out, newLine(w).addAll(runs).end(k.text)) }
	for n, s := range m.scopesFromHere() {
		if n > 0 {
			add()
		}
		add(run{k.strong, " " + scopeTitles[s]})
		for i := range m.actions {
			a := &m.actions[i]
			if a.scope != s {
				continue
			}
			text, ground := a.text, k.text
			if a.off != nil && m.scope() == a.scope {
				if why := a.off(m); why != "" {
					text, ground = a.text+" ("+why+")", k.dim
				}
			}
			label := a.label()
			for _, t := range safe.Wrap(text, max(w-helpKeys-1, 1)) {
				add(run{k.accent, safe.Pad(safe.Cut("  "+label, helpKeys-1), helpKeys)}, run{ground, t})
				label = ""
			}
		}
	}
	add()
	add(run{k.strong, " Signs"})
	for s := range stateCount {
		add(run{k.state[s], safe.Pad("  "+s.glyph(), helpKeys)}, run{k.text, s.word()})
	}
	for _, sign := range [][2]string{
		{"▲", "send policy set on the session itself: ▲deny, ▲allow"},
		{"⇣", "mirrored from an imported directory: read only"},
		{"⇄", "message from another session"},
		{"•", "unread messages"},
		{"◆", "marked"},
		{"◉", "the session through whose eyes you look"},
		{"▸ ◂", "tool call and its result"},
		{unknown, "figure not known (0 is a figure)"},
		{"~", "old figure"},
	} {
		label := sign[0]
		for _, t := range safe.Wrap(sign[1], max(w-helpKeys-1, 1)) {
			add(run{k.accent, safe.Pad("  "+label, helpKeys)}, run{k.text, t})
			label = ""
		}
	}
	return out
}
