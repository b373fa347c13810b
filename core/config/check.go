package config

import (
	"net"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"cordboard/core/config/json5"
)

// check asks what no single key can tell. About an object that holds a mistake already it stays silent: there a key is missing only
// because it could not be read.
func (r *reader) check(c *Config) {
	read := slices.Clone(r.problems)
	r.checkPolicy(c)
	r.checkAgents(c)
	r.checkOutside(c)
	r.checkReach(c)
	r.checkServers(c)
	r.checkSubagentTools(c)
	r.checkGateway(c.Gateway)
	for i, p := range c.Logging.RedactPatterns {
		if re, err := regexp.Compile(p); err == nil && re.MatchString("") {
			r.warn(r.at(json5.Index("logging.redactPatterns", i)), "matches the empty text, so it masks between all letters")
		}
	}
	found := slices.DeleteFunc(r.problems[len(read):], func(p Problem) bool { return followsFrom(p, read) })
	r.problems = append(read, found...)
}

// followsFrom reports whether p is about an object in which a key could not be read.
func followsFrom(p Problem, read Problems) bool {
	object := p.Key
	if dot := strings.LastIndexByte(object, '.'); dot > strings.LastIndexByte(object, ']') {
		object = object[:dot]
	}
	return slices.ContainsFunc(read, func(q Problem) bool { return under(q.Key, object) })
}

// at is where a path stands in the file, or the nearest object above it.
func (r *reader) at(path string) spot {
	place, _ := r.doc.Find(path)
	return spot{path, place.Pos()}
}

func (r *reader) checkPolicy(c *Config) {
	for i, rule := range c.Session.SendPolicy.Rules {
		path := json5.Index("session.sendPolicy.rules", i)
		if rule.Action == "" {
			r.problem(r.at(path), `needs an action: "allow" or "deny"`)
		}
		if rule.Match == (SendMatch{}) {
			r.warn(r.at(path), "has no match, so it matches everything")
		}
	}
}

func (r *reader) checkAgents(c *Config) {
	if d := c.Agents.Defaults.Subagents; d.MaxSpawnDepth > 1 {
		r.warn(r.at("agents.defaults.subagents.maxSpawnDepth"), "%d lets sub-agents spawn: an extension of cordboard's, the contract is 1",
			d.MaxSpawnDepth)
	}
	first := map[string]spot{}
	standard := ""
	for i, a := range c.Agents.List {
		path := json5.Index("agents.list", i)
		id := r.at(path + ".id")
		switch twin, twice := first[a.ID]; {
		case a.ID == "":
			r.problem(r.at(path), "needs an id")
		case twice:
			r.problem(id, "the id %q is here twice: first at %v", a.ID, twin.pos)
		default:
			first[a.ID] = id
		}
		if a.Default && standard != "" {
			r.warn(r.at(path+".default"), "is not the default agent: %s is, which comes first", standard)
		} else if a.Default {
			standard = a.ID
		}
		if a.SystemPrompt != "" && a.SystemPromptFile != "" {
			r.problem(r.at(path+".systemPromptFile"), "cannot stand beside systemPrompt: keep one of the two")
		}
		r.checkAgent(c, path, a.Model, a.Runtime, a.Subagents)
		full := c.Agents.Defaults.fill(a)
		r.checkSandbox(path, full.Runtime, full.Sandbox)
		r.checkAsked(c, path, full)
	}
	d := c.Agents.Defaults
	r.checkAgent(c, "agents.defaults", d.Model, d.Runtime, d.Subagents.Subagents)
}

// checkAgent looks at what agents.defaults and agents.list[] have in common.
func (r *reader) checkAgent(c *Config, path string, m Model, rt Runtime, sub Subagents) {
	r.checkModel(c, path+".model", m)
	r.checkModel(c, path+".subagents.model", sub.Model)
	for i, id := range sub.AllowAgents {
		known := slices.ContainsFunc(c.Agents.List, func(a Agent) bool { return a.ID == id })
		if id != "*" && !known {
			r.warn(r.at(json5.Index(path+".subagents.allowAgents", i)), "names the agent %q, which agents.list does not have", id)
		}
	}
	at := r.at(path + ".runtime")
	switch {
	case rt.Type == "" && (rt.Command != nil || rt.Env != nil):
		r.problem(at, "needs a type: acp or exec")
	case rt.local() && !runnable(rt.Command):
		r.problem(at, "type %s needs a command: { type: %q, command: [\"program\", \"argument\"] }", rt.Type, rt.Type)
	case !rt.local() && rt.Command != nil:
		r.problem(r.at(path+".runtime.command"), "belongs to the types acp and exec, not to %s", rt.Type)
	case !rt.local() && rt.Env != nil:
		r.problem(r.at(path+".runtime.env"), "belongs to the types acp and exec, not to %s", rt.Type)
	}
}

func runnable(command []string) bool { return len(command) > 0 && strings.TrimSpace(command[0]) != "" }

// checkModel warns about a model that no provider here has. The names of OpenClaw's own providers need no entry there.
func (r *reader) checkModel(c *Config, path string, m Model) {
	names := m.Fallbacks
	if m.Primary != "" {
		names = append([]string{m.Primary}, names...)
	}
	for _, name := range names {
		if _, ok := c.ModelNamed(name); !ok {
			r.warn(r.at(path), "the model %q is not in models.providers", name)
		}
	}
}

// checkAsked: a runtime that asks a provider needs a model of one (engine.md §3). A model that its provider does not list is asked all the same.
func (r *reader) checkAsked(c *Config, path string, a Agent) {
	if a.Runtime.Type != RuntimeOpenAI {
		return
	}
	provider, _, _ := strings.Cut(a.Model.Primary, "/")
	switch _, known := c.Models.Providers[provider]; {
	case known:
	case provider == RuntimeEcho:
		r.warn(r.at(path), "runtime openai needs a model of models.providers, and its model is %s: write model: \"provider/model\"", quote(a.Model.Primary))
	default:
		r.warn(r.at(path), "runtime openai has nobody to ask: its model is %s, and models.providers has no %s", quote(a.Model.Primary), quote(provider))
	}
}

// checkReach warns about agents of tools.agentToAgent.allow that there are none of.
func (r *reader) checkReach(c *Config) {
	ids := []string{c.DefaultAgent()}
	for _, a := range c.Agents.List {
		ids = append(ids, a.ID)
	}
	for i, pattern := range c.Tools.AgentToAgent.Allow {
		if !slices.ContainsFunc(ids, func(id string) bool { return globbed(pattern, id) }) {
			r.warn(r.at(json5.Index("tools.agentToAgent.allow", i)), "%s matches no agent of agents.list", quote(pattern))
		}
	}
}

// globbed reports whether an agent's id is what a pattern says, where * stands for anything.
func globbed(pattern, id string) bool {
	parts := strings.Split(pattern, "*")
	for i, part := range parts {
		parts[i] = regexp.QuoteMeta(part)
	}
	return regexp.MustCompile("^" + strings.Join(parts, ".*") + "$").MatchString(id)
}

// checkSandbox: a local agent in a sandbox needs the command that makes it one (engine.md §3).
func (r *reader) checkSandbox(path string, rt Runtime, s Sandbox) {
	if s.Mode != SandboxOff && rt.local() && !runnable(s.Command) {
		r.problem(r.at(path), "is sandboxed (sandbox.mode %q) and its runtime %s runs a program here: it needs sandbox.command, such as "+
			`["bwrap", …]`, s.Mode, rt.Type)
	}
}

func (r *reader) checkOutside(c *Config) {
	for name, p := range c.Models.Providers {
		path := json5.Join("models.providers", name)
		if p.BaseURL == "" {
			r.problem(r.at(path), "needs a baseUrl")
		}
		if _, left := r.doc.Find(path + ".apiKey"); left == "" && p.APIKeyEnv == "" {
			r.warn(r.at(path+".apiKey"), "is not read, so requests go out without a key: write apiKeyEnv: the name of an environment variable that holds it")
		}
		seen := map[string]bool{}
		for i, m := range p.Models {
			at := json5.Index(path+".models", i)
			if m.ID == "" {
				r.problem(r.at(at), "needs an id")
			} else if seen[m.ID] {
				r.problem(r.at(at+".id"), "the model %s is here twice", quote(m.ID))
			}
			seen[m.ID] = true
		}
	}
	for name, ch := range c.Channels {
		r.checkChannel(json5.Join("channels", name), ch)
	}
}

func (r *reader) checkChannel(path string, ch Channel) {
	webhook, exec := ch.Type == ChannelWebhook, ch.Type == ChannelExec
	switch {
	case webhook && ch.URL == "":
		r.problem(r.at(path), "type webhook needs a url")
	case exec && !runnable(ch.Command):
		r.problem(r.at(path), "type exec needs a command")
	case !webhook && ch.URL != "":
		r.problem(r.at(path+".url"), "belongs to the type webhook, not to %s", ch.Type)
	case !webhook && ch.SecretEnv != "":
		r.problem(r.at(path+".secretEnv"), "belongs to the type webhook, not to %s", ch.Type)
	case !exec && ch.Command != nil:
		r.problem(r.at(path+".command"), "belongs to the type exec, not to %s", ch.Type)
	}
}

func (r *reader) checkGateway(g Gateway) {
	if (g.TLS.Cert == "") != (g.TLS.Key == "") {
		r.problem(r.at("gateway.tls"), "needs both cert and key")
	}
	if g.Listen != "" && !loopback(g.Listen) && g.TLS.Cert == "" {
		r.problem(r.at("gateway.listen"), "%s is reachable from other machines: it needs gateway.tls.cert and gateway.tls.key", quote(g.Listen))
	}
}

func loopback(address string) bool {
	host, _, _ := net.SplitHostPort(address)
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}
