package openai_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordboard/core"
	"cordboard/core/runtime/openai"
)

func TestStreamsTextThoughtsAndUsage(t *testing.T) {
	l := serve(t, stream(": keep-alive", "event: message", `{"choices":[{"delta":{"reasoning_content":"hm"}}]}`, `{"choices":[{"delta":{"reasoning":"."}}]}`,
		piece("Hel"), piece("lo ✓"), finish("stop"), usage(1_000_000, 2_000), "[DONE]"))
	r, s := newRig(t, l), &sink{}
	result, err := r.play(t, message("hi"), s)
	require.NoError(t, err)
	assert.Equal(t, "Hello ✓", s.text)
	assert.Equal(t, 2, s.chunks)
	assert.Equal(t, []string{"think hm", "think ."}, s.events)
	assert.Equal(t, int64(1_000_000), result.Usage.Input)
	assert.Equal(t, int64(2_000), result.Usage.Output)
	assert.InDelta(t, 3.03, *result.Usage.Cost, 1e-9)
	assert.Empty(t, result.Model)
	assert.Equal(t, "Bearer "+secret, l.headers[0].Get("Authorization"))
	assert.Contains(t, l.asked()[0], `"stream_options":{"include_usage":true}`)
}

// An endpoint without usage, without a key, or without the option is as good.
func TestUsageIsNotNeeded(t *testing.T) {
	l := serve(t, fails(400, `{"error":{"message":"unknown field stream_options"}}`), stream(piece("ok"), finish("stop")))
	r, s := newRig(t, l), &sink{}
	p := r.Providers["mock"]
	p.KeyEnv = ""
	r.Providers["mock"] = p
	result, err := r.play(t, message("hi"), s)
	require.NoError(t, err)
	assert.Equal(t, "ok", s.text)
	assert.Equal(t, core.TurnResult{}, result)
	assert.NotContains(t, l.asked()[1], "stream_options")
	assert.Empty(t, l.headers[1].Get("Authorization"))
}

func TestModelWithoutTools(t *testing.T) {
	l := serve(t, fails(400, `{"error":"model does not support tools"}`), says("ok"))
	r, s := newRig(t, l), &sink{}
	turn := message("hi")
	turn.Tools = []core.ToolSpec{{Name: "agents_list"}}
	_, err := r.play(t, turn, s)
	require.NoError(t, err)
	assert.Contains(t, l.asked()[0], `"tools"`)
	assert.NotContains(t, l.asked()[1], `"tools"`)
}

func TestToolCalls(t *testing.T) {
	l := serve(t,
		stream(piece("Looking. "), callPiece(0, "a", "sessions_list", ""), callPiece(0, "", "", `{"limit"`), callPiece(1, "b", "agents_list", ""), callPiece(0, "", "", `:2}`),
			finish("tool_calls"), usage(100, 10), "[DONE]"),
		calls("", "sessions_history", `{"sessionKey": "x"`),
		says("Done."))
	r, s := newRig(t, l), &sink{call: func(name string, params json.RawMessage) (json.RawMessage, bool, error) {
		if !json.Valid(params) {
			return json.RawMessage(`{"status":"error","error":"params are no JSON"}`), true, nil
		}
		return json.RawMessage(`{"tool":"` + name + `"}`), false, nil
	}}
	result, err := r.play(t, message("go"), s)
	require.NoError(t, err)
	assert.Equal(t, []string{`a sessions_list {"limit":2}`, `b agents_list {}`, `call_2_1 sessions_history {"sessionKey": "x"`}, s.events)
	assert.Equal(t, "Looking. Done.", s.text)
	assert.Equal(t, int64(120), result.Usage.Input)
	assert.Equal(t, int64(14), result.Usage.Output)
	golden(t, "tool-rounds.json", l.asked())
}

// A model that never stops calling is stopped by the sink; its error ends the turn and no other model is tried.
func TestEndlessToolCalls(t *testing.T) {
	limit := core.Errorf(core.CodeInternal, "the run made 3 tool calls").Because("agents.defaults.maxToolCalls")
	l, n := serve(t, calls("same", "agents_list", "{}")), 0
	r, s := newRig(t, l), &sink{call: func(string, json.RawMessage) (json.RawMessage, bool, error) {
		if n++; n > 3 {
			return nil, false, limit
		}
		return json.RawMessage(`{}`), false, nil
	}}
	r.agent.Fallbacks = []string{"mock/m2"}
	result, err := r.play(t, message("go"), s)
	assert.ErrorIs(t, err, limit)
	assert.Len(t, l.asked(), 4)
	assert.Equal(t, int64(40), result.Usage.Input)
}

func TestRetries(t *testing.T) {
	busy := `{"error":{"message":"slow down","type":"rate_limit"}}`
	for name, c := range map[string]struct {
		answers []http.HandlerFunc
		slept   []time.Duration
		err     string
	}{
		"seconds":       {[]http.HandlerFunc{fails(429, busy, "Retry-After", "7"), says("ok")}, []time.Duration{7 * time.Second}, ""},
		"date":          {[]http.HandlerFunc{fails(503, "", "Retry-After", start.Add(9*time.Second).Format(http.TimeFormat)), says("ok")}, []time.Duration{9 * time.Second}, ""},
		"milliseconds":  {[]http.HandlerFunc{fails(429, busy, "Retry-After-Ms", "2500"), says("ok")}, []time.Duration{2500 * time.Millisecond}, ""},
		"growing":       {[]http.HandlerFunc{fails(500, "x"), fails(502, ""), fails(529, ""), says("ok")}, []time.Duration{1e9, 2e9, 4e9}, ""},
		"R005":          {[]http.HandlerFunc{fails(429, busy)}, []time.Duration{1e9, 2e9, 4e9}, "the model mock/m1 failed: status 429 Too Many Requests: slow down (asked 4 times)"},
		"too patient":   {[]http.HandlerFunc{fails(429, busy, "Retry-After", "3600")}, nil, "status 429 Too Many Requests: slow down (it wants to be left alone for 1h0m0s)"},
		"quota":         {[]http.HandlerFunc{fails(429, `{"error":{"message":"pay","code":"insufficient_quota"}}`)}, nil, "status 429 Too Many Requests: pay"},
		"dropped":       {[]http.HandlerFunc{hijack, says("ok")}, []time.Duration{1e9}, ""},
		"empty stream":  {[]http.HandlerFunc{stream(), says("ok")}, []time.Duration{1e9}, ""},
		"in the stream": {[]http.HandlerFunc{stream(`{"id":"x","error":{"message":"overloaded","code":503}}`), says("ok")}, []time.Duration{1e9}, ""},
		"refused":       {[]http.HandlerFunc{fails(401, `{"error":{"message":"bad key `+secret+`"}}`)}, nil, "status 401 Unauthorized: bad key ***"},
		"not found":     {[]http.HandlerFunc{fails(404, `{"error":"model m1 not found, try pulling it first"}`)}, nil, "status 404 Not Found: model m1 not found, try pulling it first"},
		"list":          {[]http.HandlerFunc{fails(400, `[{"error":{"code":400,"message":"Gemini\nsays no"}}]`)}, nil, "status 400 Bad Request: Gemini says no"},
		"no JSON":       {[]http.HandlerFunc{fails(403, "<html>go away</html>")}, nil, "status 403 Forbidden: <html>go away</html>"},
		"no reason":     {[]http.HandlerFunc{fails(418, "")}, nil, "status 418 I'm a teapot: the provider gave no reason"},
		"plain error":   {[]http.HandlerFunc{stream(`{"error":"cannot load"}`)}, nil, "the model mock/m1 failed: cannot load"},
		"no chunk":      {[]http.HandlerFunc{stream("data: {broken")}, nil, "no chat completion"},
		"long":          {[]http.HandlerFunc{fails(400, strings.Repeat("é", 5000))}, nil, strings.Repeat("é", 250) + "…"},
		"nothing said":  {[]http.HandlerFunc{stream(finish("length"), "[DONE]")}, nil, "used up its tokens"},
		"withheld":      {[]http.HandlerFunc{stream(finish("content_filter"), "[DONE]")}, nil, "content filter"},
	} {
		t.Run(name, func(t *testing.T) {
			l := serve(t, c.answers...)
			r, s := newRig(t, l), &sink{}
			_, err := r.play(t, message("hi"), s)
			assert.Equal(t, c.slept, r.slept)
			if c.err == "" {
				require.NoError(t, err)
				assert.Equal(t, "ok", s.text)
				return
			}
			require.ErrorContains(t, err, c.err)
			assert.NotContains(t, err.Error(), secret)
			assert.NotContains(t, err.Error(), "\n")
		})
	}
}

// hijack drops the connection without an answer.
func hijack(w http.ResponseWriter, _ *http.Request) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err == nil {
		conn.Close()
	}
}

// dropsAfter sends events and then drops the connection.
func dropsAfter(events ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		stream(events...)(w, r)
		panic(http.ErrAbortHandler)
	}
}

// What has been passed on is never said twice: no retry, no other model.
func TestNoRetryAfterOutput(t *testing.T) {
	for name, answer := range map[string]http.HandlerFunc{
		"dropped": dropsAfter(piece("half a")), "ended": stream(piece("half a")),
		"error": stream(piece("half a"), `{"error":{"message":"overloaded","code":503}}`),
	} {
		t.Run(name, func(t *testing.T) {
			l := serve(t, answer)
			r, s := newRig(t, l), &sink{}
			r.agent.Fallbacks = []string{"mock/m2"}
			_, err := r.play(t, message("hi"), s)
			f, ok := err.(*openai.Failure)
			require.True(t, ok, "%v", err)
			assert.Equal(t, "mock", f.Provider)
			assert.Equal(t, "half a", s.text)
			assert.Len(t, l.asked(), 1)
			assert.Empty(t, r.slept)
		})
	}
	l := serve(t, dropsAfter(piece("whole"), finish("stop"))) // the answer was there
	s := &sink{}
	_, err := newRig(t, l).play(t, message("hi"), s)
	require.NoError(t, err)
	assert.Equal(t, "whole", s.text)
}

func TestConnectionRefused(t *testing.T) {
	l := serve(t, says("never"))
	l.Close()
	r := newRig(t, l)
	_, err := r.play(t, message("hi"), &sink{})
	require.ErrorContains(t, err, "the model mock/m1 failed: the connection failed")
	assert.ErrorContains(t, err, "(asked 4 times)")
	assert.Len(t, r.slept, 3)
}

func TestFallbacks(t *testing.T) {
	l := serve(t, fails(404, `{"error":{"message":"no m1"}}`), says("from m2"))
	r, s := newRig(t, l), &sink{}
	r.agent.Fallbacks = []string{"mock/m2", "mock/small"}
	result, err := r.play(t, message("hi"), s)
	require.NoError(t, err)
	assert.Equal(t, "from m2", s.text)
	assert.Equal(t, "mock/m2", result.Model)
	assert.Nil(t, result.Usage.Cost)
	assert.Contains(t, l.asked()[1], `"model":"m2"`)
	assert.Contains(t, l.asked()[1], `"max_tokens":99`)

	l = serve(t, fails(404, `{"error":{"message":"not here"}}`))
	r = newRig(t, l)
	r.agent.Fallbacks = []string{"mock/m2", "nobody/x"}
	_, err = r.play(t, message("hi"), &sink{})
	require.EqualError(t, err, `the model mock/m1 failed: status 404 Not Found: not here; then the model mock/m2 failed: status 404 Not Found: not here; then `+
		`the model "nobody/x" is of the provider "nobody", which is not in models.providers`)
	assert.Equal(t, core.CodeConfig, core.CodeOf(err))

	turn := message("hi") // R089: who names a model gets that one or its error
	turn.Run.Model = "mock/small"
	_, err = r.play(t, turn, &sink{})
	require.EqualError(t, err, "the model mock/small failed: status 404 Not Found: not here")
}

func TestConfiguration(t *testing.T) {
	l := serve(t, says("ok"))
	for name, c := range map[string]struct {
		change func(r *rig, turn *core.Turn)
		key    string
		text   string
	}{
		"no provider":   {func(r *rig, _ *core.Turn) { r.agent.Model = "m1" }, "agents.list[].model", `the model "m1" names no provider`},
		"unknown":       {func(r *rig, _ *core.Turn) { r.agent.Model = "x/y" }, "models.providers", `"x", which is not in models.providers`},
		"level":         {func(_ *rig, turn *core.Turn) { turn.Run.Thinking = "xhigh" }, "models.providers.mock.models[].thinking", `thinking level "xhigh"`},
		"session level": {func(_ *rig, turn *core.Turn) { turn.Session.ThinkingLevel = "medium" }, "models.providers.mock.models[].thinking", `thinking level "medium"`},
		"unlisted":      {func(r *rig, _ *core.Turn) { r.agent.Model, r.agent.Thinking = "mock/m9", "low" }, "models.providers.mock.models[].thinking", `"mock/m9"`},
		"no key": {func(r *rig, _ *core.Turn) {
			p := r.Providers["mock"]
			p.Key = func() string { return " " }
			r.Providers["mock"] = p
		}, "models.providers.mock.apiKeyEnv", fmt.Sprintf("the owner of the store, pid %d, has no MOCK_KEY in its environment", os.Getpid())},
		"no prompt": {func(r *rig, _ *core.Turn) { r.agent.SystemPromptFile = "/nowhere/x" }, "agents.list[].systemPromptFile", "/nowhere/x"},
	} {
		t.Run(name, func(t *testing.T) {
			r, turn := newRig(t, l), message("hi")
			r.agent.Fallbacks = []string{"mock/m2"}
			c.change(r, &turn)
			_, err := r.play(t, turn, &sink{})
			require.ErrorContains(t, err, c.text)
			refused, ok := err.(*core.Error)
			require.True(t, ok)
			assert.Equal(t, core.CodeConfig, refused.Code)
			assert.Equal(t, c.key, refused.ConfigKey)
		})
	}
	assert.Empty(t, l.asked())
}

func TestThinkingAndPrompt(t *testing.T) {
	file := filepath.Join(t.TempDir(), "prompt.md")
	require.NoError(t, os.WriteFile(file, []byte("You are terse.\xff"), 0o600))
	for name, c := range map[string]struct {
		agent, session, run string
		want                string
	}{
		"none": {want: ""}, "agent": {agent: "low", want: "low"}, "session": {agent: "high", session: "low", want: "low"},
		"run": {session: "low", run: "high", want: "high"}, "off": {agent: "low", run: "off", want: ""},
	} {
		t.Run(name, func(t *testing.T) {
			l := serve(t, says("ok"))
			r, turn := newRig(t, l), message("hi")
			r.agent.SystemPromptFile, r.agent.Thinking = file, c.agent
			turn.Session.ThinkingLevel, turn.Run.Thinking = c.session, c.run
			_, err := r.play(t, turn, &sink{})
			require.NoError(t, err)
			var sent struct {
				Effort   string `json:"reasoning_effort"`
				Messages []struct{ Role, Content string }
			}
			require.NoError(t, json.Unmarshal([]byte(l.asked()[0]), &sent))
			assert.Equal(t, c.want, sent.Effort)
			assert.Equal(t, "You are terse.\uFFFD", sent.Messages[0].Content)
		})
	}
}

// Cancel ends a stream that hangs, and a wait for a retry.
func TestCancel(t *testing.T) {
	gone := make(chan struct{})
	l := serve(t, func(w http.ResponseWriter, r *http.Request) {
		stream(piece("I was"))(w, r)
		<-r.Context().Done() // the client hung up
		close(gone)
	})
	r, s := newRig(t, l), &sink{heard: make(chan struct{})}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-s.heard
		cancel()
	}()
	turn := message("hi")
	turn.Run.Model = "mock/m1"
	_, err := r.Turn(ctx, turn, s)
	require.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, "I was", s.text)
	<-gone

	l = serve(t, fails(500, ""))
	r = newRig(t, l)
	ctx, cancel = context.WithCancel(t.Context())
	r.Sleep = func(ctx context.Context, _ time.Duration) error { cancel(); return ctx.Err() }
	r.agent.Fallbacks = []string{"mock/m2"}
	_, err = r.Turn(ctx, turn, &sink{})
	require.ErrorIs(t, err, context.Canceled)
	assert.Len(t, l.asked(), 1)
}

// A sink that refuses ends the turn with its own error.
func TestFencedSink(t *testing.T) {
	fenced := core.Errorf(core.CodeConflict, "the run has ended")
	l := serve(t, says("a", "b"))
	r := newRig(t, l)
	turn := message("hi")
	turn.Run.Model = "mock/m1"
	_, err := r.Turn(t.Context(), turn, &refusing{err: fenced})
	require.ErrorIs(t, err, fenced)
	assert.Len(t, l.asked(), 1)
}

type refusing struct {
	sink
	err error
}

func (r *refusing) Text(string) error { return r.err }

// An answer without end is given up, and no line of it fills the memory.
func TestFlood(t *testing.T) {
	l := serve(t, func(w http.ResponseWriter, r *http.Request) {
		junk := []byte(strings.Repeat("x", 1<<20))
		for r.Context().Err() == nil {
			if _, err := w.Write(junk); err != nil {
				return
			}
		}
	})
	r := newRig(t, l)
	_, err := r.play(t, message("hi"), &sink{})
	require.ErrorContains(t, err, fmt.Sprintf("longer than %d MiB", 64))
	assert.Len(t, l.asked(), 1)
}
