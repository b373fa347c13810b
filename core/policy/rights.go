package policy

import (
	"cmp"
	"fmt"

	"cordboard/core"
	"cordboard/core/key"
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
	rights := []core.Right{
		{Tool: "sessions_list", Verdict: see},
		{Tool: "sessions_history", Verdict: see},
		{Tool: "sessions_send", Verdict: r.maySendTo(see, target)},
	}
	for i := range rights {
		if caller.SpawnedBy == "" && !key.IsSubagent(caller.Key) {
			break
		}
		if v := r.SubagentToolAt(max(1, caller.Depth), rights[i].Tool, true); !v.Allowed {
			rights[i].Verdict = v
		}
	}
	return append(rights, core.Right{Tool: "sessions_spawn", Verdict: r.maySpawnUnder(caller, r.Names.AgentOf(target.Key))})
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
	if caller.Mirrored {
		return mirrored(caller.Key)
	}
	if v := r.MaySpawnAt(caller.Key, caller.Depth); !v.Allowed {
		return v
	}
	allowed := r.MaySpawn(r.Names.AgentOf(caller.Key), targetAgent)
	if !allowed.Allowed {
		return allowed
	}
	confined := ""
	if r.Sandboxed(caller.Key) {
		confined = caller.Key
	}
	if v := r.MayReach(confined, "agent:"+targetAgent+":subagent:", false); !v.Allowed {
		return v
	}
	return allowed
}
