package ui

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// borders are the glyphs of a box. The focused one is heavy, so that the focus is seen without colour.
type borders struct{ topLeft, topRight, bottomLeft, bottomRight, across, down string }

var (
	lightBorders = borders{"┌", "┐", "└", "┘", "─", "│"}
	heavyBorders = borders{"┏", "┓", "┗", "┛", "━", "┃"}
)

// box is a pane with its border: h lines of w cells each.
type box struct {
	title, note []run    // in the border above, at its left and right
	foot        []run    // in the border below, at its right
	lines       []string // content: lines of exactly the inner width
	focus       bool
}

func (b box) draw(k *inks, w, h int) []string {
	edge, glyphs := k.border, lightBorders
	if b.focus {
		edge, glyphs = k.borderFocus, heavyBorders
	}
	out := make([]string, 0, h)
	top := newLine(w).add(edge, glyphs.topLeft)
	b.caption(top, edge, glyphs.across, b.title, b.note)
	out = append(out, top.add(edge, glyphs.topRight).end(edge))
	left, right := edge.before+glyphs.down+edge.after, edge.before+glyphs.down+edge.after
	empty := strings.Repeat(" ", max(w-2, 0))
	for i := range h - 2 {
		text := empty
		if i < len(b.lines) {
			text = b.lines[i]
		}
		out = append(out, left+text+right)
	}
	bottom := newLine(w).add(edge, glyphs.bottomLeft)
	b.caption(bottom, edge, glyphs.across, nil, b.foot)
	return append(out, bottom.add(edge, glyphs.bottomRight).end(edge))
}

// caption writes texts into a border line and leaves its last cell free. The right text goes first when both do not fit.
func (b box) caption(l *line, edge ink, across string, left, right []run) {
	if w := widthOf(right); w > 0 && w+4 > l.left-1 {
		right = nil
	}
	keep := 1
	if w := widthOf(right); w > 0 {
		keep += w + 3
	}
	if len(left) > 0 && l.left > keep+3 {
		l.add(edge, across).add(edge, " ")
		inner := newLine(min(widthOf(left), l.left-keep-2))
		text := inner.addAll(left).end(ink{})
		l.raw(text, min(widthOf(left), l.left-keep-2))
		l.add(edge, " ")
	}
	l.fill(edge, across, keep)
	if len(right) > 0 {
		l.add(edge, " ").addAll(right).add(edge, " ").add(edge, across)
	}
}

// raw writes text that is painted already and w cells wide.
func (l *line) raw(text string, w int) {
	l.out.WriteString(text)
	l.left -= w
}

// beside joins panes that stand next to each other line by line.
func beside(out []string, panes ...[]string) []string {
	for i := range panes[0] {
		n := 0
		for _, p := range panes {
			n += len(p[i])
		}
		var b strings.Builder
		b.Grow(n)
		for _, p := range panes {
			b.WriteString(p[i])
		}
		out = append(out, b.String())
	}
	return out
}

// cover lays over onto lines with its top left corner at x, y. What it leaves of half a wide cell becomes a blank.
func cover(lines, over []string, x, y, w, total int) {
	for i, text := range over {
		if y+i >= len(lines) {
			return
		}
		if x == 0 && w == total {
			lines[y+i] = text // not even a colour of what is under it stays
			continue
		}
		under := lines[y+i]
		rest := total - x - w
		right := ansi.TruncateLeft(under, x+w, "")
		if ansi.StringWidth(right) > rest {
			right = ansi.TruncateLeft(under, x+w+1, "")
		}
		gap := strings.Repeat(" ", max(rest-ansi.StringWidth(right), 0))
		lines[y+i] = padded(ansi.Truncate(under, x, ""), x) + text + gap + right
	}
}

func padded(s string, w int) string {
	return s + strings.Repeat(" ", max(w-ansi.StringWidth(s), 0))
}

// compose puts the frame together from lines that are ready.
func (m *Model) compose() string {
	if m.w <= 0 || m.h <= 0 {
		return ""
	}
	if m.lay.screen == screenTooSmall {
		return tooSmall(m.w, m.h)
	}
	lines := make([]string, 0, m.h)
	lines = append(lines, m.head)
	layers := m.layers
	view := -1
	for i, l := range layers {
		if _, ok := l.(stage); ok {
			view = i
		}
	}
	switch {
	case view >= 0:
		lines = append(lines, layers[view].draw(m)...)
		layers = layers[view+1:]
	case m.lay.screen == screenNarrow:
		lines = append(lines, m.boxes[m.focus]...)
	case m.lay.screen == screenMedium:
		right := m.boxes[paneTranscript]
		if m.lay.over {
			right = m.boxes[paneInspector]
		}
		lines = beside(lines, m.boxes[paneTree], right)
	default:
		lines = beside(lines, m.boxes[paneTree], m.boxes[paneTranscript], m.boxes[paneInspector])
	}
	lines = m.inGlyphs(append(append(lines, m.newsBox()...), m.foot))
	for _, l := range layers {
		if over := m.inGlyphs(l.draw(m)); len(over) > 0 {
			x, y := m.corner(l, over)
			cover(lines, over, x, y, ansi.StringWidth(over[0]), m.w)
		}
	}
	if over, w := m.toastLines(); len(over) > 0 {
		cover(lines, m.inGlyphs(over), m.w-w-1, m.h-2-len(over), w, m.w)
	}
	return strings.Join(lines, "\n")
}

// placed is a layer that says itself where its box lies.
type placed interface {
	place(m *Model, box []string) (x, y int)
}

// corner is where the box of a layer lies: a view where the panes are, any other that has no place of its own in the middle.
func (m *Model) corner(l layer, box []string) (x, y int) {
	switch l := l.(type) {
	case stage:
		return 0, 1
	case placed:
		return l.place(m, box)
	}
	return (m.w - ansi.StringWidth(box[0])) / 2, (m.h - len(box)) / 2
}
