package core

import (
	"context"
	"encoding/json"
)

// Runtime plays an agent: it turns one run into text and tool calls (engine.md §3). A Runtime returns when the turn is over; ctx ends it.
type Runtime interface {
	Turn(ctx context.Context, t Turn, out Sink) (TurnResult, error)
}

// Turn is what a runtime is given: the run, its session, what the model must know beside the transcript, and the transcript so far.
type Turn struct {
	Run     Run
	Session Session
	Context string // run context: who writes, from where; never stored
	History []Message
	Tools   []ToolSpec
}

// ToolSpec describes a tool to a model. Schema is a JSON Schema object.
type ToolSpec struct {
	Name        string
	Description string
	Schema      json.RawMessage
}

// Sink takes what a runtime produces while it runs.
type Sink interface {
	// Text adds to the reply that is being written.
	Text(delta string) error
	// Call executes a tool as the run's session and returns its JSON.
	Call(ctx context.Context, id, tool string, params json.RawMessage) (json.RawMessage, error)
}

// TurnResult is how a turn ended when it ended by itself.
type TurnResult struct {
	Reply string
	Usage Usage
}

// Channel carries texts to people (engine.md §5).
type Channel interface {
	// Deliver attempts d once. The same d.ID always carries the same bytes, so that a sink can tell a repetition.
	Deliver(ctx context.Context, d Delivery) error
	// OpenThread asks the channel for a thread under route and returns its id.
	OpenThread(ctx context.Context, route DeliveryContext, title string) (threadID string, err error)
	// Unbind tells the channel that a thread is no longer ours.
	Unbind(ctx context.Context, route DeliveryContext) error
}
