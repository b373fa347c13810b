package webhook_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordboard/core"
	"cordboard/core/channel/webhook"
)

var delivery = core.Delivery{
	ID: "d1", SessionKey: "agent:main:main", RunID: "r1", Route: core.DeliveryContext{Channel: "chat", To: "42", ThreadID: "7"}, Text: "<b> & \"q\"\n", CreatedAt: 5,
}

// sink records what reaches it and answers with status and body.
func sink(t *testing.T, status int, answer string) (*httptest.Server, *[]*http.Request, *[]string) {
	t.Helper()
	var requests []*http.Request
	var bodies []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		requests, bodies = append(requests, r), append(bodies, string(raw))
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(server.Close)
	return server, &requests, &bodies
}

func secret() string { return "s3" }

// Every attempt carries the same key, the same bytes and their signature.
func TestDeliver(t *testing.T) {
	server, requests, bodies := sink(t, 204, "")
	c := webhook.New(server.URL, secret)
	for range 2 {
		require.NoError(t, c.Deliver(t.Context(), delivery))
	}
	require.Len(t, *bodies, 2)
	assert.Equal(t, (*bodies)[0], (*bodies)[1])
	var got map[string]any
	require.NoError(t, json.Unmarshal([]byte((*bodies)[0]), &got))
	assert.Equal(t, delivery.Text, got["text"])
	assert.Equal(t, map[string]any{"channel": "chat", "to": "42", "threadId": "7"}, got["route"])
	mac := hmac.New(sha256.New, []byte("s3"))
	mac.Write([]byte((*bodies)[0]))
	for _, r := range *requests {
		assert.Equal(t, "d1", r.Header.Get("Idempotency-Key"))
		assert.Equal(t, "sha256="+hex.EncodeToString(mac.Sum(nil)), r.Header.Get(webhook.Signature))
	}
	require.NoError(t, webhook.New(server.URL, func() string { return "" }).Deliver(t.Context(), delivery))
	assert.Empty(t, (*requests)[2].Header.Get(webhook.Signature))
}

// What is no 2xx is a failure, a redirect too: the text goes nowhere else.
func TestFailures(t *testing.T) {
	for _, status := range []int{301, 307, 400, 429, 500} {
		server, requests, _ := sink(t, status, "")
		err := webhook.New(server.URL, secret).Deliver(t.Context(), delivery)
		assert.ErrorContains(t, err, http.StatusText(status))
		assert.Len(t, *requests, 1)
	}
	hang := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer hang.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	assert.ErrorIs(t, webhook.New(hang.URL, secret).Deliver(ctx, delivery), context.Canceled)
	assert.Error(t, webhook.New("http://127.0.0.1:1/", secret).Deliver(t.Context(), delivery))
	assert.Error(t, webhook.New("::", secret).Deliver(t.Context(), delivery))
}

func TestThreads(t *testing.T) {
	server, _, bodies := sink(t, 200, `{"threadId":"t9"}`)
	c := webhook.New(server.URL, secret)
	id, err := c.OpenThread(t.Context(), delivery.Route, "title")
	require.NoError(t, err)
	assert.Equal(t, "t9", id)
	assert.Contains(t, (*bodies)[0], `"op":"thread.open"`)
	require.NoError(t, c.Unbind(t.Context(), delivery.Route))
	assert.Contains(t, (*bodies)[1], `"op":"thread.unbind"`)
	for _, answer := range []string{"", "{}", `{"threadId":" "}`, "no JSON"} {
		server, _, _ := sink(t, 200, answer)
		_, err := webhook.New(server.URL, secret).OpenThread(t.Context(), delivery.Route, "title")
		assert.ErrorContains(t, err, "threadId", answer)
	}
}
