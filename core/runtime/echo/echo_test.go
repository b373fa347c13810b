package echo_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordboard/core"
	"cordboard/core/runtime/echo"
)

// recorder writes down what a turn produced.
type recorder struct {
	core.Sink // for what this runtime does not use

	chunks []string
	events []string
}

func (r *recorder) Text(delta string) error { r.chunks = append(r.chunks, delta); return nil }

func (r *recorder) Think(delta string) error { r.events = append(r.events, "think "+delta); return nil }

func (r *recorder) Call(_ context.Context, id, tool string, params json.RawMessage) (json.RawMessage, bool, error) {
	r.events = append(r.events, id+" "+tool+" "+string(params))
	return json.RawMessage(`{"count":1}`), false, nil
}

func turn(t *testing.T, run core.Run, x *core.Exchange) (reply string, r *recorder, result core.TurnResult, err error) {
	t.Helper()
	r = &recorder{}
	runtime := echo.Runtime{Sleep: func(_ context.Context, d time.Duration) error {
		r.events = append(r.events, "sleep "+d.String())
		return nil
	}}
	result, err = runtime.Turn(t.Context(), core.Turn{Run: run, Exchange: x}, r)
	return strings.Join(r.chunks, ""), r, result, err
}

func TestAnswers(t *testing.T) {
	for name, c := range map[string]struct{ message, reply string }{
		"the message itself":             {"hello there", "hello there"},
		"without its directives":         {"[[sleep:5]] hello [[tokens:1/2]]", "hello"},
		"what it is told to say":         {"ignored [[say:one]] [[say:two]]", "one\ntwo"},
		"nested brackets are plain text": {"[[say:[[say:REPLY_SKIP]]]]", "[[say:REPLY_SKIP]]"},
		"deeper":                         {"[[say:a [[b:[[c]]]] d]]", "a [[b:[[c]]]] d"},
		"an unknown directive is text":   {"[[shout:x]] y", "[[shout:x]] y"},
		"unclosed brackets are text":     {"a [[say:x", "a [[say:x"},
		"single brackets are text":       {"[say:x] ]] [[", "[say:x] ]] [["},
		"an empty say":                   {"text [[say:]]", ""},
		"a tool's answer":                {"[[tool:sessions_list {}]]", `{"count":1}`},
	} {
		t.Run(name, func(t *testing.T) {
			reply, _, _, err := turn(t, core.Run{Message: c.message}, nil)
			require.NoError(t, err)
			assert.Equal(t, c.reply, reply)
		})
	}
}

func TestDirectivesGoInOrder(t *testing.T) {
	reply, r, result, err := turn(t, core.Run{Message: `[[think:hm]][[sleep:700]][[tool:sessions_list {"limit":1}]][[tool:agents_list]][[sleep:1.5s]][[tokens:12/34]][[stream:4]]abcdefgh`}, nil)
	require.NoError(t, err)
	assert.Equal(t, []string{"think hm", "sleep 700ms", `call-1 sessions_list {"limit":1}`, "call-2 agents_list {}", "sleep 1.5s"}, r.events)
	assert.Equal(t, core.Usage{Input: 12, Output: 34}, result.Usage)
	assert.Equal(t, []string{"ab", "cd", "ef", "gh"}, r.chunks)
	assert.Equal(t, "abcdefgh", reply)
}

func TestStreamsAtAPace(t *testing.T) {
	reply, r, _, err := turn(t, core.Run{Message: "[[stream:3/1.5s]]abcdef"}, nil)
	require.NoError(t, err)
	assert.Equal(t, "abcdef", reply)
	assert.Equal(t, []string{"sleep 1.5s", "sleep 1.5s"}, r.events)
}

func TestFailures(t *testing.T) {
	for message, text := range map[string]string{
		"[[fail:429 too many]]": "429 too many", "[[fail]]": "failed", "[[sleep:-1]]": "sleep", "[[sleep:x]]": "sleep", "[[stream:0]]": "stream", "[[stream:3/x]]": "stream", "[[stream:x/1s]]": "stream",
		"[[tokens:a/b]]": "tokens", "[[sleep:25h]]": "sleep",
	} {
		_, _, _, err := turn(t, core.Run{Message: message}, nil)
		assert.ErrorContains(t, err, text, message)
	}
	assert.Panics(t, func() { _, _, _, _ = turn(t, core.Run{Message: "[[crash]]"}, nil) })
	stopped := errors.New("stopped")
	_, err := echo.Runtime{Sleep: func(context.Context, time.Duration) error { return stopped }}.Turn(t.Context(), core.Turn{Run: core.Run{Message: "[[sleep:1]]"}}, &recorder{})
	assert.ErrorIs(t, err, stopped)
}

// In an announce step only the original request is asked.
func TestAnnounce(t *testing.T) {
	announce := core.Run{Kind: core.RunAnnounce, Message: "Agent-to-agent announce step. [[say:no]]"}
	for request, want := range map[string]string{"please [[announce:deployed]]": "deployed", "please": "ANNOUNCE_SKIP", "[[say:[[announce:x]]]]": "ANNOUNCE_SKIP"} {
		reply, _, _, err := turn(t, announce, &core.Exchange{Request: request})
		require.NoError(t, err)
		assert.Equal(t, want, reply, request)
	}
	reply, _, _, err := turn(t, announce, nil)
	require.NoError(t, err)
	assert.Equal(t, "ANNOUNCE_SKIP", reply)
}

func FuzzMessage(f *testing.F) {
	for _, s := range []string{"[[say:x]]", "[[[[say:]]]]", "[[tool:a {\"b\":[[1]]}]]", "]][[", "[[say:[[sleep:1]]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, message string) {
		if strings.Contains(message, "crash") {
			return
		}
		_, _, _, _ = turn(t, core.Run{Message: message}, nil)
	})
}
