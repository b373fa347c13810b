package tool

import (
	"strconv"
	"unicode/utf8"
)

// Answers are put together by hand: encoding/json would rewrite the messages inside (it compacts and escapes), and is five times slower.

const hexDigits = "0123456789abcdef"

// AppendString appends s as a JSON string. Only what JSON demands is escaped, so `<`, `>` and `&` stay; what is not UTF-8 becomes U+FFFD.
func AppendString[T string | []byte](dst []byte, s T) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(string(s[i:min(len(s), i+utf8.UTFMax)]))
			if r != utf8.RuneError || size > 1 {
				i += size
				continue
			}
		}
		dst = append(dst, s[start:i]...)
		dst = appendEscape(dst, c)
		i++
		start = i
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}

func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\n':
		return append(dst, `\n`...)
	case '\r':
		return append(dst, `\r`...)
	case '\t':
		return append(dst, `\t`...)
	}
	if c >= utf8.RuneSelf {
		return append(dst, "\uFFFD"...)
	}
	return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
}

// object appends a JSON object member by member. Members whose value is unknown (blank, nil) are left out, never null.
type object struct {
	buf   []byte
	begun bool
}

func (o *object) key(name string) {
	c := byte(',')
	if !o.begun {
		c, o.begun = '{', true
	}
	o.buf = append(o.buf, c, '"')
	o.buf = append(o.buf, name...)
	o.buf = append(o.buf, '"', ':')
}

func (o *object) text(name, value string) {
	if value != "" {
		o.key(name)
		o.buf = AppendString(o.buf, value)
	}
}

func (o *object) integer(name string, value int64) {
	o.key(name)
	o.buf = strconv.AppendInt(o.buf, value, 10)
}

func (o *object) figure(name string, value *int64) {
	if value != nil {
		o.integer(name, *value)
	}
}

func (o *object) boolean(name string, value bool) {
	o.key(name)
	o.buf = strconv.AppendBool(o.buf, value)
}

// mark writes a fact that is only told when it holds.
func (o *object) mark(name string, value bool) {
	if value {
		o.boolean(name, true)
	}
}

func (o *object) fact(name string, value *bool) {
	if value != nil {
		o.boolean(name, *value)
	}
}

func (o *object) raw(name string, value []byte) {
	if value != nil {
		o.key(name)
		o.buf = append(o.buf, value...)
	}
}

func (o *object) texts(name string, values []string) {
	if len(values) == 0 {
		return
	}
	o.key(name)
	o.buf = append(o.buf, '[')
	for i, v := range values {
		if i > 0 {
			o.buf = append(o.buf, ',')
		}
		o.buf = AppendString(o.buf, v)
	}
	o.buf = append(o.buf, ']')
}

func (o *object) done() []byte {
	if !o.begun {
		o.buf = append(o.buf, '{')
	}
	return append(o.buf, '}')
}

// literal writes a key that is already a string literal.
func (o *object) literal(key []byte) {
	c := byte(',')
	if !o.begun {
		c, o.begun = '{', true
	}
	o.buf = append(o.buf, c)
	o.buf = append(o.buf, key...)
	o.buf = append(o.buf, ':')
}
