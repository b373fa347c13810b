package core

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
	Reply   *Reply   `json:"reply,omitempty"`
	Hold    *Hold    `json:"hold,omitempty"`
	Reset   *Reset   `json:"reset,omitempty"`
	Delete  *Delete  `json:"delete,omitempty"`
	Adopt   *Adopt   `json:"adopt,omitempty"`
	Approve *Approve `json:"approve,omitempty"`
}

// Send is the operator's own message into a session (chat.send): one run, no loop, no announce. Command.Key, when given, becomes the run's
// id, so that a repetition is the same run.
type Send struct {
	Session string `json:"session"`
	Message string `json:"message"`
}

// New makes a session of a configured agent ("" = the default agent). Model is a configured "provider/model", "" the agent's own.
type New struct {
	Agent string `json:"agent,omitempty"`
	Label string `json:"label,omitempty"`
	Model string `json:"model,omitempty"`
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

// Retry attempts a delivery again that gave up or whose fate is unknown, or runs the message of a run that did not end ok once more, as a
// new run. Exactly one is named.
type Retry struct {
	Delivery string `json:"delivery,omitempty"`
	Run      string `json:"run,omitempty"`
}

// Reply answers a run that waits on the operator, because its agent's runtime is manual (engine.md §3).
type Reply struct {
	Run  string `json:"run"`
	Text string `json:"text"`
}

// Hold keeps what is queued for a session, for the sessions of an agent, or (both blank) for all from starting; Release lets it go. What
// runs goes on. What is held stays queued over a restart, however old it is by then.
type Hold struct {
	Session string `json:"session,omitempty"`
	Agent   string `json:"agent,omitempty"`
	Release bool   `json:"release,omitempty"`
}

// Reset gives a session a new transcript; the old one stays readable by its sessionId (session-tools.md §9). It refuses while a run is
// live there; what is queued runs in the new one.
type Reset struct {
	Session string `json:"session"`
}

// Delete removes a session, its transcript kept unless it is purged. It refuses a main session, and one with a live run unless that is to
// be aborted (session-tools.md §9).
type Delete struct {
	Session string `json:"session"`
	Abort   bool   `json:"abort,omitempty"`
	Purge   bool   `json:"purge,omitempty"`
}

// Adopt cuts a mirrored session from its source: from then on the runtime of its agent answers here (engine.md §9).
type Adopt struct {
	Session string `json:"session"`
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
	Model         *string     `json:"model,omitempty"` // a configured "provider/model"
	Archived      *bool       `json:"archived,omitempty"`
}

// Receipt says what a command did. Undo, when there is one, takes it back as long as nobody else has changed the row.
type Receipt struct {
	Rev  Rev      `json:"rev"`
	Key  string   `json:"key"` // session it touched
	Run  string   `json:"run,omitempty"`
	Runs []string `json:"runs,omitempty"` // that a stop ended
	// Outcome tells what became of a message that started no run (blocked, the send policy that a /send command set or asked for), or
	// that a hold changed nothing.
	Outcome string   `json:"outcome,omitempty"`
	Undo    *Command `json:"undo,omitempty"`
}

// Approve answers a request for permission: by its ID, or the only one of a run or session. Option is the id of one of its options, or
// "allow" or "reject" for the one that does so once.
type Approve struct {
	ID      string `json:"id,omitempty"`
	Run     string `json:"run,omitempty"`
	Session string `json:"session,omitempty"`
	Option  string `json:"option"`
}
