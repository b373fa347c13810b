package key

import (
	"cmp"
	"strings"
	"unicode"

	"cordboard/core"
)

// Values of the channel field that name no real channel (session-tools.md §2).
const (
	ChannelInternal = "internal"
	ChannelUnknown  = "unknown"
)

// IsChannel reports whether a name may be that of a channel people write from: its sessions' keys then say so, and say nothing else.
func IsChannel(name string) bool {
	switch name = fold(name); name {
	case "", ChannelInternal, ChannelUnknown, "global", "cron", "hook", "node", "subagent", "direct", "dm", "group", "channel":
		return false
	}
	unfit := func(c rune) bool { return c == ':' || c == '/' || unicode.IsSpace(c) || !unicode.IsPrint(c) }
	return len(name) <= 64 && !strings.HasPrefix(name, "node-") && !strings.ContainsFunc(name, unfit)
}

// ChannelField is the channel of a row (session-tools.md §2): of a group the channel recorded on the session, else the one in its key;
// of main and other sessions the last channel; `internal` for cron, hook and node; `unknown` where that leaves nothing. Names are
// trimmed and in lower case.
func ChannelField(kind core.Kind, recorded, last, key string) string {
	switch kind {
	case core.KindCron, core.KindHook, core.KindNode:
		return ChannelInternal
	case core.KindGroup:
		if recorded = fold(recorded); recorded != "" {
			return recorded
		}
		return channelOr(groupChannel(key))
	}
	return channelOr(last)
}

// groupChannel is the channel that a group key names; that of a direct chat's key is not the session's channel.
func groupChannel(key string) string {
	p, _ := Parse(key)
	if p.ChatType == core.ChatGroup || p.ChatType == core.ChatChannel {
		return p.Channel
	}
	return ""
}

// Normal is a delivery context with every field trimmed and the channel in lower case.
func Normal(d core.DeliveryContext) core.DeliveryContext {
	return core.DeliveryContext{
		Channel: fold(d.Channel), To: strings.TrimSpace(d.To),
		AccountID: strings.TrimSpace(d.AccountID), ThreadID: strings.TrimSpace(d.ThreadID),
	}
}

// Merge fills the blanks of one source from a second. When the two name different channels only the first speaks: an address on the
// other's channel would reach someone else (session-tools.md §4).
func Merge(d, other core.DeliveryContext) core.DeliveryContext {
	d, other = Normal(d), Normal(other)
	if d.Channel != "" && other.Channel != "" && d.Channel != other.Channel {
		return d
	}
	return core.DeliveryContext{
		Channel: cmp.Or(d.Channel, other.Channel), To: cmp.Or(d.To, other.To),
		AccountID: cmp.Or(d.AccountID, other.AccountID), ThreadID: cmp.Or(d.ThreadID, other.ThreadID),
	}
}

// Delivery is the delivery context of a session, from what its row recorded last and from the context stored on it; the former goes
// first. The row's lastChannel, lastTo and lastAccountId are those of the answer.
func Delivery(s *core.Session) core.DeliveryContext {
	last := core.DeliveryContext{Channel: s.LastChannel, To: s.LastTo, AccountID: s.LastAccountID, ThreadID: s.LastThreadID}
	return Merge(last, s.Delivery)
}
