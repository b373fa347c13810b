package ui

import (
	"strconv"
	"time"

	"cordboard/ui/safe"
)

// Widths from which on both sides stand beside each other, and from which on the target's is at least set in, in cells.
const (
	twoSides  = 92
	setInFrom = 56
)

// Lines of a text that are shown of it, and when it is asked for whole.
const (
	sceneLines = 8
	sceneWhole = 2000
)

// scenery draws the scenes of a timeline.
type scenery struct {
	k     *inks
	tl    *timeline
	names func(key string) string
	zone  *time.Location
	w     int
	most  int // lines of a text
}

func newScenery(m *Model, v *timeline) scenery {
	d := scenery{k: m.k, tl: v, names: m.placed, zone: m.env.Zone, w: v.w, most: sceneLines}
	if v.whole {
		d.most = sceneWhole
	}
	return d
}

func (d *scenery) beside() bool { return d.w >= twoSides }

// sides is how wide each side is beside the spine between them.
const spine = 5

func (d *scenery) sides() (left, right int) {
	left = (d.w - spine) / 2
	return left, d.w - spine - left
}

func (d *scenery) draw() (lines []string, spans []reach) {
	for i := range d.tl.scenes {
		s := &d.tl.scenes[i]
		from := len(lines)
		lines = append(lines, d.scene(s, i == d.tl.rows.index)...)
		spans = append(spans, reach{from, len(lines)})
		if i < len(d.tl.scenes)-1 {
			lines = append(lines, d.gap())
		}
	}
	return lines, spans
}

// gap is the line between two scenes.
func (d *scenery) gap() string {
	if !d.beside() {
		return newLine(d.w).end(d.k.text)
	}
	left, _ := d.sides()
	return newLine(d.w).space(d.k.text, left).add(d.k.guide, "  │  ").end(d.k.text)
}

func (d *scenery) scene(s *scene, here bool) []string {
	w := d.w
	switch left, right := d.sides(); {
	case s.session == "":
	case !d.beside() && s.right && d.w >= setInFrom:
		w -= 4
	case !d.beside():
	case s.right:
		w = right
	default:
		w = left
	}
	inner := d.content(s, here, w)
	out := make([]string, len(inner))
	for i, text := range inner {
		out[i] = d.placed(s, text, i == 0)
	}
	return out
}

// placed puts a line of a scene on its side.
func (d *scenery) placed(s *scene, text string, first bool) string {
	k := d.k
	if !d.beside() || s.session == "" {
		if s.right && d.w >= setInFrom {
			return newLine(4).end(k.text) + text
		}
		return text
	}
	left, right := d.sides()
	joint := "  │  "
	switch {
	case first && s.right:
		joint = "  ├─▸"
	case first:
		joint = "◂─┤  "
	}
	mid := newLine(spine).add(k.guide, joint).end(k.text)
	if s.right {
		return newLine(left).end(k.text) + mid + text
	}
	return text + mid + newLine(right).end(k.text)
}

// content is a scene as lines of w cells: its head, then what was said.
func (d *scenery) content(s *scene, here bool, w int) []string {
	k := d.k
	bar, edge := "▎", k.accent
	switch {
	case s.session == "":
		edge = k.guide
	case s.right:
		edge = k.accent2
	}
	head := k.muted
	if here {
		bar, head = "▌", k.strong
	}
	l := newLine(w).add(edge, bar+" ")
	if s.at > 0 {
		l.add(k.dim, time.UnixMilli(s.at).In(d.zone).Format("15:04:05")+" ")
	}
	if !d.beside() && s.session != "" {
		l.add(k.strong, safe.Cut(d.names(s.session), max(l.left/2, 8))+" ")
	}
	l.add(head, s.name)
	if s.state.text != "" {
		l.add(k.dim, " · ").add(s.state.ink, s.state.text)
	}
	out := []string{l.add(k.dim, prefixed(" · ", s.note)).end(k.text)}
	lines, more := excerpt(s.text, w-3, d.most)
	for _, text := range lines {
		out = append(out, newLine(w).add(edge, bar+" ").add(s.paint, text).end(k.text))
	}
	if more {
		out = append(out, newLine(w).add(edge, bar+" ").add(k.dim, "… i shows all of it").end(k.text))
	}
	return out
}

func (v *timeline) draw(m *Model) []string {
	w, h := m.stageSize()
	b := box{title: []run{{m.k.titleFocus, "Exchange"}}, focus: true, lines: v.inside(m, w-2, h-2)}
	if d := v.detail; d != nil {
		b.title = []run{{m.k.titleFocus, m.placed(d.RequesterKey) + " ⇄ " + m.placed(d.TargetKey)}}
		b.note = []run{{m.k.dim, "chain " + safe.Line(d.ChainID) + " · hop " + strconv.Itoa(d.Hop)}}
	}
	if v.top+v.room() < len(v.lines) {
		b.foot = []run{{m.k.dim, "↓ more"}}
	}
	return b.draw(m.k, w, h)
}

func (v *timeline) inside(m *Model, w, h int) []string {
	k := m.k
	switch {
	case v.err != nil:
		return m.passages(w, h, []passage{{k.text, ""}, {k.err, "This exchange could not be read."}, {k.muted, safe.Line(v.err.Error())}})
	case v.detail == nil:
		return m.passages(w, h, []passage{{k.text, ""}, {k.dim, "reading…"}})
	}
	lines := append(v.head(m, w), v.lines[v.top:min(v.top+v.room(), len(v.lines))]...)
	return lines[:min(len(lines), h)]
}

// headLines is how many lines stand above the scenes: both sides where they are beside each other, the state, a blank.
func headLines(w int) int {
	if w >= twoSides {
		return 3
	}
	return 2
}

// head tells who is on which side and how things stand.
func (v *timeline) head(m *Model, w int) []string {
	k, x := m.k, &v.detail.Exchange
	d := newScenery(m, v)
	var lines []string
	if d.beside() {
		left, _ := d.sides()
		who := newLine(w).add(k.strong, safe.Fit(" "+safe.Line(x.RequesterKey), left)).add(k.guide, "  ⇄   ").add(k.strong, safe.Line(x.TargetKey))
		lines = append(lines, who.end(k.text))
	}
	glyph, words, paint := exchangeSign(&k.shades, x)
	how := newLine(w).add(paint, " "+glyph+" "+words)
	if story := m.exchangeStory(x); safe.Width(story)+2 <= how.left {
		how.add(k.muted, "  "+story) // else the end tells it
	}
	return append(lines, how.end(k.text), d.gap())
}
