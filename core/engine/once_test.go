package engine_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordboard/core"
)

// A command under a key is done once in a day: the same again gets the same answer, another is a conflict, and after a day the key is free
// (engine.md §1).
func TestCommandsUnderAKey(t *testing.T) {
	keys := []string{"agent:main:main", "agent:main:a", "agent:main:b"}
	play(t, `agents: { list: [{ id: "main" }, { id: "ops" }] }`, keys, func(t *testing.T, s *stage) {
		s.put(core.Session{Key: "agent:main:mirror", SessionID: "m", Source: "/somewhere"})
		failed := s.send("agent:main:a", "[[fail:no]]")
		s.await(failed)
		live := s.send("agent:main:a", "[[sleep:1h]]")
		synctest.Wait()
		label, other := "one", "two"
		for _, c := range []struct {
			name        string
			once, twice core.Command // of the same kind, differing in their parameters
		}{
			{"patch", core.Command{Patch: &core.Patch{Session: "main", Label: &label}}, core.Command{Patch: &core.Patch{Session: "main", Label: &other}}},
			{"send", core.Command{Send: &core.Send{Session: "main", Message: "hi"}}, core.Command{Send: &core.Send{Session: "main", Message: "ho"}}},
			{"send policy", core.Command{Send: &core.Send{Session: "main", Message: "/send on"}}, core.Command{Send: &core.Send{Session: "main", Message: "/send off"}}},
			{"new", core.Command{New: &core.New{Label: "x"}}, core.Command{New: &core.New{Label: "y"}}},
			{"hold", core.Command{Hold: &core.Hold{Session: "agent:main:b"}}, core.Command{Hold: &core.Hold{}}},
			{"release", core.Command{Hold: &core.Hold{Session: "agent:main:b", Release: true}}, core.Command{Hold: &core.Hold{Release: true}}},
			{"reset", core.Command{Reset: &core.Reset{Session: "agent:main:b"}}, core.Command{Reset: &core.Reset{Session: "main"}}},
			{"adopt", core.Command{Adopt: &core.Adopt{Session: "agent:main:mirror"}}, core.Command{Adopt: &core.Adopt{Session: "main"}}},
			{"retry", core.Command{Retry: &core.Retry{Run: failed}}, core.Command{Retry: &core.Retry{Run: live}}},
			{"abort", core.Command{Abort: &core.Abort{Run: live}}, core.Command{Abort: &core.Abort{Session: "main"}}},
			{"stop", core.Command{Stop: &core.Stop{Session: "agent:main:a"}}, core.Command{Stop: &core.Stop{Session: "main"}}},
			{"delete", core.Command{Delete: &core.Delete{Session: "agent:main:b"}}, core.Command{Delete: &core.Delete{Session: "agent:main:a"}}},
			{"inbound", core.Command{Inbound: &core.Inbound{Channel: "irc", Peer: "p", Text: "hi"}}, core.Command{Inbound: &core.Inbound{Channel: "irc", Peer: "p", Text: "ho"}}},
		} {
			c.once.Key, c.twice.Key = "key of "+c.name, "key of "+c.name
			first, err := s.as("").Do(t.Context(), c.once)
			require.NoError(t, err, c.name)
			before := s.count()
			again, err := s.as("").Do(t.Context(), c.once)
			require.NoError(t, err, c.name)
			assert.JSONEq(t, jsonOf(t, first), jsonOf(t, again), c.name)
			assert.Equal(t, before, s.count(), "%s: done once", c.name)
			_, err = s.as("").Do(t.Context(), c.twice)
			assert.Equal(t, core.CodeIdempotency, core.CodeOf(err), "%s: %v", c.name, err)
			synctest.Wait()
		}
		_, err := s.as("").Do(t.Context(), core.Command{Key: "key of new", Patch: &core.Patch{Session: "main", Label: &label}})
		require.NoError(t, err, "a key is one of its command")
		s.refuse(core.CodeInvalidParams, core.Command{Key: strings.Repeat("k", 513), New: &core.New{}})

		time.Sleep(25 * time.Hour)
		_, err = s.as("").Do(t.Context(), core.Command{Key: "key of new", New: &core.New{Label: "z"}})
		require.NoError(t, err, "a day later the key is free")
	})
}

// count is what the store holds of what commands make.
func (s *stage) count() (n [3]int) {
	s.t.Helper()
	require.NoError(s.t, s.store.View(s.t.Context(), func(r core.Reader) error {
		if err := r.Runs("", func(*core.Run) bool { n[0]++; return true }); err != nil {
			return err
		}
		if err := r.Heads(core.HeadCursor{}, func(*core.Head) bool { n[1]++; return true }); err != nil {
			return err
		}
		return r.Audit(0, func(*core.AuditEntry) bool { n[2]++; return true })
	}))
	return n
}

// A refused command keeps no answer: it may be repeated under its key once it can be done.
func TestARefusalIsNotKept(t *testing.T) {
	play(t, "", []string{"agent:main:main"}, func(t *testing.T, s *stage) {
		live := s.send("main", "[[sleep:4000]]")
		synctest.Wait()
		reset := core.Command{Key: "k", Reset: &core.Reset{Session: "main"}}
		s.refuse(core.CodeConflict, reset)
		s.await(live)
		assert.NotEmpty(t, s.do(reset).Rev)
	})
}

// sessions_send under a key is one message: who repeats it waits for the same run, another one is refused.
func TestToolCallsUnderAKey(t *testing.T) {
	play(t, open, []string{"agent:main:main", "agent:ops:main"}, func(t *testing.T, s *stage) {
		send := func(message string, timeout string) (map[string]any, core.Code) {
			result, err := s.as("agent:main:main").Call(t.Context(), core.ToolCall{
				Tool: "sessions_send", Key: "k", Params: json.RawMessage(`{"sessionKey":"agent:ops:main","message":"` + message + `","timeoutSeconds":` + timeout + `}`),
			})
			require.NoError(t, err)
			var answer map[string]any
			require.NoError(t, json.Unmarshal(result.Body, &answer))
			if result.Refused != nil {
				return answer, result.Refused.Code
			}
			return answer, ""
		}
		first, code := send("[[sleep:4000]] [[say:done]]", "1")
		require.Empty(t, code)
		assert.Equal(t, "timeout", first["status"])
		second, code := send("[[sleep:4000]] [[say:done]]", "1")
		require.Empty(t, code)
		assert.Equal(t, first["runId"], second["runId"])
		s.await(first["runId"].(string))
		third, _ := send("[[sleep:4000]] [[say:done]]", "1")
		assert.Equal(t, "ok", third["status"])
		assert.Equal(t, "done", third["reply"])
		assert.Equal(t, first["runId"], third["runId"])
		_, code = send("something else", "1")
		assert.Equal(t, core.CodeIdempotency, code)
		_, runs := s.exchangeOf(third["exchangeId"])
		assert.Equal(t, core.RunSend, runs[0].Kind)
		assert.NotEqual(t, core.RunSend, runs[1].Kind, "one round 1")
	})
}
