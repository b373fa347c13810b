package policy

import "cordboard/core"

// Target is a session that a caller wants to see. Key and SpawnedBy alone decide.
type Target struct {
	Key       string // stored key, or the canonical form of one that may not exist
	SpawnedBy string // stored key of the session that spawned it; blank for a key that does not exist
	// Given is what the caller typed, for the words of a refusal; blank shows the key as the caller sees it. With it a refusal reads
	// the same whether the key was found or only made canonical.
	Given string
}

// View is what one caller may see, prepared once for many sessions.
type View struct {
	rules         *Rules
	caller, agent string
	scope         core.ScopeInfo
	enabled, mine bool // agentToAgent is on; its list matches the caller's agent
}

// View prepares the scope of a caller: the stored key of a session, or blank for the operator, who sees every session.
func (r *Rules) View(caller string) View {
	v := View{rules: r, caller: caller, scope: r.Scope(caller)}
	if caller != "" {
		v.agent = r.Names.AgentOf(caller)
		v.enabled, v.mine = r.AgentToAgent.Enabled, r.AgentToAgent.allows(v.agent)
	}
	return v
}

// Scope is the scope the view was made from.
func (v View) Scope() core.ScopeInfo { return v.scope }

// reason is the rule that decides about one target.
type reason int

const (
	isOperator reason = iota
	isSelf
	isChild
	isSameAgent
	isAllowedPair
	notReserved // from here on refusals
	notInScope
	notCrossAgent
	notEnabled
	notAllowedPair
)

func (r reason) allowed() bool { return r < notReserved }

var reasonRules = [...]string{
	"operator", "own session", "own child", "same agent", "agentToAgent", "reserved key", "visibility",
	"visibility and agentToAgent", "agentToAgent.enabled", "agentToAgent.allow",
}

// decide is the one predicate (session-tools.md §3): a function of the caller's key, the target's key and the target's parent.
// Scope `agent` is taken as its table says, every session of the calling agent's id: a child under another agent id is not among them.
func (v View) decide(target, spawnedBy string) reason {
	names := v.rules.Names
	switch {
	case names.Reserved(target):
		return notReserved
	case v.caller == "":
		return isOperator
	case target == v.caller:
		return isSelf
	}
	sameAgent := names.AgentOf(target) == v.agent
	switch scope := v.scope.Effective; {
	case spawnedBy == v.caller && (scope == core.VisibilityTree || scope == core.VisibilityAll):
		return isChild
	case sameAgent && (scope == core.VisibilityAgent || scope == core.VisibilityAll):
		return isSameAgent
	case sameAgent:
		return notInScope
	case scope != core.VisibilityAll:
		return notCrossAgent
	case !v.enabled:
		return notEnabled
	case v.mine && v.rules.AgentToAgent.allows(names.AgentOf(target)):
		return isAllowedPair
	}
	return notAllowedPair
}

// Allows reports whether the caller may see a session, given its stored key and parent. It does not allocate for keys with their agent
// id in lower case, as all are that we make.
func (v View) Allows(target, spawnedBy string) bool { return v.decide(target, spawnedBy).allowed() }

// See is Allows with the rule that decided and, for a refusal, the config key and the words.
func (v View) See(t Target) core.Verdict {
	why := v.decide(t.Key, t.SpawnedBy)
	verdict := core.Verdict{Allowed: why.allowed(), Rule: reasonRules[why]}
	if !verdict.Allowed {
		verdict.Message, verdict.ConfigKey, _ = v.refusal(why, t)
	} else if why == isAllowedPair {
		verdict.ConfigKey = keyAgentToAgent
	} else if why == isChild || why == isSameAgent {
		verdict.ConfigKey = keyVisibility
	}
	return verdict
}

// Refuse is the CodeForbidden error for a session the caller may not see, and nil for one he may.
func (v View) Refuse(t Target) error {
	why := v.decide(t.Key, t.SpawnedBy)
	if why.allowed() {
		return nil
	}
	message, configKey, accepted := v.refusal(why, t)
	return core.Errorf(core.CodeForbidden, "%s", message).Because(configKey).Accept(accepted...)
}
