package engine_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordboard/core"
	"cordboard/store/bolt"
)

// byHand is a fleet whose agent `desk` is answered by the operator.
const byHand = `agents: { defaults: { timeoutSeconds: 5, maxConcurrent: 1 }, list: [{ id: "main" }, { id: "desk", runtime: "manual" }] }`

func (s *stage) answer(run, text string) (core.Receipt, error) {
	s.t.Helper()
	return s.as("").Do(s.t.Context(), core.Command{Reply: &core.Reply{Run: run, Text: text}})
}

func (s *stage) row(session string) core.Session {
	s.t.Helper()
	page, err := s.as("").Records(s.t.Context(), core.RecordQuery{Kind: core.RecordSession, Session: session})
	require.NoError(s.t, err)
	return page.Session.Session
}

// A run of a manual agent waits on a person for as long as it takes, and no lane waits with it; the answer is its final message.
func TestManualRun(t *testing.T) {
	play(t, byHand, []string{"agent:desk:main", "agent:main:main"}, func(t *testing.T, s *stage) {
		id := s.send("agent:desk:main", "Can you take this?")
		synctest.Wait()
		row := s.row("agent:desk:main")
		assert.True(t, row.Asks)
		assert.Equal(t, id, row.LiveRun)
		page, err := s.as("").Sessions(t.Context(), core.SessionQuery{Agent: "desk"})
		require.NoError(t, err)
		assert.True(t, page.Rows[0].Flags.Has(core.FlagAsks))
		_, reply := s.await(s.send("main", "meanwhile"))
		assert.Equal(t, "meanwhile", reply, "the only slot of the lane is not the waiting run's")

		time.Sleep(48 * time.Hour)
		synctest.Wait()
		receipt, err := s.answer(id, "Yes,\n I can. ")
		require.NoError(t, err)
		assert.Equal(t, core.Receipt{Rev: receipt.Rev, Key: "agent:desk:main", Run: id}, receipt)
		run, reply := s.await(id)
		assert.Equal(t, core.OutcomeOK, run.Outcome)
		assert.Equal(t, "Yes,\n I can. ", reply)
		assert.Empty(t, run.Model, "no model answered")
		assert.Equal(t, []string{"user Can you take this?", "assistant Yes,\n I can. "}, s.transcript("agent:desk:main"))
		row = s.row("agent:desk:main")
		assert.False(t, row.Asks)
		assert.Empty(t, row.LiveRun)

		var said core.AuditEntry
		require.NoError(t, s.store.View(t.Context(), func(r core.Reader) error {
			return r.Audit(0, func(e *core.AuditEntry) bool {
				said = *e
				return false
			})
		}))
		assert.Equal(t, []string{"operator", "reply", "agent:desk:main", "ok"}, []string{said.Who, said.Verb, said.Target, said.Result})
		assert.JSONEq(t, `{"run":"`+id+`"}`, string(said.After))
		assert.Equal(t, receipt.Rev, said.Rev)
	})
}

// Agents talk to a manual one as to any other: the sender gets the reply, turns and announce ask the operator again.
func TestManualExchange(t *testing.T) {
	play(t, byHand+","+open+`, session: { agentToAgent: { maxPingPongTurns: 2 } }`, []string{"agent:main:main", "agent:desk:main"}, func(t *testing.T, s *stage) {
		answered := func(text string) {
			synctest.Wait()
			_, err := s.answer(s.row("agent:desk:main").LiveRun, text)
			require.NoError(t, err)
		}
		answer, _ := s.tell("agent:main:main", "agent:desk:main", "hello", 0)
		answered("first")
		_, reply := s.await(answer["runId"].(string))
		assert.Equal(t, "first", reply)
		answered("[[say:second]]") // turn 2, after main's turn
		answered("ANNOUNCE_SKIP")
		x, runs := s.exchangeOf(answer["exchangeId"])
		assert.Equal(t, core.ExchangeSkipped, x.State)
		assert.Equal(t, "turns", x.Reason)
		assert.Len(t, runs, 4)
		assert.Equal(t, "[[say:second]]", x.LatestReply)
	})
}

// While a manual run waits, the operator may act as its session: the call is the run's, and gives back no slot that it did not take.
func TestManualRunSends(t *testing.T) {
	play(t, byHand+","+open+`, session: { agentToAgent: { maxPingPongTurns: 0, announce: false } }`, []string{"agent:main:main", "agent:desk:main"},
		func(t *testing.T, s *stage) {
			id := s.send("agent:desk:main", "ask main")
			synctest.Wait()
			answer, _ := s.tell("agent:desk:main", "agent:main:main", "[[say:42]]", 30)
			assert.Equal(t, "42", answer["reply"])
			run, _ := s.await(answer["runId"].(string))
			assert.Equal(t, id, run.ParentRunID)
			assert.Equal(t, 1, run.Hop)
			_, reply := s.await(s.send("main", "still free"))
			assert.Equal(t, "still free", reply)
			_, err := s.answer(id, "main says 42")
			require.NoError(t, err)
		})
}

// What cannot be answered says why, and nothing is stored.
func TestReplyRefusals(t *testing.T) {
	play(t, byHand, []string{"agent:desk:main", "agent:main:main"}, func(t *testing.T, s *stage) {
		first, second, echoes := s.send("agent:desk:main", "one"), s.send("agent:desk:main", "two"), s.send("main", "[[sleep:1h]]")
		s.await(echoes)
		third := s.send("main", "[[sleep:4000]]")
		synctest.Wait()
		before, err := s.store.Info(t.Context())
		require.NoError(t, err)
		for name, c := range map[string]struct {
			run, text string
			code      core.Code
			says      string
		}{
			"unknown":  {"nope", "x", core.CodeNotFound, `no run "nope"`},
			"blank":    {first, " \n", core.CodeInvalidParams, "blank"},
			"no UTF-8": {first, "\xff", core.CodeInvalidParams, "UTF-8"},
			"queued":   {second, "x", core.CodeConflict, "still queued"},
			"ended":    {echoes, "x", core.CodeConflict, "has ended already: timeout"},
			"echo":     {third, "x", core.CodeConflict, `the runtime "echo" plays its agent`},
		} {
			_, err := s.answer(c.run, c.text)
			assert.Equal(t, c.code, core.CodeOf(err), "%s: %v", name, err)
			assert.ErrorContains(t, err, c.says, name)
		}
		_, err = s.as("agent:desk:main").Do(t.Context(), core.Command{Reply: &core.Reply{Run: first, Text: "x"}})
		assert.Equal(t, core.CodeReadOnly, core.CodeOf(err), "an agent does not answer for the operator")
		after, err := s.store.Info(t.Context())
		require.NoError(t, err)
		assert.Equal(t, before.Rev+7, after.Rev, "each refusal leaves its audit entry and nothing else")
		_, err = s.answer(first, "answered")
		require.NoError(t, err)
		_, err = s.answer(first, "answered twice")
		assert.Equal(t, core.CodeConflict, core.CodeOf(err))
	})
}

// Abort, stop, drain and a crash end a manual run as any other; afterwards its session asks no more.
func TestManualRunsEnd(t *testing.T) {
	play(t, byHand, []string{"agent:desk:main"}, func(t *testing.T, s *stage) {
		ended := func(want core.RunOutcome, id string) {
			run, _ := s.await(id)
			assert.Equal(t, want, run.Outcome, run.Error)
			assert.False(t, s.row("agent:desk:main").Asks)
			_, err := s.answer(id, "too late")
			assert.Equal(t, core.CodeConflict, core.CodeOf(err))
		}
		id := s.send("agent:desk:main", "x")
		synctest.Wait()
		_, err := s.as("").Do(t.Context(), core.Command{Abort: &core.Abort{Run: id}})
		require.NoError(t, err)
		ended(core.OutcomeAborted, id)

		id = s.send("agent:desk:main", "x")
		synctest.Wait()
		_, err = s.as("").Do(t.Context(), core.Command{Stop: &core.Stop{Session: "agent:desk:main"}})
		require.NoError(t, err)
		ended(core.OutcomeAborted, id)

		id = s.send("agent:desk:main", "x")
		synctest.Wait()
		s.kill()
		assert.True(t, s.diskRow(t, "agent:desk:main").Asks, "the crash left it so")
		s.open(t)
		ended(core.OutcomeInterrupted, id)

		id = s.send("agent:desk:main", "x")
		synctest.Wait()
		began := time.Now()
		s.engine.Stop(context.Background())
		assert.Equal(t, 30*time.Second, time.Since(began), "engine.drain")
		require.NoError(t, s.store.Close())
		s.open(t)
		ended(core.OutcomeInterrupted, id)
	})
}

// diskRow is a session as a store that nobody has opened holds it.
func (s *stage) diskRow(t *testing.T, key string) (row core.Session) {
	store, err := bolt.Open(bolt.Options{Dir: s.dir})
	require.NoError(t, err)
	require.NoError(t, store.View(t.Context(), func(r core.Reader) (err error) {
		row, _, err = r.Session(key)
		return err
	}))
	require.NoError(t, store.Close())
	return row
}

// What broke stands in the run, in one line; where it broke stands in the log, without the message.
func TestCrashIsOneLine(t *testing.T) {
	var log bytes.Buffer
	play(t, "", []string{"agent:main:main"}, func(t *testing.T, s *stage) {
		s.engine.Stop(context.Background())
		require.NoError(t, s.store.Close())
		s.log = slog.New(slog.NewJSONHandler(&log, nil))
		s.open(t)
		run, _ := s.await(s.send("main", "a secret [[crash]]"))
		assert.Equal(t, core.OutcomeError, run.Outcome)
		assert.Equal(t, "the runtime broke down: crashed as the message asked", run.Error)
		synctest.Wait()
		assert.Equal(t, 2, strings.Count(log.String(), "\n"), "that it broke, and how the run ended")
		assert.Contains(t, log.String(), "goroutine")
		assert.Contains(t, log.String(), run.ID)
		assert.NotContains(t, log.String(), "secret")
	})
}
