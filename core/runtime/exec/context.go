package exec

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"cordboard/core"
)

// MaxHistory bounds the messages that a command is told of, bytes; the newest are told.
const MaxHistory = 256 << 10

// told is the JSON file that CORDBOARD_CONTEXT names. Messages are those before the run's own, oldest first, as they are stored.
type told struct {
	RunID        string            `json:"runId"`
	Kind         core.RunKind      `json:"kind"`
	SessionKey   string            `json:"sessionKey"`
	SessionID    string            `json:"sessionId"`
	AgentID      string            `json:"agentId"`
	Message      string            `json:"message"`
	Context      string            `json:"context,omitempty"` // who writes and from where, in words for a model
	Provenance   *core.Provenance  `json:"provenance,omitempty"`
	RequesterKey string            `json:"requesterKey,omitempty"`
	Exchange     *core.Exchange    `json:"exchange,omitempty"`
	Model        string            `json:"model,omitempty"`
	Thinking     string            `json:"thinking,omitempty"`
	Messages     []json.RawMessage `json:"messages"`
	Cut          bool              `json:"cut"` // there are older messages
}

const (
	contextFile = "context.json"
	messageFile = "message"
)

// writeContext writes what a command reads, its message and its context, and returns the path of the latter.
func writeContext(dir, agent string, t *core.Turn) (string, error) {
	c := told{
		RunID: t.Run.ID, Kind: t.Run.Kind, SessionKey: t.Session.Key, SessionID: t.Run.SessionID, AgentID: agent, Message: t.Run.Message, Context: t.Context,
		Provenance: t.Run.Provenance, RequesterKey: t.Run.RequesterKey, Exchange: t.Exchange, Model: t.Run.Model, Thinking: t.Run.Thinking,
	}
	c.Messages, c.Cut = newest(t)
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(c); err != nil {
		return "", fmt.Errorf("the context of agent %q cannot be written: %w", agent, err)
	}
	file := filepath.Join(dir, contextFile)
	for path, content := range map[string][]byte{file: text.Bytes(), filepath.Join(dir, messageFile): []byte(t.Run.Message)} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			return "", fmt.Errorf("the context of agent %q cannot be written: %w", agent, err)
		}
	}
	return file, nil
}

// newest is as much of the history as may be told, oldest first.
func newest(t *core.Turn) (messages []json.RawMessage, cut bool) {
	messages = []json.RawMessage{}
	if t.History == nil {
		return messages, false
	}
	room := MaxHistory
	for m := range t.History {
		if room -= len(m.Raw); room < 0 {
			cut = true
			break
		}
		if json.Valid(m.Raw) {
			messages = append(messages, m.Raw)
		}
	}
	slices.Reverse(messages)
	return messages, cut
}
