package md

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cordboard/core/proptest"
)

// fragments of Markdown, put together at random to texts where everything meets everything.
var fragments = []string{
	"\n", "\n", "\n", "\n\n", "\n\n", " ", "  ", "   ", "    ", "\t", "a", "word", "two words", "- ", "* ", "+ ", "1. ", "2. ", "7) ", "-", "1.", "> ", ">",
	"# ", "## x\n", "```", "```\n", "```go\n", "~~~\n", "````\n", "``` x`y\n", "---\n", "***\n", "* * *\n", "===\n", "_ _ _\n",
	"|a|b|\n|-|-|\n|1|2|\n", "|-|\n", "a | b\n- | -\n", ":-|-:\n", "`code`", "**bold**", "*em*", "_u_", "~~no~~", "[a](b)", "![i](j)", "[x] ", "[r]: /u\n",
	"<b>", "<!-- ", "-->", "https://x.test/a_b", "&amp;", "\\*", "\\\n", "  \n", "\r\n", "会議", "。", "🇩🇪", "👩‍👩‍👧", "e\u0301", "\u0301", "\x1b[2J", "\x00", "\u202e",
	"100000. ", "  - ", "    - ", "  ```\n", "   ```\n",
}

func markdown() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(fragments), 0, 40).Draw(t, "fragments"), "")
	})
}

// rows are lines as they look.
func rows(lines []Line) []string {
	out := []string{}
	for _, l := range lines {
		out = append(out, strings.TrimRight(l.Text, " "))
	}
	return out
}

// trimmed is rows without the empty ones at their end.
func trimmed(rows []string) []string {
	for len(rows) > 0 && rows[len(rows)-1] == "" {
		rows = rows[:len(rows)-1]
	}
	return append([]string{}, rows...)
}

// whole draws a text that is parsed in one piece.
func whole(t require.TestingT, src string, width int, o Options) []string {
	src = strings.ReplaceAll(src, "\r\n", "\n")
	for i := strings.LastIndexByte(src, '\n'); i >= 0 && strings.Trim(src[i:], blanks+"\n") == ""; i = strings.LastIndexByte(src, '\n') {
		src = src[:i]
	}
	if strings.Trim(src, blanks) == "" {
		return nil
	}
	d := drawer{width: width, o: o}
	for src != "" {
		l, rest, _ := strings.Cut(src, "\n")
		if strings.Trim(l, " \t\r") != "" {
			break
		}
		d.out = append(d.out, Line{})
		src = rest
	}
	require.True(t, New().markdown(&d, src), "the parser panics on %q", src)
	return rows(d.out)
}

// TestSplitKeepsMeaning: blocks drawn one by one are the text drawn as one.
func TestSplitKeepsMeaning(t *testing.T) {
	r := New()
	proptest.Check(t, func(t *rapid.T) {
		src := markdown().Draw(t, "src")
		o := Options{Wrap: Wrap(rapid.IntRange(0, 2).Draw(t, "wrap"))}
		require.Equal(t, trimmed(whole(t, src, 40, o)), trimmed(rows(r.Render(src, 40, o).Lines)), "%q", src)
	})
}

// TestRegrow: a text that grows is cut as if it had always been there, and what was kept did not change.
func TestRegrow(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		src := markdown().Draw(t, "src")
		var blocks []Block
		for at := 0; at < len(src); {
			before := src[:at]
			at = min(len(src), at+rapid.IntRange(1, 30).Draw(t, "step"))
			old := blocks
			var kept int
			blocks, kept = Regrow(before, old, src[:at])
			require.Equal(t, Split(src[:at]), blocks, "%q", src[:at])
			require.Equal(t, append([]Block{}, old[:kept]...), append([]Block{}, blocks[:kept]...))
		}
		other := markdown().Draw(t, "other")
		replaced, _ := Regrow(src, blocks, other)
		require.Equal(t, Split(other), replaced, "a text that is another one")
	})
}

// TestGrowing: a message drawn while it comes in, only what is not kept drawn again, looks at each moment like the whole of it so far.
func TestGrowing(t *testing.T) {
	src, err := os.ReadFile("../../testdata/ui/md/agent.md")
	require.NoError(t, err)
	r := New()
	var blocks []Block
	var drawn []Drawn
	again := 0
	for at := 1; at <= len(src); at++ {
		var kept int
		blocks, kept = Regrow(string(src[:at-1]), blocks, string(src[:at]))
		drawn = drawn[:kept]
		var lines []Line
		for _, b := range blocks[kept:] {
			drawn = append(drawn, r.Draw(b, 40, Options{}))
			again += b.Size()
		}
		for _, d := range drawn {
			lines = append(lines, d.Lines...)
		}
		if at%7 == 0 || at == len(src) {
			require.Equal(t, rows(r.Render(string(src[:at]), 40, Options{}).Lines), rows(lines), "%q", src[:at])
		}
	}
	require.Less(t, again/len(src), 250, "bytes drawn for each byte that came: of the last block, not of the text")
}
