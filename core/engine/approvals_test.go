package engine_test

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordboard/core"
)

func question(title string) core.Approval {
	return core.Approval{Title: title, Call: "c1", Options: []core.ApprovalOption{
		{ID: "y", Name: "Allow", Kind: "allow_once"}, {ID: "ever", Name: "Always", Kind: "allow_always"}, {ID: "n", Name: "Reject", Kind: "reject_once"},
	}}
}

func (s *stage) pending() []core.Approval {
	s.t.Helper()
	page, err := s.as("").Records(s.t.Context(), core.RecordQuery{Kind: core.RecordApprovals})
	require.NoError(s.t, err)
	return page.Approvals
}

// asker is a runtime's turn that asks and says what was chosen.
func asker(title string) func(context.Context, core.Sink) error {
	return func(ctx context.Context, out core.Sink) error {
		option, err := out.Ask(ctx, question(title))
		if err != nil {
			return err
		}
		return out.Text("chosen: " + option)
	}
}

// A run that asks for permission waits for the operator, who is told so on its session's row, and goes on with what he chose.
func TestAsksForPermission(t *testing.T) {
	for _, c := range []struct {
		name    string
		approve core.Approve // Run is filled in when all are blank
		want    string
	}{
		{"an option by its id", core.Approve{Option: "ever"}, "ever"},
		{"allow", core.Approve{Option: "allow"}, "y"},
		{"reject, by session", core.Approve{Session: "main", Option: "reject"}, "n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			speak(t, "", []string{"agent:main:main"}, func(t *testing.T, s *stage, say puppet) {
				say <- asker("run rm -rf build")
				run := s.send("main", "clean up")
				synctest.Wait()
				require.Len(t, s.pending(), 1)
				p := s.pending()[0]
				assert.Equal(t, "run rm -rf build", p.Title)
				assert.Equal(t, run, p.Run)
				assert.Equal(t, "agent:main:main", p.Session)
				assert.True(t, s.row("agent:main:main").Asks)

				if c.approve.Session == "" {
					c.approve.Run = run
				}
				receipt := s.do(core.Command{Approve: &c.approve})
				assert.Equal(t, c.want, receipt.Outcome)
				ended, reply := s.await(run)
				assert.Equal(t, core.OutcomeOK, ended.Outcome)
				assert.Equal(t, "chosen: "+c.want, reply)
				assert.False(t, s.row("agent:main:main").Asks)
				assert.Empty(t, s.pending())
				require.NoError(t, s.store.View(t.Context(), func(r core.Reader) error {
					return r.Audit(0, func(e *core.AuditEntry) bool {
						assert.Equal(t, "approve", e.Verb, "the newest")
						return false
					})
				}))
			})
		})
	}
}

func TestApproveRefuses(t *testing.T) {
	speak(t, "", []string{"agent:main:main", "agent:main:other"}, func(t *testing.T, s *stage, say puppet) {
		s.refuse(core.CodeInvalidParams, core.Command{Approve: &core.Approve{Option: "allow"}})
		s.refuse(core.CodeNotFound, core.Command{Approve: &core.Approve{Run: "nothing", Option: "allow"}})
		say <- asker("one")
		run := s.send("main", "x")
		synctest.Wait()
		err := s.refuse(core.CodeInvalidParams, core.Command{Approve: &core.Approve{Run: run, Option: "maybe"}})
		assert.ErrorContains(t, err, "allow, reject, y, ever, n")
		err = s.refuse(core.CodeConflict, core.Command{Reply: &core.Reply{Run: run, Text: "an answer"}})
		assert.ErrorContains(t, err, "does not wait for a reply")
		s.do(core.Command{Approve: &core.Approve{ID: s.pending()[0].ID, Option: "y"}})
		s.await(run)
		s.refuse(core.CodeNotFound, core.Command{Approve: &core.Approve{Run: run, Option: "y"}})
	})
}

// Two requests of one run are told apart by their ids.
func TestTwoRequestsOfOneRun(t *testing.T) {
	speak(t, "", []string{"agent:main:main"}, func(t *testing.T, s *stage, say puppet) {
		say <- func(ctx context.Context, out core.Sink) error {
			first := make(chan string)
			go func() {
				option, _ := out.Ask(ctx, question("first"))
				first <- option
			}()
			second, err := out.Ask(ctx, question("second"))
			if err != nil {
				return err
			}
			return out.Text(<-first + second)
		}
		run := s.send("main", "x")
		synctest.Wait()
		s.refuse(core.CodeAmbiguous, core.Command{Approve: &core.Approve{Run: run, Option: "y"}})
		for _, p := range s.pending() {
			s.do(core.Command{Approve: &core.Approve{ID: p.ID, Option: map[string]string{"first": "y", "second": "n"}[p.Title]}})
			synctest.Wait()
		}
		_, reply := s.await(run)
		assert.Equal(t, "yn", reply)
	})
}

// What ends the run ends its request; the time it waited for the operator is not counted on its limit.
func TestRequestEndsWithItsRun(t *testing.T) {
	speak(t, `agents: { defaults: { timeoutSeconds: 60 } }`, []string{"agent:main:main"}, func(t *testing.T, s *stage, say puppet) {
		say <- asker("patience")
		run := s.send("main", "x")
		time.Sleep(5 * time.Hour)
		synctest.Wait()
		require.Len(t, s.pending(), 1, "a person may take hours")
		s.do(core.Command{Approve: &core.Approve{Run: run, Option: "y"}})
		ended, _ := s.await(run)
		assert.Equal(t, core.OutcomeOK, ended.Outcome)

		say <- func(ctx context.Context, out core.Sink) error {
			if _, err := out.Ask(ctx, question("then hangs")); err != nil {
				return err
			}
			<-ctx.Done()
			return ctx.Err()
		}
		run = s.send("main", "x")
		time.Sleep(time.Hour)
		s.do(core.Command{Approve: &core.Approve{Run: run, Option: "y"}})
		ended, _ = s.await(run)
		assert.Equal(t, core.OutcomeTimeout, ended.Outcome)

		say <- asker("aborted")
		run = s.send("main", "x")
		synctest.Wait()
		s.do(core.Command{Abort: &core.Abort{Run: run}})
		ended, _ = s.await(run)
		assert.Equal(t, core.OutcomeAborted, ended.Outcome)
		assert.Empty(t, s.pending())
		assert.False(t, s.row("agent:main:main").Asks)
	})
}

// A runtime that takes its question back leaves nobody waiting.
func TestQuestionTakenBack(t *testing.T) {
	speak(t, "", []string{"agent:main:main"}, func(t *testing.T, s *stage, say puppet) {
		say <- func(ctx context.Context, out core.Sink) error {
			asking, cancel := context.WithTimeout(ctx, time.Minute)
			defer cancel()
			if _, err := out.Ask(asking, question("never mind")); err == nil {
				return out.Text("answered")
			}
			if _, err := out.Ask(ctx, core.Approval{Title: "no options"}); err == nil {
				return out.Text("answered")
			}
			time.Sleep(time.Minute)
			return out.Text("went on")
		}
		run := s.send("main", "x")
		time.Sleep(90 * time.Second)
		synctest.Wait()
		assert.False(t, s.row("agent:main:main").Asks)
		assert.Empty(t, s.pending())
		_, reply := s.await(run)
		assert.Equal(t, "went on", reply)
	})
}

// The slot of a run that waits for the operator is another's meanwhile.
func TestAskingHoldsNoSlot(t *testing.T) {
	speak(t, `agents: { defaults: { maxConcurrent: 1 } }`, []string{"agent:main:main", "agent:main:other"}, func(t *testing.T, s *stage, say puppet) {
		say <- asker("slot")
		first := s.send("main", "x")
		synctest.Wait()
		say <- func(_ context.Context, out core.Sink) error { return out.Text("meanwhile") }
		_, reply := s.await(s.send("agent:main:other", "y"))
		assert.Equal(t, "meanwhile", reply)
		s.do(core.Command{Approve: &core.Approve{Run: first, Option: "n"}})
		_, reply = s.await(first)
		assert.Equal(t, "chosen: n", reply)
	})
}

// Tool calls that a runtime carries out itself stand in the transcript like any other, and one left open is closed.
func TestToolsOfARuntimesOwn(t *testing.T) {
	speak(t, "", []string{"agent:main:main"}, func(t *testing.T, s *stage, say puppet) {
		say <- func(ctx context.Context, out core.Sink) error {
			_ = out.Text("let me look")
			if err := out.Began(ctx, "t1", "read", json.RawMessage(`{"path":"a"}`)); err != nil {
				return err
			}
			if err := out.Ended(ctx, "t1", "contents", false); err != nil {
				return err
			}
			assert.Error(t, out.Ended(ctx, "t1", "again", false))
			assert.Error(t, out.Ended(ctx, "t9", "never began", false))
			if err := out.Began(ctx, "t2", "shell", nil); err != nil {
				return err
			}
			return out.Text("done")
		}
		run := s.send("main", "go")
		ended, reply := s.await(run)
		assert.Equal(t, core.OutcomeOK, ended.Outcome)
		assert.Equal(t, "done", reply)
		assert.Equal(t, []string{
			"user go", "assistant let me look→read", "toolResult contents", "assistant →shell", "toolResult the run ended before this call was answered", "assistant done",
		}, s.transcript("main"))
	})
}

// The limit that a sub-agent was given by name counts whoever it waits for (session-tools.md §8).
func TestLimitOfASubagentThatAsks(t *testing.T) {
	speak(t, "", []string{"agent:main:main"}, func(t *testing.T, s *stage, say puppet) {
		say <- asker("wait for me")
		body, code := s.call("agent:main:main", "sessions_spawn", `{"task":"ask","runTimeoutSeconds":60}`)
		require.Empty(t, code)
		id, _ := body["runId"].(string)
		run, _ := s.await(id)
		assert.Equal(t, core.OutcomeTimeout, run.Outcome)
		assert.Equal(t, int64(60_000), run.EndedAt-run.StartedAt)
		assert.Empty(t, s.pending())
	})
}
