package config

import (
	"slices"
	"strings"

	"cordboard/core/config/json5"
)

// sessionTools are the names that tools.subagents.tools may hold beside those of servers (session-tools.md).
var sessionTools = [...]string{"sessions_list", "sessions_history", "sessions_send", "sessions_spawn", "agents_list"}

const mostServerName = 32 // bytes: the name of its tools holds it, and may have 64

// checkServers: the name of a server begins the names of its tools, which models' endpoints take letters, digits, - and _ of; `__` parts
// the two.
func (r *reader) checkServers(c *Config) {
	for name, s := range c.MCP.Servers {
		path := json5.Join("mcp.servers", name)
		if runnable(s.Command) == (s.URL != "") {
			r.problem(r.at(path), "needs a command or a url, and not both")
		}
		if s.URL != "" && s.Env != nil {
			r.problem(r.at(path+".env"), "belongs to a command, not to a url")
		}
		unfit := strings.ContainsFunc(name, func(c rune) bool {
			return c != '-' && c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z')
		})
		if unfit || len(name) > mostServerName || strings.Contains(name, "__") || strings.HasPrefix(name, "_") || strings.HasSuffix(name, "_") {
			r.problem(r.at(path), "cannot be the name of a server: its tools are called <server>__<tool>, so a name is up to %d letters, digits, - and single _ between them",
				mostServerName)
		}
	}
}

// checkSubagentTools: an allowed name that means nothing would quietly leave sub-agents without a tool, a denied one with it.
func (r *reader) checkSubagentTools(c *Config) {
	list := c.Tools.Subagents.Tools
	for i, name := range list.Allow {
		if !c.hasTool(name) {
			r.problem(r.at(json5.Index("tools.subagents.tools.allow", i)), "names no tool: %s is neither a session tool nor one of a server in mcp.servers", quote(name))
		}
	}
	for i, name := range list.Deny {
		if !c.hasTool(name) {
			r.warn(r.at(json5.Index("tools.subagents.tools.deny", i)), "names no tool that is known here: %s", quote(name))
		}
	}
}

// hasTool reports whether a name, or a glob with `*`, may be that of a tool. What a server offers is known once it runs, so its name is
// enough.
func (c *Config) hasTool(pattern string) bool {
	start, _, globbed := strings.Cut(pattern, "*")
	fits := func(name string) bool {
		return strings.EqualFold(pattern, name) || globbed && len(name) >= len(start) && strings.EqualFold(name[:len(start)], start)
	}
	if slices.ContainsFunc(sessionTools[:], fits) {
		return true
	}
	for server := range c.MCP.Servers {
		prefix := server + "__"
		if len(start) > len(prefix) && strings.EqualFold(start[:len(prefix)], prefix) || fits(prefix) {
			return true
		}
	}
	return false
}
