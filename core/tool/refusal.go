package tool

import (
	"encoding/json"

	"cordboard/core"
)

// Refusal is the answer of every tool that refuses: {status, code, error, configKey?, allowed?} (session-tools.md, "Refusals").
func Refusal(e *core.Error) json.RawMessage {
	var o object
	o.text("status", e.Status())
	o.text("code", string(e.Code))
	o.key("error")
	o.buf = AppendString(o.buf, e.Message)
	o.text("configKey", e.ConfigKey)
	o.texts("allowed", e.Allowed)
	return o.done()
}
