package ui

import "cordboard/ui/safe"

// hint is a key that works now and what it does.
type hint struct{ key, text string }

func (h hint) width() int { return safe.Width(h.key) + 1 + safe.Width(h.text) + 2 }

// hinted is a layer that tells its keys; one that does not is closed by esc at least.
type hinted interface{ hints(m *Model) []hint }

// layerHints are the keys that work while keys do not go to the panes; ok is false when they do.
func (m *Model) layerHints() (list []hint, ok bool) {
	stage := m.topStage()
	switch l := m.top(); {
	case stage != nil && stage.base().editing:
		return []hint{{"enter", "keep"}, {"↓", "to the rows"}, {"esc", "clear"}}, true
	case stage != nil:
		return nil, false
	case l != nil:
		if h, tells := l.(hinted); tells {
			return h.hints(m), true
		}
		return []hint{{"esc", "close"}}, true
	case m.filter.editing:
		return []hint{{"enter", "keep"}, {"↓", "to the sessions"}, {"esc", "clear"}}, true
	case m.find.editing:
		return []hint{{"enter", "keep"}, {"↑↓", "other matches"}, {"esc", "leave"}}, true
	}
	return nil, false
}

// layerFooter shows the keys of the layer on top. The last of them, the way out, is always among them.
func (m *Model) layerFooter(list []hint) string {
	k := m.k
	l := newLine(m.lay.w).space(k.bar.text, 1)
	for i, h := range list {
		if i < len(list)-1 && h.width()+list[len(list)-1].width() > l.left {
			continue
		}
		l.add(k.key, h.key).add(k.bar.muted, " "+h.text).space(k.bar.text, 2)
	}
	return l.end(k.bar.text)
}

func (p *picker) hints(*Model) []hint {
	return []hint{{"enter", "choose"}, {"↑↓", "move"}, {"esc", "close"}}
}

func (p *palette) hints(*Model) []hint {
	return []hint{{"enter", "run"}, {"↑↓", "move"}, {"esc", "close"}}
}

func (p *lookPicker) hints(*Model) []hint {
	return []hint{{"enter", "keep"}, {"↑↓", "try"}, {"x", "forget"}, {"esc", "as before"}}
}

func (h *help) hints(*Model) []hint    { return []hint{{"↑↓", "scroll"}, {"esc", "close"}} }
func (n *notices) hints(*Model) []hint { return []hint{{"↑↓", "scroll"}, {"esc", "close"}} }

func (c *confirm) hints(*Model) []hint {
	if c.count > 1 {
		return []hint{{"enter", "do it"}, {"esc", "leave it"}}
	}
	return []hint{{"y", "do it"}, {"esc", "leave it"}}
}

func (j *job) hints(*Model) []hint {
	if j.over() {
		return []hint{{"↑↓", "scroll"}, {"enter", "close"}}
	}
	return []hint{{"esc", "stop after the one at work"}}
}

func (l *transcriptList) hints(*Model) []hint {
	return []hint{{"enter", "read"}, {"↑↓", "move"}, {"esc", "close"}}
}

func (p *snippetPicker) hints(*Model) []hint {
	return []hint{{"enter", "copy"}, {"1-9", "copy that one"}, {"↑↓", "move"}, {"esc", "close"}}
}

func (f *filterMenu) hints(*Model) []hint {
	return []hint{{"space", "on or off"}, {"enter", "only this"}, {"↑↓", "move"}, {"esc", "close"}}
}

func (r *readMenu) hints(*Model) []hint {
	return []hint{{"space", "on or off"}, {"enter", "only this"}, {"F", "all"}, {"↑↓", "move"}, {"esc", "close"}}
}

func (findAllLayer) hints(*Model) []hint {
	return []hint{{"enter", "read"}, {"↑↓", "move"}, {"tab", "older transcripts too"}, {"ctrl+x", "stop"}, {"esc", "close"}}
}

func (r *rights) hints(*Model) []hint {
	return []hint{{"v", "another scope"}, {"x", "swap the two"}, {"] [", "next session"}, {"esc", "close"}}
}

func (t *takeoutMenu) hints(*Model) []hint {
	return []hint{{"enter", "do it"}, {"1-9", "do that one"}, {"↑↓", "move"}, {"esc", "close"}}
}

func (l *viewList) hints(*Model) []hint {
	if l.naming {
		return []hint{{"enter", "keep"}, {"esc", "leave it"}}
	}
	return []hint{{"enter", "apply"}, {"n", "keep this view"}, {"x", "delete"}, {"↑↓", "move"}, {"esc", "close"}}
}
