package md

import (
	"strings"
	"testing"
)

// The texts that were measured with glamour: 2.45, 2.2 and 80 ms (ui-notes.md §4).
var (
	benchCode  = "Run this in the *repository*:\n\n```go\nfunc main() {\n\tfmt.Println(\"hello, world\")\n}\n```\n\nIt prints `hello, world` and exits with status **0**. See [the docs](https://example.com/docs) for more details.\n"
	sentence   = "The agent read the *incident* report and found that `deploy-4398` failed because the **health check** timed out; see https://example.com/runbook for what to do next. "
	benchProse = strings.Repeat(strings.Repeat(sentence, 3)+"\n\n", 4)
	benchLong  = strings.Repeat("## Section\n\n"+strings.Repeat(sentence, 2)+"\n\n- item one with `code`\n- item **two**\n  - nested item that is a little longer than the others\n1. first\n2. second\n\n"+
		"| Name | Value |\n|---|---|\n| a | `b` |\n| long cell | with some more text |\n\n> quoted *text*\n\n```sh\nmake test\nmake install\n```\n\n", 28)
	benchPlain = strings.Repeat("The agent read the incident report and found that the deploy failed because the health check timed out. ", 20)
)

func BenchmarkRender(b *testing.B) {
	r := New()
	for _, c := range []struct{ name, src string }{
		{"code", benchCode}, {"prose", benchProse}, {"long", benchLong}, {"plain", benchPlain}, {"CJK", strings.Repeat("会議の**議事録**を`書く`。", 70)},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.src)))
			b.ReportAllocs()
			for b.Loop() {
				r.Render(c.src, 80, Options{Wrap: WrapAll})
			}
		})
	}
}

func BenchmarkSplit(b *testing.B) {
	for _, c := range []struct{ name, src string }{
		{"long", benchLong}, {"5MB code", "```\n" + strings.Repeat("some line of code or of a log that is not short\n", 110000)},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.src)))
			b.ReportAllocs()
			for b.Loop() {
				Split(c.src)
			}
		})
	}
}

// BenchmarkGrow is a message of 16 KB to which a word is added.
func BenchmarkGrow(b *testing.B) {
	r := New()
	old := Split(benchLong)
	grown := benchLong + "and *more* text"
	for b.Loop() {
		blocks, kept := Regrow(benchLong, old, grown)
		for _, block := range blocks[kept:] {
			r.Draw(block, 80, Options{})
		}
	}
}
