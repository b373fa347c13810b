package core

import (
	"encoding/json"
	"iter"
	"math"
	"strconv"
	"time"
	"unicode/utf8"
)

// Inspect reads what a Message keeps beside its JSON: the role, the flags and the time (ms, 0 = it names none) of a message object. It
// validates as it goes, one pass and no allocation: an error means that raw is not one JSON object, and there is no other. Of duplicate
// keys the last counts; a role that is missing or no string is RoleOther; a timestamp may be a number of ms or an RFC 3339 string.
func Inspect(raw []byte) (role Role, flags MessageFlags, at int64, err error) {
	in := inspection{scanner: scanner{data: raw}, role: RoleOther}
	if !in.object(in.member) || in.next() != 0 || in.pos != len(raw) {
		return RoleOther, 0, 0, Errorf(CodeInvalidParams, "a message must be one JSON object, and this is not at byte %d of %d", in.pos, len(raw))
	}
	flags = in.blocks | in.provenance | in.stop
	if in.isError && in.role == RoleToolResult {
		flags |= MessageError
	}
	if !utf8.Valid(raw) {
		flags |= MessageInvalidUTF8
	}
	return in.role, flags, in.at, nil
}

// inspection gathers what Inspect tells; every field is set anew by a later duplicate of its key.
type inspection struct {
	scanner
	role                     Role
	at                       int64
	blocks, provenance, stop MessageFlags
	isError                  bool
}

func (in *inspection) member(key []byte) bool {
	switch {
	case literalIs(key, "content"):
		return in.content()
	case literalIs(key, "provenance"):
		return in.source()
	}
	value, ok := in.span()
	switch {
	case !ok:
		return false
	case literalIs(key, "role"):
		in.role = roleOf(value)
	case literalIs(key, "timestamp"):
		in.at = timeOf(value)
	case literalIs(key, "stopReason"):
		in.stop = 0
		if literalIs(value, "error") {
			in.stop = MessageError
		} else if literalIs(value, "aborted") {
			in.stop = MessageAborted
		}
	case literalIs(key, "isError"):
		in.isError = string(value) == "true"
	}
	return true
}

// roleOf is RoleOf for a name as it is written in JSON, without making a string of it.
func roleOf(literal []byte) Role {
	for _, name := range [...]string{"user", "assistant", "toolResult", "tool", "system"} {
		if literalIs(literal, name) {
			return RoleOf(name)
		}
	}
	return RoleOther
}

func (in *inspection) content() bool {
	in.blocks = 0
	if in.next() != '[' {
		return in.value()
	}
	return in.array(in.block)
}

func (in *inspection) block() bool {
	if in.next() != '{' {
		return in.value()
	}
	var kind MessageFlags
	ok := in.object(func(key []byte) bool {
		if !literalIs(key, "type") {
			return in.value()
		}
		value, ok := in.span()
		kind = 0
		if literalIs(value, "toolCall") {
			kind = MessageToolCalls
		} else if literalIs(value, "thinking") {
			kind = MessageThinking
		}
		return ok
	})
	in.blocks |= kind
	return ok
}

func (in *inspection) source() bool {
	in.provenance = 0
	if in.next() != '{' {
		return in.value()
	}
	return in.object(func(key []byte) bool {
		value, ok := in.span()
		if literalIs(key, "kind") {
			in.provenance = 0
			if literalIs(value, "inter_session") {
				in.provenance = MessageInterSession
			}
		}
		return ok
	})
}

// maxTime is the last millisecond a date of the field's own tools can name.
const maxTime = 8_640_000_000_000_000

// timeOf reads a timestamp value; 0 for what is no time after 1970.
func timeOf(value []byte) int64 {
	if text, ok := Unquote(value); ok {
		t, err := time.Parse(time.RFC3339Nano, text)
		if err != nil {
			return 0
		}
		return timeInRange(float64(t.UnixMilli()))
	}
	ms, err := strconv.ParseFloat(string(value), 64)
	if err != nil {
		return 0
	}
	return timeInRange(ms)
}

func timeInRange(ms float64) int64 {
	if !(ms >= 1 && ms <= maxTime) {
		return 0
	}
	return int64(math.Floor(ms))
}

// Block is one piece of a message's content. A content that is a plain string is one block of type text.
type Block struct {
	Type      string          // text | thinking | toolCall | image | any other
	Text      string          // of text and thinking
	Name, ID  string          // of a toolCall
	Arguments json.RawMessage // of a toolCall, as written
	MimeType  string          // of an image
	Bytes     int             // size of an image once decoded; 0 when its data is elsewhere
	Raw       json.RawMessage // the block as written
}

// Blocks walks the content of a message object in order. It stops where raw is not JSON.
func Blocks(raw []byte) iter.Seq[Block] {
	return func(yield func(Block) bool) {
		content, _ := Field(raw, "content")
		if text, ok := Unquote(content); ok {
			yield(Block{Type: "text", Text: text, Raw: content})
			return
		}
		for element := range Elements(content) {
			if !yield(blockOf(element)) {
				return
			}
		}
	}
}

func blockOf(element json.RawMessage) Block {
	b := Block{Raw: element}
	if text, ok := Unquote(element); ok {
		b.Type, b.Text = "text", text
		return b
	}
	var text, thinking string
	for m := range Members(element) {
		switch {
		case m.Named("type"):
			b.Type, _ = Unquote(m.Value)
		case m.Named("text"):
			text, _ = Unquote(m.Value)
		case m.Named("thinking"):
			thinking, _ = Unquote(m.Value)
		case m.Named("name"):
			b.Name, _ = Unquote(m.Value)
		case m.Named("id"):
			b.ID, _ = Unquote(m.Value)
		case m.Named("arguments"):
			b.Arguments = m.Value
		case m.Named("mimeType"):
			b.MimeType, _ = Unquote(m.Value)
		case m.Named("data"):
			b.Bytes = Base64Size(m.Value)
		}
	}
	b.Text = text
	if b.Type == "thinking" {
		b.Text = thinking
	}
	return b
}

// Base64Size returns how many bytes a JSON string literal of base64 stands for, padded or not; 0 when it is no string.
func Base64Size(literal []byte) int {
	if len(literal) < 2 || literal[0] != '"' {
		return 0
	}
	n := len(literal) - 2
	for n > 0 && literal[n] == '=' {
		n--
	}
	return n * 3 / 4
}
