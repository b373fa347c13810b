package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordboard/core"
	"cordboard/core/config"
	"cordboard/core/engine"
	"cordboard/store/bolt"
)

// A command goes down once and comes back as a batch; its undo takes it back, unless someone else was there first.
func TestPatchComesBackAsABatchAndIsUndone(t *testing.T) {
	b := newBench(t, "", session("agent:main:main", func(s *core.Session) { s.Label = "old" }))
	board := b.as("")
	stream, err := board.Watch(t.Context(), core.Cursor{})
	require.NoError(t, err)
	defer stream.Close()

	label, archived := "new", true
	receipt, err := board.Do(t.Context(), core.Command{Patch: &core.Patch{Session: "main", Label: &label, Archived: &archived}})
	require.NoError(t, err)
	batch, err := stream.Next(t.Context())
	require.NoError(t, err)
	require.Len(t, batch.Changes, 1)
	assert.Equal(t, "new", batch.Changes[0].Head.Title)
	assert.Equal(t, core.KindMain, batch.Changes[0].Head.Kind)
	assert.True(t, batch.Changes[0].Head.Flags.Has(core.FlagArchived))
	assert.Equal(t, receipt.Rev, batch.To)
	assert.Equal(t, noon.UnixMilli(), batch.Changes[0].Head.UpdatedAt, "a patch does not move updatedAt")

	other := "theirs"
	_, err = board.Do(t.Context(), core.Command{Patch: &core.Patch{Session: "main", Label: &other}})
	require.NoError(t, err)
	_, err = board.Do(t.Context(), *receipt.Undo)
	assert.Equal(t, core.CodeConflict, core.CodeOf(err))
	again := *receipt.Undo
	again.IfRev = 0
	_, err = board.Do(t.Context(), again)
	require.NoError(t, err)
	detail, err := board.Records(t.Context(), core.RecordQuery{Kind: core.RecordSession, Session: "main"})
	require.NoError(t, err)
	assert.Equal(t, "old", detail.Session.Session.Label)
	assert.Zero(t, detail.Session.Session.ArchivedAt)
}

func TestPatchRefusals(t *testing.T) {
	b := newBench(t, "", session("agent:main:main"))
	bad, level := core.SendPolicy("maybe"), "banana"
	for name, c := range map[string]struct {
		command core.Command
		code    core.Code
	}{
		"nothing to do":    {core.Command{}, core.CodeInvalidParams},
		"absent session":   {core.Command{Patch: &core.Patch{Session: "agent:main:nobody", Label: &level}}, core.CodeNotFound},
		"unknown policy":   {core.Command{Patch: &core.Patch{Session: "main", SendPolicy: &bad}}, core.CodeInvalidParams},
		"unknown thinking": {core.Command{Patch: &core.Patch{Session: "main", ThinkingLevel: &level}}, core.CodeInvalidParams},
		"unknown verbose":  {core.Command{Patch: &core.Patch{Session: "main", VerboseLevel: &level}}, core.CodeInvalidParams},
	} {
		_, err := b.as("").Do(t.Context(), c.command)
		assert.Equal(t, c.code, core.CodeOf(err), name)
	}
	_, err := b.as("agent:main:main").Do(t.Context(), core.Command{Patch: &core.Patch{Session: "main", Label: &level}})
	assert.Equal(t, core.CodeReadOnly, core.CodeOf(err))
}

// What changed while nobody asked is one batch, one change a record, last state and united ranges.
func TestWatchMerges(t *testing.T) {
	b := newBench(t, "", session("agent:main:main"), session("agent:ops:main"))
	stream, err := b.as("").Watch(t.Context(), core.Cursor{})
	require.NoError(t, err)
	for i := range 40 {
		b.say("agent:main:main", fmt.Sprintf(`{"role":"user","content":"%d"}`, i))
	}
	from := core.Rev(0)
	seen := map[string]core.Change{}
	for first, last := uint64(0), uint64(0); last == 0 || last-first < 39; {
		batch, err := stream.Next(t.Context())
		require.NoError(t, err)
		if from != 0 {
			assert.Equal(t, from, batch.From)
		}
		from = batch.To
		for _, c := range batch.Changes {
			seen[string(c.Kind)+c.ID] = c
			if c.Kind == core.ChangeMessages {
				if first == 0 {
					first = c.FirstSeq
				}
				last = c.LastSeq
			}
		}
		assert.LessOrEqual(t, len(batch.Changes), 3)
	}
	assert.Equal(t, uint64(40), seen["sessionagent:main:main"].Head.LastSeq)
	assert.NotContains(t, seen, "sessionagent:ops:main")
}

// A cursor of another life, ahead of the store or behind its log is a gap that tells where to go on.
func TestWatchGap(t *testing.T) {
	b := newBench(t, "", session("agent:main:main"))
	info, err := b.as("").Info(t.Context())
	require.NoError(t, err)
	for _, from := range []core.Cursor{{Epoch: "another", Rev: 1}, {Epoch: info.Cursor.Epoch, Rev: info.Cursor.Rev + 5}} {
		stream, err := b.as("").Watch(t.Context(), from)
		require.NoError(t, err)
		batch, err := stream.Next(t.Context())
		require.NoError(t, err)
		assert.True(t, batch.Gap)
		assert.Equal(t, info.Cursor, core.Cursor{Epoch: batch.Epoch, Rev: batch.To})
		b.put(session("agent:main:after"))
		batch, err = stream.Next(t.Context())
		require.NoError(t, err)
		assert.False(t, batch.Gap)
		b.update(func(tx core.Tx) error { return tx.DeleteSession("agent:main:after") })
		info, err = b.as("").Info(t.Context())
		require.NoError(t, err)
	}
}

// A session's watch tells of what its tools would show, no more.
func TestWatchKeepsToScope(t *testing.T) {
	b := newBench(t, "", session("agent:main:main"), session("agent:ops:main"), session("agent:x:child", spawnedBy("agent:main:main")))
	stream, err := b.as("agent:main:main").Watch(t.Context(), core.Cursor{})
	require.NoError(t, err)
	b.say("agent:ops:main", `{"role":"user","content":"not for you"}`)
	b.say("agent:x:child", `{"role":"user","content":"for you"}`)
	batch, err := stream.Next(t.Context())
	require.NoError(t, err)
	for _, c := range batch.Changes {
		assert.NotContains(t, c.ID, "ops")
	}
	assert.NotEmpty(t, batch.Changes)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = stream.Next(ctx)
	assert.ErrorIs(t, err, context.Canceled)
}

// K292, K294: agents_list; the operator's is the default agent's.
func TestAgentsList(t *testing.T) {
	b := newBench(t, "", session("agent:main:main"))
	for _, as := range []string{"", "agent:main:main"} {
		answer, _ := b.call(as, "agents_list", `{}`)
		assert.Equal(t, map[string]any{"requester": "main", "allowAny": false, "agents": []any{map[string]any{"id": "main", "configured": true}}}, answer)
	}
	b = newBench(t, `agents: { list: [ { id: "research" }, { id: "main", subagents: { allowAgents: ["*"] } }, { id: "coder", name: "Coder" } ] }`,
		session("agent:main:main"))
	answer, _ := b.call("agent:main:main", "agents_list", `{}`)
	assert.Equal(t, true, answer["allowAny"])
	var ids []any
	for _, a := range answer["agents"].([]any) {
		ids = append(ids, a.(map[string]any)["id"])
	}
	assert.Equal(t, []any{"main", "coder", "research"}, ids)
	answer, _ = b.call("", "agents_list", `{}`)
	assert.Equal(t, "research", answer["requester"], "the first of the list is the default agent")
}

// Only a session that is there, or the main of a configured agent, can be acted as; only the operator can act as another.
func TestActors(t *testing.T) {
	b := newBench(t, `agents: { list: [ { id: "main" }, { id: "idle" } ] }`, session("agent:main:main"))
	for _, key := range []string{"main", "agent:main:main", "id-of-agent:main:main", "agent:idle:main"} {
		_, err := b.engine.Board(t.Context(), core.Actor{Kind: core.ActorSession, Session: key})
		assert.NoError(t, err, key)
	}
	for _, key := range []string{"agent:ghost:main", "agent:main:nobody", "", "global"} {
		_, err := b.engine.Board(t.Context(), core.Actor{Kind: core.ActorSession, Session: key})
		assert.Error(t, err, key)
	}
	assert.Equal(t, []string{}, b.keys("agent:idle:main", `{}`), "a main session that was never used lists nothing")
	result, err := b.as("agent:idle:main").Call(t.Context(), core.ToolCall{As: "agent:main:main", Tool: "sessions_list"})
	require.NoError(t, err)
	assert.Equal(t, core.CodeForbidden, result.Refused.Code)
	_, err = b.as("agent:idle:main").Records(t.Context(), core.RecordQuery{Kind: core.RecordOrphans})
	assert.Equal(t, core.CodeForbidden, core.CodeOf(err))
	_, err = b.as("agent:idle:main").Explain(t.Context(), core.Question{Send: "main"})
	assert.Equal(t, core.CodeForbidden, core.CodeOf(err))
}

// G148-G153 through Explain: verdict, rule and config key.
func TestExplainSend(t *testing.T) {
	deny := `session:{sendPolicy:{rules:[{match:{channel:"discord",chatType:"group"},action:"deny"}]}}`
	b := newBench(t, deny,
		session("agent:main:discord:group:x"), session("agent:main:discord:group:y", func(s *core.Session) { s.SendPolicy = core.SendAllow }), session("agent:main:main"))
	for key, want := range map[string]struct {
		allowed bool
		rule    string
	}{
		"agent:main:discord:group:x": {false, "rules[0]"}, "agent:main:discord:group:y": {true, "session override"}, "agent:main:main": {true, "default"},
	} {
		x, err := b.as("").Explain(t.Context(), core.Question{Send: key})
		require.NoError(t, err)
		assert.Equal(t, want.allowed, x.Verdict.Allowed, key)
		assert.Contains(t, x.Verdict.Rule, want.rule, key)
	}
}

// R061: one resolver: an alias means the same session everywhere.
func TestOneResolver(t *testing.T) {
	b := newBench(t, `session: { mainKey: "desk" }`, session("agent:main:desk"))
	b.say("agent:main:desk", `{"role":"user","content":"x"}`)
	for _, name := range []string{"main", "desk", "MAIN", "agent:main:main", "agent:MAIN:desk", " main ", "id-of-agent:main:desk"} {
		history, code := b.call("agent:main:desk", "sessions_history", fmt.Sprintf(`{"sessionKey":%q}`, name))
		require.Empty(t, code, name)
		assert.Equal(t, "main", history["sessionKey"], name)
		page, err := b.as("").Messages(t.Context(), core.MessageQuery{Session: name})
		require.NoError(t, err)
		assert.Equal(t, "agent:main:desk", page.Session, name)
	}
	assert.Equal(t, []string{"main"}, b.keys("agent:main:desk", `{}`))
	assert.Equal(t, []string{"agent:main:desk"}, b.keys("", `{}`))
}

// H174-H184 and the rights panel: depth by what is stored, else by lineage, else by the key; a circle of lineage ends.
func TestExplainRights(t *testing.T) {
	b := newBench(t, `agents: { defaults: { subagents: { maxSpawnDepth: 2 } } }, tools: { subagents: { tools: { allow: ["*"] } } }`,
		session("agent:main:main"), session("agent:main:subagent:1", spawnedBy("agent:main:main")),
		session("agent:main:flat", spawnedBy("agent:main:subagent:1")), session("agent:main:stored", func(s *core.Session) { s.SpawnDepth = 2 }),
		session("agent:main:x", spawnedBy("agent:main:y")), session("agent:main:y", spawnedBy("agent:main:x")),
		session("agent:main:subagent:detached", spawnedBy("agent:main:subagent:gone")))
	for caller, maySpawn := range map[string]bool{
		"main": true, "agent:main:subagent:1": true, "agent:main:flat": false, "agent:main:stored": false, "agent:main:x": false,
		"agent:main:subagent:detached": false, "id-of-agent:main:flat": false,
	} {
		x, err := b.as("").Explain(t.Context(), core.Question{Rights: &core.SeeQuestion{Caller: caller, Target: "main"}})
		require.NoError(t, err)
		require.Len(t, x.Rights, 4)
		assert.Equal(t, "sessions_spawn", x.Rights[3].Tool)
		assert.Equal(t, maySpawn, x.Rights[3].Verdict.Allowed, "%s: %+v", caller, x.Rights[3].Verdict)
	}
	x, err := b.as("").Explain(t.Context(), core.Question{Rights: &core.SeeQuestion{Caller: "agent:main:subagent:1", Target: "main", Scope: core.VisibilityAgent}})
	require.NoError(t, err)
	assert.True(t, x.Rights[0].Verdict.Allowed)
	assert.Equal(t, core.VisibilityAgent, x.Scope.Effective)
	_, err = b.as("").Explain(t.Context(), core.Question{Rights: &core.SeeQuestion{Caller: "agent:main:nobody", Target: "main"}})
	assert.Equal(t, core.CodeNotFound, core.CodeOf(err))
}

// An operator who mistypes a name is told what is near; a session learns nothing of what it may not see.
func TestNamesThatAreNear(t *testing.T) {
	b := newBench(t, "", session("agent:main:main"), session("agent:main:discord:channel:118"), session("agent:main:discord:channel:119"),
		core.Session{Key: "agent:ops:night", SessionID: "597324a0-d852-496c-ab9f-863cdd0cf332"})
	for typed, want := range map[string]string{
		"agent:main:mian":                "did you mean agent:main:main?",
		"agent:mian:main":                "did you mean agent:main:main?",
		"Agent:ops:nigth":                "did you mean agent:ops:night?",
		"agent:main:discord":             "did you mean agent:main:discord:channel:118 or agent:main:discord:channel:119?",
		"agent:main:discord:channel:11x": "agent:main:discord:channel:118",
		"597324a0":                       "did you mean 597324a0-d852-496c-ab9f-863cdd0cf332?",
		"agent:none:of:it":               "`cordboard list`",
		"59":                             "`cordboard list`",
	} {
		_, err := b.as("").Records(t.Context(), core.RecordQuery{Kind: core.RecordSession, Session: typed})
		assert.Equal(t, core.CodeNotFound, core.CodeOf(err), typed)
		assert.ErrorContains(t, err, want, typed)
	}
	answer, code := b.call("agent:main:main", "sessions_history", `{"sessionKey":"597324a0"}`)
	assert.Equal(t, core.CodeNotFound, code)
	assert.NotContains(t, answer["error"], "d852")
}

// What a board tells outlives the store: no text in it is borrowed from the file (agents that only the store knows are counted over
// borrowed keys).
func TestInfoOutlivesTheStore(t *testing.T) {
	dir := t.TempDir()
	store, err := bolt.Open(bolt.Options{Dir: dir})
	require.NoError(t, err)
	b := &bench{t: t, store: store}
	for i := range 60 { // enough for pages of their own
		b.put(session(fmt.Sprint("agent:zed:", i)))
	}
	require.NoError(t, store.Close())

	store, err = bolt.Open(bolt.Options{Dir: dir, ReadOnly: true})
	require.NoError(t, err)
	cfg, _, err := config.Parse("test.json5", nil)
	require.NoError(t, err)
	e, err := engine.New(store, cfg, engine.Options{Version: "test"})
	require.NoError(t, err)
	board, err := e.Board(t.Context(), core.Operator)
	require.NoError(t, err)
	info, err := board.Info(t.Context())
	require.NoError(t, err)
	require.NoError(t, board.Close())
	require.NoError(t, store.Close())
	ids := map[string]int{}
	for _, a := range info.Agents {
		ids[strings.Clone(a.ID)] = a.Sessions
	}
	assert.Equal(t, map[string]int{"main": 0, "zed": 60}, ids)
}

// What a board answers is its own: it can be read when the store that it came from is closed and its memory is gone.
func TestAnswersOutliveTheStore(t *testing.T) {
	dir := t.TempDir()
	store, err := bolt.Open(bolt.Options{Dir: dir})
	require.NoError(t, err)
	_, err = store.Update(t.Context(), func(tx core.Tx) error {
		for i := range 100 { // a table of a few records is a copy
			key := []string{"agent:main:main", "agent:ops:a"}[min(i, 1)]
			if i > 1 {
				key = fmt.Sprintf("agent:%s:%d", []string{"ops", "research"}[i%2], i)
			}
			id := "id-of-" + key
			if err := errors.Join(tx.PutSession(core.Session{Key: key, SessionID: id, UpdatedAt: 5, Label: "label", SpawnedBy: "agent:main:main"}),
				tx.PutGeneration(core.Generation{ID: id, SessionID: id, Key: key, State: core.GenerationCurrent})); err != nil {
				return err
			}
			if _, _, err := tx.Append(id, core.Message{Role: core.RoleUser, Raw: json.RawMessage(user("needle"))}); err != nil {
				return err
			}
		}
		return nil
	})
	require.NoError(t, err)
	require.NoError(t, store.Close())

	store, err = bolt.Open(bolt.Options{Dir: dir, ReadOnly: true}) // it lets go of its memory after every read
	require.NoError(t, err)
	cfg, _, err := config.Parse("", nil)
	require.NoError(t, err)
	e, err := engine.New(store, cfg, engine.Options{Clock: &fakeClock{now: noon}})
	require.NoError(t, err)
	b, err := e.Board(t.Context(), core.Operator)
	require.NoError(t, err)
	var answers []any
	for _, read := range []func() (any, error){
		func() (any, error) { return b.Info(t.Context()) },
		func() (any, error) { return b.Sessions(t.Context(), core.SessionQuery{}) },
		func() (any, error) {
			return b.Sessions(t.Context(), core.SessionQuery{Viewpoint: "agent:ops:a", WithHidden: true})
		},
		func() (any, error) { return b.Messages(t.Context(), core.MessageQuery{Session: "agent:ops:a"}) },
		func() (any, error) {
			return b.Records(t.Context(), core.RecordQuery{Kind: core.RecordSession, Session: "agent:main:main"})
		},
		func() (any, error) { return b.Records(t.Context(), core.RecordQuery{Kind: core.RecordOrphans}) },
		func() (any, error) { return b.Search(t.Context(), core.SearchQuery{Text: "needle", Generation: true}) },
		func() (any, error) {
			return b.Call(t.Context(), core.ToolCall{Tool: "sessions_list", Params: json.RawMessage(`{"messageLimit":2}`)})
		},
		func() (any, error) {
			_, err := b.Records(t.Context(), core.RecordQuery{Kind: core.RecordSession, Session: "agent:ops:x"})
			return err.Error(), nil
		},
	} {
		answer, err := read()
		require.NoError(t, err)
		answers = append(answers, answer)
	}
	require.NoError(t, store.Close())
	text, err := json.Marshal(answers)
	require.NoError(t, err)
	assert.Contains(t, string(text), `"id":"ops"`)
}
