package engine_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordboard/core"
)

func (s *stage) audit(q core.RecordQuery) []core.AuditEntry {
	s.t.Helper()
	q.Kind = core.RecordAudit
	page, err := s.as("").Records(s.t.Context(), q)
	require.NoError(s.t, err)
	return page.Audit
}

// Every command tells who, what, whom and what changed; one that was refused tells that and changes nothing else (engine.md §7).
func TestAudit(t *testing.T) {
	config := chatChannel + "," + open + `, agents: { list: [{ id: "main" }, { id: "ops" }] }`
	stageWith(t, config, &carrier{}, func(t *testing.T, s *stage) {
		s.put(core.Session{Key: "agent:main:main", SessionID: "sid0", Label: "old"})
		s.put(core.Session{Key: "agent:ops:main", SessionID: "sid1"})
		newest := func() core.AuditEntry { return s.audit(core.RecordQuery{Limit: 1})[0] }
		label := "new"
		receipt := s.do(core.Command{Patch: &core.Patch{Session: "main", Label: &label}})
		entry := newest()
		assert.Equal(t, []any{receipt.Rev, "operator", "patch", "agent:main:main", "ok"}, []any{entry.Rev, entry.Who, entry.Verb, entry.Target, entry.Result})
		assert.JSONEq(t, `{"session":"agent:main:main","label":"old"}`, string(entry.Before))
		assert.JSONEq(t, `{"session":"agent:main:main","label":"new"}`, string(entry.After))

		s.do(core.Command{Hold: &core.Hold{Agent: "ops"}})
		entry = newest()
		assert.Equal(t, []string{"hold", "agent ops", `{"held":false}`, `{"held":true}`}, []string{entry.Verb, entry.Target, string(entry.Before), string(entry.After)})
		s.do(core.Command{Hold: &core.Hold{Agent: "ops", Release: true}})
		assert.Equal(t, "release", newest().Verb)

		s.receive(core.Inbound{Channel: "chat", Peer: "p", SenderID: "boss", Text: "/send off"})
		entry = newest()
		assert.Equal(t, []string{"chat:boss", "/send", "agent:main:main"}, []string{entry.Who, entry.Verb, entry.Target})
		assert.JSONEq(t, `{"sendPolicy":"inherit"}`, string(entry.Before))
		s.do(core.Command{Send: &core.Send{Session: "main", Message: "/send inherit"}})
		entry = newest()
		assert.Equal(t, []string{"operator", "/send"}, []string{entry.Who, entry.Verb})
		assert.JSONEq(t, `{"sendPolicy":"deny"}`, string(entry.Before))

		operator, err := s.as("").Call(t.Context(), core.ToolCall{As: "agent:main:main", Tool: "sessions_send", Params: []byte(`{"sessionKey":"agent:ops:main","message":"x","timeoutSeconds":0}`)})
		require.NoError(t, err)
		require.Nil(t, operator.Refused)
		entry = newest()
		assert.Equal(t, []string{"agent:main:main via operator", "sessions_send", "agent:ops:main"}, []string{entry.Who, entry.Verb, entry.Target})
		s.tell("agent:main:main", "agent:ops:main", "x", 0)
		assert.Equal(t, "agent:main:main", newest().Who, "a client speaks as its session")

		run := s.send("main", `[[tool:sessions_send {"sessionKey":"agent:ops:main","message":"y","timeoutSeconds":0}]]`)
		s.await(run)
		entry = newest()
		assert.Equal(t, []string{"send", `{"run":"` + run + `"}`}, []string{entry.Verb, string(entry.After)}, "what a model does is in its transcript")
		synctest.Wait()

		before := s.count()
		_, code := s.tell("agent:main:main", "agent:ghost:main", "x", 0)
		assert.Equal(t, core.CodeNotFound, code)
		entry = newest()
		assert.Equal(t, []string{"agent:main:main", "sessions_send", "agent:ghost:main"}, []string{entry.Who, entry.Verb, entry.Target})
		assert.True(t, strings.HasPrefix(entry.Result, "denied: no session"), entry.Result)
		s.refuse(core.CodeForbidden, core.Command{Delete: &core.Delete{Session: "main"}})
		assert.Equal(t, "delete", newest().Verb)
		_, err = s.as("agent:ops:main").Do(t.Context(), core.Command{Stop: &core.Stop{Session: "main"}})
		require.Error(t, err)
		assert.Equal(t, "agent:ops:main", newest().Who)
		s.refuse(core.CodeInvalidParams, core.Command{})
		s.refuse(core.CodeNotFound, core.Command{Reset: &core.Reset{Session: "agent:main:" + strings.Repeat("x", 400)}})
		after := s.count()
		assert.Equal(t, [3]int{before[0], before[1], before[2] + 4}, after)
		assert.Less(t, len(newest().Result), 700)
	})
}

// The audit pages backwards, and no entry is told twice or left out.
func TestAuditPages(t *testing.T) {
	play(t, "", []string{"agent:main:main"}, func(t *testing.T, s *stage) {
		for range 7 {
			s.do(core.Command{New: &core.New{}})
		}
		all := s.audit(core.RecordQuery{})
		require.Len(t, all, 7)
		var paged []core.AuditEntry
		before := core.Rev(0)
		for {
			page := s.audit(core.RecordQuery{Limit: 3, Before: before})
			if len(page) == 0 {
				break
			}
			paged = append(paged, page...)
			before = page[len(page)-1].Rev
		}
		assert.Equal(t, all, paged)
	})
}
