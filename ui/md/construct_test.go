package md

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// shown are a text's lines with their styles: "plain <style>styled</>".
func shown(d Drawn) []string {
	names := []string{"text", "heading", "code", "link", "target", "mark", "label", "added", "removed", "match", "current"}
	out := []string{}
	for _, l := range d.Lines {
		var b strings.Builder
		for style, text := range l.Pieces() {
			if style == Text {
				b.WriteString(text)
				continue
			}
			name := names[style.Role()]
			for i, bit := range []Style{Bold, Italic, Strike} {
				if style&bit != 0 {
					name += []string{"+b", "+i", "+s"}[i]
				}
			}
			b.WriteString("<" + name + ">" + text + "</>")
		}
		out = append(out, b.String())
	}
	return out
}

func render(src string, width int, o Options) []string { return shown(New().Render(src, width, o)) }

func TestConstructs(t *testing.T) {
	rule := "<mark>" + strings.Repeat("─", 80) + "</>"
	for _, c := range []struct {
		name, src string
		want      []string
	}{
		{"nothing", "", []string{}},
		{"blank lines only", "\n \n\t\n", []string{}},
		{"R156 newlines", "a\n\nb\tc", []string{"a", "", "b   c"}},
		{"R156 newlines in Markdown", "*a*\n\n\nb\tc\nd", []string{"<text+i>a</>", "", "", "b   c", "d"}},
		{"blank lines before", "\n\na", []string{"", "", "a"}},
		{"CRLF", "a\r\n\r\n*b*\r\nc", []string{"a", "", "<text+i>b</>", "c"}},
		{"spaces at the beginning stay", "  *a*\n     b", []string{"  <text+i>a</>", "     b"}},
		{"hard breaks", "a  \nb\\\nc", []string{"a", "b", "c"}},

		{"emphasis", "*a* _b_ **c** __d__ ***e***", []string{"<text+i>a</> <text+i>b</> <text+b>c</> <text+b>d</> <text+b+i>e</>"}},
		{"emphasis over lines", "**a\nb**", []string{"<text+b>a</>", "<text+b>b</>"}},
		{"no emphasis", "a * b * c snake_case_name 2*3*4", []string{"a * b * c snake_case_name 2<text+i>3</>4"}},
		{"CJK around emphasis", "これは**「会議」**です", []string{"これは<text+b>「会議」</>です"}},
		{"strike keeps its marks", "~~gone~~", []string{"<mark>~~</><text+s>gone</><mark>~~</>"}},
		{"one tilde is a range", "1~2 or 3~4, ~~~~no~~~~", []string{"1~2 or 3~4, ~~~~no~~~~"}},
		{"escapes", `\*a\* \_ \\ c:\dir`, []string{`*a* _ \ c:\dir`}},
		{"newline as an entity", "*a*&#10;b &nGt;&nGt;&nGt;&#10;c", []string{"<text+i>a</>", "b ≫⃒≫⃒≫⃒", "c"}},
		{"entities", "&lt;b&gt; &amp; &copy; &#65;&#x42; &nope; &#0;", []string{"<b> & © AB &nope; \uFFFD"}},
		{"R171 entities cannot smuggle", "&#27;[2J &#x202e;", []string{"␛[2J ‹U+202E›"}},

		{"code span", "a `b  *c*` d", []string{"a <code>b  *c*</> d"}},
		{"code span with ticks", "`` a`b ``", []string{"<code>a`b</>"}},
		{"code span over lines", "`a\nb`", []string{"<code>a</>", "<code>b</>"}},
		{"bold code", "**`a`**", []string{"<code+b>a</>"}},

		{"link", "[docs](https://x.test/a)", []string{"<link>docs</><target> (https://x.test/a)</>"}},
		{"link that is its text", "[https://x.test](https://x.test)", []string{"<link>https://x.test</>"}},
		{"link with a title", `[a](b "c d")`, []string{`<link>a</><target> (b "c d")</>`}},
		{"link without target", "[a]()", []string{"<link>a</>"}},
		{"link with styles", "[**a** `b`](c)", []string{"<link+b>a</><link> </><code>b</><target> (c)</>"}},
		{"R171 link target", "[a](<x\x1b[2J>)", []string{"<link>a</><target> (x␛[2J)</>"}},
		{"image", "![a cat](cat.png)", []string{"<link>[image: a cat]</><target> (cat.png)</>"}},
		{"autolinks", "<https://x.test/?a=b> <me@x.test>", []string{"<link>https://x.test/?a=b</> <link>me@x.test</>"}},
		{"bare URL", "see https://x.test/_a_/b*c*(d), ok", []string{"see <link>https://x.test/_a_/b*c*(d)</>, ok"}},
		{"bare URL in bold", "**https://x.test/a**.", []string{"<link+b>https://x.test/a</>."}},
		{"bare URL in CJK", "见https://x.test/a。谢谢", []string{"见<link>https://x.test/a</>。谢谢"}},
		{"no URL", "std::vec http:// shttp://x ftp://x a://b", []string{"std::vec http:// shttp://x ftp://x a://b"}},
		{"reference links are text", "[a][b]\n\n[b]: https://x.test", []string{"[a][b]", "", "[b]: <link>https://x.test</>"}},
		{"HTML is text", "<b>*a*</b> <!-- c -->\n<div>\n# h\n</div>", []string{"<b><text+i>a</></b> <!-- c -->", "<div>", "<mark># </><heading>h</>", "</div>"}},

		{"headings", "# a\n###### b `c` ##", []string{"<mark># </><heading>a</>", "<mark>###### </><heading>b </><code>c</>"}},
		{"no headings", "#a\n####### b", []string{"#a", "####### b"}},
		{"underlined heading", "a\n===", []string{"<mark># </><heading>a</>"}},
		{"dashes under a text are a rule", "a\nb\n---\nc", []string{"a", "b", rule, "c"}},
		{"rules", "***\n_ _ _", []string{rule, rule}},

		{"bullets", "- a\n- b\n\n- c", []string{"<mark>• </>a", "<mark>• </>b", "", "<mark>• </>c"}},
		{"loose list", "* a\n\n  b\n\n\n* c", []string{"<mark>• </>a", "<mark>  </>", "<mark>  </>b", "", "", "<mark>• </>c"}},
		{"list under a text", "a:\n- b\n- c\n\nd", []string{"a:", "<mark>• </>b", "<mark>• </>c", "", "d"}},
		{"nested list", "- a\n  - b\n    1. c", []string{"<mark>• </>a", "<mark>  • </>b", "<mark>    1. </>c"}},
		{"list in list", "- - a\n  - b", []string{"<mark>• • </>a", "<mark>  • </>b"}},
		{"numbers", "9) a\n10) b\n1) c", []string{"<mark>9) </>a", "<mark>10) </>b", "<mark>11) </>c"}},
		{"tasks", "- [ ] a\n- [x] b *c*\n1. [X] d", []string{"<mark>[ ] </>a", "<mark>[x] </>b <text+i>c</>", "<mark>1. </><mark>[x] </>d"}},
		{"empty items", "-\n- a\n-", []string{"<mark>• </>", "<mark>• </>a", "<mark>• </>"}},
		{"code in a list", "- a\n  ```sh\n  b\n  ```\n- c", []string{
			"<mark>• </>a", "<mark>  ┌ </><label>sh</>", "<mark>  │ </><code>b</>", "<mark>  └</>", "<mark>• </>c",
		}},

		{"quote", "> a\n> b\nlazy\n\nc", []string{"<mark>┃ </>a", "<mark>┃ </>b", "<mark>┃ </>lazy", "", "c"}},
		{"quote in quote", "> a\n>\n>> b\n>>\n>> c", []string{"<mark>┃ </>a", "<mark>┃ </>", "<mark>┃ ┃ </>b", "<mark>┃ ┃ </>", "<mark>┃ ┃ </>c"}},
		{"empty quote", ">", []string{"<mark>┃ </>"}},
		{"list in quote", "> - a\n> - b", []string{"<mark>┃ • </>a", "<mark>┃ • </>b"}},

		{"fence", "a\n```go x\nb *c*\n\n\td\n```\ne", []string{
			"a", "<mark>┌ </><label>go x</>", "<mark>│ </><code>b *c*</>", "<mark>│ </>", "<mark>│ </><code>    d</>", "<mark>└</>", "e",
		}},
		{"fence of tildes", "~~~\n```\n~~~~", []string{"<mark>┌</>", "<mark>│ </><code>```</>", "<mark>└</>"}},
		{"fence without end", "```\na\n\n", []string{"<mark>┌</>", "<mark>│ </><code>a</>", "<mark>└</>"}},
		{"empty fence", "```\n```", []string{"<mark>┌</>", "<mark>└</>"}},
		{"indented fence", "  ```\n   a\n b\n  ```", []string{"<mark>┌</>", "<mark>│ </><code> a</>", "<mark>│ </><code>b</>", "<mark>└</>"}},
		{"indented code", "    a\n\n      b\n\nc", []string{"<mark>│ </><code>a</>", "<mark>│ </>", "<mark>│ </><code>  b</>", "", "c"}},
		{"diff", "```diff\n@@ 1 @@\n-a\n+b\n c\n```", []string{
			"<mark>┌ </><label>diff</>", "<mark>│ </><label>@@ 1 @@</>", "<mark>│ </><removed>-a</>", "<mark>│ </><added>+b</>", "<mark>│ </><code> c</>", "<mark>└</>",
		}},
		{"R171 code", "```\x1b]0;t\a\n\x1b[2J\n```", []string{"<mark>┌ </><label>␛]0;t␇</>", "<mark>│ </><code>␛[2J</>", "<mark>└</>"}},

		{"table", "a|b\n-|-:\n1|22\n`x\\|y`|z|", []string{
			"<text+b>a</>  <mark> │ </> <text+b>b</>", "<mark>────┼───</>", "1  <mark> │ </>22", "<code>x|y</><mark> │ </> z",
		}},
		{"a cell too many is not lost", "a|b\n-|-\n1|2|3|4|", []string{
			"<text+b>a</><mark> │ </><text+b>b</>", "<mark>──┼────────</>", "1<mark> │ </>2 | 3|4",
		}},
		{"a newline in a cell", "a|b\n-|-\nc&#10;d|e", []string{"<text+b>a</>  <mark> │ </><text+b>b</>", "<mark>────┼──</>", "c d<mark> │ </>e"}},
		{"no table", "a|b\nc|d", []string{"a|b", "c|d"}},
		{"a list that begins is no table", "*a*:\n- ", []string{"<text+i>a</>:", "-"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.Equal(t, c.want, render(c.src, 80, Options{}))
		})
	}
}
