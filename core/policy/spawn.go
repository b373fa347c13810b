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
