package transcribe

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cordboard/core"
	"cordboard/core/proptest"
	"cordboard/ui/safe"
	"cordboard/ui/uitest"
)

func message(t require.TestingT, raw string) *core.Message {
	role, flags, at, err := core.Inspect([]byte(raw))
	require.NoError(t, err)
	return &core.Message{Role: role, Flags: flags, At: at, Raw: []byte(raw)}
}

func TestSaid(t *testing.T) {
	long := strings.Repeat("0123456789", 30)
	for _, c := range []struct{ name, raw, want string }{
		{"a text", `{"role":"user","content":"hello"}`, "hello"},
		{"R159: a long line stays one", `{"role":"assistant","content":"` + long + `"}`, long},
		{"newlines and tabs stay", `{"role":"assistant","content":"a\n\n\tb\r\nc\n"}`, "a\n\n\tb\nc"},
		{"several texts", `{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"thinking","thinking":"hm"},{"type":"text","text":"b"}]}`, "a\n\nb"},
		{"Markdown as it was written", "{\"role\":\"assistant\",\"content\":\"**a** `b`\\n```sh\\nls\\n```\"}", "**a** `b`\n```sh\nls\n```"},
		{"without the envelope", `{"role":"user","content":"[Mon 2026-11-30 21:27 UTC] hi"}`, "hi"},
		{"an agent writes no envelope", `{"role":"assistant","content":"[Mon 2026-11-30 21:27 UTC] hi"}`, "[Mon 2026-11-30 21:27 UTC] hi"},
		{"a result", `{"role":"toolResult","content":[{"type":"text","text":"x\ny"}]}`, "x\ny"},
		{"only a call", `{"role":"assistant","content":[{"type":"toolCall","name":"exec","arguments":{"cmd":"ls"}}]}`, "exec\n{\n  \"cmd\": \"ls\"\n}"},
		{"only thoughts", `{"role":"assistant","content":[{"type":"thinking","thinking":"hm"}]}`, "hm"},
		{"only a failure", `{"role":"assistant","content":[],"stopReason":"error","errorMessage":"429"}`, "429"},
		{"nothing", `{"role":"assistant","content":[]}`, ""},
		{"what would drive a terminal", `{"role":"user","content":"a\u001b[201~rm\u202e"}`, "a␛[201~rm‹U+202E›"},
	} {
		t.Run(c.name, func(t *testing.T) { assert.Equal(t, c.want, Said(message(t, c.raw))) })
	}
	assert.JSONEq(t, `{"type":"label"}`, Said(&core.Message{Role: core.RoleEvent, Raw: []byte(`{"type":"label"}`)}))
}

func TestMessage(t *testing.T) {
	const at = `,"timestamp":1796040251000}`
	tokyo := time.FixedZone("JST", 9*3600)
	for _, c := range []struct{ name, raw, want string }{
		{"a person", `{"role":"user","content":"hello"` + at, "## user · 2026-11-30 21:04:11\n\nhello\n"},
		{"in an envelope", `{"role":"user","content":` + quoted(senderOpens+`{"label":"Mira"}`+senderCloses+"hi") + at, "## user · Mira · 2026-11-30 21:04:11\n\nhi\n"},
		{"an agent", `{"role":"assistant","model":"m","usage":{"input":3,"output":2},"content":"**yes**"` + at, "## agent · m · 2026-11-30 21:04:11 · 3 in, 2 out\n\n**yes**\n"},
		{"thought and call", `{"role":"assistant","content":[{"type":"thinking","thinking":"a\nb"},{"type":"toolCall","name":"ls","arguments":{}}]` + at, "## agent · 2026-11-30 21:04:11\n\n> *thinking*\n>\n> a\n> b\n\n**ls**\n\n```json\n{}\n```\n"},
		{"a result with a fence in it", `{"role":"toolResult","toolName":"cat","isError":true,"content":"a\n` + "````" + `\nb"` + at, "## result of cat · error · 2026-11-30 21:04:11\n\n`````\na\n````\nb\n`````\n"},
		{"another session", `{"role":"user","content":"x","provenance":{"kind":"inter_session","sourceSessionKey":"agent:a:main","sourceTool":"sessions_send"}` + at, "## from agent:a:main (sessions_send) · 2026-11-30 21:04:11\n\nx\n"},
		{"a failure", `{"role":"assistant","content":[],"stopReason":"error","errorMessage":"429"` + at, "## agent · 2026-11-30 21:04:11\n\n**error** 429\n"},
		{"an image", `{"role":"user","content":[{"type":"image","mimeType":"image/png","data":"AAAA"}]` + at, "## user · 2026-11-30 21:04:11\n\n*[image image/png, 3 bytes]*\n"},
		{"no time", `{"role":"system","content":"r"}`, "## system\n\nr\n"},
	} {
		t.Run(c.name, func(t *testing.T) { assert.Equal(t, c.want, Message(message(t, c.raw), tokyo)) })
	}
	for raw, want := range map[string]string{
		`{"type":"compaction","summary":"so far"}`:                                          "## compaction\n\nso far\n",
		`{"type":"custom","customType":"openclaw:prompt-error","data":{"error":"aborted"}}`: "## run failed\n\naborted\n",
		`{"type":"model_change"}`:                                                           "",
	} {
		assert.Equal(t, want, Message(&core.Message{Role: core.RoleEvent, Raw: []byte(raw)}, tokyo))
	}
}

func quoted(text string) string {
	out, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(out)
}

// A whole transcript comes out in order, whatever its length, every message once.
func TestMarkdownOfATranscript(t *testing.T) {
	b := uitest.New("/data")
	b.Put(core.Head{Key: "agent:main:main"}, core.SessionDetail{})
	var list []core.Message
	for i := range 3*pageSize + 7 {
		list = append(list, core.Message{Role: core.RoleUser, Raw: fmt.Appendf(nil, `{"role":"user","content":"message %d."}`, i)})
	}
	b.Append("agent:main:main", list...)
	var out bytes.Buffer
	require.NoError(t, Markdown(t.Context(), b, core.MessageQuery{Session: "agent:main:main"}, time.UTC, &out))
	text := out.String()
	require.True(t, strings.HasPrefix(text, "# agent:main:main\n\nTranscript `agent:main:main` (current), 1507 messages.\n\n## user\n\nmessage 0.\n"), text[:200])
	at := 0
	for i := range list {
		next := strings.Index(text[at:], fmt.Sprintf("message %d.\n", i))
		require.GreaterOrEqual(t, next, 0, i)
		at += next
	}
	require.Equal(t, len(list), strings.Count(text, "\n## "))

	require.ErrorIs(t, Markdown(t.Context(), b, core.MessageQuery{Session: "agent:main:main"}, time.UTC, broken{}), errFull)
	require.Error(t, Markdown(t.Context(), b, core.MessageQuery{Session: "nobody"}, time.UTC, &out))
}

var errFull = fmt.Errorf("disk full")

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errFull }

// Whatever is stored, nothing of it can drive a terminal.
func TestNothingDrivesATerminal(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.OneOf(rapid.Rune(), rapid.SampledFrom([]rune("\x1b\x07\r\n\t`#\u202e\u009b")))).Draw(t, "text")
		q := quoted(text)
		m := message(t, `{"role":"assistant","model":`+q+`,"toolName":`+q+`,"errorMessage":`+q+`,"stopReason":"error","content":[{"type":"text","text":`+q+`},{"type":"thinking","thinking":`+q+`},{"type":"toolCall","name":`+q+`,"arguments":`+q+`},{"type":`+q+`}]}`)
		for _, out := range []string{Said(m), Message(m, time.UTC)} {
			require.Equal(t, safe.Text(out), out)
			require.NotContains(t, out, "\r")
		}
	})
}
