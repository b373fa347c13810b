package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"cordboard/core"
)

// TextChars is how many characters (runes) of a text a session gets; CutMark then stands for the rest (session-tools.md §5).
const (
	TextChars = 4000
	CutMark   = "\n…(truncated)…"
)

// bounder makes of messages what a session is given of them. It never changes what it reads: a message that needs nothing is handed on as
// it is, one that does is written anew, with every part that is untouched byte for byte in its place.
type bounder struct {
	mask      *Redactor // nil = mask nothing
	truncated bool      // something of a message was left out
	redacted  bool      // something was masked
	omitted   bool      // a message was replaced by a placeholder
}

// newest bounds the newest of the messages that fit into ArrayBytes, and returns them with the size of their array.
func (b *bounder) newest(messages []core.Message) ([]json.RawMessage, int) {
	told := *b
	items, size := Cap(len(messages), ArrayBytes, func(i int) json.RawMessage {
		told = *b // what is known before the message that may turn out not to fit
		return b.message(messages[i].Raw)
	})
	if len(items) < len(messages) {
		*b = told
	}
	if size <= ArrayBytes {
		return items, size
	}
	b.omitted = true
	only := placeholder(&messages[len(messages)-1])
	return []json.RawMessage{only}, len(only) + len("[]")
}

// placeholder stands for a message that is too large even when it is alone.
func placeholder(m *core.Message) json.RawMessage {
	var block object
	block.text("type", "text")
	block.text("text", fmt.Sprintf("[message omitted: %d bytes]", len(m.Raw)))
	var o object
	o.text("role", m.Role.String())
	o.raw("content", appendArray(nil, []json.RawMessage{block.done()}))
	if m.At != 0 {
		o.integer("timestamp", m.At)
	}
	return o.done()
}

// leftOut reports whether a session never gets a member of a message or of one of its blocks: bulk and figures that say nothing to it.
func leftOut(m core.Member) bool {
	for _, name := range [...]string{"details", "usage", "cost", "thinkingSignature", "textSignature", "thoughtSignature"} {
		if m.Named(name) {
			return true
		}
	}
	return false
}

func (b *bounder) message(raw json.RawMessage) json.RawMessage {
	if !utf8.Valid(raw) {
		raw = bytes.ToValidUTF8(raw, []byte("\uFFFD"))
	}
	return b.object(raw, func(m core.Member) json.RawMessage {
		if m.Named("content") && m.Value[0] == '[' {
			return b.content(m.Value)
		}
		return b.value(m)
	})
}

// object rewrites the members of a message or block by what value returns, without those that are left out.
func (b *bounder) object(raw json.RawMessage, value func(core.Member) json.RawMessage) json.RawMessage {
	o := object{buf: make([]byte, 0, len(raw))}
	changed := false
	for m := range core.Members(raw) {
		if leftOut(m) {
			changed, b.truncated = true, true
			continue
		}
		after := value(m)
		changed = changed || len(after) != len(m.Value) || &after[0] != &m.Value[0]
		o.literal(m.Key)
		o.buf = append(o.buf, after...)
	}
	if !changed {
		return raw
	}
	return o.done()
}

// content rewrites an array of blocks.
func (b *bounder) content(raw json.RawMessage) json.RawMessage {
	var blocks []json.RawMessage
	changed := false
	for element := range core.Elements(raw) {
		after := b.block(element)
		changed = changed || len(after) != len(element) || &after[0] != &element[0]
		blocks = append(blocks, after)
	}
	if !changed {
		return raw
	}
	return appendArray(make([]byte, 0, len(raw)), blocks)
}

func (b *bounder) block(raw json.RawMessage) json.RawMessage {
	if raw[0] != '{' {
		return b.value(core.Member{Value: raw})
	}
	if kind, _ := core.Field(raw, "type"); string(kind) == `"image"` {
		if data, ok := core.Field(raw, "data"); ok && data[0] == '"' {
			return b.image(raw, core.Base64Size(data))
		}
	}
	return b.object(raw, b.value)
}

// image rewrites an image block: the size of its bytes stands for them.
func (b *bounder) image(raw json.RawMessage, size int) json.RawMessage {
	var o object
	for m := range core.Members(raw) {
		if m.Named("data") || m.Named("bytes") || m.Named("omitted") || leftOut(m) {
			continue
		}
		o.literal(m.Key)
		o.buf = append(o.buf, b.value(m)...)
	}
	o.integer("bytes", int64(size))
	o.boolean("omitted", true)
	b.truncated = true
	return o.done()
}

// value rewrites every string inside a member's value, however deep, in one pass: masked first, so that a cut never leaves half of a
// credential unrecognised, then cut.
func (b *bounder) value(m core.Member) json.RawMessage {
	return eachString(m, func(name, literal []byte) []byte {
		text, masked := literal, false
		if b.mask != nil {
			if text, masked = b.mask.maskLiteral(name, literal); masked {
				b.redacted = true
			}
		}
		if len(text) <= TextChars {
			return text
		}
		short, cut := cutText(text)
		b.truncated = b.truncated || cut
		return short
	})
}

// cutText cuts a string literal to TextChars characters.
func cutText(literal []byte) (short []byte, cut bool) {
	text, _ := core.Unquote(literal)
	count := 0
	for at := range text {
		if count++; count > TextChars {
			return AppendString(make([]byte, 0, at+len(CutMark)+2), text[:at]+CutMark), true
		}
	}
	return literal, false
}

// eachString returns a member's value with every string in it (keys are none) replaced by what rewrite makes of it. name is the literal
// of the key right before the string, nil in an array. Nothing else is touched, and a value without a change is returned itself.
func eachString(m core.Member, rewrite func(name, literal []byte) []byte) json.RawMessage {
	raw, name := m.Value, []byte(m.Key)
	var out []byte
	done := 0 // what of raw is in out
	for at := 0; ; {
		next := bytes.IndexByte(raw[at:], '"')
		if next < 0 {
			break
		}
		start := at + next
		if start > at {
			name = keyOver(name, raw[at:start])
		}
		at = start + literalLen(raw[start:])
		literal := raw[start:at]
		if isKey(raw[at:]) {
			name = literal
			continue
		}
		if after := rewrite(name, literal); &after[0] != &literal[0] || len(after) != len(literal) {
			out = append(out, raw[done:start]...)
			out = append(out, after...)
			done = at
		}
	}
	if done == 0 {
		return raw
	}
	return append(out, raw[done:]...)
}

// keyOver forgets a key once something other than its colon stands between it and the next string.
func keyOver(name, between []byte) []byte {
	for _, c := range between {
		if c != ':' && c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			return nil
		}
	}
	return name
}

func isKey(after []byte) bool {
	after = bytes.TrimLeft(after, " \t\r\n")
	return len(after) > 0 && after[0] == ':'
}

// literalLen is the length of the string literal that data starts with, quotes included.
func literalLen(data []byte) int {
	for at := 1; at < len(data); {
		next := bytes.IndexAny(data[at:], `"\`)
		if next < 0 {
			break
		}
		at += next
		if data[at] == '"' {
			return at + 1
		}
		at += 2
	}
	return len(data)
}
