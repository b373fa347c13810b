package json5

import (
	"fmt"
	"strconv"
	"unicode"
	"unicode/utf8"
)

// scanner walks the text rune by rune and knows where it is.
type scanner struct {
	src []byte
	off int
	pos Pos
}

const end = rune(-1)

// peek returns the next rune without taking it: end at the end, utf8.RuneError for a byte that is not UTF-8 (see invalid).
func (s *scanner) peek() rune {
	if s.off >= len(s.src) {
		return end
	}
	r, _ := utf8.DecodeRune(s.src[s.off:])
	return r
}

// next takes the next rune. Lines end at LF, CR and CR LF.
func (s *scanner) next() rune {
	if s.off >= len(s.src) {
		return end
	}
	r, size := utf8.DecodeRune(s.src[s.off:])
	s.off += size
	switch {
	case r == '\n', r == '\r' && s.peek() != '\n':
		s.pos.Line, s.pos.Col = s.pos.Line+1, 1
	case r != '\r':
		s.pos.Col++
	}
	return r
}

// take takes the next rune if it is r.
func (s *scanner) take(r rune) bool {
	if s.peek() != r {
		return false
	}
	s.next()
	return true
}

func (s *scanner) hasPrefix(text string) bool {
	return len(s.src)-s.off >= len(text) && string(s.src[s.off:s.off+len(text)]) == text
}

// checkUTF8 finds the first byte that is not UTF-8, so that nothing after it has to ask.
func checkUTF8(src []byte) error {
	if utf8.Valid(src) {
		return nil
	}
	s := scanner{src: src, pos: Pos{1, 1}}
	for {
		if r, size := utf8.DecodeRune(s.src[s.off:]); r == utf8.RuneError && size == 1 {
			return fault(s.pos, "byte 0x%02X is not UTF-8: save the file as UTF-8", s.src[s.off])
		}
		s.next()
	}
}

// space skips white space and comments.
func (s *scanner) space() error {
	for {
		switch {
		case s.hasPrefix("//"):
			for r := s.peek(); r != end && !lineTerminator(r); r = s.peek() {
				s.next()
			}
		case s.hasPrefix("/*"):
			if err := s.blockComment(); err != nil {
				return err
			}
		case whiteSpace(s.peek()):
			s.next()
		default:
			return nil
		}
	}
}

func (s *scanner) blockComment() error {
	start := s.pos
	s.next()
	for s.next(); !s.hasPrefix("*/"); s.next() {
		if s.peek() == end {
			return fault(start, "the comment that starts here has no end: */ is missing")
		}
	}
	s.next()
	s.next()
	return nil
}

// found names what comes next, for an error.
func (s *scanner) found() string {
	r := s.peek()
	switch {
	case r == end:
		return "the end of the text"
	case unicode.IsPrint(r):
		return fmt.Sprintf("%q", r)
	}
	return fmt.Sprintf("U+%04X", r)
}

// hex takes n hexadecimal digits.
func (s *scanner) hex(n int) (rune, error) {
	if len(s.src)-s.off >= n {
		if code, err := strconv.ParseUint(string(s.src[s.off:s.off+n]), 16, 32); err == nil {
			for range n {
				s.next()
			}
			return rune(code), nil
		}
	}
	return 0, fault(s.pos, "an escape needs %d hexadecimal digits here", n)
}

func fault(at Pos, format string, args ...any) *SyntaxError {
	return &SyntaxError{Pos: at, Message: fmt.Sprintf(format, args...)}
}

func lineTerminator(r rune) bool { return r == '\n' || r == '\r' || r == '\u2028' || r == '\u2029' }

func whiteSpace(r rune) bool {
	switch r {
	case '\t', '\v', '\f', ' ', '\u00A0', '\uFEFF':
		return true
	}
	return lineTerminator(r) || r > 0 && unicode.Is(unicode.Zs, r)
}

func nameStart(r rune) bool {
	return r == '$' || r == '_' || unicode.In(r, unicode.L, unicode.Nl)
}

func namePart(r rune) bool {
	return nameStart(r) || r == '\u200C' || r == '\u200D' ||
		unicode.In(r, unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc)
}
