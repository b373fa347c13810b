// Package safe stands between stored text and the terminal (console.md §7). It is used by every pane, title, error and CLI table;
// only `--json` prints the original.
//
// Sanitising: Text, Line and Block return a string in which nothing can move the cursor, change a mode, hide or reorder what is
// read. What could is drawn as a visible mark instead:
//
//	C0 and DEL                     ␀ … ␟ ␡   one cell each; the rest of an escape sequence stays as plain text: ␛[2J
//	an invalid byte                ‹x9B›
//	C1, bidi and format controls,  ‹U+202E›  every invisible rune, and runes unknown to this build's Unicode, whose width nobody
//	zero width runes, fillers                knows
//	a run of tag characters        ‹tags:hello›  the hidden ASCII is spelled out
//	combining marks beyond six     ‹12 marks›
//	a combining mark without base  ◌́          so that it never lands on a border or a neighbour's text
//
// A zero width joiner stays inside an emoji, both joiners stay between letters of scripts that need them, a variation selector
// stays after a pictograph. Joins in one cluster are bounded, so a cluster cannot grow without end.
//
// Measuring: Width, Cut, CutMiddle, KeepTail, Pad, Fit and Wrap count cells by grapheme cluster, exactly as the renderer does
// (x/ansi). They expect one sanitised, unstyled string: sanitise first, wrap and pad second, style last.
//
// Terminals disagree about some clusters: ☁️, flags, skin tones and joined emoji are two cells by grapheme cluster, but one, four or
// more in terminals that add up runes; Thai SARA AM, halfwidth voiced kana and Indic conjuncts are one here and two there. Running
// text shows them as they are. In aligned columns use Column, which keeps only clusters that every terminal draws equally wide.
package safe

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// TabStop is the distance of tab stops in Block, in cells.
const TabStop = 4

type mode uint8

const (
	modeText  mode = iota // newline and tab stay
	modeLine              // newline and tab are marked
	modeBlock             // newline stays, CRLF becomes newline, tabs are expanded
)

// Text returns s with everything that could drive or deceive a terminal drawn as marks. Newlines and tabs stay: what goes to the
// screen as it is takes Line or Block. Clean text is returned as it is, without allocation.
func Text(s string) string { return clean(s, modeText) }

// Line is Text for a field of one line: newlines and tabs are marked too (␊ ␉).
func Line(s string) string { return clean(s, modeLine) }

// Block is Text for many lines: newlines stay, CRLF counts as a newline, tabs become spaces up to the next tab stop.
func Block(s string) string { return clean(s, modeBlock) }

func clean(s string, m mode) string {
	i := plainASCII(s, 0)
	if i == len(s) {
		return s
	}
	c := cleaner{src: s, mode: m}
	if i > 0 {
		c.startBase(rune(s[i-1]))
	}
	for i < len(s) {
		if end := plainASCII(s, i); end > i {
			c.startBase(rune(s[end-1]))
			i = end
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			c.mark(i, i+1, fmt.Sprintf("‹x%02X›", s[i]))
		case r < 0x20 || r == 0x7f:
			c.control(i, r)
		default:
			n = c.rune(i, n, r)
		}
		i += n
	}
	return c.finish()
}

// plainASCII returns the first index from i on that is no printable ASCII.
func plainASCII(s string, i int) int {
	for i < len(s) && s[i] >= 0x20 && s[i] < 0x7f {
		i++
	}
	return i
}

// cleaner walks src once. It copies only from the first change on, and remembers what the last kept rune may carry.
type cleaner struct {
	src  string
	mode mode
	out  strings.Builder
	done int // src up to here is in out

	prev   rune // last rune kept, 0 when there is nothing to attach to
	base   rune // what prev belongs to
	marks  int  // combining marks on base
	joins  int  // emoji joined so far
	links  int  // consonants linked into this conjunct
	linked bool // a linker waits for its consonant

	col, lineOut int // Block: cells before lineOut, and where in out the unmeasured rest of the line starts
}

func (c *cleaner) finish() string {
	if c.done == 0 && c.out.Len() == 0 {
		return c.src
	}
	c.out.WriteString(c.src[c.done:])
	return c.out.String()
}

// mark draws text in place of src[from:to]. Nothing attaches to a mark.
func (c *cleaner) mark(from, to int, text string) {
	c.out.WriteString(c.src[c.done:from])
	c.out.WriteString(text)
	c.done = to
	c.startBase(0)
}

func (c *cleaner) markRune(at, n int, r rune) { c.mark(at, at+n, fmt.Sprintf("‹U+%04X›", r)) }

func (c *cleaner) startBase(r rune) {
	c.prev, c.base, c.marks, c.joins, c.links, c.linked = r, r, 0, 0, 0, false
}

func (c *cleaner) control(at int, r rune) {
	switch {
	case r == '\n' && c.mode != modeLine:
		c.startBase(0)
		c.col, c.lineOut = 0, c.out.Len()+at+1-c.done
	case r == '\t' && c.mode == modeText:
		c.startBase(0)
	case r == '\t' && c.mode == modeBlock:
		c.expandTab(at)
	case r == '\r' && c.mode == modeBlock && strings.HasPrefix(c.src[at+1:], "\n"):
		c.mark(at, at+1, "")
	case r == 0x7f:
		c.mark(at, at+1, "␡")
	default:
		c.mark(at, at+1, string(0x2400+r))
	}
}

func (c *cleaner) expandTab(at int) {
	c.out.WriteString(c.src[c.done:at])
	c.done = at + 1
	c.col += Width(c.out.String()[c.lineOut:])
	n := TabStop - c.col%TabStop
	c.out.WriteString(spaces(n))
	c.col += n
	c.lineOut = c.out.Len()
	c.startBase(' ')
}

// rune decides about one rune beyond ASCII and returns how many bytes it dealt with.
func (c *cleaner) rune(at, n int, r rune) int {
	if c.keeps(r, at+n) {
		c.prev = r
		return n
	}
	switch class := classOf(r); {
	case class == classMark && c.base == 0:
		c.mark(at, at, "◌")
		c.startBase('◌')
		c.attach(r)
	case class == classMark && c.marks >= maxMarks:
		return c.excess(at)
	case isTag(r):
		return c.tags(at)
	default:
		c.markRune(at, n, r)
	}
	return n
}

// excess marks the run of combining marks that starts at.
func (c *cleaner) excess(at int) int {
	end, count := at, 0
	for end < len(c.src) {
		r, n := utf8.DecodeRuneInString(c.src[end:])
		if r < 0x80 || classOf(r) != classMark {
			break
		}
		end, count = end+n, count+1
	}
	c.mark(at, end, fmt.Sprintf("‹%d marks›", count))
	return end - at
}

// tags spells out the run of tag characters that starts at: they hide ASCII from people but not from models.
func (c *cleaner) tags(at int) int {
	end := at
	var hidden strings.Builder
	for end < len(c.src) {
		r, n := utf8.DecodeRuneInString(c.src[end:])
		if !isTag(r) {
			break
		}
		if ascii := r - tagBase; ascii >= 0x20 && ascii < 0x7f {
			hidden.WriteRune(ascii)
		}
		end += n
	}
	c.mark(at, end, "‹tags:"+hidden.String()+"›")
	return end - at
}
