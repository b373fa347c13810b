package md

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"

	"cordboard/ui/safe"
)

// drawer draws the nodes of one block, line by line under the marks of the containers they are in.
type drawer struct {
	src   []byte
	width int
	o     Options
	out   []Line
	wide  int

	head, rest prefix // before the next line, and before those after it

	code   *CodeBlock // the lines belong to
	level  int
	quotes int // around what is drawn
}

// prefix is what stands before a line: quote bars, bullets, indentation, a code block's gutter.
type prefix struct {
	text  string
	cells int
}

func (p prefix) with(text string) prefix { return prefix{p.text + text, p.cells + safe.Width(text)} }

// Cells that containers leave for the text: a bullet needs some, an indentation more.
const (
	minRoom   = 2
	minColumn = 8
)

// enter begins a container that draws head before its first line and rest before the others. Too deep for the width, it is drawn at
// the edge of the one around it.
func (d *drawer) enter(head, rest string) (before prefix) {
	before = d.rest
	h, r := d.head.with(head), d.rest.with(rest)
	switch {
	case d.width-max(h.cells, r.cells) >= minColumn:
		d.head, d.rest = h, r
	case d.width-h.cells >= minRoom:
		d.head = h
	}
	return before
}

func (d *drawer) leave(before prefix) { d.head, d.rest = before, before }

// room is how many cells the text of a paragraph has.
func (d *drawer) room() int { return max(d.width-max(d.head.cells, d.rest.cells), 1) }

// emit adds a line, which fits.
func (d *drawer) emit(r rich) {
	l := Line{Text: r.text, Spans: r.spans, Code: d.code, Level: d.level}
	if p := d.head.text; p != "" {
		l.Text = p + r.text
		l.Spans = make([]Span, 1, len(r.spans)+2)
		l.Spans[0] = Span{End: len(p), Style: Mark}
		for _, s := range r.spans {
			l.Spans = append(l.Spans, Span{s.Start + len(p), s.End + len(p), s.Style, s.Link})
		}
		if r.spans == nil && r.text != "" {
			l.Spans = append(l.Spans, Span{Start: len(p), End: len(l.Text)})
		}
	}
	d.head = d.rest
	d.out = append(d.out, l)
}

// flow draws lines of prose.
func (d *drawer) flow(lines []rich) {
	for _, r := range lines {
		if d.o.Wrap == WrapNone {
			d.cut(r)
			continue
		}
		for _, part := range r.wrap(d.room()) {
			d.emit(part)
		}
	}
}

// cut draws a line that does not break.
func (d *drawer) cut(r rich) {
	if n := len(strings.TrimRight(r.text, " ")); n < len(r.text) {
		r = r.slice(0, n, "", "")
	}
	d.wide = max(d.wide, d.head.cells+safe.Width(r.text))
	d.emit(r.window(d.o.Shift, max(d.width-d.head.cells, 1)))
}

// plain draws text as it is, wrapped.
func (d *drawer) plain(text string) {
	text = safe.Block(text)
	if d.o.Wrap == WrapNone {
		for l := range strings.SplitSeq(text, "\n") {
			d.cut(rich{text: l})
		}
		return
	}
	for _, l := range safe.Wrap(text, d.width) {
		d.out = append(d.out, Line{Text: l})
	}
}

func (d *drawer) children(n ast.Node) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		d.gap(c)
		d.block(c)
	}
}

// gap draws the blank lines before a node.
func (d *drawer) gap(n ast.Node) {
	if n.PreviousSibling() != nil {
		for range d.blankBefore(n) {
			d.emit(rich{})
		}
	}
}

// blankBefore counts the blank lines before a node, in the containers it is in.
func (d *drawer) blankBefore(n ast.Node) int {
	at, count := n.Pos(), 0
	if n.Kind() == extast.KindTable {
		at = n.FirstChild().FirstChild().Lines().At(0).Start // its own is that of the paragraph that it was found in
	}
	if at < 0 || at > len(d.src) {
		return 0
	}
	end := bytes.LastIndexByte(d.src[:at], '\n')
	for end > 0 {
		start := bytes.LastIndexByte(d.src[:end], '\n') + 1
		if !isBlank(d.src[start:end], d.quotes) {
			break
		}
		count++
		end = start - 1
	}
	return count
}

// isBlank reports whether a line is blank within so many quotes.
func isBlank(l []byte, quotes int) bool {
	for _, c := range l {
		if c == '>' && quotes > 0 {
			quotes--
		} else if c != ' ' && c != '\t' && c != '\r' {
			return false
		}
	}
	return true
}

func (d *drawer) block(n ast.Node) {
	switch n := n.(type) {
	case *ast.Heading:
		d.heading(n)
	case *ast.Blockquote:
		d.quote(n)
	case *ast.List:
		d.list(n)
	case *ast.FencedCodeBlock:
		code := &CodeBlock{Text: d.logical(n)}
		if n.Info != nil {
			code.Info = string(n.Info.Segment.Value(d.src))
		}
		d.codeBlock(code, code.Text, true, true)
	case *ast.CodeBlock:
		d.indentedCode(n)
	case *ast.ThematicBreak:
		d.rule()
	case *extast.Table:
		d.table(n)
	default:
		d.flow(d.inlines(n, Text))
	}
}

func (d *drawer) heading(n *ast.Heading) {
	marks := strings.Repeat("#", n.Level) + " "
	before := d.enter(marks, spaces(len(marks)))
	d.level = n.Level
	d.flow(d.inlines(n, Heading))
	d.level = 0
	d.leave(before)
}

func (d *drawer) quote(n ast.Node) {
	bar := "┃ "
	if d.o.ASCII {
		bar = "> "
	}
	d.quotes++
	d.container(n, bar, bar)
	d.quotes--
}

// container draws a node's children with marks before their lines; empty, it is one line.
func (d *drawer) container(n ast.Node, head, rest string) {
	before := d.enter(head, rest)
	drawn := len(d.out)
	d.children(n)
	if len(d.out) == drawn {
		d.emit(rich{})
	}
	d.leave(before)
}

func (d *drawer) list(n *ast.List) {
	number := n.Start
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		d.gap(c)
		d.item(c, d.bullet(n, c, number))
		number++
	}
}

// bullet is what an item begins with. The box of a task takes the bullet's place.
func (d *drawer) bullet(list *ast.List, item ast.Node, number int) string {
	switch {
	case list.IsOrdered():
		return strconv.Itoa(number) + string(rune(list.Marker)) + " "
	case taskOf(item) != nil:
		return checkbox(taskOf(item))
	case d.o.ASCII:
		return "- "
	}
	return "• "
}

// taskOf is the checkbox that an item begins with.
func taskOf(item ast.Node) *extast.TaskCheckBox {
	if first := item.FirstChild(); first != nil {
		box, _ := first.FirstChild().(*extast.TaskCheckBox)
		return box
	}
	return nil
}

func (d *drawer) item(n ast.Node, bullet string) {
	if box := taskOf(n); box != nil && bullet == checkbox(box) {
		n.FirstChild().RemoveChild(n.FirstChild(), box)
	}
	d.container(n, bullet, spaces(safe.Width(bullet)))
}

func (d *drawer) rule() {
	glyph := "─"
	if d.o.ASCII {
		glyph = "-"
	}
	d.emit(inStyle(strings.Repeat(glyph, max((d.width-d.head.cells)/safe.Width(glyph), 1)), Mark))
}
