package config

import (
	"slices"
	"strings"
)

// FindModel finds a configured model by "provider/model", or by the model alone, which then more than one provider may have.
func (c *Config) FindModel(name string) (found []string) {
	if _, ok := c.ModelNamed(name); ok {
		return []string{name}
	}
	for provider, p := range c.Models.Providers {
		if slices.ContainsFunc(p.Models, func(m ModelDef) bool { return m.ID == name }) {
			found = append(found, provider+"/"+name)
		}
	}
	slices.Sort(found)
	return found
}

// DeclaresThinking reports whether a model may be asked for a thinking level, and which levels its provider declares. Of a model that no
// provider here describes nothing is known, and nothing refused.
func (c *Config) DeclaresThinking(model, level string) (levels []string, ok bool) {
	m, known := c.ModelNamed(model)
	if provider, _, _ := strings.Cut(model, "/"); !known || provider == RuntimeEcho {
		return nil, true
	}
	return m.Thinking, slices.Contains(m.Thinking, level)
}

// Bindings are the rules of a channel's threads; a channel that is not configured is an outbox under session.threadBindings.
func (c *Config) Bindings(channel string) (rules ThreadBindings, threads bool) {
	if ch, ok := c.Channels[channel]; ok {
		return ch.ThreadBindings, ch.Threads
	}
	return c.Session.ThreadBindings, true
}
