package openclaw

import (
	"bytes"

	"cordboard/core"
)

var byteOrderMark = []byte("\xef\xbb\xbf")

// cutLine turns a line of a transcript into a message. ok=false for a blank line. A line whose `message` is an object becomes that message,
// cut out byte for byte; any other object is an event. reason, when not "", says what is wrong with the line: then ok tells whether it
// could be taken over all the same. Raw, Before and After alias the line and together are exactly that line.
func cutLine(line []byte) (m core.Message, ok bool, reason string) {
	body := bytes.TrimPrefix(line, byteOrderMark)
	body = bytes.Trim(body, " \t\r\x00")
	if len(body) == 0 {
		if bytes.IndexByte(line, 0) >= 0 {
			return m, false, "holds NUL bytes only: the file was cut off when it was written"
		}
		return m, false, ""
	}
	_, flags, at, err := core.Inspect(body)
	if err != nil {
		return m, false, "is not one JSON object"
	}
	m = core.Message{Role: core.RoleEvent, At: at, Raw: body, Flags: flags & core.MessageInvalidUTF8}
	if raw, has := core.Field(body, "message"); has {
		role, flags, at, err := core.Inspect(raw)
		if err != nil {
			reason = "its `message` is not an object: kept as an event"
		} else {
			m.Role, m.Flags, m.Raw = role, flags, raw
			if at != 0 {
				m.At = at
			}
		}
	}
	// The first place that holds these bytes is as good as any: what counts is that the three parts give the line back.
	start := bytes.Index(line, m.Raw)
	m.Before, m.After = nonEmpty(line[:start]), nonEmpty(line[start+len(m.Raw):])
	return m, true, reason
}

func nonEmpty(b []byte) []byte {
	if len(b) == 0 {
		return nil
	}
	return b
}

// headerTime is the time of a session header, 0 for any other line.
func headerTime(m *core.Message) int64 {
	if m.Role != core.RoleEvent {
		return 0
	}
	kind, _ := core.Field(m.Raw, "type")
	if name, _ := core.Unquote(kind); name != "session" {
		return 0
	}
	return m.At
}
