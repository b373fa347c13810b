package tool_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordboard/core"
	"cordboard/core/tool"
)

func TestDecodeSpawn(t *testing.T) {
	plain := tool.Spawn{Task: "x", RunTimeoutSeconds: -1, Mode: core.SpawnOnce, Cleanup: core.CleanupKeep, Sandbox: tool.SandboxInherit}
	with := func(change func(*tool.Spawn)) tool.Spawn {
		s := plain
		change(&s)
		return s
	}
	for raw, want := range map[string]tool.Spawn{
		`{"task":"x"}`: plain,
		`{"task":"x","label":null,"agentId":null,"model":null,"thinking":null,"runTimeoutSeconds":null,"thread":null,"mode":null,"cleanup":null,"sandbox":null,"attachments":null,"attachAs":null}`: plain,
		`{"task":" x\n"}`:                                            with(func(s *tool.Spawn) { s.Task = " x\n" }),
		`{"task":"x","attachments":[]}`:                              plain,
		`{"task":"x","label":"  "}`:                                  plain,
		`{"task":"x","agentId":" Ops "}`:                             with(func(s *tool.Spawn) { s.AgentID = "ops" }),
		`{"task":"x","runTimeoutSeconds":0}`:                         with(func(s *tool.Spawn) { s.RunTimeoutSeconds = 0 }),
		`{"task":"x","thread":true}`:                                 with(func(s *tool.Spawn) { s.Thread, s.Mode = true, core.SpawnSession }),
		`{"task":"x","thread":true,"mode":"run","cleanup":"delete"}`: with(func(s *tool.Spawn) { s.Thread, s.Cleanup = true, core.CleanupDelete }),
		`{"task":"x","thread":true,"cleanup":"delete"}`:              with(func(s *tool.Spawn) { s.Thread, s.Mode = true, core.SpawnSession }), // session mode always keeps
		`{"task":"x","attachments":[{"name":" a ","content":"","mimeType":"text/plain"}],"attachAs":{"mountPath":"in"}}`: with(func(s *tool.Spawn) {
			s.Attachments, s.MountPath = []tool.Attachment{{Name: " a ", Encoding: "utf8", MimeType: "text/plain"}}, "in"
		}),
	} {
		got, _, err := tool.DecodeSpawn(json.RawMessage(raw))
		require.NoError(t, err, raw)
		assert.Equal(t, want, got, raw)
	}
}

func TestAttachmentBytes(t *testing.T) {
	data, ok := (&tool.Attachment{Content: "aGVsbG8gd29ybGQ=", Encoding: "base64"}).Bytes() // I210
	assert.True(t, ok)
	assert.Equal(t, "hello world", string(data))
	for _, bad := range []string{"", "abc", "!@#$", "   ", "aGVs bG8=", "aGVs\r\nbG8=", "aGVsbG9=", "aGVsbG8", "-_-_"} { // I211
		_, ok := (&tool.Attachment{Content: bad, Encoding: "base64"}).Bytes()
		assert.False(t, ok, bad)
	}
	data, ok = (&tool.Attachment{Encoding: "utf8"}).Bytes()
	assert.True(t, ok)
	assert.Empty(t, data)
}

// A transcript keeps receipts; what else was said in the call stays as it is.
func TestStoredCalls(t *testing.T) {
	const sum = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824" // of hello
	for raw, want := range map[string]string{
		`{"task": "x"}`:                 `{"task": "x"}`,
		`{"task":"x","attachments":[]}`: `{"task":"x","attachments":[]}`,
		`{"attachments":[{"name":"a","content":"hello"}],"task":"<x>"}`:                        `{"attachments":[{"name":"a","bytes":5,"sha256":"` + sum + `"}],"task":"<x>"}`,
		`{"attachments":[{"name":"a","content":"aGVsbG8=","encoding":"base64"},{"name":"b"}]}`: `{"attachments":[{"name":"a","bytes":5,"sha256":"` + sum + `"},{"omitted":true}]}`,
		`{"attachments":"hello"}`: `{"attachments":"hello"}`,
	} {
		assert.Equal(t, want, string(tool.Stored(tool.SessionsSpawn, json.RawMessage(raw))))
		assert.Equal(t, want, string(tool.Stored("mcp__cordboard__sessions_spawn", json.RawMessage(raw))))
		assert.Equal(t, raw, string(tool.Stored(tool.SessionsSend, json.RawMessage(raw))))
	}
}

func TestSpawnAnswer(t *testing.T) {
	assert.Equal(t, `{"status":"accepted","runId":"r","childSessionKey":"agent:a:subagent:1"}`,
		string(tool.SpawnAnswer{RunID: "r", SessionKey: "agent:a:subagent:1"}.Accepted()))
	assert.Equal(t, `{"status":"accepted","runId":"r","childSessionKey":"k","modelApplied":true,"threadId":"7","attachments":{"relDir":"d/1","count":1,"files":[{"name":"a","bytes":0,"sha256":"s"}]}}`,
		string(tool.SpawnAnswer{RunID: "r", SessionKey: "k", ModelApplied: true, ThreadID: "7", Files: &core.Attachments{
			Workspace: "/secret", RelDir: "d/1", Files: []core.Attachment{{Name: "a", SHA256: "s"}},
		}}.Accepted()))
}
