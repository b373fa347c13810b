package md

import "strings"

// special are the bytes that may be Markdown wherever they stand. '_', '~', '&', ':' and '|' are looked at more closely.
var special = [256]bool{'*': true, '`': true, '[': true, '<': true, '\\': true, '_': true, '~': true, '&': true, ':': true}

// isPlain reports whether a chunk certainly has no Markdown in it: most messages, which then are wrapped and nothing else.
func isPlain(text string) bool {
	atStart := true
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '\n':
			atStart = true
			continue
		case atStart:
			if startsBlock(text, i) {
				return false
			}
			atStart = false
		}
		if special[c] && isMark(text, i) {
			return false
		}
	}
	return true
}

// startsBlock reports whether the line that begins at i may be more than text: by its first character or its indentation.
func startsBlock(text string, i int) bool {
	start := i
	for i < len(text) && text[i] == ' ' {
		i++
	}
	if i == len(text) {
		return false
	}
	switch c := text[i]; {
	case i-start > 3, strings.IndexByte("#>-+=|\t", c) >= 0:
		return true
	case isDigit(c):
		for i < len(text) && isDigit(text[i]) {
			i++
		}
		return i < len(text) && (text[i] == '.' || text[i] == ')')
	case c == ':':
		return true // the alignments of a table
	}
	return false
}

// isMark reports whether the special byte at i may be Markdown where it stands.
func isMark(text string, i int) bool {
	switch text[i] {
	case '_':
		return i == 0 || i+1 == len(text) || !isWord(text[i-1]) || !isWord(text[i+1])
	case '~':
		return strings.HasPrefix(text[i:], "~~")
	case '&':
		return i+1 < len(text) && (isWord(text[i+1]) || text[i+1] == '#')
	case '<':
		return i+1 < len(text) && (isWord(text[i+1]) || strings.IndexByte("/!?", text[i+1]) >= 0)
	case ':':
		return strings.HasPrefix(text[i:], "://")
	}
	return true
}

// isWord knows ASCII letters and digits; what else is inside a word is left to the parser.
func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || isDigit(c)
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// Bounds of what is parsed.
const (
	maxDepth = 64      // containers that one line opens or goes on with
	maxCells = 1 << 15 // of a table
	maxMarks = 1000    // of one paragraph
)

// tooDeep reports whether the parser would take more than linear time or memory on a chunk.
func tooDeep(text string) bool {
	pipes, rows := 0, 0
	for len(text) > 0 {
		l, rest, _ := strings.Cut(text, "\n")
		text = rest
		if strings.TrimSpace(l) == "" {
			pipes, rows = 0, 0
			continue
		}
		rows++
		pipes = max(pipes, strings.Count(l, "|"))
		if pipes*rows > maxCells || depthOf(l) > maxDepth {
			return true
		}
	}
	return false
}

// depthOf counts the marks of containers that a line begins with.
func depthOf(l string) int {
	depth := 0
	for i := range len(l) {
		spaceNext := i+1 < len(l) && (l[i+1] == ' ' || l[i+1] == '\t')
		switch c := l[i]; {
		case c == '>', strings.IndexByte("-+*.)", c) >= 0 && spaceNext:
			depth++
		case c == ' ' || c == '\t' || isDigit(c):
		default:
			return depth
		}
	}
	return depth
}
