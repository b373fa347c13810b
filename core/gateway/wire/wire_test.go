package wire_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"cordboard/core"
	"cordboard/core/gateway/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// desk answers a few methods of its own.
type desk struct {
	mu      sync.Mutex
	waiting chan struct{} // gets one for every `wait` that has begun
	ended   chan struct{} // and one for every that was ended by its context
	closed  int
}

func (d *desk) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed++
	return nil
}

func (d *desk) Call(ctx context.Context, r wire.Request, out []byte) ([]byte, error) {
	switch r.Method {
	case "echo":
		return append(out, r.Params...), nil
	case "wait":
		d.waiting <- struct{}{}
		<-ctx.Done()
		d.ended <- struct{}{}
		return out, ctx.Err()
	case "count":
		for i := range 3 {
			if err := r.Emit(fmt.Append(nil, i)); err != nil {
				return out, err
			}
		}
		return append(out, "3"...), nil
	case "raw":
		return append(out, "{ \"a\" : \"<\xff>\" }"...), nil
	case "panic":
		panic("on purpose")
	case "refuse":
		return out, fmt.Errorf("wrapped: %w", core.Errorf(core.CodeForbidden, "not %q", "you").Because("a.b").Accept("x", "y"))
	}
	return out, errors.New("no such method")
}

// rig is a server on a socket.
type rig struct {
	t      *testing.T
	desk   *desk
	server *wire.Server
	path   string
	served chan error
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{t: t, desk: &desk{waiting: make(chan struct{}, 2000), ended: make(chan struct{}, 2000)}, path: filepath.Join(t.TempDir(), "s.sock"), served: make(chan error, 1)}
	l, err := wire.Listen(r.path)
	require.NoError(t, err)
	r.server = wire.NewServer(func(_ context.Context, params json.RawMessage) (wire.Session, []byte, error) {
		if !bytes.Contains(params, []byte("friend")) {
			return nil, nil, core.Errorf(core.CodeForbidden, "not a friend")
		}
		return r.desk, []byte(`{"hello":true}`), nil
	}, nil)
	go func() { r.served <- r.server.Serve(l) }()
	t.Cleanup(func() {
		r.server.Close("the test is over")
		require.NoError(t, <-r.served)
	})
	return r
}

func (r *rig) conn() net.Conn {
	c, err := net.Dial("unix", r.path)
	require.NoError(r.t, err)
	return c
}

func (r *rig) client() *wire.Client {
	c, answer, err := wire.NewClient(r.t.Context(), r.conn(), "friend")
	require.NoError(r.t, err)
	assert.JSONEq(r.t, `{"hello":true}`, string(answer))
	r.t.Cleanup(c.Close)
	return c
}

// bare is a connection that speaks no frames of its own.
func (r *rig) bare() *websocket.Conn {
	transport := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return r.conn(), nil }}
	ws, _, err := websocket.Dial(r.t.Context(), "ws://x/", &websocket.DialOptions{HTTPClient: &http.Client{Transport: transport}})
	require.NoError(r.t, err)
	r.t.Cleanup(func() { _ = ws.CloseNow() })
	return ws
}

func TestCalls(t *testing.T) {
	c := newRig(t).client()
	answer, err := c.Call(t.Context(), "echo", []byte(`{"a":"<&>"}`), nil)
	require.NoError(t, err)
	assert.Equal(t, `{"a":"<&>"}`, string(answer), "byte for byte")

	answer, err = c.Call(t.Context(), "raw", []byte("{}"), nil)
	require.NoError(t, err)
	assert.Equal(t, "{ \"a\" : \"<\xff>\" }", string(answer), "also what is not UTF-8")

	var events []string
	answer, err = c.Call(t.Context(), "count", []byte("{}"), func(payload json.RawMessage) { events = append(events, string(payload)) })
	require.NoError(t, err)
	assert.Equal(t, "3", string(answer))
	assert.Equal(t, []string{"0", "1", "2"}, events)

	_, err = c.Call(t.Context(), "refuse", []byte("{}"), nil)
	refused, ok := errors.AsType[*core.Error](err)
	require.True(t, ok)
	assert.Equal(t, &core.Error{Code: core.CodeForbidden, Message: `wrapped: not "you"`, ConfigKey: "a.b", Allowed: []string{"x", "y"}}, refused)

	_, err = c.Call(t.Context(), "nothing", []byte("{}"), nil)
	assert.Equal(t, core.CodeInternal, core.CodeOf(err))
	_, err = c.Call(t.Context(), "panic", []byte("{}"), nil)
	assert.ErrorContains(t, err, "on purpose", "a panic ends its call")
	_, err = c.Call(t.Context(), "echo", []byte("1"), nil)
	assert.NoError(t, err, "and nothing else")
}

// Big bodies go both ways up to the limit; one beyond it is refused before it is sent.
func TestBigBodies(t *testing.T) {
	c := newRig(t).client()
	for _, size := range []int{0, 1, 40 << 10, 120 << 10, 10 << 20, wire.FrameLimit - 200} {
		body := []byte(`"` + strings.Repeat("x", size) + `"`)
		answer, err := c.Call(t.Context(), "echo", body, nil)
		require.NoError(t, err)
		assert.True(t, bytes.Equal(body, answer), "%d", size)
	}
	_, err := c.Call(t.Context(), "echo", []byte(`"`+strings.Repeat("x", wire.FrameLimit)+`"`), nil)
	assert.Equal(t, core.CodeInvalidParams, core.CodeOf(err))
	_, err = c.Call(t.Context(), "echo", []byte("1"), nil)
	assert.NoError(t, err, "the connection goes on")
}

// Calls run side by side, answers find their callers, and one that waits holds up none.
func TestManyInFlight(t *testing.T) {
	r := newRig(t)
	c := r.client()
	ctx, cancel := context.WithCancel(t.Context())
	var waits, calls sync.WaitGroup
	for range 100 {
		waits.Go(func() {
			_, err := c.Call(ctx, "wait", []byte("{}"), nil)
			assert.ErrorIs(t, err, context.Canceled)
		})
	}
	for range 100 {
		<-r.desk.waiting
	}
	for i := range 50 {
		calls.Go(func() {
			for j := range 20 {
				body := fmt.Sprintf("[%d,%d]", i, j)
				answer, err := c.Call(t.Context(), "echo", []byte(body), nil)
				assert.NoError(t, err)
				assert.Equal(t, body, string(answer))
			}
		})
	}
	calls.Wait()
	cancel()
	waits.Wait()
	for range 100 {
		<-r.desk.ended // the server was told
	}
}

// A client that does not read its answers holds up only itself.
func TestSlowClient(t *testing.T) {
	r := newRig(t)
	slow, quick := r.bare(), r.client()
	require.NoError(t, slow.Write(t.Context(), websocket.MessageText, []byte(`{"type":"req","id":1,"method":"hello","params":"friend"}`)))
	big := `"` + strings.Repeat("x", 1<<20) + `"`
	for i := range 20 {
		frame := fmt.Sprintf(`{"type":"req","id":%d,"method":"echo","params":%s}`, i+2, big)
		require.NoError(t, slow.Write(t.Context(), websocket.MessageText, []byte(frame)))
	}
	for range 100 {
		_, err := quick.Call(t.Context(), "echo", []byte("1"), nil)
		require.NoError(t, err)
	}
}

// Closing tells the reason, ends what runs and what comes.
func TestServerCloses(t *testing.T) {
	r := newRig(t)
	c := r.client()
	failed := make(chan error, 1)
	go func() {
		_, err := c.Call(t.Context(), "wait", []byte("{}"), nil)
		failed <- err
	}()
	<-r.desk.waiting
	r.server.Close("stopped")
	lost, ok := errors.AsType[*wire.LostError](<-failed)
	require.True(t, ok)
	assert.Equal(t, "stopped", lost.Reason)
	<-c.Gone()
	_, err := c.Call(t.Context(), "echo", []byte("1"), nil)
	_, ok = errors.AsType[*wire.LostError](err)
	assert.True(t, ok)
	assert.Equal(t, 1, r.desk.closed)
}

func TestHelloIsRefused(t *testing.T) {
	r := newRig(t)
	_, _, err := wire.NewClient(t.Context(), r.conn(), "stranger")
	assert.Equal(t, core.CodeForbidden, core.CodeOf(err))
}

// What is no frame closes the connection, with the reason.
func TestBadFrames(t *testing.T) {
	r := newRig(t)
	const hello = `{"type":"req","id":1,"method":"hello","params":"friend"}`
	for name, c := range map[string]struct {
		kind   websocket.MessageType
		frames []string
		code   websocket.StatusCode
		reason string
	}{
		"not JSON":           {websocket.MessageText, []string{hello, "hello?"}, websocket.StatusPolicyViolation, "JSON object"},
		"no id":              {websocket.MessageText, []string{hello, `{"type":"req","method":"echo"}`}, websocket.StatusPolicyViolation, "type, id"},
		"no method":          {websocket.MessageText, []string{hello, `{"type":"req","id":2}`}, websocket.StatusPolicyViolation, "method"},
		"unknown type":       {websocket.MessageText, []string{hello, `{"type":"shout","id":2}`}, websocket.StatusPolicyViolation, "type"},
		"a server's frame":   {websocket.MessageText, []string{hello, `{"type":"res","id":2,"ok":true,"payload":1}`}, websocket.StatusPolicyViolation, `"res"`},
		"binary":             {websocket.MessageBinary, []string{hello}, websocket.StatusInvalidFramePayloadData, "UTF-8"},
		"not UTF-8":          {websocket.MessageText, []string{hello, "{\"type\":\"req\",\"id\":2,\"method\":\"echo\",\"params\":\"\xff\"}"}, websocket.StatusInvalidFramePayloadData, "UTF-8"},
		"no hello":           {websocket.MessageText, []string{`{"type":"req","id":1,"method":"echo","params":1}`}, websocket.StatusPolicyViolation, "hello"},
		"cancel first":       {websocket.MessageText, []string{`{"type":"cancel","id":1}`}, websocket.StatusPolicyViolation, "hello"},
		"stranger":           {websocket.MessageText, []string{`{"type":"req","id":1,"method":"hello","params":"x"}`}, websocket.StatusPolicyViolation, "not a friend"},
		"one id twice":       {websocket.MessageText, []string{hello, `{"type":"req","id":2,"method":"wait","params":1}`, `{"type":"req","id":2,"method":"wait","params":1}`}, websocket.StatusPolicyViolation, "id 2"},
		"big before hello":   {websocket.MessageText, []string{`{"type":"req","id":1,"method":"hello","params":"` + strings.Repeat("x", wire.HelloLimit) + `"}`}, websocket.StatusMessageTooBig, ""},
		"too big after":      {websocket.MessageText, []string{hello, `{"type":"req","id":2,"method":"echo","params":"` + strings.Repeat("x", wire.FrameLimit) + `"}`}, websocket.StatusMessageTooBig, ""},
		"nothing in a frame": {websocket.MessageText, []string{hello, ""}, websocket.StatusPolicyViolation, "JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			ws := r.bare()
			ws.SetReadLimit(-1)
			for _, f := range c.frames {
				if ws.Write(t.Context(), c.kind, []byte(f)) != nil {
					break // it was closed in the middle of what is too big
				}
			}
			for {
				_, _, err := ws.Read(t.Context())
				if err == nil {
					continue // hello's answer
				}
				closed, ok := errors.AsType[websocket.CloseError](err)
				if name == "too big after" || name == "big before hello" {
					return // the rest of the message may meet a closed socket, and the close frame with it
				}
				require.True(t, ok, "%v", err)
				assert.Equal(t, c.code, closed.Code)
				assert.Contains(t, closed.Reason, c.reason)
				return
			}
		})
	}
	_, err := r.client().Call(t.Context(), "echo", []byte("1"), nil)
	assert.NoError(t, err, "the server goes on")
}

// A frame in another order, or with members of its own, is understood too.
func TestForeignFrames(t *testing.T) {
	r := newRig(t)
	ws := r.bare()
	for _, f := range []string{
		"{ \"params\": \"friend\", \"method\": \"hello\", \"id\": 1, \"type\": \"req\", \"more\": [] }\n",
		"{\"method\":\"echo\",\"type\":\"req\",\"params\":[1, 2],\"id\":2}",
	} {
		require.NoError(t, ws.Write(t.Context(), websocket.MessageText, []byte(f)))
	}
	for _, want := range []string{`{"type":"res","id":1,"ok":true,"payload":{"hello":true}}`, `{"type":"res","id":2,"ok":true,"payload":[1, 2]}`} {
		_, data, err := ws.Read(t.Context())
		require.NoError(t, err)
		assert.Equal(t, want, string(data))
	}
}

// More calls than a connection may have are refused one by one; a cancel makes room.
func TestCallsAreBounded(t *testing.T) {
	r := newRig(t)
	ws := r.bare()
	write := func(format string, args ...any) {
		require.NoError(t, ws.Write(t.Context(), websocket.MessageText, fmt.Appendf(nil, format, args...)))
	}
	read := func() string {
		_, data, err := ws.Read(t.Context())
		require.NoError(t, err)
		return string(data)
	}
	write(`{"type":"req","id":0,"method":"hello","params":"friend"}`)
	read()
	for i := range 1024 {
		write(`{"type":"req","id":%d,"method":"wait","params":1}`, i+1)
	}
	write(`{"type":"req","id":5000,"method":"echo","params":1}`)
	assert.Contains(t, read(), `"id":5000,"ok":false`)
	write(`{"type":"cancel","id":7}`)
	assert.Contains(t, read(), `"id":7,"ok":false`)
	write(`{"type":"req","id":5001,"method":"echo","params":1}`)
	assert.Contains(t, read(), `"id":5001,"ok":true`)
}

// The socket is private, takes the place of one that was left behind, and knows who is at the other end.
func TestSocket(t *testing.T) {
	r := newRig(t)
	info, err := os.Stat(r.path)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	c := r.conn()
	defer c.Close()
	peer, err := wire.PeerOf(c.(*net.UnixConn))
	require.NoError(t, err)
	assert.Equal(t, wire.Peer{UID: os.Getuid(), PID: os.Getpid()}, peer)

	again, err := wire.Listen(r.path)
	require.NoError(t, err)
	require.NoError(t, again.Close())
	entries, err := os.ReadDir(filepath.Dir(r.path))
	require.NoError(t, err)
	assert.Len(t, entries, 1, "nothing else is left")

	_, err = wire.Listen(filepath.Join(t.TempDir(), "absent", "s.sock"))
	assert.Equal(t, core.CodeStoreIO, core.CodeOf(err))
}

// An end of the caller's context during hello ends hello.
func TestHelloIsCancelled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.sock")
	l, err := net.Listen("unix", path) // takes connections and never answers
	require.NoError(t, err)
	defer l.Close()
	conn, err := net.Dial("unix", path)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err = wire.NewClient(ctx, conn, "friend")
	assert.ErrorIs(t, err, context.Canceled)
}
