package policy_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"cordboard/core"
	"cordboard/core/policy"
)

// The rights panel: each tool's verdict names the rule that decides for that tool.
func TestRights(t *testing.T) {
	const list, history, send, spawn = 0, 1, 2, 3
	main := policy.Party{Key: "agent:main:main", Sending: policy.Sending{Key: "agent:main:main"}}
	child := policy.Party{Key: "agent:main:subagent:c", SpawnedBy: "agent:main:main", Depth: 1, Sending: policy.Sending{Key: "agent:main:subagent:c"}}
	ops := policy.Party{Key: "agent:ops:main", Sending: policy.Sending{Key: "agent:ops:main"}}
	denied := func(p policy.Party) policy.Party { p.Sending.Override = core.SendDeny; return p }
	mirror := func(p policy.Party) policy.Party { p.Mirrored = true; return p }
	for _, c := range []struct {
		name           string
		rules          policy.Rules
		caller, target policy.Party
		tool           int
		allowed        bool
		rule, key      string
	}{
		{"own child is listed", policy.Rules{}, main, child, list, true, "own child", "tools.sessions.visibility"},
		{"own child is read", policy.Rules{}, main, child, history, true, "own child", "tools.sessions.visibility"},
		{"own child is sent to", policy.Rules{}, main, child, send, true, "own child, send policy default", "session.sendPolicy.default"},
		{"what is hidden is not sent to", policy.Rules{}, main, ops, send, false, "visibility and agentToAgent", "tools.sessions.visibility"},
		{"a denied session is not sent to", policy.Rules{}, main, denied(child), send, false, "session override", ""},
		{"a mirrored session is not sent to", policy.Rules{}, main, mirror(child), send, false, "mirrored", ""},
		{"own agent is spawned", policy.Rules{}, main, child, spawn, true, "own agent", ""},
		{"H172 a child does not spawn", policy.Rules{}, child, main, spawn, false, "spawn depth", "agents.defaults.subagents.maxSpawnDepth"},
		{"H174 deeper when allowed", policy.Rules{MaxSpawnDepth: 2}, child, main, spawn, true, "own agent", ""},
		{"a mirrored session does not spawn", policy.Rules{}, mirror(main), child, spawn, false, "mirrored", ""},
		{"H185 another agent", policy.Rules{}, main, ops, spawn, false, "allowAgents", "agents.defaults.subagents.allowAgents"},
		{"H187 another agent that is allowed", policy.Rules{AllowAgents: []string{"ops"}}, main, ops, spawn, true, "allowAgents", "agents.defaults.subagents.allowAgents"},
		{"H191 out of the sandbox", policy.Rules{
			AllowAgents: []string{"ops"}, Sandbox: policy.Sandbox{Mode: policy.SandboxAll},
			Agents: []policy.Agent{{ID: "main"}, {ID: "ops", Sandbox: policy.Sandbox{Mode: policy.SandboxOff}}},
		}, main, ops, spawn, false, "sandbox", "agents.list[1].sandbox.mode"},
	} {
		t.Run(c.name, func(t *testing.T) {
			rights := c.rules.Rights(c.rules.View(c.caller.Key), c.caller, c.target)
			assert.Len(t, rights, 4)
			verdict := rights[c.tool].Verdict
			assert.Equal(t, c.allowed, verdict.Allowed, "%+v", verdict)
			assert.Equal(t, c.rule, verdict.Rule)
			assert.Equal(t, c.key, verdict.ConfigKey)
			assert.Equal(t, c.allowed, verdict.Message == "", "a refusal has words: %+v", verdict)
		})
	}
}
