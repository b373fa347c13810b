package config

import (
	"reflect"
	"slices"
	"strings"

	"cordboard/core/key"
)

// Agents is the fleet. List is never empty: without agents.list it is one agent `main`.
type Agents struct {
	Defaults AgentDefaults `json:"defaults"`
	List     []Agent       `json:"list"`
}

// AgentDefaults is what an agent has that does not say otherwise, and the limits of all.
type AgentDefaults struct {
	Model          Model            `json:"model"`
	Runtime        Runtime          `json:"runtime"`
	Workspace      string           `json:"workspace,omitzero"` // empty: `<data>/workspaces/<agentId>`
	MaxConcurrent  int              `json:"maxConcurrent"`      // lane `main`
	TimeoutSeconds int              `json:"timeoutSeconds"`     // of an ordinary run; 0 is no limit
	MaxToolCalls   int              `json:"maxToolCalls"`       // per run
	Subagents      SubagentDefaults `json:"subagents"`
	Sandbox        Sandbox          `json:"sandbox"`
}

// SubagentDefaults is agents.defaults.subagents (session-tools.md §8).
type SubagentDefaults struct {
	Subagents
	MaxConcurrent       int  `json:"maxConcurrent"`
	MaxSpawnDepth       int  `json:"maxSpawnDepth"`       // 1 is the contract, 2..5 our extension
	MaxChildrenPerAgent int  `json:"maxChildrenPerAgent"` // live ones per requester, 1..20
	RunTimeoutSeconds   int  `json:"runTimeoutSeconds"`   // 0 is no limit
	ArchiveAfterMinutes int  `json:"archiveAfterMinutes"` // 0 is never
	Announce            bool `json:"announce"`
}

// Agent is agents.list[]. Fields left empty there come from the defaults; Config.Agent fills them in.
type Agent struct {
	ID               string    `json:"id"` // lower case
	Default          bool      `json:"default,omitzero"`
	Name             string    `json:"name,omitzero"`
	Workspace        string    `json:"workspace,omitzero"`
	SystemPrompt     string    `json:"systemPrompt,omitzero"`
	SystemPromptFile string    `json:"systemPromptFile,omitzero"`
	Thinking         string    `json:"thinking,omitzero"`
	Model            Model     `json:"model,omitzero"`
	Runtime          Runtime   `json:"runtime,omitzero"`
	Subagents        Subagents `json:"subagents,omitzero"`
	Sandbox          Sandbox   `json:"sandbox,omitzero"`
}

// Model is a model as "provider/model", and what to try when it fails.
type Model struct {
	Primary   string   `json:"primary,omitzero"`
	Fallbacks []string `json:"fallbacks,omitzero"`
}

// The words of agents.*.runtime.type (engine.md §3).
const (
	RuntimeEcho     = "echo"
	RuntimeOpenAI   = "openai"
	RuntimeACP      = "acp"
	RuntimeExec     = "exec"
	RuntimeManual   = "manual"
	RuntimeExternal = "external"
)

// EchoModel is the model of agents that nobody gave one.
const EchoModel = "echo/echo"

// Runtime is who plays the agent. Command and Env belong to acp and exec.
type Runtime struct {
	Type    string            `json:"type,omitzero"`
	Command []string          `json:"command,omitzero"`
	Env     map[string]string `json:"env,omitzero"`
}

// local reports whether the runtime starts a command on this machine.
func (r Runtime) local() bool { return r.Type == RuntimeACP || r.Type == RuntimeExec }

// Subagents is what a spawn by this agent may and gets. A nil AllowAgents allows none but itself; `*` is any configured agent.
type Subagents struct {
	Model       Model    `json:"model,omitzero"`
	Thinking    string   `json:"thinking,omitzero"`
	AllowAgents []string `json:"allowAgents,omitzero"` // lower case
}

// The words of agents.*.sandbox (session-tools.md §3).
const (
	SandboxOff     = "off"
	SandboxAll     = "all"
	SandboxNonMain = "non-main" // every session but the agent's main

	SandboxSeesSpawned = "spawned" // agent and all are clamped to tree
	SandboxSeesAll     = "all"
)

// Sandbox is which sessions are sandboxed and what these may see.
type Sandbox struct {
	Mode                   string   `json:"mode,omitzero"`
	SessionToolsVisibility string   `json:"sessionToolsVisibility,omitzero"`
	Command                []string `json:"command,omitzero"` // argv prefix for acp and exec
}

func defaultAgents() AgentDefaults {
	return AgentDefaults{
		Model:          Model{Primary: EchoModel},
		Runtime:        Runtime{Type: RuntimeEcho},
		MaxConcurrent:  32,
		TimeoutSeconds: 600,
		MaxToolCalls:   64,
		Subagents: SubagentDefaults{
			MaxConcurrent: 8, MaxSpawnDepth: 1, MaxChildrenPerAgent: 5, ArchiveAfterMinutes: 60, Announce: true,
		},
		Sandbox: Sandbox{Mode: SandboxOff, SessionToolsVisibility: SandboxSeesSpawned},
	}
}

// DefaultAgent is the agent that keys without `agent:` belong to: the first with `default: true`, else the first, else `main`.
func (c *Config) DefaultAgent() string {
	for _, a := range c.Agents.List {
		if a.Default {
			return a.ID
		}
	}
	if len(c.Agents.List) > 0 {
		return c.Agents.List[0].ID
	}
	return key.DefaultMain
}

// Listed reports whether the config says more of its agents than that there is one `main`, as it does by default.
func (c *Config) Listed() bool {
	return len(c.Agents.List) != 1 || !reflect.DeepEqual(c.Agents.List[0], Agent{ID: key.DefaultMain})
}

// Agent is an agent with the defaults filled in, ids compared in lower case. For an id that agents.list does not name it is the bare
// defaults under that id, and false.
func (c *Config) Agent(id string) (Agent, bool) {
	id = strings.ToLower(strings.TrimSpace(id))
	for _, a := range c.Agents.List {
		if a.ID == id {
			return c.Agents.Defaults.fill(a), true
		}
	}
	return c.Agents.Defaults.fill(Agent{ID: id}), false
}

func (d AgentDefaults) fill(a Agent) Agent {
	a.Workspace = or(a.Workspace, d.Workspace)
	a.Model = a.Model.over(d.Model)
	if a.Runtime.Type == "" {
		a.Runtime = d.Runtime
	}
	a.Subagents.Model = a.Subagents.Model.over(d.Subagents.Model)
	a.Subagents.Thinking = or(a.Subagents.Thinking, d.Subagents.Thinking)
	if a.Subagents.AllowAgents == nil {
		a.Subagents.AllowAgents = d.Subagents.AllowAgents
	}
	a.Sandbox.Mode = or(a.Sandbox.Mode, d.Sandbox.Mode)
	a.Sandbox.SessionToolsVisibility = or(a.Sandbox.SessionToolsVisibility, d.Sandbox.SessionToolsVisibility)
	if a.Sandbox.Command == nil {
		a.Sandbox.Command = d.Sandbox.Command
	}
	return a
}

// over lays m over the default d. A model of its own takes none of the default's fallbacks.
func (m Model) over(d Model) Model {
	if m.Primary == "" {
		m.Primary = d.Primary
		if m.Fallbacks == nil {
			m.Fallbacks = d.Fallbacks
		}
	}
	return m
}

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// ModelNamed is a configured "provider/model". The provider echo has every model, and no entry.
func (c *Config) ModelNamed(name string) (ModelDef, bool) {
	provider, model, ok := strings.Cut(name, "/")
	if ok && provider == RuntimeEcho && model != "" {
		return ModelDef{ID: model}, true
	}
	for _, m := range c.Models.Providers[provider].Models {
		if ok && m.ID == model {
			return m, true
		}
	}
	return ModelDef{}, false
}

// ModelNames are the configured "provider/model" names in order, echo's first.
func (c *Config) ModelNames() []string {
	names := []string{}
	for provider, p := range c.Models.Providers {
		for _, m := range p.Models {
			names = append(names, provider+"/"+m.ID)
		}
	}
	slices.Sort(names)
	return append([]string{RuntimeEcho + "/" + RuntimeEcho}, names...)
}
