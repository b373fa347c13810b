package policy_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"cordboard/core"
	"cordboard/core/key"
	"cordboard/core/policy"
)

func TestScope(t *testing.T) {
	const defaults, second = "agents.defaults.sandbox.sessionToolsVisibility", "agents.list[1].sandbox.sessionToolsVisibility"
	box := func(mode policy.SandboxMode, clamp policy.Clamp) policy.Sandbox {
		return policy.Sandbox{Mode: mode, Clamp: clamp}
	}
	cases := []struct {
		id       string
		given    core.Visibility
		defaults policy.Sandbox
		own      policy.Sandbox
		caller   string
		want     core.ScopeInfo
	}{
		{"R041 unset is tree", "", box("", ""), box("", ""), mainKey, core.ScopeInfo{Visibility: "tree", Effective: "tree"}},
		{"off", "all", box("off", ""), box("", ""), mainKey, core.ScopeInfo{Visibility: "all", Effective: "all"}},
		{"C50", "all", box("all", "spawned"), box("", ""), mainKey, core.ScopeInfo{Visibility: "all", Effective: "tree", ClampedBy: defaults}},
		{
			"C54 spawned is the default", "agent", box("all", ""), box("", ""), mainKey,
			core.ScopeInfo{Visibility: "agent", Effective: "tree", ClampedBy: defaults},
		},
		{"C51", "all", box("all", "all"), box("", ""), mainKey, core.ScopeInfo{Visibility: "all", Effective: "all"}},
		{"tree stays", "tree", box("all", ""), box("", ""), mainKey, core.ScopeInfo{Visibility: "tree", Effective: "tree"}},
		{"self is never widened", "self", box("all", "spawned"), box("", ""), mainKey, core.ScopeInfo{Visibility: "self", Effective: "self"}},
		{"non-main leaves main", "all", box("non-main", ""), box("", ""), mainKey, core.ScopeInfo{Visibility: "all", Effective: "all"}},
		{
			"non-main takes the rest", "all", box("non-main", ""), box("", ""), "agent:main:x",
			core.ScopeInfo{Visibility: "all", Effective: "tree", ClampedBy: defaults},
		},
		{
			"non-main takes threads of main", "all", box("non-main", ""), box("", ""), "agent:main:main:thread:1",
			core.ScopeInfo{Visibility: "all", Effective: "tree", ClampedBy: defaults},
		},
		{"the agent's mode goes first", "all", box("all", ""), box("off", ""), mainKey, core.ScopeInfo{Visibility: "all", Effective: "all"}},
		{
			"the agent's mode goes first, on", "all", box("", ""), box("all", ""), mainKey,
			core.ScopeInfo{Visibility: "all", Effective: "tree", ClampedBy: defaults},
		},
		{"another agent's mode does not count", "all", box("", ""), box("all", ""), opsMain, core.ScopeInfo{Visibility: "all", Effective: "all"}},
		{
			"the agent's clamp goes first", "all", box("all", "all"), box("", "spawned"), mainKey,
			core.ScopeInfo{Visibility: "all", Effective: "tree", ClampedBy: second},
		},
		{"the agent's clamp lifts", "all", box("all", "spawned"), box("", "all"), mainKey, core.ScopeInfo{Visibility: "all", Effective: "all"}},
		{
			"an agent that is not configured", "all", box("all", ""), box("", "all"), "agent:ghost:x",
			core.ScopeInfo{Visibility: "all", Effective: "tree", ClampedBy: defaults},
		},
	}
	for _, c := range cases {
		t.Run(c.id, func(t *testing.T) {
			r := &policy.Rules{Visibility: c.given, Sandbox: c.defaults, Agents: []policy.Agent{{ID: "ops"}, {ID: "Main", Sandbox: c.own}}}
			assert.Equal(t, c.want, r.Scope(c.caller))
			assert.Equal(t, c.want, r.View(c.caller).Scope())
		})
	}
}

func TestSandboxedKnowsTheMainKeyAndTheGlobalBucket(t *testing.T) {
	r := &policy.Rules{Sandbox: policy.Sandbox{Mode: policy.SandboxNonMain}, Names: key.NewNames(core.Naming{MainKey: "work", Global: true}, "")}
	assert.False(t, r.Sandboxed("global"))
	assert.False(t, r.Sandboxed("agent:ops:work"))
	assert.True(t, r.Sandboxed(opsMain))
}
