package openai_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"cordboard/core"
	"cordboard/core/runtime/openai"
	"cordboard/testdata/mcpserver"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestMain(m *testing.M) {
	if mcpserver.Asked() {
		mcpserver.Main()
		return
	}
	goleak.VerifyTestMain(m)
}

// golden compares what was sent with a file of the top-level testdata.
func golden(t *testing.T, name string, bodies []string) {
	t.Helper()
	var got bytes.Buffer
	for _, b := range bodies {
		require.NoError(t, json.Indent(&got, []byte(b), "", "  "))
		got.WriteByte('\n')
	}
	file := filepath.Join("..", "..", "..", "testdata", "runtime", "openai", name)
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, got.Bytes(), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), got.String())
}

// loopback is an endpoint that answers each request with the next of its answers, the last again and again.
type loopback struct {
	*httptest.Server
	mu      sync.Mutex
	bodies  []string
	headers []http.Header
	answers []http.HandlerFunc
}

func serve(t *testing.T, answers ...http.HandlerFunc) *loopback {
	l := &loopback{answers: answers}
	l.Server = httptest.NewServer(l)
	t.Cleanup(l.Close)
	return l
}

func (l *loopback) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	l.mu.Lock()
	answer := l.answers[min(len(l.bodies), len(l.answers)-1)]
	l.bodies, l.headers = append(l.bodies, string(body)), append(l.headers, r.Header.Clone())
	l.mu.Unlock()
	if r.URL.Path != "/v1/chat/completions" || r.Method != http.MethodPost {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	answer(w, r)
}

func (l *loopback) asked() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.bodies)
}

// stream answers with data lines as they are given; what begins with another field goes out as it is.
func stream(events ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, e := range events {
			if strings.HasPrefix(e, "{") || e == "[DONE]" {
				e = "data: " + e
			}
			fmt.Fprintf(w, "%s\n\n", e)
			w.(http.Flusher).Flush()
		}
	}
}

// says streams a text in pieces, with usage and a proper end.
func says(pieces ...string) http.HandlerFunc {
	var events []string
	for _, p := range pieces {
		events = append(events, piece(p))
	}
	return stream(append(events, finish("stop"), usage(10, 2), "[DONE]")...)
}

// calls streams one whole tool call.
func calls(id, name, arguments string) http.HandlerFunc {
	return stream(callPiece(0, id, name, arguments), finish("tool_calls"), usage(10, 2), "[DONE]")
}

func piece(text string) string {
	return fmt.Sprintf(`{"choices":[{"index":0,"delta":{"content":%s}}]}`, quoted(text))
}

func callPiece(index int, id, name, arguments string) string {
	return fmt.Sprintf(`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":%d,"id":%s,"type":"function","function":{"name":%s,"arguments":%s}}]}}]}`,
		index, quoted(id), quoted(name), quoted(arguments))
}

func finish(reason string) string {
	return fmt.Sprintf(`{"choices":[{"index":0,"delta":{},"finish_reason":%s}]}`, quoted(reason))
}

func usage(in, out int) string {
	return fmt.Sprintf(`{"choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":%d}}`, in, out)
}

func quoted(text string) string {
	raw, _ := json.Marshal(text)
	return string(raw)
}

// fails answers with a status, a body and header pairs.
func fails(status int, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// sink records what a runtime produces; call answers the tools.
type sink struct {
	core.Sink // for what this runtime does not use

	mu     sync.Mutex
	text   string
	chunks int
	events []string
	call   func(name string, params json.RawMessage) (json.RawMessage, bool, error)
	heard  chan struct{} // closed at the first text, when there is one
}

func (s *sink) Text(delta string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.heard != nil && s.text == "" {
		close(s.heard)
	}
	s.text += delta
	s.chunks++
	return nil
}

func (s *sink) Think(delta string) error {
	s.events = append(s.events, "think "+delta)
	return nil
}

func (s *sink) Call(_ context.Context, id, tool string, params json.RawMessage) (json.RawMessage, bool, error) {
	s.events = append(s.events, fmt.Sprintf("%s %s %s", id, tool, params))
	if s.call == nil {
		return json.RawMessage(`{"ok":true}`), false, nil
	}
	return s.call(tool, params)
}

// rig is a runtime over a loopback, in a time that passes only by its own sleeps.
type rig struct {
	openai.Runtime
	agent openai.Agent
	slept []time.Duration
}

const secret = "sk-very-secret"

var start = time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)

func newRig(t *testing.T, l *loopback) *rig {
	client := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(client.CloseIdleConnections)
	r := &rig{agent: openai.Agent{Model: "mock/m1"}}
	r.Runtime = openai.Runtime{
		Agent:  func(string) openai.Agent { return r.agent },
		Client: client,
		Providers: map[string]openai.Provider{"mock": {
			BaseURL: l.URL + "/v1/", KeyEnv: "MOCK_KEY", Key: func() string { return secret },
			Models: []openai.Model{
				{ID: "m1", Window: 8000, Prices: &openai.Prices{Input: 3, Output: 15}, Thinking: []string{"low", "high"}},
				{ID: "m2", Window: 8000, MaxTokens: 99, Images: true},
				{ID: "small", Window: 1000},
			},
		}},
		Now: func() time.Time { return start },
		Sleep: func(ctx context.Context, d time.Duration) error {
			r.slept = append(r.slept, d)
			return ctx.Err()
		},
	}
	return r
}

func (r *rig) play(t *testing.T, turn core.Turn, s *sink) (core.TurnResult, error) {
	t.Helper()
	if turn.Run.Model == "" {
		turn.Run.Model = r.agent.Model
	}
	if turn.Session.Key == "" {
		turn.Session.Key = "agent:main:main"
	}
	return r.Turn(t.Context(), turn, s)
}

func message(text string) core.Turn {
	return core.Turn{Run: core.Run{Kind: core.RunChat, Message: text}}
}

// history walks transcript lines, given oldest first.
func history(t *testing.T, lines ...string) func(yield func(core.Message) bool) {
	var list []core.Message
	for i, raw := range lines {
		role, flags, at, err := core.Inspect([]byte(raw))
		require.NoError(t, err, raw)
		list = append(list, core.Message{Seq: uint64(i + 1), Role: role, Flags: flags, At: at, Raw: json.RawMessage(raw)})
	}
	slices.Reverse(list)
	return slices.Values(list)
}
