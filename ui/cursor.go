package ui

import (
	"cordboard/core"
	"cordboard/ui/safe"
)

// messageCursor is the message that enter and copy mean. It is held by seq; while it is not set it is the newest message that is followed.
type messageCursor struct {
	seq    uint64          // chosen, 0 = none was
	at     uint64          // on the screen: seq, or the message on the screen that is nearest to it
	opened map[uint64]bool // messages that are unfolded (true) or folded (false) whatever holds for the others
}

// holdCursor keeps the cursor on the screen.
func (t *transcript) holdCursor() {
	t.cursor.at = 0
	for _, s := range t.spots {
		if t.item(s.i).parts[s.part].kind == partGap {
			continue
		}
		t.cursor.at = t.message(s.i).Seq
		if t.cursor.at >= t.cursor.seq && (t.cursor.seq > 0 || !t.follow) {
			break
		}
	}
	if t.cursor.seq > 0 || !t.follow {
		t.cursor.seq = t.cursor.at
	}
}

func (t *transcript) sighting() sighting { return sighting{t.top, t.cursor.at, t.follow} }

// unfollow lets the screen stay where it is.
func (t *transcript) unfollow() {
	if t.follow {
		t.follow, t.cursor.seq = false, t.cursor.at
	}
}

// current is the message under the cursor, nil where there is none or where it is still on its way. Several keys may have come at once:
// it is where the last of them put it.
func (t *transcript) current() *core.Message {
	if t.dirty {
		t.settle()
	}
	i, ok := t.index(t.cursor.at)
	if t.cursor.at == 0 || !t.known || !ok {
		return nil
	}
	m := t.message(i)
	if m.Raw == nil {
		m.Raw = t.partial.raw()
	}
	return m
}

// step moves the cursor to the next message (1) or the one before (-1) and brings it onto the screen. It reports false at the end.
func (t *transcript) step(by int) bool {
	if t.current() == nil {
		return false
	}
	for i := t.find(t.cursor.at) + by; i >= 0 && i < t.count(); i += by {
		first, last, ok := t.span(i)
		if !ok {
			continue
		}
		t.cursor.seq, t.cursor.at, t.dirty = t.message(i).Seq, t.message(i).Seq, true
		t.bring(first, last)
		if by < 0 {
			t.follow = false
		} else if t.atEnd(last) {
			t.follow, t.unseen, t.cursor.seq = true, 0, 0
		}
		return true
	}
	return false
}

// span is the first and the last line of the message held at i; ok is false for one that has no lines.
func (t *transcript) span(i int) (first, last spot, ok bool) {
	n := len(t.item(i).parts)
	for p := range n {
		if len(t.linesOf(i, p)) > 0 {
			last, _ = t.prev(spot{i: i, part: n})
			return spot{i: i, part: p}, last, true
		}
	}
	return first, last, false
}

// bring scrolls as little as shows the lines from first to last, or the beginning of them.
func (t *transcript) bring(first, last spot) {
	top, ok := t.settled(t.spotOf(t.top))
	switch lowest := t.up(last, t.h-1); {
	case !ok || before(first, top) || before(first, lowest):
		t.top = t.placeOf(first)
	case before(top, lowest):
		t.top = t.placeOf(lowest)
	}
}

// atEnd reports whether the screen now shows the last line there is, and this is it.
func (t *transcript) atEnd(last spot) bool {
	if t.below || last.i != t.count()-1 {
		return false
	}
	top, ok := t.settled(t.spotOf(t.top))
	return ok && !before(top, t.up(last, t.h-1))
}

// opened says how the message with a seq is folded, nil = as all are.
func (t *transcript) opened(seq uint64) *bool {
	if open, set := t.cursor.opened[seq]; set {
		return &open
	}
	return nil
}

// aim is the message under the cursor, or the one that is on its way there.
func (t *transcript) aim() uint64 {
	if t.seek != nil {
		return t.seek.seq
	}
	return t.cursor.at
}

// toggle unfolds the message under the cursor, or folds it when nothing in it is folded. It reports false when there is nothing to fold.
func (t *transcript) toggle() bool {
	m := t.current()
	if m == nil {
		return false
	}
	i := t.find(m.Seq)
	it := t.item(i)
	if it.folds == 0 {
		return false
	}
	followed := t.follow
	t.unfollow()
	t.unfold(m.Seq, it.folded > 0)
	if first, last, ok := t.span(i); ok {
		t.bring(first, last) // its beginning, however long it is now
		if followed && t.atEnd(last) {
			t.follow, t.cursor.seq = true, 0
		}
	}
	return true
}

func (t *transcript) unfold(seq uint64, open bool) {
	if t.cursor.opened == nil {
		t.cursor.opened = map[uint64]bool{}
	}
	t.cursor.opened[seq] = open
	t.items.forget(seq)
	t.dirty = true
}

// row is the first line on the screen of the message under the cursor.
func (t *transcript) row() int {
	for y, s := range t.spots {
		if t.message(s.i).Seq == t.cursor.at && t.item(s.i).parts[s.part].kind != partGap {
			return y
		}
	}
	return 0
}

// pointTo puts the cursor on the message at a line of the screen.
func (t *transcript) pointTo(y int) {
	if y < 0 || y >= len(t.spots) {
		return
	}
	t.unfollow()
	t.cursor.seq, t.dirty = t.message(t.spots[y].i).Seq, true
}

// pointInTranscript is where the terminal's own cursor belongs in the transcript: in the search line, else on the message.
func (m *Model) pointInTranscript(r rect) (x, y int) {
	switch {
	case m.find.editing:
		return r.x + 4 + safe.Width(safe.Line(m.find.field.text())), r.y + 1
	case m.find.active():
		return r.x + 1, r.y + 2 + m.trans.row()
	}
	return r.x + 1, r.y + 1 + m.trans.row()
}

// jump is where a jump leads: a message, and a text to look for in it or the very line that was at the top.
type jump struct {
	seq    uint64
	needle needle
	top    place
}

// goTo shows a message, which is fetched when it is not held.
func (t *transcript) goTo(s jump) {
	t.follow, t.dirty, t.start = false, true, false
	t.cursor.seq = s.seq
	if _, here := t.index(s.seq); t.known && here {
		t.look(s)
		return
	}
	t.seek, t.known = &s, false
	t.fetch.number++ // what is under way is for another place
}

// arrive shows the message that was looked for in the page that came for it.
func (t *transcript) arrive(page core.MessagePage) {
	s := t.seek
	if s == nil {
		return
	}
	t.seek = nil
	if len(t.held) == 0 {
		return
	}
	t.below = t.held[len(t.held)-1].Seq < page.Generation.LastSeq
	t.look(*s)
}

// look puts a message that is held onto the screen, a third of it above, at the line with the needle. A fold that hides it opens.
func (t *transcript) look(s jump) {
	i := min(t.find(s.seq), t.count()-1)
	at, last, ok := t.span(i)
	if !ok {
		at, _ = t.settled(spot{i: i})
	}
	t.cursor.seq, t.follow = t.message(at.i).Seq, false
	if s.top != (place{}) {
		t.top = s.top
		return
	}
	if s.needle.set() {
		found, hit := t.lineWith(i, s.needle)
		if !hit && ok && t.item(i).folded > 0 {
			t.unfold(t.message(i).Seq, true)
			found, hit = t.lineWith(i, s.needle)
			_, last, _ = t.span(i)
		}
		if hit {
			at = found
		}
	}
	if first, _, ok := t.span(i); ok && at != first && before(t.up(at, t.h-2), first) {
		t.bring(first, last) // all that leads to the line fits, so that one sees who speaks
	}
	t.top = t.placeOf(t.up(at, t.h/3))
}
