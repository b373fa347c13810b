package engine

import (
	"bytes"
	"encoding/json"

	"cordboard/core"
)

// The lines of a transcript, written in the format that other tools of the field read (openclaw-files.md).

type textBlock struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type thinkingBlock struct {
	Type     string `json:"type"`
	Thinking string `json:"thinking"`
}

type callBlock struct {
	Type      string          `json:"type"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

type usageLine struct {
	Input       int64 `json:"input"`
	Output      int64 `json:"output"`
	TotalTokens int64 `json:"totalTokens"`
}

// line is one message object; fields are in the order they are written.
type line struct {
	Role         string           `json:"role"`
	Content      []any            `json:"content"`
	ToolCallID   string           `json:"toolCallId,omitempty"`
	ToolName     string           `json:"toolName,omitempty"`
	IsError      *bool            `json:"isError,omitempty"`
	Provenance   *core.Provenance `json:"provenance,omitempty"`
	Provider     string           `json:"provider,omitempty"`
	Model        string           `json:"model,omitempty"`
	Usage        *usageLine       `json:"usage,omitempty"`
	StopReason   string           `json:"stopReason,omitempty"`
	ErrorMessage string           `json:"errorMessage,omitempty"`
	Timestamp    int64            `json:"timestamp"`
}

// message turns a line into what the store keeps. Text stays as it is: no HTML escapes.
func (l line) message() (core.Message, error) {
	if l.Content == nil {
		l.Content = []any{}
	}
	raw, err := marshal(l)
	if err != nil {
		return core.Message{}, err
	}
	role, flags, at, err := core.Inspect(raw)
	return core.Message{Role: role, Flags: flags, At: at, Raw: raw}, err
}

// blocks are what a model thought and said, each left out when there is none.
func blocks(thought, said string) (list []any) {
	if thought != "" {
		list = append(list, thinkingBlock{"thinking", thought})
	}
	if said != "" {
		list = append(list, textBlock{"text", said})
	}
	return list
}

func userLine(r *core.Run, now int64) line {
	return line{Role: "user", Content: []any{textBlock{"text", r.Message}}, Provenance: r.Provenance, Timestamp: now}
}

func callLine(r *core.Run, thought, said string, call openCall, now int64) line {
	provider, model := splitModel(r.Model)
	return line{
		Role: "assistant", Content: append(blocks(thought, said), callBlock{"toolCall", call.id, call.name, call.params}), Provider: provider, Model: model,
		StopReason: "toolUse", Timestamp: now,
	}
}

func resultLine(call openCall, answer string, failed bool, now int64) line {
	return line{Role: "toolResult", ToolCallID: call.id, ToolName: call.name, Content: []any{textBlock{"text", answer}}, IsError: &failed, Timestamp: now}
}

// finalLine is the message every started run ends with, possibly empty.
func finalLine(r *core.Run, e ending, now int64) line {
	provider, model := splitModel(r.Model)
	l := line{Role: "assistant", Content: blocks(e.thought, e.text), Provider: provider, Model: model, StopReason: "stop", Timestamp: now}
	if e.usage != nil {
		l.Usage = &usageLine{e.usage.Input, e.usage.Output, e.usage.Input + e.usage.Output}
	}
	switch e.outcome {
	case core.OutcomeOK:
	case core.OutcomeAborted, core.OutcomeInterrupted:
		l.StopReason, l.ErrorMessage = "aborted", e.cause
	default:
		l.StopReason, l.ErrorMessage = "error", e.cause
	}
	return l
}

// splitModel parts "provider/model".
func splitModel(name string) (provider, model string) {
	for i := range len(name) {
		if name[i] == '/' {
			return name[:i], name[i+1:]
		}
	}
	return "", name
}

// marshal is compact JSON without HTML escapes.
func marshal(v any) (json.RawMessage, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(out.Bytes(), "\n"), nil
}
