package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// An MCP client starts the program as its server, reads and sends as the session that the command line names, and never learns more.
func TestMCPClient(t *testing.T) {
	h := filled(t)
	path, err := binary()
	require.NoError(t, err)
	h.verb(t, "send", "agent:night:main", "hello", "--config", config(t, h))
	var said bytes.Buffer
	cmd := exec.Command(path, "mcp", "--as", "agent:night:main", "--config", config(t, h))
	cmd.Env = h.environment("PATH=" + os.Getenv("PATH"))
	cmd.Stderr = &said
	c, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &sdk.CommandTransport{Command: cmd}, nil)
	require.NoError(t, err)
	call := func(tool string, params map[string]any) (body map[string]any) {
		result, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: params})
		require.NoError(t, err)
		raw, err := json.Marshal(result.StructuredContent)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(raw, &body))
		return body
	}
	list := call("sessions_list", nil)
	assert.EqualValues(t, 1, list["count"], "itself, and nothing of the others")
	history := call("sessions_history", map[string]any{"sessionKey": "main"})
	assert.Len(t, history["messages"], 2)
	assert.Equal(t, "forbidden", call("sessions_send", map[string]any{"sessionKey": "agent:ops:main", "message": "hi"})["status"])
	sent := call("sessions_send", map[string]any{"sessionKey": "main", "message": "[[say:to myself]]", "timeoutSeconds": 30})
	assert.Equal(t, "to myself", sent["reply"])
	require.NoError(t, c.Close())
	assert.Contains(t, said.String(), "acting as agent:night:main; messages to agent:night:main are answered by the offline runtime (echo)")
}

// A client that sends what is no message is told that it did, in a line.
func TestMCPClientThatSpeaksSomethingElse(t *testing.T) {
	h := filled(t)
	path, err := binary()
	require.NoError(t, err)
	for name, text := range map[string]string{"text": "hello\n", "no UTF-8": "\xff\xfe\n"} {
		var said bytes.Buffer
		cmd := exec.Command(path, "mcp", "--as", "agent:night:main", "--config", config(t, h))
		cmd.Env = h.environment("PATH=" + os.Getenv("PATH"))
		cmd.Stdin, cmd.Stderr = strings.NewReader(text), &said
		exit, ok := errors.AsType[*exec.ExitError](cmd.Run())
		require.True(t, ok, name)
		assert.Equal(t, 2, exit.ExitCode(), name)
		assert.Contains(t, said.String(), "\ncordboard: the MCP client sent what is no message, and the connection ends: ", name)
	}
}

func config(t *testing.T, h home) string {
	t.Helper()
	path := filepath.Join(h.dir, "night.json5")
	require.NoError(t, os.WriteFile(path, []byte(`{ agents: { list: [{ id: "night" }] } }`), 0o600))
	return path
}
