package core

import "encoding/json"

// RunKind says what a run is for (engine.md §1).
type RunKind string

const (
	RunChat     RunKind = "chat"
	RunSend     RunKind = "send"
	RunTurn     RunKind = "turn"
	RunAnnounce RunKind = "announce"
	RunSpawn    RunKind = "spawn"
	RunNote     RunKind = "note"
)

// RunState is where a run stands.
type RunState string

const (
	RunQueued  RunState = "queued"
	RunRunning RunState = "running"
	RunEnded   RunState = "ended"
)

// RunOutcome is how a run ended.
type RunOutcome string

const (
	OutcomeOK          RunOutcome = "ok"
	OutcomeError       RunOutcome = "error"
	OutcomeTimeout     RunOutcome = "timeout"
	OutcomeAborted     RunOutcome = "aborted"
	OutcomeInterrupted RunOutcome = "interrupted"
)

// Usage is what a run cost. Cost is in the currency of the configured prices, absent when there are none.
type Usage struct {
	Input  int64    `json:"input"`
	Output int64    `json:"output"`
	Cost   *float64 `json:"cost,omitempty"`
}

// Process is a child of an owner as it can be found again after the owner's crash: the number of its process group, and what proves that the
// group is still the same one.
type Process struct {
	PGID  int    `json:"pgid"`
	Start uint64 `json:"start,omitempty"` // when its first process started, in ticks since the machine did; 0 where the system does not tell
	Boot  string `json:"boot,omitempty"`  // which start of the machine that counts from
}

// Run is one agent turn in one session (engine.md §1).
type Run struct {
	ID           string      `json:"runId"`
	SessionKey   string      `json:"sessionKey"`
	SessionID    string      `json:"sessionId,omitempty"`
	Kind         RunKind     `json:"kind"`
	Lane         string      `json:"lane,omitempty"`
	State        RunState    `json:"state"`
	Outcome      RunOutcome  `json:"outcome,omitempty"`
	Error        string      `json:"error,omitempty"`
	QueuedAt     int64       `json:"queuedAt"`
	StartedAt    int64       `json:"startedAt,omitempty"`
	EndedAt      int64       `json:"endedAt,omitempty"`
	RequesterKey string      `json:"requesterKey,omitempty"`
	ChainID      string      `json:"chainId,omitempty"`
	Hop          int         `json:"hop,omitempty"`
	ExchangeID   string      `json:"exchangeId,omitempty"`
	ParentRunID  string      `json:"parentRunId,omitempty"`
	WaitingOn    string      `json:"waitingOn,omitempty"`
	Owner        string      `json:"owner,omitempty"`
	Process      *Process    `json:"process,omitempty"` // the child that plays it, while it runs
	Fence        Rev         `json:"fence,omitempty"`
	Rerun        string      `json:"rerun,omitempty"` // id of the run that repeats it
	Message      string      `json:"message,omitempty"`
	Label        string      `json:"label,omitempty"`
	Provenance   *Provenance `json:"provenance,omitempty"`
	Model        string      `json:"model,omitempty"`
	Thinking     string      `json:"thinking,omitempty"`
	Cleanup      string      `json:"cleanup,omitempty"`
	Result       string      `json:"result,omitempty"` // a sub-agent's frozen result text
	Spawn        *Spawn      `json:"spawn,omitempty"`  // of a run of kind spawn
	// Answer is where the run's reply is delivered to, for runs that came in from a channel; nil = nowhere.
	Answer   *DeliveryContext `json:"answer,omitempty"`
	Usage    *Usage           `json:"usage,omitempty"`
	FirstSeq uint64           `json:"firstSeq,omitempty"`
	LastSeq  uint64           `json:"lastSeq,omitempty"`
	Mirrored bool             `json:"mirrored,omitempty"` // read from a source's registry: history, never taken up again
}

// ExchangeState is where an exchange stands.
type ExchangeState string

const (
	ExchangePrimary       ExchangeState = "primary" // round 1 is queued or runs
	ExchangeLooping       ExchangeState = "looping"
	ExchangeAnnouncing    ExchangeState = "announcing"
	ExchangeDone          ExchangeState = "done"          // announced
	ExchangeSkipped       ExchangeState = "skipped"       // the target chose silence, or announcing is off
	ExchangeUndeliverable ExchangeState = "undeliverable" // nowhere to announce to
	ExchangeFailed        ExchangeState = "failed"
	ExchangeStopped       ExchangeState = "stopped" // by the operator
)

// Exchange is a sessions_send from round 1 on: the reply-back loop and its announce (engine.md §4). Reason says in a word why the loop
// or the exchange ended: skip, blank, turns, self, child, external, a run's outcome, or the code that refused a step. Why is the sentence
// to a step that failed or was refused, with rule and config key.
type Exchange struct {
	ID           string        `json:"exchangeId"`
	RequesterKey string        `json:"requesterKey"`
	TargetKey    string        `json:"targetKey"`
	Channel      string        `json:"channel,omitempty"` // the requester's
	ChainID      string        `json:"chainId"`
	Hop          int           `json:"hop,omitempty"`
	Request      string        `json:"request"`
	FirstReply   string        `json:"firstReply,omitempty"`
	LatestReply  string        `json:"latestReply,omitempty"`
	Turn         int           `json:"turn"`  // ping-pong turns begun
	Turns        int           `json:"turns"` // how many there may be
	Announce     bool          `json:"announce"`
	State        ExchangeState `json:"state"`
	Reason       string        `json:"reason,omitempty"`
	Why          string        `json:"why,omitempty"`
	CreatedAt    int64         `json:"createdAt"`
	UpdatedAt    int64         `json:"updatedAt"`
}

// DeliveryState is where an outbound text stands.
type DeliveryState string

const (
	DeliveryPending       DeliveryState = "pending"
	DeliveryAttempting    DeliveryState = "attempting"
	DeliveryDelivered     DeliveryState = "delivered"
	DeliveryGaveUp        DeliveryState = "gave-up"
	DeliveryUnknown       DeliveryState = "unknown"
	DeliveryBlocked       DeliveryState = "blocked"
	DeliveryCancelled     DeliveryState = "cancelled"
	DeliveryUndeliverable DeliveryState = "undeliverable"
	DeliveryExpired       DeliveryState = "expired"
)

// DeliveryStates lists every state of a delivery, in the order in which they come.
var DeliveryStates = []DeliveryState{
	DeliveryPending, DeliveryAttempting, DeliveryDelivered, DeliveryGaveUp, DeliveryUnknown, DeliveryBlocked, DeliveryCancelled,
	DeliveryUndeliverable, DeliveryExpired,
}

// Delivery is one outbound text: stored before it is attempted (engine.md §5).
type Delivery struct {
	ID            string          `json:"id"`
	SessionKey    string          `json:"sessionKey"`
	RequesterKey  string          `json:"requesterKey,omitempty"` // of a sub-agent's announce: the session whose send policy decides
	RunID         string          `json:"runId,omitempty"`
	Route         DeliveryContext `json:"route"`
	Text          string          `json:"text"`
	State         DeliveryState   `json:"state"`
	Rule          string          `json:"rule,omitempty"`
	Attempts      int             `json:"attempts"`
	LastError     string          `json:"lastError,omitempty"`
	NextAttemptAt int64           `json:"nextAttemptAt,omitempty"`
	CreatedAt     int64           `json:"createdAt"`
}

// Kept reports whether the text was delivered by being kept and shown here, since its channel is an outbox (engine.md §5): nobody was told.
func (d *Delivery) Kept() bool { return d.State == DeliveryDelivered && d.Attempts == 0 }

// AuditEntry is one command of an operator or client (engine.md §7). Rev is the revision that carried it. Who is "operator", a session's
// key (and " via operator" when he spoke as that session), or channel:sender. Result is "ok", or "denied: " and why: then nothing changed.
type AuditEntry struct {
	Rev    Rev             `json:"rev"`
	At     int64           `json:"at"`
	Who    string          `json:"who"`
	Verb   string          `json:"verb"`
	Target string          `json:"target,omitempty"`
	Before json.RawMessage `json:"before,omitempty"`
	After  json.RawMessage `json:"after,omitempty"`
	Result string          `json:"result"`
}
