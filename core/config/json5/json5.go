// Package json5 reads JSON5 (https://spec.json5.org) and turns it into strict JSON, keeping where every key and value stood.
//
// It is stricter than the format in four places, because a configuration file is read by people: a key may appear once per object,
// nesting ends at MaxDepth, text must be UTF-8, and a number that JSON cannot hold (Infinity, NaN, 1e999) is refused.
package json5

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// MaxDepth is how deep lists and objects may nest.
const MaxDepth = 64

// ErrEmpty is the cause of Parse's error when the text holds nothing but white space and comments.
var ErrEmpty = errors.New("the text holds no value")

// Pos is a place in the text. Line and Col start at 1; Col counts runes, not bytes. The zero Pos is no place.
type Pos struct{ Line, Col int }

func (p Pos) String() string { return fmt.Sprintf("%d:%d", p.Line, p.Col) }

// Kind is the type of a value.
type Kind uint8

const (
	Null Kind = iota
	Bool
	Number
	String
	Array
	Object
)

func (k Kind) String() string {
	return [...]string{"null", "boolean", "number", "string", "list", "object"}[k]
}

// Value is one value of the text, with its parts in the order they were written.
type Value struct {
	Kind    Kind
	Pos     Pos      // of its first character
	Text    string   // String: decoded; Number: as strict JSON; Bool and Null: the word
	Members []Member // of an Object
	Items   []*Value // of an Array
}

// Member is one key of an object.
type Member struct {
	Name  string
	Pos   Pos // of the key
	Value *Value
}

// Document is a text that was read.
type Document struct {
	JSON []byte // the same value as strict JSON, without white space
	Root *Value
}

// SyntaxError is a text that is not JSON5, or not ours. It unwraps to ErrEmpty when there was no value at all.
type SyntaxError struct {
	Pos     Pos
	Path    string // the value or key that was being read, "" at the top
	Message string
	Err     error
}

func (e *SyntaxError) Error() string { return e.Pos.String() + ": " + e.Message }
func (e *SyntaxError) Unwrap() error { return e.Err }

// Place is what a path leads to: a value and, unless it is the root or a list item, its key.
type Place struct {
	Key   Pos
	Value *Value
}

// Pos is the place to show a person: of the key if there is one, else of the value.
func (p Place) Pos() Pos {
	if p.Key != (Pos{}) {
		return p.Key
	}
	return p.Value.Pos
}

// Find follows a path such as `session.sendPolicy.rules[0].match` as far as the document goes. It returns the place it reached and
// what is left of the path; "" means that the path itself was found.
func (d *Document) Find(path string) (Place, string) {
	at, rest := Place{Value: d.Root}, path
	for rest != "" {
		next, tail, ok := step(at.Value, rest)
		if !ok {
			return at, rest
		}
		at, rest = next, tail
	}
	return at, ""
}

func step(v *Value, path string) (Place, string, bool) {
	if i, tail, ok := cutIndex(path); ok && i < len(v.Items) {
		return Place{Value: v.Items[i]}, tail, true
	}
	for _, m := range v.Members {
		if tail, ok := cutSegment(path, Join("", m.Name)); ok {
			return Place{Key: m.Pos, Value: m.Value}, tail, true
		}
	}
	return Place{}, path, false
}

func cutIndex(path string) (i int, tail string, ok bool) {
	digits, tail, ok := strings.Cut(strings.TrimPrefix(path, "["), "]")
	i, err := strconv.Atoi(digits)
	if !ok || err != nil || path[0] != '[' || i < 0 {
		return 0, path, false
	}
	return i, strings.TrimPrefix(tail, "."), true
}

func cutSegment(path, segment string) (tail string, ok bool) {
	tail, ok = strings.CutPrefix(path, segment)
	switch {
	case !ok:
		return path, false
	case tail == "" || tail[0] == '[':
		return tail, true
	case tail[0] == '.':
		return tail[1:], true
	}
	return path, false
}

// Join is the path of a key of the object at path. A key that is not a plain name is quoted in brackets: `providers["a.b"]`.
func Join(path, key string) string {
	switch {
	case !plain(key):
		return path + "[" + strconv.Quote(key) + "]"
	case path == "":
		return key
	}
	return path + "." + key
}

// Index is the path of item i of the list at path.
func Index(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }

func plain(key string) bool {
	for _, c := range []byte(key) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '-', c == '$':
		default:
			return false
		}
	}
	return key != ""
}
