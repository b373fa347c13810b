package md

import "strings"

// fence is the line that opens a code block; length 0 is none.
type fence struct {
	char   byte
	length int
	info   string
}

// fenceOf reads a line without its indentation.
func fenceOf(rest string) fence {
	if rest == "" || rest[0] != '`' && rest[0] != '~' {
		return fence{}
	}
	n := run(rest)
	info := strings.Trim(rest[n:], blanks)
	if n < 3 || rest[0] == '`' && strings.Contains(info, "`") {
		return fence{}
	}
	return fence{rest[0], n, info}
}

func (f fence) closes(rest string) bool {
	if rest == "" || rest[0] != f.char {
		return false
	}
	n := run(rest)
	return n >= f.length && strings.Trim(rest[n:], blanks) == ""
}

// run is how often s repeats its first byte at its beginning.
func run(s string) int {
	n := 1
	for n < len(s) && s[n] == s[0] {
		n++
	}
	return n
}

// item is the marker of a list item; width 0 is none.
type item struct {
	width  int  // columns from the marker to the item's text
	marker byte // - + * . )
	number int  // of an ordered one; 1 for a bullet
	hollow bool // nothing but marks follows: where it ends depends on the next lines
}

// itemOf reads the list marker that a line begins with.
func itemOf(l line) item {
	rest := l.rest
	if l.indent > 3 || rest == "" || isRule(rest) {
		return item{}
	}
	n, number := 0, 0
	for n < len(rest) && n < 10 && isDigit(rest[n]) {
		number = number*10 + int(rest[n]-'0')
		n++
	}
	if n > 9 || n == len(rest) {
		return item{}
	}
	switch c := rest[n]; {
	case n == 0 && (c == '-' || c == '+' || c == '*'):
		number = 1
	case n > 0 && (c == '.' || c == ')'):
	default:
		return item{}
	}
	it := item{marker: rest[n], number: number}
	n++
	spaces := 0
	for i := n; i < len(rest); i++ {
		if rest[i] == '\t' {
			spaces += 4 - (l.indent+n+spaces)%4
		} else if rest[i] == ' ' {
			spaces++
		} else {
			break
		}
	}
	it.hollow = strings.Trim(rest[n:], blanks+"-+*.)>0123456789") == ""
	switch {
	case strings.Trim(rest[n:], blanks) == "":
		spaces = 1
	case spaces == 0:
		return item{}
	case spaces > 4:
		spaces = 1
	}
	it.width = n + spaces
	return it
}

// isRule reports whether a line without its indentation is a thematic break.
func isRule(rest string) bool {
	if rest == "" || rest[0] != '-' && rest[0] != '*' && rest[0] != '_' {
		return false
	}
	n := 0
	for i := range len(rest) {
		switch rest[i] {
		case rest[0]:
			n++
		case ' ', '\t', '\r':
		default:
			return false
		}
	}
	return n > 2
}
