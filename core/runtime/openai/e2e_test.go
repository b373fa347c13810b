package openai_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordboard/core"
	"cordboard/core/config"
	"cordboard/core/engine"
	"cordboard/core/mcp"
	"cordboard/core/runtime/echo"
	"cordboard/core/runtime/openai"
	"cordboard/store/bolt"
	"cordboard/testdata/mcpserver"
)

// fleet is a real engine over a real store whose agent `main` is a loopback model and whose agent `work` is an echo.
type fleet struct {
	t      *testing.T
	engine *engine.Engine
	ids    atomic.Int64
}

const fleetConfig = `{
	agents: { defaults: { maxToolCalls: 5 }, list: [{ id: "main", runtime: "openai", model: "mock/m1" }, { id: "work" }] },
	models: { providers: { mock: { baseUrl: "http://127.0.0.1/v1" } } },
	tools: { sessions: { visibility: "all" }, agentToAgent: { enabled: true } },
	session: { agentToAgent: { maxPingPongTurns: 0, announce: false } },
}`

func newFleet(t *testing.T, r openai.Runtime) *fleet { return newFleetWith(t, r, engine.Options{}) }

func newFleetWith(t *testing.T, r openai.Runtime, o engine.Options) *fleet {
	return newFleetUnder(t, r, o, fleetConfig)
}

func newFleetUnder(t *testing.T, r openai.Runtime, o engine.Options, configText string) *fleet {
	cfg, _, err := config.Parse("test.json5", []byte(configText))
	require.NoError(t, err)
	store, err := bolt.Open(bolt.Options{Dir: t.TempDir()})
	require.NoError(t, err)
	f := &fleet{t: t}
	o.Owner, o.Runtimes, o.NewID = "test", map[string]core.Runtime{"openai": r, "echo": echo.Runtime{}}, f.newID
	f.engine, err = engine.New(store, cfg, o)
	require.NoError(t, err)
	require.NoError(t, f.engine.Start(t.Context()))
	t.Cleanup(func() {
		f.engine.Stop(context.Background())
		require.NoError(t, store.Close())
	})
	_, err = store.Update(t.Context(), func(tx core.Tx) error {
		for i, key := range []string{"agent:main:main", "agent:work:main"} {
			if err := tx.PutSession(core.Session{Key: key, SessionID: fmt.Sprintf("sid%d", i), UpdatedAt: 1}); err != nil {
				return err
			}
		}
		return nil
	})
	require.NoError(t, err)
	return f
}

func (f *fleet) newID() string {
	return fmt.Sprintf("n%d", f.ids.Add(1))
}

// send is the operator's message to agent main, waited for to the end.
func (f *fleet) send(message string) (core.Run, string) {
	f.t.Helper()
	b, err := f.engine.Board(f.t.Context(), core.Operator)
	require.NoError(f.t, err)
	receipt, err := b.Do(f.t.Context(), core.Command{Send: &core.Send{Session: "agent:main:main", Message: message}})
	require.NoError(f.t, err)
	page, err := b.Records(f.t.Context(), core.RecordQuery{Kind: core.RecordRun, Run: receipt.Run, Wait: 60_000})
	require.NoError(f.t, err)
	return page.Runs[0], page.Reply
}

func (f *fleet) transcript(session string) (list []string) {
	f.t.Helper()
	b, err := f.engine.Board(f.t.Context(), core.Operator)
	require.NoError(f.t, err)
	page, err := b.Messages(f.t.Context(), core.MessageQuery{Session: session, Limit: 1000})
	require.NoError(f.t, err)
	for _, m := range page.Messages {
		said := ""
		for b := range core.Blocks(m.Raw) {
			said += b.Text
			if b.Type == "toolCall" {
				said += "→" + b.Name + " " + string(b.Arguments)
			}
		}
		list = append(list, m.Role.String()+" "+said)
	}
	return list
}

// A model lists the sessions, writes to one of them and uses its answer; both transcripts tell the same story (issue "Sessions talk").
func TestModelTalksToAnotherAgent(t *testing.T) {
	var l *loopback
	l = serve(t,
		calls("c1", "sessions_list", `{"limit":10}`),
		func(w http.ResponseWriter, r *http.Request) {
			asked := l.asked()
			answer := decode(t, asked[len(asked)-1]).Messages
			var listed struct{ Sessions []struct{ Key string } }
			assert.NoError(t, json.Unmarshal([]byte(answer[len(answer)-1].Content), &listed))
			for _, s := range listed.Sessions {
				if strings.HasPrefix(s.Key, "agent:work:") {
					stream(piece("I ask work. "), callPiece(0, "c2", "sessions_send", `{"sessionKey":"`+s.Key+`","message":"[[say:42]]"}`), finish("tool_calls"), "[DONE]")(w, r)
					return
				}
			}
			says("nobody is there")(w, r)
		},
		func(w http.ResponseWriter, r *http.Request) {
			asked := l.asked()
			answer := decode(t, asked[len(asked)-1]).Messages
			var sent struct{ Status, Reply string }
			assert.NoError(t, json.Unmarshal([]byte(answer[len(answer)-1].Content), &sent))
			says("work says ", sent.Reply, " (", sent.Status, ")")(w, r)
		},
	)
	f := newFleet(t, newRig(t, l).Runtime)
	run, reply := f.send("Ask work for the number.")
	assert.Equal(t, core.OutcomeOK, run.Outcome, run.Error)
	assert.Equal(t, "work says 42 (ok)", reply)
	assert.Equal(t, int64(20), run.Usage.Input)
	main := f.transcript("agent:main:main")
	require.Len(t, main, 6)
	assert.Equal(t, "user Ask work for the number.", main[0])
	assert.Equal(t, `assistant →sessions_list {"limit":10}`, main[1])
	assert.Contains(t, main[2], `"key":"agent:work:main"`)
	assert.Equal(t, `assistant I ask work. →sessions_send {"sessionKey":"agent:work:main","message":"[[say:42]]"}`, main[3])
	assert.Contains(t, main[4], `"reply":"42"`)
	assert.Equal(t, "assistant work says 42 (ok)", main[5])
	assert.Equal(t, []string{"user [[say:42]]", "assistant 42"}, f.transcript("agent:work:main"))
}

// The bodies of a session of three turns: the second has a tool call with arguments that are no JSON, and goes on.
func TestThreeTurns(t *testing.T) {
	l := serve(t, says("one"), calls("c1", "agents_list", `{"broken`), says("two"), says("three"))
	r := newRig(t, l)
	r.agent.SystemPrompt = "You are an agent."
	f := newFleet(t, r.Runtime)
	for i, want := range []string{"one", "two", "three"} {
		run, reply := f.send(fmt.Sprintf("turn %d", i+1))
		assert.Equal(t, core.OutcomeOK, run.Outcome, run.Error)
		assert.Equal(t, want, reply)
	}
	refusal := regexp.MustCompile(`(\\"error\\":\\").*?(\\")`)
	var bodies []string
	for _, body := range l.asked() { // the catalogue of tools and their sentences are compared where they are made
		body = refusal.ReplaceAllString(body, "$1…$2")
		var object map[string]json.RawMessage
		require.NoError(t, json.Unmarshal([]byte(body), &object))
		assert.Contains(t, string(object["tools"]), `"sessions_send"`)
		object["tools"] = json.RawMessage(`"left out"`)
		text, err := json.Marshal(object)
		require.NoError(t, err)
		bodies = append(bodies, string(text))
	}
	golden(t, "three-turns.json", bodies)
}

// patience is a clock on which a run's own time limit is over when a test says so.
type patience struct{ over chan struct{} }

func (patience) Now() time.Time { return time.Now() }

func (p patience) Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	over := p.over
	if d != 600*time.Second { // agents.defaults.timeoutSeconds
		over = nil
	}
	select {
	case <-over:
	case <-timer.C:
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// An endpoint that stalls, before its answer or in the middle of it, costs the run its time limit and no more.
func TestStalls(t *testing.T) {
	for name, begins := range map[string]http.HandlerFunc{"before": func(http.ResponseWriter, *http.Request) {}, "in the middle": stream(piece("half an answer"))} {
		t.Run(name, func(t *testing.T) {
			stalled, gone, p := make(chan struct{}), make(chan struct{}), patience{make(chan struct{})}
			l := serve(t, func(w http.ResponseWriter, r *http.Request) {
				begins(w, r)
				close(stalled)
				<-r.Context().Done() // until the runtime hangs up
				close(gone)
			})
			f := newFleetWith(t, newRig(t, l).Runtime, engine.Options{Clock: p})
			go func() {
				<-stalled
				close(p.over)
			}()
			run, _ := f.send("go")
			<-gone
			assert.Equal(t, core.OutcomeTimeout, run.Outcome)
			assert.Contains(t, run.Error, "time limit")
			lines := f.transcript("agent:main:main")
			assert.Len(t, lines, 2)
			assert.Len(t, l.asked(), 1, "nothing is asked again")
		})
	}
}

// A model calls a tool of an MCP server, once with arguments that are none.
func TestModelCallsAServersTool(t *testing.T) {
	program, err := os.Executable()
	require.NoError(t, err)
	box := mcp.NewToolbox([]mcp.Server{{Name: "tiny", Command: []string{program}, Env: map[string]string{mcpserver.Variable: "plain"}}},
		mcp.ToolboxOptions{Getenv: os.Getenv, Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	t.Cleanup(box.Close)
	l := serve(t, calls("c1", "tiny__echo", `{"text":`), calls("c2", "tiny__echo", `{"text":"from the server"}`), says("done"))
	f := newFleetWith(t, newRig(t, l).Runtime, engine.Options{Toolbox: box})
	run, reply := f.send("go")
	assert.Equal(t, core.OutcomeOK, run.Outcome, run.Error)
	assert.Equal(t, "done", reply)
	asked := l.asked()
	assert.Contains(t, asked[0], `"name":"tiny__echo"`)
	assert.Contains(t, asked[0], `"name":"sessions_send"`)
	messages := decode(t, asked[1]).Messages
	assert.Contains(t, messages[len(messages)-1].Content, "the arguments of tiny__echo are not a JSON object")
	messages = decode(t, asked[2]).Messages
	assert.Equal(t, "from the server", messages[len(messages)-1].Content)
	lines := f.transcript("agent:main:main")
	assert.Equal(t, []string{`assistant →tiny__echo {"text":"from the server"}`, "toolResult from the server", "assistant done"}, lines[3:])
}

// The engine's cap ends a model that never stops calling, by name; a failing model is told at once; a fallback is recorded as what
// answered (R005, R089).
func TestEndings(t *testing.T) {
	f := newFleet(t, newRig(t, serve(t, calls("same", "agents_list", "{}"))).Runtime)
	run, _ := f.send("go")
	assert.Equal(t, core.OutcomeError, run.Outcome)
	assert.Contains(t, run.Error, "agents.defaults.maxToolCalls")
	assert.Len(t, f.transcript("agent:main:main"), 1+2*5+1)

	f = newFleet(t, newRig(t, serve(t, fails(429, `{"error":{"message":"slow down"}}`))).Runtime)
	run, _ = f.send("go")
	assert.Equal(t, core.OutcomeError, run.Outcome)
	assert.Contains(t, run.Error, "429")

	r := newRig(t, serve(t, fails(404, ""), says("from m2")))
	r.agent.Fallbacks = []string{"mock/m2"}
	f = newFleet(t, r.Runtime)
	run, reply := f.send("go")
	assert.Equal(t, "from m2", reply)
	assert.Equal(t, "mock/m2", run.Model)
}
