package openclaw

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"

	"cordboard/core"
)

// maxEntry is the largest value of one member that is taken over, in bytes.
const maxEntry = 64 << 20

// member is one member of a large JSON object whose values are objects. Raw is valid until the next call. Reason, when not "", says why
// the value cannot be used; raw is then nil.
type member struct {
	key    string
	raw    []byte
	offset int64 // of raw in the stream
	line   int   // of the key
	same   bool  // these bytes are known, so that they were not looked at
	reason string
}

// objectReader walks the members of one large JSON object without holding it: a sessions.json may have hundreds of megabytes and be
// cut off anywhere. It keeps going behind a member that is broken: where every member stands on a line of its own, the next line with
// the members' indentation begins the next one.
type objectReader struct {
	src    *bufio.Reader
	again  []byte // taken back, to be read before src
	pos    int    // in again
	offset int64
	line   int
	buf    []byte // the value being read
	limit  int
	opened bool
	nested bool                              // the object is a member of another
	start  []byte                            // what stands before a member's key: line break, indentation, quote; nil when members share lines
	hurt   bool                              // something was broken: what is indented deeper than members are is part of a member that lost its beginning
	lost   bool                              // something was broken, and where the next member begins is not known
	same   func(key string, raw []byte) bool // the bytes are known to be an object; nil: none are
	fresh  bool                              // the last gap held a line break,
	indent []byte                            // and this behind it
}

var (
	errNoObject = errors.New("is not a JSON object")
	errCutOff   = errors.New("ends before its closing brace: it was cut off when it was written")
	errLost     = errors.New("cannot be read any further: its members do not stand on lines of their own")
	errNotJSON  = errors.New("is not JSON")
	errTooLarge = errors.New("is longer than 64 MiB")
)

func newObjectReader(r io.Reader) *objectReader {
	return &objectReader{src: bufio.NewReaderSize(r, 256<<10), line: 1, limit: maxEntry}
}

// next returns the next member; io.EOF behind the last, errCutOff when the object does not end, errNoObject when it does not begin and
// errLost when what follows a broken member cannot be told apart.
func (o *objectReader) next() (member, error) {
	if err := o.open(); err != nil {
		return member{}, err
	}
	if o.lost {
		return member{}, errLost
	}
	o.fresh = false
	c, err := o.gap()
	for err == nil && c == ',' {
		c, err = o.gap()
	}
	switch {
	case err == io.EOF:
		return member{}, errCutOff
	case err != nil:
		return member{}, err
	case c == '}':
		return o.end()
	}
	o.unread()
	return o.member()
}

// end looks whether the closing brace is the last one.
func (o *objectReader) end() (member, error) {
	if o.nested {
		return member{}, io.EOF
	}
	m := member{line: o.line}
	if _, err := o.gap(); err != nil {
		return member{}, err
	}
	o.unread()
	o.buf, o.lost = o.buf[:0], o.start == nil
	m, err := o.broken(m, errNotJSON)
	m.reason = "a closing brace stands before the end of the file"
	return m, err
}

// into goes on with the members of the member of that name, instead of with those of the object itself. io.EOF when there is none.
func (o *objectReader) into(name string) error {
	if err := o.open(); err != nil {
		return err
	}
	for {
		if c, err := o.gap(); err != nil || c == '}' {
			return io.EOF
		} else if c != ',' {
			o.unread()
		}
		key, _, err := o.key()
		if err != nil {
			return err
		}
		if key == name {
			o.opened, o.nested = false, true
			return o.open()
		}
		if _, err := o.value(); err != nil && err != errTooLarge {
			return err
		}
	}
}

func (o *objectReader) open() error {
	if o.opened {
		return nil
	}
	o.opened = true
	if head, err := o.src.Peek(len(byteOrderMark)); o.offset == 0 && err == nil && bytes.Equal(head, byteOrderMark) {
		n, _ := o.src.Discard(len(byteOrderMark))
		o.offset = int64(n)
	}
	c, err := o.gap()
	if err == io.EOF || err == nil && c != '{' {
		return errNoObject
	}
	o.start = o.memberStart()
	return err
}

// memberStart finds the members' indentation: the smallest that a line with a key has from here on, of those that are larger than that of
// the object. nil when there is none.
func (o *objectReader) memberStart() (start []byte) {
	than := -1
	if o.nested {
		than = len(o.indent)
	}
	ahead, _ := o.src.Peek(o.src.Size()) // less at the end of the file
	for {
		i := bytes.IndexByte(ahead, '\n')
		if i < 0 {
			return start
		}
		ahead = ahead[i+1:]
		n := len(ahead) - len(bytes.TrimLeft(ahead, " \t"))
		if n > than && n < len(ahead) && ahead[n] == '"' && (start == nil || n < len(start)-2) {
			start = append(append([]byte{'\n'}, ahead[:n]...), '"')
		}
	}
}

func (o *objectReader) member() (member, error) {
	m := member{line: o.line}
	if o.hurt && o.fresh && o.start != nil && len(o.indent) > len(o.start)-2 {
		o.buf = o.buf[:0]
		m, err := o.broken(m, errNotJSON)
		m.reason = "belongs to an entry whose beginning is broken"
		return m, err
	}
	var err error
	exact := false
	if m.key, exact, err = o.key(); err != nil {
		o.lost = o.start == nil
		return o.broken(m, err)
	}
	raw, err := o.value()
	if err != nil {
		o.lost = o.start == nil && err != errTooLarge
		return o.broken(m, err)
	}
	if raw[0] != '{' {
		m.reason, o.hurt = "its value is not an object", true
		return m, nil
	}
	m.same = o.same != nil && o.same(m.key, raw)
	if !m.same {
		_, _, _, err = core.Inspect(raw)
	}
	if err != nil || o.swallows(raw) {
		m.same = false
		return o.broken(m, errNotJSON)
	}
	if !exact {
		m.reason, m.same = "its key is not Unicode text: others may look the same", false
		return m, nil
	}
	m.raw, m.offset = raw, o.offset-int64(len(raw))
	return m, nil
}

// swallows reports whether a value lacks its own closing brace and so took the members behind it and a brace of someone else's.
func (o *objectReader) swallows(raw []byte) bool {
	if o.start == nil || !bytes.Contains(raw, o.start) {
		return false
	}
	closing := raw[bytes.LastIndexByte(raw, '\n')+1 : len(raw)-1]
	return !bytes.Equal(closing, o.start[1:len(o.start)-1])
}

// key reads a key and the colon behind it. exact=false for one that is not UTF-8, or holds half of a surrogate pair: what is returned then
// holds replacement characters instead, which another key may hold in the same place.
func (o *objectReader) key() (key string, exact bool, err error) {
	literal, err := o.value()
	if err != nil {
		return "", false, err
	}
	key, ok := core.Unquote(literal)
	if !ok {
		return "", false, errNotJSON
	}
	exact = strings.Count(key, "\ufffd") == bytes.Count(literal, []byte("\ufffd"))+bytes.Count(bytes.ToLower(literal), []byte(`\ufffd`))
	c, err := o.gap()
	if err == nil && c != ':' {
		o.unread()
		err = errNotJSON
	}
	return key, exact, err
}

// broken says why a member cannot be used and goes on at the next one: at the first line of what was read for it that can begin a
// member, or on in the stream. Behind a value whose brackets match it stays where it is.
func (o *objectReader) broken(m member, err error) (member, error) {
	o.hurt = true
	switch err {
	case errNotJSON:
		m.reason = "its value is not JSON"
	case io.EOF:
		m.reason = "its value is cut off"
	case errTooLarge:
		m.reason = "its value is longer than 64 MiB"
	default:
		return m, err
	}
	if o.start == nil {
		return m, nil
	}
	if i := bytes.Index(o.buf, o.start); i >= 0 {
		o.takeBack(o.buf[i:])
		return m, nil
	}
	return m, o.seek()
}

func (o *objectReader) takeBack(b []byte) {
	o.again, o.pos = append(bytes.Clone(b), o.again[o.pos:]...), 0
	o.offset -= int64(len(b))
	o.line -= bytes.Count(b, []byte{'\n'})
}

// seek reads on to the next line that begins a member.
func (o *objectReader) seek() error {
	for matched := 0; matched < len(o.start); {
		c, err := o.byte()
		if err == io.EOF {
			return nil // the next call tells that the object does not end
		}
		if err != nil {
			return err
		}
		switch c {
		case o.start[matched]:
			matched++
		case '\n':
			matched = 1
		default:
			matched = 0
		}
	}
	o.takeBack(o.start)
	return nil
}

// value reads one value and leaves it in buf. It only finds the end, by strings and brackets; a line break inside a string is errNotJSON.
// A value over the limit is errTooLarge: where members share lines all of it was read, else what was read may hold the next member.
func (o *objectReader) value() ([]byte, error) {
	o.buf = o.buf[:0]
	c, err := o.gap()
	if err != nil {
		return nil, err
	}
	o.unread()
	if c != '"' && c != '{' && c != '[' {
		return o.word()
	}
	depth, inString, large := 0, false, false
	for {
		c, err := o.byte()
		if err != nil {
			return nil, err
		}
		o.buf = append(o.buf, c)
		switch {
		case c == '\n' && inString:
			return nil, errNotJSON
		case c == '\\' && inString:
			if c, err = o.byte(); err != nil {
				return nil, err
			}
			o.buf = append(o.buf, c)
			continue
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		}
		if len(o.buf) > o.limit {
			if o.start != nil {
				return nil, errTooLarge
			}
			large, o.buf = true, o.buf[:0]
		}
		if depth == 0 && !inString {
			if large {
				return nil, errTooLarge
			}
			return o.buf, nil
		}
	}
}

// word reads a number, true, false, null or what stands in their place.
func (o *objectReader) word() ([]byte, error) {
	for {
		c, err := o.byte()
		if err == io.EOF && len(o.buf) > 0 {
			return o.buf, nil
		}
		if err != nil {
			return nil, err
		}
		if isSpace(c) || bytes.IndexByte([]byte(`,:{}[]"`), c) >= 0 {
			o.unread()
			if len(o.buf) == 0 {
				return nil, errNotJSON
			}
			return o.buf, nil
		}
		o.buf = append(o.buf, c)
	}
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// gap skips white space and returns the byte that follows.
func (o *objectReader) gap() (byte, error) {
	for {
		c, err := o.byte()
		switch {
		case err != nil || !isSpace(c):
			return c, err
		case c == '\n':
			o.fresh, o.indent = true, o.indent[:0]
		default:
			o.indent = append(o.indent, c)
		}
	}
}

func (o *objectReader) byte() (c byte, err error) {
	if o.pos < len(o.again) {
		c = o.again[o.pos]
		o.pos++
	} else {
		if c, err = o.src.ReadByte(); err != nil {
			return 0, err
		}
		o.again, o.pos = o.again[:0], 0
	}
	o.offset++
	if c == '\n' {
		o.line++
	}
	return c, nil
}

// unread takes back the byte that was read last; it is no line break.
func (o *objectReader) unread() {
	o.offset--
	if o.pos > 0 {
		o.pos--
		return
	}
	_ = o.src.UnreadByte() // fails only where nothing was read
}
