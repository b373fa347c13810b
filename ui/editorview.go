package ui

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"cordboard/ui/safe"
)

// rowAt is a row on the screen: of a piece, counted from its first.
type rowAt struct{ piece, row int }

// span is the part of a piece that a row shows.
type rowSpan struct{ from, to int }

// glyph is how the character at the beginning of s is drawn in a column: its bytes, what stands for it, its cells.
func glyph(s string, col int) (n int, text string, cells int) {
	if c := s[0]; c >= ' ' && c < 0x7f && (len(s) == 1 || s[1] < 0x80) {
		return 1, s[:1], 1
	}
	if s[0] == '\t' {
		cells = safe.TabStop - col%safe.TabStop
		return 1, strings.Repeat(" ", cells), cells
	}
	if n = clusterAt(s); n == 3 && ideograph(s) {
		return n, s[:n], 2
	}
	text = safe.Line(s[:n])
	return n, text, safe.Width(text)
}

// rowsOf breaks a piece into rows of at most w cells: between words, between wide characters, else anywhere. A blank at the edge hangs over
// it and is not seen.
func rowsOf(text string, w int) []rowSpan {
	var rows []rowSpan
	w = max(w, 1)
	from, col, may := 0, 0, 0
	for i := 0; i < len(text); {
		n, _, cells := glyph(text[i:], col)
		if hangs := text[i] == ' ' && col >= w; col+cells > w && i > from && !hangs {
			if may <= from {
				may = i
			}
			rows = append(rows, rowSpan{from, may})
			from = may
			col = columnOf(text[from:i])
			continue
		}
		col += cells
		if text[i] == ' ' || cells == 2 {
			may = i + n
		}
		i += n
	}
	return append(rows, rowSpan{from, len(text)})
}

// brokenRows are the rows of a piece as they were found last: drawing asks for the same ones many times.
type brokenRows struct {
	text string
	w    int
	rows []rowSpan
}

// rows are the rows of a piece.
func (e *editor) rows(i, w int) []rowSpan {
	text := e.pieces[i].text
	if len(text) < 256 {
		return rowsOf(text, w)
	}
	slot := &e.broken[i%len(e.broken)]
	if slot.w != w || slot.text != text {
		*slot = brokenRows{text, w, rowsOf(text, w)}
	}
	return slot.rows
}

// columnOf is how many cells a text takes from the first column on.
func columnOf(text string) int {
	col := 0
	for i := 0; i < len(text); {
		n, _, cells := glyph(text[i:], col)
		col += cells
		i += n
	}
	return col
}

// rowOf is the row of a piece that a byte is in.
func rowOf(rows []rowSpan, off int) int {
	for i := len(rows) - 1; i > 0; i-- {
		if rows[i].from <= off {
			return i
		}
	}
	return 0
}

// cursorRow is the row the cursor is in.
func (e *editor) cursorRow(w int) rowAt {
	return rowAt{e.at, rowOf(e.rows(e.at, w), e.off)}
}

// up and down are the rows before and after another; ok is false at the ends.
func (e *editor) up(r rowAt, w int) (rowAt, bool) {
	if r.row > 0 {
		return rowAt{r.piece, r.row - 1}, true
	}
	if r.piece == 0 {
		return r, false
	}
	return rowAt{r.piece - 1, len(e.rows(r.piece-1, w)) - 1}, true
}

func (e *editor) down(r rowAt, w int) (rowAt, bool) {
	if r.row+1 < len(e.rows(r.piece, w)) {
		return rowAt{r.piece, r.row + 1}, true
	}
	if r.piece+1 == len(e.pieces) {
		return r, false
	}
	return rowAt{r.piece + 1, 0}, true
}

// topFor is the first row of a screen of w × h cells that shows the cursor and moves as little as it can.
func (e *editor) topFor(w, h int) rowAt {
	top, cursor := e.top, e.cursorRow(w)
	top.piece = clamp(top.piece, 0, len(e.pieces)-1)
	top.row = clamp(top.row, 0, len(e.rows(top.piece, w))-1)
	if cursor.piece < top.piece || cursor.piece == top.piece && cursor.row <= top.row {
		return cursor
	}
	if cursor.piece-top.piece < h {
		r, ok := top, true
		for i := 0; i < h && ok; i++ {
			if r == cursor {
				return top
			}
			r, ok = e.down(r, w)
		}
	}
	r := cursor
	for range h - 1 {
		r, _ = e.up(r, w)
	}
	return r
}

// settle keeps the cursor on a screen of w × h cells.
func (e *editor) settle(w, h int) { e.top = e.topFor(w, max(h, 1)) }

// draw is the part of the text on a screen of w × h cells. The cursor takes a cell of its own where it is shown.
func (e *editor) draw(k *shades, w, h int, cursor bool) []string {
	out := make([]string, 0, h)
	r, ok := e.topFor(w-1, h), true
	at := e.cursorRow(w - 1)
	for len(out) < h && ok {
		p := e.pieces[r.piece]
		rows := e.rows(r.piece, w-1)
		for ; r.row < len(rows) && len(out) < h; r.row++ {
			row := p.text[rows[r.row].from:rows[r.row].to]
			l := newLine(w)
			if cursor && r == at {
				split := e.off - rows[r.row].from
				before, col := shownRow(row[:split], 0, w-1)
				after, _ := shownRow(row[split:], col, w-1)
				l.add(k.text, before).add(k.accent, "▏").add(k.text, after)
			} else {
				text, _ := shownRow(row, 0, w)
				l.add(k.text, text)
			}
			out = append(out, l.end(k.text))
		}
		r = rowAt{r.piece + 1, 0}
		ok = r.piece < len(e.pieces)
	}
	for len(out) < h {
		out = append(out, newLine(w).end(k.text))
	}
	return out
}

// shownRow is a row as it is drawn from a column on, up to the edge.
func shownRow(text string, col, w int) (string, int) {
	var b strings.Builder
	for i := 0; i < len(text); {
		n, drawn, cells := glyph(text[i:], col)
		if col+cells > w {
			break
		}
		b.WriteString(drawn)
		col += cells
		i += n
	}
	return b.String(), col
}

// move goes by rows and keeps to its column.
func (e *editor) move(by, w int) {
	r := e.cursorRow(w)
	if e.goal < 0 {
		span := e.rows(e.at, w)[r.row]
		e.goal = columnOf(e.pieces[e.at].text[span.from:e.off])
	}
	ok := true
	for ; by > 0 && ok; by-- {
		r, ok = e.down(r, w)
	}
	for ; by < 0 && ok; by++ {
		r, ok = e.up(r, w)
	}
	text := e.pieces[r.piece].text
	rows := e.rows(r.piece, w)
	span, goal := rows[r.row], e.goal
	off, col := span.from, 0
	for off < span.to {
		n, _, cells := glyph(text[off:], col)
		if col+cells > goal || off+n == span.to && r.row+1 < len(rows) {
			break
		}
		off, col = off+n, col+cells
	}
	e.at, e.off, e.goal = r.piece, off, goal
	if off == len(text) && !e.pieces[r.piece].end && r.piece+1 < len(e.pieces) {
		e.at, e.off = r.piece+1, 0
	}
}

// rowEdge goes to the beginning or the end of the row.
func (e *editor) rowEdge(w int, end bool) {
	text := e.pieces[e.at].text
	rows := e.rows(e.at, w)
	i := rowOf(rows, e.off)
	off := rows[i].from
	if end {
		if off = rows[i].to; i+1 < len(rows) && off > rows[i].from {
			off -= clusterBefore(text[rows[i].from:off])
		}
	}
	e.place(e.at, off)
}

// press takes a key on a screen of w × h cells and reports whether it meant something here.
func (e *editor) press(msg tea.KeyMsg, w, h int) bool {
	defer func() { e.settle(w-1, h) }()
	if (msg.Type == tea.KeyRunes || msg.Type == tea.KeySpace) && !msg.Alt {
		e.insert(pasted(msg))
		return true
	}
	return e.pressMove(msg.String(), w-1, h) || e.pressCut(msg.String())
}

// pasted is the text of a key. A terminal sends the line ends of what it pastes as carriage returns; text that has newlines of its own
// is taken as it is.
func pasted(msg tea.KeyMsg) string {
	text := string(msg.Runes)
	if msg.Paste && strings.Contains(text, "\r") && !strings.Contains(text, "\n") {
		return strings.ReplaceAll(text, "\r", "\n")
	}
	return text
}

func (e *editor) pressMove(key string, w, h int) bool {
	switch key {
	case "left", "ctrl+b":
		e.place(e.before(e.at, e.off))
	case "right", "ctrl+f":
		e.place(e.after(e.at, e.off))
	case "up", "ctrl+p":
		e.move(-1, w)
	case "down", "ctrl+n":
		e.move(1, w)
	case "pgup":
		e.move(-max(h-1, 1), w)
	case "pgdown":
		e.move(max(h-1, 1), w)
	case "home":
		e.rowEdge(w, false)
	case "end":
		e.rowEdge(w, true)
	case "ctrl+a":
		e.place(e.lineStart())
	case "ctrl+home":
		e.toStart()
	case "ctrl+end":
		e.toEnd()
	case "ctrl+left", "alt+left", "alt+b":
		e.place(e.overWord(e.before, true))
	case "ctrl+right", "alt+right", "alt+f":
		e.place(e.overWord(e.after, false))
	default:
		return false
	}
	return true
}

func (e *editor) pressCut(key string) bool {
	switch key {
	case "enter", "alt+enter", "ctrl+j":
		e.insert("\n")
	case "backspace", "ctrl+h":
		e.cutTo(e.before(e.at, e.off))
	case "delete", "ctrl+d":
		e.cutTo(e.after(e.at, e.off))
	case "ctrl+w", "alt+backspace":
		e.cutTo(e.overWord(e.before, true))
	case "alt+d":
		e.cutTo(e.overWord(e.after, false))
	case "ctrl+u":
		e.cutTo(e.lineStart())
	case "ctrl+k":
		e.cutTo(e.lineEnd())
	default:
		return false
	}
	return true
}

// rowOnScreen is the line of a screen of w × h cells that shows a row.
func (e *editor) rowOnScreen(at rowAt, w, h int) int {
	r, ok := e.topFor(w-1, h), true
	for y := 0; y < h && ok; y++ {
		if r == at {
			return y
		}
		r, ok = e.down(r, w-1)
	}
	return 0
}
