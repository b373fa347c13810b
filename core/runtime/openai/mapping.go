package openai

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/sashabaranov/go-openai"

	"cordboard/core"
)

// unit is what a prompt has or has not: one message, or a message with tool calls and all their results.
type unit struct {
	messages []openai.ChatCompletionMessage
	tokens   int
	user     bool
}

func newUnit(messages ...openai.ChatCompletionMessage) unit {
	return unit{messages: messages, tokens: tokensOf(messages...), user: messages[0].Role == openai.ChatMessageRoleUser}
}

// answeredCall is a tool call with its result.
type answeredCall struct{ id, name, arguments, result string }

// toolRound is an answer of the model that called tools.
type toolRound struct {
	text  string
	calls []answeredCall
}

func (r toolRound) unit() unit {
	head := openai.ChatCompletionMessage{Role: openai.ChatMessageRoleAssistant, Content: r.text}
	messages := []openai.ChatCompletionMessage{head}
	for _, c := range r.calls {
		messages[0].ToolCalls = append(messages[0].ToolCalls, openai.ToolCall{
			ID: c.id, Type: openai.ToolTypeFunction, Function: openai.FunctionCall{Name: toolName(c.name), Arguments: objectOr(c.arguments)},
		})
		messages = append(messages, openai.ChatCompletionMessage{Role: openai.ChatMessageRoleTool, ToolCallID: c.id, Content: orText(c.result, "(no result)")})
	}
	return newUnit(messages...)
}

// toolName makes a name one that endpoints accept: letters, digits, _ and -, 1 to 64 of them.
func toolName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, name)
	return orText(name[:min(len(name), 64)], "unknown")
}

// objectOr is arguments if they are a JSON object, else an empty one: endpoints refuse what they would not have let the model say.
func objectOr(arguments string) string {
	if text := strings.TrimSpace(arguments); strings.HasPrefix(text, "{") && json.Valid([]byte(text)) {
		return text
	}
	return "{}"
}

// reader turns a transcript, walked newest first, into units. A tool's result comes before its call then: it waits for it.
type reader struct {
	images  bool
	pending []toolResult
	waiting int // tokens of pending
}

type toolResult struct{ id, text string }

// read takes one message and returns the unit that it completes, if it does.
func (r *reader) read(m *core.Message) (unit, bool) {
	switch m.Role {
	case core.RoleUser:
		provenance, _ := core.ProvenanceOf(m.Raw)
		return newUnit(r.userMessage(m.Raw, &provenance)), true
	case core.RoleSystem:
		return newUnit(userText("[System note]\n" + r.plain(m.Raw))), true
	case core.RoleToolResult:
		id, _ := core.Field(m.Raw, "toolCallId")
		name, _ := core.Unquote(id)
		text := r.plain(m.Raw)
		r.pending = append(r.pending, toolResult{name, text})
		r.waiting += estimate(text)
	case core.RoleAssistant:
		return r.assistant(m), true
	}
	return unit{}, false
}

func (r *reader) assistant(m *core.Message) unit {
	round := toolRound{}
	for b := range core.Blocks(m.Raw) {
		switch b.Type {
		case "text":
			round.text += b.Text
		case "toolCall":
			round.calls = append(round.calls, answeredCall{id: b.ID, name: b.Name, arguments: string(b.Arguments)})
		}
	}
	if len(round.calls) == 0 {
		return newUnit(openai.ChatCompletionMessage{Role: openai.ChatMessageRoleAssistant, Content: orText(round.text, silence(m.Flags))})
	}
	for i := range round.calls {
		c := &round.calls[i]
		c.result = r.take(c.id)
		if c.id == "" {
			c.id = fmt.Sprintf("call_%d_%d", m.Seq, i+1)
		}
	}
	return round.unit()
}

// take removes the first result after a call that has its id. Ids come again: what is nearest belongs to it.
func (r *reader) take(id string) string {
	for i := len(r.pending) - 1; i >= 0; i-- {
		if p := r.pending[i]; p.id == id {
			r.pending = append(r.pending[:i], r.pending[i+1:]...)
			r.waiting -= estimate(p.text)
			return p.text
		}
	}
	return "(no result was recorded)"
}

// silence stands for an answer without text: endpoints refuse an empty message, and the order of speakers must hold.
func silence(flags core.MessageFlags) string {
	switch {
	case flags.Has(core.MessageError):
		return "(no answer: the turn failed)"
	case flags.Has(core.MessageAborted):
		return "(no answer: the turn was stopped)"
	}
	return "(no answer)"
}

// userMessage is what somebody said, who is named when it was another session.
func (r *reader) userMessage(raw []byte, from *core.Provenance) openai.ChatCompletionMessage {
	m := written(r.plain(raw), from)
	if !r.images {
		return m
	}
	for b := range core.Blocks(raw) {
		if url := imageURL(&b); url != "" {
			m.MultiContent = append(m.MultiContent, openai.ChatMessagePart{
				Type: openai.ChatMessagePartTypeImageURL, ImageURL: &openai.ChatMessageImageURL{URL: url},
			})
		}
	}
	if m.MultiContent != nil {
		m.MultiContent = append([]openai.ChatMessagePart{{Type: openai.ChatMessagePartTypeText, Text: m.Content}}, m.MultiContent...)
		m.Content = ""
	}
	return m
}

// written is a text with its sender's line before it.
func written(text string, from *core.Provenance) openai.ChatCompletionMessage {
	m := userText(orText(text, "(empty message)"))
	if sender := senderLine(from); sender != "" {
		m.Content = sender + "\n" + m.Content
	}
	return m
}

// withImages puts pictures beside a text. They were sent along on purpose, so a model that takes none says so itself.
func withImages(m openai.ChatCompletionMessage, images []core.Image) openai.ChatCompletionMessage {
	if len(images) == 0 {
		return m
	}
	m.MultiContent = []openai.ChatMessagePart{{Type: openai.ChatMessagePartTypeText, Text: m.Content}}
	m.Content = ""
	for _, image := range images {
		m.MultiContent = append(m.MultiContent, openai.ChatMessagePart{Type: openai.ChatMessagePartTypeImageURL, ImageURL: &openai.ChatMessageImageURL{
			URL: "data:" + image.MimeType + ";base64," + base64.StdEncoding.EncodeToString(image.Data),
		}})
	}
	return m
}

func userText(text string) openai.ChatCompletionMessage {
	return openai.ChatCompletionMessage{Role: openai.ChatMessageRoleUser, Content: text}
}

// plain is the text of a message; what is no text and goes nowhere else is told in a line.
func (r *reader) plain(raw []byte) string {
	var parts []string
	for b := range core.Blocks(raw) {
		switch {
		case b.Type == "text":
			parts = append(parts, b.Text)
		case b.Type == "image" && (!r.images || imageURL(&b) == ""):
			parts = append(parts, fmt.Sprintf("[an image, %s, %d bytes, that this model is not shown]", orText(b.MimeType, "of unknown type"), b.Bytes))
		}
	}
	return strings.ToValidUTF8(strings.Join(parts, "\n"), "\uFFFD")
}

// imageURL is an image block as a data URL, "" when the block does not carry its bytes.
func imageURL(b *core.Block) string {
	if b.Type != "image" || b.Bytes == 0 || !strings.HasPrefix(b.MimeType, "image/") {
		return ""
	}
	value, _ := core.Field(b.Raw, "data")
	data, ok := core.Unquote(value)
	if !ok {
		return ""
	}
	return "data:" + b.MimeType + ";base64," + data
}

// senderLine tells who wrote when it was no person at the session's channel. It is for the model alone and never stored
// (session-tools.md §6).
func senderLine(p *core.Provenance) string {
	if p == nil || p.Kind != "inter_session" {
		return ""
	}
	line := "[Message from the agent session " + orText(p.SourceSessionKey, "unknown")
	if p.Via == "operator" {
		line = "[Message from the operator, written as the agent session " + orText(p.SourceSessionKey, "unknown")
	}
	if p.SourceChannel != "" {
		line += ", channel " + p.SourceChannel
	}
	if p.SourceTool != "" {
		line += ", sent with " + p.SourceTool
	}
	return line + "]"
}

func orText(text, otherwise string) string {
	if strings.TrimSpace(text) == "" {
		return otherwise
	}
	return text
}
