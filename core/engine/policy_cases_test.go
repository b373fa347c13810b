package engine_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordboard/core"
)

// The deny rule {discord, group} at every entry and exit (session-tools.md §7), and what turns it around.

const (
	denyGroups = `session: { dmScope: "per-channel-peer", sendPolicy: { rules: [{ match: { channel: "discord", chatType: "group" }, action: "deny" }] } }, ` +
		`channels: { discord: { type: "webhook", url: "http://127.0.0.1:1/", owners: ["boss"] } }, ` + open
	group    = "agent:main:discord:group:dev"
	theRule  = `rules[0] { channel: "discord", chatType: "group" }`
	rulesKey = "session.sendPolicy.rules[0]"
)

// onDiscord runs a test on a stage whose channel discord is carried by the given one.
func onDiscord(t *testing.T, configText string, chat core.Channel, fn func(t *testing.T, s *stage)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &stage{dir: t.TempDir(), config: configText, channels: map[string]core.Channel{"discord": chat}}
		s.open(t)
		defer s.close()
		s.put(core.Session{Key: "agent:main:main", SessionID: "m", UpdatedAt: 1})
		s.put(core.Session{Key: group, SessionID: "g", UpdatedAt: 1, Channel: "discord", LastChannel: "discord", LastTo: "dev"})
		fn(t, s)
	})
}

func toGroup(sender, text string) core.Inbound {
	return core.Inbound{Channel: "discord", ChatType: core.ChatGroup, ID: "dev", SenderID: sender, Text: text}
}

// G150, R139: what comes in. chat.send and sessions_send are refused and store nothing; the people's message is kept and no agent runs; a turn
// of a loop is not put there, and the announce follows.
func TestDenyAtTheEntries(t *testing.T) {
	chat := &carrier{}
	onDiscord(t, denyGroups, chat, func(t *testing.T, s *stage) {
		_, err := s.as("").Do(t.Context(), core.Command{Send: &core.Send{Session: group, Message: "x"}})
		var refused *core.Error
		require.ErrorAs(t, err, &refused)
		assert.Equal(t, core.CodeSendDenied, refused.Code)
		assert.Equal(t, rulesKey, refused.ConfigKey)
		assert.Contains(t, refused.Message, `{ channel: "discord", chatType: "group" }`)

		answer, code := s.tell("agent:main:main", group, "x", 0)
		assert.Equal(t, core.CodeSendDenied, code)
		assert.Equal(t, "error", answer["status"])
		assert.Equal(t, rulesKey, answer["configKey"])
		assert.Empty(t, s.runsOf(group))
		assert.Empty(t, s.transcript(group))

		kept := s.receive(toGroup("p", "hello"))
		assert.Equal(t, "blocked: "+theRule, kept.Outcome)
		run, reply := s.await(kept.Run)
		assert.Equal(t, core.RunNote, run.Kind)
		assert.Equal(t, kept.Outcome, run.Label, "the run says why no agent ran")
		assert.Empty(t, reply)
		assert.Equal(t, []string{"user hello"}, s.transcript(group))

		answer, _ = s.tell(group, "main", "hi [[announce:told]]", 30)
		assert.Equal(t, "hi", answer["reply"], "it may write to others")
		x, runs := s.exchangeOf(answer["exchangeId"])
		assert.Equal(t, "main (main)", speakers(runs))
		assert.Equal(t, "send_denied", x.Reason)
		assert.Contains(t, x.Why, rulesKey)
		assert.Len(t, s.transcript(group), 1)
		assert.Empty(t, chat.seen)
	})
}

// G149, R139, R140: what goes out is blocked with its rule when it would leave, once and for good: the reply to a message that came in while it
// was allowed, and an announce.
func TestDenyAtTheExits(t *testing.T) {
	for name, c := range map[string]struct {
		lift func(s *stage)
		rule string
	}{
		"by the rule":     {func(s *stage) { s.patch(group, core.SendInherit) }, theRule},
		"by the override": {func(s *stage) { s.patch(group, core.SendDeny) }, "session override"},
		"by an owner":     {func(s *stage) { s.receive(toGroup("boss", "/send off")) }, "session override"},
	} {
		t.Run(name, func(t *testing.T) {
			chat := &carrier{fail: []error{errors.New("busy"), errors.New("busy")}}
			var log bytes.Buffer
			onDiscord(t, denyGroups, chat, func(t *testing.T, s *stage) {
				s.log = slog.New(slog.NewJSONHandler(&log, nil))
				s.restart()
				s.patch(group, core.SendAllow)
				s.receive(toGroup("p", "[[sleep:1000]] reply"))
				later(2 * time.Second)
				answer, _ := s.tell("agent:main:main", group, "[[say:REPLY_SKIP]][[announce:told]]", 30)
				later(time.Second)
				require.Len(t, chat.seen, 2, "both have failed once and wait")
				s.receive(toGroup("p", "[[sleep:1m]] too late"))
				synctest.Wait()
				c.lift(s)
				later(time.Hour)
				rows := s.rows()
				require.Len(t, rows, 3)
				for _, row := range rows {
					assert.Equal(t, core.DeliveryBlocked, row.State, row.Text)
					assert.Equal(t, c.rule, row.Rule)
					assert.Equal(t, group, row.SessionKey)
				}
				assert.Len(t, chat.seen, 2, "never attempted again")
				assert.True(t, s.row(group).Undelivered)
				assert.Equal(t, 3, strings.Count(log.String(), "delivery blocked"), "the log tells of each")
				assert.Equal(t, 3, strings.Count(log.String(), jsonOf(t, c.rule)))
				x, _ := s.exchangeOf(answer["exchangeId"])
				assert.Equal(t, core.ExchangeDone, x.State)

				s.patch(group, core.SendAllow)
				later(time.Hour)
				assert.Len(t, chat.seen, 2, "not even when it is allowed again")
			})
		})
	}
}

// A step of an exchange asks the session that it is put into: where an announce run is refused the exchange has failed, and says by which rule.
func TestDeniedAnnounceRun(t *testing.T) {
	chat := &carrier{}
	onDiscord(t, denyGroups, chat, func(t *testing.T, s *stage) {
		s.patch(group, core.SendAllow)
		answer, _ := s.tell("agent:main:main", group, "[[sleep:1000]] hi [[announce:told]]", 0)
		synctest.Wait()
		s.patch(group, core.SendInherit)
		x, runs := s.exchangeOf(answer["exchangeId"])
		assert.Equal(t, "dev main", speakers(runs), "what was queued is not asked again, what follows is")
		assert.Equal(t, core.ExchangeFailed, x.State)
		assert.Equal(t, "announce send_denied", x.Reason)
		assert.Contains(t, x.Why, rulesKey)
		assert.Empty(t, s.rows())
		assert.Empty(t, chat.seen)
	})
}

// The override, and an owner's /send, turn the rule around; from anybody else, or inside other text, it is text.
func TestOverridesTurnTheRuleAround(t *testing.T) {
	for name, c := range map[string]struct {
		turn func(s *stage)
		ok   bool
	}{
		"patch allow":             {func(s *stage) { s.patch(group, core.SendAllow) }, true},
		"G159 /send on":           {func(s *stage) { s.receive(toGroup("boss", "/send on")) }, true},
		"G159 /send: on":          {func(s *stage) { s.receive(toGroup("boss", "/send: on")) }, true},
		"any case":                {func(s *stage) { s.receive(toGroup("boss", " /SEND On\n")) }, true},
		"/send inherit":           {func(s *stage) { s.patch(group, core.SendAllow); s.receive(toGroup("boss", "/send inherit")) }, false},
		"by a stranger":           {func(s *stage) { s.receive(toGroup("p", "/send on")) }, false},
		"by nobody":               {func(s *stage) { s.receive(toGroup("", "/send on")) }, false},
		"G161 without the slash":  {func(s *stage) { s.receive(toGroup("boss", "send on")) }, false},
		"inside other text":       {func(s *stage) { s.receive(toGroup("boss", "please /send on")) }, false},
		"with more after it":      {func(s *stage) { s.receive(toGroup("boss", "/send on now")) }, false},
		"another word":            {func(s *stage) { s.receive(toGroup("boss", "/send yes")) }, false},
		"an owner elsewhere only": {func(s *stage) { in := toGroup("boss", "/send on"); in.Channel = "slack"; s.receive(in) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			chat := &carrier{}
			onDiscord(t, denyGroups, chat, func(t *testing.T, s *stage) {
				c.turn(s)
				later(time.Minute)
				_, code := s.tell("agent:main:main", group, "[[say:REPLY_SKIP]][[announce:told]]", 5)
				got := s.receive(toGroup("p", "reply"))
				later(time.Minute)
				if !c.ok {
					assert.Equal(t, core.CodeSendDenied, code)
					assert.Equal(t, "blocked: "+theRule, got.Outcome)
					assert.Empty(t, chat.seen)
					return
				}
				assert.Empty(t, code)
				require.Len(t, chat.seen, 2)
				assert.Equal(t, "told", chat.seen[0].Text)
				assert.Equal(t, "reply", chat.seen[1].Text)
			})
		})
	}
}

// G164: an owner's /send off is carried out, told and audited, and is no message: nobody's agent reads it. Off by a stranger is.
func TestSendOffByOwnerAndByStranger(t *testing.T) {
	chat := &carrier{}
	onDiscord(t, denyGroups, chat, func(t *testing.T, s *stage) {
		direct := core.Inbound{Channel: "discord", Peer: "p", SenderID: "p", Text: "/send off"}
		stranger := s.receive(direct)
		s.await(stranger.Run)
		assert.Equal(t, []string{"user /send off", "assistant /send off"}, s.transcript(stranger.Key))
		assert.Empty(t, s.row(stranger.Key).SendPolicy)

		direct.SenderID = "boss"
		owner := s.receive(direct)
		assert.Equal(t, stranger.Key, owner.Key)
		assert.Equal(t, "send policy deny", owner.Outcome)
		assert.Empty(t, owner.Run)
		assert.Equal(t, core.SendDeny, s.row(owner.Key).SendPolicy)
		assert.Len(t, s.transcript(owner.Key), 2)
		page, err := s.as("").Records(t.Context(), core.RecordQuery{Kind: core.RecordAudit})
		require.NoError(t, err)
		assert.Equal(t, "discord:boss", page.Audit[0].Who)
		assert.Equal(t, owner.Key, page.Audit[0].Target)

		s.killAndOpen()
		assert.Equal(t, core.SendDeny, s.row(owner.Key).SendPolicy, "R145: the override is the store's")
	})
}

// R139: one bucket for all direct chats has the channel that wrote last; a reply asks for the channel it goes to.
func TestRepliesAskForTheChannelTheyGoTo(t *testing.T) {
	chat := &carrier{}
	onDiscord(t, `session: { sendPolicy: { rules: [{ match: { channel: "discord", chatType: "direct" }, action: "deny" }] } }, `+
		`channels: { discord: { type: "webhook", url: "http://127.0.0.1:1/" } }`, chat, func(t *testing.T, s *stage) {
		s.patch("main", core.SendAllow)
		s.receive(core.Inbound{Channel: "discord", Peer: "p", Text: "[[sleep:1000]] to discord"})
		s.receive(core.Inbound{Channel: "telegram", Peer: "q", Text: "to telegram"})
		synctest.Wait()
		s.patch("main", core.SendInherit)
		later(time.Hour)
		states := map[string]core.DeliveryState{}
		for _, row := range s.rows() {
			states[row.Text] = row.State
		}
		assert.Equal(t, map[string]core.DeliveryState{"to discord": core.DeliveryBlocked, "to telegram": core.DeliveryDelivered}, states)
		assert.Empty(t, chat.seen)
	})
}
