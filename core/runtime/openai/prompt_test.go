package openai_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordboard/core"
)

// oddHistory has what transcripts hold beside plain talk: tools, thoughts, images, another session's message, failed and empty answers,
// a call without a result, a result without a call, ids that come again.
var oddHistory = []string{
	`{"role":"toolResult","toolCallId":"lost","toolName":"x","content":[{"type":"text","text":"nobody asked"}]}`,
	`{"role":"system","content":"Be kind."}`,
	`{"role":"user","content":"plain string"}`,
	`{"role":"assistant","content":[{"type":"thinking","thinking":"secret thought"},{"type":"text","text":"Let me look."},{"type":"toolCall","id":"call-1","name":"sessions_list","arguments":{"limit":1}}]}`,
	`{"role":"toolResult","toolCallId":"call-1","toolName":"sessions_list","content":[{"type":"text","text":"{\"count\":1}"}],"isError":false}`,
	`{"role":"assistant","content":[{"type":"toolCall","id":"call-1","name":"odd name/1","arguments":"not an object"},{"type":"toolCall","id":"open","name":"agents_list","arguments":{}}]}`,
	`{"role":"tool","toolCallId":"call-1","content":[{"type":"text","text":"again"},{"type":"image","data":"AAAA","mimeType":"image/png"}]}`,
	`{"role":"assistant","content":[],"stopReason":"error","errorMessage":"429"}`,
	`{"role":"user","content":[{"type":"text","text":"from afar"},{"type":"image","data":"iVBORw0KGgo=","mimeType":"image/png"}],"provenance":{"kind":"inter_session","sourceSessionKey":"agent:work:main","sourceChannel":"discord","sourceTool":"sessions_send"}}`,
	`{"role":"assistant","content":[],"stopReason":"aborted"}`,
	`{"role":"user","content":[],"provenance":{"kind":"inter_session","sourceSessionKey":"agent:work:main","via":"operator"}}`,
	`{"role":"assistant","content":[{"type":"text","text":""}],"stopReason":"stop"}`,
	`{"role":"narrator","content":"skipped"}`,
}

func TestOddTranscript(t *testing.T) {
	for _, model := range []string{"m1", "m2"} { // without and with images
		l := serve(t, says("ok"))
		r := newRig(t, l)
		r.agent.SystemPrompt = "You are an agent."
		turn := message("now")
		turn.Run.Model, turn.Context, turn.History = "mock/"+model, "Messages between agents.\n", history(t, oddHistory...)
		turn.Run.Provenance = &core.Provenance{Kind: "inter_session", SourceSessionKey: "agent:work:x", SourceTool: "sessions_send"}
		turn.Tools = []core.ToolSpec{{Name: "agents_list", Description: "Lists agents.", Schema: json.RawMessage(`{"type":"object"}`)}}
		_, err := r.play(t, turn, &sink{})
		require.NoError(t, err)
		golden(t, "odd-transcript-"+model+".json", l.asked())
	}
}

// sent is a request as far as the tests look at it.
type sent struct {
	Messages []struct {
		Role       string
		Content    string
		ToolCallID string                `json:"tool_call_id"`
		ToolCalls  []struct{ ID string } `json:"tool_calls"`
	}
}

func decode(t *testing.T, body string) (s sent) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(body), &s))
	return s
}

// longHistory is rounds of question, call, result and answer, each about 100 tokens.
func longHistory(rounds int) (lines []string) {
	for i := range rounds {
		filler := strings.Repeat("word ", 20)
		lines = append(lines,
			fmt.Sprintf(`{"role":"user","content":"question %d %s"}`, i, filler),
			fmt.Sprintf(`{"role":"assistant","content":[{"type":"toolCall","id":"c%d","name":"agents_list","arguments":{}}]}`, i),
			fmt.Sprintf(`{"role":"toolResult","toolCallId":"c%d","content":[{"type":"text","text":"result %d %s"}]}`, i, i, filler),
			fmt.Sprintf(`{"role":"assistant","content":[{"type":"text","text":"answer %d %s"}]}`, i, filler),
		)
	}
	return lines
}

// What does not fit is left out from the old end, told in one line, and read no further than needed.
func TestOverflow(t *testing.T) {
	l := serve(t, says("ok"))
	r := newRig(t, l)
	r.agent.SystemPrompt = "You are an agent."
	turn := message("the newest")
	turn.Run.Model = "mock/small"
	read := 0
	turn.History = func(yield func(core.Message) bool) {
		for m := range history(t, longHistory(500)...) {
			if read++; !yield(m) {
				return
			}
		}
	}
	_, err := r.play(t, turn, &sink{})
	require.NoError(t, err)
	assert.Less(t, read, 60)
	golden(t, "overflow.json", l.asked())
	s := decode(t, l.asked()[0])
	assert.Equal(t, "user", s.Messages[1].Role)
	assert.Equal(t, 1, strings.Count(l.asked()[0], "left out"))
}

// A context-length error is answered once with half; a second one is the end.
func TestContextLength(t *testing.T) {
	for name, refusal := range map[string]string{
		"openai": `{"error":{"message":"This model's maximum context length is 8192 tokens.","code":"context_length_exceeded"}}`,
		"llama":  `{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}}`,
		"ollama": `{"error":"input length exceeds the context length"}`,
		"claude": `{"error":{"message":"prompt is too long: 210000 tokens > 200000 maximum"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			l := serve(t, fails(400, refusal), says("ok"))
			r, s := newRig(t, l), &sink{}
			turn := message("the newest")
			turn.Run.Model, turn.History = "mock/small", history(t, longHistory(50)...)
			_, err := r.play(t, turn, s)
			require.NoError(t, err)
			assert.Equal(t, "ok", s.text)
			first, second := decode(t, l.asked()[0]), decode(t, l.asked()[1])
			assert.Greater(t, len(first.Messages), len(second.Messages))
			assert.Greater(t, len(second.Messages), 2)
			assert.Equal(t, first.Messages[len(first.Messages)-1], second.Messages[len(second.Messages)-1])

			l = serve(t, fails(400, refusal))
			_, err = newRig(t, l).play(t, turn, &sink{})
			require.ErrorContains(t, err, "status 400 Bad Request")
			assert.Len(t, l.asked(), 2)
		})
	}
}

// Within a turn the oldest rounds make room; the newest and the message stay, and history goes first.
func TestRoundsOverflow(t *testing.T) {
	big := json.RawMessage(`{"text":"` + strings.Repeat("word ", 200) + `"}`)
	l := serve(t, calls("r1", "agents_list", "{}"), calls("r2", "agents_list", "{}"), calls("r3", "agents_list", "{}"), calls("r4", "agents_list", "{}"), says("ok"))
	r := newRig(t, l)
	turn := message("the newest")
	turn.Run.Model, turn.History = "mock/small", history(t, longHistory(2)...)
	_, err := r.play(t, turn, &sink{call: func(string, json.RawMessage) (json.RawMessage, bool, error) { return big, false, nil }})
	require.NoError(t, err)
	last := decode(t, l.asked()[4])
	var shape []string
	for _, m := range last.Messages {
		shape = append(shape, m.Role+m.ToolCallID)
	}
	assert.Equal(t, []string{"system", "user", "assistant", "toolr3", "assistant", "toolr4"}, shape)
	assert.Equal(t, "the newest", last.Messages[1].Content)
}

// Pictures that go with a message are parts of it, whatever is known of the model; the text stays first.
func TestImagesGoWithTheMessage(t *testing.T) {
	l := serve(t, says("a cat"))
	turn := message("what is it?")
	turn.Run.Model = "mock/m1"
	turn.Images = []core.Image{{MimeType: "image/png", Data: []byte("\x89PNG")}, {MimeType: "image/gif", Data: []byte("GIF89a")}}
	_, err := newRig(t, l).play(t, turn, &sink{})
	require.NoError(t, err)
	var asked struct {
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
	}
	require.NoError(t, json.Unmarshal([]byte(l.asked()[0]), &asked))
	last := asked.Messages[len(asked.Messages)-1]
	assert.Equal(t, "user", last.Role)
	assert.JSONEq(t, `[{"type":"text","text":"what is it?"},{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw=="}},
		{"type":"image_url","image_url":{"url":"data:image/gif;base64,R0lGODlh"}}]`, string(last.Content))
}
