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

// What is not UTF-8 in a transcript makes --json no worse: it is valid JSON and says how many messages are not shown as they are stored.
// --jsonl prints them byte for byte.
func TestHistoryOfWhatIsNotUTF8(t *testing.T) {
	source, store := t.TempDir(), filepath.Join(t.TempDir(), "D")
	require.NoError(t, os.CopyFS(source, os.DirFS("../../testdata/openclaw")))
	files, err := filepath.Glob(filepath.Join(source, "agents", "ops", "sessions", "*.jsonl"))
	require.NoError(t, err)
	const id = "not-utf8"
	broken := "{\"role\":\"user\",\"content\":\"bro\xff\xfeken\"}"
	header, err := os.ReadFile(files[0])
	require.NoError(t, err)
	line, _, _ := strings.Cut(string(header), "\n")
	text := line + "\n{\"type\":\"message\",\"id\":\"a\",\"message\":" + broken + "}\n"
	require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(files[0]), id+".jsonl"), []byte(text), 0o600))
	_, code := cordboard(t, "import", source, "--data", store, "--config", "")
	require.Zero(t, code)

	out, code := cordboard(t, "history", id, "--json", "--data", store, "--config", "")
	require.Zero(t, code)
	var answer struct {
		Messages []struct{ Content string }
		Replaced int
	}
	require.NoError(t, json.Unmarshal([]byte(out), &answer), out)
	require.Len(t, answer.Messages, 1)
	assert.Equal(t, "bro\uFFFDken", answer.Messages[0].Content)
	assert.Equal(t, strings.ToValidUTF8(out, "?"), out)
	assert.Equal(t, 1, answer.Replaced)

	out, code = cordboard(t, "history", id, "--jsonl", "--data", store, "--config", "")
	require.Zero(t, code)
	assert.Equal(t, broken+"\n", out)
}
