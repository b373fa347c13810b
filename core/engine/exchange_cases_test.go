package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordboard/core"
)

// speakers are the sessions in which the runs of an exchange took place, in order, announce in brackets.
func speakers(runs []core.Run) string {
	var list []string
	for _, run := range runs {
		name := run.SessionKey[strings.LastIndexByte(run.SessionKey, ':')+1:]
		if run.Kind == core.RunAnnounce {
			name = "(" + name + ")"
		}
		list = append(list, name)
	}
	return strings.Join(list, " ")
}

const (
	requester = "agent:main:asks"
	responder = "agent:ops:discord:group:dev"
)

// Exchanges as echo agents play them: who speaks and when it ends, and what the target's chat is told (session-tools.md §6).
func TestExchangeScripts(t *testing.T) {
	turns := func(n int) string { return fmt.Sprintf(`, session: { agentToAgent: { maxPingPongTurns: %d } }`, n) }
	mute := `, session: { agentToAgent: { announce: false } }`
	for name, c := range map[string]struct {
		config, to, message string
		speakers            string
		state               core.ExchangeState
		reason              string
		told                string
	}{
		"five turns":               {"", responder, "hi [[announce:told]]", "dev asks dev asks dev asks (dev)", core.ExchangeDone, "turns", "told"},
		"F122 two turns":           {turns(2), responder, "[[say:[[say:[[say:pong-2]] pong-1]] r1]][[announce:announce now]]", "dev asks dev (dev)", core.ExchangeDone, "turns", "announce now"},
		"no turns":                 {turns(0), responder, "hi [[announce:told]]", "dev (dev)", core.ExchangeDone, "turns", "told"},
		"F136 round 1 skips":       {"", responder, "[[say: REPLY_SKIP\n]][[announce:told]]", "dev (dev)", core.ExchangeDone, "skip", "told"},
		"the requester skips":      {"", responder, "[[say:[[say:REPLY_SKIP]]]][[announce:told]]", "dev asks (dev)", core.ExchangeDone, "skip", "told"},
		"the target skips":         {"", responder, "[[say:[[say:[[say:REPLY_SKIP]]]]]][[announce:told]]", "dev asks dev (dev)", core.ExchangeDone, "skip", "told"},
		"F136 not a skip":          {turns(1), responder, "[[say:reply_skip]][[announce:told]]", "dev asks (dev)", core.ExchangeDone, "turns", "told"},
		"F136 no skip with a stop": {turns(1), responder, "[[say:REPLY_SKIP.]][[announce:told]]", "dev asks (dev)", core.ExchangeDone, "turns", "told"},
		"round 1 is blank":         {"", responder, "[[say:]][[announce:told]]", "dev (dev)", core.ExchangeDone, "blank", "told"},
		"a turn is blank":          {"", responder, "[[say:[[say: ]]]][[announce:told]]", "dev asks (dev)", core.ExchangeDone, "blank", "told"},
		"a turn fails":             {"", responder, "[[say:[[fail:no]]]][[announce:told]]", "dev asks (dev)", core.ExchangeDone, "error", "told"},
		"round 1 fails":            {"", responder, "[[fail:no]][[announce:told]]", "dev", core.ExchangeFailed, "error", ""},
		"to itself":                {"", requester, "hi [[announce:told]]", "asks (asks)", core.ExchangeUndeliverable, "self", ""},
		"R018 the target is quiet": {turns(0), responder, "hi [[announce: ANNOUNCE_SKIP\n]]", "dev (dev)", core.ExchangeSkipped, "turns", ""},
		"a blank announce":         {turns(0), responder, "hi [[announce:]]", "dev (dev)", core.ExchangeSkipped, "turns", ""},
		"a token on its last line": {turns(0), responder, "hi [[announce:told\nANNOUNCE_SKIP]]", "dev (dev)", core.ExchangeDone, "turns", "told"},
		"R018 announcing is off":   {mute, responder, "[[say:[[say:REPLY_SKIP]]]][[announce:told]]", "dev asks", core.ExchangeSkipped, "skip", ""},
		"R020 nowhere to announce": {turns(0), "agent:ops:main", "hi [[announce:told]]", "main (main)", core.ExchangeUndeliverable, "turns", ""},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, open+c.config, []string{requester, responder, "agent:ops:main"}, func(t *testing.T, s *stage) {
				answer, code := s.tell(requester, c.to, c.message, 30)
				require.Empty(t, code, "%v", answer)
				if c.state != core.ExchangeFailed {
					assert.Equal(t, "ok", answer["status"], "whatever becomes of the announce")
				} else {
					answer["exchangeId"] = s.runsOf(c.to)[0].ExchangeID
				}
				x, runs := s.exchangeOf(answer["exchangeId"])
				assert.Equal(t, c.speakers, speakers(runs))
				assert.Equal(t, c.state, x.State)
				assert.Equal(t, c.reason, x.Reason)
				rows := s.rows()
				if c.told != "" {
					require.Len(t, rows, 1)
					assert.Equal(t, c.told, rows[0].Text)
					assert.Equal(t, core.DeliveryContext{Channel: "discord", To: "channel:dev"}, rows[0].Route, "F138")
					assert.Equal(t, core.DeliveryDelivered, rows[0].State)
				}
				for _, row := range rows {
					assert.NotContains(t, row.Text, "SKIP", "the token never reaches people")
					assert.Equal(t, c.told != "", row.State == core.DeliveryDelivered)
				}
				if c.state == core.ExchangeUndeliverable {
					require.Len(t, rows, 1, "it is on record")
					assert.Equal(t, core.DeliveryUndeliverable, rows[0].State)
				}
			})
		})
	}
}

// F139: what a session recorded goes before what its key says.
func TestAnnounceGoesToTheRecordedChat(t *testing.T) {
	play(t, open+`, session: { agentToAgent: { maxPingPongTurns: 0 } }`, []string{requester}, func(t *testing.T, s *stage) {
		context := core.DeliveryContext{Channel: "whatsapp", To: "123@g.us", AccountID: "work"}
		s.put(core.Session{Key: "agent:ops:whatsapp:group:999", SessionID: "w", Delivery: context})
		answer, _ := s.tell(requester, "agent:ops:whatsapp:group:999", "hi [[announce:told]]", 30)
		s.exchangeOf(answer["exchangeId"])
		require.Len(t, s.rows(), 1)
		assert.Equal(t, context, s.rows()[0].Route)
	})
}

// R012: each text that is exchanged is stored once on each side, with the other side as its source.
func TestExchangedTextsAreStoredOnce(t *testing.T) {
	play(t, open+`, session: { agentToAgent: { maxPingPongTurns: 3 } }`, []string{requester, responder}, func(t *testing.T, s *stage) {
		answer, _ := s.tell(requester, responder, "[[say:[[say:[[say:[[say:t4]] t3]] t2]] t1]]", 30)
		_, runs := s.exchangeOf(answer["exchangeId"])
		require.Len(t, runs, 1+3+1)
		const first, second, third = "[[say:[[say:[[say:t4]] t3]] t2]] t1", "[[say:[[say:t4]] t3]] t2", "[[say:t4]] t3"
		assert.Equal(t, []string{"user " + first, "assistant " + second, "user " + third, "assistant t4"}, s.transcript(requester))
		assert.Equal(t, []string{
			"user [[say:" + first + "]]", "assistant " + first, "user " + second, "assistant " + third,
			"user Agent-to-agent announce step.", "assistant ANNOUNCE_SKIP",
		}, s.transcript(responder))
		for session, peer := range map[string]string{requester: responder, responder: requester} {
			page, err := s.as("").Messages(t.Context(), core.MessageQuery{Session: session})
			require.NoError(t, err)
			for _, m := range page.Messages {
				if m.Role == core.RoleUser {
					p, ok := core.ProvenanceOf(m.Raw)
					assert.True(t, ok)
					assert.Equal(t, core.Provenance{Kind: "inter_session", SourceSessionKey: peer, SourceTool: "sessions_send"}, p)
				}
			}
		}
	})
}

// A ring of three: a asks b, which asks c, which asks a. The last does not wait, every exchange runs its turns and its announce once.
func TestRingOfThree(t *testing.T) {
	play(t, open+`, session: { agentToAgent: { maxPingPongTurns: 1 } }`, []string{"agent:main:a", "agent:main:b", "agent:main:c"}, func(t *testing.T, s *stage) {
		ask := func(to, message, then string) string {
			return `[[tool:sessions_send {"sessionKey":"agent:main:` + to + `","message":` + jsonOf(t, message) + `}]][[say:` + then + `]]`
		}
		run, reply := s.await(s.send("agent:main:a", ask("b", ask("c", ask("a", "[[say:from a]]", "from c"), "from b"), "end")))
		assert.Equal(t, core.OutcomeOK, run.Outcome)
		assert.Equal(t, "end", reply)
		later(time.Hour)
		page, err := s.as("").Records(t.Context(), core.RecordQuery{Kind: core.RecordExchanges})
		require.NoError(t, err)
		require.Len(t, page.Exchanges, 3)
		for _, x := range page.Exchanges {
			_, runs := s.exchangeOf(x.ID)
			to, from := x.TargetKey[len("agent:main:"):], x.RequesterKey[len("agent:main:"):]
			assert.Equal(t, fmt.Sprintf("%s %s (%s)", to, from, to), speakers(runs))
			assert.Equal(t, "turns", x.Reason)
			assert.Equal(t, run.ChainID, x.ChainID)
			for i, step := range runs {
				assert.Equal(t, core.OutcomeOK, step.Outcome)
				assert.Equal(t, x.Hop, step.Hop, "step %d", i)
			}
		}
		all := ""
		for key, n := range map[string]int{"a": 4, "b": 3, "c": 3} {
			assert.Len(t, s.runsOf("agent:main:"+key), n, key)
			lines := s.transcript("agent:main:" + key)
			all += strings.Join(lines, "\n") + "\n"
		}
		for _, text := range []string{"from a", "from b", "from c"} {
			assert.Equal(t, 1, strings.Count(all, "user "+text+"\n"), "%s: carried over once", text)
		}
		assert.Contains(t, all, "wait_cycle")
	})
}
