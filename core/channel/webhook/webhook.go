// Package webhook carries texts to an HTTP endpoint (engine.md §5): a POST of JSON with an idempotency key and a signature. The same
// delivery always sends the same bytes, so a sink that honours the key sees it once however often it is attempted.
package webhook

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"cordboard/core"
)

// Channel is one endpoint.
type Channel struct {
	URL    string
	Secret func() string // of the signature; "" = unsigned
	Client *http.Client  // nil = New's
}

// Signature is the header that holds `sha256=<hex HMAC of the body>`.
const (
	Signature = "X-Cordboard-Signature"
	keyHeader = "Idempotency-Key"
	maxAnswer = 64 << 10 // bytes of an answer that are read
)

// New makes a channel that follows no redirects: they would carry the text to a place nobody configured.
func New(url string, secret func() string) *Channel {
	return &Channel{URL: url, Secret: secret, Client: &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

type body struct {
	Op        string               `json:"op"`
	ID        string               `json:"id,omitempty"`
	Session   string               `json:"sessionKey,omitempty"`
	RunID     string               `json:"runId,omitempty"`
	Route     core.DeliveryContext `json:"route"`
	Text      string               `json:"text,omitempty"`
	Title     string               `json:"title,omitempty"`
	CreatedAt int64                `json:"createdAt,omitempty"` // ms
}

// Deliver implements core.Channel. Any status of 2xx is a delivery.
func (c *Channel) Deliver(ctx context.Context, d core.Delivery) error {
	_, err := c.post(ctx, d.ID, body{Op: "deliver", ID: d.ID, Session: d.SessionKey, RunID: d.RunID, Route: d.Route, Text: d.Text, CreatedAt: d.CreatedAt})
	return err
}

// OpenThread implements core.Channel: the answer names the thread as {threadId}.
func (c *Channel) OpenThread(ctx context.Context, route core.DeliveryContext, title string) (string, error) {
	answer, err := c.post(ctx, "", body{Op: "thread.open", Route: route, Title: title})
	if err != nil {
		return "", err
	}
	var opened struct {
		ThreadID string `json:"threadId"`
	}
	if json.Unmarshal(answer, &opened) != nil || strings.TrimSpace(opened.ThreadID) == "" {
		return "", errors.New("the webhook opened no thread: its answer must be {\"threadId\": …}")
	}
	return opened.ThreadID, nil
}

// Unbind implements core.Channel.
func (c *Channel) Unbind(ctx context.Context, route core.DeliveryContext) error {
	_, err := c.post(ctx, "", body{Op: "thread.unbind", Route: route})
	return err
}

func (c *Channel) post(ctx context.Context, key string, b body) ([]byte, error) {
	var raw bytes.Buffer
	enc := json.NewEncoder(&raw)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(b); err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.URL, bytes.NewReader(raw.Bytes()))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	if key != "" {
		request.Header.Set(keyHeader, key)
	}
	if secret := c.Secret(); secret != "" {
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write(raw.Bytes())
		request.Header.Set(Signature, "sha256="+hex.EncodeToString(mac.Sum(nil)))
	}
	response, err := c.Client.Do(request)
	if failed, ok := errors.AsType[*url.Error](err); ok {
		return nil, failed.Err // without the address: it may hold a secret
	}
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return nil, err
	}
	if response.StatusCode < 200 || response.StatusCode > 299 {
		return nil, fmt.Errorf("the webhook answered %s", response.Status)
	}
	return answer, nil
}
