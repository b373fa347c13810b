package core

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"iter"
	"math/bits"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// Transcript lines are read where they lie: encoding/json would decode every value to learn a role, and could not write a number or a key
// order back as it came. This file finds values in JSON text; it accepts exactly what json.Valid accepts.

// Member is one member of a JSON object as it is written: Key is the string literal with its quotes, Value any value.
type Member struct{ Key, Value json.RawMessage }

// Named reports whether the member's key, escapes read, is name.
func (m Member) Named(name string) bool { return literalIs(m.Key, name) }

// Members walks the members of a JSON object in the order they are written, duplicates included. It yields nothing for anything that is
// not an object and stops where text is not JSON.
func Members(object []byte) iter.Seq[Member] {
	return func(yield func(Member) bool) {
		s := scanner{data: object}
		s.object(func(key []byte) bool {
			value, ok := s.span()
			return ok && yield(Member{key, value})
		})
	}
}

// Elements walks the elements of a JSON array as they are written. It yields nothing for anything that is not an array and stops where
// text is not JSON.
func Elements(array []byte) iter.Seq[json.RawMessage] {
	return func(yield func(json.RawMessage) bool) {
		s := scanner{data: array}
		s.array(func() bool {
			value, ok := s.span()
			return ok && yield(value)
		})
	}
}

// Field returns the value of an object's member as it is written. Of duplicates the last counts, as everywhere in the field.
func Field(object []byte, name string) (value json.RawMessage, ok bool) {
	for m := range Members(object) {
		if m.Named(name) {
			value, ok = m.Value, true
		}
	}
	return value, ok
}

// Unquote returns the text of a JSON string literal, U+FFFD for what is not UTF-8 or half a surrogate pair, and ok=false for any other
// value.
func Unquote(literal []byte) (text string, ok bool) {
	s := scanner{data: literal}
	s.space()
	inner, clean, ok := s.literal()
	if !ok {
		return "", false
	}
	if clean && utf8.Valid(inner) {
		return string(inner), true
	}
	return string(appendUnquoted(make([]byte, 0, len(inner)), inner)), true
}

// literalIs reports whether value is a string literal that means text, which is ASCII.
func literalIs(value []byte, text string) bool {
	if len(value) < len(text)+2 || value[0] != '"' {
		return false
	}
	inner := value[1 : len(value)-1]
	if len(inner) == len(text) || bytes.IndexByte(inner, '\\') < 0 {
		return string(inner) == text
	}
	got, ok := Unquote(value)
	return ok && got == text
}

// appendUnquoted appends the text of a valid string literal's inside.
func appendUnquoted(dst, inner []byte) []byte {
	for i := 0; i < len(inner); {
		switch c := inner[i]; {
		case c == '\\' && inner[i+1] == 'u':
			r := hex4(inner[i+2:])
			i += 6
			if utf16.IsSurrogate(r) {
				pair := utf8.RuneError
				if i+6 <= len(inner) && inner[i] == '\\' && inner[i+1] == 'u' {
					pair = utf16.DecodeRune(r, hex4(inner[i+2:]))
				}
				if r = pair; pair != utf8.RuneError {
					i += 6
				}
			}
			dst = utf8.AppendRune(dst, r)
		case c == '\\':
			dst = append(dst, unescaped(inner[i+1]))
			i += 2
		case c < utf8.RuneSelf:
			dst = append(dst, c)
			i++
		default:
			r, size := utf8.DecodeRune(inner[i:])
			dst = utf8.AppendRune(dst, r)
			i += size
		}
	}
	return dst
}

func unescaped(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return c
}

func hex4(digits []byte) rune {
	n, err := strconv.ParseUint(string(digits[:4]), 16, 32)
	if err != nil {
		return utf8.RuneError
	}
	return rune(n)
}

// maxDepth is how deep values may nest, as in encoding/json.
const maxDepth = 10000

// scanner walks JSON text. Its methods move pos past what they read and return false where the text is not JSON, leaving pos there, or
// where a callback returned false.
type scanner struct {
	data  []byte
	pos   int
	depth int
}

func (s *scanner) space() {
	for s.pos < len(s.data) {
		switch s.data[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return
		}
	}
}

// next skips white space and returns the byte that follows, 0 at the end.
func (s *scanner) next() byte {
	s.space()
	if s.pos < len(s.data) {
		return s.data[s.pos]
	}
	return 0
}

// take skips white space and reads c when it follows.
func (s *scanner) take(c byte) bool {
	if s.next() != c || s.pos == len(s.data) {
		return false
	}
	s.pos++
	return true
}

// span reads one value and returns it as it is written.
func (s *scanner) span() ([]byte, bool) {
	s.space()
	start := s.pos
	if !s.value() {
		return nil, false
	}
	return s.data[start:s.pos:s.pos], true
}

func (s *scanner) value() bool {
	switch s.next() {
	case '{':
		return s.object(func([]byte) bool { return s.value() })
	case '[':
		return s.array(s.value)
	case '"':
		_, _, ok := s.literal()
		return ok
	case 't':
		return s.word("true")
	case 'f':
		return s.word("false")
	case 'n':
		return s.word("null")
	}
	return s.number()
}

// object reads an object; member is called with each key and must read the value after it.
func (s *scanner) object(member func(key []byte) bool) bool {
	if !s.take('{') || !s.enter() {
		return false
	}
	for empty := true; ; empty = false {
		if empty && s.take('}') {
			break
		}
		s.space()
		start := s.pos
		if _, _, ok := s.literal(); !ok {
			return false
		}
		key := s.data[start:s.pos:s.pos]
		if !s.take(':') || !member(key) {
			return false
		}
		if s.take('}') {
			break
		}
		if !s.take(',') {
			return false
		}
	}
	s.depth--
	return true
}

// array reads an array; element must read one value.
func (s *scanner) array(element func() bool) bool {
	if !s.take('[') || !s.enter() {
		return false
	}
	for empty := true; ; empty = false {
		if empty && s.take(']') {
			break
		}
		if !element() {
			return false
		}
		if s.take(']') {
			break
		}
		if !s.take(',') {
			return false
		}
	}
	s.depth--
	return true
}

func (s *scanner) enter() bool {
	s.depth++
	return s.depth <= maxDepth
}

// literal reads a string literal. inner is what stands between the quotes, clean says that it holds no escape.
func (s *scanner) literal() (inner []byte, clean, ok bool) {
	if s.pos >= len(s.data) || s.data[s.pos] != '"' {
		return nil, false, false
	}
	s.pos++
	start := s.pos
	clean = true
	for {
		s.pos += plain(s.data[s.pos:])
		if s.pos >= len(s.data) {
			return nil, false, false
		}
		switch s.data[s.pos] {
		case '"':
			s.pos++
			return s.data[start : s.pos-1], clean, true
		case '\\':
			clean = false
			if !s.escape() {
				return nil, false, false
			}
		default: // a control character
			return nil, false, false
		}
	}
}

func (s *scanner) escape() bool {
	if s.pos+1 >= len(s.data) {
		return false
	}
	switch s.data[s.pos+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		s.pos += 2
		return true
	case 'u':
		for i := s.pos + 2; i < s.pos+6; i++ {
			if i >= len(s.data) || !isHex(s.data[i]) {
				return false
			}
		}
		s.pos += 6
		return true
	}
	return false
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

// plain returns how many bytes of data come before the first quote, backslash or control character. Eight bytes at a time: texts are
// most of a transcript.
func plain(data []byte) int {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; i+8 <= len(data); i += 8 {
		w := binary.LittleEndian.Uint64(data[i:])
		quote, slash := w^(ones*'"'), w^(ones*'\\')
		if hit := ((quote-ones)&^quote | (slash-ones)&^slash | (w-ones*' ')&^w) & tops; hit != 0 {
			return i + bits.TrailingZeros64(hit)/8
		}
	}
	for ; i < len(data); i++ {
		if c := data[i]; c == '"' || c == '\\' || c < ' ' {
			break
		}
	}
	return i
}

func (s *scanner) word(want string) bool {
	if len(s.data)-s.pos < len(want) || string(s.data[s.pos:s.pos+len(want)]) != want {
		return false
	}
	s.pos += len(want)
	return true
}

func (s *scanner) number() bool {
	s.skip('-')
	if !s.skip('0') && !s.digits() {
		return false
	}
	if s.skip('.') && !s.digits() {
		return false
	}
	if s.skip('e') || s.skip('E') {
		if !s.skip('+') {
			s.skip('-')
		}
		return s.digits()
	}
	return true
}

func (s *scanner) skip(c byte) bool {
	if s.pos < len(s.data) && s.data[s.pos] == c {
		s.pos++
		return true
	}
	return false
}

func (s *scanner) digits() bool {
	start := s.pos
	for s.pos < len(s.data) && '0' <= s.data[s.pos] && s.data[s.pos] <= '9' {
		s.pos++
	}
	return s.pos > start
}
