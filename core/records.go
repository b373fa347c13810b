package core

import "encoding/json"

// RecordKind names what RecordQuery asks for.
type RecordKind string

const (
	RecordSession    RecordKind = "session" // one session with its entry, generations, children and policy verdict
	RecordRuns       RecordKind = "runs"
	RecordRun        RecordKind = "run" // one run, waited for if asked (agent.wait)
	RecordExchanges  RecordKind = "exchanges"
	RecordExchange   RecordKind = "exchange" // one exchange with its steps, by ID
	RecordDeliveries RecordKind = "deliveries"
	RecordOrphans    RecordKind = "orphans" // generations no session names
	RecordAudit      RecordKind = "audit"   // newest first
	RecordUsage      RecordKind = "usage"
	RecordHolds      RecordKind = "holds"
	RecordApprovals  RecordKind = "approvals" // requests for permission that wait for the operator, oldest first
)

// RecordKinds lists every kind.
var RecordKinds = []RecordKind{
	RecordSession, RecordRuns, RecordRun, RecordExchanges, RecordExchange, RecordDeliveries, RecordOrphans, RecordAudit, RecordUsage, RecordHolds,
	RecordApprovals,
}

// RecordQuery asks for records other than heads and messages. Session (key or sessionId) is needed for RecordSession and narrows RecordRuns,
// RecordDeliveries and RecordExchanges, of which both sides count. State narrows RecordDeliveries.
// Live leaves ended runs out of RecordRuns.
// Run is needed for RecordRun; the answer then comes when that run has ended, or Wait (ms) is over, and holds the run as it is.
type RecordQuery struct {
	Kind    RecordKind `json:"kind"`
	Session string     `json:"session,omitempty"`
	Run     string     `json:"run,omitempty"`
	Wait    int64      `json:"wait,omitempty"`
	ID      string     `json:"id,omitempty"`
	Before  Rev        `json:"before,omitempty"` // of RecordAudit: only entries of earlier revisions
	Limit   int        `json:"limit,omitempty"`  // 0 = 200

	State DeliveryState `json:"state,omitempty"`
	Live  bool          `json:"live,omitempty"`
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

// ExchangeDetail is an exchange told from its beginning: round 1, the turns, the announce and what became of its text.
type ExchangeDetail struct {
	Exchange
	Steps    []ExchangeStep `json:"steps"`
	Delivery *Delivery      `json:"delivery,omitempty"`
}

// ExchangeStep is one run of an exchange: who was asked, by whom, and what was answered.
type ExchangeStep struct {
	Name    string `json:"name"` // "round 1", "turn 1"… or "announce"
	Run     Run    `json:"run"`
	Speaker string `json:"speaker"` // session whose agent answers
	From    string `json:"from"`    // session whose message it is
	Message string `json:"message"`
	Reply   string `json:"reply,omitempty"`
}

// UsageRow is what the runs of one agent cost with one model on one day.
type UsageRow struct {
	Day   string `json:"day"` // UTC, 2006-01-02
	Agent string `json:"agent"`
	Model string `json:"model"`
	Runs  int64  `json:"runs"`
	Usage
}

// RecordPage holds the list that was asked for.
type RecordPage struct {
	At      Cursor         `json:"at"`
	Session *SessionDetail `json:"session,omitempty"`
	Runs    []Run          `json:"runs,omitempty"`
	Reply   string         `json:"reply,omitempty"` // of an ended RecordRun
	// Positions are the places of queued runs in their session's line, from 1, by run id; of a sub-agent's run that is first there, its
	// place among all that wait for a slot of their lane.
	Positions   map[string]int  `json:"positions,omitempty"`
	Exchanges   []Exchange      `json:"exchanges,omitempty"`
	Exchange    *ExchangeDetail `json:"exchange,omitempty"`
	Deliveries  []Delivery      `json:"deliveries,omitempty"`
	Generations []Generation    `json:"generations,omitempty"`
	Audit       []AuditEntry    `json:"audit,omitempty"`
	Usage       []UsageRow      `json:"usage,omitempty"`
	Holds       []Hold          `json:"holds,omitempty"`
	Approvals   []Approval      `json:"approvals,omitempty"`
}
