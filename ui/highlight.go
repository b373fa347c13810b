package ui

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"cordboard/ui/safe"
)

// needle is a text that is looked for, upper and lower case alike, as the engine's search does.
type needle struct {
	text   string // as it was asked for
	folded []rune // as it stands on the screen, in lower case
}

func newNeedle(text string) needle {
	shown := safe.Line(text)
	folded := make([]rune, 0, len(shown))
	for _, r := range shown {
		folded = append(folded, unicode.ToLower(r))
	}
	return needle{text, folded}
}

func (n needle) set() bool { return len(n.folded) > 0 }

// in reports whether a text on the screen, without colours, holds it.
func (n needle) in(text string) bool {
	var f flow
	f.add(text, 0, len(text))
	return n.set() && f.find(n, func(int, int) bool { return false })
}

// flow is text that was broken into lines, as it reads: a break stands for a blank or for nothing.
type flow struct {
	text  strings.Builder
	lines []string
	from  []int // where each line begins in text
	skip  []int // bytes of each line before what is in text
}

// add goes on with line[start:end].
func (f *flow) add(line string, start, end int) {
	if len(f.lines) > 0 {
		f.text.WriteByte('\n')
	}
	f.lines, f.from, f.skip = append(f.lines, line), append(f.from, f.text.Len()), append(f.skip, start)
	f.text.WriteString(line[start:end])
}

// find calls found with every match as a range of text until it returns false, and reports whether there was one.
func (f *flow) find(n needle, found func(start, end int) bool) (any bool) {
	text := f.text.String()
	for i := 0; i < len(text); {
		w, ok := n.prefix(text[i:])
		if !ok {
			_, size := utf8.DecodeRuneInString(text[i:])
			i += size
			continue
		}
		any = true
		if !found(i, i+w) {
			break
		}
		i += max(w, 1)
	}
	return any
}

// prefix reports whether a text begins with the needle, and in how many bytes.
func (n needle) prefix(text string) (bytes int, ok bool) {
	at := 0
	for i, want := range n.folded {
		r, size := utf8.DecodeRuneInString(text[at:])
		if r == '\n' && i > 0 && want != ' ' { // a word longer than the line, or one that needs no blanks
			at++
			r, size = utf8.DecodeRuneInString(text[at:])
		}
		if r == '\n' && i > 0 {
			r = ' '
		}
		if size == 0 || unicode.ToLower(r) != want {
			return 0, false
		}
		at += size
	}
	return at, true
}

// span is a piece of a line, in bytes.
type span struct{ start, end int }

// matches are the pieces of each line that belong to a match.
func (f *flow) matches(n needle) [][]span {
	out := make([][]span, len(f.lines))
	if !n.set() {
		return out
	}
	f.find(n, func(start, end int) bool {
		for l := f.lineAt(start); l < len(f.lines) && f.from[l] < end; l++ {
			base := f.from[l] - f.skip[l]
			a, b := max(start, f.from[l])-base, end-base
			if l+1 < len(f.lines) {
				b = min(b, f.from[l+1]-1-base)
			}
			if a < b {
				a = clusterStart(f.lines[l], a)
				out[l] = append(out[l], span{a, clusterEnd(f.lines[l], a, b)})
			}
		}
		return true
	})
	return out
}

// first is the line in which the first match begins.
func (f *flow) first(n needle) (l int, ok bool) {
	ok = n.set() && f.find(n, func(start, _ int) bool { l = f.lineAt(start); return false })
	return l, ok
}

func (f *flow) lineAt(i int) int {
	l, exact := slices.BinarySearch(f.from, i)
	if !exact {
		l--
	}
	return l
}

// clusterStart is where the grapheme cluster around byte i begins: a colour inside one would tear it apart.
func clusterStart(s string, i int) int { return i - within(s, i) }

// clusterEnd is the end of the cluster that ends at or after byte i.
func clusterEnd(s string, from, i int) int {
	for at := from; at < len(s); {
		cluster, _ := ansi.FirstGraphemeCluster(s[at:], ansi.GraphemeWidth)
		at += max(len(cluster), 1)
		if at >= i {
			return at
		}
	}
	return len(s)
}

// within is how many bytes of a cluster stand before byte i.
func within(s string, i int) int {
	for at := 0; at < i; {
		cluster, _ := ansi.FirstGraphemeCluster(s[at:], ansi.GraphemeWidth)
		next := at + max(len(cluster), 1)
		if next > i {
			return i - at
		}
		at = next
	}
	return 0
}

// paintSpans lays an ink over pieces of a line that is painted already. Its cells stay as they are: only colours are written.
func paintSpans(line string, spans []span, over ink) string {
	if len(spans) == 0 || over.before == "" {
		return line
	}
	_, at := bare(line)
	out, done := painter{line: line, at: at}, 0
	for _, s := range spans {
		if s.start = max(s.start, done); s.start < s.end {
			out.paint(s.start, s.end, over)
			done = s.end
		}
	}
	return out.end()
}

// bare is a line without its colours, and for each of its bytes where it stands in the line.
func bare(line string) (plain string, at []int) {
	var out strings.Builder
	for i := 0; i < len(line); {
		if n := colour(line[i:]); n > 0 {
			i += n
			continue
		}
		out.WriteByte(line[i])
		at = append(at, i)
		i++
	}
	return out.String(), at
}

// colour is the length of the colour sequence a text begins with, 0 for none. Lines hold no other sequences.
func colour(s string) int {
	if !strings.HasPrefix(s, "\x1b[") {
		return 0
	}
	for i := 2; i < len(s); i++ {
		switch c := s[i]; {
		case c == 'm':
			return i + 1
		case c != ';' && c != ':' && (c < '0' || c > '9'):
			return 0
		}
	}
	return 0
}

// painter copies a painted line and lays inks over parts of it.
type painter struct {
	line string
	at   []int // of each visible byte in line
	out  strings.Builder
	done int    // line up to here is in out
	ink  string // colours in force there
}

// copy writes the line up to i; of what is covered only the colours are remembered.
func (p *painter) copy(i int, covered bool) {
	for p.done < i {
		n := colour(p.line[p.done:])
		if n == 0 {
			n = 1
		}
		piece := p.line[p.done : p.done+n]
		p.done += n
		switch {
		case n == 1 || piece[0] != 0x1b:
			p.out.WriteString(piece)
			continue
		case piece == "\x1b[0m" || piece == "\x1b[m":
			p.ink = ""
		default:
			p.ink += piece
		}
		if !covered {
			p.out.WriteString(piece)
		}
	}
}

func (p *painter) paint(start, end int, over ink) {
	p.copy(p.at[start], false)
	if p.ink != "" {
		p.out.WriteString("\x1b[0m")
	}
	p.out.WriteString(over.before)
	p.copy(p.at[end-1]+1, true)
	p.out.WriteString(over.after)
	p.out.WriteString(p.ink)
}

func (p *painter) end() string {
	p.out.WriteString(p.line[p.done:])
	return p.out.String()
}
