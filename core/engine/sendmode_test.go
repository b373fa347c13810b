package engine_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordboard/core"
)

// G159, G160, G161, G164: the operator's standalone /send is a command, before the policy, and starts no run; alone it tells what is in force
// and changes nothing; inside other text it is text.
func TestSendModeInChat(t *testing.T) {
	rules := `session: { sendPolicy: { rules: [{ match: { keyPrefix: "cron:" }, action: "deny" }] } }`
	play(t, rules, []string{"agent:main:main", "cron:nightly"}, func(t *testing.T, s *stage) {
		for _, c := range []struct {
			id, session, text string
			outcome           string
			policy            core.SendPolicy
		}{
			{"G160", "main", "/send", "send policy allow: default", core.SendInherit},
			{"G164", "main", "/send off", "send policy deny", core.SendDeny},
			{"G160 colon", "main", " /Send: ", "send policy deny: session override", core.SendDeny},
			{"G159", "main", "/send on", "send policy allow", core.SendAllow},
			{"G159 colon", "main", "/SEND: off", "send policy deny", core.SendDeny},
			{"works while denied", "main", "/send inherit", "send policy inherit", core.SendInherit},
			{"a rule is named", "cron:nightly", "/send", `send policy deny: rules[0] { keyPrefix: "cron:" }`, core.SendInherit},
			{"over a rule", "cron:nightly", "/send on", "send policy allow", core.SendAllow},
		} {
			before := s.count()
			receipt := s.do(core.Command{Send: &core.Send{Session: c.session, Message: c.text}})
			assert.Equal(t, c.outcome, receipt.Outcome, c.id)
			assert.Empty(t, receipt.Run, c.id)
			assert.Equal(t, c.policy, s.detail(c.session).Session.SendPolicy, c.id)
			assert.Equal(t, before[0], s.count()[0], "%s: no run", c.id)
		}
		for _, text := range []string{"send on", "send", "please /send off", "/sendoff", "/send off now"} {
			_, reply := s.await(s.send("main", text))
			assert.Equal(t, text, reply, "G161")
		}
		off := s.do(core.Command{Send: &core.Send{Session: "main", Message: "/send off"}})
		s.refuse(core.CodeSendDenied, core.Command{Send: &core.Send{Session: "main", Message: "hello"}})
		s.do(*off.Undo)
		s.await(s.send("main", "hello"))
	})
}

// A policy that denies keeps agents out as well, and what a session has not been given by anybody is made by its first use only.
func TestSendModeOfAMainThatIsNotThere(t *testing.T) {
	play(t, "", nil, func(t *testing.T, s *stage) {
		s.do(core.Command{Send: &core.Send{Session: "main", Message: "/send"}})
		_, err := s.as("").Records(t.Context(), core.RecordQuery{Kind: core.RecordSession, Session: "main"})
		assert.Equal(t, core.CodeNotFound, core.CodeOf(err), "to ask makes nothing")
		s.do(core.Command{Send: &core.Send{Session: "main", Message: "/send off"}})
		assert.Equal(t, core.SendDeny, s.detail("main").Session.SendPolicy)
	})
}

const twoModels = `models: { providers: { p: { baseUrl: "http://127.0.0.1:1", models: [{ id: "big", contextWindow: 1000 }, { id: "org/small" }] } } }`

// A session's model must be configured, and the row knows its window; what was there before comes back with the undo.
func TestPatchOfTheModel(t *testing.T) {
	play(t, twoModels, []string{"agent:main:main"}, func(t *testing.T, s *stage) {
		patch := func(model string) core.Command {
			return core.Command{Patch: &core.Patch{Session: "main", Model: &model}}
		}
		first := s.do(patch("p/big"))
		row := s.detail("main").Session
		assert.Equal(t, []string{"p", "big"}, []string{row.ModelProvider, row.Model})
		assert.Equal(t, int64(1000), *row.ContextTokens)
		second := s.do(patch("p/org/small"))
		row = s.detail("main").Session
		assert.Equal(t, []string{"p", "org/small"}, []string{row.ModelProvider, row.Model})
		assert.Nil(t, row.ContextTokens, "not known is not 0")
		s.do(*second.Undo)
		assert.Equal(t, "big", s.detail("main").Session.Model)
		for _, wrong := range []string{"big", "p/none", "q/big", "p/", "/"} {
			err := s.refuse(core.CodeInvalidParams, patch(wrong))
			assert.ErrorContains(t, err, "echo/echo, p/big, p/org/small")
		}
		s.do(patch(""))
		row = s.detail("main").Session
		assert.Empty(t, row.Model+row.ModelProvider)
		s.refuse(core.CodeConflict, *first.Undo)

		run, _ := s.await(s.send("main", "x"))
		assert.Equal(t, "echo/echo", run.Model)
		made := s.do(core.Command{New: &core.New{Model: "p/big"}})
		assert.Equal(t, "big", s.detail(made.Key).Session.Model)
		run, _ = s.await(s.send(made.Key, "x"))
		assert.Equal(t, "p/big", run.Model)
		before := s.count()
		s.refuse(core.CodeInvalidParams, core.Command{New: &core.New{Model: "p/none"}})
		assert.Equal(t, before[1], s.count()[1], "nothing is made")

		s.put(core.Session{Key: "agent:main:old", SessionID: "old", Model: "gone", ModelProvider: "elsewhere"})
		model := "p/big"
		receipt := s.do(core.Command{Patch: &core.Patch{Session: "agent:main:old", Model: &model}})
		assert.Nil(t, receipt.Undo, "what may not be set may not be set back")
	})
}

// What is taken back is as it was, as long as nobody else has changed the row.
func TestUndo(t *testing.T) {
	play(t, "", []string{"agent:main:main"}, func(t *testing.T, s *stage) {
		label, archived, deny := "new", true, core.SendDeny
		for name, p := range map[string]core.Patch{"label": {Label: &label}, "archive": {Archived: &archived}, "policy": {SendPolicy: &deny}} {
			before := s.detail("main").Session
			p.Session = "main"
			receipt := s.do(core.Command{Patch: &p})
			assert.NotEqual(t, before, s.detail("main").Session, name)
			s.do(*receipt.Undo)
			assert.Equal(t, before, s.detail("main").Session, name)
			s.refuse(core.CodeConflict, *receipt.Undo)
		}
		hold := s.do(core.Command{Hold: &core.Hold{Session: "main"}})
		run := s.send("main", "waits") // moves the row, and the hold with it is still that hold
		s.do(*hold.Undo)
		s.await(run)
		synctest.Wait()
		require.False(t, s.detail("main").Session.Held)
	})
}
