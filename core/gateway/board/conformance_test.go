package board_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"cordboard/core"
	"cordboard/core/config"
	"cordboard/core/engine"
	"cordboard/core/gateway/board"
	"cordboard/core/gateway/wire"
	"cordboard/core/openclaw"
	"cordboard/core/runtime/echo"
	"cordboard/store/bolt"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rig is an engine with a server before it.
type rig struct {
	t      testing.TB
	store  *bolt.Store
	engine *engine.Engine
	path   string
	server *wire.Server
	served chan error
	dials  atomic.Int32
	wrap   func(core.Board) core.Board // nil = as it is
	say    chan string                 // what a run with the message "talk" says, until it is closed
}

// talker is echo, but for the message that has it say what the test says.
type talker struct {
	echo.Runtime
	say chan string
}

func (r talker) Turn(ctx context.Context, t core.Turn, out core.Sink) (core.TurnResult, error) {
	if t.Run.Message != "talk" {
		return r.Runtime.Turn(ctx, t, out)
	}
	for text := range r.say {
		if err := out.Text(text); err != nil {
			return core.TurnResult{}, err
		}
	}
	return core.TurnResult{}, nil
}

const rigConfig = `{agents: {list: [{id: "main"}, {id: "ops"}, {id: "research"}]}, tools: {agentToAgent: {enabled: true}, sessions: {visibility: "all"}}}`

func newRig(t testing.TB) *rig {
	t.Helper()
	dir := t.TempDir()
	cfg, _, err := config.Parse("test.json5", []byte(rigConfig))
	require.NoError(t, err)
	store, err := bolt.Open(bolt.Options{Dir: dir})
	require.NoError(t, err)
	say := make(chan string)
	e, err := engine.New(store, cfg, engine.Options{
		Version: "test", Owner: "the rig", Runtimes: map[string]core.Runtime{"echo": talker{echo.Runtime{Sleep: sleep}, say}},
	})
	require.NoError(t, err)
	require.NoError(t, e.Start(context.Background()))
	r := &rig{t: t, store: store, engine: e, path: filepath.Join(dir, "s.sock"), served: make(chan error, 1), say: say}
	r.serve()
	t.Cleanup(func() {
		r.stop("the test is over")
		e.Stop(context.Background())
		require.NoError(t, store.Close())
	})
	return r
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (r *rig) serve() {
	l, err := wire.Listen(r.path)
	require.NoError(r.t, err)
	r.server = wire.NewServer(func(ctx context.Context, params json.RawMessage) (wire.Session, []byte, error) {
		var actor core.Actor
		if err := json.Unmarshal(params, &actor); err != nil {
			return nil, nil, err
		}
		b, err := r.engine.Board(ctx, actor)
		if err != nil {
			return nil, nil, err
		}
		if r.wrap != nil {
			b = r.wrap(b)
		}
		return board.NewSession(b), []byte("{}"), nil
	}, nil)
	server := r.server
	go func() { r.served <- server.Serve(l) }()
}

func (r *rig) stop(reason string) {
	r.server.Close(reason)
	require.NoError(r.t, <-r.served)
}

// both are the engine's own board and one through the wire, for the same actor.
func (r *rig) both(actor core.Actor) (direct, wired core.Board) {
	direct, err := r.engine.Board(context.Background(), actor)
	require.NoError(r.t, err)
	return direct, r.wired(actor)
}

func (r *rig) wired(actor core.Actor) core.Board {
	c, err := board.NewClient(context.Background(), func(ctx context.Context) (*wire.Client, error) {
		r.dials.Add(1)
		conn, err := net.Dial("unix", r.path)
		for err != nil && ctx.Err() == nil { // the server is away for a moment
			conn, err = net.Dial("unix", r.path)
		}
		if err != nil {
			return nil, err
		}
		c, _, err := wire.NewClient(ctx, conn, actor)
		return c, err
	}, board.Options{Now: time.Now, NewID: uuid.NewString})
	require.NoError(r.t, err)
	r.t.Cleanup(func() { _ = c.Close() })
	return c
}

// fill imports the fleet and adds what a transcript may hold that JSON libraries like to change.
func (r *rig) fill() {
	_, err := openclaw.Import(context.Background(), r.store, "../../../testdata/openclaw", openclaw.Options{})
	require.NoError(r.t, err)
	_, err = r.store.Update(context.Background(), func(tx core.Tx) error {
		if err := tx.PutSession(core.Session{Key: "agent:main:odd", SessionID: "odd", UpdatedAt: 7}); err != nil {
			return err
		}
		if err := tx.PutEntry("agent:main:odd", json.RawMessage("{ \"label\" : \"<&>\",\n\t\"n\": 1.0 }")); err != nil {
			return err
		}
		if err := tx.PutGeneration(core.Generation{ID: "odd", SessionID: "odd", Key: "agent:main:odd", Agent: "main", State: core.GenerationCurrent}); err != nil {
			return err
		}
		_, _, err := tx.Append("odd",
			core.Message{Role: core.RoleEvent, Raw: json.RawMessage(`{"type":"model_change","x":1e2}`)},
			core.Message{Role: core.RoleUser, At: 1, Raw: json.RawMessage("{ \"role\" : \"user\",\"content\":\"<b>&amp; \\u00e9 \\/ \u2028\", \"n\":1.50 }")},
			core.Message{Role: core.RoleAssistant, At: 2, Flags: core.MessageInvalidUTF8, Raw: json.RawMessage("{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"bro\xffken\"}]}")},
			core.Message{Role: core.RoleUser, At: 3, Raw: json.RawMessage(`{"role":"user","content":"` + strings.Repeat("long ", 30_000) + `"}`)},
		)
		return err
	})
	require.NoError(r.t, err)
}

// question is one call of a Board that reads.
type question struct {
	name string
	ask  func(ctx context.Context, b core.Board) (any, error)
}

func sessions(name string, q core.SessionQuery) question {
	return question{"sessions " + name, func(ctx context.Context, b core.Board) (any, error) { return b.Sessions(ctx, q) }}
}

func messages(name string, q core.MessageQuery) question {
	return question{"messages " + name, func(ctx context.Context, b core.Board) (any, error) { return b.Messages(ctx, q) }}
}

func records(name string, q core.RecordQuery) question {
	return question{"records " + name, func(ctx context.Context, b core.Board) (any, error) { return b.Records(ctx, q) }}
}

func search(name string, q core.SearchQuery) question {
	return question{"search " + name, func(ctx context.Context, b core.Board) (any, error) { return b.Search(ctx, q) }}
}

func explain(name string, q core.Question) question {
	return question{"explain " + name, func(ctx context.Context, b core.Board) (any, error) { return b.Explain(ctx, q) }}
}

func call(name string, c core.ToolCall) question {
	return question{"call " + name, func(ctx context.Context, b core.Board) (any, error) { return b.Call(ctx, c) }}
}

func do(name string, c core.Command) question {
	return question{"do " + name, func(ctx context.Context, b core.Board) (any, error) { return b.Do(ctx, c) }}
}

func questions() []question {
	const odd, deploy = "agent:main:odd", "agent:ops:main"
	value, denied := "x", core.SendDeny
	return []question{
		{"info", func(ctx context.Context, b core.Board) (any, error) { return b.Info(ctx) }},
		sessions("all", core.SessionQuery{Archived: true}),
		sessions("of a kind", core.SessionQuery{Kinds: []core.Kind{core.KindCron, core.KindGroup}, Limit: 3}),
		sessions("through eyes", core.SessionQuery{Viewpoint: deploy, Scope: core.VisibilitySelf, WithHidden: true}),
		sessions("of nobody", core.SessionQuery{Agent: "nobody"}),
		sessions("bad limit", core.SessionQuery{Limit: -1}),
		sessions("bad cursor", core.SessionQuery{Cursor: "?"}),
		sessions("bad scope", core.SessionQuery{Viewpoint: deploy, Scope: "world"}),
		messages("as they are", core.MessageQuery{Session: odd, Filter: core.MessageFilter{Events: true}}),
		messages("oldest", core.MessageQuery{Session: deploy, Oldest: true, Limit: 2}),
		messages("masked", core.MessageQuery{Session: deploy, Redact: true, Filter: core.MessageFilter{NoTools: true}}),
		messages("of none", core.MessageQuery{Session: odd, Filter: core.MessageFilter{Roles: []core.Role{core.RoleSystem}}}),
		messages("absent", core.MessageQuery{Session: "agent:main:nobody"}),
		records("session", core.RecordQuery{Kind: core.RecordSession, Session: deploy}),
		records("odd session", core.RecordQuery{Kind: core.RecordSession, Session: odd}),
		records("runs", core.RecordQuery{Kind: core.RecordRuns}),
		records("live runs", core.RecordQuery{Kind: core.RecordRuns, Live: true}),
		records("run", core.RecordQuery{Kind: core.RecordRun, Run: "nobody", Wait: 1}),
		records("exchanges", core.RecordQuery{Kind: core.RecordExchanges}),
		records("deliveries", core.RecordQuery{Kind: core.RecordDeliveries}),
		records("deliveries in no state", core.RecordQuery{Kind: core.RecordDeliveries, State: "lost"}),
		records("an exchange", core.RecordQuery{Kind: core.RecordExchange, ID: "nobody"}),
		records("audit", core.RecordQuery{Kind: core.RecordAudit, Limit: 20}),
		records("audit before", core.RecordQuery{Kind: core.RecordAudit, Before: 5}),
		records("usage", core.RecordQuery{Kind: core.RecordUsage}),
		records("holds", core.RecordQuery{Kind: core.RecordHolds}),
		records("approvals", core.RecordQuery{Kind: core.RecordApprovals}),
		records("orphans", core.RecordQuery{Kind: core.RecordOrphans}),
		records("unknown", core.RecordQuery{Kind: "wishes"}),
		search("text", core.SearchQuery{Text: "rollback", Generation: true}),
		search("nothing", core.SearchQuery{Text: "no message says this"}),
		search("blank", core.SearchQuery{}),
		explain("see", core.Question{See: &core.SeeQuestion{Caller: deploy, Target: odd, Scope: core.VisibilityTree}}),
		explain("rights", core.Question{Rights: &core.SeeQuestion{Caller: deploy, Target: odd}}),
		explain("send", core.Question{Send: deploy}),
		explain("a policy", core.Question{Policy: &core.PolicyQuestion{Channel: "discord", ChatType: core.ChatGroup, Override: &denied}}),
		explain("a policy that is none", core.Question{Policy: &core.PolicyQuestion{ChatType: "crowd"}}),
		explain("a message", core.Question{Message: &core.MessageQuestion{As: deploy, To: odd}}),
		explain("a message to a mirror", core.Question{Message: &core.MessageQuestion{To: deploy}}),
		explain("a spawn", core.Question{Spawn: &core.SpawnQuestion{As: odd, Params: json.RawMessage(`{"task":"x","thread":true,"model":"no/such"}`)}}),
		explain("a spawn of a mirror", core.Question{Spawn: &core.SpawnQuestion{As: deploy, Params: json.RawMessage(`{"task":"x"}`)}}),
		explain("a spawn that is none", core.Question{Spawn: &core.SpawnQuestion{As: odd, Params: json.RawMessage(`{"task":"x","thinking":7}`)}}),
		explain("nothing", core.Question{}),
		call("list", core.ToolCall{Tool: "sessions_list", Params: json.RawMessage(`{"messageLimit":3}`)}),
		call("list as a session", core.ToolCall{As: deploy, Tool: "sessions_list", Params: json.RawMessage("{}")}),
		call("history", core.ToolCall{Tool: "sessions_history", Params: json.RawMessage(`{"sessionKey":"agent:main:odd","includeTools":true}`)}),
		call("history of nobody", core.ToolCall{Tool: "sessions_history", Params: json.RawMessage(`{"sessionKey":"<nobody>"}`)}),
		call("agents", core.ToolCall{Tool: "agents_list", Params: json.RawMessage(`{}`)}),
		call("bad params", core.ToolCall{Tool: "sessions_list", Params: json.RawMessage(`{"limit":"many"}`)}),
		call("broken params", core.ToolCall{Tool: "sessions_list", Params: json.RawMessage(`{"limit":`)}),
		call("two params", core.ToolCall{Tool: "sessions_list", Params: json.RawMessage(`{}},"tool":"agents_list","x":{}`)}),
		call("no UTF-8", core.ToolCall{Tool: "sessions_history", Params: json.RawMessage("{\"sessionKey\":\"\xff\"}")}),
		call("no params", core.ToolCall{Tool: "sessions_list"}),
		call("no tool", core.ToolCall{Tool: "sessions_dance", Params: json.RawMessage(`{}`)}),
		call("as nobody", core.ToolCall{As: "agent:x:y", Tool: "sessions_list", Params: json.RawMessage(`{}`)}),
		call("a spawn that is refused", core.ToolCall{As: odd, Tool: "sessions_spawn", Params: json.RawMessage(`{"task":"x","model":"no/such"}`)}),
		call("send without a sender", core.ToolCall{Tool: "sessions_send", Params: json.RawMessage(`{"sessionKey":"main","message":"hi"}`)}),
		do("nothing", core.Command{}),
		do("a conflict", core.Command{IfRev: 1, Patch: &core.Patch{Session: odd, Label: &value}}),
		do("a bad level", core.Command{Patch: &core.Patch{Session: odd, ThinkingLevel: &value}}),
		do("a blank message", core.Command{Send: &core.Send{Session: odd, Message: " \n"}}),
		do("no UTF-8", core.Command{Send: &core.Send{Session: odd, Message: "\xff"}}),
		do("no UTF-8 reply", core.Command{Reply: &core.Reply{Run: "any", Text: "\xff"}}),
		do("no UTF-8 from a person", core.Command{Inbound: &core.Inbound{Channel: "chat", Peer: "1", Text: "\xff"}}),
		do("to nobody", core.Command{Send: &core.Send{Session: "agent:main:nobody", Message: "hi"}}),
		do("to a mirror", core.Command{Send: &core.Send{Session: deploy, Message: "hi"}}),
		do("for an agent that is not there", core.Command{New: &core.New{Agent: "nobody"}}),
		do("a model that is not there", core.Command{Patch: &core.Patch{Session: odd, Model: &value}}),
		do("a session with a model that is not there", core.Command{New: &core.New{Model: "p/none"}}),
		do("a main's end", core.Command{Delete: &core.Delete{Session: "agent:main:main"}}),
		do("a mirror's end", core.Command{Delete: &core.Delete{Session: deploy, Abort: true, Purge: true}}),
		do("a mirror anew", core.Command{Reset: &core.Reset{Session: deploy}}),
		do("what is ours", core.Command{Adopt: &core.Adopt{Session: odd}}),
		do("two holds", core.Command{Hold: &core.Hold{Session: odd, Agent: "main"}}),
		do("a run that is not there", core.Command{Retry: &core.Retry{Run: "nobody"}}),
		do("two retries", core.Command{Retry: &core.Retry{Run: "a", Delivery: "b"}}),
		do("an end of nothing", core.Command{Abort: &core.Abort{Session: odd}}),
	}
}

// Whatever a Board is asked, the answer through the wire is the engine's own: as data, and byte for byte where bytes are promised.
func TestAnswersAreTheEngines(t *testing.T) {
	r := newRig(t)
	r.fill()
	for _, actor := range []core.Actor{core.Operator, {Kind: core.ActorOperator, ReadOnly: true}, {Kind: core.ActorSession, Session: "agent:ops:main"}} {
		direct, wired := r.both(actor)
		for _, q := range questions() {
			name := fmt.Sprintf("%s%v %s", actor.Kind, actor.ReadOnly, q.name)
			want, wantErr := q.ask(t.Context(), direct)
			got, gotErr := q.ask(t.Context(), wired)
			assert.Equal(t, told(wantErr), told(gotErr), name)
			if wantErr == nil {
				same(t, name, want, got)
			}
		}
	}
}

// Every new command goes through the wire as it does here: what it did is in the records, which are the same on both sides.
func TestCommandsThroughTheWire(t *testing.T) {
	r := newRig(t)
	r.fill()
	direct, wired := r.both(core.Operator)
	do := func(c core.Command) core.Receipt {
		receipt, err := wired.Do(t.Context(), c)
		require.NoError(t, err)
		return receipt
	}
	const mirror = "agent:ops:main"
	do(core.Command{Adopt: &core.Adopt{Session: mirror}})
	said := do(core.Command{Send: &core.Send{Session: mirror, Message: "ours now"}}).Run
	_, err := wired.Records(t.Context(), core.RecordQuery{Kind: core.RecordRun, Run: said, Wait: 60_000})
	require.NoError(t, err)
	transcript := func() string {
		page, err := wired.Messages(t.Context(), core.MessageQuery{Session: mirror})
		require.NoError(t, err)
		return text(t, page.Messages)
	}
	before := transcript()
	_, err = openclaw.Import(t.Context(), r.store, "../../../testdata/openclaw", openclaw.Options{})
	require.NoError(t, err)
	assert.Equal(t, before, transcript(), "the source has no part in it any more")
	made := do(core.Command{New: &core.New{Label: "<x>", Model: "echo/echo"}}).Key
	hold := do(core.Command{Hold: &core.Hold{Session: made}})
	run := do(core.Command{Send: &core.Send{Session: made, Message: "[[fail:no]]"}}).Run
	compare := func() {
		for _, q := range []core.RecordQuery{
			{Kind: core.RecordHolds}, {Kind: core.RecordAudit}, {Kind: core.RecordUsage}, {Kind: core.RecordRuns, Session: made}, {Kind: core.RecordSession, Session: mirror},
		} {
			want, err := direct.Records(t.Context(), q)
			require.NoError(t, err)
			got, err := wired.Records(t.Context(), q)
			require.NoError(t, err)
			same(t, string(q.Kind), want, got)
		}
	}
	compare()
	do(*hold.Undo)
	_, err = wired.Records(t.Context(), core.RecordQuery{Kind: core.RecordRun, Run: run, Wait: 60_000})
	require.NoError(t, err)
	again := do(core.Command{Retry: &core.Retry{Run: run}})
	_, err = wired.Records(t.Context(), core.RecordQuery{Kind: core.RecordRun, Run: again.Run, Wait: 60_000})
	require.NoError(t, err)
	do(core.Command{Reset: &core.Reset{Session: made}})
	off := do(core.Command{Send: &core.Send{Session: made, Message: "/send off"}})
	assert.Equal(t, "send policy deny", off.Outcome)
	compare()
	do(core.Command{Delete: &core.Delete{Session: made, Purge: true}})
	_, err = direct.Messages(t.Context(), core.MessageQuery{Session: made})
	assert.Equal(t, core.CodeNotFound, core.CodeOf(err))
}

// told is what of an error crosses.
func told(err error) any {
	e, ok := errors.AsType[*core.Error](err)
	switch {
	case err == nil:
		return nil
	case !ok:
		return "internal: " + err.Error()
	}
	return core.Error{Code: e.Code, Message: err.Error(), ConfigKey: e.ConfigKey, Allowed: e.Allowed}
}

func same(t *testing.T, name string, want, got any) {
	t.Helper()
	switch want := want.(type) {
	case core.MessagePage:
		got := got.(core.MessagePage)
		require.Len(t, got.Messages, len(want.Messages), name)
		for i, m := range want.Messages {
			assert.Equal(t, string(m.Raw), string(got.Messages[i].Raw), name)
			assert.Equal(t, m.Role, got.Messages[i].Role, name)
		}
	case core.ToolResult:
		got := got.(core.ToolResult)
		assert.Equal(t, string(want.Body), string(got.Body), name)
	case core.RecordPage:
		if want.Session != nil {
			assert.Equal(t, string(want.Session.Entry), string(got.(core.RecordPage).Session.Entry), name)
		}
	}
	assert.Equal(t, text(t, want), text(t, got), name)
}

func text(t *testing.T, v any) string {
	t.Helper()
	out, err := json.MarshalIndent(v, "", " ")
	require.NoError(t, err)
	return string(out)
}

// A batch through the wire is the engine's own; one that waits gets it as soon as it is there.
func TestWatch(t *testing.T) {
	r := newRig(t)
	direct, wired := r.both(core.Operator)
	for _, from := range []core.Cursor{{}, {Epoch: "another", Rev: 3}} {
		one, err := direct.Watch(t.Context(), from)
		require.NoError(t, err)
		two, err := wired.Watch(t.Context(), from)
		require.NoError(t, err)
		receipt, err := wired.Do(t.Context(), core.Command{New: &core.New{Agent: "ops", Label: "<new>"}})
		require.NoError(t, err)
		for {
			want, err := one.Next(t.Context())
			require.NoError(t, err)
			got, err := two.Next(t.Context())
			require.NoError(t, err)
			assert.Equal(t, text(t, want), text(t, got))
			if want.To >= receipt.Rev {
				break
			}
		}
		require.NoError(t, two.Close())
		require.NoError(t, one.Close())
	}
}

// A Next that was given up loses no batch: the following one has it.
func TestNextIsGivenUp(t *testing.T) {
	r := newRig(t)
	wired := r.wired(core.Operator)
	stream, err := wired.Watch(t.Context(), core.Cursor{})
	require.NoError(t, err)
	seen := map[string]bool{}
	var made []string
	for i := range 30 {
		ctx, cancel := context.WithCancel(t.Context())
		var asked sync.WaitGroup
		asked.Go(func() {
			if batch, err := stream.Next(ctx); err == nil {
				note(seen, batch)
			}
		})
		receipt, err := wired.Do(t.Context(), core.Command{New: &core.New{Label: fmt.Sprint(i)}})
		require.NoError(t, err)
		made = append(made, receipt.Key)
		cancel()
		asked.Wait()
	}
	for len(seen) < len(made) {
		batch, err := stream.Next(t.Context())
		require.NoError(t, err)
		note(seen, batch)
	}
	for _, key := range made {
		assert.True(t, seen[key], key)
	}
}

func note(seen map[string]bool, batch core.Batch) {
	for _, c := range batch.Changes {
		if c.Kind == core.ChangeSession {
			seen[c.ID] = true
		}
	}
}

// A lost connection is made anew: reads and waits are repeated, a stream goes on where it was, a send with a key stays one run.
func TestConnectionIsLost(t *testing.T) {
	r := newRig(t)
	wired := r.wired(core.Operator)
	made, err := wired.Do(t.Context(), core.Command{New: &core.New{Agent: "main"}})
	require.NoError(t, err)
	stream, err := wired.Watch(t.Context(), core.Cursor{})
	require.NoError(t, err)
	send := core.Command{Key: "once", Send: &core.Send{Session: made.Key, Message: "[[sleep:300ms]][[say:done]]"}}
	sent, err := wired.Do(t.Context(), send)
	require.NoError(t, err)
	assert.Equal(t, "once", sent.Run)

	type answer struct {
		page core.RecordPage
		err  error
	}
	waited := make(chan answer, 1)
	go func() {
		page, err := wired.Records(t.Context(), core.RecordQuery{Kind: core.RecordRun, Run: "once", Wait: 60_000})
		waited <- answer{page, err}
	}()
	for range 3 {
		r.stop("away for a moment")
		r.serve()
		again, err := wired.Do(t.Context(), send)
		require.NoError(t, err)
		assert.Equal(t, sent.Run, again.Run)
	}
	got := <-waited
	require.NoError(t, got.err)
	assert.Equal(t, core.OutcomeOK, got.page.Runs[0].Outcome)
	assert.Equal(t, "done", got.page.Reply)
	assert.GreaterOrEqual(t, int(r.dials.Load()), 4)

	from, ended := sent.Rev-1, false
	for !ended {
		batch, err := stream.Next(t.Context())
		require.NoError(t, err)
		assert.False(t, batch.Gap)
		assert.Equal(t, from, batch.From, "no revision is missed and none comes twice")
		from = batch.To
		for _, c := range batch.Changes {
			ended = ended || c.Run != nil && c.Run.State == core.RunEnded
		}
	}
	page, err := wired.Records(t.Context(), core.RecordQuery{Kind: core.RecordRuns, Session: made.Key})
	require.NoError(t, err)
	assert.Len(t, page.Runs, 1)
}

// A send that is waited for goes on over the loss of its owner: it is the same send however often it is asked for.
func TestSendOverALoss(t *testing.T) {
	r := newRig(t)
	wired := r.wired(core.Operator)
	for _, agent := range []string{"main", "ops"} {
		_, err := wired.Do(t.Context(), core.Command{Send: &core.Send{Session: "agent:" + agent + ":main", Message: "hello"}})
		require.NoError(t, err)
	}
	stream, err := wired.Watch(t.Context(), core.Cursor{})
	require.NoError(t, err)
	type answer struct {
		result core.ToolResult
		err    error
	}
	answered := make(chan answer, 1)
	go func() {
		result, err := wired.Call(t.Context(), core.ToolCall{As: "agent:ops:main", Tool: "sessions_send", Params: json.RawMessage(
			`{"sessionKey":"agent:main:main","message":"[[sleep:300ms]] late","timeoutSeconds":60}`)})
		answered <- answer{result, err}
	}()
	for queued := false; !queued; {
		batch, err := stream.Next(t.Context())
		require.NoError(t, err)
		for _, c := range batch.Changes {
			queued = queued || c.Run != nil && c.Run.Kind == core.RunSend
		}
	}
	r.stop("killed")
	r.serve()
	got := <-answered
	require.NoError(t, got.err)
	assert.Contains(t, string(got.result.Body), `"reply":"late"`)
	page, err := wired.Records(t.Context(), core.RecordQuery{Kind: core.RecordRuns, Session: "agent:main:main"})
	require.NoError(t, err)
	sends := 0
	for _, run := range page.Runs {
		if run.Kind == core.RunSend {
			sends++
		}
	}
	assert.Equal(t, 1, sends)
}

// stuckBoard tells when a tool is called, and never answers.
type stuckBoard struct {
	core.Board
	asked chan struct{}
}

func (b *stuckBoard) Call(ctx context.Context, _ core.ToolCall) (core.ToolResult, error) {
	close(b.asked)
	<-ctx.Done()
	return core.ToolResult{}, ctx.Err()
}

// Whether a tool that is neither read-only nor done once under its key had done its work is not known: it is not called again.
func TestLossDuringAnAct(t *testing.T) {
	r := newRig(t)
	asked := make(chan struct{})
	r.wrap = func(b core.Board) core.Board { return &stuckBoard{b, asked} }
	wired := r.wired(core.Operator)
	failed := make(chan error, 1)
	go func() {
		_, err := wired.Call(t.Context(), core.ToolCall{Tool: "one_that_acts"})
		failed <- err
	}()
	<-asked
	r.stop("killed")
	err := <-failed
	assert.Equal(t, core.CodeUnsupported, core.CodeOf(err))
	assert.ErrorContains(t, err, "whether it was done is not known")
	assert.ErrorContains(t, err, "killed")
	r.serve()
}

// A closed board answers that it is closed.
func TestClosed(t *testing.T) {
	r := newRig(t)
	wired := r.wired(core.Operator)
	stream, err := wired.Watch(t.Context(), core.Cursor{})
	require.NoError(t, err)
	require.NoError(t, wired.Close())
	_, err = wired.Info(t.Context())
	assert.ErrorContains(t, err, "closed")
	_, err = stream.Next(t.Context())
	assert.ErrorContains(t, err, "closed")
	assert.NoError(t, stream.Close())
}

// Streams are bounded, and one that is closed makes room.
func TestStreamsAreBounded(t *testing.T) {
	r := newRig(t)
	wired := r.wired(core.Operator)
	var open []core.Stream
	for range 64 {
		s, err := wired.Watch(t.Context(), core.Cursor{})
		require.NoError(t, err)
		open = append(open, s)
	}
	_, err := wired.Watch(t.Context(), core.Cursor{})
	assert.Equal(t, core.CodeUnsupported, core.CodeOf(err))
	require.NoError(t, open[0].Close())
	_, err = wired.Watch(t.Context(), core.Cursor{})
	assert.NoError(t, err)
}

// A method that is not there and params that do not fit are refused by name.
func TestOddMethods(t *testing.T) {
	r := newRig(t)
	conn, err := net.Dial("unix", r.path)
	require.NoError(t, err)
	c, _, err := wire.NewClient(t.Context(), conn, core.Operator)
	require.NoError(t, err)
	defer c.Close()
	for _, odd := range []struct {
		method, params string
		code           core.Code
	}{
		{"cordboard.dance", "{}", core.CodeUnsupported},
		{"cordboard.sessions", `{"limit":"x"}`, core.CodeInvalidParams},
		{"cordboard.sessions", `{"limits":1}`, core.CodeInvalidParams},
		{"cordboard.sessions", `{}},"x":{}`, core.CodeInvalidParams},
		{"cordboard.next", `{"stream":9}`, core.CodeNotFound},
		{"cordboard.focus", `{"stream":9}`, core.CodeNotFound},
	} {
		_, err := c.Call(t.Context(), odd.method, []byte(odd.params), nil)
		assert.Equal(t, odd.code, core.CodeOf(err), odd.method)
	}
}

func BenchmarkSmallCall(b *testing.B) {
	r := newRig(b)
	wired := r.wired(core.Operator)
	for b.Loop() {
		if _, err := wired.Records(b.Context(), core.RecordQuery{Kind: core.RecordExchanges}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSmallCallDirect(b *testing.B) {
	r := newRig(b)
	direct, _ := r.both(core.Operator)
	for b.Loop() {
		if _, err := direct.Records(b.Context(), core.RecordQuery{Kind: core.RecordExchanges}); err != nil {
			b.Fatal(err)
		}
	}
}

// A 120 KB answer of a tool, and the same of messages as the console asks for them.
func BenchmarkBigCall(b *testing.B) {
	r := newRig(b)
	_, err := r.store.Update(context.Background(), func(tx core.Tx) error {
		if err := tx.PutSession(core.Session{Key: "agent:main:big", SessionID: "big", UpdatedAt: 7}); err != nil {
			return err
		}
		if err := tx.PutGeneration(core.Generation{ID: "big", SessionID: "big", Key: "agent:main:big", Agent: "main", State: core.GenerationCurrent}); err != nil {
			return err
		}
		for range 60 {
			if _, _, err := tx.Append("big", core.Message{Role: core.RoleUser, At: 1, Raw: json.RawMessage(`{"role":"user","content":"` + strings.Repeat("word ", 400) + `"}`)}); err != nil {
				return err
			}
		}
		return nil
	})
	require.NoError(b, err)
	direct, wired := r.both(core.Operator)
	params := json.RawMessage(`{"sessionKey":"agent:main:big","limit":60}`)
	for name, asked := range map[string]core.Board{"direct": direct, "wire": wired} {
		b.Run("tool/"+name, func(b *testing.B) {
			for b.Loop() {
				if _, err := asked.Call(b.Context(), core.ToolCall{Tool: "sessions_history", Params: params}); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("messages/"+name, func(b *testing.B) {
			for b.Loop() {
				if _, err := asked.Messages(b.Context(), core.MessageQuery{Session: "agent:main:big", Limit: 60}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
