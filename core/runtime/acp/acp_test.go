package acp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"cordboard/core"
	"cordboard/core/runtime/acp"
)

// tiny is the built agent of testdata/runtime/acp.
var tiny string

func TestMain(m *testing.M) {
	os.Exit(withAgent(m))
}

func withAgent(m *testing.M) int {
	dir, err := os.MkdirTemp("", "cordboard-acp-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	tiny = filepath.Join(dir, "agent")
	if out, err := osexec.Command("go", "build", "-o", tiny, "../../../testdata/runtime/acp").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%s\n", out)
		return 1
	}
	code := m.Run()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// sink writes down what a turn does, in order.
type sink struct {
	mu     sync.Mutex
	events []string
	text   string
	heard  chan struct{} // told of each event, when somebody listens
	choose func(core.Approval) (string, error)
	fenced bool
}

var errFenced = errors.New("fenced off")

func (s *sink) add(event string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fenced {
		return errFenced
	}
	s.events = append(s.events, event)
	if s.heard != nil {
		s.heard <- struct{}{}
	}
	return nil
}

func (s *sink) Text(delta string) error {
	s.mu.Lock()
	s.text += delta
	s.mu.Unlock()
	return s.add("text " + delta)
}

func (s *sink) Think(delta string) error { return s.add("think " + delta) }

func (s *sink) Call(context.Context, string, string, json.RawMessage) (json.RawMessage, bool, error) {
	return nil, false, errors.New("nobody asked for it")
}

func (s *sink) Began(_ context.Context, id, tool string, params json.RawMessage) error {
	return s.add("began " + id + " " + tool + " " + string(params))
}

func (s *sink) Ended(_ context.Context, id, answer string, failed bool) error {
	return s.add(fmt.Sprintf("ended %s %s %v", id, answer, failed))
}

func (s *sink) Ask(ctx context.Context, a core.Approval) (string, error) {
	if err := s.add("asked " + a.Title + " " + string(a.Params)); err != nil {
		return "", err
	}
	if s.choose == nil {
		<-ctx.Done()
		return "", ctx.Err()
	}
	return s.choose(a)
}

// rig is a runtime of the tiny agent.
type rig struct {
	*acp.Runtime
	agent   acp.Agent
	options acp.Options
	idle    []func() // what was put off, to be called by the test
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{agent: acp.Agent{ID: "desk", Command: []string{tiny}, Workspace: filepath.Join(t.TempDir(), "ws"), SystemPrompt: "You are the desk."}}
	r.options = acp.Options{
		Version: "test", Agent: func(*core.Session) (acp.Agent, error) { return r.agent, nil }, Environ: os.Environ, Grace: 20 * time.Millisecond,
		After: func(_ time.Duration, f func()) func() bool {
			r.idle = append(r.idle, f)
			return func() bool { return true }
		},
	}
	r.Runtime = acp.New(r.options)
	t.Cleanup(func() { r.Close() })
	return r
}

func turnOf(message string) core.Turn {
	return core.Turn{
		Run: core.Run{ID: "run", SessionKey: "agent:desk:main", Message: message}, Session: core.Session{Key: "agent:desk:main", SessionID: "sid"},
		History: slices.Values([]core.Message{}),
	}
}

func (r *rig) say(t *testing.T, message string) (string, error) {
	t.Helper()
	var out sink
	_, err := r.Turn(t.Context(), turnOf(message), &out)
	return out.text, err
}

func TestTurns(t *testing.T) {
	for _, c := range []struct {
		message, text, err string
		events             []string
	}{
		{message: "hello\nworld ✓", text: "hello\nworld ✓"},
		{message: "stream one two", text: "one two ", events: []string{"think hm", "text one ", "text two "}},
		{message: "tool read", text: "used read", events: []string{`began t1 read {"path":"a.txt"}`, "ended t1 done it false", "text used read"}},
		{message: "refuse", err: "the agent refused to answer"},
		{message: "call sessions_list {}", text: "no server"},
		{message: "crash out of memory", err: `the program "` + tiny + `" of agent "desk" gave no answer: it ended (exit status 7): out of memory`},
	} {
		t.Run(c.message, func(t *testing.T) {
			r := newRig(t)
			var out sink
			result, err := r.Turn(t.Context(), turnOf(c.message), &out)
			if c.err != "" {
				require.EqualError(t, err, c.err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, c.text, out.text)
			assert.Equal(t, core.Usage{Input: 10, Output: 1}, result.Usage)
			if c.events != nil {
				assert.Equal(t, c.events, out.events)
			}
		})
	}
}

// A program is kept for the session's next turn, tells only what the turn itself cost, and is started anew for another transcript, after a
// crash and when it was idle for long enough.
func TestOneProgramPerSession(t *testing.T) {
	r := newRig(t)
	for i, want := range []string{"1", "2", "3"} {
		var out sink
		result, err := r.Turn(t.Context(), turnOf("turns"), &out)
		require.NoError(t, err)
		assert.Equal(t, want, out.text)
		assert.Equal(t, core.Usage{Input: 10, Output: 1}, result.Usage, i)
	}
	other := turnOf("turns")
	other.Session.Key = "agent:desk:other"
	var out sink
	_, err := r.Turn(t.Context(), other, &out)
	require.NoError(t, err)
	assert.Equal(t, "1", out.text)

	reset := turnOf("turns")
	reset.Session.SessionID = "another"
	out = sink{}
	_, err = r.Turn(t.Context(), reset, &out)
	require.NoError(t, err)
	assert.Equal(t, "1", out.text, "what was said before the reset is forgotten")

	_, err = r.say(t, "crash x")
	require.Error(t, err)
	text, err := r.say(t, "turns")
	require.NoError(t, err)
	assert.Equal(t, "1", text)

	r.idle[len(r.idle)-1]()
	text, err = r.say(t, "turns")
	require.NoError(t, err)
	assert.Equal(t, "1", text)
}

// A new program is told who it is, what was said before, and what the turn is about; one that was there is told the last only.
func TestWhatAProgramIsTold(t *testing.T) {
	r := newRig(t)
	turn := turnOf("told")
	turn.Context = "Messages between agents."
	turn.History = slices.Values([]core.Message{
		{Role: core.RoleAssistant, Raw: json.RawMessage(`{"role":"assistant","content":[{"type":"text","text":"four"}]}`)},
		{Role: core.RoleToolResult, Raw: json.RawMessage(`{"role":"toolResult","content":[{"type":"text","text":"left out"}]}`)},
		{Role: core.RoleUser, Raw: json.RawMessage(`{"role":"user","content":"2+2?"}`)},
	})
	var out sink
	_, err := r.Turn(t.Context(), turn, &out)
	require.NoError(t, err)
	assert.Equal(t, "You are the desk.\n--\nWhat was said in this session so far:\n\nuser: 2+2?\n\nassistant: four\n--\nMessages between agents.\n--\ntold", out.text)
	out = sink{}
	_, err = r.Turn(t.Context(), turn, &out)
	require.NoError(t, err)
	assert.Equal(t, "Messages between agents.\n--\ntold", out.text)

	r = newRig(t)
	long := strings.Repeat("x", 40<<10)
	turn.History = func(yield func(core.Message) bool) {
		for range 3 {
			if !yield(core.Message{Role: core.RoleUser, Raw: json.RawMessage(`{"role":"user","content":"` + long + `"}`)}) {
				return
			}
		}
	}
	out = sink{}
	_, err = r.Turn(t.Context(), turn, &out)
	require.NoError(t, err)
	assert.Contains(t, out.text, "lately (what came before is left out)")
	assert.Equal(t, 1, strings.Count(out.text, long))
}

func TestPermission(t *testing.T) {
	r := newRig(t)
	out := &sink{choose: func(a core.Approval) (string, error) {
		assert.Equal(t, []core.ApprovalOption{{ID: "yes", Name: "Allow", Kind: "allow_once"}, {ID: "no", Name: "Reject", Kind: "reject_once"}}, a.Options)
		return "no", nil
	}}
	_, err := r.Turn(t.Context(), turnOf("ask rm -rf /"), out)
	require.NoError(t, err)
	assert.Equal(t, []string{`asked rm -rf / {"command":"rm -rf /"}`, "text chosen: no"}, out.events)
	out = &sink{choose: func(core.Approval) (string, error) { return "", errFenced }}
	_, err = r.Turn(t.Context(), turnOf("ask x"), out)
	require.NoError(t, err)
	assert.Equal(t, "nobody chose", out.text)
}

// A cancelled turn ends with its cause, whatever the program does about it; a polite program is kept, any other killed.
func TestCancel(t *testing.T) {
	for _, message := range []string{"hang", "stubborn", "ask forever"} {
		t.Run(message, func(t *testing.T) {
			r := newRig(t)
			started := make(chan core.Process, 1)
			turn := turnOf(message)
			turn.Started = func(_ context.Context, p core.Process) error {
				started <- p
				return nil
			}
			cause := errors.New("aborted by the operator")
			ctx, cancel := context.WithCancelCause(t.Context())
			out := &sink{}
			if message == "ask forever" {
				out.heard = make(chan struct{}, 8)
			}
			go func() {
				p := <-started
				assert.Greater(t, p.PGID, 1)
				if out.heard != nil {
					<-out.heard
				}
				cancel(cause)
			}()
			_, err := r.Turn(ctx, turn, out)
			require.ErrorIs(t, err, cause)
			text, err := r.say(t, "hello")
			require.NoError(t, err)
			assert.Equal(t, "hello", text)
		})
	}
}

// A run that takes nothing more ends its turn.
func TestFencedSink(t *testing.T) {
	_, err := newRig(t).Turn(t.Context(), turnOf("stream a b"), &sink{fenced: true})
	require.ErrorIs(t, err, errFenced)
}

func TestCannotStart(t *testing.T) {
	for _, c := range []struct {
		name  string
		agent acp.Agent
		err   string
		key   string
	}{
		{"no command", acp.Agent{ID: "a"}, `agent "a" has the runtime acp and no command`, "agents.list[].runtime.command"},
		{"no such program", acp.Agent{ID: "a", Command: []string{"/nowhere/agent"}}, `the program "/nowhere/agent" of agent "a" cannot be started: no such file or directory`, "agents.list[].runtime.command"},
		{"sandboxed without a sandbox", acp.Agent{ID: "a", Command: []string{tiny}, Sandboxed: true}, `agent "a" is sandboxed and runs a program: a sandbox command to start it with is required`, "agents.list[].sandbox.command"},
		{"no protocol", acp.Agent{ID: "a", Command: []string{tiny, "--mute"}}, `the program "` + tiny + `" of agent "a" does not speak the Agent Client Protocol: it ended (exit status 3): this speaks no protocol`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			c.agent.Workspace = t.TempDir()
			r.agent = c.agent
			_, err := r.say(t, "x")
			require.EqualError(t, err, c.err)
			if c.key != "" {
				var failed *core.Error
				require.ErrorAs(t, err, &failed)
				assert.Equal(t, c.key, failed.ConfigKey)
			}
		})
	}
	r := newRig(t)
	turn := turnOf("x")
	full := errors.New("disk full")
	turn.Started = func(context.Context, core.Process) error { return full }
	_, err := r.Turn(t.Context(), turn, &sink{})
	require.ErrorIs(t, err, full)
}

// A program that hears nothing is told of as it ended, not by what the library makes of it.
func TestDeafProgram(t *testing.T) {
	r := newRig(t)
	deaf := filepath.Join(t.TempDir(), "deaf")
	r.agent.Command = []string{"/bin/sh", "-c", `exec <&-; echo no ears >&2; touch "$0"; exec sleep 100000`, deaf}
	turn := turnOf("x")
	turn.Started = func(context.Context, core.Process) error {
		for {
			if _, err := os.Stat(deaf); err == nil {
				return nil
			}
		}
	}
	_, err := r.Turn(t.Context(), turn, &sink{})
	require.EqualError(t, err, `the program "/bin/sh" of agent "desk" does not speak the Agent Client Protocol: it ended (signal: terminated): no ears`)
}

// What a sandbox command is given is the program's own argv, and little of the environment.
func TestSandbox(t *testing.T) {
	t.Setenv("MY_SECRET", "s3cret")
	r := newRig(t)
	seen := filepath.Join(t.TempDir(), "seen")
	r.agent.Sandboxed, r.agent.Sandbox = true, []string{"sh", "-c", `env > "$0"; exec "$@"`, seen}
	text, err := r.say(t, "hello")
	require.NoError(t, err)
	assert.Equal(t, "hello", text)
	env, err := os.ReadFile(seen)
	require.NoError(t, err)
	assert.NotContains(t, string(env), "MY_SECRET")
	assert.Contains(t, string(env), "PATH=")
}

// A closed runtime runs nothing, and has left nothing behind.
func TestClose(t *testing.T) {
	r := newRig(t)
	var told core.Process
	turn := turnOf("hello")
	turn.Started = func(_ context.Context, p core.Process) error {
		told = p
		return nil
	}
	_, err := r.Turn(t.Context(), turn, &sink{})
	require.NoError(t, err)
	r.Close()
	assert.False(t, running(told.PGID))
	_, err = r.say(t, "hello")
	require.EqualError(t, err, "the engine stopped")
}

// The server that a program is given is taken back when the program ends.
func TestServer(t *testing.T) {
	r := newRig(t)
	r.Close()
	revoked := make(chan string, 2)
	r.options.Server = func(given *core.Turn) *acp.Server {
		key := given.Session.Key
		return &acp.Server{Command: []string{"/nowhere/server", "mcp"}, Env: map[string]string{"TOKEN": "t"}, Revoke: func() { revoked <- key }}
	}
	r.Runtime = acp.New(r.options)
	text, err := r.say(t, "call sessions_list {}")
	require.NoError(t, err)
	assert.Contains(t, text, "no connection")
	assert.Contains(t, text, "/nowhere/server")
	assert.Empty(t, revoked)
	r.Close()
	assert.Equal(t, "agent:desk:main", <-revoked)
}
