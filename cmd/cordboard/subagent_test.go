package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A sub-agent is a session to the verbs: it is listed under its parent, archived, restored, sent to, its result is waited for and read
// after its session is gone (session-tools.md §8).
func TestScriptsOfASubagent(t *testing.T) {
	store := filepath.Join(t.TempDir(), "D")
	t.Cleanup(func() { stopOwners(t, filepath.Dir(filepath.Dir(store))) })
	notes := filepath.Join(t.TempDir(), "notes.txt")
	require.NoError(t, os.WriteFile(notes, []byte("kept"), 0o600))
	ask := func(want int, args ...string) string {
		t.Helper()
		out, code := cordboard(t, append(args, "--data", store, "--config", "")...)
		require.Equal(t, want, code, "%v: %s", args, out)
		return out
	}
	ask(0, "import", "../../testdata/openclaw")
	requester := strings.TrimSpace(ask(0, "new"))

	var answer struct {
		ChildSessionKey, RunID string
		Attachments            struct{ Count int }
	}
	require.NoError(t, json.Unmarshal([]byte(ask(0, "spawn", "--as", requester, "[[say:done]] [[announce:told]]", "--label", "sweeper", "--attach", notes, "--json")), &answer))
	assert.Equal(t, 1, answer.Attachments.Count)
	child := answer.ChildSessionKey
	assert.Contains(t, ask(0, "wait", answer.RunID), "done")
	assert.Contains(t, ask(0, "show", child), requester)
	for _, as := range []string{requester, ""} {
		list := []string{"list", "--json"}
		if as != "" {
			list = append(list, "--as", as)
		}
		assert.Contains(t, ask(0, list...), child)
	}
	awaitText(t, ask, `"announce": "announced"`, "runs", child, "--json")

	ask(0, "archive", child)
	assert.NotContains(t, ask(0, "list", "--json"), child)
	assert.Contains(t, ask(0, "list", "--archived", "--json"), child)
	assert.Contains(t, ask(0, "history", child), "done", "archived and readable")
	ask(0, "restore", child)
	assert.Contains(t, ask(0, "list", "--json"), child)
	ask(0, "archive", child)
	ask(0, "send", child, "again [[say:here]]")
	assert.Contains(t, ask(0, "list", "--json"), child, "a send restores")
	assert.Contains(t, ask(4, "spawn", "--as", child, "deeper", "--json"), "forbidden")
	ask(0, "delete", child, "--yes")
	assert.NotContains(t, ask(0, "list", "--json", "--archived"), child)

	require.NoError(t, json.Unmarshal([]byte(ask(0, "spawn", "--as", requester, "[[say:gone but read]]", "--cleanup", "delete", "--json")), &answer))
	ask(0, "wait", answer.RunID)
	for strings.Contains(ask(0, "list", "--json"), answer.ChildSessionKey) {
		continue // it goes once it is announced
	}
	assert.Contains(t, ask(0, "wait", answer.RunID), "gone but read", "the result outlives the session")
	assert.Contains(t, ask(0, "approve"), "nobody asks for permission")
}

// awaitText asks again until an answer holds a text.
func awaitText(t *testing.T, ask func(int, ...string) string, text string, args ...string) {
	t.Helper()
	for !strings.Contains(ask(0, args...), text) {
		continue
	}
}
