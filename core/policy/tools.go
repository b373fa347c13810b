package policy

import (
	"fmt"

	"cordboard/core"
)

const (
	keyToolsAllow = "tools.subagents.tools.allow"
	keyToolsDeny  = "tools.subagents.tools.deny"
)

// ToolList is tools.subagents.tools: names, or globs with `*`. A nil Allow leaves the set of tools as it is.
type ToolList struct{ Allow, Deny []string }

// SubagentTool decides whether a sub-agent may use a tool (session-tools.md §8, "Tools"). Without an allow list it has all but the session
// tools; with one it has what that names, session tools included; what is denied it never has.
func (r *Rules) SubagentTool(name string, ofSession bool) core.Verdict {
	refused := func(rule, key, why string) core.Verdict {
		return core.Verdict{Rule: rule, ConfigKey: key, Message: fmt.Sprintf("a sub-agent may not use %s: %s", name, why)}
	}
	switch list := r.SubagentTools; {
	case named(list.Deny, name):
		return refused("deny", keyToolsDeny, keyToolsDeny+" names it")
	case list.Allow != nil && !named(list.Allow, name):
		return refused("allow", keyToolsAllow, keyToolsAllow+" does not name it")
	case list.Allow != nil:
		return core.Verdict{Allowed: true, Rule: "allow", ConfigKey: keyToolsAllow}
	case ofSession:
		return refused("default", keyToolsAllow, "it has no session tools unless "+keyToolsAllow+" names them")
	}
	return core.Verdict{Allowed: true, Rule: "default"}
}

// SubagentToolAt is SubagentTool for a sub-agent at a depth. One that may spawn in its turn (maxSpawnDepth) has by default what it needs for
// that: to spawn, to see whom it may, and to see and read what came of it.
func (r *Rules) SubagentToolAt(depth int, name string, ofSession bool) core.Verdict {
	v := r.SubagentTool(name, ofSession)
	if v.Allowed || v.Rule != "default" || depth >= r.deepest() || name == "sessions_send" {
		return v
	}
	return core.Verdict{Allowed: true, Rule: "spawn depth", ConfigKey: keySpawnDepth}
}

func named(patterns []string, name string) bool {
	for _, pattern := range patterns {
		if glob(pattern, name) {
			return true
		}
	}
	return false
}
