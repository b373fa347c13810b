package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"unicode/utf8"

	"github.com/coder/websocket"

	"cordboard/core"
)

// Limits of what a client may send, in bytes of one frame (gateway.md §2).
const (
	HelloLimit = 64 << 10
	FrameLimit = 25 << 20
)

type frameType string

const (
	typeRequest  frameType = "req"
	typeResponse frameType = "res"
	typeEvent    frameType = "event"
	typeCancel   frameType = "cancel"
)

// frame is one message. Body is params or payload, as it is written.
type frame struct {
	Type   frameType
	ID     uint64
	Method string
	OK     bool
	Body   json.RawMessage
	Error  *core.Error
}

func appendHead(out []byte, t frameType, id uint64) []byte {
	out = append(out, `{"type":"`...)
	out = append(out, t...)
	out = append(out, `","id":`...)
	return strconv.AppendUint(out, id, 10)
}

func appendRequest(out []byte, id uint64, method string, params []byte) []byte {
	out = append(appendHead(out, typeRequest, id), `,"method":"`...)
	out = append(out, method...)
	out = append(out, `","params":`...)
	out = append(out, params...)
	return append(out, '}')
}

func appendCancel(out []byte, id uint64) []byte { return append(appendHead(out, typeCancel, id), '}') }

func appendEvent(out []byte, id uint64, payload []byte) []byte {
	out = append(appendHead(out, typeEvent, id), `,"payload":`...)
	return append(append(out, payload...), '}')
}

// appendAnswer begins a response: the payload and a closing brace follow.
func appendAnswer(out []byte, id uint64) []byte {
	return append(appendHead(out, typeResponse, id), `,"ok":true,"payload":`...)
}

func appendFailure(out []byte, id uint64, e *core.Error) []byte {
	out = append(appendHead(out, typeResponse, id), `,"ok":false,"error":`...)
	text, err := Marshal(e)
	if err != nil {
		text = []byte(`{"code":"internal","error":"the error cannot be told"}`)
	}
	return append(append(out, text...), '}')
}

// Marshal writes v as JSON whose text is as it is stored: nothing is escaped for HTML.
func Marshal(v any) ([]byte, error) { return Append(nil, v) }

// Append is Marshal to the end of out.
func Append(out []byte, v any) ([]byte, error) {
	buffer := bytes.NewBuffer(out)
	enc := json.NewEncoder(buffer)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return out, err
	}
	return bytes.TrimSuffix(buffer.Bytes(), []byte("\n")), nil
}

// messageType is text, as long as the bytes are.
func messageType(data []byte) websocket.MessageType {
	if utf8.Valid(data) {
		return websocket.MessageText
	}
	return websocket.MessageBinary
}

var errFrame = errors.New("not a frame")

// parse reads a frame. One that is laid out as the functions above do costs no walk over its body, whose reader finds what is wrong in it.
func parse(data []byte) (frame, error) {
	if f, ok := parseOwn(data); ok {
		return f, nil
	}
	var f struct {
		Type    frameType       `json:"type"`
		ID      *uint64         `json:"id"`
		Method  string          `json:"method"`
		OK      bool            `json:"ok"`
		Params  json.RawMessage `json:"params"`
		Payload json.RawMessage `json:"payload"`
		Error   *core.Error     `json:"error"`
	}
	if err := json.Unmarshal(data, &f); err != nil || f.ID == nil {
		return frame{}, errFrame
	}
	parsed := frame{Type: f.Type, ID: *f.ID, Method: f.Method, OK: f.OK, Error: f.Error, Body: f.Payload}
	switch f.Type {
	case typeRequest:
		parsed.Body = f.Params
		if f.Method == "" {
			return frame{}, errFrame
		}
	case typeResponse:
		if !f.OK && f.Error == nil {
			return frame{}, errFrame
		}
	case typeEvent, typeCancel:
	default:
		return frame{}, errFrame
	}
	return parsed, nil
}

// parseOwn reads a request, an answer or an event that is laid out exactly as we write it.
func parseOwn(data []byte) (f frame, ok bool) {
	rest, ok := bytes.CutPrefix(data, []byte(`{"type":"`))
	if !ok {
		return f, false
	}
	name, rest, ok := bytes.Cut(rest, []byte(`","id":`))
	if !ok || len(name) > len(typeCancel) {
		return f, false
	}
	f.Type = frameType(name)
	digits, rest, ok := bytes.Cut(rest, []byte(","))
	if !ok || len(digits) > 20 {
		return f, false
	}
	id, err := strconv.ParseUint(string(digits), 10, 64)
	if err != nil {
		return f, false
	}
	f.ID = id
	switch f.Type {
	case typeRequest:
		if rest, ok = bytes.CutPrefix(rest, []byte(`"method":"`)); !ok {
			return f, false
		}
		var method []byte
		if method, rest, ok = bytes.Cut(rest, []byte(`","params":`)); !ok || bytes.ContainsAny(method, "\"\\") {
			return f, false
		}
		f.Method = string(method)
	case typeResponse:
		rest, ok = bytes.CutPrefix(rest, []byte(`"ok":true,"payload":`))
		f.OK = true
	case typeEvent:
		rest, ok = bytes.CutPrefix(rest, []byte(`"payload":`))
	default:
		ok = false
	}
	if !ok {
		return f, false
	}
	f.Body, ok = bytes.CutSuffix(rest, []byte("}"))
	return f, ok && len(f.Body) > 0
}
