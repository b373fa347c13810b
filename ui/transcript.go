package ui

import (
	"slices"
	"time"

	"cordboard/core"
)

// How much of a transcript is fetched and held, in messages and in bytes of their JSON.
const (
	pageSize  = 256
	nearEdge  = 64 // fetch the next page when the screen comes this near to the end of what is held
	holdCount = 4096
	holdBytes = 24 << 20
)

// place is a line of the transcript: of the message with a seq, a part and a line in it. It stays true while messages come and go.
type place struct {
	seq  uint64
	part int
	line int
}

// transcript is the middle pane: a window on one generation of a session. It knows no total height; what is above and below the
// messages it holds is fetched when it is needed.
type transcript struct {
	key        string // session shown, "" for none
	generation string // id asked for, "" = the current one
	gen        core.Generation
	known      bool // gen has come
	err        error
	newest     string // sessionId that the current generation was last told to have

	held        []core.Message
	partial     *partial // what the live run is saying below them
	bytes       int
	more, below bool // the store holds messages before and after what is held
	grew        bool // and has got new ones at its end

	top    place
	follow bool
	unseen int
	start  bool  // open at the first message instead of the last
	seek   *jump // open at this message instead of the last
	cursor messageCursor
	narrow core.MessageFilter // what is left out of the transcript

	read  reading
	shift int // first column shown when lines do not wrap

	items *items
	w, h  int
	dirty bool
	lines []string
	spots []spot // where the lines come from
	last  uint64 // seq of the last message on the screen
	wide  int    // widest line on the screen

	fetch fetch
}

// fetch is a pane's one outstanding request. An answer to an older one is dropped.
type fetch struct {
	busy    bool
	number  int
	waiting bool // for a retry after an error
}

func (f *fetch) begin() int {
	f.busy, f.waiting = true, false
	f.number++
	return f.number
}

func newTranscript(maker entryMaker) transcript {
	return transcript{items: newItems(maker), read: maker.read, narrow: everything(), follow: true, dirty: true}
}

// show turns to a generation of a session; "" is the current one.
func (t *transcript) show(key, generation string) {
	t.key, t.generation = key, generation
	t.gen, t.known, t.err = core.Generation{}, false, nil
	t.fetch.number++ // what is under way is not for this one
	t.fetch.waiting = false
	t.shift = 0
	t.drop()
	t.start, t.seek, t.follow, t.unseen = false, nil, true, 0
	t.cursor = messageCursor{}
}

func (t *transcript) drop() {
	t.held, t.bytes, t.partial = nil, 0, nil
	t.more, t.below, t.grew = false, false, false
	t.items.clear()
	t.dirty = true
}

// asked hears that a request is on its way: what grows from now on is not in its answer.
func (t *transcript) asked() { t.grew = false }

// failed hears that a request brought an error.
func (t *transcript) failed(err error) {
	t.err, t.grew, t.dirty = err, true, true
	t.fetch.waiting = true
}

// wants is the next request this pane needs, if any.
func (t *transcript) wants() (core.MessageQuery, bool) {
	q := core.MessageQuery{Session: t.key, Generation: t.generation, Limit: pageSize, Filter: t.narrow}
	switch {
	case t.nothing() || t.fetch.busy || t.fetch.waiting || t.h <= 0:
		return q, false
	case !t.known && t.seek != nil:
		q.Before = t.seek.seq + pageSize/2
		return q, true
	case !t.known:
		return q, true
	case len(t.held) == 0:
		return q, t.grew
	case t.start:
		q.Oldest = true
		return q, true
	case t.more && t.near(t.top.seq, false):
		q.Before = t.held[0].Seq
		return q, true
	case t.below && t.near(t.last, true), t.grew && !t.below:
		q.After = t.held[len(t.held)-1].Seq
		return q, true
	}
	return q, false
}

// nothing reports whether no transcript is chosen.
func (t *transcript) nothing() bool { return t.key == "" && t.generation == "" }

func (t *transcript) near(seq uint64, end bool) bool {
	i := t.find(seq)
	if end {
		return i >= len(t.held)-nearEdge
	}
	return i < nearEdge
}

// find is where the message with a seq, or the next after it, is held.
func (t *transcript) find(seq uint64) int {
	i, _ := slices.BinarySearchFunc(t.held, seq, func(m core.Message, seq uint64) int {
		switch {
		case m.Seq < seq:
			return -1
		case m.Seq > seq:
			return 1
		}
		return 0
	})
	return i
}

// take puts a page that was asked for with q where it belongs.
func (t *transcript) take(q core.MessageQuery, page core.MessagePage, now time.Time) {
	t.dirty = true
	switch {
	case t.known && q.After > 0:
		t.append(page)
		t.setPartial(&page, now)
	case t.known && q.Before > 0:
		t.prepend(page)
	default:
		t.held, t.bytes = nil, 0
		t.items.clear()
		t.hold(page.Messages)
		t.more, t.below, t.start = page.More, false, false
		if q.Oldest {
			t.more, t.below = false, page.More
		}
		if q.Oldest && len(page.Messages) > 0 {
			t.top = place{seq: page.Messages[0].Seq}
		}
		t.setPartial(&page, now)
		t.arrive(page)
	}
	t.gen, t.known, t.err = page.Generation, true, nil
	if t.key != "" && t.generation == t.gen.ID && t.gen.State == core.GenerationCurrent {
		t.generation = "" // it was named by its id, and is the one that goes on
	}
}

func (t *transcript) hold(messages []core.Message) {
	t.held = append(t.held, messages...)
	for i := range messages {
		t.bytes += len(messages[i].Raw)
	}
}

func (t *transcript) append(page core.MessagePage) {
	fresh := page.Messages
	for len(fresh) > 0 && len(t.held) > 0 && fresh[0].Seq <= t.held[len(t.held)-1].Seq {
		fresh = fresh[1:]
	}
	if !t.follow && !t.below {
		t.unseen += spoken(fresh)
		if p := t.speaking(); p != nil && len(fresh) > 0 && fresh[0].Seq == p.message.Seq && t.last >= p.message.Seq {
			t.unseen-- // it was on the screen while it was written
		}
	}
	t.hold(fresh)
	t.below = page.More && len(page.Messages) > 0
	if n := t.excess(t.held, t.find(t.top.seq)); n > 0 && len(t.held) > n {
		t.held = slices.Delete(t.held, 0, n)
		t.more = true
	}
}

func (t *transcript) prepend(page core.MessagePage) {
	if len(t.held) > 0 {
		t.items.forget(t.held[0].Seq) // what stands above it decides its first lines
	}
	old := t.held
	t.held = nil
	t.hold(page.Messages)
	t.held = append(t.held, old...)
	t.more = page.More && len(page.Messages) > 0
	far := slices.Clone(t.held)
	slices.Reverse(far)
	if n := t.excess(far, len(far)-1-t.find(t.last)); n > 0 {
		t.held = t.held[:len(t.held)-n]
		t.below = true
	}
}

// excess is how many of the messages, the farthest from the screen first, are more than is held. At most free of them may go.
func (t *transcript) excess(messages []core.Message, free int) int {
	n := 0
	for n < free && (len(messages)-n > holdCount || t.bytes > holdBytes && len(messages)-n > pageSize) {
		t.bytes -= len(messages[n].Raw)
		n++
	}
	return n
}

// spoken counts the messages among transcript lines.
func spoken(lines []core.Message) int {
	n := 0
	for i := range lines {
		if lines[i].Role != core.RoleEvent {
			n++
		}
	}
	return n
}

// changed hears that messages were appended to a generation.
func (t *transcript) changed(c core.Change) {
	if !t.known {
		t.grew = true // a page that is on its way may have been read before
		return
	}
	if c.ID != t.gen.ID {
		return
	}
	t.gen.LastSeq = max(t.gen.LastSeq, c.LastSeq)
	if t.below {
		t.unseen += int(c.LastSeq - c.FirstSeq + 1) // events among them are counted too: nobody has read them yet
	}
	t.grew = true
	t.dirty = true
}

// missed hears that changes may have gone by unheard.
func (t *transcript) missed() { t.grew = t.grew || t.known }

// setReading changes what is unfolded and whether lines break; the top of the screen stays with its message.
func (t *transcript) setReading(r reading) {
	if r.tools != t.read.tools || r.thinking != t.read.thinking {
		t.cursor.opened = nil
	}
	t.read, t.items.maker.read = r, r
	t.items.clear()
	t.top.part, t.top.line = min(t.top.part, 1), 0
	t.shift = 0
	t.dirty = true
}

// toEnd follows the newest messages.
func (t *transcript) toEnd() {
	t.follow, t.unseen, t.dirty = true, 0, true
	t.seek, t.cursor.seq = nil, 0
	if t.below {
		t.start = false
		t.known = false // the newest page replaces what is held
	}
}

// toStart goes to the first message there is.
func (t *transcript) toStart() {
	if !t.known || len(t.held) == 0 {
		return
	}
	t.follow, t.dirty = false, true
	t.seek, t.cursor.seq = nil, t.held[0].Seq
	if t.more {
		t.start = true
	}
	t.top = place{seq: t.held[0].Seq}
}

// outdated reports whether the session has a newer transcript than the one shown; it is told once for each.
func (t *transcript) outdated(sessionID string) bool {
	if sessionID == "" || t.gen.SessionID == sessionID || t.newest == sessionID {
		return false
	}
	t.newest = sessionID
	return true
}

func (t *transcript) shiftTo(column int) {
	t.shift = clamp(column, 0, max(t.wide-(t.w-margin), 0))
	t.items.clear()
	t.dirty = true
}

func (t *transcript) shiftToEnd() { t.shiftTo(t.wide) }
