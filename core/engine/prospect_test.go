package engine_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordboard/core"
)

func (s *stage) explain(q core.Question) core.Explanation {
	s.t.Helper()
	x, err := s.as("").Explain(s.t.Context(), q)
	require.NoError(s.t, err)
	return x
}

// The policy tester answers for sessions that are there, for these under another override, and for any that might be (G148-G156).
func TestPolicyTester(t *testing.T) {
	rules := `session: { sendPolicy: { rules: [
		{ match: { channel: "discord", chatType: "group" }, action: "deny" }, { match: { keyPrefix: "cron:" }, action: "deny" },
	] } }`
	allow, deny, inherit, odd := core.SendAllow, core.SendDeny, core.SendInherit, core.SendPolicy("perhaps")
	play(t, rules, []string{"agent:main:main"}, func(t *testing.T, s *stage) {
		s.put(core.Session{Key: "agent:main:x", SessionID: "x", Channel: "discord", ChatType: core.ChatGroup, SendPolicy: core.SendAllow})
		for _, c := range []struct {
			id      string
			q       core.PolicyQuestion
			allowed bool
			rule    string
		}{
			{"G148", core.PolicyQuestion{Session: "main"}, true, "default"},
			{"G149", core.PolicyQuestion{Session: "main", Override: &deny}, false, "session override"},
			{"G150", core.PolicyQuestion{Channel: "Discord", ChatType: "group"}, false, `rules[0] { channel: "discord", chatType: "group" }`},
			{"direct", core.PolicyQuestion{Channel: "discord", ChatType: "dm"}, true, "default"},
			{"G151", core.PolicyQuestion{Key: "cron:job-1"}, false, `rules[1] { keyPrefix: "cron:" }`},
			{"nothing is known", core.PolicyQuestion{}, true, "default"},
			{"its own", core.PolicyQuestion{Session: "agent:main:x"}, true, "session override"},
			{"without its own", core.PolicyQuestion{Session: "agent:main:x", Override: &inherit}, false, `rules[0] { channel: "discord", chatType: "group" }`},
			{"over a rule", core.PolicyQuestion{Key: "cron:job-1", Override: &allow}, true, "session override"},
		} {
			x := s.explain(core.Question{Policy: &c.q})
			assert.Equal(t, c.allowed, x.Verdict.Allowed, c.id)
			assert.Equal(t, c.rule, x.Verdict.Rule, c.id)
		}
		for _, q := range []core.PolicyQuestion{{ChatType: "crowd"}, {Override: &odd}, {Session: "main", Channel: "irc"}} {
			_, err := s.as("").Explain(t.Context(), core.Question{Policy: &q})
			assert.Equal(t, core.CodeInvalidParams, core.CodeOf(err), "%+v", q)
		}
		_, err := s.as("").Explain(t.Context(), core.Question{Policy: &core.PolicyQuestion{Session: "agent:main:nobody"}})
		assert.Equal(t, core.CodeNotFound, core.CodeOf(err))
		assert.Equal(t, core.SendAllow, s.detail("agent:main:x").Session.SendPolicy, "asking changes nothing")
	})
}

// What a message would meet, and what would follow it or why nothing would.
func TestProspectOfAMessage(t *testing.T) {
	config := open + `, agents: { list: [{ id: "main" }, { id: "ops" }, { id: "ext", runtime: { type: "external" } }] }`
	play(t, config, []string{"agent:main:main", "agent:ops:main", "agent:ext:main"}, func(t *testing.T, s *stage) {
		s.put(core.Session{Key: "agent:main:child", SessionID: "c", SpawnedBy: "agent:main:main"})
		s.put(core.Session{Key: "agent:ops:discord:group:dev", SessionID: "d"})
		s.put(core.Session{Key: "agent:ops:mirror", SessionID: "m", Source: "/somewhere"})
		s.put(core.Session{Key: "agent:main:denied", SessionID: "e", SendPolicy: core.SendDeny})
		ask := func(as, to string) core.Explanation {
			return s.explain(core.Question{Message: &core.MessageQuestion{As: as, To: to}})
		}
		dev := &core.DeliveryContext{Channel: "discord", To: "channel:dev"}
		for _, c := range []struct {
			as, to   string
			allowed  bool
			rule     string
			loop     bool
			announce *core.DeliveryContext
			why      string
		}{
			{"", "main", true, "default", false, nil, "operator's message"},
			{"", "agent:ops:mirror", false, "mirrored", false, nil, ""},
			{"", "agent:main:denied", false, "session override", false, nil, ""},
			{"main", "agent:ops:main", true, "default", true, nil, "no announce: the target has no chat"},
			{"main", "agent:ops:discord:group:dev", true, "default", true, dev, ""},
			{"main", "main", true, "default", false, nil, "no loop: a session has none with itself; no announce"},
			{"main", "agent:main:child", true, "default", false, nil, "own child"},
			{"main", "agent:ext:main", true, "default", false, nil, "client outside"},
			{"agent:ext:main", "agent:ops:discord:group:dev", true, "default", false, dev, "no loop: a client outside"},
			{"agent:main:denied", "agent:ops:discord:group:dev", true, "default", false, dev, "no turn can be put to the requester"},
			{"main", "agent:ops:mirror", false, "mirrored", false, nil, ""},
			{"main", "agent:main:denied", false, "session override", false, nil, ""},
		} {
			name := c.as + " to " + c.to
			x := ask(c.as, c.to)
			assert.Equal(t, c.allowed, x.Verdict.Allowed, name)
			assert.Equal(t, c.rule, x.Verdict.Rule, name)
			require.NotNil(t, x.Message, name)
			assert.Equal(t, c.loop, x.Message.Loop, name)
			assert.Equal(t, c.announce, x.Message.Announce, name)
			assert.Contains(t, x.Message.Why, c.why, name)
			if c.why == "" {
				assert.Empty(t, x.Message.Why, name)
			}
		}
		for _, c := range []struct{ as, to, rule string }{
			{"", "agent:main:nobody", "not_found"}, {"main", "no-such-id", "not_found"}, {"main", "global", "not_found"},
		} {
			x := ask(c.as, c.to)
			assert.False(t, x.Verdict.Allowed, c.to)
			assert.Equal(t, c.rule, x.Verdict.Rule, c.to)
			assert.NotEmpty(t, x.Verdict.Message)
			assert.Nil(t, x.Message)
		}
		_, err := s.as("").Explain(t.Context(), core.Question{Message: &core.MessageQuestion{As: "agent:main:nobody", To: "main"}})
		assert.Equal(t, core.CodeNotFound, core.CodeOf(err))

		live := s.send("agent:ops:main", "[[sleep:1h]]")
		synctest.Wait()
		s.send("agent:ops:main", "queued")
		s.do(core.Command{Hold: &core.Hold{Agent: "ops"}})
		assert.Equal(t, core.Prospect{
			To: "agent:ops:main", Live: live, Queued: 1, Held: "the sessions of agent ops are held", Runtime: "echo",
			Why: "the operator's message is one run, without a loop or an announce",
		}, *ask("", "agent:ops:main").Message)
		assert.Len(t, s.records(core.RecordQuery{Kind: core.RecordRuns}).Runs, 2, "asking sends nothing")
		s.do(core.Command{Stop: &core.Stop{Session: "agent:ops:main"}})
	})
}

// Where loop and announce are switched off the keys that did it are named.
func TestProspectNamesTheSwitches(t *testing.T) {
	play(t, open+`, session: { agentToAgent: { maxPingPongTurns: 0, announce: false } }`, []string{"agent:main:main"}, func(t *testing.T, s *stage) {
		s.put(core.Session{Key: "agent:ops:discord:group:dev", SessionID: "d"})
		x := s.explain(core.Question{Message: &core.MessageQuestion{As: "main", To: "agent:ops:discord:group:dev"}})
		assert.Contains(t, x.Message.Why, "session.agentToAgent.maxPingPongTurns is 0")
		assert.Contains(t, x.Message.Why, "session.agentToAgent.announce is off")
	})
}
