package engine_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordboard/core"
)

// carrier is a channel that answers with the given errors, one an attempt, and then delivers.
type carrier struct {
	mu     sync.Mutex
	fail   []error
	seen   []core.Delivery
	times  []time.Time
	during func() // in the attempt
}

func (c *carrier) Deliver(ctx context.Context, d core.Delivery) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen, c.times = append(c.seen, d), append(c.times, time.Now())
	if c.during != nil {
		c.during()
	}
	if n := len(c.seen); n <= len(c.fail) && c.fail[n-1] != nil {
		return c.fail[n-1]
	}
	return ctx.Err()
}

func (c *carrier) OpenThread(context.Context, core.DeliveryContext, string) (string, error) {
	return "", errors.New("no threads")
}

func (c *carrier) Unbind(context.Context, core.DeliveryContext) error { return nil }

func (s *stage) rows() []core.Delivery {
	page, err := s.as("").Records(s.t.Context(), core.RecordQuery{Kind: core.RecordDeliveries})
	require.NoError(s.t, err)
	return page.Deliveries
}

const chatChannel = `channels: { chat: { type: "webhook", url: "http://127.0.0.1:1/", owners: ["boss"] } }`

func (s *stage) receive(in core.Inbound) core.Receipt {
	s.t.Helper()
	receipt, err := s.as("").Do(s.t.Context(), core.Command{Inbound: &in})
	require.NoError(s.t, err)
	return receipt
}

// later lets everything that is under way or due within d happen.
func later(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// A message from a channel makes its session, and the answer goes to where it came from.
func TestInboundIsAnsweredWhereItCameFrom(t *testing.T) {
	chat := &carrier{}
	stageWith(t, chatChannel+`, session: { dmScope: "per-channel-peer" }`, chat, func(t *testing.T, s *stage) {
		receipt := s.receive(core.Inbound{Channel: " Chat ", Peer: "p1", SenderID: "p1", AccountID: "acct", Name: "Mira", ThreadID: "7", Text: "hello"})
		assert.Equal(t, "agent:main:chat:direct:p1", receipt.Key)
		_, reply := s.await(receipt.Run)
		assert.Equal(t, "hello", reply)
		later(0)
		require.Len(t, chat.seen, 1)
		assert.Equal(t, core.DeliveryContext{Channel: "chat", To: "p1", AccountID: "acct", ThreadID: "7"}, chat.seen[0].Route)
		assert.Equal(t, core.DeliveryDelivered, s.rows()[0].State)

		group := s.receive(core.Inbound{Channel: "chat", ChatType: core.ChatGroup, ID: "g:1", Name: "Ops", Text: "hi"})
		assert.Equal(t, "agent:main:chat:group:g:1", group.Key)
		s.await(group.Run)
		answer, _ := s.call("", "sessions_list", `{"kinds":["group"]}`)
		row := rows(t, answer)[0]
		assert.Equal(t, "Ops", row["displayName"])
		assert.Equal(t, "chat", row["channel"])
		assert.Equal(t, "g:1", row["lastTo"])

		again := core.Command{Key: "m1", Inbound: &core.Inbound{Channel: "chat", Peer: "p1", Text: "once"}}
		for range 2 {
			receipt, err := s.as("").Do(t.Context(), again)
			require.NoError(t, err)
			s.await(receipt.Run)
		}
		assert.Len(t, s.transcript("agent:main:chat:direct:p1"), 4)
	})
}

func stageWith(t *testing.T, configText string, chat core.Channel, fn func(t *testing.T, s *stage)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &stage{dir: t.TempDir(), config: configText, channels: map[string]core.Channel{"chat": chat}}
		s.open(t)
		defer s.close()
		fn(t, s)
	})
}

// Attempts are few, further and further apart, with the same text; then the delivery has given up, and only the operator tries again.
func TestDeliveryRetries(t *testing.T) {
	down := errors.New("sink is down")
	chat := &carrier{fail: []error{down, down, down, down}}
	stageWith(t, chatChannel, chat, func(t *testing.T, s *stage) {
		start := time.Now()
		s.receive(core.Inbound{Channel: "chat", Peer: "p1", Text: "hello"})
		later(time.Hour)
		var waits []time.Duration
		for _, at := range chat.times {
			waits = append(waits, at.Sub(start).Round(time.Second))
		}
		assert.Equal(t, []time.Duration{0, 5 * time.Second, 15 * time.Second, 35 * time.Second}, waits)
		row := s.rows()[0]
		assert.Equal(t, core.DeliveryGaveUp, row.State)
		assert.Equal(t, 4, row.Attempts)
		assert.Equal(t, "sink is down", row.LastError)
		for _, d := range chat.seen {
			assert.Equal(t, row.ID, d.ID)
			assert.Equal(t, "hello", d.Text)
		}
		_, err := s.as("").Do(t.Context(), core.Command{Retry: &core.Retry{Delivery: row.ID}})
		require.NoError(t, err)
		later(time.Second)
		assert.Equal(t, core.DeliveryDelivered, s.rows()[0].State)
		_, err = s.as("").Do(t.Context(), core.Command{Retry: &core.Retry{Delivery: row.ID}})
		assert.Equal(t, core.CodeConflict, core.CodeOf(err))
		_, err = s.as("").Do(t.Context(), core.Command{Retry: &core.Retry{Delivery: "none"}})
		assert.Equal(t, core.CodeNotFound, core.CodeOf(err))
	})
}

// The send policy at its three exits: a denied session keeps the people's message and runs nothing; a reply that was allowed when it was
// written and is denied before it leaves is blocked for good; /send by an owner turns it around, by others it is text (G159-G164).
func TestPolicyAtTheExits(t *testing.T) {
	chat := &carrier{fail: []error{errors.New("later")}}
	stageWith(t, chatChannel+`, session: { dmScope: "per-channel-peer" }`, chat, func(t *testing.T, s *stage) {
		first := s.receive(core.Inbound{Channel: "chat", Peer: "p", Text: "hello"})
		later(time.Second)
		require.Equal(t, core.DeliveryPending, s.rows()[0].State)
		off := s.receive(core.Inbound{Channel: "chat", Peer: "p", SenderID: "boss", Text: " /SEND: off "})
		assert.Equal(t, "send policy deny", off.Outcome)
		assert.Empty(t, off.Run)
		later(time.Hour)
		row := s.rows()[0]
		assert.Equal(t, core.DeliveryBlocked, row.State)
		assert.Equal(t, "session override", row.Rule)
		assert.Len(t, chat.seen, 1, "never attempted again")

		blocked := s.receive(core.Inbound{Channel: "chat", Peer: "p", SenderID: "p", Text: "/send on"})
		assert.Contains(t, blocked.Outcome, "blocked")
		run, _ := s.await(blocked.Run)
		assert.Equal(t, core.RunNote, run.Kind)
		assert.Equal(t, []string{"user hello", "assistant hello", "user /send on"}, s.transcript(first.Key))

		on := s.receive(core.Inbound{Channel: "chat", Peer: "p", SenderID: "boss", Text: "/send on"})
		assert.Equal(t, "send policy allow", on.Outcome)
		for _, text := range []string{"send on", "send", "please /send off", "/sendoff", "/send off now", "/sender"} {
			receipt := s.receive(core.Inbound{Channel: "chat", Peer: "p", SenderID: "boss", Text: text})
			assert.NotEmpty(t, receipt.Run, "%q is a message", text)
			s.await(receipt.Run)
		}
		for _, text := range []string{"/send", " /SEND: "} {
			receipt := s.receive(core.Inbound{Channel: "chat", Peer: "p", SenderID: "boss", Text: text})
			assert.Empty(t, receipt.Run, "%q asks and sends nothing", text)
			assert.Equal(t, "send policy allow: session override", receipt.Outcome)
		}
	})
}

func TestInboundRefusals(t *testing.T) {
	stageWith(t, chatChannel, &carrier{}, func(t *testing.T, s *stage) {
		for word, in := range map[string]core.Inbound{
			"channel": {Peer: "p", Text: "x"}, "text": {Channel: "chat", Peer: "p", Text: " "}, "peer": {Channel: "chat", Text: "x"},
			"id": {Channel: "chat", ChatType: core.ChatGroup, Text: "x"}, "chatType": {Channel: "chat", ChatType: "crowd", ID: "g", Text: "x"},
			"agent": {Channel: "chat", Peer: "p", Agent: "ghost", Text: "x"},
		} {
			_, err := s.as("").Do(t.Context(), core.Command{Inbound: &in})
			assert.Equal(t, core.CodeInvalidParams, core.CodeOf(err), word)
			assert.ErrorContains(t, err, word)
		}
	})
}

// What a crash leaves of deliveries: an attempt at a webhook is made again with the same key; one by a command may have happened, so it is
// unknown and only the operator repeats it; what is too old is not sent.
func TestDeliveriesOverACrash(t *testing.T) {
	for kind, want := range map[string]core.DeliveryState{"webhook": core.DeliveryDelivered, "exec": core.DeliveryUnknown} {
		channel := map[string]string{"webhook": `url: "http://127.0.0.1:1/"`, "exec": `command: ["true"]`}[kind]
		chat := &carrier{}
		stageWith(t, fmt.Sprintf(`channels: { chat: { type: %q, %s } }`, kind, channel), chat, func(t *testing.T, s *stage) {
			crashed := t.TempDir()
			chat.during = func() { // the moment between the committed attempt and its result
				require.NoError(t, s.backup(crashed))
				chat.during = nil
			}
			s.receive(core.Inbound{Channel: "chat", Peer: "p", Text: "hello"})
			later(time.Second)
			s.engine.Stop(context.Background())
			require.NoError(t, s.store.Close())
			s.dir = crashed
			s.open(t)
			later(time.Second)
			assert.Equal(t, want, s.rows()[0].State, kind)
			if kind == "webhook" {
				require.Len(t, chat.seen, 2)
				assert.Equal(t, chat.seen[0].ID, chat.seen[1].ID)
			}
		})
	}
	chat := &carrier{fail: []error{errors.New("down")}}
	stageWith(t, chatChannel, chat, func(t *testing.T, s *stage) {
		s.receive(core.Inbound{Channel: "chat", Peer: "p", Text: "hello"})
		later(time.Second)
		s.kill()
		time.Sleep(11 * time.Minute)
		s.open(t)
		later(time.Hour)
		assert.Equal(t, core.DeliveryExpired, s.rows()[0].State)
		assert.Len(t, chat.seen, 1)
	})
}
