package core

// SpawnMode says whether a sub-agent ends with its run or stays in a thread (session-tools.md §8).
type SpawnMode string

const (
	SpawnOnce    SpawnMode = "run"
	SpawnSession SpawnMode = "session"
)

// What becomes of a sub-agent's session once its result is announced.
const (
	CleanupKeep   = "keep"
	CleanupDelete = "delete"
)

// AnnounceState is where the announce of a sub-agent stands; "" means that its run has not ended.
type AnnounceState string

const (
	AnnouncePending AnnounceState = "pending" // the child is asked what to tell
	AnnounceSent    AnnounceState = "announced"
	AnnounceSkipped AnnounceState = "skipped" // the child chose silence
	AnnounceOff     AnnounceState = "off"     // agents.defaults.subagents.announce is false
	AnnounceFailed  AnnounceState = "failed"  // announce failed: the result stays readable, the operator may retry
	AnnounceStopped AnnounceState = "stopped" // by the operator: nothing is told
)

// Spawn is what only a run of kind spawn has: how it was asked for and what became of its result (session-tools.md §8).
type Spawn struct {
	Mode           SpawnMode `json:"mode"`
	TimeoutSeconds int       `json:"timeoutSeconds,omitempty"` // 0 = none
	// Route is where the requester could be reached when it spawned; nil = nowhere but in its own transcript.
	Route         *DeliveryContext `json:"route,omitempty"`
	Announce      AnnounceState    `json:"announce,omitempty"`
	AnnounceError string           `json:"announceError,omitempty"` // why it failed
	Files         *Attachments     `json:"files,omitempty"`
	MountPath     string           `json:"mountPath,omitempty"` // a hint of the caller's
}

// Anew is the spawn as it was asked for, without what became of it; nil stays nil.
func (s *Spawn) Anew() *Spawn {
	if s == nil {
		return nil
	}
	anew := *s
	anew.Announce, anew.AnnounceError = "", ""
	return &anew
}

// Attachments are the files that a spawn brought, in RelDir under the workspace of the child's agent.
type Attachments struct {
	Workspace string       `json:"workspace"` // absolute
	RelDir    string       `json:"relDir"`    // slashes
	Files     []Attachment `json:"files"`
}

// Attachment is one file's receipt.
type Attachment struct {
	Name     string `json:"name"`
	Bytes    int64  `json:"bytes"`
	SHA256   string `json:"sha256"` // hex
	MimeType string `json:"mimeType,omitempty"`
}

// Binding ties a thread of a channel to the session that answers in it. Route names the thread; EndsAt is when it is unbound, 0 = never.
type Binding struct {
	Route     DeliveryContext `json:"route"`
	Session   string          `json:"session"`
	CreatedAt int64           `json:"createdAt"`
	EndsAt    int64           `json:"endsAt,omitempty"`
}

// Image is a picture that goes with a run's message.
type Image struct {
	MimeType string
	Data     []byte
}
