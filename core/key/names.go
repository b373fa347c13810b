package key

import (
	"strings"

	"cordboard/core"
)

// DMScope says where direct messages go (session.dmScope).
type DMScope string

const (
	DMMain                  DMScope = "main"
	DMPerPeer               DMScope = "per-peer"
	DMPerChannelPeer        DMScope = "per-channel-peer"
	DMPerAccountChannelPeer DMScope = "per-account-channel-peer"
)

// DMScopes lists every value of session.dmScope.
var DMScopes = []DMScope{DMMain, DMPerPeer, DMPerChannelPeer, DMPerAccountChannelPeer}

// DefaultMain is the main key and the default agent's id where nothing is configured.
const DefaultMain = "main"

// globalKey is the stored key of the one bucket of session.scope "global"; otherwise it and unknownKey are reserved.
const (
	globalKey  = "global"
	unknownKey = "unknown"
)

// Names resolves, classifies and shows keys under one configuration. The zero value is that of an empty one. It is safe for
// concurrent use.
type Names struct {
	mainKey, defaultAgent string
	global                bool
	dm                    DMScope
}

// NewNames takes over what a configuration says about keys; text is trimmed and lower-cased, blank means `main`. An unknown or blank
// dmScope is DMMain. A front end that only shows and completes keys may leave it blank.
func NewNames(n core.Naming, dm DMScope) Names {
	return Names{mainKey: fold(n.MainKey), defaultAgent: fold(n.DefaultAgent), global: n.Global, dm: dm}
}

// Naming is the normalised part of the configuration that front ends are told.
func (n Names) Naming() core.Naming {
	return core.Naming{MainKey: n.MainKey(), DefaultAgent: n.DefaultAgent(), Global: n.global}
}

func fold(s string) string { return strings.ToLower(strings.TrimSpace(s)) }

// MainKey is the last part of every main session's key.
func (n Names) MainKey() string {
	if n.mainKey == "" {
		return DefaultMain
	}
	return n.mainKey
}

// DefaultAgent is the agent that bare keys belong to.
func (n Names) DefaultAgent() string {
	if n.defaultAgent == "" {
		return DefaultMain
	}
	return n.defaultAgent
}

// Main is the stored key of an agent's main session; a blank agent id means the default agent. In global scope all agents share one
// bucket.
func (n Names) Main(agentID string) string {
	if n.global {
		return globalKey
	}
	return agentPrefix + n.agent(agentID) + ":" + n.MainKey()
}

func (n Names) agent(id string) string {
	if id = fold(id); id != "" {
		return id
	}
	return n.DefaultAgent()
}

// AgentOf is the agent whose session a stored key is: the one it names, else the default agent. That is also the owner of the global
// bucket. It does not allocate for a key in lower case.
func (n Names) AgentOf(key string) string {
	if agent, _, _ := split(key); agent != "" {
		return strings.ToLower(agent)
	}
	return n.DefaultAgent()
}

// IsMain reports whether a stored key is a main session: `<mainKey>` with or without `agent:<id>:`, or the bucket of global scope.
// Bytes are compared: `agent:a:MAIN`, when something stored it, is another session. It never allocates.
func (n Names) IsMain(key string) bool {
	if n.global && key == globalKey {
		return true
	}
	_, rest, _ := split(key)
	return rest == n.MainKey()
}

// Kind is the one classifier (session-tools.md §1): main, else BaseKind. It never allocates.
func (n Names) Kind(key string, chat core.ChatType) core.Kind {
	if n.IsMain(key) {
		return core.KindMain
	}
	return BaseKind(key, chat)
}

// Reserved reports whether a key is `global` or `unknown`: never listed, created by a caller or sent to. The bucket that global scope
// shows as `main` is not.
func (n Names) Reserved(key string) bool {
	return strings.EqualFold(key, unknownKey) || strings.EqualFold(key, globalKey) && !n.global
}

// Display is how a stored key is shown to a session of callerAgent: its own main session and the bucket of global scope as `main`, any
// other key in full. The operator, a blank callerAgent, sees full keys but for that bucket. What Display returns, Lookup finds again.
func (n Names) Display(key, callerAgent string) string {
	if n.global && key == globalKey || callerAgent != "" && n.isMainOf(key, fold(callerAgent)) {
		return DefaultMain
	}
	return key
}

// isMainOf reports key == n.Main(agent) without building it.
func (n Names) isMainOf(key, agent string) bool {
	if n.global {
		return key == globalKey
	}
	rest, ok := strings.CutPrefix(key, agentPrefix)
	if !ok {
		return false
	}
	rest, ok = strings.CutPrefix(rest, agent)
	return ok && len(rest) > 0 && rest[0] == ':' && rest[1:] == n.MainKey()
}
