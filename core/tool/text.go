package tool

import (
	"strings"

	"cordboard/core"
)

// Text is a message as plain text, for search and previews: the texts of its content and its tool calls (name and arguments) in order,
// one per line, then the error that ended the turn. Thinking is not part of it.
func Text(raw []byte) string {
	var parts []string
	for b := range core.Blocks(raw) {
		switch {
		case b.Type == "toolCall":
			parts = append(parts, strings.TrimSpace(b.Name+" "+string(b.Arguments)))
		case b.Type != "thinking" && b.Text != "":
			parts = append(parts, b.Text)
		}
	}
	if value, ok := core.Field(raw, "errorMessage"); ok {
		if text, _ := core.Unquote(value); text != "" {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, "\n")
}

// Thinking is what an assistant message's thinking blocks say.
func Thinking(raw []byte) string {
	var parts []string
	for b := range core.Blocks(raw) {
		if b.Type == "thinking" && b.Text != "" {
			parts = append(parts, b.Text)
		}
	}
	return strings.Join(parts, "\n")
}
