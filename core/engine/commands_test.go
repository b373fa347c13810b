package engine_test

import (
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordboard/core"
)

// do is a command of the operator that must be carried out.
func (s *stage) do(c core.Command) core.Receipt {
	s.t.Helper()
	receipt, err := s.as("").Do(s.t.Context(), c)
	require.NoError(s.t, err)
	return receipt
}

// refuse is a command of the operator that must not.
func (s *stage) refuse(code core.Code, c core.Command) error {
	s.t.Helper()
	_, err := s.as("").Do(s.t.Context(), c)
	require.Error(s.t, err)
	assert.Equal(s.t, code, core.CodeOf(err), "%v", err)
	return err
}

func (s *stage) detail(key string) *core.SessionDetail {
	s.t.Helper()
	page, err := s.as("").Records(s.t.Context(), core.RecordQuery{Kind: core.RecordSession, Session: key})
	require.NoError(s.t, err)
	return page.Session
}

// others are the rows of all sessions but one.
func (s *stage) others(but string) map[string]core.Session {
	s.t.Helper()
	page, err := s.as("").Sessions(s.t.Context(), core.SessionQuery{Archived: true})
	require.NoError(s.t, err)
	rows := map[string]core.Session{}
	for _, row := range page.Rows {
		if row.Key != but {
			rows[row.Key] = s.detail(row.Key).Session
		}
	}
	return rows
}

// A reset gives a new transcript; the one before it stays readable by its id, and what is queued runs in the new one.
func TestReset(t *testing.T) {
	play(t, "", []string{"agent:main:main"}, func(t *testing.T, s *stage) {
		s.await(s.send("main", "[[tokens:12/34]] one"))
		live := s.send("main", "[[sleep:4000]] two")
		queued := s.send("main", "three")
		synctest.Wait()
		assert.ErrorContains(t, s.refuse(core.CodeConflict, core.Command{Reset: &core.Reset{Session: "main"}}), live)
		s.await(live)
		s.await(queued)
		before := s.detail("main").Session
		s.refuse(core.CodeConflict, core.Command{IfRev: 1, Reset: &core.Reset{Session: "main"}})

		receipt := s.do(core.Command{Reset: &core.Reset{Session: "main"}})
		assert.Nil(t, receipt.Undo)
		after := s.detail("main")
		assert.NotEqual(t, before.SessionID, after.Session.SessionID)
		assert.Equal(t, int64(0), *after.Session.TotalTokens, "R055")
		assert.Nil(t, after.Session.SystemSent)
		assert.Equal(t, before.UpdatedAt, after.Session.UpdatedAt)
		states := map[string]core.GenerationState{}
		for _, g := range after.Generations {
			states[g.ID] = g.State
		}
		assert.Equal(t, map[string]core.GenerationState{before.SessionID: core.GenerationReset, after.Session.SessionID: core.GenerationCurrent}, states)
		assert.Empty(t, s.transcript("main"))
		assert.Len(t, s.transcript(before.SessionID), 6)
		answer, code := s.call("agent:main:main", "sessions_history", `{"sessionKey":"`+before.SessionID+`"}`)
		require.Empty(t, code, "R072")
		assert.Equal(t, true, answer["archived"])
		assert.ErrorContains(t, s.refuse(core.CodeInvalidParams, core.Command{Reset: &core.Reset{Session: before.SessionID}}), "older transcript")
		s.await(s.send("main", "anew"))
		assert.Equal(t, []string{"user anew", "assistant anew"}, s.transcript("main"))
		s.refuse(core.CodeNotFound, core.Command{Reset: &core.Reset{Session: "agent:main:nobody"}})
	})
}

// A delete removes one key. Main sessions stay, what runs keeps a session alive unless it may be aborted, and the transcript is kept
// unless it is purged.
func TestDelete(t *testing.T) {
	keys := []string{"agent:main:main", "agent:main:a", "agent:main:ab", "agent:main:b"}
	play(t, "", keys, func(t *testing.T, s *stage) {
		s.put(core.Session{Key: "agent:main:child", SessionID: "child", SpawnedBy: "agent:main:a"})
		s.refuse(core.CodeForbidden, core.Command{Delete: &core.Delete{Session: "main", Abort: true}})
		s.await(s.send("agent:main:a", "hello"))
		first := s.detail("agent:main:a").Session.SessionID
		s.do(core.Command{Reset: &core.Reset{Session: "agent:main:a"}})
		live, queued := s.send("agent:main:a", "[[sleep:1h]]"), s.send("agent:main:a", "never")
		beside := s.send("agent:main:child", "[[sleep:2m]] fine")
		synctest.Wait()
		others := s.others("agent:main:a")
		second := s.detail("agent:main:a").Session.SessionID
		assert.ErrorContains(t, s.refuse(core.CodeConflict, core.Command{Delete: &core.Delete{Session: "agent:main:a"}}), live)

		receipt := s.do(core.Command{Delete: &core.Delete{Session: "agent:main:a", Abort: true}})
		assert.ElementsMatch(t, []string{live, queued}, receipt.Runs)
		assert.Nil(t, receipt.Undo)
		for _, id := range []string{live, queued} {
			run, _ := s.await(id)
			assert.Equal(t, core.OutcomeAborted, run.Outcome)
		}
		assert.Len(t, others, 4)
		assert.Equal(t, others, s.others("agent:main:a"), "R076: no other row is touched")
		s.refuse(core.CodeNotFound, core.Command{Patch: &core.Patch{Session: "agent:main:a", Label: new(string)}})
		assert.Equal(t, []string{"user hello", "assistant hello"}, s.transcript(first), "an older transcript stays readable by its id")
		assert.Equal(t, []string{"user [[sleep:1h]]", "assistant "}, s.transcript(second), "so does the last one, with its run ended")
		run, reply := s.await(beside)
		assert.Equal(t, core.OutcomeOK, run.Outcome, "a child is not touched")
		assert.Equal(t, "fine", reply)

		s.await(s.send("agent:main:b", "secret"))
		id := s.detail("agent:main:b").Session.SessionID
		s.do(core.Command{Delete: &core.Delete{Session: id, Purge: true}})
		_, err := s.as("").Messages(t.Context(), core.MessageQuery{Session: id})
		assert.Equal(t, core.CodeNotFound, core.CodeOf(err), "a purged transcript is gone")
	})
}

// A session that is deleted under an MCP client or another program that speaks for it is nobody any more: it sees, sends and starts nothing.
func TestTheDeletedSpeakNoMore(t *testing.T) {
	keys := []string{"agent:main:main", "agent:main:a", "agent:main:subagent:c"}
	play(t, `tools: {sessions: {visibility: "agent"}, subagents: {tools: {allow: ["sessions_list"]}}}`, keys, func(t *testing.T, s *stage) {
		for _, each := range keys[1:] {
			b := s.as(each)
			result, err := b.Call(t.Context(), core.ToolCall{Tool: "sessions_list"})
			require.NoError(t, err)
			require.Nil(t, result.Refused)
			s.do(core.Command{Delete: &core.Delete{Session: each}})
			before := s.everything()
			for tool, params := range map[string]string{
				"sessions_list": `{}`, "agents_list": `{}`, "sessions_history": `{"sessionKey":"main"}`, "sessions_spawn": `{"task":"x"}`,
				"sessions_send": `{"sessionKey":"main","message":"x","timeoutSeconds":0}`,
			} {
				result, err := b.Call(t.Context(), core.ToolCall{Tool: tool, Params: json.RawMessage(params)})
				require.NoError(t, err)
				if assert.NotNil(t, result.Refused, "%s as %s: %s", tool, each, result.Body) {
					assert.Equal(t, core.CodeNotFound, result.Refused.Code)
				}
			}
			assert.Equal(t, before, s.everything())
		}
		result, err := s.as("agent:main:main").Call(t.Context(), core.ToolCall{Tool: "sessions_list"})
		require.NoError(t, err)
		assert.Nil(t, result.Refused)
	})
}

// A mirrored session is not written to, reset or deleted; once it is adopted its agent answers, and all of it is still there.
func TestAdopt(t *testing.T) {
	play(t, "", nil, func(t *testing.T, s *stage) {
		s.put(core.Session{Key: "agent:main:mirror", SessionID: "m", Source: "/somewhere", Label: "old", ContextTokens: new(int64)})
		s.put(core.Session{Key: "agent:ghost:mirror", SessionID: "g", Source: "/somewhere"})
		s.say("agent:main:mirror", user("from there"))
		s.refuse(core.CodeMirrored, core.Command{Send: &core.Send{Session: "agent:main:mirror", Message: "hi"}})
		s.refuse(core.CodeMirrored, core.Command{Send: &core.Send{Session: "agent:main:mirror", Message: "/send off"}})
		s.refuse(core.CodeMirrored, core.Command{Reset: &core.Reset{Session: "agent:main:mirror"}})
		s.refuse(core.CodeMirrored, core.Command{Delete: &core.Delete{Session: "agent:main:mirror"}})
		assert.ErrorContains(t, s.refuse(core.CodeInvalidParams, core.Command{Adopt: &core.Adopt{Session: "agent:ghost:mirror"}}), "ghost")

		receipt := s.do(core.Command{Adopt: &core.Adopt{Session: "agent:main:mirror"}})
		assert.Nil(t, receipt.Undo)
		s.await(s.send("agent:main:mirror", "hi"))
		assert.Equal(t, []string{"user from there", "user hi", "assistant hi"}, s.transcript("agent:main:mirror"))
		assert.Equal(t, "old", s.detail("agent:main:mirror").Session.Label)
		assert.Nil(t, s.detail("agent:main:mirror").Session.ContextTokens, "another model answers here, whose window is not known")
		s.refuse(core.CodeConflict, core.Command{Adopt: &core.Adopt{Session: "agent:main:mirror"}})
	})
}

// What did not end ok is run again: same message, same provenance, a run of its own.
func TestRunAgain(t *testing.T) {
	play(t, "", []string{"agent:main:main", "agent:main:b"}, func(t *testing.T, s *stage) {
		failed := s.send("main", "[[fail:429]] try")
		s.await(failed)
		receipt := s.do(core.Command{Retry: &core.Retry{Run: failed}})
		require.NotEqual(t, failed, receipt.Run)
		old, _ := s.await(failed)
		run, _ := s.await(receipt.Run)
		assert.Equal(t, core.OutcomeError, run.Outcome)
		assert.Equal(t, old.Provenance, run.Provenance)
		lines := s.transcript("main")
		assert.Equal(t, []string{"user [[fail:429]] try", "user [[fail:429]] try"}, []string{lines[0], lines[2]})

		live := s.send("agent:main:b", "[[sleep:1h]]")
		queued := s.send("agent:main:b", "held up")
		synctest.Wait()
		s.refuse(core.CodeConflict, core.Command{Retry: &core.Retry{Run: live}})
		s.refuse(core.CodeConflict, core.Command{Retry: &core.Retry{Run: queued}})
		s.do(core.Command{Abort: &core.Abort{Run: queued}})
		s.do(core.Command{Abort: &core.Abort{Run: live}})
		s.await(live)
		s.do(core.Command{Hold: &core.Hold{}})
		again := s.do(core.Command{Retry: &core.Retry{Run: queued}})
		assert.ErrorContains(t, s.refuse(core.CodeConflict, core.Command{Retry: &core.Retry{Run: queued}}), again.Run, "a key pressed twice")
		s.do(core.Command{Hold: &core.Hold{Release: true}})
		_, reply := s.await(again.Run)
		assert.Equal(t, "held up", reply)
		s.refuse(core.CodeConflict, core.Command{Retry: &core.Retry{Run: again.Run}})
		s.refuse(core.CodeNotFound, core.Command{Retry: &core.Retry{Run: "nope"}})
		s.refuse(core.CodeInvalidParams, core.Command{Retry: &core.Retry{}})
		s.refuse(core.CodeInvalidParams, core.Command{Retry: &core.Retry{Run: "a", Delivery: "b"}})

		s.update(func(tx core.Tx) error {
			return tx.PutRun(core.Run{ID: "history", SessionKey: "agent:main:b", State: core.RunEnded, Outcome: core.OutcomeError, Mirrored: true, Message: "x"})
		})
		s.refuse(core.CodeMirrored, core.Command{Retry: &core.Retry{Run: "history"}})
	})
}

// What is held does not start, over a restart too; it is aborted and stopped like anything else, and starts when it is let go.
func TestHold(t *testing.T) {
	keys := []string{"agent:main:main", "agent:main:b", "agent:ops:main"}
	play(t, `agents: { list: [{ id: "main" }, { id: "ops" }] }`, keys, func(t *testing.T, s *stage) {
		for _, h := range []core.Hold{{Session: "main"}, {Agent: " Main "}, {}} {
			name := h.Session + h.Agent
			running := s.send("main", "[[sleep:60000]] on")
			synctest.Wait()
			receipt := s.do(core.Command{Hold: &h})
			require.NotNil(t, receipt.Undo, name)
			waits, aborted := s.send("main", "waits"), s.send("main", "never")
			free := s.send("agent:ops:main", "free")
			later(time.Hour)
			run, _ := s.await(running)
			assert.Equal(t, core.OutcomeOK, run.Outcome, "%s: what runs goes on", name)
			states := func() []core.RunState {
				var list []core.RunState
				for _, id := range []string{waits, free} {
					page, err := s.as("").Records(t.Context(), core.RecordQuery{Kind: core.RecordRun, Run: id})
					require.NoError(t, err)
					list = append(list, page.Runs[0].State)
				}
				return list
			}
			want := []core.RunState{core.RunQueued, core.RunEnded}
			if name == "" {
				want[1] = core.RunQueued
			}
			assert.Equal(t, want, states(), name)
			assert.Equal(t, name == "main", s.detail("main").Session.Held)
			s.do(core.Command{Abort: &core.Abort{Run: aborted}})

			s.kill()
			s.open(t)
			later(time.Hour)
			assert.Equal(t, want, states(), "%s: after a restart", name)
			assert.Equal(t, "was held already", s.do(core.Command{Hold: &h}).Outcome)
			s.do(*receipt.Undo)
			_, reply := s.await(waits)
			assert.Equal(t, "waits", reply, name)
			s.await(free)
			h.Release = true
			again := s.do(core.Command{Hold: &h})
			assert.Equal(t, "was not held", again.Outcome)
			assert.Nil(t, again.Undo)
		}
		s.refuse(core.CodeInvalidParams, core.Command{Hold: &core.Hold{Session: "main", Agent: "main"}})
		s.refuse(core.CodeInvalidParams, core.Command{Hold: &core.Hold{Agent: "ghost"}})
		s.refuse(core.CodeNotFound, core.Command{Hold: &core.Hold{Session: "agent:main:nobody"}})
	})
}
