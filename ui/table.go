package ui

import (
	"strconv"
	"strings"

	"cordboard/ui/safe"
)

// table is a stage that shows rows, and the facts of the one under the cursor beside them.
type table interface {
	stage
	title(m *Model) string
	caption(l *line, k *shades, w int)                  // names of the columns
	row(m *Model, l *line, k *shades, id string, w int) // what stands in them
	sheet(m *Model, s *sheet)                           // the facts of the row under the cursor
	none() string                                       // what to say when there are no rows at all
	foot() string                                       // what else there is to say of the rows
}

// tabbed is a table that shows one of several things, named in its title.
type tabbed interface{ tabs(k *inks) []run }

// Widths of the facts beside the rows, in cells.
const (
	leastFacts = 38
	mostFacts  = 60
)

// factsBeside reports whether the window has room for rows and facts.
func (m *Model) factsBeside() bool { return m.lay.screen == screenWide }

// stageSize is the room of a view with its borders.
func (m *Model) stageSize() (w, h int) { return m.lay.w, m.lay.h - 2 - m.lay.news }

// stageRows is how many rows of a view are in sight.
func (m *Model) stageRows() int {
	_, h := m.stageSize()
	return max(h-3, 0)
}

// splitStage is how wide rows and facts are; no width is not shown.
func (m *Model) splitStage(v *view) (rows, facts int) {
	switch w := m.lay.w; {
	case m.factsBeside():
		facts = clamp(w*30/100, leastFacts, mostFacts)
		return w - facts, facts
	case v.opened:
		return 0, w
	default:
		return w, 0
	}
}

// drawTable draws a table: rows, and beside them or in their place the facts of one.
func (m *Model) drawTable(t table) []string {
	v := t.base()
	_, h := m.stageSize()
	rows, facts := m.splitStage(v)
	var parts [][]string
	if rows > 0 {
		title := []run{{m.k.titleFocus, t.title(m)}}
		if tabs, ok := t.(tabbed); ok {
			title = append(title, tabs.tabs(m.k)...)
		}
		b := box{title: title, note: m.stageNote(v, rows), focus: true, lines: m.tableLines(t, rows-2)}
		if foot := t.foot(); foot != "" {
			b.foot = []run{{m.k.dim, foot}}
		}
		parts = append(parts, b.draw(m.k, rows, h))
	}
	if facts > 0 {
		lines, more := m.factLines(t, facts-2, h-2)
		b := box{title: []run{{m.k.title, "Details"}}, lines: lines, focus: rows == 0}
		if more {
			b.foot = []run{{m.k.dim, "↓ more"}}
		}
		parts = append(parts, b.draw(m.k, facts, h))
	}
	return beside(nil, parts...)
}

// stageNote is the filter of a view as it is typed, and where among the rows the cursor is.
func (m *Model) stageNote(v *view, w int) []run {
	var runs []run
	text := v.field.text()
	if room := w/2 - 12; v.editing {
		runs = append(runs, run{m.k.accent, "/ "}, run{m.k.text, safe.KeepTail(safe.Line(text), room)}, run{m.k.accent, "▏ "})
	} else if text != "" {
		runs = append(runs, run{m.k.filter, "/ " + safe.Cut(safe.Line(text), room) + " "})
	}
	if n := len(v.rows.ids); n > 0 {
		runs = append(runs, run{m.k.dim, strconv.Itoa(v.rows.index+1) + "/" + strconv.Itoa(n)})
	} else if len(runs) > 0 {
		runs = append(runs, run{m.k.dim, "none"})
	}
	return runs
}

func (m *Model) tableLines(t table, w int) []string {
	v, k := t.base(), m.k
	head := newLine(w).space(k.text, 1)
	t.caption(head, &k.shades, w)
	lines := []string{head.end(k.text)}
	switch {
	case v.err != nil:
		return append(lines, m.passages(w, v.rows.height, []passage{{k.text, ""}, {k.err, "This could not be read."}, {k.muted, safe.Line(v.err.Error())}})...)
	case !v.known:
		return append(lines, m.passages(w, v.rows.height, []passage{{k.text, ""}, {k.dim, "reading…"}})...)
	case len(v.rows.ids) == 0 && v.field.text() != "":
		return append(lines, m.passages(w, v.rows.height, []passage{{k.text, ""}, {k.text, "Nothing matches."}, {k.muted, "esc clears the filter"}})...)
	case len(v.rows.ids) == 0:
		return append(lines, m.passages(w, v.rows.height, []passage{{k.text, ""}, {k.muted, t.none()}})...)
	}
	for _, id := range v.rows.shown() {
		sh, mark := &k.shades, " "
		if id == v.rows.cursor {
			sh, mark = &k.sel, "▌"
		}
		l := newLine(w).add(sh.accent, mark)
		t.row(m, l, sh, id, w)
		lines = append(lines, l.end(sh.text))
	}
	return lines
}

// factLines are the facts in view, and whether there are more below.
func (m *Model) factLines(t table, w, h int) (lines []string, more bool) {
	s := &sheet{k: m.k, w: w}
	if t.base().rows.cursor != "" {
		t.sheet(m, s)
	}
	at := clamp(t.base().facts.at, 0, max(len(s.out)-h, 0))
	return s.out[at:min(at+h, len(s.out))], at+h < len(s.out)
}

// cell writes a text into a column of w cells and leaves a gap after it; a column without width is left out.
func cell(l *line, k ink, text string, w int) {
	if w > 0 {
		l.add(k, safe.Fit(safe.Column(text), w)).space(k, 1)
	}
}

// figure is a cell whose text stands at its right edge.
func figure(l *line, k ink, text string, w int) {
	if w > 0 {
		l.add(k, safe.PadLeft(safe.Cut(safe.Column(text), w), w)).space(k, 1)
	}
}

// placed is a session as rows name it: its agent, and its name or the rest of its key.
func (m *Model) placed(k string) string {
	name := safe.Column(shortKey(k))
	if h := m.fleet.heads[k]; h != nil {
		name = nameOf(h)
	}
	return safe.Column(m.fleet.names.AgentOf(k)) + "/" + name
}

// holdsAll reports whether every word of a query, in lower case, is in a text that is too.
func holdsAll(text string, words []string) bool {
	for _, w := range words {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}

func (v *view) words() []string { return strings.Fields(strings.ToLower(v.field.text())) }
