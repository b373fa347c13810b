package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordboard/core"
)

// An agent that speaks the Agent Client Protocol talks to another agent through the server it was given, asks the operator for permission,
// and is aborted; all by the built program.
func TestACPAgent(t *testing.T) {
	agent := filepath.Join(t.TempDir(), "agent")
	out, err := exec.Command("go", "build", "-o", agent, "../../testdata/runtime/acp").CombinedOutput()
	require.NoError(t, err, "%s", out)
	h := filled(t)
	cfg := filepath.Join(h.dir, "acp.json5")
	require.NoError(t, os.WriteFile(cfg, []byte(fmt.Sprintf(`{
		agents: { list: [{ id: "desk", runtime: { type: "acp", command: [%s] } }, { id: "clerk" }] },
		tools: { sessions: { visibility: "all" }, agentToAgent: { enabled: true, allow: ["desk", "clerk"] } },
		session: { agentToAgent: { maxPingPongTurns: 0, announce: false } },
	}`, strconv.Quote(agent))), 0o600))
	verb := func(args ...string) string { return h.verb(t, append(args, "--config", cfg)...) }

	verb("send", "agent:clerk:main", "hello")
	answer := verb("send", "agent:desk:main", `call sessions_send {"sessionKey":"agent:clerk:main","message":"[[say:42]]","timeoutSeconds":30}`)
	assert.Contains(t, answer, `"reply":"42"`)
	assert.Equal(t, "2\n", verb("send", "agent:desk:main", "turns"), "the same program has all turns of its session")

	verb("send", "agent:desk:main", "ask rm -rf build", "--timeout", "0")
	var pending []core.Approval
	for len(pending) == 0 {
		require.NoError(t, json.Unmarshal([]byte(verb("approve", "--json")), &pending))
	}
	assert.Equal(t, "rm -rf build", pending[0].Title)
	assert.Contains(t, verb("approve"), "rm -rf build")
	shown := verb("approve", "agent:desk:main")
	assert.Contains(t, shown, `{"command":"rm -rf build"}`, "to look is not to answer")
	assert.Contains(t, shown, "yes  Allow")
	assert.Equal(t, "answered agent:desk:main with no: rm -rf build\n", verb("approve", "agent:desk:main", "reject"))
	assert.Equal(t, "chosen: no\n", verb("wait", pending[0].Run))
	assert.Equal(t, "nobody asks for permission.\n", verb("approve"))

	var sent core.Receipt
	require.NoError(t, json.Unmarshal([]byte(verb("send", "agent:desk:main", "stubborn", "--timeout", "0", "--json")), &struct {
		RunID *string `json:"runId"`
	}{&sent.Run}))
	verb("abort", sent.Run)
	assert.Equal(t, "hello\n", verb("send", "agent:desk:main", "hello"))
	assert.Contains(t, verb("runs", "agent:desk:main", "--limit", "2", "--json"), `"outcome": "aborted"`)
}
