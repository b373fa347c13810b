package engine_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordboard/core"
	"cordboard/core/channel/webhook"
)

// endpoint is the network behind a webhook: it keeps what it gets and answers by a script, the last answer for ever.
type endpoint struct {
	mu      sync.Mutex
	answers []string // a status, "hang", "garbage", "drop"
	keys    []string
	bodies  []string
	signed  []string
	urls    []string
	times   []time.Time
}

func (e *endpoint) RoundTrip(r *http.Request) (*http.Response, error) {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	n := len(e.keys)
	e.keys, e.bodies, e.signed = append(e.keys, r.Header.Get("Idempotency-Key")), append(e.bodies, string(raw)), append(e.signed, r.Header.Get(webhook.Signature))
	e.urls, e.times = append(e.urls, r.URL.String()), append(e.times, time.Now())
	answer := e.answers[min(n, len(e.answers)-1)]
	e.mu.Unlock()
	body := ""
	switch answer {
	case "hang":
		<-r.Context().Done()
		return nil, r.Context().Err()
	case "drop":
		return nil, io.ErrUnexpectedEOF
	case "garbage":
		answer, body = "200", "\x00{{{ no JSON"
	}
	status := 0
	if _, err := fmt.Sscan(answer, &status); err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: status, Status: answer + " " + http.StatusText(status), Header: http.Header{"Location": {"http://elsewhere/"}},
		Body: io.NopCloser(strings.NewReader(body)), Request: r,
	}, nil
}

func (e *endpoint) channel() core.Channel {
	c := webhook.New("http://sink/hook", func() string { return "s3cret" })
	c.Client.Transport = e
	return c
}

// What a webhook may do to a text: whatever happens, the same key, bytes and signature; few attempts, further and further apart; nothing is
// followed elsewhere; and the row tells how it went.
func TestWebhooksThatMisbehave(t *testing.T) {
	for name, c := range map[string]struct {
		answers []string
		at      []time.Duration // of the attempts, since the first
		state   core.DeliveryState
		says    string
	}{
		"fine":             {[]string{"204"}, []time.Duration{0}, core.DeliveryDelivered, ""},
		"an odd answer":    {[]string{"garbage"}, []time.Duration{0}, core.DeliveryDelivered, ""},
		"500 once":         {[]string{"500", "200"}, []time.Duration{0, 5 * time.Second}, core.DeliveryDelivered, ""},
		"the line drops":   {[]string{"drop", "drop", "200"}, []time.Duration{0, 5 * time.Second, 15 * time.Second}, core.DeliveryDelivered, ""},
		"a redirect":       {[]string{"307"}, []time.Duration{0, 5 * time.Second, 15 * time.Second, 35 * time.Second}, core.DeliveryGaveUp, "307"},
		"it hangs":         {[]string{"hang"}, []time.Duration{0, 15 * time.Second, 35 * time.Second, 65 * time.Second}, core.DeliveryGaveUp, "no answer within 10s"},
		"it hangs at once": {[]string{"hang", "200"}, []time.Duration{0, 15 * time.Second}, core.DeliveryDelivered, ""},
		"it is not there":  {[]string{"404"}, []time.Duration{0, 5 * time.Second, 15 * time.Second, 35 * time.Second}, core.DeliveryGaveUp, "404"},
	} {
		t.Run(name, func(t *testing.T) {
			e := &endpoint{answers: c.answers}
			stageWith(t, chatChannel, e.channel(), func(t *testing.T, s *stage) {
				s.receive(core.Inbound{Channel: "chat", Peer: "p", Text: "<hello> & ä"})
				later(24 * time.Hour)
				var at []time.Duration
				for _, when := range e.times {
					at = append(at, when.Sub(e.times[0]).Round(time.Second))
				}
				assert.Equal(t, c.at, at)
				row := s.rows()[0]
				assert.Equal(t, c.state, row.State)
				assert.Equal(t, len(c.at), row.Attempts)
				assert.Contains(t, row.LastError, c.says)
				assert.Equal(t, c.state == core.DeliveryGaveUp, s.row("main").Undelivered)
				e.same(t, row.ID)
			})
		})
	}
}

// same checks that every attempt carried one key, one body and its signature, to the one place that is configured.
func (e *endpoint) same(t *testing.T, key string) {
	t.Helper()
	mac := hmac.New(sha256.New, []byte("s3cret"))
	mac.Write([]byte(e.bodies[0]))
	for i := range e.keys {
		assert.Equal(t, key, e.keys[i])
		assert.Equal(t, e.bodies[0], e.bodies[i])
		assert.Equal(t, "sha256="+hex.EncodeToString(mac.Sum(nil)), e.signed[i])
		assert.Equal(t, "http://sink/hook", e.urls[i])
	}
}

// Retries go on over restarts, clean or not, with the same key and bytes; what gave up is retried by the operator only.
func TestRetriesGoOnOverRestarts(t *testing.T) {
	e := &endpoint{answers: []string{"500", "500", "500", "500", "200"}}
	stageWith(t, chatChannel, e.channel(), func(t *testing.T, s *stage) {
		s.receive(core.Inbound{Channel: "chat", Peer: "p", Text: "hello"})
		later(time.Second)
		s.killAndOpen()
		later(5 * time.Second)
		require.Len(t, e.keys, 2)
		s.restart()
		later(time.Hour)
		require.Len(t, e.keys, 4)
		row := s.rows()[0]
		assert.Equal(t, core.DeliveryGaveUp, row.State)
		s.killAndOpen()
		later(time.Hour)
		require.Len(t, e.keys, 4, "nobody but the operator tries again")
		_, err := s.as("").Do(t.Context(), core.Command{Retry: &core.Retry{Delivery: row.ID}})
		require.NoError(t, err)
		later(time.Second)
		assert.Equal(t, core.DeliveryDelivered, s.rows()[0].State)
		e.bodies, e.keys, e.signed, e.urls = e.bodies[:4], e.keys[:4], e.signed[:4], e.urls[:4]
		e.same(t, row.ID)
	})
}

// One sink that hangs keeps no other text waiting; texts of one chat keep their order, one at a time.
func TestHangingSinkKeepsNobodyWaiting(t *testing.T) {
	slow := &slowChannel{free: make(chan struct{})}
	synctest.Test(t, func(t *testing.T) {
		chat := &carrier{}
		s := &stage{
			dir: t.TempDir(), channels: map[string]core.Channel{"chat": chat, "slow": slow},
			config: `session: { dmScope: "per-peer" }, channels: { chat: { type: "webhook", url: "http://127.0.0.1:1/" }, slow: { type: "webhook", url: "http://127.0.0.1:1/" } }`,
		}
		slow.free = make(chan struct{})
		s.open(t)
		defer s.close()
		for i := range 20 {
			s.receive(core.Inbound{Channel: "slow", Peer: fmt.Sprint("p", i%2), Text: fmt.Sprint(i)})
			later(time.Millisecond)
		}
		synctest.Wait()
		assert.Equal(t, 2, slow.under, "one a chat")
		start := time.Now()
		s.receive(core.Inbound{Channel: "chat", Peer: "q", Text: "quick"})
		synctest.Wait()
		require.Len(t, chat.seen, 1)
		assert.Zero(t, time.Since(start))
		close(slow.free)
		later(time.Second)
		want := map[string]int{}
		for _, d := range slow.seen {
			n := 0
			_, err := fmt.Sscan(d.Text, &n)
			require.NoError(t, err)
			assert.GreaterOrEqual(t, n, want[d.Route.To], "in order")
			want[d.Route.To] = n
		}
		assert.Len(t, slow.seen, 20)
	})
}

// slowChannel delivers nothing until it is free.
type slowChannel struct {
	carrier
	free  chan struct{}
	under int // most at once
	now   int
}

func (c *slowChannel) Deliver(ctx context.Context, d core.Delivery) error {
	c.mu.Lock()
	c.now++
	c.under = max(c.under, c.now)
	c.mu.Unlock()
	select {
	case <-c.free:
	case <-ctx.Done():
	}
	c.mu.Lock()
	c.now--
	c.mu.Unlock()
	return c.carrier.Deliver(ctx, d)
}

// A channel that breaks down has failed, and the engine goes on.
func TestChannelThatPanics(t *testing.T) {
	chat := &carrier{}
	chat.during = func() { chat.during = nil; panic("wires crossed") }
	stageWith(t, chatChannel, chat, func(t *testing.T, s *stage) {
		s.receive(core.Inbound{Channel: "chat", Peer: "p", Text: "hello"})
		later(time.Second)
		row := s.rows()[0]
		assert.Equal(t, core.DeliveryPending, row.State)
		assert.Contains(t, row.LastError, "wires crossed")
		later(time.Minute)
		assert.Equal(t, core.DeliveryDelivered, s.rows()[0].State)
	})
}

// An attempt that is under way when the engine ends gets the drain to end in: it is not left to be made again or to be unknown.
func TestStopWaitsForAttempts(t *testing.T) {
	for _, kind := range []string{`type: "webhook", url: "http://127.0.0.1:1/"`, `type: "exec", command: ["true"]`} {
		slow := &slowChannel{}
		stageWith(t, `channels: { chat: { `+kind+` } }`, slow, func(t *testing.T, s *stage) {
			slow.free = make(chan struct{})
			s.receive(core.Inbound{Channel: "chat", Peer: "p", Text: "hello"})
			synctest.Wait()
			go func() {
				time.Sleep(3 * time.Second)
				close(slow.free)
			}()
			s.restart()
			later(time.Hour)
			assert.Equal(t, core.DeliveryDelivered, s.rows()[0].State)
			assert.Len(t, slow.seen, 1)
		})
	}
}

// After a crash an attempt by a command is unknown, and shown as such; the operator's retry makes it anew.
func TestUnknownIsRetriedByTheOperator(t *testing.T) {
	chat := &carrier{}
	stageWith(t, `channels: { chat: { type: "exec", command: ["true"] } }`, chat, func(t *testing.T, s *stage) {
		crashed := t.TempDir()
		chat.during = func() {
			require.NoError(t, s.backup(crashed))
			chat.during = nil
		}
		s.receive(core.Inbound{Channel: "chat", Peer: "p", Text: "hello"})
		later(time.Second)
		s.engine.Stop(context.Background())
		require.NoError(t, s.store.Close())
		s.dir = crashed
		s.open(t)
		later(time.Hour)
		row := s.rows()[0]
		assert.Equal(t, core.DeliveryUnknown, row.State)
		assert.Len(t, chat.seen, 1)
		assert.True(t, s.row("main").Undelivered)
		s.killAndOpen()
		later(time.Hour)
		assert.Equal(t, core.DeliveryUnknown, s.rows()[0].State)
		_, err := s.as("").Do(t.Context(), core.Command{Retry: &core.Retry{Delivery: row.ID}})
		require.NoError(t, err)
		later(time.Second)
		assert.Equal(t, core.DeliveryDelivered, s.rows()[0].State)
		assert.Len(t, chat.seen, 2)
		assert.False(t, s.row("main").Undelivered)
	})
}

// A text that waits for its channel when the config makes it an outbox is delivered there: by being kept and shown.
func TestChannelThatBecameAnOutbox(t *testing.T) {
	chat := &carrier{fail: []error{errors.New("down")}}
	stageWith(t, chatChannel, chat, func(t *testing.T, s *stage) {
		s.receive(core.Inbound{Channel: "chat", Peer: "p", Text: "hello"})
		later(time.Second)
		s.config = ""
		s.restart()
		later(time.Minute)
		assert.Equal(t, core.DeliveryDelivered, s.rows()[0].State)
		assert.Len(t, chat.seen, 1)
	})
}

// A policy that changed while nobody ran blocks what waits.
func TestPolicyThatChangedOverARestart(t *testing.T) {
	chat := &carrier{fail: []error{errors.New("down")}}
	stageWith(t, chatChannel, chat, func(t *testing.T, s *stage) {
		s.receive(core.Inbound{Channel: "chat", Peer: "p", Text: "hello"})
		later(time.Second)
		s.config = chatChannel + `, session: { sendPolicy: { rules: [{ match: { channel: "chat" }, action: "deny" }] } }`
		s.restart()
		later(time.Hour)
		row := s.rows()[0]
		assert.Equal(t, core.DeliveryBlocked, row.State)
		assert.Equal(t, `rules[0] { channel: "chat" }`, row.Rule)
		assert.Len(t, chat.seen, 1)
	})
}
