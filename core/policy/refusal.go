package policy

import (
	"cmp"
	"fmt"
	"strings"

	"cordboard/core"
)

// refusal words a refusal from keys and rules alone, so that it reads the same whether or not the session exists. It names the config
// key that decided and the values of it that would have been accepted.
func (v View) refusal(why reason, t Target) (message, configKey string, accepted []string) {
	name := cmp.Or(t.Given, v.rules.Names.Display(t.Key, v.callerAgent()))
	if why == notReserved {
		return fmt.Sprintf("%q is a reserved name that no session can be reached by", name), "", []string{"a session key", "a sessionId"}
	}
	configKey, accepted = v.remedy(why, t)
	switch why {
	case notInScope:
		message = fmt.Sprintf("session %q is outside the caller's scope: %s; %s", name, v.inForce(), lift(configKey, accepted))
	case notCrossAgent:
		message = fmt.Sprintf("session %q belongs to agent %q and the caller to %q: %s, where %q is needed for another agent's session, and %s",
			name, v.rules.Names.AgentOf(t.Key), v.agent, v.inForce(), core.VisibilityAll, v.pairState(t))
	default:
		message = fmt.Sprintf("session %q belongs to agent %q and the caller to %q: %s is %q, but %s",
			name, v.rules.Names.AgentOf(t.Key), v.agent, keyVisibility, core.VisibilityAll, v.pairState(t))
	}
	return message, configKey, accepted
}

func (v View) callerAgent() string {
	if v.caller == "" {
		return ""
	}
	return v.agent
}

// remedy is the first config key to change for a refused target, and what would be accepted there.
func (v View) remedy(why reason, t Target) (configKey string, accepted []string) {
	switch why {
	case notEnabled:
		return keyEnabled, []string{"true"}
	case notAllowedPair:
		return keyAllow, v.missing(t)
	}
	if v.scope.ClampedBy != "" && (why == notInScope || v.scope.Visibility == core.VisibilityAll) {
		return v.scope.ClampedBy, []string{string(ClampAll)}
	}
	if why == notCrossAgent {
		return keyVisibility, []string{string(core.VisibilityAll)}
	}
	return keyVisibility, []string{string(core.VisibilityAgent), string(core.VisibilityAll)}
}

// missing are the agent ids of a pair that the allow list does not match.
func (v View) missing(t Target) []string {
	var ids []string
	if !v.mine {
		ids = append(ids, v.agent)
	}
	if target := v.rules.Names.AgentOf(t.Key); !v.rules.AgentToAgent.allows(target) {
		ids = append(ids, target)
	}
	return ids
}

// inForce says what the caller's scope is and what made it so.
func (v View) inForce() string {
	sees := "the caller sees itself only"
	if v.scope.Effective == core.VisibilityTree {
		sees = "the caller sees itself and the sessions it spawned"
	} else if v.scope.Effective == core.VisibilityAgent {
		sees = "the caller sees its own agent's sessions"
	}
	if v.scope.ClampedBy == "" {
		return fmt.Sprintf("%s is %q (%s)", keyVisibility, v.scope.Effective, sees)
	}
	return fmt.Sprintf("%s is %q but held down to %q for sandboxed sessions by %s %q (%s)",
		keyVisibility, v.scope.Visibility, v.scope.Effective, v.scope.ClampedBy, ClampSpawned, sees)
}

// pairState says on which sides tools.agentToAgent fails for the caller's and the target's agent, all of them at once.
func (v View) pairState(t Target) string {
	var faults []string
	if !v.enabled {
		faults = append(faults, keyEnabled+" is false, where true is needed")
	}
	var sides []string
	for _, id := range v.missing(t) {
		side := "target"
		if id == v.agent {
			side = "requester"
		}
		sides = append(sides, fmt.Sprintf("%s agent %q", side, id))
	}
	if len(sides) > 0 {
		verb := "is"
		if len(sides) > 1 {
			verb = "are"
		}
		faults = append(faults, fmt.Sprintf("%s %s not in %s [%s]",
			strings.Join(sides, " and "), verb, keyAllow, strings.Join(v.rules.AgentToAgent.Allow, ", ")))
	}
	if len(faults) == 0 {
		return keyAgentToAgent + " allows the two agents already"
	}
	return strings.Join(faults, ", and ")
}

func lift(configKey string, accepted []string) string {
	return fmt.Sprintf(`%s "%s" would show it`, configKey, strings.Join(accepted, `" or "`))
}
