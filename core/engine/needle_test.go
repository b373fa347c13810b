package engine

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cordboard/core/proptest"
)

// The probe on raw bytes never turns down a message that holds the text.
func TestProbeTurnsDownNothingThatMatches(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.RuneFrom([]rune("aAkKsSzZ \"\\/<>&é会\n\t19[]{}"))).Draw(t, "text")
		if strings.TrimSpace(text) == "" {
			text = "a"
		}
		around := rapid.SampledFrom([]string{"", "x ", "{\"", "é"}).Draw(t, "around")
		escape := rapid.Bool().Draw(t, "escape")
		raw := message(t, around+strings.ToUpper(text)+around, escape)
		n, err := newNeedle(text)
		require.NoError(t, err)
		snippet, at, ok := n.find(raw)
		require.True(t, ok, "%q in %s", text, raw)
		assert.LessOrEqual(t, at[1], len(snippet))
	})
}

func message(t *rapid.T, text string, escapeHTML bool) []byte {
	var out strings.Builder
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(escapeHTML)
	require.NoError(t, enc.Encode(map[string]any{"role": "user", "content": text}))
	return []byte(strings.TrimSpace(out.String()))
}

func TestSnippetIsOneShortLine(t *testing.T) {
	text := strings.Repeat("before é ", 40) + "NEEDLE" + strings.Repeat("\n after", 100)
	n, err := newNeedle("needle")
	require.NoError(t, err)
	raw, err := json.Marshal(map[string]any{"role": "user", "content": text})
	require.NoError(t, err)
	snippet, at, ok := n.find(raw)
	require.True(t, ok)
	assert.Equal(t, "NEEDLE", snippet[at[0]:at[1]])
	assert.NotContains(t, snippet, "\n")
	assert.Less(t, len(snippet), 200)
}

// A snippet is made of whole words; where a text has none within reach it is cut between runes.
func TestSnippetHoldsWholeWords(t *testing.T) {
	words := strings.Repeat("understood agreed ", 20)
	for _, c := range []struct{ name, before, after, start, end string }{
		{"words", words, words, "understood ", " understood"},
		{"exactly at a word", strings.Repeat("abc ", 20), "", "abc ", "NEEDLE"},
		{"no blank before", strings.Repeat("x", 100), "", "xxx", "NEEDLE"},
		{"no blank after", "", strings.Repeat("é", 100), "NEEDLE", "é"},
		{"cjk", strings.Repeat("会議", 30), strings.Repeat("会議", 60), "", ""},
		{"all of a short text", "so the ", " is", "so the", "is"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := c.before + "NEEDLE" + c.after
			snippet, at := cutSnippet(text, len(c.before), len(c.before)+len("NEEDLE"))
			assert.Equal(t, "NEEDLE", snippet[at[0]:at[1]])
			assert.True(t, utf8.ValidString(snippet))
			assert.True(t, strings.HasPrefix(snippet, c.start), snippet)
			assert.True(t, strings.HasSuffix(snippet, c.end), snippet)
			whole := strings.Fields(text)
			if strings.Contains(c.before+c.after, " ") {
				for _, word := range strings.Fields(snippet) {
					assert.Contains(t, whole, word, snippet)
				}
			}
		})
	}
}

func BenchmarkProbe(b *testing.B) {
	raw := []byte(`{"role":"user","content":"` + strings.Repeat("the quick operator reads what the agents wrote; ", 20_000) + `"}`)
	for _, text := range []string{"nothing like it", "session", "zebra", "e e e"} {
		n, _ := newNeedle(text)
		b.Run(text, func(b *testing.B) {
			b.SetBytes(int64(len(raw)))
			for b.Loop() {
				n.find(raw)
			}
		})
	}
}
