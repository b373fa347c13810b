package md

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"cordboard/ui/safe"
)

// rich is sanitised text of one line with its spans, nil when all of it is in style Text.
type rich struct {
	text  string
	spans []Span
}

// inStyle is sanitised text in one style.
func inStyle(text string, style Style) rich {
	if text == "" || style == Text {
		return rich{text: text}
	}
	return rich{text, []Span{{End: len(text), Style: style}}}
}

// slice is the text from byte i to j, with before and after it text of ours.
func (r rich) slice(i, j int, before, after string) rich {
	text := r.text[i:j]
	if before != "" || after != "" {
		text = before + text + after
	}
	if r.spans == nil && after == "" {
		return rich{text: text}
	}
	out := rich{text: text, spans: make([]Span, 0, len(r.spans)+2)}
	if before != "" {
		out.spans = append(out.spans, Span{End: len(before)})
	}
	shift := len(before) - i
	if r.spans == nil && i < j {
		out.spans = append(out.spans, Span{Start: len(before), End: len(before) + j - i})
	}
	for _, s := range r.spans {
		if start, end := max(s.Start, i), min(s.End, j); start < end {
			out.spans = append(out.spans, Span{start + shift, end + shift, s.Style, s.Link})
		}
	}
	if after != "" {
		out.spans = append(out.spans, Span{len(text) - len(after), len(text), Mark, nil})
	}
	return out
}

// wrap breaks r into lines of at most w cells.
func (r rich) wrap(w int) []rich {
	if len(r.text) <= w {
		return []rich{r}
	}
	lines, starts := safe.WrapAt(r.text, w)
	out := make([]rich, len(lines))
	for i, l := range lines {
		start, end := starts[i], starts[i]+len(l)
		if end > len(r.text) || r.text[start:end] != l {
			out[i] = rich{text: l} // the mark for what is too wide
			continue
		}
		out[i] = r.slice(start, end, "", "")
	}
	return out
}

// window is the part of r in the cells [from, from+w).
func (r rich) window(from, w int) rich {
	lead, start, end, mark := safe.Window(r.text, from, w)
	if start == 0 && end == len(r.text) {
		return r
	}
	return r.slice(start, end, spaces(lead), mark)
}

func spaces(n int) string { return strings.Repeat(" ", n) }

// richer collects what stands on one line, as it is stored, and sanitises it at the end.
type richer struct {
	raw   []byte
	spans []Span
}

// add appends text of one line.
func (b *richer) add(text string, style Style, link *Hyperlink) {
	if text == "" {
		return
	}
	n := len(b.spans)
	if n > 0 && joins(b.raw, text) {
		style, link = b.spans[n-1].Style, b.spans[n-1].Link // a style does not change inside a cluster
	}
	start := len(b.raw)
	b.raw = append(b.raw, text...)
	if n > 0 && b.spans[n-1].Style == style && b.spans[n-1].Link == link {
		b.spans[n-1].End = len(b.raw)
		return
	}
	b.spans = append(b.spans, Span{start, len(b.raw), style, link})
}

// joins reports whether the beginning of text would be drawn as one with the end of before.
func joins(before []byte, text string) bool {
	if len(before) == 0 || before[len(before)-1] < utf8.RuneSelf || text[0] < utf8.RuneSelf {
		return false
	}
	first, n := utf8.DecodeRuneInString(text)
	base := len(before)
	for base > 0 && len(before)-base < 64 {
		r, size := utf8.DecodeLastRune(before[:base])
		base -= size
		if !unicode.In(r, unicode.M, unicode.Cf) {
			break
		}
	}
	last := string(before[base:])
	cluster, _ := ansi.FirstGraphemeCluster(last+text[:n], ansi.GraphemeWidth)
	return len(cluster) > len(last) && !unicode.Is(unicode.M, first)
}

// take returns the line, cleaned, and begins the next.
func (b *richer) take(clean func(string) string) rich {
	spans := b.spans
	if len(spans) == 1 && spans[0].Style == Text && spans[0].Link == nil {
		spans = nil
	}
	text := string(b.raw)
	b.raw, b.spans = b.raw[:0], nil
	if isPrintable(text) {
		return rich{text, spans}
	}
	if spans == nil {
		return rich{text: cleanAt(text, 0, clean)}
	}
	var out strings.Builder
	cells := 0
	for i := range spans {
		start := out.Len()
		part := cleanAt(text[spans[i].Start:spans[i].End], cells, clean)
		out.WriteString(part)
		cells += safe.Width(part)
		spans[i].Start, spans[i].End = start, out.Len()
	}
	return rich{out.String(), spans}
}

func isPrintable(s string) bool {
	for i := range len(s) {
		if s[i] < 0x20 || s[i] >= 0x7f {
			return false
		}
	}
	return true
}

// cleanAt cleans text that begins in column cells, with its tabs expanded.
func cleanAt(text string, cells int, clean func(string) string) string {
	part, rest, more := strings.Cut(text, "\t")
	if !more {
		return clean(text)
	}
	var out strings.Builder
	part = clean(part)
	for out.WriteString(part); more; out.WriteString(part) {
		cells += safe.Width(part)
		n := safe.TabStop - cells%safe.TabStop
		out.WriteString(spaces(n - 1))
		cells += n - 1
		part, rest, more = strings.Cut(rest, "\t")
		part = clean(" " + part) // what combines does so with the space
	}
	return out.String()
}
