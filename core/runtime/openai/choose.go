package openai

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"cordboard/core"
)

// choice is one model of one provider, ready to be asked.
type choice struct {
	provider string // name
	endpoint Provider
	key      string
	model    Model
	level    string // of thinking; "" = not asked for
}

// choose finds the model that a "provider/model" names. A model that the provider does not list is asked all the same, with nothing known
// of it; a level of thinking it must have declared.
func (r *Runtime) choose(name, level string) (choice, error) {
	provider, id, ok := strings.Cut(name, "/")
	if !ok || provider == "" || id == "" {
		return choice{}, core.Errorf(core.CodeConfig, "the model %q names no provider: \"provider/model\" is accepted", name).Because("agents.list[].model")
	}
	endpoint, ok := r.Providers[provider]
	if !ok {
		known := slices.Sorted(maps.Keys(r.Providers))
		return choice{}, core.Errorf(core.CodeConfig, "the model %q is of the provider %q, which is not in models.providers", name, provider).
			Because("models.providers").Accept(known...)
	}
	at := "models.providers." + provider
	c := choice{provider: provider, endpoint: endpoint, model: Model{ID: id}, level: level}
	if i := slices.IndexFunc(endpoint.Models, func(m Model) bool { return m.ID == id }); i >= 0 {
		c.model = endpoint.Models[i]
	}
	if level != "" && !slices.Contains(c.model.Thinking, level) {
		return choice{}, core.Errorf(core.CodeConfig, "the model %q does not declare the thinking level %q in %s.models[].thinking", name, level, at).
			Because(at + ".models[].thinking").Accept(append([]string{"off"}, c.model.Thinking...)...)
	}
	if endpoint.KeyEnv != "" {
		if c.key = strings.TrimSpace(endpoint.Key()); c.key == "" {
			return choice{}, core.Errorf(core.CodeConfig, "the owner of the store, pid %d, has no %s in its environment, the key of the provider %q: "+
				"start it where the key is set, after `cordboard serve --stop`", os.Getpid(), endpoint.KeyEnv, provider).
				Because(at + ".apiKeyEnv")
		}
	}
	return c, nil
}

// maxPrompt bounds a system prompt's file, bytes.
const maxPrompt = 1 << 20

// prompt is the agent's system prompt.
func (a *Agent) prompt() (string, error) {
	if a.SystemPrompt != "" || a.SystemPromptFile == "" {
		return a.SystemPrompt, nil
	}
	const at = "agents.list[].systemPromptFile"
	text, err := os.ReadFile(a.SystemPromptFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", core.Errorf(core.CodeConfig, "the system prompt %s is not there", a.SystemPromptFile).Because(at)
	case err != nil:
		return "", core.Errorf(core.CodeConfig, "the system prompt cannot be read: %w", err).Because(at)
	case len(text) > maxPrompt:
		return "", core.Errorf(core.CodeConfig, "the system prompt %s has %d bytes: up to %d are accepted", a.SystemPromptFile, len(text), maxPrompt).Because(at)
	}
	return strings.ToValidUTF8(string(text), "\uFFFD"), nil
}
