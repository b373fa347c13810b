package openai

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cordboard/core"
	"cordboard/core/proptest"
)

func raw(s string) json.RawMessage {
	text, _ := json.Marshal(s)
	return text
}

func at(i int) *int { return &i }

func gather(t require.TestingT, pieces ...callDelta) []string {
	var c calls
	for _, p := range pieces {
		require.NoError(t, c.add(p))
	}
	var list []string
	for _, known := range c.list {
		list = append(list, known.id+" "+known.name+" "+known.params())
	}
	return list
}

func delta4(index *int, id, name, arguments string) callDelta {
	d := callDelta{Index: index, ID: text(id)}
	d.Function.Name, d.Function.Arguments = text(name), raw(arguments)
	return d
}

// Endpoints differ in how they cut calls into pieces.
func TestCallPieces(t *testing.T) {
	for name, c := range map[string]struct {
		pieces []callDelta
		want   []string
	}{
		"no index, ids":          {[]callDelta{delta4(nil, "a", "f", `{"x":1}`), delta4(nil, "b", "g", `{}`)}, []string{`a f {"x":1}`, "b g {}"}},
		"no index, no id after":  {[]callDelta{delta4(nil, "a", "f", `{"x"`), delta4(nil, "", "", `:1}`)}, []string{`a f {"x":1}`}},
		"one index for all":      {[]callDelta{delta4(at(0), "a", "f", `{}`), delta4(at(0), "b", "g", `{}`), delta4(at(0), "", "", "")}, []string{"a f {}", "b g {}"}},
		"id and name every time": {[]callDelta{delta4(at(0), "a", "f", `{`), delta4(at(0), "a", "f", `}`)}, []string{"a f {}"}},
		"indexes with holes":     {[]callDelta{delta4(at(7), "a", "f", `{`), delta4(at(-1), "b", "g", "{}"), delta4(at(7), "", "", "}")}, []string{"a f {}", "b g {}"}},
		"an object as arguments": {[]callDelta{{ID: "a", Function: struct {
			Name      text            `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		}{"f", json.RawMessage(`{"x":1}`)}}}, []string{`a f {"x":1}`}},
		"null": {[]callDelta{{ID: "a", Function: struct {
			Name      text            `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		}{"f", json.RawMessage(`null`)}}}, []string{`a f {}`}},
	} {
		assert.Equal(t, c.want, gather(t, c.pieces...), name)
	}
	var c calls
	for i := range maxCalls {
		require.NoError(t, c.add(delta4(at(i), "x", "f", "")))
	}
	assert.Error(t, c.add(delta4(at(maxCalls), "x", "f", "")))
}

// However the arguments of any number of calls are cut and mixed, they come out whole.
func TestArgumentsComeOutWhole(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		whole := rapid.SliceOfN(rapid.StringMatching(`[a-z{}":, é✓]{1,30}`), 1, 5).Draw(t, "arguments")
		rest := slices.Clone(whole)
		pieces := make([]callDelta, 0, len(whole))
		for i := range whole {
			pieces = append(pieces, delta4(at(i), "id"+string(rune('a'+i)), "f", ""))
		}
		for slices.ContainsFunc(rest, func(s string) bool { return s != "" }) {
			i := rapid.IntRange(0, len(rest)-1).Draw(t, "call")
			runes := []rune(rest[i])
			n := rapid.IntRange(0, len(runes)).Draw(t, "runes")
			pieces = append(pieces, delta4(at(i), "", "", string(runes[:n])))
			rest[i] = string(runes[n:])
		}
		var want []string
		for i, w := range whole {
			if w = strings.TrimSpace(w); w == "" {
				w = "{}"
			}
			want = append(want, "id"+string(rune('a'+i))+" f "+w)
		}
		require.Equal(t, want, gather(t, pieces...))
	})
}

// No piece of an answer breaks what reads it.
func FuzzPiece(f *testing.F) {
	for _, s := range []string{
		`{"choices":[{"delta":{"content":"x","tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{"}}]},"finish_reason":"stop"}]}`,
		`{"choices":[{"delta":{"content":["x"],"reasoning":{}}}],"usage":{"prompt_tokens":-1,"completion_tokens":1e300}}`, `{"error":"x"}`, `{"error":null}`, `[]`, `{`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, piece string) {
		a := answer{out: &output{Sink: quiet{}}}
		failed, err := a.take([]byte(piece))
		if err == nil && failed == nil && a.usage != nil {
			assert.GreaterOrEqual(t, a.usage.Input, int64(0))
			assert.GreaterOrEqual(t, a.usage.Output, int64(0))
		}
		if failed != nil {
			assert.NotEmpty(t, (&choice{}).told(0, failed).Error())
		}
	})
}

type quiet struct{ core.Sink }

func (quiet) Text(string) error  { return nil }
func (quiet) Think(string) error { return nil }

// Whatever a transcript holds, in whatever order, the request is one that endpoints accept: calls have their results right behind them
// and no result is without a call, no message is empty, and what may be left out fits.
func FuzzTranscript(f *testing.F) {
	for _, s := range []string{
		`{"role":"user","content":"hi"}`,
		`{"role":"assistant","content":[{"type":"toolCall","id":"a","name":"f","arguments":{}}]}` + "\n" + `{"role":"toolResult","toolCallId":"a","content":[]}`,
		`{"role":"toolResult","toolCallId":"a"}` + "\n" + `{"role":"assistant","content":[{"type":"toolCall"},{"type":"toolCall"}]}`,
		`{"role":"user","content":[{"type":"image","data":"AAAA","mimeType":"image/png"}]}` + "\n" + `{"role":"system"}`,
	} {
		f.Add(s, 100, true)
	}
	f.Fuzz(func(t *testing.T, transcript string, window int, images bool) {
		var list []core.Message
		for line := range strings.Lines(transcript) {
			role, flags, _, err := core.Inspect([]byte(line))
			if err == nil {
				list = append(list, core.Message{Seq: uint64(len(list) + 1), Role: role, Flags: flags, Raw: json.RawMessage(line)})
			}
		}
		slices.Reverse(list)
		turn := core.Turn{Run: core.Run{Message: "now"}, History: slices.Values(list)}
		p := newPrompt(&turn, "", Model{Window: window % 100_000, Images: images})
		for range 2 {
			messages := p.messages()
			accepted(t, messages)
			free := tokensOf(messages...) - p.message.tokens - estimate(leftOut) - 2*messageTokens
			assert.LessOrEqual(t, free, max(0, p.budget-p.fixed()))
			p.halve()
		}
	})
}

func accepted(t *testing.T, messages []openai.ChatCompletionMessage) {
	var owed []string
	for _, m := range messages {
		if m.Role == openai.ChatMessageRoleTool {
			require.NotEmpty(t, owed)
			assert.Equal(t, owed[0], m.ToolCallID)
			owed = owed[1:]
		} else {
			require.Empty(t, owed)
		}
		assert.True(t, m.Content != "" || len(m.MultiContent) > 0 || len(m.ToolCalls) > 0)
		for _, c := range m.ToolCalls {
			assert.True(t, json.Valid([]byte(c.Function.Arguments)))
			assert.NotEmpty(t, c.Function.Name)
			assert.NotEmpty(t, c.ID)
			owed = append(owed, c.ID)
		}
	}
	require.Empty(t, owed)
	_, err := json.Marshal(messages)
	require.NoError(t, err)
}
