package policy

import (
	"cmp"
	"fmt"

	"cordboard/core"
)

// Party is a stored session as caller or target of a tool.
type Party struct {
	Key       string
	SpawnedBy string
	Depth     int // how many spawns it is away from a session nobody spawned
	Mirrored  bool
	Sending   Sending
}

// Rights is what each of the four tools would say of a caller towards a target: list, history and send ask the one predicate, send then
// asks the send policy, spawn asks for a sub-agent under the target's agent.
func (r *Rules) Rights(v View, caller, target Party) []core.Right {
	see := v.See(Target{Key: target.Key, SpawnedBy: target.SpawnedBy})
	return []core.Right{
		{Tool: "sessions_list", Verdict: see},
		{Tool: "sessions_history", Verdict: see},
		{Tool: "sessions_send", Verdict: r.maySendTo(see, target)},
		{Tool: "sessions_spawn", Verdict: r.maySpawnUnder(caller, r.Names.AgentOf(target.Key))},
	}
}

func (r *Rules) maySendTo(see core.Verdict, target Party) core.Verdict {
	switch {
	case !see.Allowed:
		return see
	case target.Mirrored:
		return mirrored(target.Key)
	}
	send := r.MaySend(target.Sending)
	if !send.Allowed {
		return send
	}
	return core.Verdict{Allowed: true, Rule: see.Rule + ", send policy " + send.Rule, ConfigKey: cmp.Or(send.ConfigKey, see.ConfigKey)}
}

func mirrored(sessionKey string) core.Verdict {
	return core.Verdict{Rule: "mirrored", Message: fmt.Sprintf(
		"session %q belongs to an imported directory: it can be read, and nobody here writes into it or answers in its name", sessionKey)}
}

// maySpawnUnder asks in the order of session-tools.md §8: may the caller spawn at all, the allowlist, the sandbox.
func (r *Rules) maySpawnUnder(caller Party, targetAgent string) core.Verdict {
	deepest := max(1, r.MaxSpawnDepth)
	switch {
	case caller.Mirrored:
		return mirrored(caller.Key)
	case caller.Depth >= deepest:
		return core.Verdict{Rule: "spawn depth", ConfigKey: keySpawnDepth, Message: fmt.Sprintf(
			"session %q may not spawn: it is at depth %d, and %s is %d", caller.Key, caller.Depth, keySpawnDepth, deepest)}
	}
	allowed := r.MaySpawn(r.Names.AgentOf(caller.Key), targetAgent)
	child := "agent:" + targetAgent + ":subagent:"
	if allowed.Allowed && r.Sandboxed(caller.Key) && !r.Sandboxed(child) {
		return core.Verdict{Rule: "sandbox", ConfigKey: agentDefaults + keySandboxMode, Message: fmt.Sprintf(
			"session %q is sandboxed and a sub-agent of %q would not be: a sandboxed session never reaches an unsandboxed one", caller.Key, targetAgent)}
	}
	return allowed
}
