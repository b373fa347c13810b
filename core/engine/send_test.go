package engine_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordboard/core"
)

const open = `tools: { sessions: { visibility: "all" }, agentToAgent: { enabled: true } }`

// tell calls sessions_send as a session.
func (s *stage) tell(as, to, message string, timeout any) (map[string]any, core.Code) {
	s.t.Helper()
	return s.call(as, "sessions_send", fmt.Sprintf(`{"sessionKey":%q,"message":%s,"timeoutSeconds":%v}`, to, jsonOf(s.t, message), timeout))
}

// exchangeOf waits until an exchange is over and returns it with its runs in order.
func (s *stage) exchangeOf(id any) (core.Exchange, []core.Run) {
	s.t.Helper()
	synctest.Wait()
	time.Sleep(24 * time.Hour) // all that is scripted has happened by then
	synctest.Wait()
	var x core.Exchange
	var runs []core.Run
	require.NoError(s.t, s.store.View(s.t.Context(), func(r core.Reader) error {
		var err error
		if x, _, err = r.Exchange(id.(string)); err != nil {
			return err
		}
		return r.Runs("", func(run *core.Run) bool {
			if run.ExchangeID == x.ID {
				runs = append([]core.Run{*run}, runs...)
			}
			return true
		})
	}))
	return x, runs
}

// F118, F119, R001, R005, R006: the rows of the contract's table.
func TestSessionsSendResults(t *testing.T) {
	play(t, open+`, session: { agentToAgent: { maxPingPongTurns: 0, announce: false } }`, []string{"agent:main:main", "agent:ops:main"}, func(t *testing.T, s *stage) {
		answer, code := s.tell("agent:main:main", "agent:ops:main", "[[say:done]]", 0)
		require.Empty(t, code)
		assert.Equal(t, "accepted", answer["status"])
		assert.Equal(t, map[string]any{"status": "pending", "mode": "announce"}, answer["delivery"])
		assert.Equal(t, "agent:ops:main", answer["sessionKey"])
		assert.NotEmpty(t, answer["exchangeId"])
		s.await(answer["runId"].(string))

		answer, _ = s.tell("agent:main:main", "agent:ops:main", "[[say:done]]", 1)
		assert.Equal(t, "ok", answer["status"])
		assert.Equal(t, "done", answer["reply"])
		assert.Equal(t, "pending", answer["delivery"].(map[string]any)["status"])

		answer, _ = s.tell("agent:main:main", "agent:ops:main", "[[say:]]", 1)
		assert.Equal(t, "ok", answer["status"])
		assert.NotContains(t, answer, "reply", "a run that wrote no text has no reply")

		start := time.Now()
		answer, _ = s.tell("agent:main:main", "agent:ops:main", "[[sleep:4000]] late", 1)
		assert.Equal(t, "timeout", answer["status"])
		assert.Equal(t, time.Second, time.Since(start))
		assert.Contains(t, answer["error"], "delivered")
		assert.NotContains(t, answer, "delivery")
		run, reply := s.await(answer["runId"].(string))
		assert.Equal(t, core.OutcomeOK, run.Outcome, "the wait never cuts the run")
		assert.Equal(t, "late", reply)

		start = time.Now()
		answer, _ = s.tell("agent:main:main", "agent:ops:main", "[[fail:429 too many]]", 30)
		assert.Equal(t, "error", answer["status"])
		assert.Equal(t, "error", answer["outcome"])
		assert.Contains(t, answer["error"], "429 too many")
		assert.Zero(t, time.Since(start), "at once with the cause, not at the deadline")
	})
}

// R003: time in line is told apart from time running.
func TestSessionsSendTellsTheQueue(t *testing.T) {
	play(t, open, []string{"agent:main:main", "agent:ops:main"}, func(t *testing.T, s *stage) {
		s.send("agent:ops:main", "[[sleep:3000]]")
		answer, _ := s.tell("agent:main:main", "agent:ops:main", "x", 2)
		assert.Equal(t, "timeout", answer["status"])
		assert.Contains(t, answer["error"], "queued for 2s behind other runs")
		s.do(core.Command{Hold: &core.Hold{}})
		answer, _ = s.tell("agent:main:main", "agent:ops:main", "x", 2)
		assert.Contains(t, answer["error"], "queued for 2s and does not start before the operator lets it (all sessions are held; he does so with `cordboard release`)")
		s.do(core.Command{Stop: &core.Stop{Session: "agent:ops:main"}})
		run, _ := s.await(answer["runId"].(string))
		assert.Equal(t, core.OutcomeAborted, run.Outcome, "what is held is stopped like anything else")
	})
}

// What is sent is stored byte for byte with who sent it; blank, hidden, absent, mirrored and denied targets are refused and store nothing.
func TestSessionsSendAdmission(t *testing.T) {
	play(t, `session: { sendPolicy: { rules: [{ match: { channel: "discord", chatType: "group" }, action: "deny" }] } }`,
		[]string{"agent:main:main", "agent:main:other", "agent:ops:main"}, func(t *testing.T, s *stage) {
			for _, child := range []core.Session{
				{Key: "agent:main:discord:group:dev", SessionID: "d"}, {Key: "agent:x:mirror", SessionID: "m", Source: "/d"}, {Key: "agent:x:child", SessionID: "c"},
			} {
				child.SpawnedBy = "agent:main:main"
				s.put(child)
			}
			for _, c := range []struct {
				to, message string
				timeout     any
				code        core.Code
				key         string
			}{
				{"agent:ops:main", "x", 0, core.CodeForbidden, "tools.sessions.visibility"},
				{"agent:ops:nobody", "x", 0, core.CodeForbidden, "tools.sessions.visibility"},
				{"agent:main:other", "x", 0, core.CodeForbidden, "tools.sessions.visibility"},
				{"agent:main:mistyped", "x", 0, core.CodeForbidden, "tools.sessions.visibility"},
				{"no-such-id", "x", 0, core.CodeNotFound, ""},
				{"agent:x:mirror", "x", 0, core.CodeMirrored, ""},
				{"agent:main:discord:group:dev", "x", 0, core.CodeSendDenied, "session.sendPolicy.rules[0]"},
				{"agent:x:child", " \n", 0, core.CodeInvalidParams, ""},
				{"agent:x:child", "x", -1, core.CodeInvalidParams, ""},
				{"agent:x:child", "x", `"5"`, core.CodeInvalidParams, ""},
				{"agent:x:child", "x", 86401, core.CodeInvalidParams, ""},
				{"agent:x:child", "x", "1e9", core.CodeInvalidParams, ""},
			} {
				answer, code := s.tell("agent:main:main", c.to, c.message, c.timeout)
				assert.Equal(t, c.code, code, "%+v: %v", c, answer)
				assert.NotContains(t, answer, "runId")
				if c.key != "" {
					assert.Equal(t, c.key, answer["configKey"], "%+v", c)
				}
			}
			_, code := s.call("", "sessions_send", `{"sessionKey":"main","message":"x"}`)
			assert.Equal(t, core.CodeForbidden, code, "the operator is no session")
			page, err := s.as("").Records(t.Context(), core.RecordQuery{Kind: core.RecordRuns})
			require.NoError(t, err)
			assert.Empty(t, page.Runs)

			text := " [[say:x]] \t<b> & \u2028 \"q\"\r\n"
			answer, _ := s.tell("agent:main:main", "agent:x:child", text, 0.2)
			assert.Equal(t, "ok", answer["status"], "a fraction above 0 rounds up")
			assert.NotContains(t, answer, "exchangeId", "to one's own child it is round 1 only")
			messages, err := s.as("").Messages(t.Context(), core.MessageQuery{Session: "agent:x:child"})
			require.NoError(t, err)
			for block := range core.Blocks(messages.Messages[0].Raw) {
				assert.Equal(t, text, block.Text)
			}
			p, ok := core.ProvenanceOf(messages.Messages[0].Raw)
			assert.True(t, ok)
			assert.Equal(t, core.Provenance{Kind: "inter_session", SourceSessionKey: "agent:main:main", SourceTool: "sessions_send"}, p)
		})
}

// F122, R012: exact run counts, alternating speakers, each text once on each side, the announce in the target's chat.
func TestExchangePingPong(t *testing.T) {
	play(t, open, []string{"agent:main:main", "agent:ops:discord:group:dev"}, func(t *testing.T, s *stage) {
		answer, _ := s.tell("agent:main:main", "agent:ops:discord:group:dev", "hello [[announce:deployed]]", 30)
		assert.Equal(t, "hello", answer["reply"])
		x, runs := s.exchangeOf(answer["exchangeId"])
		assert.Equal(t, core.ExchangeDone, x.State)
		assert.Equal(t, "turns", x.Reason)
		require.Len(t, runs, 1+5+1)
		for i, run := range runs[1:6] {
			want := "agent:main:main"
			if i%2 == 1 {
				want = "agent:ops:discord:group:dev"
			}
			assert.Equal(t, want, run.SessionKey, "turn %d", i+1)
			assert.Equal(t, core.RunTurn, run.Kind)
		}
		var rows []core.Delivery
		require.NoError(t, s.store.View(t.Context(), func(r core.Reader) error {
			return r.Deliveries(func(d *core.Delivery) bool { rows = append(rows, *d); return true })
		}))
		require.Len(t, rows, 1)
		assert.Equal(t, core.DeliveryContext{Channel: "discord", To: "channel:dev"}, rows[0].Route)
		assert.Equal(t, "deployed", rows[0].Text)
		assert.Equal(t, core.DeliveryDelivered, rows[0].State)
	})
}

// A skip by either side ends the loop: the inner directive makes the other side say it.
func TestExchangeSkips(t *testing.T) {
	for message, want := range map[string]struct {
		runs   int
		reason string
	}{
		"[[say:REPLY_SKIP]]":                 {2, "skip"},
		"[[say:]]":                           {2, "blank"},
		"[[say:[[say:REPLY_SKIP]]]]":         {3, "skip"},
		"[[say:[[say:[[say:REPLY_SKIP]]]]]]": {4, "skip"},
		"[[say:[[fail:no]]]]":                {3, "error"},
	} {
		play(t, open, []string{"agent:main:main", "agent:ops:main"}, func(t *testing.T, s *stage) {
			answer, _ := s.tell("agent:main:main", "agent:ops:main", message, 30)
			x, runs := s.exchangeOf(answer["exchangeId"])
			assert.Len(t, runs, want.runs, message)
			assert.Equal(t, want.reason, x.Reason, message)
			assert.Equal(t, core.ExchangeSkipped, x.State, "echo announces nothing unless told")
		})
	}
}

// A loop turn asks the session it is put into: where that is denied the loop ends and the announce follows; an announce run that is denied
// ends the exchange (session-tools.md §7).
func TestExchangeMeetsThePolicy(t *testing.T) {
	play(t, open, []string{"agent:main:main", "agent:ops:main"}, func(t *testing.T, s *stage) {
		deny := core.SendDeny
		_, err := s.as("").Do(t.Context(), core.Command{Patch: &core.Patch{Session: "agent:main:main", SendPolicy: &deny}})
		require.NoError(t, err)
		answer, _ := s.tell("agent:main:main", "agent:ops:main", "hi", 30)
		x, runs := s.exchangeOf(answer["exchangeId"])
		assert.Len(t, runs, 2)
		assert.Equal(t, core.RunAnnounce, runs[1].Kind)
		assert.Equal(t, core.ExchangeSkipped, x.State)

		answer, _ = s.tell("agent:main:main", "agent:ops:main", "[[sleep:1000]] hi", 0)
		synctest.Wait()
		_, err = s.as("").Do(t.Context(), core.Command{Patch: &core.Patch{Session: "agent:ops:main", SendPolicy: &deny}})
		require.NoError(t, err)
		x, runs = s.exchangeOf(answer["exchangeId"])
		assert.Len(t, runs, 1, "what was queued is not asked again, what would follow is")
		assert.Equal(t, core.ExchangeFailed, x.State)
	})
}

// R008: an agent's own send from inside its turn gives its slot up: with one slot there is no deadlock, and both transcripts tell the story.
func TestSendFromInsideATurn(t *testing.T) {
	play(t, open+`, agents: { defaults: { maxConcurrent: 1 } }, session: { agentToAgent: { maxPingPongTurns: 0, announce: false } }`,
		[]string{"agent:main:main", "agent:ops:main"}, func(t *testing.T, s *stage) {
			start := time.Now()
			run, reply := s.await(s.send("main", `[[tool:sessions_send {"sessionKey":"agent:ops:main","message":"[[sleep:500]] ping"}]]`))
			assert.Equal(t, core.OutcomeOK, run.Outcome)
			assert.Contains(t, reply, `"reply":"ping"`)
			assert.Equal(t, 500*time.Millisecond, time.Since(start))
			assert.Equal(t, []string{"user [[sleep:500]] ping", "assistant ping"}, s.transcript("agent:ops:main"))
			assert.Len(t, s.transcript("main"), 4)
			assert.NotEmpty(t, run.ChainID)
		})
}

// A wait that would close a circle is not taken: the message is queued and the answer names the circle at once.
func TestWaitCycle(t *testing.T) {
	play(t, open+`, session: { agentToAgent: { maxPingPongTurns: 0, announce: false } }`, []string{"agent:main:a", "agent:main:b", "agent:main:c"},
		func(t *testing.T, s *stage) {
			toA := `[[tool:sessions_send {"sessionKey":"agent:main:a","message":"back"}]]`
			toC := `[[tool:sessions_send {"sessionKey":"agent:main:c","message":` + jsonOf(t, toA) + `}]]`
			start := time.Now()
			run, reply := s.await(s.send("agent:main:a", `[[tool:sessions_send {"sessionKey":"agent:main:b","message":`+jsonOf(t, toC)+`}]]`))
			assert.Equal(t, core.OutcomeOK, run.Outcome)
			assert.Zero(t, time.Since(start))
			assert.Contains(t, reply, "wait_cycle")
			assert.Contains(t, reply, "agent:main:c → agent:main:a → agent:main:b → agent:main:c")
			synctest.Wait()
			assert.Equal(t, "assistant back", s.transcript("agent:main:a")[5], "what was queued has run")

			_, reply = s.await(s.send("agent:main:b", `[[tool:sessions_send {"sessionKey":"agent:main:b","message":"self"}]]`))
			assert.Contains(t, reply, "wait_cycle")
		})
}

// A chain of sends across sessions ends at its cap, and the refusal names the key.
func TestHopLimit(t *testing.T) {
	play(t, open+`, session: { agentToAgent: { maxHops: 2, maxPingPongTurns: 0, announce: false } }`, []string{"agent:main:a", "agent:main:b", "agent:main:c", "agent:main:d"},
		func(t *testing.T, s *stage) {
			message := "end"
			for _, key := range []string{"d", "c", "b"} {
				message = `[[tool:sessions_send {"sessionKey":"agent:main:` + key + `","message":` + jsonOf(t, message) + `}]]`
			}
			_, reply := s.await(s.send("agent:main:a", message))
			assert.Contains(t, reply, "hop_limit")
			assert.Contains(t, reply, "session.agentToAgent.maxHops")
			assert.Empty(t, s.transcript("agent:main:d"))
		})
}

// An exchange goes on after a crash from where it was: a turn that was interrupted ends the loop, nothing runs twice.
func TestExchangeOverACrash(t *testing.T) {
	play(t, open, []string{"agent:main:main", "agent:ops:main"}, func(t *testing.T, s *stage) {
		answer, _ := s.tell("agent:main:main", "agent:ops:main", "[[say:[[sleep:1h]] r1]]", 30)
		synctest.Wait()
		s.kill()
		s.open(t)
		x, runs := s.exchangeOf(answer["exchangeId"])
		assert.Equal(t, "interrupted", x.Reason)
		assert.Equal(t, core.ExchangeSkipped, x.State)
		require.Len(t, runs, 3)
		assert.Equal(t, core.OutcomeInterrupted, runs[1].Outcome)
		assert.Equal(t, core.RunAnnounce, runs[2].Kind)
	})
}

// R011: many sends from many sessions at once all end, and nobody's text is lost or doubled.
func TestManySends(t *testing.T) {
	var keys []string
	for i := range 10 {
		keys = append(keys, fmt.Sprintf("agent:main:s%d", i))
	}
	play(t, open+`, session: { agentToAgent: { maxPingPongTurns: 1, announce: false } }`, keys, func(t *testing.T, s *stage) {
		for i := range 40 {
			from, to := keys[i%10], keys[(i*3+1)%10]
			if from == to {
				continue
			}
			answer, code := s.tell(from, to, fmt.Sprintf("[[sleep:7]] text-%d-", i), 0)
			require.Empty(t, code, "%v", answer)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		all := ""
		for _, key := range keys {
			lines := s.transcript(key)
			for i, line := range lines {
				require.Equal(t, i%2 == 0, strings.HasPrefix(line, "user"), "%v", lines)
			}
			all += strings.Join(lines, "\n")
		}
		for i := range 40 {
			if i%10 == (i*3+1)%10 {
				continue
			}
			assert.Equal(t, 4, strings.Count(all, fmt.Sprintf("text-%d-", i)), "asked and answered on each side: %d", i)
		}
		raw := json.RawMessage(`{"activeMinutes":5}`)
		_, err := s.as("").Call(t.Context(), core.ToolCall{Tool: "sessions_list", Params: raw})
		require.NoError(t, err)
	})
}
