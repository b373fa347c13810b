package safe

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cordboard/core/proptest"
)

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		name, in string
		w        int
		want     []string
	}{
		{"empty", "", 5, []string{""}},
		{"fits", "hello", 5, []string{"hello"}},
		{"no width", "hello", 0, nil},
		{"at the space", "hello world", 7, []string{"hello", "world"}},
		{"space on the edge", "hello world", 5, []string{"hello", "world"}},
		{"many spaces at the break", "hello    world", 7, []string{"hello", "world"}},
		{"trailing spaces", "hello    ", 5, []string{"hello"}},
		{"trailing spaces that fit", "hello  ", 6, []string{"hello"}},
		{"only spaces", "      ", 4, []string{"    "}},
		{"R156 newlines", "a\n\nb", 5, []string{"a", "", "b"}},
		{"long word", "abcdefgh", 3, []string{"abc", "def", "gh"}},
		{"long word after a short one", "ab cdefgh", 4, []string{"ab", "cdef", "gh"}},
		{"indentation", "    abcdef gh", 8, []string{"    abcd", "ef gh"}},
		{"CJK between characters", "会議室予約", 4, []string{"会議", "室予", "約"}},
		{"CJK after a word", "hello 会議室予約", 10, []string{"hello 会議", "室予約"}},
		{"odd width", "会議室", 3, []string{"会", "議", "室"}},
		{"not before a full stop", "会議室。予約", 6, []string{"会議", "室。予", "約"}},
		{"not after a bracket", "会議「室」予約", 6, []string{"会議", "「室」", "予約"}},
		{"ASCII mark after wide", "会議室, ok", 6, []string{"会議", "室, ok"}},
		{"only full stops", "。。。。", 4, []string{"。。", "。。"}},
		{"small kana", "あいちょ", 6, []string{"あい", "ちょ"}},
		{"wide at one", "a会b", 1, []string{"a", "▯", "b"}},
		{"accents whole", "e\u0301e\u0301e\u0301", 2, []string{"e\u0301e\u0301", "e\u0301"}},
		{"emoji whole", "ok 👨‍👩‍👧👨‍👩‍👧", 5, []string{"ok 👨‍👩‍👧", "👨‍👩‍👧"}},
		{"ideographic space", "会議　室", 4, []string{"会議", "室"}},
		{"no break space", "ab\u00a0cd ef", 5, []string{"ab\u00a0cd", "ef"}},
	} {
		t.Run(c.name, func(t *testing.T) { assert.Equal(t, c.want, Wrap(c.in, c.w)) })
	}
}

func TestWrapProperties(t *testing.T) {
	squeeze := strings.NewReplacer(" ", "", "\n", "", "\u3000", "")
	proptest.Check(t, func(t *rapid.T) {
		s, w := Block(hostile().Draw(t, "s")), rapid.IntRange(1, 40).Draw(t, "w")
		lines := Wrap(s, w)
		for _, line := range lines {
			require.LessOrEqual(t, Width(line), w, "%q at %d", line, w)
			require.Equal(t, w, Width(Pad(line, w)))
			require.Empty(t, forbidden(line))
		}
		require.GreaterOrEqual(t, len(lines), strings.Count(s, "\n")+1)
		if w > 1 {
			require.Equal(t, squeeze.Replace(s), squeeze.Replace(strings.Join(lines, "")), "nothing lost at %d", w)
		}
	})
}
