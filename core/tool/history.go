package tool

import (
	"encoding/json"

	"cordboard/core"
)

// Page is what the engine read for sessions_history: the messages in transcript order, with tool results left out where they were not
// asked for and the limit applied.
type Page struct {
	SessionKey string // as the caller is shown it
	SessionID  string // of the transcript
	Generation string // its id, for the cursor
	Archived   bool   // it is not the session's current transcript, or the session is archived
	Messages   []core.Message
	More       bool // there are older ones
	Clamped    Clamped
}

// Operator writes the answer for the operator: every message byte for byte. With a Redactor (he asked for it) what looks like a credential
// is masked and contentRedacted says whether anything was; nil masks nothing. Bytes that are not UTF-8 stay as they are.
func (p *Page) Operator(mask *Redactor) json.RawMessage {
	items := make([]json.RawMessage, len(p.Messages))
	total, redacted := 0, false
	for i := range p.Messages {
		items[i] = p.Messages[i].Raw
		if mask != nil {
			masked, changed := mask.MaskJSON(items[i])
			items[i], redacted = masked, redacted || changed
		}
		total += len(items[i]) + 1
	}
	o := p.begin(items, total)
	if mask != nil {
		o.boolean("contentRedacted", redacted)
	}
	p.end(&o, items)
	return o.done()
}

// Session writes the answer for a session: at most ArrayBytes of messages, each bounded and, unless mask is nil, masked. The members
// truncated, droppedMessages, contentTruncated, contentRedacted and bytes tell what was done, also when nothing was.
func (p *Page) Session(mask *Redactor) json.RawMessage {
	b := bounder{mask: mask}
	items, size := b.newest(p.Messages)
	dropped := len(items) < len(p.Messages) || b.omitted
	o := p.begin(items, size)
	o.boolean("truncated", dropped || b.truncated)
	o.boolean("droppedMessages", dropped)
	o.boolean("contentTruncated", b.truncated)
	o.boolean("contentRedacted", b.redacted)
	o.integer("bytes", int64(size))
	p.end(&o, items)
	return o.done()
}

func (p *Page) begin(items []json.RawMessage, size int) object {
	const rest = 400
	o := object{buf: make([]byte, 0, size+rest)}
	o.text("sessionKey", p.SessionKey)
	o.text("sessionId", p.SessionID)
	o.mark("archived", p.Archived)
	o.key("messages")
	o.buf = appendArray(o.buf, items)
	return o
}

// end writes what follows the messages. The next page starts at the oldest message that is in this one.
func (p *Page) end(o *object, items []json.RawMessage) {
	if first := len(p.Messages) - len(items); len(items) > 0 && (p.More || first > 0) {
		o.text("nextBefore", HistoryCursor(Place{Generation: p.Generation, Seq: p.Messages[first].Seq}))
	}
	appendClamped(o, p.Clamped)
}

// Tail writes the messages of a row of sessions_list: what sessions_history would answer for them. Bounded is for a session; the operator
// gets them byte for byte.
func Tail(messages []core.Message, bounded bool, mask *Redactor) json.RawMessage {
	var items []json.RawMessage
	size := 0
	if bounded {
		b := bounder{mask: mask}
		items, size = b.newest(messages)
	} else {
		for i := range messages {
			items = append(items, messages[i].Raw)
			size += len(messages[i].Raw) + 1
		}
	}
	return appendArray(make([]byte, 0, size+2), items)
}

func appendArray(dst []byte, items []json.RawMessage) []byte {
	dst = append(dst, '[')
	for i, item := range items {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, item...)
	}
	return append(dst, ']')
}
