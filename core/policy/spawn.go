package policy

import (
	"fmt"
	"slices"
	"strings"

	"cordboard/core"
)

// AgentEntry is one row of agents_list (session-tools.md §8).
type AgentEntry struct {
	ID         string `json:"id"`
	Name       string `json:"name,omitempty"`
	Configured bool   `json:"configured"`
}

// AgentList is the answer of agents_list: the agents a requester may start sub-agents of, itself first, the rest sorted.
type AgentList struct {
	Requester string       `json:"requester"`
	AllowAny  bool         `json:"allowAny"`
	Agents    []AgentEntry `json:"agents"`
}

// SpawnableAgents lists the agents that a requester's sub-agents may be: itself, and those of its allowAgents, where `*` stands for any
// configured agent. An id listed without being configured is shown as such, but not beside `*`. A blank requester is the default agent.
func (r *Rules) SpawnableAgents(requesterAgent string) AgentList {
	requester := r.requester(requesterAgent)
	allowed, _ := r.allowAgents(requester)
	list := AgentList{Requester: requester, AllowAny: slices.Contains(allowed, "*"), Agents: []AgentEntry{r.entry(requester)}}
	ids := allowed
	if list.AllowAny {
		ids = r.configured()
	}
	ids = slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return id == requester || id == "" })
	slices.Sort(ids)
	for _, id := range slices.Compact(ids) {
		list.Agents = append(list.Agents, r.entry(id))
	}
	return list
}

// MaySpawn decides whether a requester may start a sub-agent of a target agent by its allowlist. Its own agent is always allowed; that
// the target is configured is asked here only under `*`.
func (r *Rules) MaySpawn(requesterAgent, targetAgent string) core.Verdict {
	requester, target := r.requester(requesterAgent), normal(targetAgent)
	if target == requester {
		return core.Verdict{Allowed: true, Rule: "own agent"}
	}
	allowed, configKey := r.allowAgents(requester)
	if slices.Contains(allowed, target) || slices.Contains(allowed, "*") && slices.Contains(r.configured(), target) {
		return core.Verdict{Allowed: true, Rule: "allowAgents", ConfigKey: configKey}
	}
	list := r.SpawnableAgents(requester)
	ids := make([]string, len(list.Agents))
	for i, agent := range list.Agents {
		ids[i] = agent.ID
	}
	return core.Verdict{Rule: "allowAgents", ConfigKey: configKey, Message: fmt.Sprintf(
		"agent %q may not start sub-agents of %q: %s [%s] accepts %s", requester, target, configKey, strings.Join(allowed, ", "), strings.Join(ids, ", "))}
}

// MaySpawnAt decides whether a session may spawn at all: it must be less deep than maxSpawnDepth, and a sub-agent must have the tool.
func (r *Rules) MaySpawnAt(sessionKey string, depth int) core.Verdict {
	if deepest := r.deepest(); depth >= deepest {
		return core.Verdict{Rule: "spawn depth", ConfigKey: keySpawnDepth, Message: fmt.Sprintf(
			"sessions_spawn is not allowed at this depth (current depth: %d, max: %d): session %q is a sub-agent, and %s is %d",
			depth, deepest, sessionKey, keySpawnDepth, deepest)}
	}
	if depth > 0 {
		return r.SubagentToolAt(depth, "sessions_spawn", true)
	}
	return core.Verdict{Allowed: true, Rule: "spawn depth", ConfigKey: keySpawnDepth}
}

// deepest is how many generations of sub-agents there may be.
func (r *Rules) deepest() int { return max(1, r.MaxSpawnDepth) }

// MayReach is the sandbox guard (session-tools.md §8): what is confined never reaches an unsandboxed session, and whoever requires a
// sandbox gets one. confined is the sandboxed session on whose behalf the call is made, "" for none; child is the key of the session to
// be made, of which the end does not matter.
func (r *Rules) MayReach(confined, child string, require bool) core.Verdict {
	if r.Sandboxed(child) {
		return core.Verdict{Allowed: true, Rule: "sandboxed"}
	}
	target := r.Names.AgentOf(child)
	configKey := agentDefaults + keySandboxMode
	if agent, at := r.agent(target); at >= 0 && agent.Sandbox.Mode != "" {
		configKey = agentKey(at, keySandboxMode)
	}
	switch {
	case confined != "":
		return core.Verdict{Rule: "sandbox", ConfigKey: configKey, Message: fmt.Sprintf(
			"session %q is sandboxed and a sub-agent of %q would not be: a sandboxed session never reaches an unsandboxed one (%s)", confined, target, configKey)}
	case require:
		return core.Verdict{Rule: "sandbox", ConfigKey: configKey, Message: fmt.Sprintf(
			`sandbox="require" and a sub-agent of %q would not be sandboxed: %s "all" or "non-main" would make it so, sandbox="inherit" does without`, target, configKey)}
	}
	return core.Verdict{Allowed: true, Rule: "no sandbox"}
}

func (r *Rules) requester(id string) string {
	if id = normal(id); id != "" {
		return id
	}
	return r.Names.DefaultAgent()
}

// allowAgents is a requester's allowlist, normalised, and the config key that holds it or would.
func (r *Rules) allowAgents(requester string) (ids []string, configKey string) {
	agent, at := r.agent(requester)
	ids, configKey = agent.AllowAgents, agentDefaults+keyAllowAgents
	if at >= 0 && (ids != nil || r.AllowAgents == nil) {
		configKey = agentKey(at, keyAllowAgents)
	}
	if ids == nil {
		ids = r.AllowAgents
	}
	normalised := make([]string, len(ids))
	for i, id := range ids {
		normalised[i] = normal(id)
	}
	return normalised, configKey
}

func (r *Rules) entry(id string) AgentEntry {
	agent, _ := r.agent(id)
	return AgentEntry{ID: id, Name: strings.TrimSpace(agent.Name), Configured: slices.Contains(r.configured(), id)}
}
