package engine_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordboard/core"
)

// Where a message goes, by session.dmScope (session-tools.md §1), what the row learns of it, and where the answer goes.
func TestInboundRouting(t *testing.T) {
	direct := core.Inbound{Channel: "Chat", Peer: " P:1 ", AccountID: "acct", SenderID: "P:1", Name: "Mira"}
	without := direct
	without.AccountID = ""
	room := core.Inbound{Channel: "chat", ChatType: core.ChatGroup, ID: "!Room:srv", SenderID: "P:1", Name: "Ops", ThreadID: "7"}
	feed := core.Inbound{Channel: "chat", ChatType: core.ChatChannel, ID: "c1"}
	elsewhere := direct
	elsewhere.Agent = "OPS"
	for name, c := range map[string]struct {
		scope string
		in    core.Inbound
		key   string
		to    string
	}{
		"main":                     {"main", direct, "agent:main:main", "P:1"},
		"per-peer":                 {"per-peer", direct, "agent:main:direct:P:1", "P:1"},
		"per-channel-peer":         {"per-channel-peer", direct, "agent:main:chat:direct:P:1", "P:1"},
		"per-account-channel-peer": {"per-account-channel-peer", direct, "agent:main:chat:acct:direct:P:1", "P:1"},
		"no account":               {"per-account-channel-peer", without, "agent:main:chat:default:direct:P:1", "P:1"},
		"a group":                  {"main", room, "agent:main:chat:group:!Room:srv", "!Room:srv"},
		"a channel":                {"per-peer", feed, "agent:main:chat:channel:c1", "c1"},
		"another agent":            {"per-peer", elsewhere, "agent:ops:direct:P:1", "P:1"},
	} {
		t.Run(name, func(t *testing.T) {
			chat := &carrier{}
			config := chatChannel + `, agents: { list: [{ id: "main" }, { id: "ops" }] }, session: { dmScope: "` + c.scope + `" }`
			stageWith(t, config, chat, func(t *testing.T, s *stage) {
				c.in.Text = "hello"
				receipt := s.receive(c.in)
				assert.Equal(t, c.key, receipt.Key)
				later(time.Second)
				row := s.row(c.key)
				chatType := c.in.ChatType
				if chatType == core.ChatUnknown {
					chatType = core.ChatDirect
				}
				assert.Equal(t, chatType, row.ChatType)
				assert.Equal(t, "chat", row.LastChannel)
				assert.Equal(t, c.to, row.LastTo)
				assert.Equal(t, c.in.AccountID, row.LastAccountID)
				assert.Equal(t, c.in.Name, row.DisplayName)
				if chatType != core.ChatDirect {
					assert.Equal(t, "chat", row.Channel)
				}
				require.Len(t, chat.seen, 1)
				assert.Equal(t, core.DeliveryContext{Channel: "chat", To: c.to, AccountID: c.in.AccountID, ThreadID: c.in.ThreadID}, chat.seen[0].Route)
				assert.Equal(t, "hello", chat.seen[0].Text)
				answer, _ := s.call("", "sessions_list", `{}`)
				listed := rows(t, answer)[0]
				assert.Equal(t, c.key, listed["key"])
				assert.Equal(t, "chat", listed["deliveryContext"].(map[string]any)["channel"])
				assert.Equal(t, c.to, listed["deliveryContext"].(map[string]any)["to"])
			})
		})
	}
}

// R058: the answer goes to where the message came from, whatever the row held before and whoever writes meanwhile.
func TestAnswersGoBackWhereTheyCameFrom(t *testing.T) {
	chat := &carrier{}
	stageWith(t, chatChannel, chat, func(t *testing.T, s *stage) {
		s.put(core.Session{
			Key: "agent:main:main", SessionID: "m", LastChannel: "telegram", LastTo: "old", LastAccountID: "old",
			Delivery: core.DeliveryContext{Channel: "telegram", To: "old", AccountID: "old"},
		})
		s.receive(core.Inbound{Channel: "chat", Peer: "a", Text: "[[sleep:1000]] for a"})
		s.receive(core.Inbound{Channel: "chat", Peer: "b", AccountID: "two", ThreadID: "9", Text: "[[sleep:1000]] for b"})
		s.receive(core.Inbound{Channel: "paper", Peer: "c", Text: "for c"})
		later(time.Minute)
		require.Len(t, chat.seen, 2)
		assert.Equal(t, core.DeliveryContext{Channel: "chat", To: "a"}, chat.seen[0].Route)
		assert.Equal(t, "for a", chat.seen[0].Text)
		assert.Equal(t, core.DeliveryContext{Channel: "chat", To: "b", AccountID: "two", ThreadID: "9"}, chat.seen[1].Route)
		row := s.row("main")
		assert.Equal(t, "paper", row.LastChannel)
		assert.Equal(t, "c", row.LastTo)
		assert.Empty(t, row.LastAccountID)
		for _, d := range s.rows() {
			assert.Equal(t, core.DeliveryDelivered, d.State)
		}
		assert.Len(t, s.rows(), 3)
	})
}

// A message brings an archived session back, denied or not; one into a mirrored session is refused and stores nothing.
func TestInboundAndOldSessions(t *testing.T) {
	stageWith(t, chatChannel+`, session: { dmScope: "per-peer" }`, &carrier{}, func(t *testing.T, s *stage) {
		for i, policy := range []core.SendPolicy{core.SendInherit, core.SendDeny} {
			key := fmt.Sprintf("agent:main:direct:p%d", i)
			s.put(core.Session{Key: key, SessionID: key, ArchivedAt: 5, SendPolicy: policy, DisplayName: "kept"})
			receipt := s.receive(core.Inbound{Channel: "chat", Peer: fmt.Sprint("p", i), Name: "new", Text: "hello"})
			assert.Equal(t, key, receipt.Key)
			later(time.Second)
			assert.Zero(t, s.row(key).ArchivedAt)
			assert.Equal(t, "kept", s.row(key).DisplayName)
		}
		s.put(core.Session{Key: "agent:main:direct:m", SessionID: "mirror", Source: "/d"})
		_, err := s.as("").Do(t.Context(), core.Command{Inbound: &core.Inbound{Channel: "chat", Peer: "m", Text: "hello"}})
		assert.Equal(t, core.CodeMirrored, core.CodeOf(err))
		assert.Empty(t, s.row("agent:main:direct:m").LastChannel)
		assert.Empty(t, s.transcript("agent:main:direct:m"))
	})
}

// A channel whose name means something else in a key would make its chats cron jobs or sub-agents, or keep their answers here.
func TestInboundFromNoChannel(t *testing.T) {
	stageWith(t, `session: { dmScope: "per-channel-peer" }`, &carrier{}, func(t *testing.T, s *stage) {
		before := s.everything()
		for _, channel := range []string{"cron", "Subagent", "internal", "unknown", "a:b", "x y"} {
			err := s.refuse(core.CodeInvalidParams, core.Command{Inbound: &core.Inbound{Channel: channel, Peer: "p", Text: "hello"}})
			assert.ErrorContains(t, err, "such as cron or subagent")
		}
		after := s.everything()
		assert.Equal(t, before, after)
	})
}

// The same message brought twice under a key is one message, over a restart too, blocked or a command or not; another under it is refused.
func TestInboundTwiceUnderOneKey(t *testing.T) {
	chat := &carrier{}
	stageWith(t, chatChannel+`, session: { dmScope: "per-peer" }`, chat, func(t *testing.T, s *stage) {
		bring := func(key, sender, text string) (core.Receipt, error) {
			receipt, err := s.as("").Do(t.Context(), core.Command{Key: key, Inbound: &core.Inbound{Channel: "chat", Peer: "p", SenderID: sender, Text: text}})
			receipt.Rev = 0
			return receipt, err
		}
		for _, c := range []struct{ key, sender, text string }{
			{"k1", "p", "hello"}, {"k2", "boss", "/send off"}, {"k3", "p", "blocked"}, {"k4", "boss", "/send on"}, {"k5", "p", "again"},
		} {
			first, err := bring(c.key, c.sender, c.text)
			require.NoError(t, err)
			later(time.Second)
			second, err := bring(c.key, c.sender, c.text)
			require.NoError(t, err)
			assert.Equal(t, first, second, c.key)
		}
		s.killAndOpen()
		receipt, err := bring("k2", "boss", "/send off")
		require.NoError(t, err)
		assert.Equal(t, "send policy deny", receipt.Outcome)
		assert.Equal(t, core.SendAllow, s.row("agent:main:direct:p").SendPolicy, "what was said is repeated, not done again")
		_, err = bring("k1", "p", "another")
		assert.Equal(t, core.CodeIdempotency, core.CodeOf(err))
		assert.Equal(t, []string{"user hello", "assistant hello", "user blocked", "user again", "assistant again"}, s.transcript("agent:main:direct:p"))
		assert.Len(t, chat.seen, 2)
	})
}
