package md

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// blockParser is goldmark with what the transcript draws: CommonMark and GFM's tables, task lists and strikethrough. HTML blocks and
// reference definitions are shown as text. A line of dashes is a rule, also right under a text: that is what agents mean by it.
type blockParser struct{ parser.Parser }

func newParser() blockParser {
	return blockParser{parser.NewParser(
		parser.WithBlockParsers(
			util.Prioritized(underlined{parser.NewSetextHeadingParser()}, 100),
			util.Prioritized(parser.NewThematicBreakParser(), 200),
			util.Prioritized(parser.NewListParser(), 300),
			util.Prioritized(parser.NewListItemParser(), 400),
			util.Prioritized(parser.NewCodeBlockParser(), 500),
			util.Prioritized(parser.NewATXHeadingParser(), 600),
			util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
			util.Prioritized(parser.NewBlockquoteParser(), 800),
			util.Prioritized(parser.NewParagraphParser(), 1000),
		),
		parser.WithInlineParsers(
			util.Prioritized(bounded{extension.NewTaskCheckBoxParser()}, 0),
			util.Prioritized(bounded{parser.NewCodeSpanParser()}, 100),
			util.Prioritized(boundedLinks{bounded{parser.NewLinkParser()}}, 200),
			util.Prioritized(bounded{parser.NewAutoLinkParser()}, 300),
			util.Prioritized(bounded{parser.NewRawHTMLParser()}, 400),
			util.Prioritized(bounded{emphasisParser{}}, 500),
			util.Prioritized(bounded{urlParser{}}, 900),
		),
		parser.WithParagraphTransformers(util.Prioritized(piped{extension.NewTableParagraphTransformer()}, 200)),
		parser.WithASTTransformers(util.Prioritized(extension.NewTableASTTransformer(), 0)),
	)}
}

// Parse makes the tree of a block.
func (p blockParser) Parse(src []byte) ast.Node {
	pc := parser.NewContext()
	pc.Set(marksKey, new(int))
	return p.Parser.Parse(text.NewReader(src), parser.WithContext(pc))
}

// underlined reads a heading of one line that is underlined with =.
type underlined struct{ parser.BlockParser }

func (underlined) Trigger() []byte { return []byte{'='} }

func (u underlined) Open(parent ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	if p, ok := pc.LastOpenedBlock().Node.(*ast.Paragraph); !ok || p.Lines().Len() != 1 {
		return nil, parser.NoChildren
	}
	return u.BlockParser.Open(parent, reader, pc)
}

// piped reads tables whose delimiter row has a pipe: without one it is a list that is being written.
type piped struct{ parser.ParagraphTransformer }

func (p piped) Transform(node *ast.Paragraph, reader text.Reader, pc parser.Context) {
	for i := 1; i < node.Lines().Len(); i++ {
		segment := node.Lines().At(i)
		row := segment.Value(reader.Source())
		if bytes.IndexByte(row, '|') >= 0 && len(bytes.Trim(row, "|:- \t\r\n")) == 0 {
			p.ParagraphTransformer.Transform(node, reader, pc)
			return
		}
	}
}

var marksKey = parser.NewContextKey()

// bounded lets an inline parser see the first maxMarks marks of a paragraph. The rest is text: some of goldmark's searches look at all
// marks before the one at hand.
type bounded struct{ parser.InlineParser }

func (b bounded) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	seen, _ := pc.Get(marksKey).(*int)
	if *seen >= maxMarks {
		return nil
	}
	*seen++
	return b.InlineParser.Parse(parent, block, pc)
}

// boundedLinks hears of a paragraph's end and begins the count anew.
type boundedLinks struct{ bounded }

func (b boundedLinks) CloseBlock(parent ast.Node, block text.Reader, pc parser.Context) {
	seen, _ := pc.Get(marksKey).(*int)
	*seen = 0
	b.InlineParser.(parser.CloseBlocker).CloseBlock(parent, block, pc)
}
