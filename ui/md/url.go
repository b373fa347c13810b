package md

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// urlParser finds bare http and https URLs: at the "://" it takes the scheme back from the text before it. What is in a URL is no
// other mark: https://x.test/_a_/*b*.
type urlParser struct{}

func (urlParser) Trigger() []byte { return []byte{':'} }

func (urlParser) Parse(parent ast.Node, block text.Reader, _ parser.Context) ast.Node {
	line, segment := block.PeekLine()
	before, ok := parent.LastChild().(*ast.Text)
	if !ok || before.Segment.Stop != segment.Start || !bytes.HasPrefix(line, []byte("://")) {
		return nil
	}
	scheme := schemeAt(before.Value(block.Source()))
	n := urlEnd(line)
	if scheme == 0 || n <= len("://") {
		return nil
	}
	start := segment.Start - scheme
	if before.Segment = before.Segment.WithStop(start); before.Segment.IsEmpty() {
		parent.RemoveChild(parent, before)
	}
	block.Advance(n)
	return ast.NewAutoLink(ast.AutoLinkURL, ast.NewTextSegment(text.NewSegment(start, segment.Start+n)))
}

// schemeAt is the length of the scheme at the end of a text, 0 for none.
func schemeAt(before []byte) int {
	for _, scheme := range []string{"https", "http"} {
		i := len(before) - len(scheme)
		if i >= 0 && bytes.EqualFold(before[i:], []byte(scheme)) && (i == 0 || !isWord(before[i-1])) {
			return len(scheme)
		}
	}
	return 0
}

// urlEnd is where the URL that s begins with ends: before what cannot be in one, without closing punctuation.
func urlEnd(s []byte) int {
	n, open := 0, 0
	for n < len(s) {
		r, size := utf8.DecodeRune(s[n:])
		if r <= ' ' || bytes.IndexByte([]byte("<>\"`[]{}|\\^"), s[n]) >= 0 || r > unicode.MaxASCII && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			break
		}
		if r == '(' {
			open++
		}
		if r == ')' {
			if open--; open < 0 {
				break
			}
		}
		n += size
	}
	for n > 0 && bytes.IndexByte([]byte(".,;:!?'*_~"), s[n-1]) >= 0 {
		n--
	}
	return n
}
