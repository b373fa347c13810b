package ui

import tea "github.com/charmbracelet/bubbletea"

// layer lies over the panes. The top one has the keyboard: every key but esc, ctrl+c and ctrl+z goes to it, pastes too. esc closes the top layer
// and no other (R176).
type layer interface {
	press(m *Model, msg tea.KeyMsg) tea.Cmd
	// draw is the box as it lies on the screen: lines of exactly the same width, no more of them than the panes are high. It is
	// called while a frame is put together and changes nothing.
	draw(m *Model) []string
}

// dismissible is a layer that has something to put back when esc closes it.
type dismissible interface{ dismissed(m *Model) tea.Cmd }

// open lays a layer over what is there.
func (m *Model) open(l layer) {
	m.layers = append(m.layers, l)
	m.dirty, m.barsDirty = true, true
}

// top is the layer that has the keyboard, nil when the panes have it.
func (m *Model) top() layer {
	if len(m.layers) == 0 {
		return nil
	}
	return m.layers[len(m.layers)-1]
}

// closeTop takes the top layer away.
func (m *Model) closeTop() {
	if n := len(m.layers); n > 0 {
		m.layers = m.layers[:n-1]
		m.dirty, m.barsDirty = true, true
	}
}

// pressLayer hands a key to the top layer.
func (m *Model) pressLayer(l layer, msg tea.KeyMsg) tea.Cmd {
	if s, ok := l.(stage); ok {
		return m.pressStage(s, msg)
	}
	m.dirty = true
	switch msg.String() {
	case "ctrl+c":
		return m.interrupt()
	case "esc":
		m.closeTop()
		if d, ok := l.(dismissible); ok {
			return d.dismissed(m)
		}
		return nil
	}
	return l.press(m, msg)
}

// effect is a message that knows what it does, so that an area's own messages need no line in Update.
type effect interface{ apply(m *Model) tea.Cmd }

// panel draws a layer's box: what is inside is w-2 cells wide and at most the panes' height less two lines.
func (m *Model) panel(title, foot string, lines []string, w, h int) []string {
	k := *m.k
	k.borderFocus, k.text = m.k.panelBorder, m.k.panel.text
	b := box{title: []run{{m.k.panelTitle, title}}, lines: lines, focus: true}
	if foot != "" {
		b.foot = []run{{m.k.panel.muted, foot}}
	}
	return b.draw(&k, w, h)
}

// layerRoom is the most a layer may take: the whole body of a small window, the middle of a large one.
func (m *Model) layerRoom(wide int) (w, h int) {
	if w = m.lay.w; w > wide+8 {
		w = wide
	}
	return w, m.lay.h - 2
}
