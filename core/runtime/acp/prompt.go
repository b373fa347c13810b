package acp

import (
	"encoding/json"
	"slices"
	"strings"

	sdk "github.com/coder/acp-go-sdk"

	"cordboard/core"
)

// maxRecall is how much of an older transcript a new program is told, bytes.
const maxRecall = 64 << 10

// prompt is what a turn says to the program: to a new one first what it is and what was said so far; then what the turn is about, and the
// message.
func prompt(a *Agent, t *core.Turn, fresh bool) []sdk.ContentBlock {
	var blocks []sdk.ContentBlock
	add := func(text string) {
		if text = strings.TrimSpace(text); text != "" {
			blocks = append(blocks, sdk.TextBlock(text))
		}
	}
	if fresh {
		add(a.SystemPrompt)
		add(recall(t))
	}
	add(t.Context)
	return append(blocks, sdk.TextBlock(t.Run.Message))
}

// recall tells what was said in a session before, the newest of it when it is too much. Tool calls are left out: their results were told.
func recall(t *core.Turn) string {
	if t.History == nil {
		return ""
	}
	var said []string
	room, cut := maxRecall, false
	for m := range t.History {
		text := textOf(m.Raw)
		if text == "" || m.Role != core.RoleUser && m.Role != core.RoleAssistant {
			continue
		}
		line := m.Role.String() + ": " + text
		if room -= len(line); room < 0 {
			cut = true
			break
		}
		said = append(said, line)
	}
	if len(said) == 0 {
		return ""
	}
	slices.Reverse(said)
	head := "What was said in this session so far:"
	if cut {
		head = "What was said in this session lately (what came before is left out):"
	}
	return head + "\n\n" + strings.Join(said, "\n\n")
}

func textOf(raw json.RawMessage) string {
	var parts []string
	for b := range core.Blocks(raw) {
		if b.Type == "text" {
			parts = append(parts, b.Text)
		}
	}
	return strings.TrimSpace(strings.Join(parts, "\n"))
}
