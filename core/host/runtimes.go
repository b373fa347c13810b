package host

import (
	"os"
	"path/filepath"
	"slices"

	"cordboard/core"
	"cordboard/core/config"
	"cordboard/core/engine"
	"cordboard/core/key"
	"cordboard/core/mcp"
	"cordboard/core/policy"
	"cordboard/core/runtime/acp"
	process "cordboard/core/runtime/child"
	"cordboard/core/runtime/echo"
	"cordboard/core/runtime/exec"
	"cordboard/core/runtime/manual"
	"cordboard/core/runtime/openai"
)

// runtimesOf makes the runtimes that play agents here, by type. socket is the path that commands find the owner at.
// close ends what they keep running; it is for after the engine has stopped.
func (o Options) runtimesOf(cfg *config.Config, so ServeOptions, clock engine.Clock, socket string) (all map[string]core.Runtime, closeAll func()) {
	f := newFleet(cfg, o.dir())
	programs := acp.New(acp.Options{Version: o.Version, Agent: f.program, Environ: os.Environ, Server: o.toolServer(socket), Log: so.Log})
	return map[string]core.Runtime{
		config.RuntimeEcho:   echo.Runtime{Sleep: clock.Sleep},
		config.RuntimeOpenAI: openai.Runtime{Agent: f.model, Providers: providersOf(cfg), Now: clock.Now, Sleep: clock.Sleep},
		config.RuntimeManual: manual.Runtime{},
		config.RuntimeExec:   exec.Runtime{Agent: f.command, Environ: os.Environ, Socket: socket},
		config.RuntimeACP:    programs,
	}, programs.Close
}

// toolServer is how a program that plays an agent gets the session tools: this program again, let in at the socket by a pass.
func (o Options) toolServer(socket string) func(t *core.Turn) *acp.Server {
	if len(o.Program) == 0 {
		return nil
	}
	return func(t *core.Turn) *acp.Server {
		token, giveBack := t.Pass()
		return &acp.Server{
			Command: append(slices.Clone(o.Program), "mcp"), Env: map[string]string{process.Prefix + "SOCKET": socket, process.Prefix + "TOKEN": token},
			Revoke: giveBack,
		}
	}
}

// killChild ends what an earlier owner left running.
func killChild(runID string, p core.Process) (bool, error) {
	return process.Process{RunID: runID, Process: p}.Kill()
}

// fleet tells a runtime of the agent that a session belongs to.
type fleet struct {
	config *config.Config
	dir    string // data
	names  key.Names
	rules  policy.Rules // as far as they say who is sandboxed
}

func newFleet(cfg *config.Config, dir string) *fleet {
	names := key.NewNames(core.Naming{
		MainKey: cfg.Session.MainKey, DefaultAgent: cfg.DefaultAgent(), Global: cfg.Session.Scope == config.ScopeGlobal,
	}, cfg.Session.DMScope)
	rules := policy.Rules{Names: names, Sandbox: policy.Sandbox{Mode: policy.SandboxMode(cfg.Agents.Defaults.Sandbox.Mode)}}
	for _, a := range cfg.Agents.List {
		rules.Agents = append(rules.Agents, policy.Agent{ID: a.ID, Sandbox: policy.Sandbox{Mode: policy.SandboxMode(a.Sandbox.Mode)}})
	}
	return &fleet{config: cfg, dir: dir, names: names, rules: rules}
}

func (f *fleet) model(sessionKey string) openai.Agent {
	a, _ := f.config.Agent(f.names.AgentOf(sessionKey))
	model := a.Model
	if sub := a.Subagents.Model; sub.Primary != "" && key.IsSubagent(sessionKey) {
		model = sub
	}
	return openai.Agent{
		Model: model.Primary, Fallbacks: model.Fallbacks, SystemPrompt: a.SystemPrompt, SystemPromptFile: a.SystemPromptFile, Thinking: a.Thinking,
	}
}

func (f *fleet) command(s *core.Session) exec.Agent {
	a, _ := f.config.Agent(f.names.AgentOf(s.Key))
	return exec.Agent{
		ID: a.ID, Command: a.Runtime.Command, Env: a.Runtime.Env, Workspace: f.workspace(a.ID), Sandboxed: f.rules.Sandboxed(s.Key), Sandbox: a.Sandbox.Command,
	}
}

func (f *fleet) program(s *core.Session) (acp.Agent, error) {
	a, _ := f.config.Agent(f.names.AgentOf(s.Key))
	agent := acp.Agent{
		ID: a.ID, Command: a.Runtime.Command, Env: a.Runtime.Env, Workspace: f.workspace(a.ID), SystemPrompt: a.SystemPrompt,
		Sandboxed: f.rules.Sandboxed(s.Key), Sandbox: a.Sandbox.Command,
	}
	if a.SystemPromptFile == "" {
		return agent, nil
	}
	text, err := os.ReadFile(a.SystemPromptFile)
	if err != nil {
		return agent, core.Errorf(core.CodeConfig, "the system prompt of agent %q cannot be read: %w", a.ID, err).Because("agents.list[].systemPromptFile")
	}
	agent.SystemPrompt = string(text)
	return agent, nil
}

// workspace is the working directory of an agent, absolute as long as the process has a directory of its own.
func (f *fleet) workspace(agentID string) string {
	a, _ := f.config.Agent(agentID)
	dir := a.Workspace
	if dir == "" {
		dir = filepath.Join(f.dir, "workspaces", a.ID)
	}
	if absolute, err := filepath.Abs(dir); err == nil {
		return absolute
	}
	return dir
}

// serversOf is mcp.servers.
func serversOf(cfg *config.Config) (servers []mcp.Server) {
	for name, s := range cfg.MCP.Servers {
		servers = append(servers, mcp.Server{Name: name, Command: s.Command, Env: s.Env, URL: s.URL})
	}
	return servers
}

// providersOf is models.providers. A key stays in the environment until it is used.
func providersOf(cfg *config.Config) map[string]openai.Provider {
	providers := map[string]openai.Provider{}
	for name, p := range cfg.Models.Providers {
		provider := openai.Provider{BaseURL: p.BaseURL, KeyEnv: p.APIKeyEnv, Key: func() string { return os.Getenv(p.APIKeyEnv) }}
		for _, m := range p.Models {
			model := openai.Model{ID: m.ID, Window: m.ContextWindow, MaxTokens: m.MaxTokens, Thinking: m.Thinking}
			if m.Cost != nil {
				model.Prices = &openai.Prices{Input: m.Cost.Input, Output: m.Cost.Output}
			}
			provider.Models = append(provider.Models, model)
		}
		providers[name] = provider
	}
	return providers
}
