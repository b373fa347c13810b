package policy

import (
	"cmp"

	"cordboard/core"
)

// Sandboxed reports whether a session runs in a sandbox: agents.list[].sandbox.mode, else agents.defaults.sandbox.mode, else off
// (session-tools.md §3).
func (r *Rules) Sandboxed(sessionKey string) bool {
	agent, _ := r.agent(r.Names.AgentOf(sessionKey))
	switch cmp.Or(agent.Sandbox.Mode, r.Sandbox.Mode) {
	case SandboxAll:
		return true
	case SandboxNonMain:
		return !r.Names.IsMain(sessionKey)
	}
	return false
}

// clamp is what holds a sandboxed session of an agent down, and the config key that says so.
func (r *Rules) clamp(agentID string) (Clamp, string) {
	if agent, at := r.agent(agentID); agent.Sandbox.Clamp != "" {
		return agent.Sandbox.Clamp, agentKey(at, keyClamp)
	}
	return cmp.Or(r.Sandbox.Clamp, ClampSpawned), agentDefaults + keyClamp
}

// Scope is a caller's scope as configured and as it is in force. A sandboxed session's `agent` and `all` are held down to `tree`,
// `self` is never widened. The operator, a blank caller, sees all.
func (r *Rules) Scope(caller string) core.ScopeInfo {
	visibility := cmp.Or(r.Visibility, core.VisibilityTree)
	scope := core.ScopeInfo{Visibility: visibility, Effective: visibility}
	if caller == "" {
		scope.Effective = core.VisibilityAll
		return scope
	}
	if visibility != core.VisibilityAgent && visibility != core.VisibilityAll || !r.Sandboxed(caller) {
		return scope
	}
	if clamp, configKey := r.clamp(r.Names.AgentOf(caller)); clamp != ClampAll {
		scope.Effective, scope.ClampedBy = core.VisibilityTree, configKey
	}
	return scope
}
