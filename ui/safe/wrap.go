package safe

import (
	"strings"
	"unicode/utf8"
)

// narrowMark stands for a cluster that does not fit: one cell in every terminal.
const narrowMark = "▯"

// Runes that may not begin or end a line next to a wide rune (kinsoku).
const (
	notFirst = "、。，．・：；？！）］｝〕〉》」』】〗〙〟’”…‥ー々〻ぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮヵヶ,.:;?!)]}%"
	notLast  = "（［｛〔〈《「『【〖〘〝‘“([{"
)

// Wrap breaks s into lines of at most w cells. Newlines break; then spaces (dropped at the break) and the gaps between wide cells,
// except before closing and after opening punctuation; then any cluster of a word longer than a line. Indentation stays on the
// first line. A wide cluster at w = 1 becomes ▯. There is always one line at least; w < 1 gives none. Lines share s's memory.
func Wrap(s string, w int) []string {
	if w < 1 {
		return nil
	}
	var lines []string
	for {
		line, rest, more := strings.Cut(s, "\n")
		lines = wrapLine(lines, line, w, nil)
		if !more {
			return lines
		}
		s = rest
	}
}

// WrapAt is Wrap for one line, s has no newline. It also returns the byte of s at which each line begins, for text with marks by
// position.
func WrapAt(s string, w int) (lines []string, starts []int) {
	if w < 1 {
		return nil, nil
	}
	lines = wrapLine(nil, s, w, &starts)
	return lines, starts
}

func wrapLine(lines []string, s string, w int, starts *[]int) []string {
	p := wrapper{src: s, limit: w, lines: lines, starts: starts}
	if len(s) <= w { // no cluster has more cells than bytes
		p.add(s, 0)
		return p.lines
	}
	for i := 0; i < len(s); {
		n, cells := next(s[i:])
		if isSpace(s[i : i+n]) {
			i = p.space(i, n, cells)
		} else {
			p.cluster(i, n, cells)
			i += n
		}
	}
	return p.finish(len(lines))
}

// wrapper holds the line being filled: src[start:] has width cells so far, and the last place where it may end.
type wrapper struct {
	src    string
	limit  int
	lines  []string
	starts *[]int // where they begin in src, when somebody asks

	start, width        int
	hasText             bool // more than indentation
	prev                int  // start of the cluster before, of prevCells; a space counts 0 cells
	prevCells           int
	breakEnd, breakNext int // the line may end at breakEnd, the next begins at breakNext
	breakWidth          int // cells of src[start:breakNext]
	lastWasSpace        bool
}

// space adds a space and returns where to go on.
func (p *wrapper) space(i, n, cells int) int {
	if p.width+cells <= p.limit {
		p.width += cells
		if p.hasText {
			if !p.lastWasSpace {
				p.breakEnd = i
			}
			p.breakNext, p.breakWidth = i+n, p.width
		}
		p.lastWasSpace = true
		return i + n
	}
	end := i
	if p.hasText && p.lastWasSpace {
		end = p.breakEnd
	}
	for i < len(p.src) {
		n, _ := next(p.src[i:])
		if !isSpace(p.src[i : i+n]) {
			break
		}
		i += n
	}
	p.emit(end, i, 0)
	return i
}

// cluster adds anything but a space.
func (p *wrapper) cluster(i, n, cells int) {
	if i > p.start && !p.lastWasSpace && p.mayBreak(i, n, cells) {
		p.breakEnd, p.breakNext, p.breakWidth = i, i, p.width
	}
	for p.width+cells > p.limit {
		switch {
		case p.breakNext > p.start:
			p.emit(p.breakEnd, p.breakNext, p.width-p.breakWidth)
		case i > p.start:
			p.emit(i, i, 0)
		default:
			p.add(narrowMark, i)
			p.start = i + n
			return
		}
	}
	p.width += cells
	p.hasText, p.lastWasSpace = true, false
	p.prev, p.prevCells = i, cells
}

func (p *wrapper) add(line string, start int) {
	p.lines = append(p.lines, line)
	if p.starts != nil {
		*p.starts = append(*p.starts, start)
	}
}

func (p *wrapper) emit(end, start, width int) {
	p.add(p.src[p.start:end], p.start)
	p.start, p.width = start, width
	p.hasText, p.lastWasSpace = width > 0, false
}

func (p *wrapper) mayBreak(i, n, cells int) bool {
	if cells < 2 && p.prevCells < 2 {
		return false
	}
	first, _ := utf8.DecodeRuneInString(p.src[i : i+n])
	last, _ := utf8.DecodeRuneInString(p.src[p.prev:i])
	return !strings.ContainsRune(notFirst, first) && !strings.ContainsRune(notLast, last)
}

// finish emits what is left; a paragraph that ended in dropped spaces has nothing left.
func (p *wrapper) finish(before int) []string {
	if p.start < len(p.src) || len(p.lines) == before {
		p.add(p.src[p.start:], p.start)
	}
	return p.lines
}

func isSpace(cluster string) bool { return cluster == " " || cluster == "\u3000" }
