package json5

import (
	"errors"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// longestHex is the number of hexadecimal digits that the largest float64 has.
const longestHex = 256

// number takes a number and writes it as strict JSON: no plus sign, no bare point, decimal.
func (p *parser) number() (string, error) {
	start, sign := p.pos, ""
	if p.take('-') {
		sign = "-"
	} else {
		p.take('+')
	}
	for _, word := range []string{"Infinity", "NaN"} {
		if p.hasPrefix(word) {
			return "", fault(start, "%s%s is not a number that can be kept: write a finite one", sign, word)
		}
	}
	if p.hasPrefix("0x") || p.hasPrefix("0X") {
		return p.hexNumber(start, sign)
	}
	whole := p.digits()
	part := ""
	if p.take('.') {
		part = p.digits()
	}
	switch {
	case whole == "" && part == "":
		return "", fault(p.pos, "unexpected %s: a number needs a digit here", p.found())
	case len(whole) > 1 && whole[0] == '0':
		return "", fault(start, "a number does not start with 0 and more digits: %s", whole)
	}
	exponent, err := p.exponent()
	if err != nil {
		return "", err
	}
	text := sign + whole
	if whole == "" {
		text += "0"
	}
	if part != "" {
		text += "." + part
	}
	return p.finite(start, text+exponent)
}

func (p *parser) digits() string {
	from := p.off
	for r := p.peek(); r >= '0' && r <= '9'; r = p.peek() {
		p.next()
	}
	return string(p.src[from:p.off])
}

func (p *parser) exponent() (string, error) {
	if r := p.peek(); r != 'e' && r != 'E' {
		return "", nil
	}
	text := string(p.next())
	if r := p.peek(); r == '+' || r == '-' {
		text += string(p.next())
	}
	digits := p.digits()
	if digits == "" {
		return "", fault(p.pos, "unexpected %s: an exponent needs a digit here", p.found())
	}
	return text + digits, nil
}

func (p *parser) hexNumber(start Pos, sign string) (string, error) {
	p.next()
	p.next()
	from := p.off
	for r := p.peek(); r >= '0' && r <= '9' || r >= 'a' && r <= 'f' || r >= 'A' && r <= 'F'; r = p.peek() {
		p.next()
	}
	digits := string(p.src[from:p.off])
	if digits == "" {
		return "", fault(p.pos, "unexpected %s: 0x needs a hexadecimal digit here", p.found())
	}
	if digits = strings.TrimLeft(digits, "0"); digits == "" {
		digits = "0"
	}
	if len(digits) > longestHex {
		return "", tooLarge(start)
	}
	value, _ := new(big.Int).SetString(digits, 16)
	return p.finite(start, sign+value.String())
}

// finite refuses what JSON5 would read as Infinity.
func (p *parser) finite(start Pos, text string) (string, error) {
	if _, err := strconv.ParseFloat(text, 64); errors.Is(err, strconv.ErrRange) {
		return "", tooLarge(start)
	}
	return text, nil
}

func tooLarge(start Pos) error {
	return fault(start, "the number is too large: the largest is about 1.8e308")
}

// text takes a quoted string and returns it decoded and as strict JSON.
func (p *parser) text() (decoded string, encoded []byte, err error) {
	start := p.pos
	quote := p.next()
	w := writer{}
	for {
		at, r := p.pos, p.peek()
		switch {
		case r == end:
			return "", nil, fault(start, "the string that starts here has no end: %c is missing", quote)
		case r == '\n', r == '\r':
			return "", nil, fault(at, "a string ends on its line: put \\ before the line break to go on, or write \\n")
		}
		p.next()
		switch {
		case r == quote:
			decoded, encoded = w.done()
			return decoded, encoded, nil
		case r == '\\':
			if err := p.escape(at, &w); err != nil {
				return "", nil, err
			}
		default:
			w.rune(r)
		}
	}
}

var plainEscapes = map[rune]rune{'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t', 'v': '\v', '0': 0}

// escape takes what follows a backslash inside a string.
func (p *parser) escape(at Pos, w *writer) error {
	r := p.peek()
	if r == end {
		return nil // text reports the missing quote
	}
	p.next()
	value, isPlain := plainEscapes[r]
	switch next := p.peek(); {
	case r == '\r':
		p.take('\n')
	case lineTerminator(r):
	case r == 'x' || r == 'u':
		code, err := p.hex(map[rune]int{'x': 2, 'u': 4}[r])
		if err != nil {
			return err
		}
		w.unit(code)
	case r >= '1' && r <= '9', r == '0' && next >= '0' && next <= '9':
		return fault(at, "octal escapes are not JSON5: write \\x and two hexadecimal digits")
	case isPlain:
		w.rune(value)
	default:
		w.rune(r)
	}
	return nil
}

// name takes an unquoted key.
func (p *parser) name() (decoded string, encoded []byte, err error) {
	w := writer{}
	for first := true; ; first = false {
		at, r := p.pos, p.peek()
		if r == '\\' {
			p.next()
			if !p.take('u') {
				return "", nil, fault(at, "only \\u and four hexadecimal digits may be escaped in a key without quotes")
			}
			if r, err = p.hex(4); err != nil {
				return "", nil, err
			}
			if !nameStart(r) && (first || !namePart(r)) {
				return "", nil, fault(at, "U+%04X cannot stand here in a key without quotes: quote the key", r)
			}
		} else if nameStart(r) || !first && namePart(r) {
			p.next()
		} else if first {
			return "", nil, fault(at, "unexpected %s: a key was expected, as name, \"name\" or 'name'", p.found())
		} else {
			decoded, encoded = w.done()
			return decoded, encoded, nil
		}
		w.rune(r)
	}
}

// writer collects a string twice: decoded and as strict JSON. Two \u escapes that make one character are joined; half of such a
// pair is kept as its escape in JSON and becomes U+FFFD when decoded.
type writer struct {
	decoded, encoded []byte
	half             rune
}

func (w *writer) unit(r rune) {
	switch {
	case w.half != 0 && utf16.DecodeRune(w.half, r) != utf8.RuneError:
		r, w.half = utf16.DecodeRune(w.half, r), 0
		w.rune(r)
	case utf16.IsSurrogate(r):
		w.flush()
		w.half = r
	default:
		w.rune(r)
	}
}

func (w *writer) flush() {
	if w.half != 0 {
		w.decoded = utf8.AppendRune(w.decoded, utf8.RuneError)
		w.encoded = appendEscape(w.encoded, w.half)
		w.half = 0
	}
}

func (w *writer) rune(r rune) {
	w.flush()
	w.decoded = utf8.AppendRune(w.decoded, r)
	switch {
	case r == '"' || r == '\\':
		w.encoded = append(w.encoded, '\\', byte(r))
	case r < ' ':
		w.encoded = appendEscape(w.encoded, r)
	default:
		w.encoded = utf8.AppendRune(w.encoded, r)
	}
}

func (w *writer) done() (string, []byte) {
	w.flush()
	quoted := make([]byte, 0, len(w.encoded)+2)
	quoted = append(append(append(quoted, '"'), w.encoded...), '"')
	return string(w.decoded), quoted
}

func appendEscape(out []byte, r rune) []byte {
	const digits = "0123456789abcdef"
	return append(out, '\\', 'u', digits[r>>12&15], digits[r>>8&15], digits[r>>4&15], digits[r&15])
}
