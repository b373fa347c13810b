package core

import (
	"context"
	"encoding/json"
	"io"
)

// Store keeps every fact (engine.md §8). It is safe for concurrent use.
//
// A read function gets a snapshot and must not outlive it: what a Reader hands to a visit function is borrowed until that function
// returns. Inside a View never call View or Update, and do no I/O: a long read holds up the writer.
// An Update function may run more than once and sees only its own and earlier writes: ids, time and randomness come from outside,
// effects happen after commit. An error or a panic in it removes all its writes and touches no other transaction.
type Store interface {
	View(ctx context.Context, fn func(Reader) error) error
	// Update commits fn's writes as one revision and returns it; a function that wrote nothing takes none and gets the current one.
	Update(ctx context.Context, fn func(Tx) error) (Rev, error)
	// Changes returns the revisions after from, oldest first, at most limit; ErrGap when the log no longer reaches back to from or
	// from is ahead of the store.
	Changes(ctx context.Context, from Rev, limit int) ([]Revision, error)
	// Await returns the current revision once it is greater than after.
	Await(ctx context.Context, after Rev) (Rev, error)
	Info(ctx context.Context) (StoreInfo, error)
	// Backup writes a consistent copy of the whole store while it is in use.
	Backup(ctx context.Context, w io.Writer) (int64, error)
	Close() error
}

// ErrGap is returned by Store.Changes when the asked history is not there.
var ErrGap = &Error{Code: "gap", Message: "the change log does not reach back to that revision"}

// StoreInfo tells of the file.
type StoreInfo struct {
	Path     string `json:"path"`
	Epoch    string `json:"epoch"`
	Rev      Rev    `json:"rev"`
	Schema   int    `json:"schema"`
	ReadOnly bool   `json:"readOnly"`
	Bytes    int64  `json:"bytes"` // size of the file
	Used     int64  `json:"used"`  // bytes of it that hold data
	Sessions int    `json:"sessions"`
}

// SeqRange selects messages of a generation. Backward walks from the newest; After and Before are exclusive and 0 means open.
type SeqRange struct {
	After, Before uint64
	Backward      bool
}

// Reader is a snapshot. Lookups return ok=false for what is absent; an error means that the store could not be read. Visit functions
// return false to stop; the records they get (strings and bytes inside included) are valid only until they return: clone to keep. Inside
// a visit function nothing may be written: collect first. A record that cannot be read is left out, and the walk's error tells of it.
type Reader interface {
	// Rev is the revision of the snapshot; in an Update function the one that its writes will carry.
	Rev() Rev
	Session(key string) (s Session, ok bool, err error)
	Head(key string) (h Head, ok bool, err error)
	// Heads walks the head index from after (exclusive), newest first.
	Heads(after HeadCursor, visit func(*Head) bool) error
	// Children walks the keys of the sessions whose SpawnedBy is parent, in key order.
	Children(parent string, visit func(key string) bool) error
	// Entry is the imported entry as it came, fields we do not know included.
	Entry(key string) (entry json.RawMessage, ok bool, err error)
	Generation(id string) (g Generation, ok bool, err error)
	// Generations walks every generation of a session, the current one included, by id.
	Generations(key string, visit func(*Generation) bool) error
	// AllGenerations walks the generations whose id is after the given one, by id: orphans are found here.
	AllGenerations(after string, visit func(*Generation) bool) error
	Messages(generation string, r SeqRange, visit func(*Message) bool) error

	Run(id string) (r Run, ok bool, err error)
	// Runs walks the runs of a session, newest first; sessionKey "" walks all.
	Runs(sessionKey string, visit func(*Run) bool) error
	// LiveRuns walks queued and running runs in the order they were queued.
	LiveRuns(visit func(*Run) bool) error
	Exchange(id string) (x Exchange, ok bool, err error)
	Exchanges(visit func(*Exchange) bool) error
	Delivery(id string) (d Delivery, ok bool, err error)
	Deliveries(visit func(*Delivery) bool) error
	// Due walks the due entries up to and including the given time, soonest first.
	Due(until int64, visit func(Due) bool) error
	Idempotent(scope string) (answer Answer, ok bool, err error)
	// Audit walks the commands of revisions before the given one (0 = all), newest first.
	Audit(before Rev, visit func(*AuditEntry) bool) error
	// Holds walks the holds: the one of all first, then those of agents and of sessions, each by name.
	Holds(visit func(*Hold) bool) error
	// Usage walks the counters, newest day first, then by agent and model.
	Usage(visit func(*UsageRow) bool) error
	// Binding finds the binding of the thread that a route names: by channel, account, address and thread, byte for byte.
	Binding(route DeliveryContext) (b Binding, ok bool, err error)
	SourceFile(source, path string) (f SourceFile, ok bool, err error)
	SourceFiles(source string, visit func(*SourceFile) bool) error
}

// Tx is a Reader that writes. The store derives every index entry from the old and the new record.
type Tx interface {
	Reader
	PutSession(s Session) error
	// DeleteSession removes the row, its head and its entry; its generations stay.
	DeleteSession(key string) error
	PutEntry(key string, entry json.RawMessage) error
	// PutGeneration writes a generation's facts; its counts, seqs and bytes are the store's own and are left as they are.
	PutGeneration(g Generation) error
	// DeleteGeneration removes a generation with its messages.
	DeleteGeneration(id string) error
	// Append adds messages to the end of a generation that exists, numbering those whose Seq is 0, and moves its counts and, when it is
	// its session's current one, the session's head. It returns the seqs of the first and last.
	Append(generation string, messages ...Message) (first, last uint64, err error)

	PutRun(r Run) error
	PutExchange(x Exchange) error
	PutDelivery(d Delivery) error
	PutDue(d Due) error
	DeleteDue(d Due) error
	PutIdempotent(scope string, a Answer) error
	// AddAudit records a command under this transaction's revision.
	AddAudit(e AuditEntry) error
	// PutHold keeps a hold, or removes it when it is released. Nothing is written when that changes nothing.
	PutHold(h Hold) error
	// AddUsage adds to the counters of a row's day, agent and model. A cost that is not known adds nothing to one that is.
	AddUsage(u UsageRow) error
	PutBinding(b Binding) error
	// DeleteBinding removes a thread's binding. What is not there is no error.
	DeleteBinding(route DeliveryContext) error
	PutSourceFile(f SourceFile) error
}

// Due is something to do at a time (ms): an archive, a retry, a binding's end.
type Due struct {
	At   int64
	Kind string
	ID   string
}

// Answer is what an idempotent command answered, with the hash of its parameters.
type Answer struct {
	Hash string          `json:"hash"`
	At   int64           `json:"at"`
	Body json.RawMessage `json:"body"`
}

// SourceFile remembers how far a file of an imported or followed directory has been read, so that a second run adds only what is new.
type SourceFile struct {
	Source     string `json:"source"` // the directory, absolute
	Path       string `json:"path"`   // within it, slashes
	Generation string `json:"generation,omitempty"`
	Size       int64  `json:"size"`   // when it was read last
	ModTime    int64  `json:"mtime"`  // ns
	Offset     int64  `json:"offset"` // bytes read into the store: always the end of a line
	Lines      int    `json:"lines"`
	Sum        string `json:"sum,omitempty"` // hash of what was read, to tell an appended file from a rewritten one
}
