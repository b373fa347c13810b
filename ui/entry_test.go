package ui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/muesli/termenv"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cordboard/core"
	"cordboard/core/proptest"
	"cordboard/themes"
	"cordboard/ui/md"
)

// told draws a message as the transcript shows it, 100 cells wide.
func told(t *testing.T, read reading, raw string) string {
	t.Helper()
	role, flags, at, err := core.Inspect([]byte(raw))
	require.NoError(t, err)
	return drawn(t, read, &core.Message{Role: role, Flags: flags, At: at, Raw: []byte(raw)})
}

func drawn(t *testing.T, read reading, m *core.Message) string {
	t.Helper()
	k := newInks(styles(t, themes.Dark, termenv.Ascii))
	maker := entryMaker{k: k, md: md.New(), read: read, zone: time.UTC}
	e := maker.make(m, m) // the message above it is of the same day
	d := partDrawer{k: k, md: maker.md, w: 100, wrap: true}
	var out []string
	for p := range e.parts {
		for _, l := range d.draw(e, p) {
			out = append(out, strings.TrimRight(l, " "))
		}
	}
	return strings.Join(out, "\n")
}

func TestMessages(t *testing.T) {
	const at = `"timestamp":1796040251000` // 12:04:11
	cases := []struct {
		name, raw, want string
		read            reading
	}{
		{name: "a person", raw: `{"role":"user","content":"hello",` + at + `}`, want: "\n▎ 12:04:11  user\n▎ hello"},
		{
			name: "a person in OpenClaw's envelope",
			raw: `{"role":"user","content":[{"type":"text","text":"Sender (untrusted metadata):\n` + "```json" + `\n{\"label\":\"recorder (cli)\",\"id\":\"cli\"}\n` + "```" +
				`\n\n[Mon 2026-11-30 21:27 UTC] hello"}],` + at + `}`,
			want: "\n▎ 12:04:11  user recorder (cli) · [Mon 2026-11-30 21:27 UTC]\n▎ hello",
		},
		{
			name: "another session",
			raw:  `{"role":"user","content":"what did you find?","provenance":{"kind":"inter_session","sourceSessionKey":"agent:ops:main","sourceTool":"sessions_send"},` + at + `}`,
			want: "\n▎ 12:04:11  ⇄ from agent:ops:main (sessions_send)\n▎ what did you find?",
		},
		{
			name: "a person as another session",
			raw:  `{"role":"user","content":"x","provenance":{"kind":"inter_session","sourceSessionKey":"agent:ops:main","sourceTool":"sessions_send","via":"operator"},` + at + `}`,
			want: "\n▎ 12:04:11  ⇄ from agent:ops:main (sessions_send) via operator\n▎ x",
		},
		{
			name: "an agent with model and usage",
			raw:  `{"role":"assistant","model":"mock-1","usage":{"input":11672,"output":104},"content":[{"type":"text","text":"done"}],` + at + `}`,
			want: "\n▎ 12:04:11  agent · mock-1 · 12k in 104 out\n▎ done",
		},
		{
			name: "a folded tool call",
			raw:  `{"role":"assistant","content":[{"type":"toolCall","name":"sessions_list","arguments":{"limit": 2}}],` + at + `}`,
			want: "\n▎ 12:04:11  agent\n▎ ▸ sessions_list {\"limit\":2}",
		},
		{
			name: "an open tool call", read: reading{tools: true},
			raw:  `{"role":"assistant","content":[{"type":"toolCall","name":"sessions_list","arguments":{"limit":2}}],` + at + `}`,
			want: "\n▎ 12:04:11  agent\n▎ ▾ sessions_list\n▎ {\n▎   \"limit\": 2\n▎ }",
		},
		{
			name: "a folded result", raw: `{"role":"toolResult","toolName":"exec","content":[{"type":"text","text":"a\n  b"}],` + at + `}`,
			want: "▎ 12:04:11  ◂ exec · 5 B · a b",
		},
		{
			name: "an open result", read: reading{tools: true}, raw: `{"role":"toolResult","toolName":"exec","content":[{"type":"text","text":"a\n  b"}],` + at + `}`,
			want: "▎ 12:04:11  ◂ exec · 5 B\n▎ a\n▎   b",
		},
		{
			name: "a failed result", raw: `{"role":"toolResult","toolName":"exec","isError":true,"content":"ENOENT",` + at + `}`,
			want: "▎ 12:04:11  ✗ exec error · 6 B · ENOENT",
		},
		{
			name: "a result with an image", raw: `{"role":"tool","toolName":"shot","content":[{"type":"image","data":"AAAABBBBCCCC"}],` + at + `}`,
			want: "▎ 12:04:11  ◂ shot · 0 B · [image 9 B] ·",
		},
		{
			name: "folded thinking", raw: `{"role":"assistant","content":[{"type":"thinking","thinking":"Start broad,\nthen keep"},{"type":"text","text":"ok"}],` + at + `}`,
			want: "\n▎ 12:04:11  agent\n▎ ▸ thinking · 22 B · Start broad, then keep\n▎ ok",
		},
		{
			name: "open thinking", read: reading{thinking: true}, raw: `{"role":"assistant","content":[{"type":"thinking","thinking":"Start\nbroad"}],` + at + `}`,
			want: "\n▎ 12:04:11  agent\n▎ ▾ thinking\n▎ Start\n▎ broad",
		},
		{
			name: "a failed run", raw: `{"role":"assistant","content":[],"stopReason":"error","errorMessage":"500 mock failure",` + at + `}`,
			want: "\n▎ 12:04:11  agent\n▎ ✗ error: 500 mock failure",
		},
		{
			name: "an aborted run", raw: `{"role":"assistant","content":"half","stopReason":"aborted","errorMessage":"Request was aborted",` + at + `}`,
			want: "\n▎ 12:04:11  agent\n▎ half\n▎ ⊘ aborted: Request was aborted",
		},
		{
			name: "a reply that was too long", raw: `{"role":"assistant","content":"half","stopReason":"length",` + at + `}`,
			want: "\n▎ 12:04:11  agent\n▎ half\n▎ ⊘ cut: the reply reached the model's length limit",
		},
		{name: "an image", raw: `{"role":"user","content":[{"type":"image","mimeType":"image/png","data":"` + strings.Repeat("A", 16000) + `"}],` + at + `}`, want: "\n▎ 12:04:11  user\n▎ [image 12 KB image/png]"},
		{name: "an image kept elsewhere", raw: `{"role":"user","content":[{"type":"image","url":"x"}],` + at + `}`, want: "\n▎ 12:04:11  user\n▎ [image elsewhere]"},
		{name: "a block of another kind", raw: `{"role":"user","content":[{"type":"audio"}],` + at + `}`, want: "\n▎ 12:04:11  user\n▎ [audio 16 B]"},
		{name: "no text", raw: `{"role":"assistant","content":[],` + at + `}`, want: "\n▎ 12:04:11  agent\n▎ (no text)"},
		{name: "the system", raw: `{"role":"system","content":"rules",` + at + `}`, want: "\n▎ 12:04:11  system\n▎ rules"},
		{name: "another role", raw: `{"role":"narrator","content":"once",` + at + `}`, want: "\n▎ 12:04:11  narrator\n▎ once"},
		{name: "nothing known", raw: `{}`, want: "\n▎ --:--:--  message without a role\n▎ (no text)"},
		{name: "fields of another shape", raw: `{"role":"assistant","content":7,"usage":[],"provenance":3,"model":{},` + at + `}`, want: "\n▎ 12:04:11  agent\n▎ (no text)"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.want, told(t, c.read, c.raw)) })
	}
}

func TestEvents(t *testing.T) {
	cases := []struct{ name, raw, want string }{
		{"session", `{"type":"session","cwd":"/home/op"}`, "▎ 12:04:11  session started in /home/op"},
		{"model", `{"type":"model_change","provider":"mock","modelId":"mock-1"}`, "▎ 12:04:11  model mock/mock-1"},
		{"thinking", `{"type":"thinking_level_change","thinkingLevel":"high"}`, "▎ 12:04:11  thinking high"},
		{"failed run", `{"type":"custom","customType":"openclaw:prompt-error","data":{"error":"aborted"}}`, "▎ 12:04:11  ✗ run failed: aborted"},
		{"a snapshot tells nothing", `{"type":"custom","customType":"model-snapshot","data":{}}`, ""},
		{"a note", `{"type":"custom_message","customType":"hint","content":"look"}`, "▎ 12:04:11  hint · look"},
		{"a name", `{"type":"session_info","name":"deploy"}`, "▎ 12:04:11  named deploy"},
		{"a label", `{"type":"label","label":"here"}`, "▎ 12:04:11  label here"},
		{"an unknown one", `{"type":"sparkle"}`, "▎ 12:04:11  event sparkle"},
		{"no object", `[]`, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, drawn(t, reading{}, &core.Message{At: 1796040251000, Raw: []byte(c.raw)}))
		})
	}
	compaction := drawn(t, reading{}, &core.Message{At: 1796040251000, Raw: []byte(`{"type":"compaction","tokensBefore":45000,"summary":"so far"}`)})
	require.True(t, strings.HasPrefix(compaction, "\n── compaction · 45k tokens before · so far ────"), compaction)
}

func TestDays(t *testing.T) {
	k := newInks(styles(t, themes.Dark, termenv.Ascii))
	tokyo := time.FixedZone("JST", 9*3600)
	at := func(h int) *core.Message {
		return &core.Message{At: noon.Add(time.Duration(h) * time.Hour).UnixMilli()}
	}
	cases := []struct {
		name          string
		message, prev *core.Message
		zone          *time.Location
		want          string
	}{
		{"first of a transcript", at(0), nil, time.UTC, "Mon 30 Nov 2026"},
		{"same day", at(1), at(0), time.UTC, ""},
		{"past midnight", at(13), at(11), time.UTC, "Tue 1 Dec 2026"},
		{"midnight is the zone's", at(4), at(2), tokyo, "Tue 1 Dec 2026"},
		{"no time", &core.Message{}, at(0), time.UTC, ""},
		{"no time above", at(0), &core.Message{}, time.UTC, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, entryMaker{k: k, zone: c.zone}.newDay(c.message, c.prev))
		})
	}
}

// A long text comes in parts of bounded size that together are the text.
func TestPartsHoldTheWholeText(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		word := rapid.SampledFrom([]string{"x", "word ", "line\n", "会", strings.Repeat("long", 500) + "\n"}).Draw(t, "word")
		text := strings.Repeat(word, rapid.IntRange(0, 3*maxPart/len(word)).Draw(t, "times"))
		var out entry
		entryMaker{}.text(&out, ink{}, text)
		var joined strings.Builder
		for _, p := range out.parts {
			require.LessOrEqual(t, len(p.text), maxPart)
			joined.WriteString(p.text)
		}
		strip := func(s string) string { return strings.ReplaceAll(s, "\n", "") }
		require.Equal(t, strip(text), strip(joined.String()))
	})
}

// A message of megabytes costs what is seen of it.
func TestHugeMessage(t *testing.T) {
	b := talk(1)
	b.Append("agent:main:main", core.Message{Role: core.RoleToolResult, Raw: fmt.Appendf(nil, `{"role":"toolResult","toolName":"cat","content":%q}`, strings.Repeat("a line of a large file\n", 250_000))})
	c := readingOf(t, b, 160, 24)
	require.Contains(t, c.lastLine(), "◂ cat · 5.8 MB · a line")
	c.press("t")
	require.Equal(t, "a line of a large file", c.lastLine())
	it := c.m.trans.item(1)
	seen := 0
	for _, lines := range it.drawn {
		seen += len(lines)
	}
	require.Greater(t, len(it.parts), 300)
	require.Less(t, seen, 3000)
}
