package policy_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"cordboard/core/policy"
)

// H165-H171: all minus the session tools; allow replaces that, deny wins.
func TestSubagentTools(t *testing.T) {
	list := func(names ...string) []string { return append([]string{}, names...) }
	for name, c := range map[string]struct {
		list      policy.ToolList
		tool      string
		ofSession bool
		allowed   bool
		key       string
	}{
		"by default no session tool":     {policy.ToolList{}, "sessions_list", true, false, "tools.subagents.tools.allow"},
		"by default every other":         {policy.ToolList{}, "files__read", false, true, ""},
		"allowed session tool":           {policy.ToolList{Allow: list("sessions_list")}, "sessions_list", true, true, "tools.subagents.tools.allow"},
		"only what is allowed":           {policy.ToolList{Allow: list("sessions_list")}, "files__read", false, false, "tools.subagents.tools.allow"},
		"allowed by glob":                {policy.ToolList{Allow: list("files__*")}, "files__read", false, true, "tools.subagents.tools.allow"},
		"a glob of another server":       {policy.ToolList{Allow: list("file__*")}, "files__read", false, false, "tools.subagents.tools.allow"},
		"nothing is allowed":             {policy.ToolList{Allow: list()}, "files__read", false, false, "tools.subagents.tools.allow"},
		"denied":                         {policy.ToolList{Deny: list("files__read")}, "files__read", false, false, "tools.subagents.tools.deny"},
		"another is denied":              {policy.ToolList{Deny: list("files__write")}, "files__read", false, true, ""},
		"deny wins":                      {policy.ToolList{Allow: list("*"), Deny: list("*__read")}, "files__read", false, false, "tools.subagents.tools.deny"},
		"everything, the session's too":  {policy.ToolList{Allow: list("*")}, "sessions_send", true, true, "tools.subagents.tools.allow"},
		"deny of the session's, allowed": {policy.ToolList{Allow: list("sessions_*"), Deny: list("sessions_send")}, "sessions_list", true, true, "tools.subagents.tools.allow"},
	} {
		r := policy.Rules{SubagentTools: c.list}
		v := r.SubagentTool(c.tool, c.ofSession)
		assert.Equal(t, c.allowed, v.Allowed, name)
		assert.Equal(t, c.key, v.ConfigKey, name)
		if !v.Allowed {
			assert.Contains(t, v.Message, c.tool, name)
			assert.Contains(t, v.Message, c.key, name)
		}
	}
}

// A sub-agent that may spawn in its turn has what it needs for that, as long as no list says otherwise.
func TestToolsOfSubagentsThatSpawn(t *testing.T) {
	for name, c := range map[string]struct {
		depth int
		list  policy.ToolList
		tool  string
		want  bool
	}{
		"it spawns":            {1, policy.ToolList{}, "sessions_spawn", true},
		"it lists":             {1, policy.ToolList{}, "sessions_list", true},
		"it writes to nobody":  {1, policy.ToolList{}, "sessions_send", false},
		"the last of the line": {2, policy.ToolList{}, "sessions_list", false},
		"denied":               {1, policy.ToolList{Deny: []string{"sessions_spawn"}}, "sessions_spawn", false},
		"not allowed":          {1, policy.ToolList{Allow: []string{}}, "sessions_spawn", false},
	} {
		r := policy.Rules{MaxSpawnDepth: 2, SubagentTools: c.list}
		assert.Equal(t, c.want, r.SubagentToolAt(c.depth, c.tool, true).Allowed, name)
		if c.tool == "sessions_spawn" {
			assert.Equal(t, c.want, r.MaySpawnAt("agent:a:subagent:1", c.depth).Allowed, name)
		}
	}
	r := policy.Rules{MaxSpawnDepth: 2}
	assert.True(t, r.MaySpawnAt("agent:a:main", 0).Allowed)
	assert.Equal(t, "agents.defaults.subagents.maxSpawnDepth", r.MaySpawnAt("agent:a:subagent:1", 2).ConfigKey)
}

// The sandbox guard: what is confined stays so, whoever requires a sandbox gets one.
func TestMayReach(t *testing.T) {
	r := policy.Rules{Agents: []policy.Agent{{ID: "open"}, {ID: "boxed", Sandbox: policy.Sandbox{Mode: policy.SandboxAll}}, {ID: "off", Sandbox: policy.Sandbox{Mode: policy.SandboxOff}}}}
	for name, c := range map[string]struct {
		confined, child string
		require         bool
		key             string // "" = it may
	}{
		"free to open":               {"", "agent:open:subagent:", false, ""},
		"free to open, required":     {"", "agent:open:subagent:", true, "agents.defaults.sandbox.mode"},
		"free to boxed, required":    {"", "agent:boxed:subagent:", true, ""},
		"confined to open":           {"agent:boxed:main", "agent:open:subagent:", false, "agents.defaults.sandbox.mode"},
		"confined to one set off":    {"agent:boxed:main", "agent:off:subagent:", false, "agents.list[2].sandbox.mode"},
		"confined to boxed":          {"agent:boxed:main", "agent:boxed:subagent:", false, ""},
		"confined to open, required": {"agent:boxed:main", "agent:open:subagent:", true, "agents.defaults.sandbox.mode"},
	} {
		v := r.MayReach(c.confined, c.child, c.require)
		assert.Equal(t, c.key == "", v.Allowed, name)
		if !v.Allowed {
			assert.Equal(t, c.key, v.ConfigKey, name)
			assert.Contains(t, v.Message, c.key, name)
		}
	}
}
