package engine

import (
	"cordboard/core"
	"cordboard/core/config"
	"cordboard/core/key"
	"cordboard/core/policy"
)

// namesOf takes from a config what keys depend on.
func namesOf(c *config.Config) key.Names {
	return key.NewNames(core.Naming{
		MainKey: c.Session.MainKey, DefaultAgent: c.DefaultAgent(), Global: c.Session.Scope == config.ScopeGlobal,
	}, c.Session.DMScope)
}

// rulesOf takes from a config what decides who may see and send.
func rulesOf(c *config.Config, names key.Names) policy.Rules {
	rules := policy.Rules{
		Names:         names,
		Visibility:    c.Tools.Sessions.Visibility,
		AgentToAgent:  policy.AgentToAgent{Enabled: c.Tools.AgentToAgent.Enabled, Allow: c.Tools.AgentToAgent.Allow},
		Sandbox:       sandboxOf(c.Agents.Defaults.Sandbox),
		AllowAgents:   c.Agents.Defaults.Subagents.AllowAgents,
		MaxSpawnDepth: c.Agents.Defaults.Subagents.MaxSpawnDepth,
		SubagentTools: policy.ToolList{Allow: c.Tools.Subagents.Tools.Allow, Deny: c.Tools.Subagents.Tools.Deny},
		Send:          policy.SendPolicy{Default: c.Session.SendPolicy.Default},
	}
	for _, a := range c.Agents.List {
		rules.Agents = append(rules.Agents, policy.Agent{ID: a.ID, Name: a.Name, Sandbox: sandboxOf(a.Sandbox), AllowAgents: a.Subagents.AllowAgents})
	}
	for _, r := range c.Session.SendPolicy.Rules {
		rules.Send.Rules = append(rules.Send.Rules, policy.SendRule{
			Match:  policy.SendMatch{Channel: r.Match.Channel, ChatType: r.Match.ChatType, KeyPrefix: r.Match.KeyPrefix, RawKeyPrefix: r.Match.RawKeyPrefix},
			Action: r.Action,
		})
	}
	return rules
}

func sandboxOf(s config.Sandbox) policy.Sandbox {
	return policy.Sandbox{Mode: policy.SandboxMode(s.Mode), Clamp: policy.Clamp(s.SessionToolsVisibility)}
}
