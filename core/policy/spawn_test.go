package policy_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"cordboard/core"
	"cordboard/core/key"
	"cordboard/core/policy"
)

func TestSpawnableAgents(t *testing.T) {
	entry := func(id string) policy.AgentEntry { return policy.AgentEntry{ID: id, Configured: true} }
	ghost := policy.AgentEntry{ID: "ghost"}
	cases := []struct {
		id        string
		agents    []policy.Agent
		defaults  []string
		requester string
		want      policy.AgentList
	}{
		{"K292", nil, nil, "main", policy.AgentList{Requester: "main", Agents: []policy.AgentEntry{entry("main")}}},
		{
			"K294",
			[]policy.Agent{{ID: "research"}, {ID: "main", AllowAgents: []string{"*"}}, {ID: "coder"}},
			nil, "main",
			policy.AgentList{Requester: "main", AllowAny: true, Agents: []policy.AgentEntry{entry("main"), entry("coder"), entry("research")}},
		},
		{
			"listed",
			[]policy.Agent{{ID: "main", AllowAgents: []string{" Zeta ", "ghost", "zeta", "main", ""}}, {ID: "Zeta", Name: " The Z "}},
			nil, "Main",
			policy.AgentList{Requester: "main", Agents: []policy.AgentEntry{entry("main"), ghost, {ID: "zeta", Name: "The Z", Configured: true}}},
		},
		{
			"an id that is not configured, beside the star",
			[]policy.Agent{{ID: "main", AllowAgents: []string{"ghost", "*"}}},
			nil, "main",
			policy.AgentList{Requester: "main", AllowAny: true, Agents: []policy.AgentEntry{entry("main")}},
		},
		{
			"from the defaults",
			[]policy.Agent{{ID: "main"}, {ID: "b"}},
			[]string{"b"},
			"main",
			policy.AgentList{Requester: "main", Agents: []policy.AgentEntry{entry("main"), entry("b")}},
		},
		{
			"an empty list of its own allows none",
			[]policy.Agent{{ID: "main", AllowAgents: []string{}}, {ID: "b"}},
			[]string{"b"},
			"main",
			policy.AgentList{Requester: "main", Agents: []policy.AgentEntry{entry("main")}},
		},
		{
			"a requester that is not configured",
			[]policy.Agent{{ID: "main"}},
			nil, "ghost",
			policy.AgentList{Requester: "ghost", Agents: []policy.AgentEntry{ghost}},
		},
		{
			"no list, any", nil,
			[]string{"*"},
			"ghost",
			policy.AgentList{Requester: "ghost", AllowAny: true, Agents: []policy.AgentEntry{ghost, entry("main")}},
		},
		{"the operator's is the default agent", nil, nil, "", policy.AgentList{Requester: "main", Agents: []policy.AgentEntry{entry("main")}}},
	}
	for _, c := range cases {
		t.Run(c.id, func(t *testing.T) {
			r := &policy.Rules{Agents: c.agents, AllowAgents: c.defaults}
			assert.Equal(t, c.want, r.SpawnableAgents(c.requester))
		})
	}
}

func TestMaySpawn(t *testing.T) {
	fleet := func(allow ...string) *policy.Rules {
		return &policy.Rules{Agents: []policy.Agent{{ID: "beta"}, {ID: "main", AllowAgents: allow}, {ID: "research"}}}
	}
	cases := []struct {
		id      string
		rules   *policy.Rules
		target  string
		allowed bool
		rule    string
	}{
		{"H185", &policy.Rules{}, "beta", false, "allowAgents"},
		{"H186", fleet("alpha"), "beta", false, "allowAgents"},
		{"H187", fleet("beta"), "beta", true, "allowAgents"},
		{"H187 any", fleet("*"), "beta", true, "allowAgents"},
		{"H188", fleet("Research"), "research", true, "allowAgents"},
		{"H188 target in upper case", fleet("research"), " RESEARCH ", true, "allowAgents"},
		{"R096 own agent", fleet("x"), "Main", true, "own agent"},
		{"R096 not listed", fleet("x"), "research", false, "allowAgents"},
		{"R097", fleet("*"), "ghost", false, "allowAgents"},
	}
	for _, c := range cases {
		t.Run(c.id, func(t *testing.T) {
			verdict := c.rules.MaySpawn("main", c.target)
			assert.Equal(t, c.allowed, verdict.Allowed)
			assert.Equal(t, c.rule, verdict.Rule)
		})
	}
}

func TestSpawnRefusalNamesTheListAndTheRequester(t *testing.T) {
	r := &policy.Rules{Agents: []policy.Agent{{ID: "x"}, {ID: "main", AllowAgents: []string{"x"}}}}
	assert.Equal(t, core.Verdict{
		Rule: "allowAgents", ConfigKey: "agents.list[1].subagents.allowAgents",
		Message: `agent "main" may not start sub-agents of "y": agents.list[1].subagents.allowAgents [x] accepts main, x`,
	}, r.MaySpawn("main", "y"), "R095")
	r = &policy.Rules{AllowAgents: []string{}, Agents: []policy.Agent{{ID: "main"}}, Names: key.Names{}}
	assert.Equal(t, "agents.defaults.subagents.allowAgents", r.MaySpawn("main", "y").ConfigKey, "inherited")
	assert.Equal(t, "agents.defaults.subagents.allowAgents", r.MaySpawn("ghost", "y").ConfigKey, "no entry of its own")
}
