package tool

import (
	"encoding/json"

	"cordboard/core"
)

// SendAnswer is the answer of sessions_send (session-tools.md §6). ExchangeID is "" for a send without loop and announce.
type SendAnswer struct {
	RunID      string
	SessionKey string // as the caller is shown it
	ExchangeID string
}

// Accepted is for a send that is not waited for.
func (a SendAnswer) Accepted() json.RawMessage {
	o := a.begin("accepted")
	a.follow(&o)
	return o.done()
}

// OK is for a run that ended in time; a run that wrote no text has no reply.
func (a SendAnswer) OK(reply string) json.RawMessage {
	o := a.begin("ok")
	if reply != "" {
		o.key("reply")
		o.buf = AppendString(o.buf, reply)
	}
	a.follow(&o)
	return o.done()
}

// TimedOut is for a wait that ran out, or that was not taken; code is "" or why.
func (a SendAnswer) TimedOut(code core.Code, why string) json.RawMessage {
	o := a.begin("timeout")
	o.text("code", string(code))
	o.text("error", why)
	return o.done()
}

// Failed is for a run that ended otherwise than ok.
func (a SendAnswer) Failed(outcome, why string) json.RawMessage {
	o := a.begin("error")
	o.text("error", why)
	o.text("outcome", outcome)
	return o.done()
}

func (a SendAnswer) begin(status string) object {
	var o object
	o.text("runId", a.RunID)
	o.text("status", status)
	o.text("sessionKey", a.SessionKey)
	return o
}

// follow tells that the target may announce later.
func (a SendAnswer) follow(o *object) {
	if a.ExchangeID == "" {
		return
	}
	o.key("delivery")
	in := object{buf: o.buf}
	in.text("status", "pending")
	in.text("mode", "announce")
	o.buf = in.done()
	o.text("exchangeId", a.ExchangeID)
}
