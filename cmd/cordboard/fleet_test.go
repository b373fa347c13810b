package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordboard/core"
)

// directories are the state directories these tests read: our own, and real ones where CORDBOARD_SAMPLES says that they are.
func directories() map[string]string {
	dirs := map[string]string{"fleet": "../../testdata/openclaw"}
	if samples := os.Getenv("CORDBOARD_SAMPLES"); samples != "" {
		dirs["samples"] = filepath.Join(samples, "samples", "openclaw-state")
	}
	return dirs
}

// cordboard runs a command line in this process and returns what it printed.
func cordboard(t *testing.T, args ...string) (stdout string, code int) {
	t.Helper()
	path, err := binary()
	require.NoError(t, err)
	var out, errs bytes.Buffer
	code = run(context.Background(), args, streams{
		in: strings.NewReader(""), out: &out, err: &errs, getenv: func(string) string { return "" }, width: func() int { return 0 },
		program: []string{path},
	})
	if code != exitOK {
		t.Logf("%v: %s", args, errs.String())
	}
	return out.String(), code
}

// entries reads a directory's sessions.json files as they are.
func entries(t *testing.T, dir string) map[string]map[string]any {
	t.Helper()
	all := map[string]map[string]any{}
	files, err := filepath.Glob(filepath.Join(dir, "agents", "*", "sessions", "sessions.json"))
	require.NoError(t, err)
	for _, file := range files {
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(raw, &all))
	}
	return all
}

// messageObjects are the message objects of a transcript file, byte for byte.
func messageObjects(t *testing.T, file string, tools bool) []string {
	t.Helper()
	f, err := os.Open(file)
	require.NoError(t, err)
	defer f.Close()
	list := []string{}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var line struct{ Message json.RawMessage }
		if json.Unmarshal(lines.Bytes(), &line) != nil || line.Message == nil {
			continue
		}
		role, _, _, err := core.Inspect(line.Message)
		require.NoError(t, err)
		if tools || role != core.RoleToolResult {
			list = append(list, string(line.Message))
		}
	}
	return list
}

// Every session of the directory is listed with what its entry says, and every transcript is read byte for byte, with and without tool
// results; also those of older generations, by their sessionId.
func TestImportedFleetIsListedAndReadAsItIs(t *testing.T) {
	for name, dir := range directories() {
		t.Run(name, func(t *testing.T) {
			store := filepath.Join(t.TempDir(), "D")
			_, code := cordboard(t, "import", dir, "--data", store, "--config", "")
			require.Zero(t, code)
			out, code := cordboard(t, "list", "--data", store, "--config", "", "--json", "--all")
			require.Zero(t, code)
			var list struct {
				Count    int
				Sessions []map[string]any
			}
			require.NoError(t, json.Unmarshal([]byte(out), &list))
			want := entries(t, dir)
			assert.Equal(t, len(want), list.Count)
			for _, row := range list.Sessions {
				checkRow(t, row, want[row["key"].(string)])
			}
			checkTranscripts(t, dir, store)
		})
	}
}

func checkRow(t *testing.T, row, entry map[string]any) {
	t.Helper()
	require.NotNil(t, entry, "%v was not in the directory", row["key"])
	for _, field := range []string{"sessionId", "updatedAt", "label", "spawnedBy", "sendPolicy"} {
		if field == "spawnedBy" && entry[field] == nil {
			continue // the spawn registry may know
		}
		assert.Equal(t, entry[field], row[field], "%s of %s", field, row["key"])
	}
	if entry["totalTokensFresh"] == true {
		assert.Equal(t, entry["totalTokens"], row["totalTokens"], row["key"])
	} else if entry["totalTokensFresh"] == false {
		assert.NotContains(t, row, "totalTokens", row["key"])
	}
	assert.Equal(t, true, row["mirrored"])
}

func checkTranscripts(t *testing.T, dir, store string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "agents", "*", "sessions", "*.jsonl*"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		if strings.HasSuffix(file, ".lock") {
			continue
		}
		for _, tools := range []bool{false, true} {
			args := []string{"history", filepath.Base(file), "--data", store, "--config", "", "--limit", "1000", fmt.Sprintf("--tools=%t", tools)}
			out, code := cordboard(t, append(args, "--jsonl")...)
			require.Zero(t, code, file)
			want := messageObjects(t, file, tools)
			assert.Equal(t, strings.Join(want, "\n"), strings.TrimSuffix(out, "\n"), file)

			out, code = cordboard(t, append(args, "--json")...)
			require.Zero(t, code, file)
			var answer struct{ Messages []json.RawMessage }
			require.NoError(t, json.Unmarshal([]byte(out), &answer))
			got := []string{}
			for _, m := range answer.Messages {
				got = append(got, string(m))
			}
			assert.Equal(t, want, got, file)
		}
	}
}

// A stopped import says that the next one goes on.
func TestStoppedImportSaysHowToGoOn(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	var out, errs bytes.Buffer
	code := run(ctx, []string{"import", "../../testdata/openclaw", "--data", filepath.Join(t.TempDir(), "D"), "--config", ""}, streams{
		in: strings.NewReader(""), out: &out, err: &errs, getenv: func(string) string { return "" }, width: func() int { return 0 },
	})
	assert.Equal(t, exitFailed, code)
	assert.Equal(t, "cordboard: the import was stopped: run it again to go on\n", errs.String())
	assert.Empty(t, out.String())
}
