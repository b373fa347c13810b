package core

// Kind is what a session is, decided from its key by one classifier (session-tools.md §1, package key).
type Kind string

const (
	KindMain  Kind = "main"
	KindGroup Kind = "group"
	KindCron  Kind = "cron"
	KindHook  Kind = "hook"
	KindNode  Kind = "node"
	KindOther Kind = "other"
)

// Kinds lists every kind in the order they are shown.
var Kinds = []Kind{KindMain, KindGroup, KindCron, KindHook, KindNode, KindOther}

// ChatType is the shape of the conversation behind a session; the send policy matches on it (session-tools.md §1, §7).
// The zero value means it is not known. Stored `dm` is read as ChatDirect.
type ChatType string

const (
	ChatUnknown ChatType = ""
	ChatDirect  ChatType = "direct"
	ChatGroup   ChatType = "group"
	ChatChannel ChatType = "channel"
)

// Visibility is a scope: which sessions a session may see (session-tools.md §3). It never applies to the operator.
type Visibility string

const (
	VisibilitySelf  Visibility = "self"
	VisibilityTree  Visibility = "tree"
	VisibilityAgent Visibility = "agent"
	VisibilityAll   Visibility = "all"
)

// Visibilities lists every scope from narrowest to widest.
var Visibilities = []Visibility{VisibilitySelf, VisibilityTree, VisibilityAgent, VisibilityAll}

// SendPolicy is a session's own override of the send policy; the zero value inherits (session-tools.md §7).
type SendPolicy string

const (
	SendInherit SendPolicy = ""
	SendAllow   SendPolicy = "allow"
	SendDeny    SendPolicy = "deny"
)
