package md

import (
	"strings"

	"github.com/yuin/goldmark/ast"

	"cordboard/ui/safe"
)

// logical is the text of a nested code block, without the marks of what it is in.
func (d *drawer) logical(n ast.Node) string {
	var out strings.Builder
	for i := range n.Lines().Len() {
		segment := n.Lines().At(i)
		out.Write(segment.Value(d.src))
	}
	text := out.String()
	for i := len(text); i > 0; {
		i = strings.LastIndexByte(text[:i], '\n')
		if strings.Trim(text[i+1:], blanks+"\n") != "" {
			break
		}
		text = text[:max(i, 0)]
	}
	return text
}

// indentedCode has no fence, so it has no frame but its gutter.
func (d *drawer) indentedCode(n ast.Node) {
	d.code = &CodeBlock{Text: d.logical(n)}
	d.codeLines(d.code.Text)
	d.code = nil
}

// codeBlock draws a fenced block, or a piece of its text.
func (d *drawer) codeBlock(code *CodeBlock, text string, first, last bool) {
	top, bottom := "┌", "└"
	if d.o.ASCII {
		top, bottom = "```", "```"
	}
	d.code = code
	if first {
		label := safe.Line(code.Info)
		if label != "" {
			top += " "
		}
		before := d.enter(top, "")
		d.emit(inStyle(safe.Cut(label, d.room()), Label))
		d.leave(before)
	}
	if !first || !last || text != "" {
		d.codeLines(text)
	}
	if last {
		before := d.enter(bottom, "")
		d.emit(rich{})
		d.leave(before)
	}
	d.code = nil
}

// codeLines draws the lines of code, each with the gutter before it.
func (d *drawer) codeLines(text string) {
	gutter, on := "│ ", "┆ "
	if d.o.ASCII {
		gutter, on = "", ""
	}
	language := d.code.Language()
	diff := language == "diff" || language == "patch"
	for l := range strings.SplitSeq(safe.Block(text), "\n") {
		style := Code
		if diff {
			style = diffStyle(l)
		}
		before := d.enter(gutter, on)
		if d.o.Wrap == WrapAll {
			d.chop(l, style)
		} else {
			d.cut(inStyle(l, style))
		}
		d.leave(before)
	}
}

// chop draws a line of code on as many lines as it needs; its spaces count.
func (d *drawer) chop(l string, style Style) {
	for _, piece := range safe.Chop(l, d.room()) {
		d.emit(inStyle(piece, style))
	}
}

func diffStyle(l string) Style {
	switch {
	case strings.HasPrefix(l, "+"):
		return Added
	case strings.HasPrefix(l, "-"):
		return Removed
	case strings.HasPrefix(l, "@@"):
		return Label
	}
	return Code
}
