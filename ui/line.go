package ui

import (
	"strings"

	"cordboard/ui/safe"
)

// run is a piece of a line in one ink. Text is sanitised and of one line.
type run struct {
	ink  ink
	text string
}

// line writes runs side by side into a fixed number of cells.
type line struct {
	out  strings.Builder
	left int // cells still free
}

func newLine(w int) *line {
	l := &line{left: max(w, 0)}
	l.out.Grow(w + 64)
	return l
}

// add writes text as far as there is room. A text that does not fit ends in a sign that it was cut. Every text on the screen comes
// through here, so this is where none gets by the sanitiser; what has to be measured before was sanitised before, which costs a look.
func (l *line) add(k ink, text string) *line {
	if l.left == 0 || text == "" {
		return l
	}
	text = safe.Line(text)
	w := safe.Width(text)
	if w > l.left {
		text = safe.Fit(text, l.left)
		w = l.left
	}
	l.out.WriteString(k.before)
	l.out.WriteString(text)
	l.out.WriteString(k.after)
	l.left -= w
	return l
}

func (l *line) addAll(runs []run) *line {
	for _, r := range runs {
		l.add(r.ink, r.text)
	}
	return l
}

// space leaves n cells blank in an ink.
func (l *line) space(k ink, n int) *line {
	n = min(n, l.left)
	if n <= 0 {
		return l
	}
	return l.add(k, strings.Repeat(" ", n))
}

// fill repeats a glyph of one cell to the end and leaves keep cells free.
func (l *line) fill(k ink, glyph string, keep int) *line {
	if n := l.left - keep; n > 0 {
		l.add(k, strings.Repeat(glyph, n))
	}
	return l
}

// end fills the rest with blanks and returns the line.
func (l *line) end(k ink) string {
	l.space(k, l.left)
	return l.out.String()
}

func widthOf(runs []run) int {
	w := 0
	for _, r := range runs {
		w += safe.Width(r.text)
	}
	return w
}
