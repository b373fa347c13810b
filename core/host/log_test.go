package host_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordboard/core"
	"cordboard/core/host"
)

// The log tells what happened to what, and never what was said nor a secret: not in messages, replies, failures, tool calls, addresses.
func TestLogHoldsNoText(t *testing.T) {
	const marker, secret = "pineapple-marmalade", "hook-sesame"
	sink := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTeapot)
		fmt.Fprint(w, marker)
	}))
	defer sink.Close()
	o := place(t)
	o.ConfigPath = filepath.Join(t.TempDir(), "config.json5")
	require.NoError(t, os.WriteFile(o.ConfigPath, []byte(`{
		logging: { level: "debug" }, tools: { sessions: { visibility: "all" } },
		channels: { chat: { type: "webhook", url: "`+sink.URL+"/"+secret+`" }, gone: { type: "webhook", url: "http://127.0.0.1:1/`+secret+`" } },
	}`), 0o600))
	h, err := host.Own(t.Context(), o)
	require.NoError(t, err)
	require.NoError(t, h.Close())
	b := attached(t, o)
	var runs []string
	for _, text := range []string{
		"%s", "[[fail:%s]]", "[[crash]]%s", "[[think:%s]]", `[[tool:sessions_send {"sessionKey":"agent:main:direct:%s","message":"%[1]s"}]]`,
		`[[tool:%s {"x":"%[1]s"}]]`,
	} {
		sent, err := send(t.Context(), b, "", fmt.Sprintf(text, marker))
		require.NoError(t, err)
		runs = append(runs, sent.Run)
	}
	for _, channel := range []string{"chat", "gone"} {
		receipt, err := b.Do(t.Context(), core.Command{Inbound: &core.Inbound{Channel: channel, ChatType: core.ChatGroup, ID: "g", Text: marker}})
		require.NoError(t, err)
		runs = append(runs, receipt.Run)
	}
	result, err := b.Call(t.Context(), core.ToolCall{As: "agent:main:main", Tool: "sessions_send", Params: json.RawMessage(
		`{"sessionKey":"agent:main:chat:group:g","message":"` + marker + ` [[announce:` + marker + `]]","timeoutSeconds":30}`)})
	require.NoError(t, err)
	require.Nil(t, result.Refused)
	for _, id := range runs {
		_, _, err := wait(t.Context(), b, id)
		require.NoError(t, err)
	}
	_, err = host.Stop(t.Context(), o)
	require.NoError(t, err)

	dir := filepath.Join(o.Dir, "log")
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	all := ""
	for _, f := range files {
		path := filepath.Join(dir, f.Name())
		assert.Equal(t, os.FileMode(0o600), modeOf(t, path), f.Name())
		raw, err := os.ReadFile(path)
		require.NoError(t, err)
		all += string(raw)
	}
	for _, id := range runs {
		assert.Contains(t, all, id, "each run is told of")
	}
	for _, word := range []string{`"serving"`, `"ending"`, `"outcome":"error"`, `"delivery attempted"`} {
		assert.Contains(t, all, word)
	}
	assert.NotContains(t, all, marker)
	assert.NotContains(t, all, secret)
	raw, err := os.ReadFile(filepath.Join(dir, "cordboard.log"))
	require.NoError(t, err)
	for line := range strings.Lines(string(raw)) {
		assert.True(t, json.Valid([]byte(line)), line)
	}
}

// An owner logs to its file and to who started it, from the configured level on; a long file is put aside, and few are kept.
func TestOwnerLog(t *testing.T) {
	dir := t.TempDir()
	var said bytes.Buffer
	log, file, err := host.OpenOwnerLog(dir, "warn", slog.New(slog.NewJSONHandler(&said, &slog.HandlerOptions{Level: slog.LevelDebug})))
	require.NoError(t, err)
	log.Info("nobody hears this")
	log.With("a", 1).WithGroup("g").Warn("heard", "b", 2)
	assert.Equal(t, 1, strings.Count(said.String(), "\n"))
	assert.Contains(t, said.String(), `"msg":"heard","a":1,"g":{"b":2}`)
	for range 6 * host.MaxLog / 1000 {
		log.Error(strings.Repeat("x", 950))
	}
	require.NoError(t, file.Close())
	files, err := os.ReadDir(filepath.Join(dir, "log"))
	require.NoError(t, err)
	assert.Len(t, files, 4)
	for _, f := range files {
		info, err := f.Info()
		require.NoError(t, err)
		assert.LessOrEqual(t, info.Size(), int64(host.MaxLog))
		raw, err := os.ReadFile(filepath.Join(dir, "log", f.Name()))
		require.NoError(t, err)
		for line := range strings.Lines(string(raw)) {
			require.True(t, json.Valid([]byte(line)), "%s: a line is whole", f.Name())
		}
	}
	_, _, err = host.OpenOwnerLog(dir, "loud", nil)
	assert.Error(t, err)
}
