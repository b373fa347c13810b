package openai

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/sashabaranov/go-openai"

	"cordboard/core"
)

// leftOut tells the model that it does not see everything.
const leftOut = "[The beginning of this conversation is left out: it does not fit into the context window.]"

// prompt is what the requests of a turn are made of: what always goes, and what goes as far as it fits.
type prompt struct {
	system  string // the agent's prompt and the run's context
	tools   []openai.Tool
	message unit   // the run's own, always there
	rounds  []unit // of this turn, oldest first; the newest is always there
	history []unit // before this turn, newest first, no more than the first budget took
	cut     bool   // there is more history
	budget  int    // tokens

	toolTokens int
}

func newPrompt(t *core.Turn, system string, m Model) *prompt {
	r := reader{images: m.Images}
	own := withImages(written(strings.ToValidUTF8(t.Run.Message, "\uFFFD"), t.Run.Provenance), t.Images)
	p := &prompt{system: joined("\n\n", system, strings.TrimSpace(t.Context)), message: newUnit(own), budget: budgetOf(m)}
	p.tools, p.toolTokens = toolsOf(t.Tools)
	if t.History != nil {
		p.walk(t, &r)
	}
	return p
}

// walk reads the history back as far as it can fit, and no further.
func (p *prompt) walk(t *core.Turn, r *reader) {
	room := p.budget - p.fixed()
	for m := range t.History {
		u, complete := r.read(&m)
		if complete {
			p.history = append(p.history, u)
			room -= u.tokens
		}
		if room < r.waiting {
			p.cut = true
			break
		}
	}
}

// toolsOf describes the tools to the endpoint, and how many tokens that takes.
func toolsOf(specs []core.ToolSpec) (tools []openai.Tool, tokens int) {
	for _, s := range specs {
		schema := s.Schema
		if len(schema) == 0 {
			schema = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		tools = append(tools, openai.Tool{
			Type: openai.ToolTypeFunction, Function: &openai.FunctionDefinition{Name: s.Name, Description: s.Description, Parameters: schema},
		})
		tokens += messageTokens + estimate(s.Name) + estimate(s.Description) + estimate(string(schema))
	}
	return tools, tokens
}

// fixed is what every request of the turn takes, in tokens.
func (p *prompt) fixed() int {
	return 2*messageTokens + estimate(p.system) + estimate(leftOut) + p.message.tokens + p.toolTokens
}

// add takes a round of tool calls into the next request.
func (p *prompt) add(r toolRound) { p.rounds = append(p.rounds, r.unit()) }

// halve lets the next requests have half of the tokens.
func (p *prompt) halve() { p.budget /= 2 }

// messages are those of the next request: newest first as many as fit, then turned around.
func (p *prompt) messages() []openai.ChatCompletionMessage {
	room, cut := p.budget-p.fixed(), p.cut
	kept := len(p.rounds)
	for kept > 0 && (kept == len(p.rounds) || p.rounds[kept-1].tokens <= room) {
		kept--
		room -= p.rounds[kept].tokens
	}
	before := 0
	if kept == 0 {
		for before < len(p.history) && p.history[before].tokens <= room {
			room -= p.history[before].tokens
			before++
		}
	}
	cut = cut || kept > 0 || before < len(p.history)
	history := slices.Clone(p.history[:before])
	if cut {
		history = fromUser(history)
	}
	slices.Reverse(history)
	return p.assemble(cut, history, p.rounds[kept:])
}

// fromUser drops what an unseen message was answered with: a conversation that begins with an answer is refused by some endpoints. Without
// any message of a user the answers are kept.
func fromUser(newestFirst []unit) []unit {
	for i := len(newestFirst) - 1; i >= 0; i-- {
		if newestFirst[i].user {
			return newestFirst[:i+1]
		}
	}
	return newestFirst
}

func (p *prompt) assemble(cut bool, history, rounds []unit) (list []openai.ChatCompletionMessage) {
	system := p.system
	if cut {
		system = joined("\n\n", system, leftOut)
	}
	if system != "" {
		list = append(list, openai.ChatCompletionMessage{Role: openai.ChatMessageRoleSystem, Content: system})
	}
	for _, part := range [][]unit{history, {p.message}, rounds} {
		for _, u := range part {
			list = append(list, u.messages...)
		}
	}
	return list
}

// joined puts texts together, blank ones left out.
func joined(separator string, texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(s string) bool { return strings.TrimSpace(s) == "" }), separator)
}
