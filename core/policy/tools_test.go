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
