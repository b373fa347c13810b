package ui

import (
	"slices"
	"strconv"
	"strings"

	"cordboard/ui/safe"
)

// tooSmall is the screen when nothing fits: what there is and what is needed, cut where even that does not fit.
func tooSmall(w, h int) string {
	text := "window too small: " + strconv.Itoa(w) + "×" + strconv.Itoa(h) +
		", needs " + strconv.Itoa(minWidth) + "×" + strconv.Itoa(minHeight)
	lines := safe.Wrap(text, w)
	out := make([]string, h)
	for i := range out {
		out[i] = safe.Pad("", w)
		if at := i - max((h-len(lines))/2, 0); at >= 0 && at < len(lines) {
			out[i] = safe.Pad(lines[at], w)
		}
	}
	return strings.Join(out, "\n")
}

// passage is a paragraph of an empty pane.
type passage struct {
	ink  ink
	text string
}

// passages wraps paragraphs; blank ones go when they do not fit.
func (m *Model) passages(w, h int, list []passage) []string {
	out := m.wrapped(w, list)
	if len(out) > h {
		out = m.wrapped(w, slices.DeleteFunc(list, func(p passage) bool { return p.text == "" }))
	}
	return out[:min(len(out), h)]
}

func (m *Model) wrapped(w int, list []passage) []string {
	var out []string
	for _, p := range list {
		for _, text := range safe.Wrap(p.text, max(w-4, 1)) {
			out = append(out, newLine(w).space(m.k.text, 2).add(p.ink, text).end(m.k.text))
		}
	}
	return out
}

// empty reports whether the store holds no session at all.
func (m *Model) empty() bool { return m.fleet.loaded > 0 && len(m.fleet.heads) == 0 }

// welcome says what can be done in a store without sessions. In a small window what only leads to the next line is left out.
func (m *Model) welcome(w, h int) []string {
	k := m.k
	dirs, bring := m.env.OpenClaw, "Bring in what was found here:"
	if len(dirs) == 0 {
		dirs, bring = []string{"~/.openclaw"}, "Bring in an OpenClaw state directory:"
	}
	var imports []passage
	for _, dir := range dirs {
		imports = append(imports, passage{k.accent, " cordboard import " + safe.Line(dir)})
	}
	start := ""
	if cannotDo(m) == "" {
		start = m.keyFor("session.new") + " starts a session, "
	}
	title, demo := passage{k.strong, "Welcome. This store holds no sessions yet."}, passage{k.accent, " cordboard demo"}
	keys := passage{k.dim, start + m.keyFor("help.open") + " lists the keys, " + m.keyFor("console.quit") + " quits."}
	list := slices.Concat([]passage{{k.text, ""}, title, {k.text, ""}, {k.muted, bring}}, imports, []passage{
		{k.text, ""},
		{k.muted, "Or look around in a small fleet:"},
		demo,
		{k.text, ""},
		{k.muted, "What is imported shows up here at once."},
		keys,
	})
	if len(m.wrapped(w, list)) > h {
		list = slices.Concat([]passage{title, keys}, imports, []passage{demo})
	}
	return m.passages(w, h, list)
}

// noRows is the tree without rows.
func (m *Model) noRows(w, h int) []string {
	k := m.k
	switch {
	case m.filter.matches != nil || m.filter.agent != "":
		return m.passages(w, h, []passage{{k.text, ""}, {k.text, "Nothing matches."}, {k.muted, m.keyFor("filter.clear") + " clears the filter"}})
	case m.fleet.loaded == 0:
		return m.passages(w, h, []passage{{k.text, ""}, {k.muted, "reading…"}})
	case m.onlySeen() != nil:
		return m.passages(w, h, []passage{{k.text, ""}, {k.text, "Nothing of this is shown to " + safe.Line(m.sight.viewpoint) + "."}, {k.muted, m.keyFor("look.hide") + " shows the rest dimmed"}})
	case !m.empty():
		return m.passages(w, h, []passage{{k.text, ""}, {k.text, "All sessions are archived."}, {k.muted, m.keyFor("archived.toggle") + " shows them"}})
	}
	return m.passages(w, h, []passage{{k.text, ""}, {k.muted, "No sessions yet."}})
}

// noLines is the transcript without lines.
func (m *Model) noLines(w, h int) []string {
	k, t := m.k, &m.trans
	n := m.tree.node()
	switch {
	case m.empty():
		return m.welcome(w, h)
	case t.nothing() && n != nil:
		return m.passages(w, h, []passage{
			{k.text, ""},
			{k.strong, "agent " + safe.Line(n.agent)},
			{k.muted, plural(m.tree.forest.owned[n.agent], "session") + ". Choose one to read it."},
		})
	case t.nothing():
		return nil
	case t.err != nil:
		return m.passages(w, h, []passage{{k.text, ""}, {k.err, "This transcript could not be read."}, {k.muted, safe.Line(t.err.Error())}})
	case !t.known:
		return m.passages(w, h, []passage{{k.text, ""}, {k.dim, "reading…"}})
	}
	if m.readFilter.active() {
		return m.passages(w, h, []passage{{k.text, ""}, {k.text, "Nothing of this transcript is shown."}, {k.muted, m.keyFor("read.all") + " shows all of it"}})
	}
	text := "No messages in this transcript."
	if cannotCompose(m) == "" {
		text += " " + m.keyFor("message.compose") + " writes the first."
	}
	return m.passages(w, h, []passage{{k.text, ""}, {k.muted, text}})
}
