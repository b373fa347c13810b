package core

import (
	"context"
	"encoding/json"
)

// Board is what any front end can do: the engine in this process, one behind a socket, a foreign gateway and a recorded snapshot all
// satisfy it. It is bound to an Actor when it is opened. Everything that crosses it is plain data with a stable JSON.
// It is safe for concurrent use.
type Board interface {
	Info(ctx context.Context) (Info, error)
	Sessions(ctx context.Context, q SessionQuery) (SessionPage, error)
	Messages(ctx context.Context, q MessageQuery) (MessagePage, error)
	Records(ctx context.Context, q RecordQuery) (RecordPage, error)
	Search(ctx context.Context, q SearchQuery) (SearchPage, error)
	// Explain answers what Do or Call would, or why a session may see another, by the same code, and writes nothing.
	Explain(ctx context.Context, q Question) (Explanation, error)
	// Call runs a session tool. A refusal is a result, not an error; ctx ends the wait, never the run.
	Call(ctx context.Context, c ToolCall) (ToolResult, error)
	Do(ctx context.Context, c Command) (Receipt, error)
	// Watch tells what changes after the cursor; the zero Cursor means from now on.
	Watch(ctx context.Context, from Cursor) (Stream, error)
	Close() error
}

// ActorKind says what stands behind a board.
type ActorKind string

const (
	ActorOperator ActorKind = "operator"
	ActorSession  ActorKind = "session"
	ActorChannel  ActorKind = "channel"
)

// Actor is on whose behalf a board acts. The operator sees everything; for a session scope, bounds and masking apply.
type Actor struct {
	Kind     ActorKind `json:"kind"`
	Session  string    `json:"session,omitempty"` // key, for ActorSession
	ReadOnly bool      `json:"readOnly,omitempty"`
}

// Operator is the owner at the console.
var Operator = Actor{Kind: ActorOperator}

// Info is who and what a board is.
type Info struct {
	Version  string            `json:"version"`
	Actor    Actor             `json:"actor"`
	Store    StoreInfo         `json:"store"`
	Cursor   Cursor            `json:"cursor"`
	Link     string            `json:"link"`               // "" = here; else what the board is attached to
	Owner    string            `json:"owner"`              // who runs the engine: "this process", or "" when the store is only read
	Missing  map[string]string `json:"missing,omitempty"`  // verb → why this board cannot do it
	Agents   []AgentInfo       `json:"agents"`             // configured ones, then those only the store knows, by id
	Channels []string          `json:"channels,omitempty"` // configured names
	Models   []string          `json:"models,omitempty"`   // configured "provider/model"
	Names    Naming            `json:"names"`
	Tools    []string          `json:"tools,omitempty"` // of a session actor: what it may call
}

// Naming is the part of the config a front end needs to show and complete keys.
type Naming struct {
	MainKey      string `json:"mainKey"`
	DefaultAgent string `json:"defaultAgent"`
	Global       bool   `json:"global,omitempty"` // session.scope = global
}

// AgentInfo is one agent.
type AgentInfo struct {
	ID         string `json:"id"`
	Name       string `json:"name,omitempty"`
	Configured bool   `json:"configured"`
	Default    bool   `json:"default,omitempty"`
	Runtime    string `json:"runtime,omitempty"` // who plays it; "" when it is not configured
	Sessions   int    `json:"sessions"`          // listed ones, archived left out
}

// Verdict is an answer of a policy: what was decided, by which rule, and which config key holds that rule.
type Verdict struct {
	Allowed   bool   `json:"allowed"`
	Rule      string `json:"rule"`
	ConfigKey string `json:"configKey,omitempty"`
	Message   string `json:"message,omitempty"` // for a person; set when refused
}

// ScopeInfo is a caller's scope as configured and as it is in force (session-tools.md §3).
type ScopeInfo struct {
	Visibility Visibility `json:"visibility"`
	Effective  Visibility `json:"effective"`
	ClampedBy  string     `json:"clampedBy,omitempty"` // config key
}

// SessionQuery asks for heads, newest first. Filters come before the limit.
type SessionQuery struct {
	Viewpoint  string     `json:"viewpoint,omitempty"`  // look through this session's eyes; "" = the actor's
	Scope      Visibility `json:"scope,omitempty"`      // instead of the configured one, for a viewpoint
	WithHidden bool       `json:"withHidden,omitempty"` // operator: also the rows the viewpoint may not see, with the rule
	Kinds      []Kind     `json:"kinds,omitempty"`
	Agent      string     `json:"agent,omitempty"`
	Channel    string     `json:"channel,omitempty"`
	Since      int64      `json:"since,omitempty"` // ms, inclusive
	Archived   bool       `json:"archived,omitempty"`
	Limit      int        `json:"limit,omitempty"` // 0 = 1000
	Cursor     string     `json:"cursor,omitempty"`
}

// SessionRow is a head as a viewpoint sees it; Hidden is nil when it may see it.
type SessionRow struct {
	Head
	Hidden *Verdict `json:"hidden,omitempty"`
}

// SessionPage is one page of heads.
type SessionPage struct {
	At     Cursor       `json:"at"` // of the snapshot: watch from here
	Scope  *ScopeInfo   `json:"scope,omitempty"`
	Rows   []SessionRow `json:"rows"`
	Hidden int          `json:"hidden,omitempty"` // rows of this page's walk that the viewpoint may not see; operator only
	Next   string       `json:"next,omitempty"`
}

// MessageFilter selects transcript lines. The zero value takes every message and no event.
type MessageFilter struct {
	NoTools bool   `json:"noTools,omitempty"` // leave out tool results
	Events  bool   `json:"events,omitempty"`  // also lines that are not messages
	Roles   []Role `json:"roles,omitempty"`
	Errors  bool   `json:"errors,omitempty"` // only messages with MessageError
	Since   int64  `json:"since,omitempty"`  // ms
}

// MessageQuery asks for messages of a session (key or sessionId) or of one Generation by id. The newest come, and Before pages backwards;
// with Oldest or After the oldest come, those after After. Messages are in transcript order either way.
type MessageQuery struct {
	Session    string        `json:"session,omitempty"`
	Generation string        `json:"generation,omitempty"`
	Before     uint64        `json:"before,omitempty"`
	After      uint64        `json:"after,omitempty"`
	Oldest     bool          `json:"oldest,omitempty"`
	Limit      int           `json:"limit,omitempty"` // 0 = 200
	Filter     MessageFilter `json:"filter,omitzero"`
	Redact     bool          `json:"redact,omitempty"` // mask what looks like a credential
}

// MessagePage is one page of a transcript. More says that the walk's direction holds further messages.
type MessagePage struct {
	At         Cursor     `json:"at"`
	Session    string     `json:"session"`
	Generation Generation `json:"generation"`
	Messages   []Message  `json:"messages"`
	More       bool       `json:"more,omitempty"`
	Partial    *Partial   `json:"partial,omitempty"` // what the live run is saying, when this is its transcript
}

// Partial is the reply that a live run is writing: it is in no transcript yet. What was said before a tool call is, so it begins anew
// below that call's result: After is the seq of the run's last line in the transcript, and tells the parts apart.
type Partial struct {
	Run     string `json:"run"`
	After   uint64 `json:"after"`
	Text    string `json:"text,omitempty"`
	Thought string `json:"thought,omitempty"`
}

// SearchQuery looks for Text (case-insensitive) in message texts, most recently updated sessions first, in each the newest message first.
// One call does a bounded amount of work: take Next until it is "".
type SearchQuery struct {
	Text       string `json:"text"`
	Session    string `json:"session,omitempty"` // only this one (key or sessionId)
	Agent      string `json:"agent,omitempty"`
	Generation bool   `json:"generations,omitempty"` // older generations and orphans too
	After      uint64 `json:"after,omitempty"`       // only messages after this one; for one Session
	Limit      int    `json:"limit,omitempty"`       // hits per call; 0 = 50
	Cursor     string `json:"cursor,omitempty"`
}

// SearchHit is one message that holds the text. Snippet is plain text around the first match, Match its byte range in it.
type SearchHit struct {
	Session    string `json:"session,omitempty"`
	Generation string `json:"generation"`
	Seq        uint64 `json:"seq"`
	Role       Role   `json:"role"`
	At         int64  `json:"at"`
	Snippet    string `json:"snippet"`
	Match      [2]int `json:"match"`
}

// SearchPage is one step of a search: perhaps no hits, and still a Next.
type SearchPage struct {
	Hits    []SearchHit `json:"hits"`
	Scanned int64       `json:"scanned"` // bytes of message JSON looked at in this call
	Next    string      `json:"next,omitempty"`
}

// ToolCall is a call of a session tool. As is the calling session's key; "" is the board's actor.
type ToolCall struct {
	As     string          `json:"as,omitempty"`
	Tool   string          `json:"tool"`
	Params json.RawMessage `json:"params"`
	Key    string          `json:"key,omitempty"` // idempotency key
}

// ToolResult is a tool's JSON answer; Refused is set when it is a refusal, and Body then holds it.
type ToolResult struct {
	Body    json.RawMessage `json:"body"`
	Refused *Error          `json:"refused,omitempty"`
}

// MaxFocus is how many sessions a Stream listens to at most.
const MaxFocus = 512

// Stream yields what changes. It is used by one goroutine, but for Focus, which may be called while Next blocks.
type Stream interface {
	// Next blocks until something changed, a focused session's live run said more, or ctx ends.
	Next(ctx context.Context) (Batch, error)
	// Focus names the sessions (keys) whose live runs are to be heard as Deltas, in place of those named before; none ends it. A key that
	// names nothing, or nothing the actor may see, is heard of no more than a silent one. More than MaxFocus are an error.
	Focus(sessions ...string) error
	Close() error
}
