package core

// Question is asked of Explain: exactly one field is set.
type Question struct {
	See    *SeeQuestion `json:"see,omitempty"`
	Rights *SeeQuestion `json:"rights,omitempty"` // what each tool would say of Caller towards Target
	Send   string       `json:"send,omitempty"`   // session key: what does the send policy say of it
	// Policy is the policy tester: what would the send policy say of such a session.
	Policy *PolicyQuestion `json:"policy,omitempty"`
	// Message asks what a message would meet before it is sent.
	Message *MessageQuestion `json:"message,omitempty"`
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
