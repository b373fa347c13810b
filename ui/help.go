package ui

import "cordboard/ui/safe"

// help is the overlay with every key, made from the actions, and what the signs mean.
type help struct {
	open bool
	top  int
}

// helpSize takes the whole body of a small window and the middle of a large one.
func (m *Model) helpSize() (w, h int) {
	const wide = 88
	if w = m.lay.w; w > wide+8 {
		w = wide
	}
	return w, min(m.lay.h-2, 2+len(m.helpLines(w-2)))
}

// helpKeys is the width of the column of keys.
const helpKeys = 15

// helpBox draws the overlay.
func (m *Model) helpBox() (lines []string, w, h int) {
	w, h = m.helpSize()
	all := m.helpLines(w - 2)
	m.help.top = clamp(m.help.top, 0, max(len(all)-(h-2), 0))
	k := m.k
	more := ""
	if m.help.top+h-2 < len(all) {
		more = "↓ more"
	}
	b := box{
		title: []run{{k.panelTitle, "Keys"}}, foot: []run{{k.panel.muted, more}},
		note: nil, lines: all[m.help.top:min(m.help.top+h-2, len(all))], focus: true,
	}
	panel := *k
	panel.borderFocus, panel.text = k.panelBorder, k.panel.text
	return b.draw(&panel, w, h), w, h
}

func (m *Model) helpLines(w int) []string {
	k := &m.k.panel
	var out []string
	add := func(runs ...run) { out = append(out, newLine(w).addAll(runs).end(k.text)) }
	for s, title := range scopeTitles {
		if s > 0 {
			add()
		}
		add(run{k.strong, " " + title})
		for i := range m.actions {
			a := &m.actions[i]
			if a.scope != scope(s) {
				continue
			}
			text, ground := a.text, k.text
			if a.off != nil && m.scope() == a.scope {
				if why := a.off(m); why != "" {
					text, ground = a.text+" ("+why+")", k.dim
				}
			}
			label := a.label
			for _, t := range safe.Wrap(text, max(w-helpKeys-1, 1)) {
				add(run{k.accent, safe.Pad("  "+label, helpKeys)}, run{ground, t})
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
