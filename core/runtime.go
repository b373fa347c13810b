package core

import (
	"context"
	"encoding/json"
	"iter"
)

// Runtime plays an agent: it turns one run into text and tool calls (engine.md §3). A Runtime returns when the turn is over; ctx ends it.
type Runtime interface {
	Turn(ctx context.Context, t Turn, out Sink) (TurnResult, error)
}

// Turn is what a runtime is given: the run, whose Message is already the newest of the transcript, and what the model must know beside
// it. History walks the transcript before that message, newest first, reading on demand.
type Turn struct {
	Run      Run
	Session  Session
	Context  string    // run context: who writes, from where; never stored
	Exchange *Exchange // of a turn or announce step
	Images   []Image   // that go with the message, for a runtime that cannot read them from a file
	History  iter.Seq[Message]
	Tools    []ToolSpec
	// Started is told of a child process that plays the turn, before anything of it is read, so that whoever comes after a crash of the
	// owner can end it. After an error the child must not go on. nil = nobody wants to know.
	Started func(ctx context.Context, p Process) error
	// Token is what a child shows at the owner's socket to be the session of this run; it is worth nothing once the run has ended. nil =
	// there is no such socket.
	Token func() string
	// Pass makes a token that is worth something until it is given back, for a child that is kept for the session's next turns.
	Pass func() (token string, giveBack func())
}

// ToolSpec describes a tool to a model. Schema is a JSON Schema object.
type ToolSpec struct {
	Name        string
	Description string
	Schema      json.RawMessage
}

// Toolbox holds tools beside the session tools: those of mcp.servers. It is safe for concurrent use.
type Toolbox interface {
	// Tools are the tools that are there now; a server that fails, or what is wrong with one of its tools, leaves them out. ctx bounds the
	// wait for a server that starts.
	Tools(ctx context.Context) []ToolSpec
	// Has reports whether a name belongs to one of the servers, whether or not that has such a tool.
	Has(name string) bool
	// Call calls a tool and returns its answer as text; failed says that the tool itself failed. An *Error says why it could not be called,
	// any other error that ctx has ended.
	Call(ctx context.Context, name string, params json.RawMessage) (answer string, failed bool, err error)
}

// Sink takes what a runtime produces while it runs. Its methods fail once the run has ended or was fenced off: the runtime then returns.
type Sink interface {
	// Text adds to the reply that is being written. What is written before a tool call belongs to the message of that call.
	Text(delta string) error
	// Think adds to what the model thought; it is kept beside the reply and never part of it.
	Think(delta string) error
	// Call executes a tool as the run's session and returns its answer, JSON of a session tool and text of any other; failed says that the
	// tool refused or failed.
	Call(ctx context.Context, id, tool string, params json.RawMessage) (answer json.RawMessage, failed bool, err error)
	// Began records a tool call that the runtime carries out itself, and Ended its result. Params are a JSON object.
	Began(ctx context.Context, id, tool string, params json.RawMessage) error
	Ended(ctx context.Context, id, answer string, failed bool) error
	// Ask puts a request for permission to the operator and returns the id of the option that was chosen. Call, Title, Params and Options of
	// the request are the runtime's, the rest is filled in.
	Ask(ctx context.Context, a Approval) (option string, err error)
}

// Approval is a request for permission that a live run makes: it waits until the operator chooses, or the run ends.
type Approval struct {
	ID      string           `json:"id"`
	Run     string           `json:"run"`
	Session string           `json:"session"`
	At      int64            `json:"at"`
	Call    string           `json:"call,omitempty"` // id of the tool call that it is about
	Title   string           `json:"title"`
	Params  json.RawMessage  `json:"params,omitempty"`
	Options []ApprovalOption `json:"options"`
}

// ApprovalOption is one answer to a request. Kind is allow_once, allow_always, reject_once or reject_always.
type ApprovalOption struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Kind string `json:"kind"`
}

// TurnResult is how a turn ended when it ended by itself. Model is the "provider/model" that answered where it was not the run's.
type TurnResult struct {
	Usage Usage
	Model string
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
