package ui

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"cordboard/ui/md"
	"cordboard/ui/safe"
)

// margin is what the stripe at the left of an entry, the space after it and the one at the right edge take.
const margin = 3

// partDrawer turns a part into lines of exactly w cells.
type partDrawer struct {
	k     *inks
	md    *md.Renderer
	marks bool // Markdown keeps its own
	w     int
	wrap  bool
	shift int // first column of lines that do not wrap
	wide  int // widest of them
}

func (d *partDrawer) draw(e *entry, p int) []string {
	switch part := &e.parts[p]; part.kind {
	case partGap:
		return d.gap(e)
	case partRule:
		return []string{d.rule(part.ink, part.text)}
	case partOneLine:
		l := d.begin(e).addAll(part.lead).add(part.ink, part.text)
		for _, r := range part.tail {
			if safe.Width(r.text) <= l.left {
				l.add(r.ink, r.text)
			}
		}
		return []string{d.end(l)}
	case partMarkdown:
		return d.markdown(e, part)
	default:
		return d.text(e, part)
	}
}

func (d *partDrawer) begin(e *entry) *line {
	return newLine(d.w-1).add(e.bar, "▎").add(d.k.text, " ")
}

// end closes what begin opened.
func (d *partDrawer) end(l *line) string {
	l.space(d.k.text, l.left)
	l.left = min(d.w, 1)
	return l.end(d.k.text)
}

// gap is what stands between an entry and the one before it.
func (d *partDrawer) gap(e *entry) []string {
	blank := newLine(d.w).end(d.k.text)
	switch {
	case e.day != "" && e.top:
		return []string{d.rule(d.k.dim, e.day)}
	case e.day != "":
		return []string{blank, d.rule(d.k.dim, e.day)}
	case e.quiet || e.top:
		return []string{}
	}
	return []string{blank}
}

func (d *partDrawer) rule(k ink, text string) string {
	l := newLine(d.w).add(k, "── ")
	l.add(k, safe.Cut(text, l.left-3)).add(k, " ")
	return l.fill(k, "─", 0).end(d.k.text)
}

func (d *partDrawer) text(e *entry, p *part) []string {
	w := max(d.w-margin, 1)
	var lines []string
	if d.wrap {
		lines = safe.Wrap(p.text, w)
	} else {
		lines = strings.Split(p.text, "\n")
	}
	out := make([]string, 0, len(lines))
	for _, text := range lines {
		if !d.wrap {
			full := safe.Width(text)
			d.wide = max(d.wide, full)
			text = safe.Cut(ansi.Cut(text, d.shift, max(full, d.shift)), w)
		}
		out = append(out, d.end(d.begin(e).add(p.ink, text)))
	}
	return out
}

func (d *partDrawer) markdown(e *entry, p *part) []string {
	o := md.Options{Wrap: md.WrapAll, Shift: d.shift, ASCII: d.marks || d.k.plain()}
	if !d.wrap {
		o.Wrap = md.WrapNone
	}
	drawn := d.md.Draw(p.md, max(d.w-margin, 1), o)
	if !d.wrap {
		d.wide = max(d.wide, drawn.Wide)
	}
	out := make([]string, 0, len(drawn.Lines))
	for _, text := range drawn.Lines {
		l := d.begin(e)
		for style, piece := range text.Pieces() {
			l.add(d.k.md[style], piece)
		}
		out = append(out, d.end(l))
	}
	return out
}
