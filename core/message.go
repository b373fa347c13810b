package core

import "encoding/json"

// Role is who speaks in a transcript line. RoleEvent is a line that is not a message (a model change, a compaction, a session header):
// kept so that a transcript can be written out as it came, shown by no tool and counted by none.
type Role uint8

const (
	RoleEvent Role = iota
	RoleUser
	RoleAssistant
	RoleToolResult // `toolResult`, and `tool` in imported data
	RoleSystem
	RoleOther // a message whose role is none of these
)

var roleNames = [...]string{"event", "user", "assistant", "toolResult", "system", "other"}

func (r Role) String() string {
	if int(r) < len(roleNames) {
		return roleNames[r]
	}
	return "other"
}

// MarshalText writes the role's name.
func (r Role) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads what MarshalText wrote; `tool` is toolResult and an unknown name is other, as in imported data.
func (r *Role) UnmarshalText(text []byte) error {
	if string(text) == roleNames[RoleEvent] {
		*r = RoleEvent
		return nil
	}
	*r = RoleOf(string(text))
	return nil
}

// RoleOf returns the Role of a message's `role` field.
func RoleOf(name string) Role {
	switch name {
	case "tool":
		return RoleToolResult
	case "":
		return RoleOther
	}
	for i, known := range roleNames {
		if name == known && Role(i) != RoleEvent {
			return Role(i)
		}
	}
	return RoleOther
}

// MessageFlags are facts of a message that filters need without parsing its JSON.
type MessageFlags uint8

const (
	MessageError        MessageFlags = 1 << iota // stopReason error, or a tool result with isError
	MessageToolCalls                             // has toolCall blocks
	MessageThinking                              // has thinking blocks
	MessageInterSession                          // provenance names another session
	MessageInvalidUTF8                           // the bytes are not UTF-8
	MessageAborted                               // stopReason aborted
)

// Has reports whether every flag of want is set.
func (f MessageFlags) Has(want MessageFlags) bool { return f&want == want }

// Message is one transcript line. Raw is the message object byte for byte as it came ({role, content, timestamp, …}); for RoleEvent the
// whole line. Before and After are the rest of an imported line around Raw, so that Before+Raw+After is that line.
type Message struct {
	Seq    uint64          `json:"seq"`
	Role   Role            `json:"role"`
	Flags  MessageFlags    `json:"flags,omitempty"`
	At     int64           `json:"at"` // ms; 0 = the line names no time
	Raw    json.RawMessage `json:"raw"`
	Before []byte          `json:"-"`
	After  []byte          `json:"-"`
}

// Provenance is a message's `provenance` object: who put it there when it was not the person at the channel (session-tools.md §6).
type Provenance struct {
	Kind             string `json:"kind"` // inter_session | external_user
	SourceSessionKey string `json:"sourceSessionKey,omitempty"`
	SourceChannel    string `json:"sourceChannel,omitempty"`
	SourceTool       string `json:"sourceTool,omitempty"` // sessions_send | sessions_spawn | subagent_announce
	Via              string `json:"via,omitempty"`        // operator: a person sent as that session
}

// ProvenanceOf reads a message's `provenance` object; ok is false when it has none.
func ProvenanceOf(raw []byte) (p Provenance, ok bool) {
	value, ok := Field(raw, "provenance")
	if !ok || json.Unmarshal(value, &p) != nil {
		return Provenance{}, false
	}
	return p, true
}
