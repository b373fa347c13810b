package ui

import "cordboard/core"

// items are the transcript's messages as drawn: taken apart once and wrapped part by part, the most recently seen ones kept.
type items struct {
	maker entryMaker
	all   map[uint64]*item
	tick  uint64
	bytes int
}

type item struct {
	*entry
	drawn [][]string // part → its lines, nil until it is seen
	wide  int        // widest line drawn, when lines do not wrap
	size  int
	used  uint64
}

// Bounds of what is kept drawn.
const (
	keepItems = 512
	keepBytes = 16 << 20
)

func newItems(maker entryMaker) *items { return &items{maker: maker, all: map[uint64]*item{}} }

func (c *items) clear() {
	clear(c.all)
	c.bytes = 0
}

func (c *items) forget(seq uint64) {
	if it := c.all[seq]; it != nil {
		c.bytes -= it.size
		delete(c.all, seq)
	}
}

func (c *items) get(m, before *core.Message, opened *bool) *item {
	c.tick++
	if it := c.all[m.Seq]; it != nil {
		it.used = c.tick
		return it
	}
	if len(c.all) >= keepItems || c.bytes > keepBytes {
		c.evict()
	}
	return c.put(m.Seq, c.maker.opened(opened).make(m, before))
}

// getPartial is get for what a live run is saying.
func (c *items) getPartial(p *partial, held []core.Message, opened *bool) *item {
	c.tick++
	if it := c.all[p.message.Seq]; it != nil {
		it.used = c.tick
		return it
	}
	var before *core.Message
	if n := len(held); n > 0 {
		before = &held[n-1]
	}
	return c.put(p.message.Seq, c.maker.opened(opened).speaking(p, before))
}

func (c *items) put(seq uint64, e *entry) *item {
	it := &item{entry: e, used: c.tick, drawn: make([][]string, len(e.parts))}
	for i := range it.parts {
		it.size += len(it.parts[i].text) + it.parts[i].md.Size()
	}
	c.bytes += it.size
	c.all[seq] = it
	return it
}

// evict drops what was not used in the last half of the bound; it runs once in so many gets that it costs nothing.
func (c *items) evict() {
	for seq, it := range c.all {
		if it.used+keepItems/2 < c.tick {
			c.forget(seq)
		}
	}
	if len(c.all) >= keepItems || c.bytes > keepBytes {
		c.clear()
	}
}

func (t *transcript) item(i int) *item {
	if i == len(t.held) {
		return t.items.getPartial(t.partial, t.held, t.opened(t.partial.message.Seq))
	}
	var before *core.Message
	if i > 0 {
		before = &t.held[i-1]
	} else if t.more {
		before = &t.held[0] // what stands above is not here: no divider until it is
	}
	return t.items.get(&t.held[i], before, t.opened(t.held[i].Seq))
}

// linesOf are the lines of a part of the message held at i, all as wide as the pane.
func (t *transcript) linesOf(i, p int) []string {
	it := t.item(i)
	if it.drawn[p] == nil {
		d := partDrawer{k: t.items.maker.k, md: t.items.maker.md, marks: t.items.maker.marks, w: t.w, wrap: t.read.wrap, shift: t.shift}
		it.drawn[p] = d.draw(it.entry, p)
		it.wide = max(it.wide, d.wide)
		for _, l := range it.drawn[p] {
			it.size += len(l)
			t.items.bytes += len(l)
		}
	}
	return it.drawn[p]
}

// spot is a place by the message's index in what is held.
type spot struct{ i, part, line int }

func (t *transcript) spotOf(p place) spot {
	i, ok := t.index(p.seq)
	if !ok {
		return spot{i: min(i, t.count()-1)}
	}
	return spot{i, p.part, p.line}
}

func (t *transcript) placeOf(s spot) place { return place{t.message(s.i).Seq, s.part, s.line} }

// settled is s, or when there is no such line the nearest one: parts change when they are folded, lines when the pane is resized.
func (t *transcript) settled(s spot) (spot, bool) {
	if n := len(t.item(s.i).parts); s.part >= n {
		s.part, s.line = max(n-1, 0), 0
	}
	if len(t.item(s.i).parts) > 0 {
		if n := len(t.linesOf(s.i, s.part)); s.line < n {
			return s, true
		} else if n > 0 {
			s.line = n - 1
			return s, true
		}
	}
	if next, ok := t.next(s); ok {
		return next, true
	}
	return t.prev(s)
}

// next is the line after s, false at the end of what is held.
func (t *transcript) next(s spot) (spot, bool) {
	if len(t.item(s.i).parts) > 0 && s.line+1 < len(t.linesOf(s.i, s.part)) {
		s.line++
		return s, true
	}
	for s.part++; ; s.part++ {
		for s.part >= len(t.item(s.i).parts) {
			if s.i+1 >= t.count() {
				return s, false
			}
			s = spot{i: s.i + 1}
		}
		if len(t.linesOf(s.i, s.part)) > 0 {
			s.line = 0
			return s, true
		}
	}
}

// prev is the line before s, false at the beginning of what is held.
func (t *transcript) prev(s spot) (spot, bool) {
	if s.line > 0 {
		s.line--
		return s, true
	}
	for {
		for s.part--; s.part < 0; s.part-- {
			if s.i == 0 {
				return s, false
			}
			s.i--
			s.part = len(t.item(s.i).parts)
		}
		if n := len(t.linesOf(s.i, s.part)); n > 0 {
			s.line = n - 1
			return s, true
		}
	}
}

// end is the last line of what is held.
func (t *transcript) end() (spot, bool) {
	i := t.count() - 1
	return t.prev(spot{i: i, part: len(t.item(i).parts)})
}

// up is s moved n lines up, as far as there are any.
func (t *transcript) up(s spot, n int) spot {
	for ; n > 0; n-- {
		above, ok := t.prev(s)
		if !ok {
			break
		}
		s = above
	}
	return s
}

// scroll moves the screen by lines. Moving up stops following; reaching the end takes it up again.
func (t *transcript) scroll(by int) {
	if t.count() == 0 {
		return
	}
	t.dirty = true
	s, ok := t.settled(t.spotOf(t.top))
	if !ok {
		return
	}
	if by < 0 {
		t.unfollow()
		t.top = t.placeOf(t.up(s, -by))
		return
	}
	for ; by > 0; by-- {
		below, ok := t.next(s)
		if !ok {
			break
		}
		s = below
	}
	if lowest, ok := t.lowest(); ok && !before(s, lowest) {
		s = lowest
		if !t.below {
			t.follow, t.unseen = true, 0
		}
	}
	t.top = t.placeOf(s)
}

// lowest is the top of the screen that shows the end of what is held.
func (t *transcript) lowest() (spot, bool) {
	end, ok := t.end()
	if !ok {
		return end, false
	}
	return t.up(end, t.h-1), true
}

func before(a, b spot) bool {
	if a.i != b.i {
		return a.i < b.i
	}
	if a.part != b.part {
		return a.part < b.part
	}
	return a.line < b.line
}

// resize sets the size of the inside.
func (t *transcript) resize(w, h int) {
	if w != t.w {
		t.items.clear()
	}
	if w != t.w || h != t.h {
		t.w, t.h, t.dirty = w, h, true
	}
}

// settle lays out the lines on the screen from the top's place. It happens when something changed, never while drawing.
func (t *transcript) settle() {
	t.lines, t.spots = t.lines[:0], t.spots[:0]
	t.last, t.wide = 0, 0
	if t.count() == 0 || t.h <= 0 || t.w <= 0 {
		return
	}
	s, ok := t.settled(t.spotOf(t.top))
	if lowest, any := t.lowest(); any && (t.follow || !ok || !t.below && before(lowest, s)) {
		s, ok = lowest, true
	}
	if !ok {
		return
	}
	t.top = t.placeOf(s)
	for len(t.lines) < t.h {
		t.lines, t.spots = append(t.lines, t.linesOf(s.i, s.part)[s.line]), append(t.spots, s)
		t.last = t.message(s.i).Seq
		t.wide = max(t.wide, t.item(s.i).wide)
		if s, ok = t.next(s); !ok {
			break
		}
	}
	t.holdCursor()
}
