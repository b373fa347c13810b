// Package md draws Markdown for the console's transcript (console.md §4): goldmark parses, this package makes lines of styled spans.
//
// A message is cut into blocks by Split, which costs a scan of its bytes; each block is drawn by Draw when it is seen, and is an item
// of the transcript's cache. While a message grows, Regrow cuts only its end again. Render does all at once.
//
//	blocks := md.Split(text)                        // or md.Regrow(before, blocks, text) while it grows
//	for _, line := range r.Draw(block, w, opts).Lines {
//		for style, text := range line.Pieces() { … } // write text in the ink of style, then pad to w
//	}
//
// What is drawn stays close to what was written: a line break in a paragraph is a line break here, blank lines stay as many as they
// are, list numbers, link targets, HTML and reference definitions are shown as text. So a growing message changes only at its end.
//
// Nothing is emitted but this package's marks and stored text that went through ui/safe; no line has more than the width's cells, at
// any width from 1 on. Bounds keep hostile text linear: a block of more than 32 KiB, deeper than 64 containers on one line or with a
// table of more than 32,768 cells is drawn as plain text, and so is what follows the thousandth mark of one paragraph.
package md

import (
	"iter"
	"strings"
)

// Style is how a span is drawn: a Role and the bits Bold, Italic and Strike. It is a small number, so that inks are looked up in an
// array of Styles.
type Style uint8

// The bits of a Style.
const (
	Bold Style = 1 << (iota + 4)
	Italic
	Strike
)

// Styles is how many there are.
const Styles = 1 << 7

// Role says what a span is; the theme says what ink that takes.
type Role = Style

// The roles.
const (
	Text    Role = iota
	Heading      // the text of a heading
	Code         // a code span or a line of a code block
	Link         // the text of a link, a bare URL
	Target       // where a link leads, after its text
	Mark         // what we drew: bullets, bars, frames, rules
	Label        // the language of a code block
	Added        // a line of a diff
	Removed
)

// Role of a style, without its bits.
func (s Style) Role() Role { return s & 0xF }

// Wrap says which lines break at the width.
type Wrap uint8

// What breaks. Lines that do not are cut and begin at Options.Shift.
const (
	WrapProse Wrap = iota // all but the lines of code blocks
	WrapAll               // code too; a line that goes on has ┆ instead of │ before it
	WrapNone
)

// Options are how a text is drawn.
type Options struct {
	Wrap  Wrap
	Shift int  // cells of lines that do not break, hidden at the left
	ASCII bool // the source's own marks instead of box drawing and of attributes alone: accessibility mode, no colour
}

// Span is a run of a line's text [Start, End), in bytes, in one style.
type Span struct {
	Start, End int
	Style      Style
	Link       *Hyperlink // it belongs to, nil for none
}

// Hyperlink is a link or an image. Target is as it was written: it is sanitised where it is shown, not here.
type Hyperlink struct{ Target string }

// CodeBlock is a fenced or indented block. Text is what the author wrote in it: no frame, no breaks of ours, tabs and control characters
// as they were, no blank lines at the end (R159). It must be sanitised before it is shown.
type CodeBlock struct {
	Info string // what stands after the fence, as written: the language, and what else the author put there
	Text string
}

// Language is the first word of Info.
func (c *CodeBlock) Language() string {
	word, _, _ := strings.Cut(c.Info, " ")
	return word
}

// Line is a line on the screen: sanitised, at most as wide as asked for, not padded.
type Line struct {
	Text  string
	Spans []Span     // cover Text in order; nil when all of it is in style Text
	Code  *CodeBlock // the line belongs to, its frame included
	Level int        // 1–6 on the lines of a heading
}

// Pieces are the runs of a line in one style each.
func (l Line) Pieces() iter.Seq2[Style, string] {
	return func(yield func(Style, string) bool) {
		if l.Spans == nil {
			if l.Text != "" {
				yield(Text, l.Text)
			}
			return
		}
		for _, s := range l.Spans {
			if !yield(s.Style, l.Text[s.Start:s.End]) {
				return
			}
		}
	}
}

// Drawn is a text on the screen.
type Drawn struct {
	Lines []Line
	Wide  int // width at which no line would be cut; Shift is useful below Wide minus the width
}

// Renderer draws blocks. It may be used from several goroutines.
type Renderer struct{ parser blockParser }

// New makes a Renderer.
func New() *Renderer { return &Renderer{parser: newParser()} }

// Render draws a whole text of any size. Empty text has no lines, blank lines at the end are dropped; a width below 1 counts as 1.
func (r *Renderer) Render(src string, width int, o Options) Drawn {
	var all Drawn
	for _, b := range Split(src) {
		d := r.Draw(b, width, o)
		all.Lines = append(all.Lines, d.Lines...)
		all.Wide = max(all.Wide, d.Wide)
	}
	return all
}

// Draw draws one block with the blank lines before it.
func (r *Renderer) Draw(b Block, width int, o Options) Drawn {
	o.Shift = max(o.Shift, 0)
	d := drawer{width: max(width, 1), o: o, out: make([]Line, b.before, b.before+1+strings.Count(b.text, "\n"))}
	switch {
	case b.kind == kindCode:
		d.codeBlock(b.code, b.text, b.first, b.last)
	case b.kind == kindMarkdown && r.markdown(&d, b.text):
	default:
		d.plain(b.text)
	}
	return Drawn{d.out, d.wide}
}

// markdown parses and draws. It reports false, and draws nothing, when the parser failed on this text: a stored text must not take the
// console down.
func (r *Renderer) markdown(d *drawer, text string) (ok bool) {
	before := *d
	defer func() {
		if recover() != nil {
			*d = before
		}
	}()
	d.src = []byte(text + "\n") // without it goldmark reads the last line a little differently
	d.children(r.parser.Parse(d.src))
	return true
}
