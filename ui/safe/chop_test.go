package safe

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cordboard/core/proptest"
)

func TestChop(t *testing.T) {
	for _, c := range []struct {
		name, in string
		w        int
		want     []string
	}{
		{"empty", "", 4, []string{""}},
		{"no width", "ab", 0, nil},
		{"fits", "abcd", 4, []string{"abcd"}},
		{"spaces stay", "a  b   c", 3, []string{"a  ", "b  ", " c"}},
		{"exactly twice", "abcd", 2, []string{"ab", "cd"}},
		{"wide at the edge", "a会議", 2, []string{"a", "会", "議"}},
		{"wide at one", "a会b", 1, []string{"a", "▯", "b"}},
		{"wide at one, last", "a会", 1, []string{"a", "▯"}},
	} {
		t.Run(c.name, func(t *testing.T) { assert.Equal(t, c.want, Chop(c.in, c.w)) })
	}
}

func window(s string, from, w int) string {
	lead, start, end, mark := Window(s, from, w)
	return strings.Repeat(" ", lead) + s[start:end] + mark
}

func TestWindow(t *testing.T) {
	for _, c := range []struct {
		name, in string
		from, w  int
		want     string
	}{
		{"all", "abc", 0, 3, "abc"},
		{"cut at the right", "abcdef", 0, 3, "ab…"},
		{"in the middle", "abcdef", 2, 3, "cd…"},
		{"the end", "abcdef", 3, 3, "def"},
		{"beyond the end", "abc", 5, 3, ""},
		{"half a wide rune at the left", "会議x", 1, 5, " 議x"},
		{"half a wide rune at the right", "a会議", 0, 3, "a…"},
		{"one cell", "abc", 1, 1, "…"},
		{"one cell and half a rune", "会議", 1, 1, "…"},
		{"half a rune is the end", "会", 1, 1, ""},
		{"no width", "abc", 0, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) { assert.Equal(t, c.want, window(c.in, c.from, c.w)) })
	}
}

func TestPiecesProperties(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		s, w := Line(hostile().Draw(t, "s")), rapid.IntRange(1, 40).Draw(t, "w")
		for _, piece := range Chop(s, w) {
			require.LessOrEqual(t, Width(piece), w)
		}
		if w > 1 {
			require.Equal(t, s, strings.Join(Chop(s, w), ""))
		}
		from := rapid.IntRange(0, 60).Draw(t, "from")
		require.LessOrEqual(t, Width(window(s, from, w)), w, "%q from %d", s, from)

		lines, starts := WrapAt(s, w)
		require.Equal(t, Wrap(s, w), lines)
		require.Len(t, starts, len(lines))
		for i, line := range lines {
			if line != narrowMark {
				require.True(t, strings.HasPrefix(s[starts[i]:], line), "%q begins at %d of %q", line, starts[i], s)
			}
		}
	})
}
