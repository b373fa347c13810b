// Package policy decides who may see, send and spawn (session-tools.md §3, §7, §8). Its functions are pure: from Rules, which the engine
// fills from the configuration, and keys and stored lineage they give a core.Verdict that names the rule and the config key.
//
//	rules.go   the values that decide
//	scope.go   sandbox and effective scope of a caller
//	see.go     the one predicate of list, history, search and the reach of a send
//	refusal.go its refusals in words
//	send.go    the send policy
//	spawn.go   who may start sub-agents, of which agents, and out of which sandbox
//	tools.go   the tools of sub-agents
//	rights.go  all four tools for one caller and one target
package policy

import (
	"fmt"
	"strings"

	"cordboard/core"
	"cordboard/core/key"
)

// Config keys that decide.
const (
	keyVisibility   = "tools.sessions.visibility"
	keyAgentToAgent = "tools.agentToAgent"
	keyEnabled      = "tools.agentToAgent.enabled"
	keyAllow        = "tools.agentToAgent.allow"
	keyClamp        = "sandbox.sessionToolsVisibility"
	keyAllowAgents  = "subagents.allowAgents"
	keySpawnDepth   = "agents.defaults.subagents.maxSpawnDepth"
	keySandboxMode  = "sandbox.mode"
	keySendRules    = "session.sendPolicy.rules"
	keySendDefault  = "session.sendPolicy.default"
	agentDefaults   = "agents.defaults."
)

// SandboxMode says which sessions of an agent run in a sandbox (agents.*.sandbox.mode).
type SandboxMode string

const (
	SandboxOff     SandboxMode = "off"
	SandboxAll     SandboxMode = "all"
	SandboxNonMain SandboxMode = "non-main" // every session but the agent's main
)

// Clamp says what a sandboxed session's scope is held down to (agents.*.sandbox.sessionToolsVisibility).
type Clamp string

const (
	ClampSpawned Clamp = "spawned" // agent and all become tree
	ClampAll     Clamp = "all"     // the configured scope stays
)

// Sandbox is one level of the sandbox setting. Blank fields are inherited: an agent's from the defaults, the defaults' from
// SandboxOff and ClampSpawned.
type Sandbox struct {
	Mode  SandboxMode
	Clamp Clamp
}

// AgentToAgent is tools.agentToAgent: both agent ids of a pair must match Allow, globs with `*` compared without case; an empty list
// allows any.
type AgentToAgent struct {
	Enabled bool
	Allow   []string
}

// Agent is what the rules need of one entry of agents.list.
type Agent struct {
	ID, Name    string
	Sandbox     Sandbox
	AllowAgents []string // subagents.allowAgents; nil inherits the defaults
}

// Rules are the values that decide. The zero value is the policy of an empty configuration. They are read only once in use.
type Rules struct {
	Names         key.Names
	Visibility    core.Visibility // blank is tree
	AgentToAgent  AgentToAgent
	Sandbox       Sandbox  // agents.defaults
	AllowAgents   []string // agents.defaults
	MaxSpawnDepth int      // agents.defaults.subagents.maxSpawnDepth; 0 is 1
	Agents        []Agent  // agents.list, in order
	SubagentTools ToolList // tools.subagents.tools
	Send          SendPolicy
}

// agent finds an agent's entry, at its place in agents.list or -1.
func (r *Rules) agent(id string) (entry Agent, at int) {
	for i := range r.Agents {
		if strings.EqualFold(r.Agents[i].ID, id) {
			return r.Agents[i], i
		}
	}
	return Agent{ID: id}, -1
}

// configured lists the ids of agents.list in lower case, and of the one agent there is when the list is empty.
func (r *Rules) configured() []string {
	if len(r.Agents) == 0 {
		return []string{r.Names.DefaultAgent()}
	}
	ids := make([]string, len(r.Agents))
	for i, agent := range r.Agents {
		ids[i] = normal(agent.ID)
	}
	return ids
}

func normal(id string) string { return strings.ToLower(strings.TrimSpace(id)) }

// agentKey is the config key of an agent's own setting.
func agentKey(at int, setting string) string { return fmt.Sprintf("agents.list[%d].%s", at, setting) }

// allows reports whether an agent id matches the allow list.
func (a AgentToAgent) allows(id string) bool {
	for _, pattern := range a.Allow {
		if pattern = strings.TrimSpace(pattern); pattern != "" && glob(pattern, id) {
			return true
		}
	}
	return len(a.Allow) == 0
}

// glob matches an ASCII id against a pattern in which `*` stands for any run of characters, without case and without allocating.
func glob(pattern, id string) bool {
	start, pattern, starred := strings.Cut(pattern, "*")
	if !starred {
		return strings.EqualFold(start, id)
	}
	if len(id) < len(start) || !strings.EqualFold(id[:len(start)], start) {
		return false
	}
	id = id[len(start):]
	for {
		part, rest, more := strings.Cut(pattern, "*")
		if !more {
			return len(id) >= len(part) && strings.EqualFold(id[len(id)-len(part):], part)
		}
		at := indexFold(id, part)
		if at < 0 {
			return false
		}
		id, pattern = id[at+len(part):], rest
	}
}

func indexFold(s, part string) int {
	for at := 0; at+len(part) <= len(s); at++ {
		if strings.EqualFold(s[at:at+len(part)], part) {
			return at
		}
	}
	return -1
}
