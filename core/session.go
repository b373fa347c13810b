package core

import "encoding/json"

// MaxKeyBytes bounds a session key (engine.md §8).
const MaxKeyBytes = 512

// DeliveryContext is where an answer to a session goes. Channel is lower case; blank fields are absent (session-tools.md §4).
type DeliveryContext struct {
	Channel   string `json:"channel,omitempty"`
	To        string `json:"to,omitempty"`
	AccountID string `json:"accountId,omitempty"`
	ThreadID  string `json:"threadId,omitempty"`
}

// Session is the stored row of one session: a few hundred bytes, never its messages. Pointers are absent when unknown: 0 is a number.
type Session struct {
	Key       string `json:"key"`
	SessionID string `json:"sessionId,omitempty"` // id of the current Generation
	CreatedAt int64  `json:"createdAt,omitempty"`
	UpdatedAt int64  `json:"updatedAt"` // moves with messages and runs, not with patches

	ChatType    ChatType `json:"chatType,omitempty"`
	Channel     string   `json:"channel,omitempty"` // recorded on the session; the row's channel field is derived (session-tools.md §2)
	Label       string   `json:"label,omitempty"`
	DisplayName string   `json:"displayName,omitempty"`

	SpawnedBy  string `json:"spawnedBy,omitempty"` // key of the session that spawned it: the lineage
	SpawnDepth int    `json:"spawnDepth,omitempty"`
	SpawnRun   string `json:"spawnRun,omitempty"` // id of the run that it was spawned for

	// Thread is the thread that is bound to the session, so that what is said there comes here (session-tools.md §8).
	Thread DeliveryContext `json:"thread,omitzero"`

	Model          string `json:"model,omitempty"`
	ModelProvider  string `json:"modelProvider,omitempty"`
	ContextTokens  *int64 `json:"contextTokens,omitempty"` // the model's window
	TotalTokens    *int64 `json:"totalTokens,omitempty"`   // since the last reset
	TokensStale    bool   `json:"tokensStale,omitempty"`   // TotalTokens is an old figure: shown with a mark, absent in tool rows
	ThinkingLevel  string `json:"thinkingLevel,omitempty"`
	VerboseLevel   string `json:"verboseLevel,omitempty"`
	SystemSent     *bool  `json:"systemSent,omitempty"`
	AbortedLastRun *bool  `json:"abortedLastRun,omitempty"`

	SendPolicy    SendPolicy      `json:"sendPolicy,omitempty"`
	LastChannel   string          `json:"lastChannel,omitempty"`
	LastTo        string          `json:"lastTo,omitempty"`
	LastAccountID string          `json:"lastAccountId,omitempty"`
	LastThreadID  string          `json:"lastThreadId,omitempty"`
	Delivery      DeliveryContext `json:"deliveryContext,omitzero"`

	LiveRun     string     `json:"liveRun,omitempty"` // id of the running run: the session's mutex
	LastOutcome RunOutcome `json:"lastOutcome,omitempty"`
	Asks        bool       `json:"asks,omitempty"`        // its live run waits on the operator
	Undelivered bool       `json:"undelivered,omitempty"` // its last outbound text was blocked, gave up or has an unknown fate, or its announce failed
	Held        bool       `json:"held,omitempty"`        // what is queued does not start until the operator lets it
	ArchivedAt  int64      `json:"archivedAt,omitempty"`
	ArchiveAt   int64      `json:"archiveAt,omitempty"` // when a sub-agent's session is archived; 0 = not by itself
	Source      string     `json:"source,omitempty"`    // directory it was imported from: the session is mirrored (engine.md §9)
}

// Mirrored reports whether the session belongs to an imported or followed source, so that nobody here answers for it.
func (s *Session) Mirrored() bool { return s.Source != "" }

// HeadFlags are the yes/no facts a list filters on.
type HeadFlags uint16

const (
	FlagArchived HeadFlags = 1 << iota
	FlagMirrored
	FlagSendAllow // the session's own override says allow
	FlagSendDeny
	FlagAborted       // the last run ended aborted or interrupted
	FlagFailed        // the last run ended in error or timeout
	FlagTokensKnown   // Tokens is a figure, 0 included
	FlagTokensStale   // Tokens is an old figure
	FlagContextKnown  // ContextTokens is a figure
	FlagLabelled      // the session has a label of its own
	FlagParentOnRow   // Parent was too long for the index: read the row
	FlagChatKnownKind // chatType was stored (group or channel), so Kind does not come from the key alone
	FlagAsks          // the live run waits on the operator
	FlagUndelivered   // the last outbound text was blocked, gave up or has an unknown fate
	FlagHeld          // what is queued does not start
)

var headFlagNames = [...]string{
	"archived", "mirrored", "sendAllow", "sendDeny", "aborted", "failed", "tokens", "tokensStale",
	"context", "labelled", "parentOnRow", "chatKind",
	"asks", "undelivered", "held",
}

// Has reports whether every flag of want is set.
func (f HeadFlags) Has(want HeadFlags) bool { return f&want == want }

// MarshalJSON writes the flags as a list of names.
func (f HeadFlags) MarshalJSON() ([]byte, error) {
	names := []string{}
	for i, name := range headFlagNames {
		if f.Has(1 << i) {
			names = append(names, name)
		}
	}
	return json.Marshal(names)
}

// UnmarshalJSON reads a list of names; one it does not know is an error.
func (f *HeadFlags) UnmarshalJSON(data []byte) error {
	var names []string
	if err := json.Unmarshal(data, &names); err != nil {
		return err
	}
	*f = 0
next:
	for _, name := range names {
		for i, known := range headFlagNames {
			if name == known {
				*f |= 1 << i
				continue next
			}
		}
		return Errorf(CodeInvalidParams, "unknown head flag %q", name).Accept(headFlagNames[:]...)
	}
	return nil
}

// Head is a session's index entry: what lists and trees need, so that no filter decodes a row (engine.md §8). The store derives it
// from the row. Kind in a stored head is decided without the config (key.BaseKind), so it is never KindMain; the engine refines it.
type Head struct {
	Key           string    `json:"key"`
	UpdatedAt     int64     `json:"updatedAt"`
	Kind          Kind      `json:"kind"`
	Flags         HeadFlags `json:"flags"`
	Parent        string    `json:"parent,omitempty"`  // key of the session that spawned it
	Title         string    `json:"title,omitempty"`   // display name or label, possibly cut; "" = show the key
	Channel       string    `json:"channel,omitempty"` // the row's channel field (session-tools.md §2)
	Tokens        int64     `json:"tokens,omitempty"`
	ContextTokens int64     `json:"contextTokens,omitempty"`
	Run           RunState  `json:"run,omitempty"` // "" = no live or queued run
	LastSeq       uint64    `json:"lastSeq,omitempty"`
	Rev           Rev       `json:"rev"` // revision that wrote the row last
}

// HeadCursor is a place in the order of a list: updatedAt descending, ties by key ascending. The zero value is before the first.
type HeadCursor struct {
	UpdatedAt int64
	Key       string
}

// GenerationState says how a transcript came to be what it is.
type GenerationState string

const (
	GenerationCurrent GenerationState = "current"
	GenerationReset   GenerationState = "reset"   // the session was reset, this is the transcript before it
	GenerationDeleted GenerationState = "deleted" // the session was deleted, its transcript kept
	GenerationBackup  GenerationState = "backup"  // a copy made before a compaction
	GenerationOrphan  GenerationState = "orphan"  // a transcript no session names
)

// Generation is one transcript of a session: a reset starts a new one, the old stays readable by its id (session-tools.md §9).
// ID is the sessionId; where several files of one sessionId exist (a backup beside the current one) the later take
// "<sessionId>.<state>.<time>". Key may be "" for an orphan whose session is not known.
// Seqs are ordered, may start anywhere and have holes; count with Messages.
type Generation struct {
	ID          string          `json:"id"`
	SessionID   string          `json:"sessionId"`
	Key         string          `json:"key,omitempty"`
	Agent       string          `json:"agent,omitempty"`
	State       GenerationState `json:"state"`
	CreatedAt   int64           `json:"createdAt,omitempty"`
	EndedAt     int64           `json:"endedAt,omitempty"` // when it was reset, deleted or backed up
	File        string          `json:"file,omitempty"`    // path of the transcript it was read from
	Messages    int             `json:"messages"`          // lines that are messages, tool results included
	ToolResults int             `json:"toolResults"`
	FirstSeq    uint64          `json:"firstSeq,omitempty"`
	LastSeq     uint64          `json:"lastSeq,omitempty"`
	Bytes       int64           `json:"bytes"` // of message JSON
}
