package md

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordboard/ui/safe"
)

// texts are lines without their styles.
func texts(src string, width int, o Options) []string {
	return rows(New().Render(src, width, o).Lines)
}

func TestLayout(t *testing.T) {
	long := strings.Repeat("0123456789", 3)
	for _, c := range []struct {
		name, src string
		width     int
		o         Options
		want      []string
	}{
		{"prose wraps", "one *two* three four", 10, Options{}, []string{"one two", "three four"}},
		{"plain text wraps", "one two three four", 10, Options{}, []string{"one two", "three four"}},
		{"CJK", "会議**室予**約です。", 8, Options{}, []string{"会議室予", "約です。"}},
		{"hanging indent", "- one two three\n10. four five six", 13, Options{}, []string{"• one two", "  three", "10. four five", "    six"}},
		{"quote", "> one two three", 10, Options{}, []string{"┃ one two", "┃ three"}},
		{"heading", "## one two three", 11, Options{}, []string{"## one two", "   three"}},

		{"code is cut", "```\n" + long + "\n```", 12, Options{}, []string{"┌", "│ 012345678…", "└"}},
		{"code is shifted", "```\n" + long + "\n```", 12, Options{Shift: 15}, []string{"┌", "│ 567890123…", "└"}},
		{"its end", "```\n" + long + "\nshort\n```", 12, Options{Shift: 20}, []string{"┌", "│ 0123456789", "│", "└"}},
		{"code is wrapped", "```\n" + long + "\n```", 12, Options{Wrap: WrapAll}, []string{"┌", "│ 0123456789", "┆ 0123456789", "┆ 0123456789", "└"}},
		{"code keeps its spaces", "```\na    b      c\n```", 10, Options{Wrap: WrapAll}, []string{"┌", "│ a    b", "┆     c", "└"}},
		{"code in a list", "- a\n  ```\n  012345678\n  ```", 12, Options{Wrap: WrapAll}, []string{"• a", "  ┌", "  │ 01234567", "  ┆ 8", "  └"}},
		{"nothing wraps", "- *a* " + long + "\n\nplain " + long, 12, Options{Wrap: WrapNone}, []string{"• a 0123456…", "", "plain 01234…"}},
		{"nothing wraps, shifted", "- *a* " + long + "\n\nplain " + long, 12, Options{Wrap: WrapNone, Shift: 10}, []string{"• 890123456…", "", "45678901234…"}},
		{"half a wide rune", "```\n会議室予約会議室予約\n```", 10, Options{Shift: 1}, []string{"┌", "│  議室予…", "└"}},

		{"ASCII", "# a\n- *b* **c** `d`\n- [x] e\n\n> f\n\n```sh\ng\n```\n***\na|b\n-|-\nc|d", 12, Options{ASCII: true}, []string{
			"# a", "- *b* **c**", "  `d`", "[x] e", "", "> f", "", "``` sh", "g", "```", "------------", "a | b", "--+--", "c | d",
		}},

		{"table fits", "|Name|Value|\n|-|-|\n|a|b|", 20, Options{}, []string{"Name │ Value", "─────┼──────", "a    │ b"}},
		{"table aligns", "|Name|Value|x|\n|:-|-:|:-:|\n|a|b|ccc|", 20, Options{}, []string{"Name │ Value │  x", "─────┼───────┼────", "a    │     b │ ccc"}},
		{"table with wide runes", "|会議|b|\n|-|-|\n|室|🇩🇪 ☁️|", 20, Options{}, []string{"会議 │ b", "─────┼─────", "室   │ DE ☁"}},
		{"cells wrap", "|Name|Value|\n|-|-|\n|a|one two three four|\n|b|c|", 20, Options{}, []string{
			"Name │ Value", "─────┼──────────────", "a    │ one two three", "     │ four", "─────┼──────────────", "b    │ c",
		}},
		{"table as a list", "|Name|Value|Who\n|-|-|-|\n|one two three|`four`|\n||x|y|", 18, Options{}, []string{
			"• Name: one two", "  three", "  Value: four", "• Value: x", "  Who: y",
		}},
		{"table of a header", "|a|b|\n|-|-|", 20, Options{}, []string{"a │ b", "──┼──"}},
		{"header as a list", "|long name|longer name|\n|-|-|", 12, Options{}, []string{"• long name", "  longer", "  name"}},
		{"table does not wrap", "|Name|Value|\n|-|-|\n|a|one two three four|", 14, Options{Wrap: WrapNone}, []string{"Name │ Value", "─────┼───────…", "a    │ one tw…"}},
		{"table in a list", "- a\n\n  |b|c|\n  |-|-|\n  |d|e|", 20, Options{}, []string{"• a", "", "  b │ c", "  ──┼──", "  d │ e"}},

		{"too narrow for indentation", "- a\n  - b\n    - c\n      - one two", 12, Options{}, []string{"• a", "  • b", "    • c", "    • one", "    two"}},
		{"width 1", "- a *b*\n\n> 会\n\n```\nc\n```", 1, Options{}, []string{"a", "b", "", "▯", "", "", "c", ""}},
	} {
		t.Run(c.name, func(t *testing.T) { assert.Equal(t, c.want, texts(c.src, c.width, c.o)) })
	}
}

// TestWide holds R182: the widest line that was cut says how far Shift is useful.
func TestWide(t *testing.T) {
	src := "prose that wraps\n\n```\n0123456789\n0123456789abc\n```\n\n> ```\n> 0123456789abcd\n> ```"
	d := New().Render(src, 14, Options{})
	require.Equal(t, len("> | 0123456789abcd"), d.Wide)
	d = New().Render(src, d.Wide, Options{})
	for _, l := range d.Lines {
		assert.NotContains(t, l.Text, "…")
	}
	d = New().Render(src, 14, Options{Shift: d.Wide - 14})
	assert.Contains(t, rows(d.Lines), "┃ │ 456789abcd")
	assert.Zero(t, New().Render(src, 8, Options{Wrap: WrapAll}).Wide)
}

func codes(d Drawn) (blocks []*CodeBlock, lines map[*CodeBlock][]string) {
	lines = map[*CodeBlock][]string{}
	for _, l := range d.Lines {
		if l.Code == nil {
			continue
		}
		if lines[l.Code] == nil {
			blocks = append(blocks, l.Code)
		}
		lines[l.Code] = append(lines[l.Code], l.Text)
	}
	return blocks, lines
}

// TestCopyCode holds R159: what is copied is what was written, whatever the frame and the breaks on the screen.
func TestCopyCode(t *testing.T) {
	long := strings.Repeat("x", 300)
	src := "Run\n```sh\n\tmake\n" + long + "\n\n# \x1b[1m\n\n```\n- in a list:\n  ~~~\n  a\n   b\n  ~~~\n\n      indented\n\n> ```\n> c\n>\n> d\n> ```\n"
	for _, o := range []Options{{}, {Wrap: WrapAll}, {Wrap: WrapNone, Shift: 5}, {ASCII: true}} {
		blocks, lines := codes(New().Render(src, 80, o))
		require.Len(t, blocks, 4)
		assert.Equal(t, &CodeBlock{"sh", "\tmake\n" + long + "\n\n# \x1b[1m"}, blocks[0])
		assert.Equal(t, &CodeBlock{"", "a\n b"}, blocks[1])
		assert.Equal(t, &CodeBlock{"", "indented"}, blocks[2])
		assert.Equal(t, &CodeBlock{"", "c\n\nd"}, blocks[3])
		assert.Len(t, lines[blocks[1]], 4, "the frame belongs to it")
		for _, l := range lines[blocks[0]] {
			assert.NotContains(t, l, "\x1b")
		}
	}
}

// TestLongCode: pieces of a long block are drawn by themselves and share what is copied.
func TestLongCode(t *testing.T) {
	body := strings.Repeat("0123456789abcde\n", 5000) + strings.Repeat("会", 20000)
	blocks := Split("before\n```go\n" + body + "\n```\nafter")
	require.Greater(t, len(blocks), 8)
	drawn := 0
	for _, b := range blocks[1 : len(blocks)-1] {
		require.LessOrEqual(t, b.Size(), maxPiece)
		d := New().Draw(b, 40, Options{})
		drawn += len(d.Lines)
		for _, l := range d.Lines {
			require.Same(t, blocks[1].code, l.Code)
			require.NotContains(t, l.Text, "‹", "no rune is torn")
		}
	}
	require.Equal(t, body, blocks[1].code.Text)
	require.Equal(t, 5000+2+len(blocks)-2-1-5000*16/maxPiece, drawn, "lines are not torn, only the one without end is")
	require.Equal(t, "after", New().Draw(blocks[len(blocks)-1], 40, Options{}).Lines[0].Text)
}

func TestLinks(t *testing.T) {
	d := New().Render("[one *two*](https://x.test/&amp;?q=\x1b) <me@x.test> ![](i.png) https://y.test plain", 14, Options{})
	var targets []string
	byTarget := map[string]string{}
	for _, l := range d.Lines {
		for _, s := range l.Spans {
			if s.Link == nil {
				continue
			}
			if _, seen := byTarget[s.Link.Target]; !seen {
				targets = append(targets, s.Link.Target)
			}
			byTarget[s.Link.Target] += l.Text[s.Start:s.End]
		}
	}
	assert.Equal(t, []string{"https://x.test/&?q=\x1b", "mailto:me@x.test", "i.png", "https://y.test"}, targets)
	assert.Equal(t, "https://y.test", byTarget["https://y.test"])
	assert.Equal(t, "one two(https://x.test/&?q=␛)", byTarget[targets[0]], "over its lines, the space at a break is gone")
}

func TestLongTargetIsCut(t *testing.T) {
	target := "data:image/png;base64," + strings.Repeat("A", 4000)
	d := New().Render("![x]("+target+")", 80, Options{})
	assert.Less(t, len(d.Lines), 10)
	assert.Equal(t, target, d.Lines[0].Spans[0].Link.Target)
}

func TestHeadingLevels(t *testing.T) {
	d := New().Render("# a\n### bbb ccc ddd\ntext", 12, Options{})
	var levels []int
	for _, l := range d.Lines {
		levels = append(levels, l.Level)
		require.LessOrEqual(t, safe.Width(l.Text), 12)
	}
	assert.Equal(t, []int{1, 3, 3, 0}, levels)
}
