package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordboard/core"
	"cordboard/core/config"
	"cordboard/core/engine"
	"cordboard/core/runtime/echo"
	"cordboard/core/runtime/manual"
	"cordboard/store/bolt"
)

// stage is an engine that runs echo agents, in a bubble where time passes only when all wait for it.
type stage struct {
	*bench
	dir, config string
	channels    map[string]core.Channel
	runtime     core.Runtime // of every agent; nil = echo
	ids         atomic.Int64
	log         *slog.Logger
	kill9       func(runID string, p core.Process) (bool, error)
	more        map[string]core.Runtime
	toolbox     core.Toolbox
}

// play runs a test on a stage with the given sessions.
func play(t *testing.T, configText string, keys []string, fn func(t *testing.T, s *stage)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &stage{dir: t.TempDir(), config: configText}
		s.open(t)
		defer s.close()
		for i, key := range keys {
			s.put(core.Session{Key: key, SessionID: fmt.Sprintf("sid%d", i), UpdatedAt: 1})
		}
		fn(t, s)
	})
}

func (s *stage) open(t *testing.T) {
	cfg, _, err := config.Parse("test.json5", []byte("{"+s.config+"}"))
	require.NoError(t, err)
	store, err := bolt.Open(bolt.Options{Dir: s.dir})
	require.NoError(t, err)
	if s.runtime == nil {
		s.runtime = echo.Runtime{Sleep: sleep}
	}
	runtimes := map[string]core.Runtime{"echo": s.runtime, "manual": manual.Runtime{}}
	maps.Copy(runtimes, s.more)
	e, err := engine.New(store, cfg, engine.Options{
		Owner: "test", Channels: s.channels, NewID: s.newID, Log: s.log, KillChild: s.kill9, Toolbox: s.toolbox, Runtimes: runtimes,
		Workspace: func(agent string) string { return filepath.Join(s.dir, "workspaces", agent) },
	})
	require.NoError(t, err)
	require.NoError(t, e.Start(t.Context()))
	s.bench = &bench{t: t, store: store, engine: e}
}

// reopen opens the stage anew with other surroundings.
func (s *stage) reopen(t *testing.T, change func()) {
	t.Helper()
	s.engine.Stop(context.Background())
	require.NoError(t, s.store.Close())
	change()
	s.open(t)
}

// newID counts; runs that go side by side ask for ids at once.
func (s *stage) newID() string { return fmt.Sprintf("n%d", s.ids.Add(1)) }

func (s *stage) close() {
	s.engine.Stop(context.Background())
	report, err := s.store.Examine(context.Background())
	require.NoError(s.t, err)
	assert.Empty(s.t, report.Findings)
	require.NoError(s.t, s.store.Close())
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

// send queues the operator's message and returns the run's id.
func (s *stage) send(session, message string) string {
	s.t.Helper()
	receipt, err := s.as("").Do(s.t.Context(), core.Command{Send: &core.Send{Session: session, Message: message}})
	require.NoError(s.t, err)
	return receipt.Run
}

// await waits for a run's end and returns it with its reply.
func (s *stage) await(id string) (core.Run, string) {
	s.t.Helper()
	page, err := s.as("").Records(s.t.Context(), core.RecordQuery{Kind: core.RecordRun, Run: id, Wait: 3_600_000})
	require.NoError(s.t, err)
	return page.Runs[0], page.Reply
}

// transcript is a session's messages as "role text".
func (s *stage) transcript(session string) []string {
	s.t.Helper()
	page, err := s.as("").Messages(s.t.Context(), core.MessageQuery{Session: session, Limit: 5000})
	require.NoError(s.t, err)
	list := []string{}
	for _, m := range page.Messages {
		text := ""
		for b := range core.Blocks(m.Raw) {
			if b.Type == "toolCall" {
				text += "→" + b.Name
			} else {
				text += b.Text
			}
		}
		list = append(list, m.Role.String()+" "+text)
	}
	return list
}

// A send with echo is three commits: queued, begun, ended (targets.md); message and answer are in the transcript, the row tells the rest.
func TestSendIsThreeCommits(t *testing.T) {
	play(t, "", []string{"agent:main:main"}, func(t *testing.T, s *stage) {
		before, err := s.store.Info(t.Context())
		require.NoError(t, err)
		run, reply := s.await(s.send("main", "[[tokens:12/34]] hello"))
		after, err := s.store.Info(t.Context())
		require.NoError(t, err)
		assert.Equal(t, core.Rev(3), after.Rev-before.Rev)
		assert.Equal(t, core.OutcomeOK, run.Outcome)
		assert.Equal(t, "hello", reply)
		assert.Equal(t, []string{"user [[tokens:12/34]] hello", "assistant hello"}, s.transcript("main"))
		detail, err := s.as("").Records(t.Context(), core.RecordQuery{Kind: core.RecordSession, Session: "main"})
		require.NoError(t, err)
		row := detail.Session.Session
		assert.Empty(t, row.LiveRun)
		assert.Equal(t, int64(46), *row.TotalTokens)
		assert.Equal(t, core.OutcomeOK, row.LastOutcome)
		assert.True(t, *row.SystemSent)
	})
}

// R055: tokens are the sum of the runs.
func TestTokensAddUp(t *testing.T) {
	play(t, "", []string{"agent:main:main"}, func(t *testing.T, s *stage) {
		for _, n := range []string{"10", "20", "30"} {
			s.await(s.send("main", "[[tokens:"+n+"]]"))
		}
		answer, _ := s.call("", "sessions_list", `{}`)
		assert.InDelta(t, 60, rows(t, answer)[0]["totalTokens"], 0)
	})
}

// R010, R011: fifty at once into one session are one after the other, each message before its answer; nothing is left behind.
func TestOneRunASession(t *testing.T) {
	play(t, "", []string{"agent:main:main"}, func(t *testing.T, s *stage) {
		var ids []string
		for i := range 50 {
			ids = append(ids, s.send("main", fmt.Sprintf("[[sleep:10]] m%d", i)))
		}
		var want []string
		for i, id := range ids {
			run, _ := s.await(id)
			assert.Equal(t, core.OutcomeOK, run.Outcome)
			want = append(want, fmt.Sprintf("user [[sleep:10]] m%d", i), fmt.Sprintf("assistant m%d", i))
		}
		assert.Equal(t, want, s.transcript("main"))
	})
}

// R007: nine sends of a second each to nine sessions take a second.
func TestSessionsRunSideBySide(t *testing.T) {
	var keys []string
	for i := range 9 {
		keys = append(keys, fmt.Sprintf("agent:main:s%d", i))
	}
	play(t, "", keys, func(t *testing.T, s *stage) {
		start := time.Now()
		var ids []string
		for _, key := range keys {
			ids = append(ids, s.send(key, "[[sleep:1000]]"))
		}
		for _, id := range ids {
			s.await(id)
		}
		assert.Equal(t, time.Second, time.Since(start))
	})
}

// How runs end: failing, breaking down, at their limit, aborted; each with exactly one final message, and the session free again.
func TestRunsEnd(t *testing.T) {
	play(t, `agents: { defaults: { timeoutSeconds: 5 } }`, []string{"agent:main:main"}, func(t *testing.T, s *stage) {
		for _, c := range []struct {
			message string
			outcome core.RunOutcome
			cause   string
		}{
			{"[[fail:429 too many]]", core.OutcomeError, "429 too many"},
			{"[[crash]]", core.OutcomeError, "broke down"},
			{"said [[sleep:1h]]", core.OutcomeTimeout, "time limit"},
		} {
			run, reply := s.await(s.send("main", c.message))
			assert.Equal(t, c.outcome, run.Outcome, c.message)
			assert.Contains(t, run.Error, c.cause)
			assert.Empty(t, reply)
		}
		first, second := s.send("main", "[[sleep:1h]]"), s.send("main", "never begun")
		synctest.Wait()
		for _, id := range []string{second, first} {
			_, err := s.as("").Do(t.Context(), core.Command{Abort: &core.Abort{Run: id}})
			require.NoError(t, err)
			run, _ := s.await(id)
			assert.Equal(t, core.OutcomeAborted, run.Outcome)
		}
		run, _ := s.await(second)
		assert.Equal(t, "never begun", run.Message, "a run that never began keeps its message")
		_, err := s.as("").Do(t.Context(), core.Command{Abort: &core.Abort{Run: first}})
		assert.Equal(t, core.CodeConflict, core.CodeOf(err))
		run, reply := s.await(s.send("main", "after all that"))
		assert.Equal(t, core.OutcomeOK, run.Outcome)
		assert.Equal(t, "after all that", reply)
		lines := s.transcript("main")
		for i, line := range lines {
			assert.Equal(t, i%2 == 0, strings.HasPrefix(line, "user"), "u1 a1 u2 a2 …: %v", lines)
		}
	})
}

// An abort a moment after the enqueue is not missed, begun or not.
func TestAbortAtOnce(t *testing.T) {
	play(t, "", []string{"agent:main:main"}, func(t *testing.T, s *stage) {
		for range 20 {
			id := s.send("main", "[[sleep:1h]]")
			_, err := s.as("").Do(t.Context(), core.Command{Abort: &core.Abort{Run: id}})
			require.NoError(t, err)
			run, _ := s.await(id)
			assert.Equal(t, core.OutcomeAborted, run.Outcome)
		}
	})
}

// A tool call and its result are in the transcript as they happen, under the policy of the run's session.
func TestToolCallsOfARun(t *testing.T) {
	play(t, "", []string{"agent:main:main", "agent:ops:main"}, func(t *testing.T, s *stage) {
		run, reply := s.await(s.send("main", `[[tool:sessions_list {}]]`))
		assert.Equal(t, core.OutcomeOK, run.Outcome)
		assert.Contains(t, reply, `"count":1`)
		assert.NotContains(t, reply, "agent:ops:main")
		lines := s.transcript("main")
		assert.Equal(t, "assistant →sessions_list", lines[1])
		assert.True(t, strings.HasPrefix(lines[2], "toolResult {\"count\":1"), lines[2])
	})
}

// A wait that runs out changes nothing, and whoever asks again gets the end (engine.md §2).
func TestWaits(t *testing.T) {
	play(t, "", []string{"agent:main:main"}, func(t *testing.T, s *stage) {
		id := s.send("main", "[[sleep:4000]] done")
		page, err := s.as("").Records(t.Context(), core.RecordQuery{Kind: core.RecordRun, Run: id, Wait: 1000})
		require.NoError(t, err)
		assert.Equal(t, core.RunRunning, page.Runs[0].State)
		_, reply := s.await(id)
		assert.Equal(t, "done", reply)
		_, reply = s.await(id)
		assert.Equal(t, "done", reply)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = s.as("").Records(ctx, core.RecordQuery{Kind: core.RecordRun, Run: s.send("main", "[[sleep:4000]]"), Wait: 60_000})
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		_, err = s.as("").Records(t.Context(), core.RecordQuery{Kind: core.RecordRun, Run: "nope"})
		assert.Equal(t, core.CodeNotFound, core.CodeOf(err))
	})
}

// chat.send refuses what must not be stored, and a repeated key is the same run.
func TestChatSendAdmission(t *testing.T) {
	play(t, `session: { sendPolicy: { rules: [{ match: { channel: "discord" }, action: "deny" }] } }`, []string{"agent:main:discord:group:x"}, func(t *testing.T, s *stage) {
		s.put(core.Session{Key: "agent:main:mirror", SessionID: "m", Source: "/somewhere"})
		for message, c := range map[string]struct {
			session string
			code    core.Code
		}{
			"a": {"agent:main:nobody", core.CodeNotFound}, "b": {"agent:main:mirror", core.CodeMirrored}, " \n": {"main", core.CodeInvalidParams},
			"\xff": {"main", core.CodeInvalidParams}, "c": {"agent:main:discord:group:x", core.CodeSendDenied}, "d": {"agent:ghost:main", core.CodeNotFound},
		} {
			_, err := s.as("").Do(t.Context(), core.Command{Send: &core.Send{Session: c.session, Message: message}})
			assert.Equal(t, c.code, core.CodeOf(err), "%s: %v", c.session, err)
		}
		page, err := s.as("").Records(t.Context(), core.RecordQuery{Kind: core.RecordRuns})
		require.NoError(t, err)
		assert.Empty(t, page.Runs)

		command := core.Command{Key: "mine", Send: &core.Send{Session: "main", Message: "once"}}
		for range 3 { // a configured agent's main comes into being by its first use
			receipt, err := s.as("").Do(t.Context(), command)
			require.NoError(t, err)
			assert.Equal(t, "mine", receipt.Run)
			s.await("mine")
		}
		assert.Equal(t, []string{"user once", "assistant once"}, s.transcript("main"))
		command.Send = &core.Send{Session: "main", Message: "twice"}
		_, err = s.as("").Do(t.Context(), command)
		assert.Equal(t, core.CodeIdempotency, core.CodeOf(err))
	})
}

// After a restart: what ran ended as interrupted with every call answered, what was queued runs, what waited too long does not.
func TestRecovery(t *testing.T) {
	play(t, "", []string{"agent:main:main", "agent:main:b"}, func(t *testing.T, s *stage) {
		running := s.send("main", "[[sleep:1h]]")
		queued := s.send("main", "later")
		synctest.Wait()
		s.kill()
		s.open(t)
		run, _ := s.await(running)
		assert.Equal(t, core.OutcomeInterrupted, run.Outcome)
		_, reply := s.await(queued)
		assert.Equal(t, "later", reply)
		assert.Equal(t, []string{"user [[sleep:1h]]", "assistant ", "user later", "assistant later"}, s.transcript("main"))

		old := s.send("agent:main:b", "[[sleep:1h]]")
		waiting := s.send("agent:main:b", "too late")
		synctest.Wait()
		s.kill()
		time.Sleep(11 * time.Minute)
		s.open(t)
		run, _ = s.await(waiting)
		assert.Equal(t, core.OutcomeInterrupted, run.Outcome)
		assert.Equal(t, "too late", run.Message)
		run, _ = s.await(old)
		assert.Equal(t, core.OutcomeInterrupted, run.Outcome)
	})
}

// kill ends the engine as a crash does: nothing of what runs is written any more.
func (s *stage) kill() {
	copyOf := s.t.TempDir()
	require.NoError(s.t, s.backup(copyOf))
	s.engine.Stop(context.Background())
	require.NoError(s.t, s.store.Close())
	s.dir = copyOf
}

// backup keeps the store as it is now under another directory.
func (s *stage) backup(dir string) error {
	return copyStore(s.store, dir)
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	require.NoError(t, err)
	return string(raw)
}
