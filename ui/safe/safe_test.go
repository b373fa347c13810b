package safe

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cordboard/core/proptest"
)

func TestText(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"plain", "hello, world", "hello, world"},
		{"newline and tab stay", "a\n\tb", "a\n\tb"},
		{"R171 CSI 2J", "\x1b[2J", "␛[2J"},
		{"R171 cursor report", "\x1b[6n", "␛[6n"},
		{"R171 reset", "\x1bc", "␛c"},
		{"R171 OSC 0 title", "\x1b]0;pwned\x07", "␛]0;pwned␇"},
		{"R171 OSC 8 link", "\x1b]8;;http://x\x1b\\t\x1b]8;;\x1b\\", "␛]8;;http://x␛\\t␛]8;;␛\\"},
		{"R171 OSC 52 clipboard", "\x1b]52;c;cm0=\x07", "␛]52;c;cm0=␇"},
		{"R171 unterminated OSC", "a\x1b]0;b", "a␛]0;b"},
		{"R171 DCS", "\x1bPq#0\x1b\\", "␛Pq#0␛\\"},
		{"R171 APC", "\x1b_Gf=100\x1b\\", "␛_Gf=100␛\\"},
		{"PM", "\x1b^x\x1b\\", "␛^x␛\\"},
		{"SOS", "\x1bXx\x1b\\", "␛Xx␛\\"},
		{"C0", "\x00\a\b\v\f\r\x0e\x1f\x7f", "␀␇␈␋␌␍␎␟␡"},
		{"C1 as runes", "\u0080\u009b2J\u009d0;t\u009c", "‹U+0080›‹U+009B›2J‹U+009D›0;t‹U+009C›"},
		{"C1 as bytes", "\x9b2J", "‹x9B›2J"},
		{"invalid bytes", "a\xff\xc0\xafb", "a‹xFF›‹xC0›‹xAF›b"},
		{"torn rune", "会"[:2], "‹xE4›‹xBC›"},
		{"surrogate bytes", "\xed\xa0\x80", "‹xED›‹xA0›‹x80›"},
		{"bidi override", "evil\u202Etxt.exe", "evil‹U+202E›txt.exe"},
		{"bidi isolates and marks", "\u2066\u2069\u200e\u200f\u061c", "‹U+2066›‹U+2069›‹U+200E›‹U+200F›‹U+061C›"},
		{"zero width", "a\u200bb\u2060c\ufeffd", "a‹U+200B›b‹U+2060›c‹U+FEFF›d"},
		{"line separators", "a\u2028b\u2029c\u0085d", "a‹U+2028›b‹U+2029›c‹U+0085›d"},
		{"soft hyphen", "a\u00adb", "a‹U+00AD›b"},
		{"fillers", "\u115f\u1160\u3164\uffa0", "‹U+115F›‹U+1160›‹U+3164›‹U+FFA0›"},
		{"lone joiners", "a\u200db\u200cc\u200d", "a‹U+200D›b‹U+200C›c‹U+200D›"},
		{"lone variation selector", "a\ufe0fb\ufe00\U000e0100", "a‹U+FE0F›b‹U+FE00›‹U+E0100›"},
		{"hidden tags", "hi\U000e0001\U000e0069\U000e0067\U000e006e\U000e007f!", "hi‹tags:ign›!"},
		{"noncharacter", "\ufffe", "‹U+FFFE›"},
		{"unassigned", "\u0378", "‹U+0378›"},
		{"number sign that joins a border", "\u0600", "‹U+0600›"},
		{"accents stay", "e\u0301 Vie\u0323\u0302t", "e\u0301 Vie\u0323\u0302t"},
		{"accent without base", "\u0301a\n\u0301\x00\u0301", "◌\u0301a\n◌\u0301␀◌\u0301"},
		{"many marks", "a" + strings.Repeat("\u0301", 40) + "b", "a" + strings.Repeat("\u0301", 6) + "‹34 marks›b"},
		{"emoji stay", "👨‍👩‍👧 👍🏽 ☁️ 1️⃣ 🇺🇸 ❤️‍🔥 👩🏽‍🚀", "👨‍👩‍👧 👍🏽 ☁️ 1️⃣ 🇺🇸 ❤️‍🔥 👩🏽‍🚀"},
		{"endless emoji", strings.Repeat("👩\u200d", 6) + "👩", strings.Repeat("👩\u200d", 4) + "👩‹U+200D›👩\u200d👩"},
		{"lone skin tone", "a🏽", "a‹U+1F3FD›"},
		{"Persian", "می\u200cخواهم", "می\u200cخواهم"},
		{"Sinhala", "ශ්\u200dරී", "ශ්\u200dරී"},
		{"Thai", "กำ", "กำ"},
		{"Tibetan", "རྒྱུ", "རྒྱུ"},
		{"decomposed Hangul", "\u1112\u1161\u11ab", "\u1112\u1161\u11ab"},
		{"lone Hangul vowel", "a\u1161", "a‹U+1161›"},
		{"final after closed syllable", "각\u1161", "각‹U+1161›"},
		{"CJK", "会議室「東京」", "会議室「東京」"},
		{"private use", "\ue0b0", "\ue0b0"},
		{"replacement rune", "\ufffd", "\ufffd"},
		{"long conjunct", strings.Repeat("क्", 7) + "क", strings.Repeat("क्", 5) + "क‹U+094D›" + "क्क"},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.Equal(t, c.want, Text(c.in))
			assert.Equal(t, c.want, Text(c.want), "idempotent")
		})
	}
}

func TestLineAndBlock(t *testing.T) {
	for _, c := range []struct{ name, in, line, block string }{
		{"clean", "abc", "abc", "abc"},
		{"R156 newlines kept", "a\n\nb\tc", "a␊␊b␉c", "a\n\nb   c"},
		{"CRLF", "a\r\nb\rc", "a␍␊b␍c", "a\nb␍c"},
		{"tab stops by cells", "会\tx\n\t\ty", "会␉x␊␉␉y", "会  x\n        y"},
		{"tab after a mark", "\x1b[m\tx", "␛[m␉x", "␛[m x"},
		{"tab after CRLF", "abc\r\nx\ty", "abc␍␊x␉y", "abc\nx   y"},
		{"tab on a full stop", "abcd\te", "abcd␉e", "abcd    e"},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.Equal(t, c.line, Line(c.in))
			assert.Equal(t, c.block, Block(c.in))
		})
	}
}

func TestCleanTextIsNotCopied(t *testing.T) {
	for _, s := range []string{"plain ASCII text", "会議 é 👨‍👩‍👧 text", ""} {
		assert.Zero(t, testing.AllocsPerRun(10, func() { _, _, _ = Text(s), Line(s), Block(s) }), s)
	}
}

// TestEveryRune feeds each code point alone, after a letter and before a border: nothing invisible, nothing that joins a neighbour.
func TestEveryRune(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if r >= 0xD800 && r < 0xE000 {
			continue
		}
		s := Line(string(r))
		if Width(s) < 1 || forbidden(s) != "" {
			t.Fatalf("%U alone becomes %q, %d cells, %s", r, s, Width(s), forbidden(s))
		}
		if w := Width("│" + s + "│"); w != Width(s)+2 {
			t.Fatalf("%U joins a border: %q", r, s)
		}
		if Line(s) != s {
			t.Fatalf("%U: not idempotent: %q", r, s)
		}
	}
}

func TestPictographsAreTheLibrarys(t *testing.T) {
	for r := rune(0x80); r <= unicode.MaxRune; r++ {
		if r >= 0xD800 && r < 0xE000 {
			continue
		}
		pair := string(r) + "\u200d❤"
		cluster, _ := ansi.FirstGraphemeCluster(pair, ansi.GraphemeWidth)
		if unicode.Is(pictographs, r) != (cluster == pair) {
			t.Fatalf("%U: table %v, library %v", r, unicode.Is(pictographs, r), cluster == pair)
		}
	}
}

// forbidden names the first thing in s that may never reach a terminal. It is written apart from the product's own tables.
func forbidden(s string) string {
	if !utf8.ValidString(s) {
		return "invalid UTF-8"
	}
	runes := []rune(s)
	for i, r := range runes {
		switch {
		case r == '\n':
		case r < 0x20 || r >= 0x7f && r < 0xa0:
			return "control"
		case r >= 0x202A && r <= 0x202E, r >= 0x2066 && r <= 0x2069, r == 0x200E, r == 0x200F, r == 0x061C:
			return "bidi"
		case r == 0x200B, r == 0x2060, r == 0xFEFF, r >= 0xE0000 && r < 0xE1000, r == 0x115F, r == 0x1160, r == 0x3164, r == 0xFFA0:
			return "zero width"
		case r == 0x200C || r == 0x200D:
			if i == 0 || i == len(runes)-1 || runes[i-1] < 0x80 || runes[i+1] < 0x80 {
				return "lone joiner"
			}
		case r == 0xFE0F || r == 0xFE0E:
			if i == 0 || runes[i-1] < 0x80 && (i == len(runes)-1 || runes[i+1] != 0x20E3) {
				return "lone selector"
			}
		}
	}
	return ""
}

// hostile draws strings from pieces that attack, and from all runes and bytes.
func hostile() *rapid.Generator[string] {
	pieces := []string{
		"\x1b[2J", "\x1b]0;t\a", "\x1b]52;c;eA==\x1b\\", "\x1bP", "\x1b_", "\x9b", "\u009b", "\x1b", "\r", "\n", "\t", "\x00", "\x7f",
		"\u202e", "\u2066", "\u200b", "\u200c", "\u200d", "\ufe0f", "\ufe0e", "\u20e3", "\u0301", "\u0e33", "\u093f", "\u094d", "क",
		"\u1100", "\u1161", "\u11a8", "각", "가", "🇺", "👩", "❤", "🏽", "1", "a", " ", "ب", "\u064e", "会", "。", "「", "é", "ｶ", "ﾞ",
		"\U000e0061", "\u3164", "\u0600", "│", "\u3000", "word", "\u180b", "\U000e0100", "\xe4\xbc",
	}
	piece := rapid.OneOf(rapid.SampledFrom(pieces), rapid.Map(rapid.Rune(), func(r rune) string { return string(r) }),
		rapid.Map(rapid.Byte(), func(b byte) string { return string([]byte{b}) }))
	return rapid.Map(rapid.SliceOfN(piece, 0, 40), func(p []string) string { return strings.Join(p, "") })
}

func TestSafeProperties(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		a, b := hostile().Draw(t, "a"), hostile().Draw(t, "b")
		for name, f := range map[string]func(string) string{"Line": Line, "Block": Block, "Column": Column} {
			x, y := f(a), f(b)
			require.Empty(t, forbidden(x), "%s(%q) = %q", name, a, x)
			require.Equal(t, x, f(x), "%s is idempotent", name)
			require.Empty(t, forbidden(x+y), "%s(%q)+%s(%q)", name, a, name, b)
			require.Equal(t, Width(x)+1+Width(y), Width(x+"│"+y), "a border keeps neighbours apart")
		}
		require.Equal(t, Text(a), Text(Text(a)))
		require.NotContains(t, Line(a), "\n")
	})
}

func FuzzLine(f *testing.F) {
	for _, s := range []string{"", "\x1b[2J", "\u202e\u200d👩\u200d👩", "a\u0301\u0301\u0301\u0301\u0301\u0301\u0301", "\xff\x9b", "क्क्क्क्क्क्क्क"} {
		f.Add(s, 7)
	}
	f.Fuzz(func(t *testing.T, s string, w int) {
		w = min(max(w, 1), 300)
		line := Line(s)
		require.Empty(t, forbidden(line))
		require.Equal(t, line, Line(line))
		require.Equal(t, w, Width(Pad(line, w)))
		require.LessOrEqual(t, Width(Cut(line, w)), w)
		for _, l := range Wrap(Block(s), w) {
			require.LessOrEqual(t, Width(l), w)
		}
	})
}
