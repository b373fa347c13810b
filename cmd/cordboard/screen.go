package main

import (
	"bytes"
	"io"
	"os"
	"strconv"
	"sync"

	"cordboard/ui/safe"
)

// Sequences that the program library writes, each in a write of its own or at the start of one.
const (
	enterScreen = "\x1b[?1049h"
	leaveScreen = "\x1b[?1049l"
	hideCursor  = "\x1b[?25l"
	frameStart  = "\x1b[H"
)

// screen is the terminal as the console writes to it. While the console's own screen is up, lines do not wrap: a glyph that the
// terminal takes for wider than we do then spoils the end of one line and not the frame (R170). Whoever has the screen in between —
// a shell after ctrl+z, an editor — finds it as usual.
type screen struct {
	*os.File
	// cursor is where the terminal's own cursor is to stand after a frame, from 1; nil = it stays hidden.
	cursor func() (row, col int)
	signs  signs
	mu     sync.Mutex
}

// newScreen is where the console writes: everything that goes to the terminal while it runs goes through here, one write at a time.
func (a *app) newScreen() io.Writer {
	if out, ok := a.out.(*os.File); ok {
		return &screen{File: out, signs: a.signs}
	}
	return a.out
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := p
	if bytes.Contains(out, []byte(enterScreen)) {
		s.signs.tell(screenUp)
		out = bytes.ReplaceAll(out, []byte(enterScreen), []byte(enterScreen+"\x1b[?7l"))
	}
	if bytes.Contains(out, []byte(leaveScreen)) {
		out = bytes.ReplaceAll(out, []byte(leaveScreen), []byte("\x1b[?7h"+leaveScreen))
	}
	if s.cursor != nil {
		out = bytes.ReplaceAll(out, []byte(hideCursor), nil)
		if bytes.HasPrefix(out, []byte(frameStart)) && len(out) > len(frameStart) {
			row, col := s.cursor()
			out = append(out[:len(out):len(out)], "\x1b["+strconv.Itoa(row)+";"+strconv.Itoa(col)+"H"...)
		}
	}
	if len(out) > 0 {
		if _, err := s.File.Write(out); err != nil {
			return 0, err
		}
	}
	if bytes.Contains(p, []byte(leaveScreen)) {
		s.signs.tell(screenDown)
	}
	return len(p), nil
}

// WriteString keeps io.WriteString from going by Write.
func (s *screen) WriteString(text string) (int, error) { return s.Write([]byte(text)) }

// answerStart is how a terminal's answer to "which background" begins.
const answerStart = "\x1b]11;"

// keyboard is the terminal as the console reads from it: keys come whole, and an answer to our question that comes late is no key (R223).
// It stays the terminal's file: its settings are changed and its reads are called off through it.
type keyboard struct {
	*os.File
	frames *keyFrames
	asked  bool // an answer may come

	held []byte // an answer that has begun
	esc  bool   // the last byte handed on was an ESC, which may have been the first of an answer
	lent bool   // and it is the first of what is held: it is not to be handed on again
}

// newKeyboard reads from a terminal, after what has begun to come from it already.
func newKeyboard(in *os.File, asked bool, begun []byte) *keyboard {
	return &keyboard{File: in, asked: asked, frames: &keyFrames{from: in, soon: soonFrom(in), begun: begun}}
}

func (k *keyboard) Read(p []byte) (int, error) {
	n, err := k.frames.Read(p)
	if n == 0 || !k.asked {
		return n, err
	}
	return copy(p, k.keep(p[:n])), err
}

// keep is what of the bytes is typed. It is never longer than they and what was held back: that is an answer or goes on before them.
func (k *keyboard) keep(b []byte) []byte {
	data, lent := append(k.held, b...), k.lent
	if k.esc && k.held == nil && b[0] == answerStart[1] {
		data, lent = append([]byte{answerStart[0]}, b...), true
	}
	k.held, k.lent, k.esc = nil, false, false
	var out []byte
	for {
		i := bytes.Index(data, []byte(answerStart))
		if i < 0 {
			break
		}
		end := answerEnd(data[i:])
		if end < 0 && len(data)-i < longestAnswer {
			return k.hold(append(out, data[:i]...), data[i:], lent)
		}
		if end < 0 {
			end = len(answerStart)
		}
		if i == 0 && len(out) == 0 {
			lent = false
		}
		out = append(out, data[:i]...)
		data = data[i+end:]
	}
	if i := bytes.LastIndexByte(data, answerStart[0]); i >= 0 && i < len(data)-1 && bytes.HasPrefix([]byte(answerStart), data[i:]) {
		return k.hold(append(out, data[:i]...), data[i:], lent)
	}
	return k.hold(append(out, data...), nil, lent)
}

// hold hands out on and keeps what may become an answer.
func (k *keyboard) hold(out, held []byte, lent bool) []byte {
	switch {
	case lent && len(out) > 0:
		out = out[1:]
	case lent:
		k.lent = true
	}
	k.held = bytes.Clone(held)
	k.esc = len(held) == 0 && len(out) > 0 && out[len(out)-1] == answerStart[0]
	return out
}

// longestAnswer bounds what is held back for the end of an answer.
const longestAnswer = 64

// answerEnd is where an answer ends, -1 when its end has not come.
func answerEnd(data []byte) int {
	if i := bytes.IndexByte(data, '\a'); i >= 0 {
		return i + 1
	}
	if i := bytes.Index(data, []byte("\x1b\\")); i >= 0 {
		return i + 2
	}
	return -1
}

// bell tells of a failure outside the console's screen (ui.notifications): with the terminal's bell, or as a notification of the desktop
// (OSC 9), which terminals that do not know it leave out. It is nil when nobody wants it.
func bell(out io.Writer, how string) func(text string) {
	switch how {
	case "bell":
		return func(string) { _, _ = out.Write([]byte{'\a'}) }
	case "osc9":
		return func(text string) { _, _ = out.Write([]byte("\x1b]9;cordboard: " + safe.Line(text) + "\a")) }
	}
	return nil
}
