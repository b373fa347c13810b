package bolt

import (
	"encoding/binary"
	"unicode/utf8"

	"cordboard/core"
	"cordboard/core/key"
)

// Layout of a head in ix_updated: version, kind, flags (2 bytes), run state, then as varints tokens, context tokens, last seq and
// revision, then with their lengths channel, parent and title. The key of the entry holds updatedAt and the session key.
const (
	headVersion   = 1
	maxHeadBytes  = 128
	maxHeadParent = 64 // a longer parent is read from the row
	maxHeadName   = 24 // bytes of the channel
)

var runStates = [...]core.RunState{"", core.RunQueued, core.RunRunning}

func indexKey(updatedAt int64, key string) []byte {
	out := binary.BigEndian.AppendUint64(make([]byte, 0, 8+len(key)), descending(updatedAt))
	return append(out, key...)
}

// deriveHead makes the head of a row from all that decides it.
func deriveHead(s *core.Session, rev core.Rev, lastSeq uint64, run core.RunState) core.Head {
	kind := key.BaseKind(s.Key, s.ChatType)
	h := core.Head{
		Key: s.Key, UpdatedAt: s.UpdatedAt, Kind: kind, Flags: headFlags(s), Parent: s.SpawnedBy, Title: s.DisplayName,
		Channel: key.ChannelField(kind, s.Channel, s.LastChannel, s.Key), Run: run, LastSeq: lastSeq, Rev: rev,
	}
	if h.Title == "" {
		h.Title = s.Label
	}
	if s.TotalTokens != nil {
		h.Tokens = *s.TotalTokens
	}
	if s.ContextTokens != nil {
		h.ContextTokens = *s.ContextTokens
	}
	return h
}

func headFlags(s *core.Session) core.HeadFlags {
	var f core.HeadFlags
	set := func(flag core.HeadFlags, on bool) {
		if on {
			f |= flag
		}
	}
	set(core.FlagArchived, s.ArchivedAt != 0)
	set(core.FlagMirrored, s.Mirrored())
	set(core.FlagSendAllow, s.SendPolicy == core.SendAllow)
	set(core.FlagSendDeny, s.SendPolicy == core.SendDeny)
	aborted := s.AbortedLastRun != nil && *s.AbortedLastRun
	set(core.FlagAborted, aborted || s.LastOutcome == core.OutcomeAborted || s.LastOutcome == core.OutcomeInterrupted)
	set(core.FlagFailed, s.LastOutcome == core.OutcomeError || s.LastOutcome == core.OutcomeTimeout)
	set(core.FlagAsks, s.Asks)
	set(core.FlagUndelivered, s.Undelivered)
	set(core.FlagHeld, s.Held)
	set(core.FlagTokensKnown, s.TotalTokens != nil)
	set(core.FlagTokensStale, s.TokensStale)
	set(core.FlagContextKnown, s.ContextTokens != nil)
	set(core.FlagLabelled, s.Label != "")
	set(core.FlagChatKnownKind, s.ChatType == core.ChatGroup || s.ChatType == core.ChatChannel)
	return f
}

// encodeHead packs a head into at most maxHeadBytes: a long parent is left to the row, a long title is cut.
func encodeHead(h *core.Head) []byte {
	out := make([]byte, 5, maxHeadBytes)
	out = binary.AppendVarint(out, h.Tokens)
	out = binary.AppendVarint(out, h.ContextTokens)
	out = binary.AppendUvarint(out, h.LastSeq)
	out = binary.AppendUvarint(out, uint64(h.Rev))

	flags, parent, room := h.Flags, h.Parent, maxHeadBytes-len(out)-3 // 3 lengths, each below 128
	channel := cut(h.Channel, maxHeadName)
	room -= len(channel)
	if len(parent) > min(maxHeadParent, room) {
		flags, parent = flags|core.FlagParentOnRow, ""
	}
	room -= len(parent)

	out[0], out[1], out[4] = headVersion, kindNumber(h.Kind), runNumber(h.Run)
	binary.BigEndian.PutUint16(out[2:], uint16(flags))
	for _, s := range [...]string{channel, parent, cut(h.Title, room)} {
		out = append(append(out, byte(len(s))), s...)
	}
	return out
}

func kindNumber(kind core.Kind) byte {
	for i, known := range core.Kinds {
		if kind == known {
			return byte(i)
		}
	}
	return byte(len(core.Kinds) - 1)
}

func runNumber(state core.RunState) byte {
	for i, known := range runStates {
		if state == known {
			return byte(i)
		}
	}
	return 0
}

// cut shortens s to at most limit bytes without splitting a character.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}

// decodeHead fills h from an index entry without a copy: its strings are borrowed.
func decodeHead(k, v []byte, h *core.Head) bool {
	if len(k) <= 8 || len(v) < 5 || v[0] != headVersion || int(v[1]) >= len(core.Kinds) || int(v[4]) >= len(runStates) {
		return false
	}
	d := decoder{rest: v[5:]}
	h.UpdatedAt, h.Key = fromDescending(binary.BigEndian.Uint64(k)), borrow(k[8:])
	h.Kind, h.Run = core.Kinds[v[1]], runStates[v[4]]
	h.Flags = core.HeadFlags(binary.BigEndian.Uint16(v[2:]))
	h.Tokens, h.ContextTokens, h.LastSeq, h.Rev = d.varint(), d.varint(), d.uvarint(), core.Rev(d.uvarint())
	h.Channel, h.Parent, h.Title = borrow(d.bytes()), borrow(d.bytes()), borrow(d.bytes())
	return d.err == nil && len(d.rest) == 0
}
