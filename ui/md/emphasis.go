package md

import (
	"unicode"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// emphasisParser reads * and _ as CommonMark has them, with two differences. Next to a CJK letter, where no space separates words, a
// mark outside of punctuation counts as if there were one: **「会議」**の. And only two tildes strike out: 1~2 and 3~4 are ranges.
type emphasisParser struct{}

func (emphasisParser) Trigger() []byte { return []byte{'*', '_', '~'} }

func (emphasisParser) Parse(_ ast.Node, block text.Reader, pc parser.Context) ast.Node {
	before := block.PrecendingCharacter()
	line, segment := block.PeekLine()
	n := 1
	for n < len(line) && line[n] == line[0] {
		n++
	}
	if line[0] == '~' && n != 2 {
		block.Advance(n)
		return ast.NewTextSegment(segment.WithStop(segment.Start + n))
	}
	after := ' '
	if n < len(line) {
		after = util.ToRune(line, n)
	}
	canOpen, canClose := flanks(line[0], before, after)
	var pairs parser.DelimiterProcessor = delimiters{}
	if line[0] == '~' {
		pairs = strikes{}
	}
	d := parser.NewDelimiter(canOpen, canClose, n, line[0], pairs)
	d.Segment = segment.WithStop(segment.Start + n)
	block.Advance(n)
	pc.PushDelimiter(d)
	return d
}

// flanks is CommonMark's rule for what stands around a delimiter run.
func flanks(char byte, before, after rune) (canOpen, canClose bool) {
	spaceBefore, spaceAfter := util.IsSpaceRune(before), util.IsSpaceRune(after)
	punctBefore, punctAfter := util.IsPunctRune(before), util.IsPunctRune(after)
	left := !spaceAfter && (!punctAfter || spaceBefore || punctBefore || isCJK(before))
	right := !spaceBefore && (!punctBefore || spaceAfter || punctAfter || isCJK(after))
	if char == '_' {
		return left && (!right || punctBefore), right && (!left || punctAfter)
	}
	return left, right
}

func isCJK(r rune) bool {
	return r >= 0x1100 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}

// delimiters says what a pair of delimiters makes.
type delimiters struct{}

func (delimiters) IsDelimiter(b byte) bool { return b == '*' || b == '_' || b == '~' }

func (delimiters) CanOpenCloser(opener, closer *parser.Delimiter) bool {
	return opener.Char == closer.Char
}

func (delimiters) OnMatch(consumes int) ast.Node { return ast.NewEmphasis(consumes) }

// strikes says what a pair of two tildes makes.
type strikes struct{ delimiters }

func (strikes) OnMatch(int) ast.Node { return extast.NewStrikethrough() }
