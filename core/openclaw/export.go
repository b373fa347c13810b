package openclaw

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"cordboard/core"
)

// Export writes a generation as JSONL of version 3, a page of it at a time. Lines that were imported come out byte for byte as they were;
// a message of our own gets an envelope whose parent is the message before it, and a transcript that begins with one gets a header. A
// generation that is not there is CodeNotFound.
func Export(ctx context.Context, store core.Store, w io.Writer, generation string) error {
	e := exporter{w: w}
	opts := Options{}.withDefaults()
	for {
		var page []core.Message
		err := store.View(ctx, func(r core.Reader) error {
			g, ok, err := r.Generation(generation)
			if err != nil {
				return err
			}
			if !ok {
				return core.Errorf(core.CodeNotFound, "there is no transcript %q", generation)
			}
			e.generation = g
			page, err = copyMessages(r, generation, e.seq, opts)
			return err
		})
		if err != nil || len(page) == 0 {
			return err
		}
		if err := e.page(page); err != nil {
			return err
		}
	}
}

// exporter remembers between two pages where it is.
type exporter struct {
	w          io.Writer
	generation core.Generation
	seq        uint64 // of the last line written, 0 = none
	parent     string // id of the last line that had one
}

func (e *exporter) page(messages []core.Message) error {
	var out bytes.Buffer
	for i := range messages {
		m := &messages[i]
		if e.seq == 0 && own(m) {
			e.header(&out, m)
		}
		e.line(&out, m)
		e.seq = m.Seq
	}
	_, err := e.w.Write(out.Bytes())
	return err
}

// own reports whether a message has no line it came from.
func own(m *core.Message) bool {
	return m.Role != core.RoleEvent && len(m.Before) == 0 && len(m.After) == 0
}

func (e *exporter) line(out *bytes.Buffer, m *core.Message) {
	start := out.Len()
	if own(m) {
		id := fmt.Sprintf("%08x", m.Seq)
		fmt.Fprintf(out, `{"type":"message","id":"%s","parentId":%s,"timestamp":"%s","message":%s}`, id, e.parentLiteral(), iso(m.At), m.Raw)
		e.parent = id
	} else {
		out.Write(m.Before)
		out.Write(m.Raw)
		out.Write(m.After)
		e.follow(bytes.Trim(out.Bytes()[start:], "\x00\xef\xbb\xbf"))
	}
	out.WriteByte('\n')
}

// follow remembers the id of a line that others may have as their parent: any but a session header.
func (e *exporter) follow(line []byte) {
	kind, _ := core.Field(line, "type")
	if name, _ := core.Unquote(kind); name == "session" {
		return
	}
	if id, ok := core.Field(line, "id"); ok {
		e.parent, _ = core.Unquote(id)
	}
}

func (e *exporter) parentLiteral() string {
	if e.parent == "" {
		return "null"
	}
	return literal(e.parent)
}

func (e *exporter) header(out *bytes.Buffer, m *core.Message) {
	at := e.generation.CreatedAt
	if at == 0 {
		at = m.At
	}
	fmt.Fprintf(out, `{"type":"session","version":3,"id":%s,"timestamp":"%s","cwd":""}`+"\n", literal(e.generation.SessionID), iso(at))
}

func iso(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z") }

func literal(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		return `""` // a string always marshals
	}
	return string(text)
}
