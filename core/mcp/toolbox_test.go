package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordboard/core"
	"cordboard/core/mcp"
	"cordboard/testdata/mcpserver"
)

// journal is a log that a test can wait for.
type journal struct {
	mu    sync.Mutex
	text  bytes.Buffer
	wrote chan struct{}
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	select {
	case j.wrote <- struct{}{}:
	default:
	}
	return j.text.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

// holds waits until the log holds a text, and returns all of it.
func (j *journal) holds(t *testing.T, text string) string {
	t.Helper()
	for !strings.Contains(j.String(), text) {
		select {
		case <-j.wrote:
		case <-time.After(time.Minute):
			t.Fatalf("no %q in the log:\n%s", text, j)
		}
	}
	return j.String()
}

// box is a toolbox whose clock is set by hand.
type box struct {
	*mcp.Toolbox
	log *journal
	mu  sync.Mutex
	now time.Time
}

func (b *box) later(d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.now = b.now.Add(d)
}

func newBox(t *testing.T, servers ...mcp.Server) *box {
	t.Helper()
	b := &box{log: &journal{wrote: make(chan struct{}, 1)}, now: time.Unix(1e9, 0)}
	b.Toolbox = mcp.NewToolbox(servers, mcp.ToolboxOptions{
		Version: "test", Getenv: os.Getenv, Log: slog.New(slog.NewTextHandler(b.log, nil)),
		Now: func() time.Time {
			b.mu.Lock()
			defer b.mu.Unlock()
			return b.now
		},
	})
	t.Cleanup(b.Close)
	return b
}

// tiny is the server of testdata, started from this test binary.
func tiny(t *testing.T, name, how string) mcp.Server {
	t.Helper()
	program, err := os.Executable()
	require.NoError(t, err)
	return mcp.Server{Name: name, Command: []string{program}, Env: map[string]string{mcpserver.Variable: how, "KEY": "given"}}
}

func (b *box) ask(t *testing.T, tool, params string) (string, bool, error) {
	t.Helper()
	return b.Call(t.Context(), tool, json.RawMessage(params))
}

func names(specs []core.ToolSpec) (list []string) {
	for _, s := range specs {
		list = append(list, s.Name)
	}
	return list
}

// The tools of servers are there under the server's name, with their schemas; their answers are text; what fails says so.
func TestToolbox(t *testing.T) {
	b := newBox(t, tiny(t, "one", "plain"), tiny(t, "two", "plain"))
	assert.Empty(t, b.log.String(), "nothing is started before it is needed")
	specs := b.Tools(t.Context())
	assert.Equal(t, []string{"one__crash", "one__echo", "one__environment", "one__fail", "one__grow", "one__hang", "one__structured"}, names(specs[:7]))
	assert.Equal(t, "two__crash", specs[7].Name)
	assert.Equal(t, "It can echo.", specs[1].Description)
	assert.JSONEq(t, `{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`, string(specs[1].Schema))
	assert.True(t, b.Has("one__echo"))
	assert.True(t, b.Has("one__whatever"))
	for _, name := range []string{"echo", "sessions_list", "three__echo", ""} {
		assert.False(t, b.Has(name), name)
	}

	for params, want := range map[string]string{`{"text":"héllo <b>\n"}`: "héllo <b>\n", `{"text":""}`: ""} {
		answer, failed, err := b.ask(t, "one__echo", params)
		require.NoError(t, err)
		assert.False(t, failed)
		assert.Equal(t, want, answer)
	}
	answer, failed, err := b.ask(t, "one__structured", `{"a":[1,"<b>"]}`)
	require.NoError(t, err)
	assert.False(t, failed)
	assert.Equal(t, `{"a":[1,"<b>"]}`, answer)
	answer, failed, err = b.ask(t, "one__fail", `{}`)
	require.NoError(t, err)
	assert.True(t, failed)
	assert.Equal(t, "it cannot be done", answer)

	for tool, c := range map[string]struct{ params, says string }{
		"one__ecko": {`{}`, `there is no tool "one__ecko" (did you mean one__echo?)`},
		"one__echo": {`[]`, "the arguments of one__echo are not a JSON object"},
		"nine__x":   {`{}`, `there is no tool "nine__x"`},
	} {
		_, _, err := b.ask(t, tool, c.params)
		assert.Equal(t, core.CodeInvalidParams, core.CodeOf(err))
		assert.ErrorContains(t, err, c.says)
	}
	log := b.log.String()
	assert.Equal(t, 2, strings.Count(log, "an MCP server is there"), "each is started once: %s", log)
	assert.Equal(t, 2, strings.Count(b.log.holds(t, `server=two stderr="started`), `stderr="started, pid`))
}

// A command is told no more of the owner's environment than where programs and home are.
func TestServersKnowLittle(t *testing.T) {
	t.Setenv("OWNER_SECRET", "hush")
	b := newBox(t, tiny(t, "one", "plain"))
	answer, _, err := b.ask(t, "one__environment", `{}`)
	require.NoError(t, err)
	assert.ElementsMatch(t, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "KEY=given", mcpserver.Variable + "=plain"}, strings.Split(answer, "\n"))
}

// A server that ends in the middle is named, and starts again: at once when it had been of use, later when it had not.
func TestCrash(t *testing.T) {
	b := newBox(t, tiny(t, "one", "plain"))
	_, _, err := b.ask(t, "one__echo", `{"text":"x"}`)
	require.NoError(t, err)
	_, _, err = b.ask(t, "one__crash", `{}`)
	assert.Equal(t, core.CodeUnavailable, core.CodeOf(err))
	assert.ErrorContains(t, err, `the MCP server "one" ended before one__crash was answered`)
	b.log.holds(t, "has ended: exit status 3")
	_, _, err = b.ask(t, "one__crash", `{}`)
	assert.ErrorContains(t, err, "ended before", "it was started at once")

	assert.Empty(t, b.Tools(t.Context()), "without a call that it answered it is left alone for a while")
	_, _, err = b.ask(t, "one__echo", `{"text":"x"}`)
	var named *core.Error
	require.ErrorAs(t, err, &named)
	assert.Equal(t, core.CodeUnavailable, named.Code)
	assert.Equal(t, "mcp.servers.one", named.ConfigKey)
	assert.Equal(t, `the MCP server "one" has ended: exit status 3; it is tried again in 1s`, named.Message)
	b.later(time.Second)
	answer, _, err := b.ask(t, "one__echo", `{"text":"back"}`)
	require.NoError(t, err)
	assert.Equal(t, "back", answer)
}

// A server that cannot be started costs its own tools, not those of others, and is tried at longer and longer intervals.
func TestServersThatDoNotStart(t *testing.T) {
	missing := mcp.Server{Name: "missing", Command: []string{"no-such-command-here"}}
	b := newBox(t, missing, tiny(t, "dead", "exit-7"), tiny(t, "one", "plain"))
	for _, s := range names(b.Tools(t.Context())) {
		assert.True(t, strings.HasPrefix(s, "one__"), s)
	}
	for round, pause := range []string{"1s", "2s", "4s"} {
		_, _, err := b.ask(t, "missing__x", `{}`)
		assert.ErrorContains(t, err, `the MCP server "missing" cannot be started: the command "no-such-command-here"`)
		assert.ErrorContains(t, err, "tried again in "+pause)
		_, _, err = b.ask(t, "dead__x", `{}`)
		assert.ErrorContains(t, err, `the MCP server "dead" cannot be started: exit status 7`, round)
		b.later(time.Minute)
		for _, tool := range []string{"missing__x", "dead__x"} { // a call waits for the next attempt
			_, _, err = b.ask(t, tool, `{}`)
			assert.ErrorContains(t, err, "cannot be started")
		}
	}
}

// Who waits for a server that does not answer waits no longer than its run, be it at the start or in a call; others are not held up, and
// the server is there for the next call.
func TestSlowServers(t *testing.T) {
	b := newBox(t, tiny(t, "mute", "mute"), tiny(t, "one", "plain"))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 2)
	go func() {
		_, _, err := b.Call(ctx, "mute__x", json.RawMessage(`{}`))
		done <- err
	}()
	go func() {
		_, _, err := b.Call(ctx, "one__hang", json.RawMessage(`{}`))
		done <- err
	}()
	b.log.holds(t, "hanging")
	answer, _, err := b.ask(t, "one__echo", `{"text":"meanwhile"}`)
	require.NoError(t, err)
	assert.Equal(t, "meanwhile", answer)
	cancel()
	require.ErrorIs(t, <-done, context.Canceled)
	require.ErrorIs(t, <-done, context.Canceled)
	answer, _, err = b.ask(t, "one__echo", `{"text":"after"}`)
	require.NoError(t, err)
	assert.Equal(t, "after", answer)
}

// A server that has not listed its tools in time is named, and gone.
func TestStartWithin(t *testing.T) {
	b := newBox(t)
	b.Toolbox = mcp.NewToolbox([]mcp.Server{tiny(t, "mute", "mute")}, mcp.ToolboxOptions{
		Getenv: os.Getenv, Log: slog.New(slog.NewTextHandler(b.log, nil)), Now: time.Now, StartWithin: 50 * time.Millisecond,
	})
	t.Cleanup(b.Close)
	_, _, err := b.ask(t, "mute__x", `{}`)
	assert.ErrorContains(t, err, "it did not list its tools within 50ms")
}

// A server that did not come up is tried again beside the turns, not before each: this one hangs the second time, for ever.
func TestTurnsDoNotWaitForBrokenServers(t *testing.T) {
	now := time.Now()
	script := `if test -e "$0"; then exec sleep 100000; fi; touch "$0"; exit 3`
	b := newBox(t)
	b.Toolbox = mcp.NewToolbox([]mcp.Server{tiny(t, "fine", "plain"), {Name: "broken", Command: []string{"/bin/sh", "-c", script, filepath.Join(t.TempDir(), "was")}}},
		mcp.ToolboxOptions{Getenv: os.Getenv, Log: slog.New(slog.NewTextHandler(b.log, nil)), Now: func() time.Time { return now }, StartWithin: time.Hour})
	t.Cleanup(b.Close)
	first := b.Tools(t.Context())
	assert.NotEmpty(t, first)
	now = now.Add(time.Hour) // it is due again
	for range 3 {
		assert.Equal(t, first, b.Tools(t.Context()))
	}
}

// Close leaves no process behind, not even of a server that wants to stay; what waits on one hears of it.
func TestCloseLeavesNobody(t *testing.T) {
	b := newBox(t, tiny(t, "polite", "plain"), tiny(t, "stubborn", "ignore-term"), tiny(t, "mute", "mute ignore-term"))
	go b.Tools(t.Context())
	hung := make(chan error, 1)
	go func() {
		_, _, err := b.Call(context.Background(), "stubborn__hang", json.RawMessage(`{}`))
		hung <- err
	}()
	b.log.holds(t, "hanging")
	for _, name := range []string{"polite", "mute"} {
		b.log.holds(t, "server="+name+" stderr=\"started")
	}
	var pids []int
	for _, part := range strings.Split(b.log.String(), "started, pid ")[1:] {
		digits, _, _ := strings.Cut(part, `"`)
		pid, err := strconv.Atoi(digits)
		require.NoError(t, err)
		pids = append(pids, pid)
	}
	require.Len(t, pids, 3)
	b.Close()
	assert.Equal(t, core.CodeUnavailable, core.CodeOf(<-hung))
	for _, pid := range pids {
		assert.ErrorIs(t, syscall.Kill(pid, 0), syscall.ESRCH)
	}
	_, _, err := b.ask(t, "polite__echo", `{}`)
	assert.ErrorContains(t, err, "shut down with the owner")
	assert.Empty(t, b.Tools(t.Context()))
}

// What cannot be offered is left out by name and by reason; the rest is there.
func TestOddTools(t *testing.T) {
	b := newBox(t, tiny(t, "one", "odd"))
	assert.Len(t, b.Tools(t.Context()), 7)
	for name, why := range map[string]string{
		"one__e_cho":                         `the tool "e.cho" of the MCP server "one" would be called one__e_cho, and so would "e/cho"`,
		"one__" + strings.Repeat("long", 20): "a name may have 64",
	} {
		_, _, err := b.ask(t, name, `{}`)
		assert.ErrorContains(t, err, why)
		b.log.holds(t, "is left out")
	}
}

// A server that gets another tool is asked again.
func TestListChanges(t *testing.T) {
	b := newBox(t, tiny(t, "one", "plain"))
	assert.Len(t, b.Tools(t.Context()), 7)
	_, _, err := b.ask(t, "one__grow", `{}`)
	require.NoError(t, err)
	for len(b.Tools(t.Context())) != 8 { // its word of it comes when it comes
		require.NoError(t, t.Context().Err())
	}
	answer, _, err := b.ask(t, "one__grown", `{"text":"new"}`)
	require.NoError(t, err)
	assert.Equal(t, "new", answer)
}

// A server behind a URL; one that is away, or that nobody answers for, is named without its address.
func TestURLServers(t *testing.T) {
	served := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return mcpserver.New("plain") }, nil)
	web := httptest.NewServer(served)
	silent, err := net.Listen("tcp", "127.0.0.1:0") // it takes connections and says nothing
	require.NoError(t, err)
	defer silent.Close()
	b := newBox(t, mcp.Server{Name: "web", URL: web.URL + "/?key=sesame"}, mcp.Server{Name: "away", URL: "http://127.0.0.1:1/?key=sesame"},
		mcp.Server{Name: "silent", URL: "http://" + silent.Addr().String()})
	answer, failed, err := b.ask(t, "web__echo", `{"text":"over HTTP"}`)
	require.NoError(t, err)
	assert.False(t, failed)
	assert.Equal(t, "over HTTP", answer)
	_, _, err = b.ask(t, "away__echo", `{}`)
	assert.Equal(t, core.CodeUnavailable, core.CodeOf(err))
	assert.ErrorContains(t, err, `the MCP server "away" cannot be started`)
	assert.ErrorContains(t, err, "refused")
	assert.NotContains(t, err.Error(), "sesame")
	assert.NotContains(t, b.log.String(), "sesame")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err = b.Call(ctx, "silent__echo", json.RawMessage(`{}`))
	require.ErrorIs(t, err, context.Canceled)

	ctx, cancel = context.WithCancel(t.Context())
	hung := make(chan error, 1)
	go func() {
		_, _, err := b.Call(ctx, "web__hang", json.RawMessage(`{}`))
		hung <- err
	}()
	cancel()
	require.ErrorIs(t, <-hung, context.Canceled)
	b.Close() // while the silent one still starts
	web.CloseClientConnections()
	web.Close()
}
