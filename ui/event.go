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

// tale is what an event tells. Loud ones part the transcript; body is what is left out of the line until it is unfolded.
type tale struct {
	text, body   string
	loud, failed bool
}

// describe is what to tell of an event. One that tells an operator nothing has no text.
func describe(raw []byte) tale {
	var e event
	if json.Unmarshal(raw, &e) != nil {
		return tale{}
	}
	switch e.Type {
	case "session":
		return tale{text: "session started" + prefixed(" in ", e.CWD)}
	case "model_change":
		return tale{text: "model " + firstOf(e.Provider+prefixed("/", e.ModelID), unknown)}
	case "thinking_level_change":
		return tale{text: "thinking " + firstOf(e.ThinkingLevel, unknown)}
	case "compaction":
		text := "compaction"
		if e.TokensBefore > 0 {
			text += " · " + count(e.TokensBefore) + " tokens before"
		}
		return tale{text: text + prefixed(" · ", e.Summary), body: e.Summary, loud: true}
	case "branch_summary":
		return tale{text: "branch summary" + prefixed(" · ", e.Summary), body: e.Summary, loud: true}
	case "session_info":
		return tale{text: "named" + prefixed(" ", e.Name)}
	case "label":
		return tale{text: "label" + prefixed(" ", e.Label)}
	case "custom", "custom_message":
		return e.custom()
	}
	return tale{text: "event " + firstOf(e.Type, unknown)}
}

func (e *event) custom() tale {
	switch {
	case e.CustomType == "model-snapshot":
		return tale{}
	case e.CustomType == "openclaw:prompt-error":
		return tale{text: "run failed" + prefixed(": ", e.Data.Error), body: e.Data.Error, failed: true}
	}
	said, _ := core.Unquote(e.Content)
	return tale{text: firstOf(e.CustomType, "note") + prefixed(" · ", said), body: said}
}

// prefixed is text behind a joint, or nothing when there is no text.
func prefixed(joint, text string) string {
	if text == "" {
		return ""
	}
	return joint + text
}

func firstOf(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}
