package md

import (
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cordboard/core/proptest"
	"cordboard/ui/safe"
)

// holds checks what every line owes the terminal: it fits, its spans cover it and cut no cluster, and it is sanitised.
func holds(t require.TestingT, d Drawn, width int) {
	for _, l := range d.Lines {
		require.LessOrEqual(t, ansi.StringWidth(l.Text), max(width, 1), "%q", l.Text)
		require.Equal(t, strings.ReplaceAll(l.Text, "◌", ""), strings.ReplaceAll(safe.Line(l.Text), "◌", "")) // a break may leave a vowel sign at the edge
		require.True(t, utf8.ValidString(l.Text))
		at, cells := 0, 0
		for i, s := range l.Spans {
			require.Equal(t, at, s.Start, "span %d of %q: %v", i, l.Text, l.Spans)
			require.Less(t, s.Start, s.End, "span %d of %q", i, l.Text)
			at = s.End
			cells += safe.Width(l.Text[s.Start:s.End])
		}
		if l.Spans != nil {
			require.Equal(t, len(l.Text), at, "%q", l.Text)
			require.Equal(t, safe.Width(l.Text), cells, "a style changes inside a cluster: %q %v", l.Text, l.Spans)
		}
	}
}

// nasties are what terminals and widths stumble over.
var nasties = []string{
	"\x1b[2J", "\x1b]0;t\a", "\x1b]8;;http://x\x1b\\", "\x1b]52;c;eA==\x1b\\", "\x1bP", "\x9b", "\u009b", "\r", "\x00", "\x7f", "&#27;", "&#x9b;", "&#x202e;",
	"\u202e", "\u200b", "\u200d", "\ufe0f", "\u0301", "\u0e33", "\u094d", "क", "ष", "\u1100", "\u1161", "각", "가", "🇺", "🇸", "👩", "🏽", "❤", "会", "「", "ｶ", "ﾞ",
	"\U000e0061", "\u3164", "\u0600", "│", "\u3000", "\xe4\xbc", "*", "**", "~~", "`", "_", "|", "[", "](", ")", "&zwj;", "&shy;",
}

func anything() *rapid.Generator[string] {
	piece := rapid.OneOf(rapid.SampledFrom(fragments), rapid.SampledFrom(nasties), rapid.Map(rapid.Rune(), func(r rune) string { return string(r) }))
	return rapid.Map(rapid.SliceOfN(piece, 0, 60), func(p []string) string { return strings.Join(p, "") })
}

// TestSafety holds R146, R171 and R225 for any text, width and options.
func TestSafety(t *testing.T) {
	r := New()
	proptest.Check(t, func(t *rapid.T) {
		src, width := anything().Draw(t, "src"), rapid.IntRange(0, 60).Draw(t, "width")
		o := Options{
			Wrap: Wrap(rapid.IntRange(0, 2).Draw(t, "wrap")), Shift: rapid.IntRange(-1, 30).Draw(t, "shift"), ASCII: rapid.Bool().Draw(t, "ascii"),
		}
		holds(t, r.Render(src, width, o), width)
	})
}

func FuzzRender(f *testing.F) {
	for i, s := range fragments {
		f.Add(s+nasties[i%len(nasties)], 20, byte(i))
	}
	r := New()
	f.Fuzz(func(t *testing.T, src string, width int, bits byte) {
		width = max(width, 0) % 200
		d := r.Render(src, width, Options{Wrap: Wrap(bits % 3), Shift: int(bits / 16), ASCII: bits&8 != 0})
		holds(t, d, width)
	})
}

// TestNothingIsLost: every letter and digit of a text is on the screen.
func TestNothingIsLost(t *testing.T) {
	letters := func(s string) string {
		return strings.Map(func(r rune) rune {
			if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
				return r
			}
			return -1
		}, s)
	}
	pieces := []string{"\n", "\n", "\n\n", " ", "ab", "cd ", "- ", "> ", "# ", "```\n", "**", "*", "`", "~~", "[", "](", ")", "|", "\n|-|-|\n", "    ", "<b>", "https://x/", "\\"}
	proptest.Check(t, func(t *rapid.T) {
		src := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 40).Draw(t, "pieces"), "")
		got := letters(strings.Join(texts(src, 80, Options{Wrap: WrapAll}), ""))
		if strings.Contains(src, "](") || strings.Contains(src, "|") {
			require.GreaterOrEqual(t, len(got), len(letters(src))-len(letters(src))/2) // a target that its text says is shown once; names of columns are repeated
			return
		}
		require.Equal(t, letters(src), got, "%q", src)
	})
}

// hostile texts that cost naive parsers quadratic time or a deep stack, of about n bytes.
func hostileTexts(n int) map[string]string {
	repeat := func(s string) string { return strings.Repeat(s, n/len(s)) }
	var ticks, deep strings.Builder
	for i := 1; ticks.Len() < n; i++ {
		ticks.WriteString(strings.Repeat("`", i%300) + " ")
	}
	for i := 0; deep.Len() < n; i++ {
		deep.WriteString(strings.Repeat("  ", i) + "- a\n")
	}
	return map[string]string{
		"letters": repeat("a"), "words": repeat("word "), "lines": repeat("word\n"), "blank lines": "a" + repeat("\n") + "b", "CJK": repeat("会議"),
		"stars": repeat("*"), "open emphasis": repeat("*a "), "mixed emphasis": repeat("*a_ "), "emphasis lines": repeat("*a_\n"), "triples": repeat("a**b") + repeat("c* "),
		"nested emphasis": strings.Repeat("*a **a ", n/14) + strings.Repeat("b** b* ", n/14), "underscores": repeat("_a"), "tildes": repeat("~~a "),
		"brackets": repeat("["), "labels": repeat("[a]"), "open links": repeat("[a]("), "long targets": repeat("[a](b"), "images": repeat("![a"),
		"nested links": strings.Repeat("[", n/5) + strings.Repeat("](b)", n/5), "targets": repeat("[a](<b"), "titles": repeat(`[a](b "`),
		"ticks": ticks.String(), "one tick each": repeat("` "), "angles": repeat("<"), "tags": repeat("<a "), "comments": repeat("a <!-- "), "instructions": repeat("a <? "),
		"entities": repeat("&a"), "numbers": repeat("&#9"), "backslashes": repeat("\\"), "URLs": repeat("http://"), "one URL": "http://" + repeat("a("),
		"quotes": repeat(">") + "a", "quotes on lines": repeat(strings.Repeat("> ", 60) + "a\n"), "bullets": repeat("- ") + "a", "numbered": repeat("1. ") + "a",
		"deep list": deep.String(), "flat list": repeat("- a\n"), "fences": repeat("```\n"), "open fence": "```\n" + repeat("a\n"), "fenced letters": "```\n" + repeat("a"),
		"indented": repeat("    a\n"), "rules": repeat("---\n"), "headings": repeat("# a\n"), "equals": repeat("a\n=\n"),
		"table": "|a|b|\n|-|-|\n" + repeat("|x|y|\n"), "columns": repeat("|a") + "\n" + repeat("|-") + "\n" + repeat("|\n"), "tables": repeat("a|b\n-|-\n"),
		"wide table": "|" + strings.Repeat("a|", 100) + "\n|" + strings.Repeat("-|", 100) + "\n" + repeat("|x\n"),
		"marks":      repeat("\u0301"), "joined": repeat("👩\u200d"), "controls": repeat("\x1b"), "tabs": repeat("\ta"), "invalid": repeat("\xff"),
	}
}

// TestHostileSizes: a text of megabytes is split at once, and no block of any hostile text is more than a blink to draw, whether the
// whole is one block or each block as large as is parsed. The bounds are loose: what is quadratic misses them by orders of magnitude.
func TestHostileSizes(t *testing.T) {
	size := 5 << 20
	if testing.Short() {
		size = 1 << 20
	}
	check := func(t *testing.T, src string) {
		start := time.Now()
		blocks := Split(src)
		require.Less(t, time.Since(start), 5*time.Second)
		r := New()
		for i, b := range blocks {
			if i > 3 && i < len(blocks)-2 && i%(len(blocks)/5+1) > 0 {
				continue // they repeat
			}
			require.LessOrEqual(t, b.Size(), maxMarkdown)
			start := time.Now()
			d := r.Draw(b, 80, Options{Wrap: WrapAll})
			require.Less(t, time.Since(start), 2*time.Second)
			holds(t, d, 80)
		}
	}
	for name, src := range hostileTexts(size) {
		t.Run(name, func(t *testing.T) { check(t, src) })
	}
	for name, src := range hostileTexts(maxMarkdown - 2048) {
		t.Run("parsed/"+name, func(t *testing.T) { check(t, strings.Repeat(src+"\n\n", 4)) })
	}
}

func TestBounds(t *testing.T) {
	marks := strings.Repeat("*a* ", maxMarks)
	assert.Equal(t, Italic, New().Render(marks, 80, Options{}).Lines[0].Spans[0].Style)
	d := New().Render(marks, 80, Options{})
	assert.Equal(t, "*a* *a*", strings.TrimSpace(d.Lines[len(d.Lines)-1].Text[:8]), "after so many marks the rest is text")
	d = New().Render(marks+"\n\n*b*", 80, Options{})
	assert.Equal(t, "b", d.Lines[len(d.Lines)-1].Text, "of that paragraph")
	d = New().Render("- "+marks+"\n- *b*", 80, Options{})
	assert.Equal(t, "• b", d.Lines[len(d.Lines)-1].Text, "and of that block")

	assert.Equal(t, []string{strings.Repeat("> ", maxDepth+1) + "*a*"}, texts(strings.Repeat("> ", maxDepth+1)+"*a*", 200, Options{}))
	assert.Equal(t, "a", strings.Trim(texts(strings.Repeat("> ", maxDepth)+"*a*", 200, Options{})[0], "┃ "))

	row := strings.Repeat("|x", 100)
	table := row + "\n" + strings.Repeat("|-", 100) + "\n" + strings.Repeat(row+"\n", 320)
	assert.Contains(t, texts(table[:maxMarkdown/2], 2000, Options{})[1], "┼")
	assert.Contains(t, texts(table, 2000, Options{})[1], "|-|-")

	assert.Len(t, texts("a"+strings.Repeat("\n", 5*maxBlank)+"b", 80, Options{}), maxBlank+2)

	big := strings.Repeat("*word* *word*\n", maxMarkdown/14+1)
	assert.Equal(t, "*word* *word*", texts(big, 80, Options{})[0])
	assert.Equal(t, "word word", texts(big[:maxMarkdown-14], 80, Options{})[0])
	assert.Len(t, texts(big, 80, Options{}), strings.Count(big, "\n"), "cut at line ends only")
}

// TestOneRendererForMany: a Renderer has no state of its own.
func TestOneRendererForMany(t *testing.T) {
	r := New()
	src := strings.Join(fragments, "")
	want := rows(r.Render(src, 40, Options{}).Lines)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 20 {
				assert.Equal(t, want, rows(r.Render(src, 40, Options{}).Lines))
			}
		})
	}
	wg.Wait()
}
