package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordboard/core"
	"cordboard/core/runtime/echo"
)

// The rows of session-tools.md §6 and the cases F and a1 that name sends, each by its number.

const quiet = open + `, session: { agentToAgent: { maxPingPongTurns: 0, announce: false } }`

var pair = []string{"agent:main:main", "agent:ops:main"}

// runsOf are a session's runs, oldest first.
func (s *stage) runsOf(session string) (list []core.Run) {
	s.t.Helper()
	page, err := s.as("").Records(s.t.Context(), core.RecordQuery{Kind: core.RecordRuns, Session: session, Limit: 1000})
	require.NoError(s.t, err)
	for _, run := range page.Runs {
		list = append([]core.Run{run}, list...)
	}
	return list
}

func (s *stage) patch(session string, policy core.SendPolicy) {
	s.t.Helper()
	_, err := s.as("").Do(s.t.Context(), core.Command{Patch: &core.Patch{Session: session, SendPolicy: &policy}})
	require.NoError(s.t, err)
}

// F117, F130, R022, R024: what is refused is refused by name, with the key that decided, before anything is written.
func TestRefusedSendsStoreNothing(t *testing.T) {
	list := open + `, session: { sendPolicy: { rules: [{ match: { channel: "discord", chatType: "group" }, action: "deny" }] } }`
	only := `tools: { sessions: { visibility: "all" }, agentToAgent: { enabled: true, allow: ["x", "main"] } }`
	for name, c := range map[string]struct {
		config, params string
		code           core.Code
		status, key    string
		says           []string
	}{
		"F117 another agent": {
			"", `{"sessionKey":"agent:ops:main","message":"x","timeoutSeconds":0}`, core.CodeForbidden, "forbidden", "tools.sessions.visibility",
			[]string{"tools.sessions.visibility", "tools.agentToAgent"},
		},
		"R024 not in the list": {
			only, `{"sessionKey":"agent:ops:main","message":"x"}`, core.CodeForbidden, "forbidden", "tools.agentToAgent.allow", []string{"ops"},
		},
		"F131 denied": {
			list, `{"sessionKey":"agent:ops:discord:group:dev","message":"x"}`, core.CodeSendDenied, "error", "session.sendPolicy.rules[0]",
			[]string{`channel: "discord", chatType: "group"`},
		},
		"R022 mistyped":      {open, `{"sessionKey":"agent:ops:mian","message":"x"}`, core.CodeNotFound, "error", "", []string{"agent:ops:mian"}},
		"R022 an id":         {open, `{"sessionKey":"4c2c2bb0-6d5e-4ea5-8e0a-6cc5ac4fb9c4","message":"x"}`, core.CodeNotFound, "error", "", nil},
		"reserved":           {open, `{"sessionKey":"global","message":"x"}`, core.CodeNotFound, "error", "", nil},
		"mirrored":           {open, `{"sessionKey":"agent:ops:mirror","message":"x"}`, core.CodeMirrored, "error", "", []string{"/d"}},
		"blank":              {open, `{"sessionKey":"agent:ops:main","message":" \n\t"}`, core.CodeInvalidParams, "error", "", []string{"message", "blank"}},
		"no message":         {open, `{"sessionKey":"agent:ops:main"}`, core.CodeInvalidParams, "error", "", []string{"message"}},
		"not UTF-8":          {open, "{\"sessionKey\":\"agent:ops:main\",\"message\":\"a\xff\"}", core.CodeInvalidParams, "error", "", []string{"UTF-8"}},
		"negative":           {open, `{"sessionKey":"agent:ops:main","message":"x","timeoutSeconds":-1}`, core.CodeInvalidParams, "error", "", []string{"timeoutSeconds", "-1", "86400"}},
		"NaN":                {open, `{"sessionKey":"agent:ops:main","message":"x","timeoutSeconds":NaN}`, core.CodeInvalidParams, "error", "", nil},
		"a string":           {open, `{"sessionKey":"agent:ops:main","message":"x","timeoutSeconds":"5"}`, core.CodeInvalidParams, "error", "", []string{"timeoutSeconds"}},
		"a billion":          {open, `{"sessionKey":"agent:ops:main","message":"x","timeoutSeconds":1e9}`, core.CodeInvalidParams, "error", "", []string{"timeoutSeconds", "86400"}},
		"an unknown name":    {open, `{"sessionKey":"agent:ops:main","message":"x","timeout":1}`, core.CodeInvalidParams, "error", "", []string{`timeout`}},
		"R025 a wrong shape": {open, `{"sessionKey":["agent:ops:main"],"message":"x"}`, core.CodeInvalidParams, "error", "", []string{"sessionKey"}},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, c.config, append([]string{"agent:ops:discord:group:dev"}, pair...), func(t *testing.T, s *stage) {
				s.put(core.Session{Key: "agent:ops:mirror", SessionID: "m", Source: "/d"})
				before, err := s.store.Info(t.Context())
				require.NoError(t, err)
				answer, code := s.call("agent:main:main", "sessions_send", c.params)
				assert.Equal(t, c.code, code, "%v", answer)
				assert.Equal(t, c.status, answer["status"])
				assert.NotContains(t, answer, "runId")
				if c.key != "" {
					assert.Equal(t, c.key, answer["configKey"])
				}
				for _, word := range c.says {
					assert.Contains(t, answer["error"], word)
				}
				revisions, err := s.store.Changes(t.Context(), before.Rev, 100)
				require.NoError(t, err)
				for _, revision := range revisions {
					assert.Empty(t, revision.Changes, "the audit tells of it, and nothing else is written")
				}
			})
		})
	}
}

// R022: what is hidden and what is not there are told in the same words.
func TestHiddenAndAbsentTargetsAreAlike(t *testing.T) {
	play(t, `tools: { sessions: { visibility: "tree" } }`, []string{"agent:main:main", "agent:main:hidden"}, func(t *testing.T, s *stage) {
		s.put(core.Session{Key: "agent:main:child", SessionID: "hidden-id", SpawnedBy: "agent:main:hidden"})
		for _, names := range [][2]string{{"agent:main:hidden", "agent:main:absent"}, {"hidden-id", "absent-id"}} {
			there, code := s.tell("agent:main:main", names[0], "x", 0)
			away, other := s.tell("agent:main:main", names[1], "x", 0)
			assert.Equal(t, other, code)
			assert.Equal(t, strings.ReplaceAll(away["error"].(string), names[1], names[0]), there["error"])
		}
	})
}

// F118, F124, F133 and the fractions: what each row of the table answers.
func TestSendRows(t *testing.T) {
	for name, c := range map[string]struct {
		message  string
		timeout  string
		status   string
		reply    any
		outcome  any
		took     time.Duration
		says     string
		delivery bool
	}{
		"F118 accepted":         {"pong", "0", "accepted", nil, nil, 0, "", true},
		"-0 is 0":               {"pong", "-0", "accepted", nil, nil, 0, "", true},
		"F119 ok":               {"[[say:done]]", "1", "ok", "done", nil, 0, "", true},
		"F124 ok before":        {"[[sleep:300]] pong", "1", "ok", "pong", nil, 300 * time.Millisecond, "", true},
		"no text":               {"[[say:]]", "1", "ok", nil, nil, 0, "", true},
		"a fraction rounds up":  {"[[sleep:1900]] pong", "1.2", "ok", "pong", nil, 1900 * time.Millisecond, "", true},
		"a fraction above 0":    {"[[sleep:900]] pong", "0.001", "ok", "pong", nil, 900 * time.Millisecond, "", true},
		"R001 timeout":          {"[[sleep:4000]] late", "1", "timeout", nil, nil, time.Second, "the run goes on; sessions_history will hold the reply", false},
		"the longest":           {"[[sleep:50s]] late", "86400", "ok", "late", nil, 50 * time.Second, "", true},
		"R005 the model failed": {"[[sleep:100]] [[fail:429 rate limit]]", "30", "error", nil, "error", 100 * time.Millisecond, "429 rate limit", false},
		"it broke down":         {"[[crash]]", "30", "error", nil, "error", 0, "broke down", false},
		"R036 its own limit":    {"[[sleep:2m]]", "300", "error", nil, "timeout", time.Minute, "time limit", false},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, quiet+`, agents: { defaults: { timeoutSeconds: 60 } }`, pair, func(t *testing.T, s *stage) {
				start := time.Now()
				answer, code := s.tell("agent:main:main", "agent:ops:main", c.message, c.timeout)
				require.Empty(t, code)
				assert.Equal(t, c.took, time.Since(start))
				assert.Equal(t, c.status, answer["status"])
				assert.Equal(t, c.reply, answer["reply"])
				assert.Equal(t, c.outcome, answer["outcome"])
				assert.NotEmpty(t, answer["runId"])
				assert.Equal(t, "agent:ops:main", answer["sessionKey"])
				assert.Equal(t, c.delivery, answer["delivery"] != nil)
				assert.Equal(t, c.delivery, answer["exchangeId"] != nil)
				if c.says != "" {
					assert.Contains(t, answer["error"], c.says)
				}
				run, _ := s.await(answer["runId"].(string))
				assert.Equal(t, core.RunEnded, run.State)
				again, _ := s.tell("agent:main:main", "agent:ops:main", "after", 30)
				assert.Equal(t, "after", again["reply"], "whatever happened, the session is free")
			})
		})
	}
}

// F133: a run that answers the same as the one before still has its reply, and one that wrote nothing never shows an older one.
func TestRepliesAreNeverStale(t *testing.T) {
	play(t, quiet, pair, func(t *testing.T, s *stage) {
		for _, want := range []any{"same", "same", nil, "same"} {
			message := "[[say:same]]"
			if want == nil {
				message = "[[say:]]"
			}
			answer, _ := s.tell("agent:main:main", "agent:ops:main", message, 5)
			assert.Equal(t, want, answer["reply"])
		}
	})
}

// A message of 10 MB arrives whole, and the reply of it too.
func TestHugeMessage(t *testing.T) {
	play(t, quiet, pair, func(t *testing.T, s *stage) {
		text := strings.Repeat("ä€😀\n", 1<<20)
		answer, code := s.tell("agent:main:main", "agent:ops:main", text, 30)
		require.Empty(t, code)
		assert.Equal(t, "ok", answer["status"])
		assert.True(t, strings.TrimSpace(text) == answer["reply"], "the reply is the message")
		page, err := s.as("").Messages(t.Context(), core.MessageQuery{Session: "agent:ops:main", Oldest: true, Limit: 1})
		require.NoError(t, err)
		require.True(t, len(page.Messages) == 1)
		for block := range core.Blocks(page.Messages[0].Raw) {
			assert.True(t, text == block.Text, "stored byte for byte")
		}
	})
}

// R004, R006 and the waits of engine.md §2: a timeout names the run; whoever waits for it again gets its end, before and after a clean
// restart and after a crash, then with the truth.
func TestTimedOutSendIsAskedForAgain(t *testing.T) {
	for name, c := range map[string]struct {
		away    func(s *stage)
		outcome core.RunOutcome
		reply   string
	}{
		"still there":   {func(*stage) {}, core.OutcomeOK, "late"},
		"clean restart": {(*stage).restart, core.OutcomeOK, "late"},
		"killed":        {(*stage).killAndOpen, core.OutcomeInterrupted, ""},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, quiet, pair, func(t *testing.T, s *stage) {
				answer, _ := s.tell("agent:main:main", "agent:ops:main", "[[sleep:4000]] late", 1)
				require.Equal(t, "timeout", answer["status"])
				c.away(s)
				run, reply := s.await(answer["runId"].(string))
				assert.Equal(t, c.outcome, run.Outcome)
				assert.Equal(t, c.reply, reply)
				assert.Len(t, s.runsOf("agent:ops:main"), 1, "nothing was sent twice")
				assert.Equal(t, []string{"user [[sleep:4000]] late", "assistant " + c.reply}, s.transcript("agent:ops:main"))
			})
		})
	}
}

// restart ends the engine as serve does and opens the next: what runs gets engine.drain to end.
func (s *stage) restart() {
	s.engine.Stop(context.Background())
	require.NoError(s.t, s.store.Close())
	s.open(s.t)
}

func (s *stage) killAndOpen() {
	s.kill()
	s.open(s.t)
}

// A send with a key is one send, however often it is asked for; another message under the key is refused; a restart forgets neither.
func TestSendTwiceUnderOneKey(t *testing.T) {
	play(t, quiet, pair, func(t *testing.T, s *stage) {
		call := func(key, message string) map[string]any {
			result, err := s.as("agent:main:main").Call(t.Context(), core.ToolCall{Tool: "sessions_send", Key: key, Params: json.RawMessage(
				`{"sessionKey":"agent:ops:main","message":` + jsonOf(t, message) + `,"timeoutSeconds":1}`)})
			require.NoError(t, err)
			var answer map[string]any
			require.NoError(t, json.Unmarshal(result.Body, &answer))
			return answer
		}
		first := call("k", "[[sleep:1500]] once")
		assert.Equal(t, "timeout", first["status"])
		second := call("k", "[[sleep:1500]] once")
		assert.Equal(t, "ok", second["status"])
		assert.Equal(t, "once", second["reply"])
		assert.Equal(t, first["runId"], second["runId"])
		assert.Equal(t, first["sessionKey"], second["sessionKey"])
		s.killAndOpen()
		third := call("k", "[[sleep:1500]] once")
		assert.Equal(t, second, third)
		other := call("k", "other")
		assert.Equal(t, string(core.CodeIdempotency), other["code"])
		assert.Len(t, s.runsOf("agent:ops:main"), 1)
		assert.NotEqual(t, first["runId"], call("k2", "[[sleep:1500]] once")["runId"])
	})
}

// R007: nine sends of a second each to nine targets, asked for at once, are all answered after a second.
func TestNineSendsAtOnce(t *testing.T) {
	keys := []string{"agent:main:main"}
	for i := range 9 {
		keys = append(keys, fmt.Sprintf("agent:main:s%d", i))
	}
	play(t, quiet, keys, func(t *testing.T, s *stage) {
		start := time.Now()
		var all sync.WaitGroup
		for _, key := range keys[1:] {
			all.Go(func() {
				answer, _ := s.tell("agent:main:main", key, "[[sleep:1000]] done", 3)
				assert.Equal(t, "done", answer["reply"])
			})
		}
		all.Wait()
		assert.Less(t, time.Since(start), 3*time.Second)
	})
}

// R009: the requester's turn of the loop comes after the run that sent, and the send returns when round 1 ends.
func TestReplyBackWaitsForTheSender(t *testing.T) {
	play(t, open, pair, func(t *testing.T, s *stage) {
		id := s.send("main", `[[tool:sessions_send {"sessionKey":"agent:ops:main","message":"[[sleep:1000]] pong"}]][[sleep:5000]][[say:used it]]`)
		run, reply := s.await(id)
		assert.Equal(t, "used it", reply)
		assert.Equal(t, int64(6000), run.EndedAt-run.StartedAt)
		later(time.Hour)
		runs := s.runsOf("main")
		require.Len(t, runs, 4, "the run that sent, and turns 1, 3 and 5")
		assert.Equal(t, core.RunTurn, runs[1].Kind)
		assert.GreaterOrEqual(t, runs[1].StartedAt, run.EndedAt)
	})
}

// R021: a child is who was spawned, whatever its key looks like: one run, no loop, no announce, in both directions of age.
func TestSendToOnesOwnChild(t *testing.T) {
	play(t, "", []string{"agent:main:main"}, func(t *testing.T, s *stage) {
		for i, key := range []string{"agent:odd:telegram:group:-1", "cron:job", "agent:main:subagent:u", "node-x"} {
			s.put(core.Session{Key: key, SessionID: "c" + fmt.Sprint(i), SpawnedBy: "agent:main:main", LastChannel: "telegram", LastTo: "5"})
			answer, code := s.tell("agent:main:main", key, "work [[announce:no]]", 30)
			require.Empty(t, code, "%v", answer)
			assert.Equal(t, "work", answer["reply"])
			assert.NotContains(t, answer, "exchangeId")
			later(time.Hour)
			assert.Len(t, s.runsOf(key), 1, key)
		}
		assert.Empty(t, s.rows())
		assert.Empty(t, s.transcript("main"))
	})
}

// R028: whether agents may write to each other has no say in whether an agent writes to its own child.
func TestOwnChildNeedsNoSwitch(t *testing.T) {
	for _, enabled := range []bool{false, true} {
		play(t, fmt.Sprintf(`tools: { agentToAgent: { enabled: %v } }`, enabled), pair[:1], func(t *testing.T, s *stage) {
			s.put(core.Session{Key: "agent:ops:subagent:x", SessionID: "c", SpawnedBy: "agent:main:main"})
			answer, _ := s.tell("agent:main:main", "agent:ops:subagent:x", "hi", 5)
			assert.Equal(t, "hi", answer["reply"])
		})
	}
}

// R029, R030: the text is stored as it was sent, and who sent it beside it, a person who sends as a session included.
func TestWhoSentIsKeptBesideTheText(t *testing.T) {
	play(t, quiet, pair, func(t *testing.T, s *stage) {
		s.put(core.Session{Key: "agent:main:main", SessionID: "sid0", LastChannel: "whatsapp", LastTo: "+1"})
		_, code := s.tell("agent:main:main", "agent:ops:main", "x", 5)
		require.Empty(t, code)
		result, err := s.as("").Call(t.Context(), core.ToolCall{
			As: "agent:main:main", Tool: "sessions_send", Params: json.RawMessage(`{"sessionKey":"agent:ops:main","message":"y"}`),
		})
		require.NoError(t, err)
		require.Nil(t, result.Refused)
		s.await(s.send("agent:ops:main", "z"))
		page, err := s.as("").Messages(t.Context(), core.MessageQuery{Session: "agent:ops:main"})
		require.NoError(t, err)
		agent := core.Provenance{Kind: "inter_session", SourceSessionKey: "agent:main:main", SourceChannel: "whatsapp", SourceTool: "sessions_send"}
		byHand := agent
		byHand.Via = "operator"
		for i, want := range []core.Provenance{agent, byHand, {Kind: "external_user"}} {
			got, ok := core.ProvenanceOf(page.Messages[2*i].Raw)
			assert.True(t, ok)
			assert.Equal(t, want, got)
			assert.Equal(t, "user "+[]string{"x", "y", "z"}[i], s.transcript("agent:ops:main")[2*i])
		}
	})
}

// A send brings an archived session back.
func TestSendRestoresAnArchivedSession(t *testing.T) {
	play(t, quiet, append([]string{"agent:ops:b"}, pair...), func(t *testing.T, s *stage) {
		yes := true
		for _, key := range []string{"agent:ops:main", "agent:ops:b"} {
			_, err := s.as("").Do(t.Context(), core.Command{Patch: &core.Patch{Session: key, Archived: &yes}})
			require.NoError(t, err)
		}
		s.tell("agent:main:main", "agent:ops:main", "x", 5)
		s.await(s.send("agent:ops:b", "x"))
		assert.Zero(t, s.row("agent:ops:main").ArchivedAt)
		assert.Zero(t, s.row("agent:ops:b").ArchivedAt)
	})
}

// A call in the name of a session with a live run belongs to that run, whoever makes it: same chain, one hop more, the slot given up and
// the circle seen; and it leaves no trace of waiting once it has gone.
func TestCallsJoinTheLiveRun(t *testing.T) {
	play(t, quiet+`, agents: { defaults: { maxConcurrent: 1 } }`, append([]string{"agent:main:c"}, pair...), func(t *testing.T, s *stage) {
		live := s.send("main", "[[sleep:1h]]")
		synctest.Wait()
		answer, _ := s.tell("agent:main:main", "agent:ops:main", "hi", 30)
		assert.Equal(t, "hi", answer["reply"], "there is one slot, and the caller's run gave it up")
		sent := s.runsOf("agent:ops:main")[0]
		assert.Equal(t, live, sent.ParentRunID)
		assert.Equal(t, 1, sent.Hop)
		run := s.runsOf("main")[0]
		assert.Equal(t, run.ChainID, sent.ChainID)

		ctx, gone := context.WithTimeout(t.Context(), time.Second)
		defer gone()
		_, err := s.as("agent:main:main").Call(ctx, core.ToolCall{Tool: "sessions_send", Params: json.RawMessage(
			`{"sessionKey":"agent:ops:main","message":"[[sleep:5m]]","timeoutSeconds":600}`)})
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		synctest.Wait()
		assert.Empty(t, s.runsOf("main")[0].WaitingOn, "who asked has gone")

		var both sync.WaitGroup // two at once: the slot is back when both have their answer
		for _, key := range []string{"agent:ops:main", "agent:main:c"} {
			both.Go(func() {
				answer, _ := s.tell("agent:main:main", key, "[[sleep:1000]] both", 3600)
				assert.Equal(t, "both", answer["reply"])
			})
		}
		both.Wait()
		_, err = s.as("").Do(t.Context(), core.Command{Abort: &core.Abort{Run: live}})
		require.NoError(t, err)
		_, reply := s.await(s.send("main", "free"))
		assert.Equal(t, "free", reply)
	})
}

// A caller whose run ends while its slot is another's is told all the same.
func TestCallerThatEndsWhileItReturns(t *testing.T) {
	play(t, quiet+`, agents: { defaults: { maxConcurrent: 1 } }`, append([]string{"agent:main:c"}, pair...), func(t *testing.T, s *stage) {
		live := s.send("main", "[[sleep:1h]]")
		synctest.Wait()
		answered := make(chan map[string]any, 1)
		go func() {
			answer, _ := s.tell("agent:main:main", "agent:ops:main", "[[sleep:1000]] hi", 30)
			answered <- answer
		}()
		synctest.Wait()
		s.send("agent:main:c", "[[sleep:30m]]") // takes the slot once round 1 has ended
		later(2 * time.Second)
		_, err := s.as("").Do(t.Context(), core.Command{Abort: &core.Abort{Run: live}})
		require.NoError(t, err)
		later(time.Second)
		select {
		case answer := <-answered:
			assert.Equal(t, "hi", answer["reply"])
		default:
			t.Error("the answer waits for the slot of a run that has ended")
		}
	})
}

// engine.maxLive counts those that wait: where all may be waiting, the next does not wait, and nothing is stuck.
func TestSendDoesNotWaitWhenAllAreLive(t *testing.T) {
	play(t, quiet+`, engine: { maxLive: 2 }`, []string{"agent:main:a", "agent:main:b", "agent:main:c", "agent:main:d"}, func(t *testing.T, s *stage) {
		send := func(to string) string {
			return `[[tool:sessions_send {"sessionKey":"agent:main:` + to + `","message":"hi","timeoutSeconds":3600}]]`
		}
		start := time.Now()
		first, second := s.send("agent:main:a", send("c")), s.send("agent:main:b", send("d"))
		_, one := s.await(first)
		_, two := s.await(second)
		assert.Less(t, time.Since(start), time.Minute)
		assert.Contains(t, one+two, "engine.maxLive")
		later(time.Minute)
		for _, key := range []string{"agent:main:c", "agent:main:d"} {
			assert.Equal(t, []string{"user hi", "assistant hi"}, s.transcript(key))
		}
	})
}

// A chain is as long as session.agentToAgent.maxHops allows: of the default, 8, the ninth send is refused and stores nothing.
func TestDefaultHopLimit(t *testing.T) {
	var keys []string
	message := "end"
	for i := range 11 {
		keys = append(keys, fmt.Sprintf("agent:main:h%d", i))
	}
	for i := 10; i > 0; i-- {
		message = `[[tool:sessions_send {"sessionKey":"` + keys[i] + `","message":` + jsonOf(t, message) + `}]]`
	}
	play(t, quiet, keys, func(t *testing.T, s *stage) {
		run, _ := s.await(s.send(keys[0], message))
		assert.Equal(t, core.OutcomeOK, run.Outcome)
		for i, key := range keys[1:] {
			runs := s.runsOf(key)
			if i+1 > 8 {
				assert.Empty(t, runs, key)
				continue
			}
			require.Len(t, runs, 1, key)
			assert.Equal(t, i+1, runs[0].Hop)
			assert.Equal(t, run.ChainID, runs[0].ChainID)
		}
		assert.Contains(t, s.transcript(keys[8])[2], "hop_limit")
	})
}

// recorder is an echo that keeps what it was given.
type recorder struct {
	echo.Runtime
	mu    sync.Mutex
	turns []core.Turn
}

func (r *recorder) Turn(ctx context.Context, t core.Turn, out core.Sink) (core.TurnResult, error) {
	r.mu.Lock()
	r.turns = append(r.turns, t)
	r.mu.Unlock()
	return r.Runtime.Turn(ctx, t, out)
}

// R016, R017: each step is told who the other side is, and the announce holds request, first and latest reply, labelled.
func TestContextOfEachStep(t *testing.T) {
	r := &recorder{Runtime: echo.Runtime{Sleep: sleep}}
	synctest.Test(t, func(t *testing.T) {
		s := &stage{dir: t.TempDir(), config: open, runtime: r}
		s.open(t)
		defer s.close()
		for i, key := range pair {
			s.put(core.Session{Key: key, SessionID: fmt.Sprint(i), LastChannel: "slack", LastTo: "c"})
		}
		answer, _ := s.tell("agent:main:main", "agent:ops:main", "[[say:first [[say:second [[say:REPLY_SKIP]]]]]]", 30)
		s.exchangeOf(answer["exchangeId"])
		require.Len(t, r.turns, 4)
		for i, turn := range r.turns {
			self, peer := "agent:ops:main", "agent:main:main"
			if i == 1 {
				self, peer = peer, self
			}
			assert.Equal(t, self, turn.Run.SessionKey)
			assert.Equal(t, peer, turn.Run.RequesterKey)
			assert.Contains(t, turn.Context, "You are "+self, "step %d", i)
			assert.Contains(t, turn.Context, "the other side is "+peer, "step %d", i)
		}
		last := r.turns[3]
		require.Equal(t, core.RunAnnounce, last.Run.Kind)
		for label, text := range map[string]string{"Request:\n": "[[say:first", "First reply:\n": "first [[say:second", "Latest reply:\n": "second [[say:REPLY_SKIP"} {
			assert.Contains(t, last.Context, label+text)
		}
	})
}

// A send without a loop is told of its sender too; a person's message is not.
func TestContextOfASend(t *testing.T) {
	r := &recorder{Runtime: echo.Runtime{Sleep: sleep}}
	synctest.Test(t, func(t *testing.T) {
		s := &stage{dir: t.TempDir(), runtime: r}
		s.open(t)
		defer s.close()
		s.put(core.Session{Key: "agent:main:main", SessionID: "a", LastChannel: "signal", LastTo: "+1"})
		s.put(core.Session{Key: "agent:main:child", SessionID: "b", SpawnedBy: "agent:main:main"})
		s.tell("agent:main:main", "agent:main:child", "x", 5)
		s.await(s.send("agent:main:child", "y"))
		require.Len(t, r.turns, 2)
		assert.Equal(t, "The message comes from the agent of session agent:main:main (channel signal), not from a person. It is for session agent:main:child.\n",
			r.turns[0].Context)
		assert.Empty(t, r.turns[1].Context)
	})
}

// What a send costs in commits (targets.md): three with its answer, however it is asked for; a refused one only the audit's.
func TestSendsInCommits(t *testing.T) {
	play(t, quiet, pair, func(t *testing.T, s *stage) {
		s.put(core.Session{Key: "agent:main:child", SessionID: "c", SpawnedBy: "agent:main:main"})
		for name, c := range map[string]struct {
			send    func()
			commits core.Rev
		}{
			"sessions_send":    {func() { s.tell("agent:main:main", "agent:ops:main", "hi", 5) }, 3},
			"to a child":       {func() { s.tell("agent:main:main", "agent:main:child", "hi", 5) }, 3},
			"chat.send":        {func() { s.await(s.send("main", "hi")) }, 3},
			"one that fails":   {func() { s.tell("agent:main:main", "agent:ops:main", "[[fail:no]]", 5) }, 3},
			"one that is late": {func() { s.tell("agent:main:main", "agent:ops:main", "[[sleep:2000]]", 1); later(time.Minute) }, 3},
			"one refused":      {func() { s.tell("agent:main:main", "agent:ops:nobody", "hi", 5) }, 1},
		} {
			before, err := s.store.Info(t.Context())
			require.NoError(t, err)
			c.send()
			synctest.Wait()
			after, err := s.store.Info(t.Context())
			require.NoError(t, err)
			assert.Equal(t, c.commits, after.Rev-before.Rev, name)
		}
	})
}

// R010, R011: fifty senders at once to one session: each is answered with its own text, one after the other, and nothing is left running (the
// bubble of the test would not end).
func TestFiftySendersToOneSession(t *testing.T) {
	keys := []string{"agent:ops:main"}
	for i := range 50 {
		keys = append(keys, fmt.Sprintf("agent:main:s%d", i))
	}
	play(t, quiet, keys, func(t *testing.T, s *stage) {
		var all sync.WaitGroup
		for i, key := range keys[1:] {
			all.Go(func() {
				answer, _ := s.tell(key, "agent:ops:main", fmt.Sprintf("[[sleep:10]] m%d.", i), 60)
				assert.Equal(t, fmt.Sprintf("m%d.", i), answer["reply"])
			})
		}
		all.Wait()
		lines := s.transcript("agent:ops:main")
		require.Len(t, lines, 100)
		for i := 0; i < len(lines); i += 2 {
			assert.Equal(t, strings.Replace(lines[i], "user [[sleep:10]]", "assistant", 1), lines[i+1])
		}
	})
}
