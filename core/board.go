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
	Names    Naming            `json:"names"`
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
	Sessions   int    `json:"sessions"` // listed ones, archived left out
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
}

// RecordKind names what RecordQuery asks for.
type RecordKind string

const (
	RecordSession    RecordKind = "session" // one session with its entry, generations, children and policy verdict
	RecordRuns       RecordKind = "runs"
	RecordRun        RecordKind = "run" // one run, waited for if asked (agent.wait)
	RecordExchanges  RecordKind = "exchanges"
	RecordDeliveries RecordKind = "deliveries"
	RecordOrphans    RecordKind = "orphans" // generations no session names
)

// RecordQuery asks for records other than heads and messages. Session (key or sessionId) is needed for RecordSession and narrows RecordRuns.
// Run is needed for RecordRun; the answer then comes when that run has ended, or Wait (ms) is over, and holds the run as it is.
type RecordQuery struct {
	Kind    RecordKind `json:"kind"`
	Session string     `json:"session,omitempty"`
	Run     string     `json:"run,omitempty"`
	Wait    int64      `json:"wait,omitempty"`
	Limit   int        `json:"limit,omitempty"` // 0 = 200
}

// SessionDetail is everything about one session but its messages.
type SessionDetail struct {
	Session     Session         `json:"session"`
	Head        Head            `json:"head"`
	Kind        Kind            `json:"kind"`
	ChatType    ChatType        `json:"chatType,omitempty"`
	Generations []Generation    `json:"generations"`
	Children    []string        `json:"children,omitempty"`
	Runs        []Run           `json:"runs,omitempty"`
	Send        Verdict         `json:"send"`
	Sandboxed   bool            `json:"sandboxed,omitempty"`
	Entry       json.RawMessage `json:"entry,omitempty"`
}

// RecordPage holds the list that was asked for.
type RecordPage struct {
	At          Cursor         `json:"at"`
	Session     *SessionDetail `json:"session,omitempty"`
	Runs        []Run          `json:"runs,omitempty"`
	Reply       string         `json:"reply,omitempty"` // of an ended RecordRun
	Exchanges   []Exchange     `json:"exchanges,omitempty"`
	Deliveries  []Delivery     `json:"deliveries,omitempty"`
	Generations []Generation   `json:"generations,omitempty"`
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

// Question is asked of Explain: exactly one field is set.
type Question struct {
	See    *SeeQuestion `json:"see,omitempty"`
	Rights *SeeQuestion `json:"rights,omitempty"` // what each tool would say of Caller towards Target
	Send   string       `json:"send,omitempty"`   // session key: what does the send policy say of it
}

// SeeQuestion asks whether Caller (a session) may see Target, under the configured scope or another.
type SeeQuestion struct {
	Caller string     `json:"caller"`
	Target string     `json:"target"`
	Scope  Visibility `json:"scope,omitempty"`
}

// Explanation is a verdict with what it was drawn from. Rights are in the order of the tools; they are set for that question only.
type Explanation struct {
	Verdict Verdict    `json:"verdict"`
	Scope   *ScopeInfo `json:"scope,omitempty"`
	Rights  []Right    `json:"rights,omitempty"`
}

// Right is one tool's verdict on a caller and a target.
type Right struct {
	Tool    string  `json:"tool"`
	Verdict Verdict `json:"verdict"`
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

// Command is something the operator does. Exactly one operation is set. IfRev, when not 0, is the revision of the row the operator saw:
// a row written since refuses the command with CodeConflict.
type Command struct {
	Key   string `json:"key,omitempty"` // idempotency key
	IfRev Rev    `json:"ifRev,omitempty"`
	Patch *Patch `json:"patch,omitempty"`
	Send  *Send  `json:"send,omitempty"`
	New   *New   `json:"new,omitempty"`
	Abort *Abort `json:"abort,omitempty"`
	Stop  *Stop  `json:"stop,omitempty"`
	// Inbound is a message of a person at a channel, brought by the operator's own bridge.
	Inbound *Inbound `json:"inbound,omitempty"`
	Retry   *Retry   `json:"retry,omitempty"`
}

// Send is the operator's own message into a session (chat.send): one run, no loop, no announce. Command.Key, when given, becomes the run's
// id, so that a repetition is the same run.
type Send struct {
	Session string `json:"session"`
	Message string `json:"message"`
}

// New makes a session of a configured agent ("" = the default agent).
type New struct {
	Agent string `json:"agent,omitempty"`
	Label string `json:"label,omitempty"`
}

// Stop ends everything of a session and of all that it spawned, down the lineage: live and queued runs, exchanges, deliveries. Nothing of
// them starts or is announced afterwards.
type Stop struct {
	Session string `json:"session"`
}

// Inbound is one message from a channel (engine.md §5). ID names the group or channel, Peer the person of a direct chat; Command.Key, when
// given, makes a repetition the same message.
type Inbound struct {
	Channel   string   `json:"channel"`
	ChatType  ChatType `json:"chatType,omitempty"` // "" is direct
	ID        string   `json:"id,omitempty"`
	Peer      string   `json:"peer,omitempty"`
	ThreadID  string   `json:"threadId,omitempty"`
	AccountID string   `json:"accountId,omitempty"`
	SenderID  string   `json:"senderId,omitempty"`
	Name      string   `json:"name,omitempty"`  // of the chat, for people
	Agent     string   `json:"agent,omitempty"` // whose sessions; "" = the default agent's
	Text      string   `json:"text"`
}

// Retry attempts a delivery again that gave up or whose fate is unknown.
type Retry struct {
	Delivery string `json:"delivery"`
}

// Abort ends one run: by its id, or the live one of a session, else the first that is queued there.
type Abort struct {
	Run     string `json:"run,omitempty"`
	Session string `json:"session,omitempty"`
}

// Patch changes fields of a session (session-tools.md §9): nil leaves one alone, a pointer to the zero value clears it.
type Patch struct {
	Session       string      `json:"session"`
	Label         *string     `json:"label,omitempty"`
	SendPolicy    *SendPolicy `json:"sendPolicy,omitempty"`
	ThinkingLevel *string     `json:"thinkingLevel,omitempty"`
	VerboseLevel  *string     `json:"verboseLevel,omitempty"`
	Archived      *bool       `json:"archived,omitempty"`
}

// Receipt says what a command did. Undo, when there is one, takes it back as long as nobody else has changed the row.
type Receipt struct {
	Rev  Rev      `json:"rev"`
	Key  string   `json:"key"` // session it touched
	Run  string   `json:"run,omitempty"`
	Runs []string `json:"runs,omitempty"` // that a stop ended
	// Outcome tells what became of an inbound message that started no run: blocked, or the send policy a /send command set.
	Outcome string   `json:"outcome,omitempty"`
	Undo    *Command `json:"undo,omitempty"`
}

// Stream yields what changes. It is used by one goroutine.
type Stream interface {
	// Next blocks until something changed or ctx ends.
	Next(ctx context.Context) (Batch, error)
	Close() error
}
