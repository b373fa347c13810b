package policy_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordboard/core"
	"cordboard/core/key"
	"cordboard/core/policy"
)

const (
	mainKey = "agent:main:main"
	opsMain = "agent:ops:main"
)

func rules(visibility core.Visibility, allow ...string) *policy.Rules {
	// no allow at all leaves agent-to-agent off
	return &policy.Rules{Visibility: visibility, AgentToAgent: policy.AgentToAgent{Enabled: allow != nil, Allow: allow}}
}

// The table of session-tools.md §3, row by row, with agent-to-agent off and on (R023).
func TestSee(t *testing.T) {
	child := policy.Target{Key: "agent:main:subagent:c", SpawnedBy: mainKey}
	ghost := policy.Target{Key: "agent:ghost:subagent:c", SpawnedBy: mainKey} // R040
	grandchild := policy.Target{Key: "agent:main:subagent:g", SpawnedBy: child.Key}
	sibling := policy.Target{Key: "agent:main:telegram:group:1"}
	foreign := policy.Target{Key: opsMain}
	anyPair := []string{"*"}
	cases := []struct {
		id      string
		rules   *policy.Rules
		target  policy.Target
		allowed bool
		rule    string
	}{
		{"C61 self, own", rules("self"), policy.Target{Key: mainKey}, true, "own session"},
		{"C61 self, group", rules("self"), sibling, false, "visibility"},
		{"self, own child", rules("self"), child, false, "visibility"},
		{"self, own child of another agent", rules("self", anyPair...), ghost, false, "visibility and agentToAgent"},
		{"C63 tree is the default", rules(""), policy.Target{Key: "agent:main:discord:direct:someone-else"}, false, "visibility"},
		{"C64", rules(""), policy.Target{Key: "subagent:child-1", SpawnedBy: mainKey}, true, "own child"},
		{"C67", rules("tree"), grandchild, false, "visibility"},
		{"C56, C117", rules("tree", anyPair...), foreign, false, "visibility and agentToAgent"},
		{"R040 lineage first under tree", rules("tree"), ghost, true, "own child"},
		{"R040 siblings of a foreign child", rules("tree"), policy.Target{Key: "agent:ghost:subagent:d"}, false, "visibility and agentToAgent"},
		{"agent, group", rules("agent"), sibling, true, "same agent"},
		{"agent, grandchild", rules("agent"), grandchild, true, "same agent"},
		{"R041 agent, own child of another agent", rules("agent"), ghost, false, "visibility and agentToAgent"},
		{"agent, foreign", rules("agent", anyPair...), foreign, false, "visibility and agentToAgent"},
		{"C65 all, same agent", rules("all"), policy.Target{Key: "agent:main:discord:direct:someone-else"}, true, "same agent"},
		{"bare keys are the default agent's", rules("all"), policy.Target{Key: "cron:x"}, true, "same agent"},
		{"C60, R042 all, foreign", rules("all"), foreign, false, "agentToAgent.enabled"},
		{"R042 all, own child of another agent", rules("all"), ghost, true, "own child"},
		{"C59 an empty list allows any", rules("all", []string{}...), foreign, true, "agentToAgent"},
		{"both sides", rules("all", "main", "o*"), foreign, true, "agentToAgent"},
		{"in any case", rules("all", " MAIN ", "*PS"), foreign, true, "agentToAgent"},
		{"R025 requester missing", rules("all", "ops"), foreign, false, "agentToAgent.allow"},
		{"R024 target missing", rules("all", "main"), foreign, false, "agentToAgent.allow"},
		{"blank patterns match nothing", rules("all", " "), foreign, false, "agentToAgent.allow"},
		{"reserved", rules("all", anyPair...), policy.Target{Key: "unknown"}, false, "reserved key"},
		{"reserved in agent scope", rules("agent"), policy.Target{Key: "global"}, false, "reserved key"},
	}
	for _, c := range cases {
		t.Run(c.id, func(t *testing.T) {
			view := c.rules.View(mainKey)
			verdict := view.See(c.target)
			assert.Equal(t, c.allowed, verdict.Allowed, verdict.Message)
			assert.Equal(t, c.rule, verdict.Rule)
			assert.Equal(t, c.allowed, view.Allows(c.target.Key, c.target.SpawnedBy))
			assert.Equal(t, c.allowed, verdict.Message == "")
			assert.Equal(t, c.allowed, view.Refuse(c.target) == nil)
		})
	}
}

func TestOperatorSeesAllButReservedKeys(t *testing.T) {
	view := rules("self").View("")
	assert.True(t, view.Allows(opsMain, ""), "R043")
	assert.Equal(t, core.Verdict{Allowed: true, Rule: "operator"}, view.See(policy.Target{Key: opsMain}))
	assert.Equal(t, core.ScopeInfo{Visibility: "self", Effective: "all"}, view.Scope())
	verdict := view.See(policy.Target{Key: "unknown"})
	assert.False(t, verdict.Allowed)
	assert.Contains(t, verdict.Message, `"unknown"`)
}

func TestGlobalBucketBelongsToTheDefaultAgent(t *testing.T) {
	r := rules("all")
	r.Names = key.NewNames(core.Naming{Global: true, DefaultAgent: "ops"}, "")
	assert.True(t, r.View("agent:ops:x").Allows("global", ""))
	assert.False(t, r.View("agent:main:x").Allows("global", ""))
	assert.True(t, r.View("global").Allows("global", ""))
	assert.Contains(t, r.View("agent:main:x").See(policy.Target{Key: "global"}).Message, `session "main"`, "no caller ever sees `global`")
}

func TestRefusalsNameWhatToChange(t *testing.T) {
	sandboxed := rules("all", "*")
	sandboxed.Sandbox.Mode = policy.SandboxAll
	held := rules("agent")
	held.Agents = []policy.Agent{{ID: "ops"}, {ID: "Main", Sandbox: policy.Sandbox{Mode: policy.SandboxAll, Clamp: policy.ClampSpawned}}}
	const clamp = "agents.defaults.sandbox.sessionToolsVisibility"
	offAndUnlisted := rules("all", "main")
	offAndUnlisted.AgentToAgent.Enabled = false
	cases := []struct {
		id        string
		rules     *policy.Rules
		target    string
		configKey string
		accepted  []string
		text      []string
	}{
		{"self", rules("self"), "agent:main:x", "tools.sessions.visibility", []string{"agent", "all"}, []string{`"self"`}},
		{"tree", rules(""), "agent:main:x", "tools.sessions.visibility", []string{"agent", "all"}, []string{`"tree"`, `"agent:main:x"`}},
		{
			"R026", rules(""), opsMain, "tools.sessions.visibility",
			[]string{"all"},
			[]string{"tools.sessions.visibility", "tools.agentToAgent.enabled", `"ops"`, `"main"`},
		},
		{"agent", rules("agent"), opsMain, "tools.sessions.visibility", []string{"all"}, []string{`"agent"`}},
		{"R026 all", rules("all"), opsMain, "tools.agentToAgent.enabled", []string{"true"}, []string{"tools.sessions.visibility", "true"}},
		{
			"R025", rules("all", "ops"), opsMain, "tools.agentToAgent.allow",
			[]string{"main"},
			[]string{"tools.sessions.visibility", `requester agent "main" is not in tools.agentToAgent.allow [ops]`},
		},
		{"R025 target", rules("all", "main"), opsMain, "tools.agentToAgent.allow", []string{"ops"}, []string{`target agent "ops" is not in`}},
		{
			"R025 both", rules("all", "x", "y"), opsMain, "tools.agentToAgent.allow",
			[]string{"main", "ops"},
			[]string{`requester agent "main" and target agent "ops" are not in tools.agentToAgent.allow [x, y]`},
		},
		{
			"R026 no second wall", offAndUnlisted, opsMain, "tools.agentToAgent.enabled",
			[]string{"true"},
			[]string{"tools.agentToAgent.enabled is false", `target agent "ops" is not in tools.agentToAgent.allow [main]`},
		},
		{
			"tree, pair allowed", rules("tree", "*"), opsMain, "tools.sessions.visibility",
			[]string{"all"},
			[]string{"tools.agentToAgent allows the two agents already"},
		},
		{"tree, pair refused", rules("tree", "ops"), opsMain, "tools.sessions.visibility", []string{"all"}, []string{`requester agent "main"`}},
		{"R027", sandboxed, opsMain, clamp, []string{"all"}, []string{clamp, `"all" but held down to "tree"`, "tools.agentToAgent"}},
		{"clamped, same agent", sandboxed, "agent:main:x", clamp, []string{"all"}, []string{clamp}},
		{
			"clamped by the agent's own setting", held, "agent:main:x", "agents.list[1].sandbox.sessionToolsVisibility",
			[]string{"all"},
			[]string{"agents.list[1].sandbox.sessionToolsVisibility"},
		},
		{
			"clamped, but the scope would not do either", held, opsMain, "tools.sessions.visibility",
			[]string{"all"},
			[]string{"agents.list[1].sandbox.sessionToolsVisibility"},
		},
	}
	for _, c := range cases {
		t.Run(c.id, func(t *testing.T) {
			target := policy.Target{Key: c.target}
			verdict := c.rules.View(mainKey).See(target)
			require.False(t, verdict.Allowed)
			assert.Equal(t, c.configKey, verdict.ConfigKey)
			for _, text := range c.text {
				assert.Contains(t, verdict.Message, text)
			}
			var refused *core.Error
			require.ErrorAs(t, c.rules.View(mainKey).Refuse(target), &refused)
			assert.Equal(t, core.Error{Code: core.CodeForbidden, Message: verdict.Message, ConfigKey: c.configKey, Allowed: c.accepted}, *refused)
		})
	}
}

// A refusal shows what the caller typed, so that it does not tell a stored key from one that was only made canonical.
func TestRefusalReadsTheSameForStoredAndAbsentKeys(t *testing.T) {
	view := rules("").View("agent:ops:x")
	stored := view.See(policy.Target{Key: "cron:x", SpawnedBy: "agent:main:y", Given: "cron:x"})
	absent := view.See(policy.Target{Key: "agent:main:cron:x", Given: "cron:x"})
	assert.Equal(t, stored, absent)
	assert.Contains(t, stored.Message, `session "cron:x"`)
}

func TestAllowsDoesNotAllocate(t *testing.T) {
	view := rules("all", "zeta", "m*n", "*").View("agent:main:parent")
	targets := []string{"agent:main:parent", "agent:main:x", "agent:work:subagent:x", "cron:x", "global"}
	assert.Zero(t, testing.AllocsPerRun(50, func() {
		for _, target := range targets {
			view.Allows(target, "agent:main:y")
		}
	}))
}
