package md

import "strings"

// Sizes in bytes.
const (
	maxPiece    = 16 << 10 // of a block that is cut anywhere: plain text, the lines of code
	maxMarkdown = 32 << 10 // of a block that is parsed
)

// maxBlank is how many of the blank lines before a block are drawn.
const maxBlank = 100

// Block is a part of a text that is drawn by itself: paragraphs, lists and tables up to the next blank line before a line that cannot
// belong to them, a fenced code block, or at most 16 KiB of a longer one or of plain text.
type Block struct {
	kind   blockKind
	before int // blank lines
	text   string
	code   *CodeBlock
	first  bool // the piece of a code block that begins it
	last   bool // and that ends it
	at     int  // where the scan that found it began
	torn   bool // it is of the text's last line alone, which may go on
}

type blockKind uint8

const (
	kindPlain blockKind = iota
	kindMarkdown
	kindCode
)

// Size is the block's text in bytes.
func (b Block) Size() int { return len(b.text) }

// Split cuts a text into blocks. CRLF counts as a newline.
func Split(src string) []Block {
	blocks, _ := Regrow("", nil, src)
	return blocks
}

// Regrow is Split(src), for a text that grew: blocks were split from old. The first kept blocks are as they were; it keeps none when
// src does not begin with old.
func Regrow(old string, blocks []Block, src string) (grown []Block, kept int) {
	if !strings.HasPrefix(src, old) {
		blocks = nil
	}
	s := scanner{src: strings.ReplaceAll(src, "\r\n", "\n")}
	last := lastScan(blocks)
	if last > 0 && blocks[last].torn {
		last = lastScan(blocks[:last]) // the whole line may turn out to belong to it
	}
	if last < len(blocks) {
		s.at, s.before = blocks[last].at, blocks[last].before
	}
	s.blocks = blocks[:last:last]
	s.run()
	for i := lastScan(s.blocks); i < len(s.blocks); i++ {
		s.blocks[i].torn = strings.IndexByte(s.src[s.blocks[i].at:], '\n') < 0
	}
	return s.blocks, last
}

// lastScan is the first of the blocks that the last scan found.
func lastScan(blocks []Block) int {
	i := len(blocks)
	for i > 0 && blocks[i-1].at == blocks[len(blocks)-1].at {
		i--
	}
	return i
}

// scanner finds where a text may be cut so that its parts, parsed alone, mean what they mean together. It follows fences and the
// outermost list, as CommonMark has them.
type scanner struct {
	src    string
	blocks []Block

	at     int // start of the chunk
	end    int // end of its last line that is not blank
	before int // blank lines before the chunk
	blank  int // blank lines since its end

	list   int  // columns from which a line belongs to the outermost list's item, 0 without a list
	marker byte // of that list
	unsure bool // whether there is that list: it may be text
	stuck  bool // a fence may be in the list or outside: no cut is safe from here on
}

// line is a line of the source.
type line struct {
	start, end int // without its newline
	indent     int // in columns
	rest       string
}

// blanks are what a blank line may have.
const blanks = " \t\r"

func (s *scanner) line(i int) line {
	l := line{start: i, end: len(s.src)}
	if n := strings.IndexByte(s.src[i:], '\n'); n >= 0 {
		l.end = i + n
	}
	for ; i < l.end; i++ {
		switch s.src[i] {
		case ' ':
			l.indent++
			continue
		case '\t':
			l.indent += 4 - l.indent%4
			continue
		}
		break
	}
	l.rest = s.src[i:l.end]
	return l
}

func (s *scanner) run() {
	s.end = s.at
	for i := s.at; i < len(s.src); {
		l := s.line(i)
		i = l.end + 1
		switch {
		case strings.Trim(l.rest, blanks) == "":
			s.blank++
			continue
		case s.fence(l):
			s.cut(l.start)
			i = s.code(l)
			continue
		case s.cuts(l):
			s.cut(l.start)
		}
		if s.end == s.at {
			s.before += s.blank // nothing of the chunk was there yet
			s.at = l.start
		}
		s.follow(l)
		s.end, s.blank = l.end, 0
	}
	s.cut(len(s.src))
}

// cut ends the chunk; the next begins at i.
func (s *scanner) cut(i int) {
	if s.end > s.at {
		s.chunk(s.src[s.at:s.end])
		s.before = 0
	}
	s.before += s.blank
	s.at, s.end, s.blank = i, i, 0
	s.list, s.unsure = 0, false
}

// cuts reports whether the text may be cut before l: it is at the edge after a blank line and no item of the list above it.
func (s *scanner) cuts(l line) bool {
	if s.blank == 0 || l.indent > 0 || s.stuck {
		return false
	}
	return s.list == 0 || itemOf(l).width == 0
}

// fence reports whether l opens a code block that is in no list; where nobody can tell, it takes note.
func (s *scanner) fence(l line) bool {
	if l.indent > 3 || s.stuck || fenceOf(l.rest).length == 0 {
		return false
	}
	if s.unsure && l.indent > 0 {
		s.stuck = true
	}
	return !s.stuck && (s.list == 0 || l.indent < s.list)
}

// follow keeps track of the outermost list over a line that is not blank.
func (s *scanner) follow(l line) {
	if s.list > 0 && l.indent >= s.list {
		s.unsure = s.unsure || itemOf(line{rest: l.rest}).hollow // goldmark may end the outer list with it
		return
	}
	item := itemOf(l)
	switch {
	case item.width > 0:
		mayBeText := s.blank == 0 && s.end > s.at && item.number != 1 && (s.list == 0 || s.marker != item.marker)
		s.unsure = s.unsure || item.hollow || mayBeText
		s.list, s.marker = l.indent+item.width, item.marker
	case l.indent < 4 && (l.rest[0] == '>' || isRule(l.rest)):
		s.list, s.unsure = 0, false
	case s.list > 0 && s.blank > 0:
		s.list, s.unsure = 0, false
	case s.list > 0:
		s.unsure = true // it may go on with a paragraph of the item
	}
}

// code adds the code block that l opens, and returns where the text goes on.
func (s *scanner) code(l line) int {
	f := fenceOf(l.rest)
	start := min(l.end+1, len(s.src))
	end, i := start, start
	for i < len(s.src) {
		next := s.line(i)
		i = next.end + 1
		if next.indent < 4 && f.closes(next.rest) {
			break
		}
		if strings.Trim(next.rest, blanks) != "" {
			end = next.end
		}
	}
	text := s.src[start:max(end, start)]
	if l.indent > 0 {
		text = dedent(text, l.indent)
	}
	code := &CodeBlock{Info: f.info, Text: text}
	s.end = min(i-1, len(s.src))
	s.pieces(Block{kind: kindCode, code: code}, text)
	s.before, s.blank = 0, 0
	s.at, s.end = min(i, len(s.src)), min(i, len(s.src))
	return i
}

// dedent takes up to n columns of space from the beginning of each line.
func dedent(text string, n int) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		column, at := 0, 0
		for at < len(l) && column < n && (l[at] == ' ' || l[at] == '\t') {
			if column++; l[at] == '\t' {
				column = 4
			}
			at++
		}
		lines[i] = spaces(max(column-n, 0)) + l[at:]
	}
	return strings.Join(lines, "\n")
}

func (s *scanner) chunk(text string) {
	switch {
	case isPlain(text):
		s.pieces(Block{kind: kindPlain}, text)
	case len(text) > maxMarkdown || tooDeep(text):
		s.pieces(Block{kind: kindPlain}, text)
	default:
		s.blocks = append(s.blocks, Block{kind: kindMarkdown, before: min(s.before, maxBlank), text: text, at: s.at})
	}
}

// pieces adds copies of b that share a text, cut at line ends where there are any.
func (s *scanner) pieces(b Block, text string) {
	b.before, b.at, b.first = min(s.before, maxBlank), s.at, true
	for len(text) > maxPiece {
		cut := strings.LastIndexByte(text[:maxPiece+1], '\n')
		next := cut + 1
		if cut <= 0 {
			cut = runeStart(text, maxPiece)
			next = cut
		}
		b.text, text = text[:cut], text[next:]
		s.blocks = append(s.blocks, b)
		b.before, b.first = 0, false
	}
	b.text, b.last = text, true
	s.blocks = append(s.blocks, b)
}

// runeStart is the last index up to i at which a rune begins.
func runeStart(s string, i int) int {
	for n := 0; n < 3 && i > 1 && s[i]&0xC0 == 0x80; n++ {
		i--
	}
	return i
}
