package core_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordboard/core"
)

func TestInspectReadsWhatFiltersNeed(t *testing.T) {
	for _, c := range []struct {
		name, raw string
		role      core.Role
		flags     core.MessageFlags
		at        int64
	}{
		{"user", `{"role":"user","content":[{"type":"text","text":"hi"}],"timestamp":1796074201038}`, core.RoleUser, 0, 1796074201038},
		{"string content", `{"role":"system","content":"toolCall"}`, core.RoleSystem, 0, 0},
		{"tool call", `{"role":"assistant","content":[{"type":"toolCall","id":"c","name":"n","arguments":{"type":"x"}}]}`, core.RoleAssistant, core.MessageToolCalls, 0},
		{
			"thinking and call", `{"role":"assistant","content":[{"thinking":"","type":"thinking"},{"type":"text"},{"type":"toolCall"}]}`,
			core.RoleAssistant, core.MessageToolCalls | core.MessageThinking, 0,
		},
		{"failed tool", `{"role":"toolResult","isError":true,"content":[]}`, core.RoleToolResult, core.MessageError, 0},
		{"tool is toolResult", `{"role":"tool","isError":false}`, core.RoleToolResult, 0, 0},
		{"isError counts for tool results only", `{"isError":true,"role":"user"}`, core.RoleUser, 0, 0},
		{"stopped by an error", `{"role":"assistant","content":[],"stopReason":"error"}`, core.RoleAssistant, core.MessageError, 0},
		{"aborted", `{"role":"assistant","stopReason":"aborted"}`, core.RoleAssistant, core.MessageAborted, 0},
		{"ended well", `{"role":"assistant","stopReason":"stop"}`, core.RoleAssistant, 0, 0},
		{"from another session", `{"role":"user","provenance":{"kind":"inter_session","sourceSessionKey":"k"}}`, core.RoleUser, core.MessageInterSession, 0},
		{"from outside", `{"role":"user","provenance":{"kind":"external_user","kindly":"inter_session"}}`, core.RoleUser, 0, 0},
		{"role missing", `{"content":"x"}`, core.RoleOther, 0, 0},
		{"empty", ` {} `, core.RoleOther, 0, 0},
		{"role is no string", `{"role":["user"]}`, core.RoleOther, 0, 0},
		{"unknown role", `{"role":"bashExecution"}`, core.RoleOther, 0, 0},
		{"event is no role of a message", `{"role":"event"}`, core.RoleOther, 0, 0},
		{"role inside content does not count", `{"content":[{"role":"assistant","type":"text","text":"\"role\":\"system\""}],"role":"user"}`, core.RoleUser, 0, 0},
		{"call inside arguments does not count", `{"role":"assistant","content":[{"type":"text","x":{"type":"toolCall"}},["toolCall"],"toolCall"]}`, core.RoleAssistant, 0, 0},
		{"last role counts", `{"role":"user","role":"assistant"}`, core.RoleAssistant, 0, 0},
		{"last content counts", `{"role":"assistant","content":[{"type":"toolCall"}],"content":"x"}`, core.RoleAssistant, 0, 0},
		{"last type counts", `{"role":"assistant","content":[{"type":"toolCall","type":"text"}]}`, core.RoleAssistant, 0, 0},
		{"last stopReason counts", `{"role":"assistant","stopReason":"error","stopReason":"stop"}`, core.RoleAssistant, 0, 0},
		{"last provenance counts", `{"role":"user","provenance":{"kind":"inter_session"},"provenance":null}`, core.RoleUser, 0, 0},
		{"last kind counts", `{"role":"user","provenance":{"kind":"inter_session","kind":"x"}}`, core.RoleUser, 0, 0},
		{"escaped names and words", `{"r\u006fle":"\u0075ser","content":[{"\u0074ype":"tool\u0043all"}],"t\u0069mestamp":5}`, core.RoleUser, core.MessageToolCalls, 5},
		{"case counts", `{"Role":"user","ROLE":"system"}`, core.RoleOther, 0, 0},
		{"time as text", `{"role":"user","timestamp":"2026-11-30T21:30:01.042Z"}`, core.RoleUser, 0, 1796074201042},
		{"time with an offset", `{"role":"user","timestamp":"2026-11-30T22:30:01.042+01:00"}`, core.RoleUser, 0, 1796074201042},
		{"time floored", `{"role":"user","timestamp":1796074201038.9}`, core.RoleUser, 0, 1796074201038},
		{"time with exponent", `{"role":"user","timestamp":1.796074201038E12}`, core.RoleUser, 0, 1796074201038},
		{"time too far", `{"role":"user","timestamp":1e300}`, core.RoleUser, 0, 0},
		{"time beyond numbers", `{"role":"user","timestamp":1e400}`, core.RoleUser, 0, 0},
		{"time before 1970", `{"role":"user","timestamp":-5}`, core.RoleUser, 0, 0},
		{"time is nothing", `{"role":"user","timestamp":null}`, core.RoleUser, 0, 0},
		{"time is a word", `{"role":"user","timestamp":"yesterday"}`, core.RoleUser, 0, 0},
		{"not UTF-8", "{\"role\":\"user\",\"content\":\"a\xffb\"}", core.RoleUser, core.MessageInvalidUTF8, 0},
		{"half a surrogate pair is UTF-8", `{"role":"user","content":"\ud800"}`, core.RoleUser, 0, 0},
		{"white space", "\n{ \"role\" :\t\"user\" , \"content\" : [ ] }\r\n", core.RoleUser, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			role, flags, at, err := core.Inspect([]byte(c.raw))
			require.NoError(t, err)
			assert.Equal(t, c.role, role)
			assert.Equal(t, c.flags, flags)
			assert.Equal(t, c.at, at)
		})
	}
}

func TestInspectRefusesWhatIsNotOneObject(t *testing.T) {
	for _, raw := range []string{
		``, ` `, `null`, `[]`, `"role"`, `12`, `{`, `{}}`, `{} {}`, `{"role":"user"`, `{"role":"user",}`, `{"role" "user"}`, `{,}`, `{"a":1 "b":2}`,
		`{"a":01}`, `{"a":1.}`, `{"a":-}`, `{"a":1e}`, `{"a":+1}`, `{"a":tru}`, `{"a":NaN}`, `{"a":[1,]}`, `{"a":[1 2]}`, `{"a":"\x"}`, `{"a":"\u12g4"}`,
		`{"a":"\u12`, `{"a":"`, `{"a":"\`, "{\"a\":\"\n\"}", "{\"a\":1}\x00", "\x00", "{\x00", "\ufeff{}", `{a:1}`, `{'a':1}`, `{"content":[{"type":}]}`, `{"provenance":{"kind":}}`,
		`{"a":` + strings.Repeat("[", 10001) + strings.Repeat("]", 10001) + `}`,
	} {
		_, _, _, err := core.Inspect([]byte(raw))
		require.Error(t, err, "%.60q", raw)
		assert.Equal(t, core.CodeInvalidParams, core.CodeOf(err))
	}
}

func TestInspectNestsAsDeepAsEncodingJSON(t *testing.T) {
	for _, depth := range []int{9998, 9999, 10000, 10001} {
		raw := []byte(`{"a":` + strings.Repeat("[", depth) + strings.Repeat("]", depth) + `}`)
		_, _, _, err := core.Inspect(raw)
		assert.Equal(t, json.Valid(raw), err == nil, "depth %d", depth)
	}
}

func TestInspectMakesNoGarbage(t *testing.T) {
	raw := typicalMessage(20)
	assert.Zero(t, testing.AllocsPerRun(50, func() {
		if _, _, _, err := core.Inspect(raw); err != nil {
			t.Fatal(err)
		}
	}))
}

func TestBlocksAreTheContentInOrder(t *testing.T) {
	raw := `{"content":"old","role":"assistant","content":[
		{"type":"text","text":"a\n\u00e9\ud83d\ude00\ud800x\"\\\/"},
		{"type":"thinking","thinking":"hm","text":"no","thinkingSignature":"s"},
		{"type":"toolCall","id":"call_1","name":"sessions_list","arguments":{"n":12345678901234567890, "f":1.0}},
		{"type":"image","mimeType":"image/png","data":"aGVsbG8gd29ybGQ="},
		{"type":"image","url":"x"},
		"bare", 7, {"text":"typeless"}]}`
	var got []core.Block
	for b := range core.Blocks([]byte(raw)) {
		got = append(got, b)
	}
	require.Len(t, got, 8)
	assert.Equal(t, "a\né😀\ufffdx\"\\/", got[0].Text)
	assert.Equal(t, "hm", got[1].Text)
	assert.Equal(t, "toolCall sessions_list call_1", got[2].Type+" "+got[2].Name+" "+got[2].ID)
	assert.Equal(t, `{"n":12345678901234567890, "f":1.0}`, string(got[2].Arguments))
	assert.Equal(t, "image/png 11", fmt.Sprint(got[3].MimeType, " ", got[3].Bytes))
	assert.Zero(t, got[4].Bytes)
	assert.Equal(t, "text bare", got[5].Type+" "+got[5].Text)
	assert.Equal(t, "7", string(got[6].Raw))
	assert.Equal(t, " typeless", got[7].Type+" "+got[7].Text)
	for range core.Blocks([]byte(raw)) {
		break // stopping early is allowed
	}
}

func TestBlocksOfOtherContent(t *testing.T) {
	for raw, want := range map[string]int{`{"content":"x"}`: 1, `{"content":""}`: 1, `{}`: 0, `{"content":null}`: 0, `{"content":{"type":"text"}}`: 0, `[]`: 0, `{"content":[{"type":"text"`: 0} {
		n := 0
		for range core.Blocks([]byte(raw)) {
			n++
		}
		assert.Equal(t, want, n, raw)
	}
}

func TestFieldTakesTheLastAndKeepsBytes(t *testing.T) {
	line := `{"type":"message","message":{"a":1},"message" : { "role":"user" , "n":1.0 } ,"id":"x"}`
	v, ok := core.Field([]byte(line), "message")
	assert.True(t, ok)
	assert.Equal(t, `{ "role":"user" , "n":1.0 }`, string(v))
	_, ok = core.Field([]byte(line), "role")
	assert.False(t, ok)
	v = append(v, '!') // the value's capacity ends with it
	assert.Contains(t, line, string(v[:len(v)-1])+` ,"id"`)
}

func TestBase64SizeIsTheDecodedSize(t *testing.T) {
	for literal, want := range map[string]int{`""`: 0, `"YQ=="`: 1, `"YQ"`: 1, `"YWI="`: 2, `"YWJj"`: 3, `null`: 0, `"`: 0, ``: 0} {
		assert.Equal(t, want, core.Base64Size([]byte(literal)), literal)
	}
}

// inspectSlowly says what Inspect must, by decoding the whole message.
func inspectSlowly(raw []byte) (role core.Role, flags core.MessageFlags, at int64) {
	top := map[string]json.RawMessage{}
	if json.Unmarshal(raw, &top) != nil {
		return
	}
	text := func(v json.RawMessage) (s string) {
		if len(v) == 0 || v[0] != '"' || json.Unmarshal(v, &s) != nil {
			return ""
		}
		return s
	}
	role = core.RoleOf(text(top["role"]))
	switch text(top["stopReason"]) {
	case "error":
		flags |= core.MessageError
	case "aborted":
		flags |= core.MessageAborted
	}
	if role == core.RoleToolResult && string(top["isError"]) == "true" {
		flags |= core.MessageError
	}
	source := map[string]json.RawMessage{}
	if json.Unmarshal(top["provenance"], &source) == nil && text(source["kind"]) == "inter_session" {
		flags |= core.MessageInterSession
	}
	var content []json.RawMessage
	if json.Unmarshal(top["content"], &content) == nil {
		for _, element := range content {
			block := map[string]json.RawMessage{}
			if json.Unmarshal(element, &block) != nil {
				continue
			}
			switch text(block["type"]) {
			case "toolCall":
				flags |= core.MessageToolCalls
			case "thinking":
				flags |= core.MessageThinking
			}
		}
	}
	if !utf8.Valid(raw) {
		flags |= core.MessageInvalidUTF8
	}
	ms := math.NaN()
	if stamp := top["timestamp"]; len(stamp) > 0 && stamp[0] == '"' {
		if when, err := time.Parse(time.RFC3339Nano, text(stamp)); err == nil {
			ms = float64(when.UnixMilli())
		}
	} else if len(stamp) > 0 && stamp[0] != 'n' && json.Unmarshal(stamp, &ms) != nil {
		ms = 0
	}
	if ms >= 1 && ms <= 8.64e15 {
		at = int64(ms)
	}
	return role, flags, at
}

func FuzzInspect(f *testing.F) {
	for _, seed := range []string{
		`{"role":"user","content":[{"type":"text","text":"hi"}],"timestamp":1796074201038}`,
		`{"role":"assistant","content":[{"type":"toolCall","arguments":{"a":[1,{"b":null}]}},{"type":"thinking"}],"stopReason":"aborted"}`,
		`{"role":"tool","isError":true,"provenance":{"kind":"inter_session"},"timestamp":"2026-11-30T21:30:01.042Z"}`,
		`{"r\u006fle":"\ud83d\ude00\ud800","content":"\u0000","content":[]}`, "{\"role\":\"\xff\"}", `[{}]`, `{"a":-0.1e+5}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		role, flags, at, err := core.Inspect(raw)
		var object map[string]json.RawMessage
		valid := json.Valid(raw) && json.Unmarshal(raw, &object) == nil && object != nil
		require.Equal(t, valid, err == nil)
		if !valid {
			return
		}
		wantRole, wantFlags, wantAt := inspectSlowly(raw)
		assert.Equal(t, wantRole, role)
		assert.Equal(t, wantFlags, flags)
		assert.Equal(t, wantAt, at)
	})
}

func FuzzUnquote(f *testing.F) {
	for _, seed := range []string{`"a"`, `"\ud83d\ude00"`, `"\ud83dx"`, `"\ud83d\u0041"`, "\"\xe2\x82\"", `"\\\/\b\f\n\r\t\""`, `7`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if !json.Valid(raw) {
			return
		}
		var want string
		isString := strings.HasPrefix(strings.TrimLeft(string(raw), " \t\r\n"), `"`)
		if isString {
			require.NoError(t, json.Unmarshal(raw, &want))
		}
		got, ok := core.Unquote(raw)
		assert.Equal(t, isString, ok)
		assert.Equal(t, want, got)
	})
}

func typicalMessage(lines int) []byte {
	text, _ := json.Marshal(strings.Repeat("The build failed in \"core\": line 12 says <nil>.\n", lines))
	return []byte(`{"role":"assistant","content":[{"type":"text","text":` + string(text) + `},{"type":"toolCall","id":"call_60","name":"exec","arguments":{"command":"go test ./..."}}],` +
		`"api":"openai-completions","provider":"mock","model":"mock-1","usage":{"input":11463,"output":1,"cost":{"input":0.011463,"total":0.011465}},"stopReason":"toolUse","timestamp":1796074201041}`)
}

func BenchmarkInspect(b *testing.B) {
	for _, lines := range []int{1, 20, 1000} {
		raw := typicalMessage(lines)
		b.Run(fmt.Sprint(len(raw)), func(b *testing.B) {
			b.SetBytes(int64(len(raw)))
			for b.Loop() {
				if _, _, _, err := core.Inspect(raw); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
