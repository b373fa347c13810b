package json5_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cordboard/core/config/json5"
	"cordboard/core/proptest"
)

// oracleCase is a row of testdata/oracle.jsonl: what the reference implementation makes of an input.
type oracleCase struct {
	Name, Input, JSON, Error string
	Ours                     string // why this package refuses what the oracle takes
}

func oracleCases(t testing.TB) []oracleCase {
	file, err := os.Open("testdata/oracle.jsonl")
	require.NoError(t, err)
	defer file.Close()
	var cases []oracleCase
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var c oracleCase
		require.NoError(t, json.Unmarshal(lines.Bytes(), &c))
		cases = append(cases, c)
	}
	require.Greater(t, len(cases), 80)
	return cases
}

func TestParseAgreesWithTheOracle(t *testing.T) {
	for _, c := range oracleCases(t) {
		t.Run(c.Name, func(t *testing.T) {
			doc, err := json5.Parse([]byte(c.Input))
			if c.Error != "" || c.Ours != "" {
				var bad *json5.SyntaxError
				require.ErrorAs(t, err, &bad)
				assert.Positive(t, bad.Pos.Line)
				assert.Positive(t, bad.Pos.Col)
				return
			}
			require.NoError(t, err)
			require.True(t, json.Valid(doc.JSON), "%s", doc.JSON)
			assert.Equal(t, decode(t, []byte(c.JSON)), decode(t, doc.JSON))
		})
	}
}

func decode(t *testing.T, data []byte) (v any) {
	require.NoError(t, json.Unmarshal(data, &v))
	return v
}

func TestParseKeepsNumbersExact(t *testing.T) {
	for input, want := range map[string]string{
		"12345678901234567890": "12345678901234567890",
		"+.50":                 "0.50",
		"-5.":                  "-5",
		"5.e3":                 "5e3",
		"0xFFFFFFFFFFFFFFFF":   "18446744073709551615",
		"-0x0":                 "-0",
	} {
		doc, err := json5.Parse([]byte(input))
		require.NoError(t, err, input)
		assert.Equal(t, want, string(doc.JSON), input)
	}
}

func TestParseErrorsSayWhereAndWhat(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	tests := []struct{ name, input, want, path string }{
		{"bare text", "{\n  mode: always\n}", `2:9: unexpected 'a': a value was expected (text needs quotes)`, "mode"},
		{"columns are runes", "{ 'ключ': 한 }", `1:11: unexpected '한': a value was expected (text needs quotes)`, `["ключ"]`},
		{"lines end at CR LF", "{\r\n\r\na:\r\n?}", `4:1: unexpected '?': a value was expected (text needs quotes)`, "a"},
		{"lines end at CR", "{\r\ra:?}", `3:3: unexpected '?': a value was expected (text needs quotes)`, "a"},
		{"byte order mark has no column", "\uFEFF?", `1:1: unexpected '?': a value was expected (text needs quotes)`, ""},
		{"control character", "[\x01]", `1:2: unexpected U+0001: a value was expected (text needs quotes)`, "[0]"},
		{"duplicate", "{\n a: {b: 1,\n  'b': 2}\n}", `3:3: the key "b" is here twice: first at 2:6`, "a.b"},
		{"duplicate that a terminal would obey", "{'\u009b\u202e': 1, '\u009b\u202e': 2}", `1:11: the key "\u009b\u202e" is here twice: first at 1:2`, `["\u009b\u202e"]`},
		{"missing comma", "{a: 1\n b: 2}", `2:2: unexpected 'b': a comma or } was expected`, ""},
		{"missing colon", "{a 1}", `1:4: unexpected '1': a colon was expected after the key`, "a"},
		{"object without end", "[1, {a: 1", `1:5: the object that starts here has no end: } is missing`, "[1]"},
		{"list without end", "{a: [1", `1:5: the list that starts here has no end: ] is missing`, "a[0]"},
		{"string without end", "['a', \"b", `1:7: the string that starts here has no end: " is missing`, "[1]"},
		{"string over two lines", "'a\nb'", `1:3: a string ends on its line: put \ before the line break to go on, or write \n`, ""},
		{"comment without end", "{} /* a", `1:4: the comment that starts here has no end: */ is missing`, ""},
		{"short comment without end", "/*/ 1", `1:1: the comment that starts here has no end: */ is missing`, ""},
		{"after the value", "{} {}", `1:4: unexpected '{' after the end of the value`, ""},
		{"octal escape", `'ab\07'`, `1:4: octal escapes are not JSON5: write \x and two hexadecimal digits`, ""},
		{"short escape", `'\u12'`, `1:4: an escape needs 4 hexadecimal digits here`, ""},
		{"escape with sign", `'\x+1'`, `1:4: an escape needs 2 hexadecimal digits here`, ""},
		{"key", "{-: 1}", `1:2: unexpected '-': a key was expected, as name, "name" or 'name'`, ""},
		{"key escape", `{\u0020a: 1}`, `1:2: U+0020 cannot stand here in a key without quotes: quote the key`, ""},
		{"infinity", "{a: -Infinity}", `1:5: -Infinity is not a number that can be kept: write a finite one`, "a"},
		{"nan", "[NaN]", `1:2: NaN is not a number that can be kept: write a finite one`, "[0]"},
		{"too large", "1e400", `1:1: the number is too large: the largest is about 1.8e308`, ""},
		{"hex too large", "0x" + strings.Repeat("F", 257), `1:1: the number is too large: the largest is about 1.8e308`, ""},
		{"leading zero", "[007]", `1:2: a number does not start with 0 and more digits: 007`, "[0]"},
		{"no digit", "[+]", `1:3: unexpected ']': a number needs a digit here`, "[0]"},
		{"word with tail", "[nullx]", `1:2: text needs quotes, except true, false and null`, "[0]"},
		{"not UTF-8", "{\n a: '\xff'}", `2:6: byte 0xFF is not UTF-8: save the file as UTF-8`, ""},
		{"UTF-16", "\xff\xfe{\x00", `1:1: byte 0xFF is not UTF-8: save the file as UTF-8`, ""},
		{"empty", " // nothing\n", `2:1: the text holds no value`, ""},
		{"too deep", deep(json5.MaxDepth + 1), `1:65: lists and objects nest too deep: 64 levels at most`, strings.Repeat("[0]", json5.MaxDepth)},
		{"far too deep", deep(20_000), `1:65: lists and objects nest too deep: 64 levels at most`, strings.Repeat("[0]", json5.MaxDepth)},
		{"objects too deep", strings.Repeat("{a:", 20_000), `1:193: lists and objects nest too deep: 64 levels at most`, strings.TrimPrefix(strings.Repeat(".a", json5.MaxDepth), ".")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := json5.Parse([]byte(tt.input))
			require.EqualError(t, err, tt.want)
			var bad *json5.SyntaxError
			require.ErrorAs(t, err, &bad)
			assert.Equal(t, tt.path, bad.Path)
			assert.Equal(t, tt.name == "empty", errors.Is(err, json5.ErrEmpty))
		})
	}
	_, err := json5.Parse([]byte(deep(json5.MaxDepth)))
	assert.NoError(t, err, "the limit itself is allowed")
}

func TestDocumentFind(t *testing.T) {
	doc, err := json5.Parse([]byte("// policy\n" +
		"{ session: { sendPolicy: { rules: [\n" +
		"    { match: { channel: 'discord' } },\n" +
		"  ] } },\n" +
		"  'a.b': { 'c[0]': [[7], 'x'] }, \"ü\": null }"))
	require.NoError(t, err)
	tests := []struct {
		path, rest string
		key, value json5.Pos
		kind       json5.Kind
	}{
		{"", "", json5.Pos{}, json5.Pos{Line: 2, Col: 1}, json5.Object},
		{"session", "", json5.Pos{Line: 2, Col: 3}, json5.Pos{Line: 2, Col: 12}, json5.Object},
		{"session.sendPolicy.rules[0].match.channel", "", json5.Pos{Line: 3, Col: 16}, json5.Pos{Line: 3, Col: 25}, json5.String},
		{"session.sendPolicy.rules[0]", "", json5.Pos{}, json5.Pos{Line: 3, Col: 5}, json5.Object},
		{"session.sendPolicy.rules[1].match", "[1].match", json5.Pos{Line: 2, Col: 28}, json5.Pos{Line: 2, Col: 35}, json5.Array},
		{"session.sendPolicies", "sendPolicies", json5.Pos{Line: 2, Col: 3}, json5.Pos{Line: 2, Col: 12}, json5.Object},
		{"sess", "sess", json5.Pos{}, json5.Pos{Line: 2, Col: 1}, json5.Object},
		{`["a.b"]["c[0]"][0][0]`, "", json5.Pos{}, json5.Pos{Line: 5, Col: 22}, json5.Number},
		{`["a.b"]["c[0]"][-1]`, "[-1]", json5.Pos{Line: 5, Col: 12}, json5.Pos{Line: 5, Col: 20}, json5.Array},
		{`["ü"]`, "", json5.Pos{Line: 5, Col: 34}, json5.Pos{Line: 5, Col: 39}, json5.Null},
		{"a.b", "a.b", json5.Pos{}, json5.Pos{Line: 2, Col: 1}, json5.Object},
	}
	for _, tt := range tests {
		t.Run(tt.path, func(t *testing.T) {
			at, rest := doc.Find(tt.path)
			assert.Equal(t, tt.rest, rest)
			assert.Equal(t, tt.key, at.Key)
			assert.Equal(t, tt.value, at.Value.Pos)
			assert.Equal(t, tt.kind, at.Value.Kind)
		})
	}
}

// Every value of every text is found again by the path that Join and Index make for it.
func TestEveryPathIsFound(t *testing.T) {
	var visit func(t require.TestingT, doc *json5.Document, path string, v *json5.Value)
	visit = func(t require.TestingT, doc *json5.Document, path string, v *json5.Value) {
		at, rest := doc.Find(path)
		require.Empty(t, rest)
		require.Same(t, v, at.Value, path)
		for i, item := range v.Items {
			visit(t, doc, json5.Index(path, i), item)
		}
		for _, m := range v.Members {
			visit(t, doc, json5.Join(path, m.Name), m.Value)
		}
	}
	proptest.Check(t, func(t *rapid.T) {
		text, err := json.Marshal(anyValue().Draw(t, "value"))
		require.NoError(t, err)
		doc, err := json5.Parse(text)
		require.NoError(t, err, "JSON is JSON5")
		require.JSONEq(t, string(text), string(doc.JSON))
		visit(t, doc, "", doc.Root)
	})
}

func anyValue() *rapid.Generator[any] {
	name := rapid.StringMatching(`[a-c.\[\]"0\\ü -]{0,4}`)
	leaf := rapid.OneOf(rapid.Just[any](nil), rapid.Bool().AsAny(), rapid.Float64Range(-1e9, 1e9).AsAny(), rapid.String().AsAny())
	value := leaf
	for range 3 {
		inner := value
		value = rapid.OneOf(leaf, rapid.SliceOfN(inner, 0, 3).AsAny(), rapid.MapOfN(name, inner, 0, 4).AsAny())
	}
	return value
}

func FuzzParse(f *testing.F) {
	for _, c := range oracleCases(f) {
		f.Add([]byte(c.Input))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		doc, err := json5.Parse(text)
		if err != nil {
			var bad *json5.SyntaxError
			require.ErrorAs(t, err, &bad)
			return
		}
		require.True(t, json.Valid(doc.JSON), "%q → %q", text, doc.JSON)
		again, err := json5.Parse(doc.JSON)
		require.NoError(t, err)
		require.True(t, bytes.Equal(doc.JSON, again.JSON), "%q → %q", doc.JSON, again.JSON)
	})
}
