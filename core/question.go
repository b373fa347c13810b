package core

import "encoding/json"

// Question is asked of Explain: exactly one field is set.
type Question struct {
	See    *SeeQuestion `json:"see,omitempty"`
	Rights *SeeQuestion `json:"rights,omitempty"` // what each tool would say of Caller towards Target
	Send   string       `json:"send,omitempty"`   // session key: what does the send policy say of it
	// Policy is the policy tester: what would the send policy say of such a session.
	Policy *PolicyQuestion `json:"policy,omitempty"`
	// Message asks what a message would meet before it is sent.
	Message *MessageQuestion `json:"message,omitempty"`
	// Spawn asks what a sessions_spawn would meet before it is made.
	Spawn *SpawnQuestion `json:"spawn,omitempty"`
}

// SpawnQuestion asks about a sessions_spawn of a session, with the parameters that it would have. What the task says has no part in the
// answer.
type SpawnQuestion struct {
	As     string          `json:"as"`
	Params json.RawMessage `json:"params"`
}

// PolicyQuestion describes a session to the send policy: one that is there, with Override in place of its own when it is not nil, or, when
// Session is "", any channel, chat type and key.
type PolicyQuestion struct {
	Session  string      `json:"session,omitempty"`
	Override *SendPolicy `json:"override,omitempty"`
	Channel  string      `json:"channel,omitempty"`
	ChatType ChatType    `json:"chatType,omitempty"`
	Key      string      `json:"key,omitempty"`
}

// MessageQuestion asks about a message to a session: of the operator when As is "", else sessions_send of that session.
type MessageQuestion struct {
	As string `json:"as,omitempty"`
	To string `json:"to"`
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
	Message *Prospect  `json:"message,omitempty"` // for that question only
	Spawn   *Offspring `json:"spawn,omitempty"`   // likewise
}

// Offspring is the sub-agent that a spawn would make, and what its requester may ask for. Refusals are those of all checks, in their
// order: the first is the one that the tool would answer. What comes of a refused parameter is left out.
type Offspring struct {
	Requester string   `json:"requester"` // full key
	Agents    []string `json:"agents"`    // that it may spawn, its own first
	Live      int      `json:"live"`      // sub-agents it has now
	Most      int      `json:"most"`      // that it may have
	Refusals  []*Error `json:"refusals,omitempty"`

	Agent          string `json:"agent,omitempty"`
	Runtime        string `json:"runtime,omitempty"` // who plays it
	Model          string `json:"model,omitempty"`
	Thinking       string `json:"thinking,omitempty"`
	TimeoutSeconds int    `json:"timeoutSeconds,omitempty"` // 0 = none
	// Confined is the sandboxed session on whose behalf it would be made, "" for none; Sandboxed says whether the child would be.
	Confined  string `json:"confined,omitempty"`
	Sandboxed bool   `json:"sandboxed,omitempty"`

	// Route is where the result would be announced, nil = only in the requester's transcript; Announce says whether it is at all, and Send
	// what the send policy has to say of it.
	Announce bool             `json:"announce"`
	Route    *DeliveryContext `json:"route,omitempty"`
	Send     Verdict          `json:"send"`

	NoThread      string `json:"noThread,omitempty"` // why no thread could be opened
	NoFiles       string `json:"noFiles,omitempty"`  // why no files are taken
	MaxFiles      int    `json:"maxFiles"`
	MaxFileBytes  int64  `json:"maxFileBytes"`
	MaxTotalBytes int64  `json:"maxTotalBytes"`
}

// Prospect is what a message to a session would meet. Loop says whether replies would go to and fro, Announce where the target would tell
// of it (nil = nowhere), Why in words why there is neither.
type Prospect struct {
	To       string           `json:"to"`             // full key
	Live     string           `json:"live,omitempty"` // run that is under way there
	Queued   int              `json:"queued"`         // runs that wait before it
	Held     string           `json:"held,omitempty"` // the hold that keeps it from starting, in words
	Runtime  string           `json:"runtime"`        // who plays the agent
	Loop     bool             `json:"loop,omitempty"`
	Announce *DeliveryContext `json:"announce,omitempty"`
	Why      string           `json:"why,omitempty"`
}

// Right is one tool's verdict on a caller and a target.
type Right struct {
	Tool    string  `json:"tool"`
	Verdict Verdict `json:"verdict"`
}
