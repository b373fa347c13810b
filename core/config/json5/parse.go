package json5

import (
	"bytes"
	"errors"
	"strconv"
)

// parser reads values, writing strict JSON and the tree of positions side by side.
type parser struct {
	scanner
	out   []byte
	path  []segment
	depth int
}

// segment is one step of the path to the value being read: a key, or an index when the key is nil.
type segment struct {
	key   *string
	index int
}

// Parse reads one JSON5 value. Every error is a *SyntaxError.
func Parse(src []byte) (*Document, error) {
	if err := checkUTF8(src); err != nil {
		return nil, err
	}
	p := &parser{scanner: scanner{src: bytes.TrimPrefix(src, []byte("\uFEFF")), pos: Pos{1, 1}}}
	root, err := p.document()
	if err != nil {
		if bad, ok := errors.AsType[*SyntaxError](err); ok {
			bad.Path = p.pathText()
		}
		return nil, err
	}
	return &Document{JSON: p.out, Root: root}, nil
}

func (p *parser) document() (*Value, error) {
	if err := p.space(); err != nil {
		return nil, err
	}
	if p.peek() == end {
		return nil, &SyntaxError{Pos: p.pos, Message: ErrEmpty.Error(), Err: ErrEmpty}
	}
	root, err := p.value()
	if err == nil {
		err = p.space()
	}
	if err == nil && p.peek() != end {
		err = fault(p.pos, "unexpected %s after the end of the value", p.found())
	}
	return root, err
}

func (p *parser) value() (*Value, error) {
	switch r := p.peek(); {
	case r == '{', r == '[':
		if p.depth == MaxDepth {
			return nil, fault(p.pos, "lists and objects nest too deep: %d levels at most", MaxDepth)
		}
		p.depth++
		defer func() { p.depth-- }()
		if r == '{' {
			return p.object()
		}
		return p.array()
	case r == '"', r == '\'':
		return p.scalar(String)
	case r == '-', r == '+', r == '.', r >= '0' && r <= '9', p.hasPrefix("Infinity"), p.hasPrefix("NaN"):
		return p.scalar(Number)
	}
	return p.word()
}

func (p *parser) scalar(kind Kind) (*Value, error) {
	v := &Value{Kind: kind, Pos: p.pos}
	var encoded []byte
	var err error
	if kind == String {
		v.Text, encoded, err = p.text()
	} else {
		v.Text, err = p.number()
		encoded = []byte(v.Text)
	}
	p.out = append(p.out, encoded...)
	return v, err
}

func (p *parser) word() (*Value, error) {
	v := &Value{Pos: p.pos}
	for word, kind := range map[string]Kind{"null": Null, "true": Bool, "false": Bool} {
		if p.hasPrefix(word) {
			for range word {
				p.next()
			}
			v.Kind, v.Text = kind, word
			p.out = append(p.out, word...)
			return v, p.wordEnd(v)
		}
	}
	return nil, fault(p.pos, "unexpected %s: a value was expected (text needs quotes)", p.found())
}

// wordEnd refuses nullx and the like at the word, not in its middle.
func (p *parser) wordEnd(v *Value) error {
	if r := p.peek(); r == '\\' || namePart(r) {
		return fault(v.Pos, "text needs quotes, except true, false and null")
	}
	return nil
}

func (p *parser) array() (*Value, error) {
	v := &Value{Kind: Array, Pos: p.pos}
	p.next()
	p.out = append(p.out, '[')
	p.path = append(p.path, segment{})
	for {
		if err := p.space(); err != nil {
			return nil, err
		}
		if p.take(']') {
			break
		}
		if len(v.Items) > 0 {
			p.out = append(p.out, ',')
		}
		p.path[len(p.path)-1].index = len(v.Items)
		item, err := p.value()
		if err != nil {
			return nil, err
		}
		v.Items = append(v.Items, item)
		if more, err := p.more(v, ']'); err != nil {
			return nil, err
		} else if !more {
			break
		}
	}
	p.path = p.path[:len(p.path)-1]
	p.out = append(p.out, ']')
	return v, nil
}

func (p *parser) object() (*Value, error) {
	v := &Value{Kind: Object, Pos: p.pos}
	p.next()
	p.out = append(p.out, '{')
	seen := map[string]Pos{}
	for {
		if err := p.space(); err != nil {
			return nil, err
		}
		if p.take('}') {
			break
		}
		if len(v.Members) > 0 {
			p.out = append(p.out, ',')
		}
		m, err := p.member(seen)
		if err != nil {
			return nil, err
		}
		v.Members = append(v.Members, m)
		if more, err := p.more(v, '}'); err != nil {
			return nil, err
		} else if !more {
			break
		}
	}
	p.out = append(p.out, '}')
	return v, nil
}

func (p *parser) member(seen map[string]Pos) (Member, error) {
	m := Member{Pos: p.pos}
	var encoded []byte
	var err error
	if r := p.peek(); r == '"' || r == '\'' {
		m.Name, encoded, err = p.text()
	} else {
		m.Name, encoded, err = p.name()
	}
	if err != nil {
		return m, err
	}
	p.path = append(p.path, segment{key: &m.Name})
	if first, twice := seen[string(encoded)]; twice {
		return m, fault(m.Pos, "the key %s is here twice: first at %v", shortened(m.Name), first)
	}
	seen[string(encoded)] = m.Pos
	if err := p.colon(); err != nil {
		return m, err
	}
	p.out = append(append(p.out, encoded...), ':')
	m.Value, err = p.value()
	if err == nil {
		p.path = p.path[:len(p.path)-1]
	}
	return m, err
}

// shortened is a key as an error shows it: quoted, a long one cut.
func shortened(key string) string {
	const longest = 40
	if runes := []rune(key); len(runes) > longest {
		key = string(runes[:longest]) + "…"
	}
	return strconv.Quote(key)
}

func (p *parser) colon() error {
	if err := p.space(); err != nil {
		return err
	}
	if !p.take(':') {
		return fault(p.pos, "unexpected %s: a colon was expected after the key", p.found())
	}
	return p.space()
}

// more takes the comma or the closing bracket after an item; with a comma there may be more.
func (p *parser) more(v *Value, closing rune) (bool, error) {
	if err := p.space(); err != nil {
		return false, err
	}
	switch {
	case p.take(','):
		return true, nil
	case p.take(closing):
		return false, nil
	case p.peek() == end:
		return false, fault(v.Pos, "the %v that starts here has no end: %c is missing", v.Kind, closing)
	}
	return false, fault(p.pos, "unexpected %s: a comma or %c was expected", p.found(), closing)
}

func (p *parser) pathText() string {
	path := ""
	for _, s := range p.path {
		if s.key != nil {
			path = Join(path, *s.key)
		} else {
			path = Index(path, s.index)
		}
	}
	return path
}
