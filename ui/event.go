package ui

import (
	"encoding/json"

	"cordboard/core"
)

// event is a transcript line that is no message, as far as the console tells of it.
type event struct {
	Type, CustomType           string
	CWD, Name, Label           string
	Provider, ModelID, Summary string
	ThinkingLevel              string
	TokensBefore               int64
	Data                       struct{ Error string }
	Content                    json.RawMessage
}

// describe is the line for an event; loud ones part the transcript. An event that tells an operator nothing has no text.
func describe(raw []byte) (text string, loud, failed bool) {
	var e event
	if json.Unmarshal(raw, &e) != nil {
		return "", false, false
	}
	switch e.Type {
	case "session":
		return "session started" + prefixed(" in ", e.CWD), false, false
	case "model_change":
		return "model " + firstOf(e.Provider+prefixed("/", e.ModelID), unknown), false, false
	case "thinking_level_change":
		return "thinking " + firstOf(e.ThinkingLevel, unknown), false, false
	case "compaction":
		text = "compaction"
		if e.TokensBefore > 0 {
			text += " · " + count(e.TokensBefore) + " tokens before"
		}
		return text + prefixed(" · ", e.Summary), true, false
	case "branch_summary":
		return "branch summary" + prefixed(" · ", e.Summary), true, false
	case "session_info":
		return "named" + prefixed(" ", e.Name), false, false
	case "label":
		return "label" + prefixed(" ", e.Label), false, false
	case "custom", "custom_message":
		return e.custom()
	}
	return "event " + firstOf(e.Type, unknown), false, false
}

func (e *event) custom() (text string, loud, failed bool) {
	switch {
	case e.CustomType == "model-snapshot":
		return "", false, false
	case e.CustomType == "openclaw:prompt-error":
		return "run failed" + prefixed(": ", e.Data.Error), false, true
	}
	said, _ := core.Unquote(e.Content)
	return firstOf(e.CustomType, "note") + prefixed(" · ", said), false, false
}

// prefixed is text behind a joint, or nothing when there is no text.
func prefixed(joint, text string) string {
	if text == "" {
		return ""
	}
	return joint + text
}
