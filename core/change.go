package core

// Rev numbers the transactions that wrote: each takes the next, and their order is commit order (engine.md §7).
type Rev uint64

// Cursor is a place in a store's history. Epoch is new at init and restore, so a cursor of another life is never taken for one of this.
type Cursor struct {
	Epoch string `json:"epoch"`
	Rev   Rev    `json:"rev"`
}

// ChangeKind says which record changed.
type ChangeKind string

const (
	ChangeSession    ChangeKind = "session"  // ID = session key
	ChangeMessages   ChangeKind = "messages" // ID = generation id, FirstSeq..LastSeq appended
	ChangeGeneration ChangeKind = "generation"
	ChangeRun        ChangeKind = "run"
	ChangeExchange   ChangeKind = "exchange"
	ChangeDelivery   ChangeKind = "delivery"
	ChangeHold       ChangeKind = "hold" // ID = session key, "agent:" and agent id, or "" for all
)

// Change is one record that a transaction wrote. In a Batch the engine fills Head or Run with the newest state, so that a front end need
// not ask; both are nil when the record is gone.
type Change struct {
	Kind     ChangeKind `json:"kind"`
	ID       string     `json:"id"`
	FirstSeq uint64     `json:"firstSeq,omitempty"`
	LastSeq  uint64     `json:"lastSeq,omitempty"`
	Deleted  bool       `json:"deleted,omitempty"`
	Head     *Head      `json:"head,omitempty"`
	Run      *Run       `json:"run,omitempty"`
}

// Revision is what one transaction changed, as the store's log keeps it (Head and Run are nil there).
type Revision struct {
	Rev     Rev
	Changes []Change
}

// Batch is what a watcher is told: everything that changed in (From, To], merged per record, last state wins. From equals the previous
// batch's To. Gap means that history was lost to the watcher (unknown epoch, revision ahead of the store or behind the log): read anew.
type Batch struct {
	Epoch   string   `json:"epoch"`
	From    Rev      `json:"from"`
	To      Rev      `json:"to"`
	Changes []Change `json:"changes,omitempty"`
	Deltas  []Delta  `json:"deltas,omitempty"`
	Gap     bool     `json:"gap,omitempty"`
}

// Delta is text that a live run of a focused session adds to its Partial. It is told at most 30 times a second and never kept: Offset is
// how many bytes come before it, and one that begins beyond the Partial a reader has says that it is to be read anew (engine.md §7); of one
// that begins within it, read meanwhile, the rest is new. After
// tells one part of a reply from the next: a tool call puts the text before it into the transcript, and with the greater After of what
// comes then offsets begin at 0 again. A batch that brings a run's line in the transcript brings no text of that line. Text may be "":
// then the Delta only tells how far the Partial is.
type Delta struct {
	Session string `json:"session"`
	Run     string `json:"run"`
	After   uint64 `json:"after"` // seq of the run's last line in the transcript: the text comes below it
	Offset  int    `json:"offset"`
	Text    string `json:"text"`
	Thought bool   `json:"thought,omitempty"` // it adds to the Partial's Thought, and Offset counts there
}
