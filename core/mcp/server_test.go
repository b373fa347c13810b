package mcp_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"cordboard/core"
	"cordboard/core/config"
	"cordboard/core/engine"
	"cordboard/core/mcp"
	"cordboard/core/runtime/echo"
	"cordboard/store/bolt"
	"cordboard/testdata/mcpserver"
)

func TestMain(m *testing.M) {
	if mcpserver.Asked() {
		mcpserver.Main()
		return
	}
	goleak.VerifyTestMain(m)
}

const fleetConfig = `{
	agents: { list: [{ id: "main" }, { id: "ops" }] },
	tools: { sessions: { visibility: "all" }, agentToAgent: { enabled: true, allow: ["main", "ops"] } },
}`

// fleet is a running engine with sessions of three agents, one of which the others may not reach.
func fleet(t testing.TB) *engine.Engine {
	t.Helper()
	cfg, _, err := config.Parse("test.json5", []byte(fleetConfig))
	require.NoError(t, err)
	store, err := bolt.Open(bolt.Options{Dir: t.TempDir()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	_, err = store.Update(t.Context(), func(tx core.Tx) error {
		for _, key := range []string{"agent:main:main", "agent:ops:main", "agent:hidden:main"} {
			if err := tx.PutSession(core.Session{Key: key, SessionID: "id-" + key, UpdatedAt: 1}); err != nil {
				return err
			}
		}
		return nil
	})
	require.NoError(t, err)
	e, err := engine.New(store, cfg, engine.Options{Version: "test", Owner: "test", Runtimes: map[string]core.Runtime{"echo": echo.Runtime{Sleep: sleep}}})
	require.NoError(t, err)
	require.NoError(t, e.Start(t.Context()))
	t.Cleanup(func() {
		hurried, cancel := context.WithCancel(context.Background())
		cancel()
		e.Stop(hurried) // what sleeps would be waited for
	})
	return e
}

func sleep(ctx context.Context, _ time.Duration) error {
	<-ctx.Done()
	return ctx.Err()
}

func actor(t testing.TB, e *engine.Engine, key string) core.Board {
	t.Helper()
	b, err := e.Board(t.Context(), core.Actor{Kind: core.ActorSession, Session: key})
	require.NoError(t, err)
	return b
}

// client is connected to a server that speaks for a session.
func client(t testing.TB, b core.Board) *sdk.ClientSession {
	t.Helper()
	s, err := mcp.NewServer(t.Context(), b, mcp.ServerOptions{Version: "test"})
	require.NoError(t, err)
	here, there := sdk.NewInMemoryTransports()
	served, err := s.Connect(t.Context(), there, nil)
	require.NoError(t, err)
	c, err := sdk.NewClient(&sdk.Implementation{Name: "somebody else", Version: "1"}, nil).Connect(t.Context(), here, nil)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, c.Close())
		_ = served.Wait()
	})
	return c
}

// answer calls a tool and checks that text and structured content are the same JSON.
func answer(t *testing.T, c *sdk.ClientSession, tool string, params any) (body map[string]any, refused bool) {
	t.Helper()
	result, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: params})
	require.NoError(t, err)
	require.Len(t, result.Content, 1)
	text, ok := result.Content[0].(*sdk.TextContent)
	require.True(t, ok)
	require.NoError(t, json.Unmarshal([]byte(text.Text), &body))
	structured, err := json.Marshal(result.StructuredContent)
	require.NoError(t, err)
	assert.JSONEq(t, text.Text, string(structured))
	return body, result.IsError
}

func TestClientIsASession(t *testing.T) {
	b := actor(t, fleet(t), "agent:main:main")
	c := client(t, b)
	offered, err := c.ListTools(t.Context(), nil)
	require.NoError(t, err)
	info, err := b.Info(t.Context())
	require.NoError(t, err)
	var names []string
	for _, tool := range offered.Tools {
		names = append(names, tool.Name)
		assert.NotEmpty(t, tool.Description, tool.Name)
		schema, ok := tool.InputSchema.(map[string]any)
		require.True(t, ok)
		assert.Equal(t, "object", schema["type"])
	}
	assert.ElementsMatch(t, info.Tools, names)
	assert.Contains(t, names, "sessions_send")

	list, refused := answer(t, c, "sessions_list", nil)
	assert.False(t, refused)
	assert.EqualValues(t, 2, list["count"])

	sent, refused := answer(t, c, "sessions_send", map[string]any{"sessionKey": "agent:ops:main", "message": "[[say:pong]]", "timeoutSeconds": 20})
	require.False(t, refused, sent)
	assert.Equal(t, "ok", sent["status"])
	assert.Equal(t, "pong", sent["reply"])

	spawned, refused := answer(t, c, "sessions_spawn", map[string]any{"task": "[[say:counted]]", "label": "count"})
	require.False(t, refused, spawned)
	assert.Equal(t, "accepted", spawned["status"])
	child, refused := answer(t, c, "sessions_history", map[string]any{"sessionKey": spawned["childSessionKey"]})
	assert.False(t, refused, child)
}

// A sub-agent's client is offered what the sub-agent may call: nothing, unless the config says otherwise.
func TestClientOfASubAgent(t *testing.T) {
	e := fleet(t)
	spawned, _ := answer(t, client(t, actor(t, e, "agent:main:main")), "sessions_spawn", map[string]any{"task": "[[sleep:1h]]"})
	key, _ := spawned["childSessionKey"].(string)
	require.NotEmpty(t, key)
	offered, err := client(t, actor(t, e, key)).ListTools(t.Context(), nil)
	require.NoError(t, err)
	assert.Empty(t, offered.Tools)
}

// What the session may not see the client does not learn, and a refusal is an answer that says why.
func TestRefusalsAreAnswers(t *testing.T) {
	c := client(t, actor(t, fleet(t), "agent:main:main"))
	hidden, refused := answer(t, c, "sessions_history", map[string]any{"sessionKey": "agent:hidden:main"})
	assert.True(t, refused)
	assert.Equal(t, "forbidden", hidden["status"])
	absent, refused := answer(t, c, "sessions_history", map[string]any{"sessionKey": "agent:hidden:nowhere"})
	assert.True(t, refused)
	assert.Equal(t, hidden["code"], absent["code"])

	for _, params := range []map[string]any{{"as": "agent:ops:main"}, {"actor": "operator"}, {"limit": "5"}} {
		wrong, refused := answer(t, c, "sessions_list", params)
		assert.True(t, refused)
		assert.Equal(t, "invalid_params", wrong["code"], params)
	}
	_, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "sessions_delete"})
	require.Error(t, err)
}

func TestHTTP(t *testing.T) {
	const token = "a-token-of-some-length"
	s, err := mcp.NewServer(t.Context(), actor(t, fleet(t), "agent:main:main"), mcp.ServerOptions{Version: "test"})
	require.NoError(t, err)
	web := httptest.NewServer(mcp.HTTPHandler(s, token))
	defer web.Close()
	for _, c := range []struct {
		name, token string
		header      [2]string
		status      int
	}{
		{"no token", "", [2]string{}, http.StatusUnauthorized},
		{"another", "Bearer another", [2]string{}, http.StatusUnauthorized},
		{"a blank one", "Bearer ", [2]string{}, http.StatusUnauthorized},
		{"of a web page", "Bearer " + token, [2]string{"Origin", "https://example.com"}, http.StatusForbidden},
		{"of a page of another site", "Bearer " + token, [2]string{"Sec-Fetch-Site", "cross-site"}, http.StatusForbidden},
		{"under another name", "Bearer " + token, [2]string{"Host", "rebound.example.com"}, http.StatusForbidden},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, web.URL, http.NoBody)
			require.NoError(t, err)
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Accept", "application/json, text/event-stream")
			if c.token != "" {
				r.Header.Set("Authorization", c.token)
			}
			if c.header[0] == "Host" {
				r.Host = c.header[1]
			} else if c.header[0] != "" {
				r.Header.Set(c.header[0], c.header[1])
			}
			answer, err := web.Client().Do(r)
			require.NoError(t, err)
			require.NoError(t, answer.Body.Close())
			assert.Equal(t, c.status, answer.StatusCode)
		})
	}
	session, err := sdk.NewClient(&sdk.Implementation{Name: "c", Version: "1"}, nil).Connect(t.Context(), &sdk.StreamableClientTransport{
		Endpoint: web.URL, HTTPClient: &http.Client{Transport: bearing{token, web.Client().Transport}},
	}, nil)
	require.NoError(t, err)
	list, refused := answer(t, session, "sessions_list", map[string]any{"limit": 1})
	assert.False(t, refused)
	assert.EqualValues(t, 1, list["count"])
	require.NoError(t, session.Close())
	web.CloseClientConnections()
}

// bearing shows a token with every request.
type bearing struct {
	token string
	next  http.RoundTripper
}

func (b bearing) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return b.next.RoundTrip(r)
}

func TestBlankTokenOpensNothing(t *testing.T) {
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodPost, "/", http.NoBody)
	r.Header.Set("Authorization", "Bearer ")
	mcp.HTTPHandler(nil, "").ServeHTTP(w, r)
	assert.Equal(t, http.StatusUnauthorized, w.Code)
}

func BenchmarkCall(b *testing.B) {
	c := client(b, actor(b, fleet(b), "agent:main:main"))
	for b.Loop() {
		if _, err := c.CallTool(b.Context(), &sdk.CallToolParams{Name: "sessions_list"}); err != nil {
			b.Fatal(err)
		}
	}
}
