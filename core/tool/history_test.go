package tool_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cordboard/core"
	"cordboard/core/proptest"
	"cordboard/core/tool"
)

// message makes a stored message of its JSON.
func message(t require.TestingT, seq uint64, raw string) core.Message {
	role, flags, at, err := core.Inspect([]byte(raw))
	require.NoError(t, err)
	return core.Message{Seq: seq, Role: role, Flags: flags, At: at, Raw: json.RawMessage(raw)}
}

func page(t require.TestingT, raws ...string) *tool.Page {
	p := &tool.Page{SessionKey: "main", Generation: "g-1"}
	for i, raw := range raws {
		p.Messages = append(p.Messages, message(t, uint64(i+10), raw))
	}
	return p
}

// answer is a history answer as a client reads it.
type answer struct {
	SessionKey       string
	SessionID        string
	Archived         bool
	Messages         []json.RawMessage
	Truncated        *bool
	DroppedMessages  *bool
	ContentTruncated *bool
	ContentRedacted  *bool
	Bytes            *int
	NextBefore       string
	Clamped          tool.Clamped
}

func read(t require.TestingT, body json.RawMessage) (a answer) {
	require.True(t, json.Valid(body), "%s", body)
	require.True(t, utf8.Valid(body))
	require.NoError(t, json.Unmarshal(body, &a))
	return a
}

func flags(a answer) string {
	return fmt.Sprintf("truncated %v, dropped %v, cut %v, redacted %v", *a.Truncated, *a.DroppedMessages, *a.ContentTruncated, *a.ContentRedacted)
}

func TestOperatorGetsEveryByte(t *testing.T) {
	raws := []string{
		`{"role":"user","content":"<b>&é\u00e9 </b>","n":1.0,"big":12345678901234567890,"e":1E3,"z":1,"a":2}`,
		"{ \"content\" : [ ],\n\t\"role\":\"assistant\" , \"usage\":{\"cost\":1e-7} }",
		"{\"role\":\"user\",\"content\":\"a\xff\"}",
	}
	p := page(t, raws...)
	assert.Equal(t, `{"sessionKey":"main","messages":[`+strings.Join(raws, ",")+`]}`, string(p.Operator(nil)))
	p.SessionID, p.Archived, p.More, p.Clamped = "s-1", true, true, tool.Clamped{"limit": 1000}
	assert.Equal(t, `{"sessionKey":"main","sessionId":"s-1","archived":true,"messages":[`+strings.Join(raws, ",")+
		`],"nextBefore":"`+tool.HistoryCursor(tool.Place{Generation: "g-1", Seq: 10})+`","clamped":{"limit":1000}}`, string(p.Operator(nil)))
	assert.Equal(t, `{"sessionKey":"main","messages":[]}`, string(page(t).Operator(nil)))
}

func TestOperatorMasksOnDemand(t *testing.T) {
	secret := "sk-" + "1234567890abcdef1234"
	raw := `{"role":"user","content":"` + secret + strings.Repeat("x ", 9000) + `","usage":{"n":1.0}}`
	p := page(t, raw)
	a := read(t, p.Operator(redactor(t)))
	assert.Equal(t, strings.Replace(raw, secret+"x", "sk-123…234x", 1), string(a.Messages[0]))
	assert.True(t, *a.ContentRedacted)
	assert.Nil(t, a.Truncated)
	assert.Equal(t, raw, string(p.Messages[0].Raw), "R074: what is stored stays")
	assert.False(t, *read(t, page(t, `{"role":"user"}`).Operator(redactor(t))).ContentRedacted)
}

func TestSessionGetsAShortMessageAsItIs(t *testing.T) {
	raw := `{ "role":"user", "content":"hi <you>", "timestamp":1.0, "x":{"y":[12345678901234567890]} }`
	a := read(t, page(t, raw).Session(redactor(t)))
	assert.Equal(t, raw, string(a.Messages[0]))
	assert.Equal(t, "truncated false, dropped false, cut false, redacted false", flags(a))
	assert.Equal(t, len(raw)+2, *a.Bytes)
	assert.Empty(t, a.NextBefore)

	empty := page(t).Session(nil)
	assert.Equal(t, `{"sessionKey":"main","messages":[],"truncated":false,"droppedMessages":false,"contentTruncated":false,"contentRedacted":false,"bytes":2}`, string(empty))
}

func TestE102ManyLongMessages(t *testing.T) {
	raw := fmt.Sprintf(`{"role":"assistant","content":[{"type":"text","text":"%s"},{"type":"thinking","thinking":"%s","thinkingSignature":"sig"}],"details":{"a":1},"usage":{"input":1}}`,
		strings.Repeat("a", 5000), strings.Repeat("b", 7000))
	raws := make([]string, 80)
	for i := range raws {
		raws[i] = raw
	}
	a := read(t, page(t, raws...).Session(redactor(t)))
	assert.Equal(t, "truncated true, dropped true, cut true, redacted false", flags(a))
	assert.LessOrEqual(t, *a.Bytes, 81920)
	require.NotEmpty(t, a.Messages)
	size := 2
	for _, m := range a.Messages {
		size += len(m) + 1
		for _, gone := range []string{"details", "usage", "thinkingSignature"} {
			assert.NotContains(t, string(m), gone)
		}
		for b := range core.Blocks(m) {
			assert.LessOrEqual(t, len([]rune(b.Text)), 4015)
			assert.True(t, strings.HasSuffix(b.Text, tool.CutMark))
		}
	}
	assert.Equal(t, size-1, *a.Bytes)
	assert.Equal(t, tool.HistoryCursor(tool.Place{Generation: "g-1", Seq: uint64(10 + 80 - len(a.Messages))}), a.NextBefore, "the next page starts where this one ends")
}

func TestE104MaskingIsToldApartFromCutting(t *testing.T) {
	secret := "sk-" + "1234567890abcdef1234"
	a := read(t, page(t, `{"role":"user","content":[{"type":"text","text":"key `+secret+`"}]}`).Session(redactor(t)))
	assert.Equal(t, "truncated false, dropped false, cut false, redacted true", flags(a))
	assert.Equal(t, `{"role":"user","content":[{"type":"text","text":"key sk-123…1234"}]}`, string(a.Messages[0]))
	a = read(t, page(t, `{"role":"user","content":"`+secret+`"}`).Session(nil))
	assert.Contains(t, string(a.Messages[0]), secret, "masking is off")
	assert.False(t, *a.ContentRedacted)
}

func TestBoundsOfOneMessage(t *testing.T) {
	long := strings.Repeat("é", 4001)
	cut := strings.Repeat("é", 4000) + `\n…(truncated)…`
	whole := strings.Repeat("é", 4000)
	data := base64.StdEncoding.EncodeToString([]byte("hello world"))
	secret := "sk-" + "1234567890abcdef1234"
	for _, c := range []struct{ name, raw, want, flags string }{
		{"string content", `{"role":"user","content":"` + long + `"}`, `{"role":"user","content":"` + cut + `"}`, "cut"},
		{"exactly enough", `{"role":"user","content":"` + whole + `"}`, "", ""},
		{"escapes count once", `{"role":"user","content":"` + strings.Repeat(`\u00e9`, 4000) + `"}`, "", ""},
		{
			"text and thinking", `{"role":"assistant","content":[{"text":"` + long + `","type":"text"},{"type":"thinking","thinking":"` + long + `"}]}`,
			`{"role":"assistant","content":[{"text":"` + cut + `","type":"text"},{"type":"thinking","thinking":"` + cut + `"}]}`, "cut",
		},
		{
			"tool arguments", `{"role":"assistant","content":[{"type":"toolCall","id":"c","name":"write","arguments":{"n":1.0,"content":"` + long + `","apiKey":"x"}}]}`,
			`{"role":"assistant","content":[{"type":"toolCall","id":"c","name":"write","arguments":{"n":1.0,"content":"` + cut + `","apiKey":"***"}}]}`, "cut redacted",
		},
		{"masked before cut", `{"role":"user","content":"` + strings.Repeat("a ", 1995) + secret + `"}`, `{"role":"user","content":"` + strings.Repeat("a ", 1995) + `sk-123…123\n…(truncated)…"}`, "cut redacted"},
		{
			"image", `{"role":"user","content":[{"type":"image","data":"` + data + `","mimeType":"image/png"}]}`,
			`{"role":"user","content":[{"type":"image","mimeType":"image/png","bytes":11,"omitted":true}]}`, "cut",
		},
		{
			"image said late", `{"role":"user","content":[{"data":"` + data + `","bytes":1,"x":"` + secret + `","type":"image"}]}`,
			`{"role":"user","content":[{"x":"sk-123…1234","type":"image","bytes":11,"omitted":true}]}`, "cut redacted",
		},
		{"image elsewhere", `{"role":"user","content":[{"type":"image","url":"x"}]}`, "", ""},
		{"data of another block", `{"role":"user","content":[{"type":"file","data":"` + data + `"}]}`, "", ""},
		{"left out above", `{"details":{"a":1},"role":"assistant","usage":{},"cost":1,"content":[],"thinkingSignature":"s","textSignature":"t"}`, `{"role":"assistant","content":[]}`, "cut"},
		{
			"left out in blocks", `{"role":"assistant","content":[{"type":"text","text":"a","textSignature":"{}","usage":1},{"type":"toolCall","thoughtSignature":"x","arguments":{"usage":1,"details":2}}]}`,
			`{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"toolCall","arguments":{"usage":1,"details":2}}]}`, "cut",
		},
		{"everything left out", `{"usage":1}`, `{}`, "cut"},
		{
			"unknown kept in order, exact", `{"z":1.0,"role":"user","usage":1,"a":{"b":[1E3,12345678901234567890,"\u00e9<"]},"m":null}`,
			`{"z":1.0,"role":"user","a":{"b":[1E3,12345678901234567890,"\u00e9<"]},"m":null}`, "cut",
		},
		{"odd content", `{"role":"user","content":[1,"` + secret + `",null,[{"password":"x"}]]}`, `{"role":"user","content":[1,"sk-123…1234",null,[{"password":"***"}]]}`, "redacted"},
		{"content is an object", `{"role":"user","content":{"usage":1,"text":"` + secret + `"}}`, `{"role":"user","content":{"usage":1,"text":"sk-123…1234"}}`, "redacted"},
		{"error", `{"role":"assistant","content":[],"errorMessage":"401 for ` + secret + `"}`, `{"role":"assistant","content":[],"errorMessage":"401 for sk-123…1234"}`, "redacted"},
		{"not UTF-8", "{\"role\":\"user\",\"content\":\"a\xff\xfeb\"}", `{"role":"user","content":"a` + "\uFFFD" + `b"}`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := page(t, c.raw)
			a := read(t, p.Session(redactor(t)))
			if c.want == "" {
				c.want = c.raw
			}
			assert.Equal(t, c.want, string(a.Messages[0]))
			assert.Equal(t, strings.Contains(c.flags, "cut"), *a.ContentTruncated)
			assert.Equal(t, *a.ContentTruncated, *a.Truncated)
			assert.Equal(t, strings.Contains(c.flags, "redacted"), *a.ContentRedacted)
			assert.False(t, *a.DroppedMessages)
			assert.Equal(t, c.raw, string(p.Messages[0].Raw), "what is stored stays")
		})
	}
}

func TestAMessageTooLargeAloneIsNamed(t *testing.T) {
	huge := `{"role":"assistant","content":[` + strings.Repeat(`{"type":"text","text":"abcdefghijklmnop"},`, 3000) + `1],"timestamp":1796074201041}`
	p := page(t, `{"role":"user","content":"old"}`, huge)
	a := read(t, p.Session(redactor(t)))
	require.Len(t, a.Messages, 1)
	assert.Equal(t, fmt.Sprintf(`{"role":"assistant","content":[{"type":"text","text":"[message omitted: %d bytes]"}],"timestamp":1796074201041}`, len(huge)), string(a.Messages[0]))
	assert.Equal(t, "truncated true, dropped true, cut false, redacted false", flags(a))
	assert.Equal(t, len(a.Messages[0])+2, *a.Bytes)
	assert.Equal(t, tool.HistoryCursor(tool.Place{Generation: "g-1", Seq: 11}), a.NextBefore)

	p = page(t, strings.Replace(huge, `"timestamp":1796074201041`, `"role":"odd"`, 1))
	a = read(t, p.Session(nil))
	assert.Equal(t, fmt.Sprintf(`{"role":"other","content":[{"type":"text","text":"[message omitted: %d bytes]"}]}`, len(p.Messages[0].Raw)), string(a.Messages[0]))
	assert.Empty(t, a.NextBefore, "there is nothing older")

	a = read(t, page(t, huge, `{"role":"user","content":"new"}`).Session(nil))
	require.Len(t, a.Messages, 1)
	assert.Equal(t, "truncated true, dropped true, cut false, redacted false", flags(a))
	assert.Equal(t, tool.HistoryCursor(tool.Place{Generation: "g-1", Seq: 11}), a.NextBefore)
}

func TestWhatDoesNotFitSaysNothingAboutTheAnswer(t *testing.T) {
	filler := `{"role":"user","content":[` + strings.Repeat(`"abcdefghijklmnop",`, 4300) + `1]}`
	a := read(t, page(t, `{"role":"user","content":"sk-`+`1234567890abcdef1234`+strings.Repeat(" ", 300)+`","usage":1}`, filler).Session(redactor(t)))
	require.Len(t, a.Messages, 1)
	assert.Equal(t, "truncated true, dropped true, cut false, redacted false", flags(a))
}

func TestSessionPagesSeeEachMessageOnce(t *testing.T) {
	// R069: pages of a session are cut by size too, and still nothing is skipped.
	proptest.Check(t, func(t *rapid.T) {
		var all []core.Message
		for i := range rapid.IntRange(1, 60).Draw(t, "messages") {
			all = append(all, message(t, uint64(i+1), fmt.Sprintf(`{"role":"user","n":%d,"content":["%s"]}`, i, strings.Repeat("abcde fghi", rapid.IntRange(1, 3000).Draw(t, "size")))))
		}
		limit := rapid.IntRange(1, 60).Draw(t, "limit")
		var seen []string
		for end := len(all); end > 0; {
			start := max(0, end-limit)
			p := tool.Page{SessionKey: "k", Generation: "g", Messages: all[start:end], More: start > 0}
			a := read(t, p.Session(nil))
			require.NotEmpty(t, a.Messages)
			require.LessOrEqual(t, *a.Bytes, tool.ArrayBytes)
			for i := range a.Messages {
				n, _ := core.Field(a.Messages[len(a.Messages)-1-i], "n")
				seen = append(seen, string(n))
			}
			if a.NextBefore == "" {
				break
			}
			h, _, err := tool.DecodeHistory([]byte(`{"sessionKey":"k","before":"` + a.NextBefore + `"}`))
			require.NoError(t, err)
			require.Equal(t, "g", h.Before.Generation)
			end = int(h.Before.Seq) - 1
		}
		require.Len(t, seen, len(all))
	})
}

func TestTailEqualsTheTailOfHistory(t *testing.T) {
	p := page(t, `{"role":"user","content":"a"}`, `{"role":"assistant","content":"sk-`+`1234567890abcdef1234","usage":1}`)
	for _, mask := range []*tool.Redactor{nil, redactor(t)} {
		assert.JSONEq(t, array(read(t, p.Session(mask)).Messages), string(tool.Tail(p.Messages, true, mask)))
	}
	assert.Equal(t, array(read(t, p.Operator(nil)).Messages), string(tool.Tail(p.Messages, false, nil)))
	assert.Equal(t, "[]", string(tool.Tail(nil, true, nil)))
}

func array(items []json.RawMessage) string {
	texts := make([]string, len(items))
	for i := range items {
		texts[i] = string(items[i])
	}
	return "[" + strings.Join(texts, ",") + "]"
}

func TestCap(t *testing.T) {
	for _, c := range []struct {
		name  string
		items []string
		max   int
		want  string
		bytes int
	}{
		{"E109", []string{`"a"`, `"b"`, `"c"`}, 10, `["b","c"]`, 9},
		{"E110", nil, 10, `[]`, 2},
		{"all", []string{`"a"`, `"b"`, `"c"`}, 13, `["a","b","c"]`, 13},
		{"one less", []string{`"a"`, `"b"`, `"c"`}, 12, `["b","c"]`, 9},
		{"one at least", []string{`"a"`, `"bbbbbbbbbbbbb"`}, 10, `["bbbbbbbbbbbbb"]`, 17},
		{"a small one behind a large one goes too", []string{`1`, `"bbbbbbbbbbbbb"`, `2`}, 10, `[2]`, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			made := 0
			kept, size := tool.Cap(len(c.items), c.max, func(i int) json.RawMessage { made++; return json.RawMessage(c.items[i]) })
			assert.Equal(t, c.want, array(kept))
			assert.Equal(t, c.bytes, size)
			assert.LessOrEqual(t, made, len(kept)+1, "what is older than the first that does not fit is not made")
		})
	}
}

func TestDeepNestingCostsOnePass(t *testing.T) {
	deep := strings.Repeat(`{"a":[`, 2900) + `"` + strings.Repeat("x", 3000) + `"` + strings.Repeat(`]}`, 2900)
	raw := `{"role":"assistant","content":[{"type":"toolCall","arguments":` + deep + `}],"y":` + deep + `}`
	a := read(t, page(t, raw).Session(redactor(t)))
	assert.Equal(t, raw, string(a.Messages[0]))
}

func FuzzSession(f *testing.F) {
	for _, seed := range []string{
		`{"role":"user","content":[{"type":"image","data":"aGk="},{"type":"text","text":"password=\u0061bcdef"}],"usage":1}`,
		`{"content":{"a":[{"token":"x"}]},"content":"y"}`, "{\"role\":\"\xff\"}", `{"":""}`, `{"content":[""]}`, `{"content":[{"data":"","type":"image"}]}`,
	} {
		f.Add([]byte(seed))
	}
	mask := redactor(f)
	f.Fuzz(func(t *testing.T, raw []byte) {
		role, flags, at, err := core.Inspect(raw)
		if err != nil {
			return
		}
		before := string(raw)
		p := tool.Page{SessionKey: "k", Messages: []core.Message{{Seq: 1, Role: role, Flags: flags, At: at, Raw: raw}}}
		a := read(t, p.Session(mask))
		require.Len(t, a.Messages, 1)
		assert.Equal(t, before, string(raw))
		if !*a.Truncated && !*a.ContentRedacted && !flags.Has(core.MessageInvalidUTF8) {
			assert.Equal(t, strings.TrimSpace(before), string(a.Messages[0]))
		}
		assert.Contains(t, string(p.Operator(nil)), before)
	})
}

func benchmarkPage(b *testing.B) *tool.Page {
	text, err := json.Marshal(strings.Repeat("The build failed in \"core\": line 12 says <nil>.\n", 20))
	require.NoError(b, err)
	raw := `{"role":"assistant","content":[{"type":"text","text":` + string(text) + `},{"type":"toolCall","id":"c","name":"exec","arguments":{"command":"go test ./..."}}],` +
		`"api":"x","usage":{"input":11463,"output":1,"cost":{"input":0.011463}},"stopReason":"toolUse","timestamp":1796074201041}`
	raws := make([]string, 200)
	for i := range raws {
		raws[i] = raw
	}
	return page(b, raws...)
}

func BenchmarkOperator200(b *testing.B) {
	p := benchmarkPage(b)
	b.ReportAllocs()
	for b.Loop() {
		p.Operator(nil)
	}
}

func BenchmarkOperatorMasked200(b *testing.B) {
	p, mask := benchmarkPage(b), redactor(b)
	for b.Loop() {
		p.Operator(mask)
	}
}

func BenchmarkSession200(b *testing.B) {
	p, mask := benchmarkPage(b), redactor(b)
	b.ReportAllocs()
	for b.Loop() {
		p.Session(mask)
	}
}
