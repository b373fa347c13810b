package md

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/util"

	"cordboard/ui/safe"
)

// inliner lays the inline nodes of a block out as lines: one for each line of the source.
type inliner struct {
	src   []byte
	ascii bool
	// indented keeps the spaces that a source line begins with; oneLine lets nothing break it.
	indented, oneLine bool
	clean             func(string) string

	style Style
	link  *Hyperlink
	line  richer
	lines []rich
}

// inlines are the lines of a block's inline nodes.
func (d *drawer) inlines(n ast.Node, style Style) []rich {
	in := inliner{src: d.src, ascii: d.o.ASCII, clean: safe.Line, style: style}
	if p := n.Parent(); p != nil && p.Kind() == ast.KindDocument {
		in.indented = n.Kind() == ast.KindParagraph
	}
	in.children(n)
	if len(in.line.raw) > 0 || len(in.lines) == 0 {
		in.end()
	}
	return in.lines
}

// cell is a table cell's text, and what its row has over: one line of what every terminal draws equally wide.
func (d *drawer) cell(n ast.Node, over string, style Style) rich {
	in := inliner{src: d.src, ascii: d.o.ASCII, oneLine: true, clean: safe.Column, style: style}
	in.children(n)
	in.add(over, style)
	return in.line.take(in.clean)
}

func (in *inliner) end() {
	if in.oneLine {
		in.add(" ", in.style)
		return
	}
	in.lines = append(in.lines, in.line.take(in.clean))
}

func (in *inliner) add(text string, style Style) { in.line.add(text, style, in.link) }

func (in *inliner) children(n ast.Node) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		in.node(c)
	}
}

func (in *inliner) node(n ast.Node) {
	switch n := n.(type) {
	case *ast.Text:
		in.text(n)
	case *ast.CodeSpan:
		in.code(n)
	case *ast.Emphasis:
		marks, bit := "*", Italic
		if n.Level > 1 {
			marks, bit = "**", Bold
		}
		if !in.ascii {
			marks = ""
		}
		in.between(marks, bit, n)
	case *extast.Strikethrough:
		in.between("~~", Strike, n) // always with its marks: a terminal that cannot strike out would turn the meaning round
	case *ast.Link:
		in.target(n, "", n.Destination, n.Title)
	case *ast.Image:
		in.target(n, "image: ", n.Destination, n.Title)
	case *ast.AutoLink:
		in.autoLink(n)
	case *ast.RawHTML:
		for i := range n.Segments.Len() {
			segment := n.Segments.At(i)
			in.source(segment.Start, string(segment.Value(in.src)))
		}
	case *extast.TaskCheckBox:
		in.add(checkbox(n), Mark)
	default:
		in.children(n)
	}
}

func checkbox(n *extast.TaskCheckBox) string {
	if n.IsChecked {
		return "[x] "
	}
	return "[ ] "
}

func (in *inliner) text(n *ast.Text) {
	value := string(n.Segment.Value(in.src))
	if !n.IsRaw() {
		value = unescape(value)
	}
	in.source(n.Segment.Start, value)
	if n.SoftLineBreak() || n.HardLineBreak() {
		in.end()
	}
}

// source adds text from the source, where it began at byte at. Newlines in it break the line.
func (in *inliner) source(at int, value string) {
	for {
		line, rest, more := strings.Cut(value, "\n")
		if len(in.line.raw) == 0 && line != "" && in.indented {
			at = min(at, len(in.src))
			start := bytes.LastIndexByte(in.src[:at], '\n') + 1
			lead := in.src[start : start+util.TrimLeftSpaceLength(in.src[start:])]
			in.line.add(string(lead[:min(len(lead), max(at-start, 0))]), Text, nil)
		}
		in.add(line, in.style)
		if !more {
			return
		}
		in.end()
		at += len(line) + 1
		value = rest
	}
}

func (in *inliner) code(n *ast.CodeSpan) {
	before := in.style
	if in.ascii {
		in.add("`", Mark)
	}
	in.style = in.style&^0xF | Code
	in.children(n)
	in.style = before
	if in.ascii {
		in.add("`", Mark)
	}
}

// between draws the children of n with a style bit more, and its marks around them.
func (in *inliner) between(marks string, bit Style, n ast.Node) {
	before := in.style
	in.add(marks, Mark)
	in.style |= bit
	in.children(n)
	in.style = before
	in.add(marks, Mark)
}

// maxTarget is how many bytes of a link's target are shown; an image's data may follow.
const maxTarget = 512

// target draws a link's or an image's text, and where it leads, once.
func (in *inliner) target(n ast.Node, what string, destination, title []byte) {
	style, link := in.style, in.link
	in.style = style&^0xF | Link
	in.link = &Hyperlink{Target: unescape(string(destination))}
	if what != "" {
		in.add("["+what, in.style)
	}
	line, start := len(in.lines), len(in.line.raw)
	in.children(n)
	same := line == len(in.lines) && string(in.line.raw[start:]) == in.link.Target
	if what != "" {
		in.add("]", in.style)
	}
	if note := targetNote(in.link.Target, unescape(string(title)), same && what == ""); note != "" {
		in.add(" ("+note+")", Target)
	}
	in.style, in.link = style, link
}

// targetNote is what is said about a target after the text: what the text does not say itself.
func targetNote(target, title string, same bool) string {
	if len(target) > maxTarget {
		target = target[:runeStart(target, maxTarget)] + "…"
	}
	var parts []string
	if !same && target != "" {
		parts = append(parts, target)
	}
	if title != "" {
		parts = append(parts, `"`+title+`"`)
	}
	return strings.ReplaceAll(strings.Join(parts, " "), "\n", " ")
}

func (in *inliner) autoLink(n *ast.AutoLink) {
	style, link := in.style, in.link
	if link == nil {
		in.link = &Hyperlink{Target: string(n.URL(in.src))}
		if n.AutoLinkType == ast.AutoLinkEmail {
			in.link.Target = "mailto:" + in.link.Target
		}
	}
	in.add(string(n.Label(in.src)), in.style&^0xF|Link)
	in.style, in.link = style, link
}

// unescape resolves backslash escapes and entities.
func unescape(s string) string {
	if !strings.ContainsAny(s, `\&`) {
		return s
	}
	var out strings.Builder
	for i := 0; i < len(s); {
		if s[i] == '\\' && i+1 < len(s) && util.IsPunct(s[i+1]) {
			out.WriteByte(s[i+1])
			i += 2
			continue
		}
		if s[i] == '&' {
			if chars, n := entity(s[i:]); n > 0 {
				out.WriteString(chars)
				i += n
				continue
			}
		}
		out.WriteByte(s[i])
		i++
	}
	return out.String()
}

// entity reads the entity at the beginning of s; n is 0 when it is none.
func entity(s string) (chars string, n int) {
	const longest = 40
	end := strings.IndexByte(s[:min(len(s), longest)], ';')
	if end < 2 {
		return "", 0
	}
	name := s[1:end]
	if name[0] != '#' {
		if e, ok := util.LookUpHTML5EntityByName(name); ok {
			return string(e.Characters), end + 1
		}
		return "", 0
	}
	digits, base := name[1:], 10
	if digits != "" && (digits[0] == 'x' || digits[0] == 'X') {
		digits, base = digits[1:], 16
	}
	code, err := strconv.ParseUint(digits, base, 32)
	if err != nil || len(digits) > 7 {
		return "", 0
	}
	if code == 0 || code > utf8.MaxRune {
		code = utf8.RuneError
	}
	return string(rune(code)), end + 1
}
