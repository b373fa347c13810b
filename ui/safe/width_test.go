package safe

import (
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cordboard/core/proptest"
)

func TestCuts(t *testing.T) {
	key := "agent:main:subagent:8f3c"
	for _, c := range []struct {
		s                   string
		w                   int
		cut, tail, mid, fit string
		pad                 string
	}{
		{"abc", 5, "abc", "abc", "abc", "abc  ", "abc  "},
		{"abc", 3, "abc", "abc", "abc", "abc", "abc"},
		{"abcd", 3, "ab…", "…cd", "…cd", "ab…", "abc"},
		{"abc", 1, "…", "…", "…", "…", "a"},
		{"abc", 0, "", "", "", "", ""},
		{"abc", -2, "", "", "", "", ""},
		{"", 2, "", "", "", "  ", "  "},
		{"会議室", 6, "会議室", "会議室", "会議室", "会議室", "会議室"},
		{"会議室", 5, "会議…", "…議室", "…議室", "会議…", "会議 "},
		{"会議室", 4, "会…", "…室", "…室", "会… ", "会議"},
		{"会", 1, "…", "…", "…", "…", " "},
		{"e\u0301a\u0301b", 2, "e\u0301…", "…b", "…b", "e\u0301…", "e\u0301a\u0301"},
		{key, 13, "agent:main:s…", "…ubagent:8f3c", "agen…ent:8f3c", "agent:main:s…", "agent:main:su"},
	} {
		t.Run(fmt.Sprintf("%s/%d", c.s, c.w), func(t *testing.T) {
			assert.Equal(t, c.cut, Cut(c.s, c.w))
			assert.Equal(t, c.tail, KeepTail(c.s, c.w))
			assert.Equal(t, c.mid, CutMiddle(c.s, c.w))
			assert.Equal(t, c.fit, Fit(c.s, c.w))
			assert.Equal(t, c.pad, Pad(c.s, c.w))
		})
	}
	assert.Equal(t, "   42", PadLeft("42", 5))
	assert.Equal(t, " 会", PadLeft("会議", 3))
	assert.Len(t, Pad("x", 400), 400)
}

func TestColumnKeepsWhatTerminalsAgreeOn(t *testing.T) {
	for in, want := range map[string]string{
		"plain": "plain", "会議": "会議", "e\u0301": "e\u0301", "😀": "😀",
		"☁️ x": "☁ x", "👨‍👩‍👧": "👨", "👍🏽": "👍", "🇺🇸": "US", "🇺": "U", "a\nb": "a␊b", "กำ": "ก", "1️⃣": "1",
	} {
		got := Column(in)
		assert.Equal(t, want, got, in)
		assert.Equal(t, ansi.StringWidthWc(got), ansi.StringWidth(got), in)
	}
}

func TestWidthProperties(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		s, w := Line(hostile().Draw(t, "s")), rapid.IntRange(1, 60).Draw(t, "w")
		require.Equal(t, ansi.StringWidth(s), Width(s), "the renderer's own measure of %q", s)
		for name, got := range map[string]string{"Pad": Pad(s, w), "PadLeft": PadLeft(s, w), "Fit": Fit(s, w)} {
			require.Equal(t, w, Width(got), "%s(%q) = %q", name, s, got)
		}
		for name, got := range map[string]string{"Cut": Cut(s, w), "KeepTail": KeepTail(s, w), "CutMiddle": CutMiddle(s, w)} {
			require.LessOrEqual(t, Width(got), w, "%s(%q) = %q", name, s, got)
			require.Empty(t, forbidden(got), "%s(%q) = %q", name, s, got)
			if Width(s) <= w {
				require.Equal(t, s, got, name)
			}
		}
		col := Column(s)
		require.Equal(t, ansi.StringWidthWc(col), ansi.StringWidth(col), "%q", col)
	})
}

// TestHostileLineChangesOneRow feeds a terminal: only the row under the cursor may change, and the cursor advances exactly w cells.
func TestHostileLineChangesOneRow(t *testing.T) {
	const w, cols, rows = 30, 60, 5
	piece := rapid.SampledFrom([]string{
		"\x1b[2J", "\x1b[H", "\x1b[10A", "\x1b]0;t\a", "\x1b]8;;u\x1b\\", "\x1bP1$r", "\x1b_x", "\x1b^x", "\x1bX", "\x1bc", "\x1b[?1049h", "\x1b#8",
		"\x1b[6n", "\r", "\n", "\t", "\b\b", "\x00", "\x7f", "\x9b2J", "\u009b2J", "\u0085", "\xff", "text", "会議", "、", " ", "\x0e", "\u202e",
	})
	proptest.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOfN(piece, 0, 20).Draw(t, "pieces"), "")
		term := vt.NewEmulator(cols, rows)
		var title string
		term.SetCallbacks(vt.Callbacks{Title: func(s string) { title = s }})
		for y := range rows {
			_, err := term.WriteString(fmt.Sprintf("\x1b[%d;1H%s", y+1, strings.Repeat("#", cols)))
			require.NoError(t, err)
		}
		before := strings.Split(term.String(), "\n")
		_, err := term.WriteString("\x1b[3;6H" + Pad(Line(s), w))
		require.NoError(t, err)

		require.Equal(t, 5+w, term.CursorPosition().X, "%q", s)
		require.Equal(t, 2, term.CursorPosition().Y, "%q", s)
		require.Empty(t, title)
		require.False(t, term.IsAltScreen())
		after := strings.Split(term.String(), "\n")
		for y := range rows {
			if y != 2 {
				require.Equal(t, before[y], after[y], "row %d", y)
			}
		}
		require.True(t, strings.HasPrefix(after[2], "#####"))
		require.True(t, strings.HasSuffix(after[2], strings.Repeat("#", cols-5-w)))
	})
}

// TestHugeInputs takes minutes, not milliseconds, if any step is quadratic.
func TestHugeInputs(t *testing.T) {
	const n = 1 << 20
	for name, unit := range map[string]string{
		"word": "a", "words": "ab ", "spaces": " ", "CJK": "会", "kinsoku": "。", "mixed": "a会 ", "emoji": "👩\u200d", "marks": "\u0301",
		"conjunct": "क्", "jamo": "\u1100", "ESC": "\x1b", "tabs": "\t", "invalid": "\x9b", "tags": "\U000e0061",
	} {
		t.Run(name, func(t *testing.T) {
			lines := Wrap(Block(strings.Repeat(unit, n/len(unit))), 40)
			for _, line := range lines {
				require.LessOrEqual(t, Width(line), 40)
			}
			require.NotEmpty(t, lines)
		})
	}
}

func BenchmarkTextASCII(b *testing.B) { benchText(b, strings.Repeat("plain text ", 93)) }
func BenchmarkTextCJK(b *testing.B)   { benchText(b, strings.Repeat("会議室を予約する", 43)) }
func BenchmarkTextESC(b *testing.B)   { benchText(b, strings.Repeat("\x1b[31mred\x1b[0m", 85)) }

func benchText(b *testing.B, s string) {
	b.SetBytes(int64(len(s)))
	b.ReportAllocs()
	for b.Loop() {
		Text(s)
	}
}

func BenchmarkWidthASCII(b *testing.B) { benchWidth(b, strings.Repeat("plain text ", 93)) }
func BenchmarkWidthCJK(b *testing.B)   { benchWidth(b, strings.Repeat("会議室を予約する", 43)) }

func benchWidth(b *testing.B, s string) {
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		Width(s)
	}
}

func BenchmarkPadASCII(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		Pad("agent:main:main", 40)
	}
}

func BenchmarkWrapASCII(b *testing.B) { benchWrap(b, strings.Repeat("plain text ", 93)) }
func BenchmarkWrapCJK(b *testing.B)   { benchWrap(b, strings.Repeat("会議室を予約する", 43)) }
func BenchmarkWrap5MB(b *testing.B)   { benchWrap(b, strings.Repeat("plain text ", 5<<20/11)) }

func benchWrap(b *testing.B, s string) {
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		Wrap(s, 80)
	}
}
