package board

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"cordboard/core"
	"cordboard/core/gateway/wire"
)

// What the methods take and answer where that is not the Board's own type, or where its bytes must not pass through encoding/json, which
// would write them in its own way.

type watchAnswer struct {
	Stream uint64      `json:"stream"`
	From   core.Cursor `json:"from"`
}

type streamParams struct {
	Stream uint64 `json:"stream"`
}

type focusParams struct {
	Stream   uint64   `json:"stream"`
	Sessions []string `json:"sessions"`
}

// callParams are a ToolCall. Params that are no JSON go as bytes: what is wrong with them is for the tool to say.
type callParams struct {
	As     string          `json:"as,omitempty"`
	Tool   string          `json:"tool"`
	Key    string          `json:"key,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Bytes  []byte          `json:"bytes,omitempty"`
}

func appendCall(c core.ToolCall) ([]byte, error) {
	p := callParams{As: c.As, Tool: c.Tool, Key: c.Key}
	if !json.Valid(c.Params) || !utf8.Valid(c.Params) {
		p.Bytes = c.Params
		return wire.Marshal(p)
	}
	out, err := wire.Marshal(p)
	return spliceLast(out, "params", c.Params), err
}

func (p callParams) call() core.ToolCall {
	c := core.ToolCall{As: p.As, Tool: p.Tool, Key: p.Key, Params: p.Params}
	if p.Bytes != nil {
		c.Params = p.Bytes
	}
	return c
}

// doParams are a Command. A text that is not UTF-8 goes as bytes: it is for the engine to refuse it.
type doParams struct {
	core.Command
	Bytes []byte `json:"bytes,omitempty"`
}

func doParamsOf(c core.Command) doParams {
	p := doParams{Command: c}
	switch {
	case c.Send != nil:
		copied := *c.Send
		p.Send = &copied
	case c.Reply != nil:
		copied := *c.Reply
		p.Reply = &copied
	case c.Inbound != nil:
		copied := *c.Inbound
		p.Inbound = &copied
	}
	if text := p.text(); text != nil && !utf8.ValidString(*text) {
		p.Bytes, *text = []byte(*text), ""
	}
	return p
}

// text is what a command says, nil for one that says nothing.
func (p *doParams) text() *string {
	switch {
	case p.Send != nil:
		return &p.Send.Message
	case p.Reply != nil:
		return &p.Reply.Text
	case p.Inbound != nil:
		return &p.Inbound.Text
	}
	return nil
}

func (p doParams) command() core.Command {
	if text := p.text(); text != nil && p.Bytes != nil {
		*text = string(p.Bytes)
	}
	return p.Command
}

// spliceLast adds a member whose value is written as it is to an object that is not empty.
func spliceLast(object []byte, name string, raw []byte) []byte {
	object = append(object[:len(object)-1], `,"`...)
	object = append(object, name...)
	object = append(object, `":`...)
	return append(append(object, raw...), '}')
}

var (
	bodyFirst   = []byte(`{"body":`)
	objectClose = []byte("}")
)

// appendResult writes {"body":…} for an answer; a refusal's body comes after what was refused.
func appendResult(out []byte, r core.ToolResult) ([]byte, error) {
	if r.Refused == nil {
		out = append(out, bodyFirst...)
		return append(append(out, bodyOr(r.Body)...), '}'), nil
	}
	out, err := wire.Append(out, struct {
		Refused *core.Error `json:"refused"`
	}{r.Refused})
	return spliceLast(out, "body", bodyOr(r.Body)), err
}

func bodyOr(body []byte) []byte {
	if len(body) == 0 {
		return []byte("null")
	}
	return body
}

func readResult(payload []byte) (r core.ToolResult, err error) {
	if body, ok := bytes.CutPrefix(payload, bodyFirst); ok {
		r.Body = bytes.TrimSuffix(body, objectClose)
		return r, nil
	}
	return r, json.Unmarshal(payload, &r)
}

// appendMessages writes a page with its messages last, each Raw as it is.
func appendMessages(out []byte, page core.MessagePage) ([]byte, error) {
	messages := page.Messages
	page.Messages = nil
	head, err := wire.Marshal(struct {
		core.MessagePage
		Messages any `json:"messages,omitempty"` // hides the page's own
	}{MessagePage: page})
	if err != nil {
		return out, err
	}
	out = append(out, head[:len(head)-1]...)
	if messages == nil {
		return append(out, `,"messages":null}`...), nil
	}
	out = append(out, `,"messages":[`...)
	for i := range messages {
		if i > 0 {
			out = append(out, ',')
		}
		m := messages[i]
		raw := m.Raw
		m.Raw = nil
		head, err := wire.Marshal(struct {
			core.Message
			Raw any `json:"raw,omitempty"`
		}{Message: m})
		if err != nil {
			return out, err
		}
		out = append(out, spliceLast(head, "raw", bodyOr(raw))...)
	}
	return append(out, "]}"...), nil
}

// recordAnswer is a RecordPage with a session's entry beside it, as it is.
type recordAnswer struct {
	Page  core.RecordPage `json:"page"`
	Entry json.RawMessage `json:"entry,omitempty"`
}

func appendRecords(out []byte, page core.RecordPage) ([]byte, error) {
	var entry json.RawMessage
	if page.Session != nil {
		detail := *page.Session
		entry, detail.Entry = detail.Entry, nil
		page.Session = &detail
	}
	start := len(out)
	out, err := wire.Append(out, recordAnswer{Page: page})
	if err != nil || len(entry) == 0 {
		return out, err
	}
	return append(out[:start], spliceLast(out[start:], "entry", entry)...), nil
}

func (a recordAnswer) page() core.RecordPage {
	if a.Page.Session != nil {
		a.Page.Session.Entry = a.Entry
	}
	return a.Page
}
