package host_test

import (
	"context"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordboard/core"
	"cordboard/core/gateway/wire"
	"cordboard/core/host"
)

// A command's agent, that tells its child's way in and stays until it is told to go.
const waiting = `{
	agents: { list: [{ id: "main", runtime: { type: "exec", command: ["sh", "-c", "echo $CORDBOARD_SOCKET $CORDBOARD_TOKEN >$TELL; exec sleep 100000"] } }, { id: "ops" }] },
	tools: { sessions: { visibility: "all" }, agentToAgent: { enabled: true } },
	engine: { drain: "10ms" },
}`

// child starts a run and returns the way of its command to the owner.
func child(t *testing.T, o host.Options, b core.Board, told string) (run string, c host.Child) {
	t.Helper()
	sent, err := send(t.Context(), b, "", "go")
	require.NoError(t, err)
	text := ""
	for !strings.HasSuffix(text, "\n") {
		data, err := os.ReadFile(told)
		require.True(t, err == nil || os.IsNotExist(err), "%v", err)
		text = string(data)
	}
	require.NoError(t, os.Remove(told))
	c.Socket, c.Token, _ = strings.Cut(strings.TrimSpace(text), " ")
	assert.Equal(t, filepath.Join(o.Dir, "agents.sock"), c.Socket)
	assert.Len(t, c.Token, 26)
	return sent.Run, c
}

// The door lets in who has the token of a run that lives, as its session; a call that waits there ends with the run.
func TestDoor(t *testing.T) {
	told := filepath.Join(t.TempDir(), "told")
	t.Setenv("TELL", told)
	o := withConfig(t, waiting)
	b := attached(t, o)
	run, c := child(t, o, b, told)
	assert.Equal(t, os.FileMode(0o600), modeOf(t, c.Socket))

	for name, hello := range map[string]string{
		"no token":         `{"version":"test","actor":{"kind":"operator"}}`,
		"another token":    `{"version":"test","actor":{"kind":"operator"},"token":"` + strings.ToLower(c.Token) + `"}`,
		"the run's id":     `{"version":"test","actor":{"kind":"operator"},"token":"` + run + `"}`,
		"another session":  `{"version":"test","actor":{"kind":"session","session":"agent:ops:main"},"token":"` + c.Token + `"}`,
		"a hidden session": `{"version":"test","actor":{"kind":"session","session":"agent:nobody:main"},"token":"` + c.Token + `"}`,
		"another version":  `{"version":"newer","actor":{"kind":"operator"},"token":"` + c.Token + `"}`,
	} {
		conn, err := net.Dial("unix", c.Socket)
		require.NoError(t, err)
		_, _, err = wire.NewClient(t.Context(), conn, json.RawMessage(hello))
		want := core.CodeForbidden
		if name == "another version" {
			want = core.CodeVersion
		}
		assert.Equal(t, want, core.CodeOf(err), "%s: %v", name, err)
	}
	for _, socket := range []string{c.Socket, filepath.Join(o.Dir, "cordboard.sock")} {
		conn, err := net.Dial("unix", socket)
		require.NoError(t, err)
		w, _, err := wire.NewClient(t.Context(), conn, json.RawMessage(`{"version":"test","actor":{"kind":"operator"},"token":"`+c.Token+`"}`))
		require.NoError(t, err)
		info, err := w.Call(t.Context(), "cordboard.info", []byte(`{}`), nil)
		require.NoError(t, err)
		assert.Contains(t, string(info), `"actor":{"kind":"session","session":"agent:main:main"}`)
		for method, params := range map[string]string{
			"status": `{}`, "backup": `{}`, "import": `{}`, "export": `{}`, "do": `{}`, "records": `{}`, "explain": `{}`,
			"sessions": `{}`, "messages": `{"session":"agent:main:main"}`, "search": `{"text":"go"}`, "watch": `{}`, "next": `{}`, "nothing": `{}`,
		} {
			_, err = w.Call(t.Context(), "cordboard."+method, []byte(params), nil)
			assert.Equal(t, core.CodeForbidden, core.CodeOf(err), "%s would go round the bounds and the rules of the tools: %v", method, err)
		}
		w.Close()
	}

	h, err := host.AsChild(t.Context(), o, c)
	require.NoError(t, err)
	defer h.Close()
	as, err := h.Board(t.Context(), core.Operator) // whoever it says it is
	require.NoError(t, err)
	defer as.Close()
	info, err := as.Info(t.Context())
	require.NoError(t, err)
	assert.Equal(t, core.Actor{Kind: core.ActorSession, Session: "agent:main:main"}, info.Actor)
	_, err = as.Do(t.Context(), core.Command{Abort: &core.Abort{Run: run}})
	assert.Equal(t, core.CodeForbidden, core.CodeOf(err))
	_, err = as.Messages(t.Context(), core.MessageQuery{Session: "agent:main:main"})
	assert.ErrorContains(t, err, "`cordboard call TOOL JSON`", "it says what there is instead")

	_, err = b.Do(t.Context(), core.Command{Send: &core.Send{Session: "agent:ops:main", Message: "hello"}})
	require.NoError(t, err)
	type answer struct {
		result core.ToolResult
		err    error
	}
	answered := make(chan answer, 1)
	go func() {
		params := json.RawMessage(`{"sessionKey":"agent:ops:main","message":"[[sleep:1h]]","timeoutSeconds":3600}`)
		result, err := as.Call(context.Background(), core.ToolCall{Tool: "sessions_send", Params: params})
		answered <- answer{result, err}
	}()
	for { // until the call waits as part of the run
		page, err := b.Records(t.Context(), core.RecordQuery{Kind: core.RecordRun, Run: run})
		require.NoError(t, err)
		if page.Runs[0].WaitingOn != "" {
			break
		}
	}
	_, err = b.Do(t.Context(), core.Command{Abort: &core.Abort{Run: run}})
	require.NoError(t, err)
	select {
	case got := <-answered:
		assert.Equal(t, core.CodeForbidden, core.CodeOf(got.err), "%s %v", got.result.Body, got.err)
	case <-time.After(time.Minute):
		t.Fatal("the call outlives the run")
	}
	_, err = host.AsChild(t.Context(), o, c)
	assert.ErrorContains(t, err, "not that of a run that lives")

	_, second := child(t, o, b, told)
	assert.NotEqual(t, c.Token, second.Token)
	_, err = host.Stop(t.Context(), o)
	require.NoError(t, err)
	assert.NoFileExists(t, c.Socket)
	_, err = host.AsChild(t.Context(), o, second)
	assert.ErrorContains(t, err, "the owner that started this command is gone")
}
