package ui

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// pieceMost is the longest piece of a text that is edited, in bytes: what a key costs does not grow beyond it, however long a line is.
const pieceMost = 4 << 10

// editor is a text of any length that is typed, pasted and edited. It is kept byte for byte: what cannot be shown is drawn as a mark and
// stays as it is. The text is cut into pieces, each a line or, where a line is long, a part of one; a key touches one piece and what is
// drawn are the pieces on the screen.
type editor struct {
	pieces  []piece // one at least
	at, off int     // the cursor: a piece, and a byte in it
	goal    int     // the column that up and down keep to, -1 = the cursor's own
	top     rowAt   // first row on the screen
	bytes   int
	breaks  int
	version uint64 // counts the changes
	broken  [8]brokenRows
}

// piece is a line without its newline, or a part of one. end says that a newline follows.
type piece struct {
	text string
	end  bool
}

func newEditor(text string) editor {
	e := editor{goal: -1}
	e.set(text)
	return e
}

// set replaces the text and puts the cursor at its end.
func (e *editor) set(text string) {
	e.pieces = cutPieces(text)
	e.at, e.off = 0, 0
	e.bytes, e.breaks = len(text), strings.Count(text, "\n")
	e.version++
	e.toEnd()
}

// text is all of it, as it was typed and pasted.
func (e *editor) text() string {
	var b strings.Builder
	b.Grow(e.bytes)
	for _, p := range e.pieces {
		b.WriteString(p.text)
		if p.end {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// blank reports whether there is nothing but white space.
func (e *editor) blank() bool {
	return !slices.ContainsFunc(e.pieces, func(p piece) bool { return strings.TrimSpace(p.text) != "" })
}

func (e *editor) lines() int { return e.breaks + 1 }

// cutPieces cuts a text at its newlines, and long lines between characters.
func cutPieces(text string) []piece {
	list := make([]piece, 0, 1+strings.Count(text, "\n"))
	for {
		line, rest, more := strings.Cut(text, "\n")
		for len(line) > pieceMost {
			n := cutAt(line)
			list = append(list, piece{text: line[:n]})
			line = line[n:]
		}
		list = append(list, piece{line, more})
		if !more {
			return list
		}
		text = rest
	}
}

// cutAt is where a line longer than a piece is cut: between two ASCII characters if there are any near, else between clusters.
func cutAt(line string) int {
	for i := pieceMost; i > pieceMost-256; i-- {
		if line[i] < utf8.RuneSelf && line[i-1] < utf8.RuneSelf && line[i] >= ' ' {
			return i
		}
	}
	n := 0
	for n < pieceMost {
		size := clusterAt(line[n:])
		if n > 0 && n+size > pieceMost {
			break
		}
		n += size
	}
	return n
}

// clusterAt is the length of the first character as a person sees one, in bytes.
func clusterAt(s string) int {
	if len(s) > 1 && s[0] < utf8.RuneSelf && s[1] < utf8.RuneSelf {
		return 1
	}
	if len(s) > 3 && ideograph(s) && (s[3] < utf8.RuneSelf || len(s) > 5 && ideograph(s[3:])) {
		return 3
	}
	cluster, _, _, _ := uniseg.FirstGraphemeClusterInString(s, -1)
	return len(cluster)
}

// ideograph spots a valid U+5000–U+8FFF: a character of its own before another one.
func ideograph(s string) bool {
	return s[0] >= 0xe5 && s[0] <= 0xe8 && s[1]&0xc0 == 0x80 && s[2]&0xc0 == 0x80
}

// clusterBefore is the length of the last character of s, which is not empty.
func clusterBefore(s string) int {
	if n := len(s); s[n-1] < utf8.RuneSelf && (n == 1 || s[n-2] < utf8.RuneSelf) {
		return 1
	}
	from := 0
	for {
		n := clusterAt(s[from:])
		if from+n == len(s) {
			return n
		}
		from += n
	}
}

// insert puts a text where the cursor is, and the cursor behind it.
func (e *editor) insert(text string) {
	if text == "" {
		return
	}
	p := e.pieces[e.at]
	fresh := cutPieces(p.text[:e.off] + text + p.text[e.off:])
	fresh[len(fresh)-1].end = p.end
	e.pieces = slices.Replace(e.pieces, e.at, e.at+1, fresh...)
	e.bytes += len(text)
	e.breaks += strings.Count(text, "\n")
	to := e.off + len(text)
	for to > len(e.pieces[e.at].text) || to == len(e.pieces[e.at].text) && !e.pieces[e.at].end && e.at+1 < len(e.pieces) {
		to -= len(e.pieces[e.at].text)
		if e.pieces[e.at].end {
			to--
		}
		e.at++
	}
	e.off = to
	e.changed()
}

func (e *editor) changed() {
	e.version++
	e.goal = -1
	e.join(e.at)
	e.join(e.at - 1)
}

// join makes one piece of two parts of a line when they are short: a line is not to stay cut for good.
func (e *editor) join(i int) {
	if i < 0 || i+1 >= len(e.pieces) || e.pieces[i].end || len(e.pieces[i].text)+len(e.pieces[i+1].text) > pieceMost*3/4 {
		return
	}
	if e.at == i+1 {
		e.at, e.off = i, len(e.pieces[i].text)+e.off
	}
	e.pieces[i] = piece{e.pieces[i].text + e.pieces[i+1].text, e.pieces[i+1].end}
	e.pieces = slices.Delete(e.pieces, i+1, i+2)
}

// cutTo removes what is between the cursor and another place and puts the cursor there where that is before it.
func (e *editor) cutTo(at, off int) {
	a, x, b, y := e.at, e.off, at, off
	if b < a || b == a && y < x {
		a, x, b, y = b, y, a, x
	}
	if a == b && x == y {
		return
	}
	e.count(-1, a, b)
	joined := cutPieces(e.pieces[a].text[:x] + e.pieces[b].text[y:])
	joined[len(joined)-1].end = e.pieces[b].end
	e.pieces = slices.Replace(e.pieces, a, b+1, joined...)
	e.count(1, a, a+len(joined)-1)
	e.at, e.off = a, x
	e.changed()
}

// count adds the bytes and newlines of the pieces from a to b, or takes them away.
func (e *editor) count(sign, a, b int) {
	for _, p := range e.pieces[a : b+1] {
		e.bytes += sign * len(p.text)
		if p.end {
			e.bytes += sign
			e.breaks += sign
		}
	}
}

// before is the place one character before another.
func (e *editor) before(at, off int) (int, int) {
	if off > 0 {
		return at, off - clusterBefore(e.pieces[at].text[:off])
	}
	for at > 0 {
		at--
		p := e.pieces[at]
		if p.end {
			return at, len(p.text)
		}
		if n := len(p.text); n > 0 {
			return at, n - clusterBefore(p.text)
		}
	}
	return 0, 0
}

// after is the place one character after another.
func (e *editor) after(at, off int) (int, int) {
	p := e.pieces[at]
	if off < len(p.text) {
		off += clusterAt(p.text[off:])
		if off == len(p.text) && !p.end && at+1 < len(e.pieces) {
			return at + 1, 0
		}
		return at, off
	}
	if at+1 < len(e.pieces) {
		return at + 1, 0
	}
	return at, off
}

// overWord goes on from a place over blanks and then over a word, by steps of before or after.
func (e *editor) overWord(step func(at, off int) (int, int), behind bool) (int, int) {
	at, off := e.at, e.off
	inWord := false
	for {
		nextAt, nextOff := step(at, off)
		if nextAt == at && nextOff == off {
			return at, off
		}
		blank := e.blankAt(at, off)
		if behind {
			blank = e.blankAt(nextAt, nextOff)
		}
		if blank && inWord {
			return at, off
		}
		inWord = inWord || !blank
		at, off = nextAt, nextOff
	}
}

// blankAt reports whether the character at a place parts words; a newline does.
func (e *editor) blankAt(at, off int) bool {
	text := e.pieces[at].text
	return off >= len(text) || text[off] == ' ' || text[off] == '\t' || text[off] == '\r'
}

func (e *editor) toStart() { e.at, e.off, e.goal = 0, 0, -1 }

func (e *editor) toEnd() {
	e.at = len(e.pieces) - 1
	e.off, e.goal = len(e.pieces[e.at].text), -1
}

// lineStart and lineEnd are the ends of the line the cursor is in.
func (e *editor) lineStart() (int, int) {
	at := e.at
	for at > 0 && !e.pieces[at-1].end {
		at--
	}
	return at, 0
}

func (e *editor) lineEnd() (int, int) {
	at := e.at
	for !e.pieces[at].end && at+1 < len(e.pieces) {
		at++
	}
	return at, len(e.pieces[at].text)
}

func (e *editor) place(at, off int) { e.at, e.off, e.goal = at, off, -1 }
