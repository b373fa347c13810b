// Package openai is the runtime for every endpoint that speaks chat completions: OpenAI itself, the compatible endpoints of other vendors
// and local servers (engine.md §3). It streams, lets the model call tools, counts usage and knows no more of an agent than it is given.
//
// One turn: openai.go picks the models, play.go asks one of them until it calls no more tools, prompt.go makes the messages of a request
// from the transcript (mapping.go) so that they fit (tokens.go), wire.go sends it and stream.go reads the answer. failure.go names what
// went wrong and what may be tried again.
package openai

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"cordboard/core"
)

// Runtime plays agents by asking models. All fields but Client are needed.
type Runtime struct {
	// Agent is the agent whose session a key is.
	Agent func(sessionKey string) Agent
	// Providers are the endpoints by name, as in "provider/model".
	Providers map[string]Provider
	// Client sends the requests; nil is http.DefaultClient. Its timeout must be none: a model may think for long.
	Client *http.Client
	// Now is the time, asked only to read a Retry-After that names a date.
	Now func() time.Time
	// Sleep waits for d or until ctx ends, whose error it then returns.
	Sleep func(ctx context.Context, d time.Duration) error
}

// Agent is what of an agent matters to a model.
type Agent struct {
	Model            string   // "provider/model"
	Fallbacks        []string // likewise: tried in order when Model failed before it said anything
	SystemPrompt     string
	SystemPromptFile string // read for every turn when SystemPrompt is empty
	Thinking         string // level where neither run nor session names one
}

// Provider is one endpoint.
type Provider struct {
	BaseURL string // up to and without /chat/completions
	KeyEnv  string // name of the variable that Key reads, for messages; "" = the endpoint wants no key
	Key     func() string
	Models  []Model
}

// Model describes a model of a provider.
type Model struct {
	ID        string
	Window    int      // tokens it can read; 0 is unknown and counts as UnknownWindow
	MaxTokens int      // tokens it may write; 0 leaves that to the provider
	Prices    *Prices  // nil is unknown
	Thinking  []string // levels it knows
	Images    bool     // it takes image parts
}

// Prices are dollars per million tokens.
type Prices struct{ Input, Output float64 }

// Turn implements core.Runtime. An error of a model is a *Failure, one of the configuration a *core.Error.
func (r Runtime) Turn(ctx context.Context, t core.Turn, out core.Sink) (core.TurnResult, error) {
	agent := r.Agent(t.Session.Key)
	system, err := agent.prompt()
	if err != nil {
		return core.TurnResult{}, err
	}
	spoken := &output{Sink: out}
	var result core.TurnResult
	var failed []error
	for _, name := range agent.models(t.Run.Model) {
		chosen, err := r.choose(name, levelOf(&t, &agent))
		if err == nil {
			p := play{runtime: &r, turn: &t, chosen: chosen, out: spoken, prompt: newPrompt(&t, system, chosen.model)}
			err = p.run(ctx)
			result.Usage = sum(result.Usage, p.usage)
		}
		if err == nil || ctx.Err() != nil || spoken.any {
			if name != t.Run.Model {
				result.Model = name
			}
			return result, err
		}
		failed = append(failed, err)
		if _, ofModel := errors.AsType[*Failure](err); !ofModel && len(failed) == 1 {
			break // what is wrong with the configuration is said, not covered up by another model
		}
	}
	return result, all(failed)
}

// models are the names to try in order. A model that was asked for by name has no fallbacks: whoever named it wants that one.
func (a *Agent) models(asked string) []string {
	if asked != "" && asked != a.Model {
		return []string{asked}
	}
	return append([]string{a.Model}, a.Fallbacks...)
}

// levelOf is the thinking level of a turn: of the run, else of the session, else of the agent. Off is none.
func levelOf(t *core.Turn, a *Agent) string {
	for _, level := range []string{t.Run.Thinking, t.Session.ThinkingLevel, a.Thinking} {
		if level == "off" {
			return ""
		}
		if level != "" {
			return level
		}
	}
	return ""
}

// sum adds what two requests cost; an unknown cost stays unknown only when both are.
func sum(a, b core.Usage) core.Usage {
	total := core.Usage{Input: a.Input + b.Input, Output: a.Output + b.Output, Cost: a.Cost}
	if b.Cost != nil {
		cost := *b.Cost
		if a.Cost != nil {
			cost += *a.Cost
		}
		total.Cost = &cost
	}
	return total
}

// all makes one sentence of why each model failed.
func all(failed []error) error {
	if len(failed) == 1 {
		return failed[0]
	}
	texts := make([]string, len(failed))
	for i, err := range failed {
		texts[i] = err.Error()
	}
	return &chain{strings.Join(texts, "; then "), failed}
}

// chain is several failures told in one line.
type chain struct {
	text   string
	causes []error
}

func (c *chain) Error() string   { return c.text }
func (c *chain) Unwrap() []error { return c.causes }

// output is the sink of a turn that remembers whether anything reached it.
type output struct {
	core.Sink
	any bool
}
