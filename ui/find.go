package ui

import (
	"context"
	"slices"
	"sort"
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"cordboard/core"
	"cordboard/ui/safe"
)

// find is the search in the transcript shown. It knows matches by seq, so that they need not be held; it goes on while messages are
// appended and starts anew when the transcript or its filter is another.
type find struct {
	field   field
	editing bool
	needle  needle
	was     sighting // before the search line was opened

	generation string // searched
	narrow     core.MessageFilter
	hits       hits
	upTo       uint64 // messages up to this one were searched, or are being
	running    bool
	number     int // of the last search begun; answers to older ones are dropped
	cancel     context.CancelFunc
	err        error

	landing bool // the first match is still to be shown
	onward  int  // n (1) or N (-1) waits for more matches
}

// sighting is what was on the screen.
type sighting struct {
	top    place
	cursor uint64
	follow bool
}

func (f *find) active() bool { return f.editing || f.needle.set() }

// hits are seqs that match. A search goes from the newest to the oldest; what is appended later is found after it.
type hits struct {
	older []uint64 // falling
	newer []uint64 // rising, all after older
	fresh []uint64 // falling: of the search at work, for newer
}

func (h *hits) len() int { return len(h.older) + len(h.newer) }

func (h *hits) at(i int) uint64 {
	if n := len(h.older); i < n {
		return h.older[n-1-i]
	} else {
		return h.newer[i-n]
	}
}

// from is how many matches come before the message with a seq.
func (h *hits) from(seq uint64) int {
	return sort.Search(h.len(), func(i int) bool { return h.at(i) >= seq })
}

// settle takes over what a search of new messages found.
func (h *hits) settle() {
	last := uint64(0)
	if n := h.len(); n > 0 {
		last = h.at(n - 1)
	}
	for _, seq := range slices.Backward(h.fresh) {
		if seq > last {
			h.newer = append(h.newer, seq)
		}
	}
	h.fresh = nil
}

// findStep is one step of a search. Its context is the whole search's.
type findStep struct {
	ctx    context.Context
	number int
	query  core.SearchQuery
	narrow core.MessageFilter
}

// findMsg is what it found.
type findMsg struct {
	step findStep
	seqs []uint64
	next string
	err  error
}

// findHits is how many hits a step of a search may bring.
const findHits = 1000

func (m *Model) findCmd(s findStep) tea.Cmd {
	return func() tea.Msg {
		ctx := s.ctx
		out := findMsg{step: s}
		page, err := guarded(func() (core.SearchPage, error) { return m.env.Board.Search(ctx, s.query) })
		for _, hit := range page.Hits {
			if err == nil && ctx.Err() == nil && shows(s.narrow, hit) {
				var in bool
				if in, err = m.amongErrors(ctx, s, hit); in {
					out.seqs = append(out.seqs, hit.Seq)
				}
			}
		}
		if ctx.Err() != nil {
			return nil
		}
		out.next, out.err = page.Next, err
		return out
	}
}

// shows reports whether a filter leaves a message in, as far as a hit tells.
func shows(f core.MessageFilter, h core.SearchHit) bool {
	return (len(f.Roles) == 0 || slices.Contains(f.Roles, h.Role)) && (f.Since == 0 || h.At >= f.Since) &&
		!(f.NoTools && h.Role == core.RoleToolResult)
}

// amongErrors looks at the message of a hit when only failed ones are shown.
func (m *Model) amongErrors(ctx context.Context, s findStep, h core.SearchHit) (bool, error) {
	if !s.narrow.Errors {
		return true, nil
	}
	page, err := guarded(func() (core.MessagePage, error) {
		return m.env.Board.Messages(ctx, core.MessageQuery{Generation: s.query.Session, Before: h.Seq + 1, Limit: 1, Filter: s.narrow})
	})
	return err == nil && len(page.Messages) > 0 && page.Messages[0].Seq == h.Seq, err
}

// lookFor begins to search the transcript for a text. land says to go to the nearest match above.
func (m *Model) lookFor(text string, land bool) tea.Cmd {
	f := &m.find
	f.stop()
	f.needle, f.hits, f.err, f.landing, f.onward = needle{}, hits{}, nil, land, 0
	m.trans.dirty = true
	if strings.TrimSpace(text) == "" {
		return nil
	}
	f.needle = newNeedle(text)
	f.generation, f.narrow, f.upTo = m.trans.gen.ID, m.trans.narrow, m.trans.gen.LastSeq
	if !m.trans.known || m.trans.gen.ID == "" {
		f.generation = "" // settle begins when it is known
		return nil
	}
	return m.search(core.SearchQuery{Text: text, Session: f.generation})
}

func (m *Model) search(q core.SearchQuery) tea.Cmd {
	f := &m.find
	ctx, cancel := context.WithCancel(m.ctx)
	f.number++
	f.running, f.cancel = true, cancel
	q.Limit = findHits
	return m.findCmd(findStep{ctx, f.number, q, f.narrow})
}

func (f *find) stop() {
	if f.cancel != nil {
		f.cancel()
	}
	f.running, f.cancel = false, nil
	f.number++
}

// apply takes in a step's matches and takes the next.
func (msg findMsg) apply(m *Model) tea.Cmd {
	f, step := &m.find, msg.step
	switch {
	case step.number != f.number || m.ended(msg.err):
		return nil
	case core.CodeOf(msg.err) == core.CodeStoreLocked:
		return m.seams.after(retryAfter(msg.err), findAgainMsg{step}) // another process only holds the store for a moment
	case msg.err != nil:
	case step.query.After > 0:
		f.hits.fresh = append(f.hits.fresh, msg.seqs...)
	default:
		f.hits.older = append(f.hits.older, msg.seqs...)
	}
	m.trans.dirty = true
	if f.err = msg.err; msg.err != nil || msg.next == "" {
		f.stop()
		f.hits.settle()
	}
	m.land()
	if !f.running {
		return nil
	}
	step.query.Cursor = msg.next
	return m.findCmd(step)
}

// findAgainMsg takes a step again.
type findAgainMsg struct{ step findStep }

func (msg findAgainMsg) apply(m *Model) tea.Cmd {
	if msg.step.number != m.find.number {
		return nil
	}
	return m.findCmd(msg.step)
}

// land goes to the match that was waited for: the first at or above where the search began, or when there is none the first below.
func (m *Model) land() {
	f := &m.find
	switch n := f.hits.len(); {
	case f.onward != 0:
		by := f.onward
		f.onward = 0
		m.hop(by)
	case !f.landing || n == 0:
	case f.hits.at(0) <= f.was.cursor:
		i := f.hits.from(f.was.cursor + 1)
		f.landing = false
		m.showHit(f.hits.at(max(i-1, 0)))
	case !f.running:
		f.landing = false
		m.showHit(f.hits.at(0))
	}
}

func (m *Model) showHit(seq uint64) { m.trans.goTo(jump{seq: seq, needle: m.find.needle}) }

// hop goes to the next match below the cursor (1) or above it (-1), around at either end once all are known.
func (m *Model) hop(by int) {
	f := &m.find
	n := f.hits.len()
	at := m.trans.aim()
	i := f.hits.from(at)
	switch {
	case by < 0:
		i--
	case i < n && f.hits.at(i) == at:
		i++
	}
	switch {
	case i >= 0 && i < n:
	case f.running && by < 0:
		f.onward = by
		return
	case n == 0:
		return
	case i < 0:
		m.said = "on from the last match"
		i = n - 1
	default:
		m.said = "on from the first match"
		i = 0
	}
	f.landing = false
	m.showHit(f.hits.at(i))
}

// keepFinding starts the search anew when the transcript is another, and goes on with what was appended.
func (m *Model) keepFinding() tea.Cmd {
	f, t := &m.find, &m.trans
	switch {
	case !f.needle.set() || !t.known || t.gen.ID == "":
		return nil
	case f.generation != t.gen.ID || !same(f.narrow, t.narrow):
		return m.lookFor(f.needle.text, f.landing)
	case !f.running && f.err == nil && t.gen.LastSeq > f.upTo:
		q := core.SearchQuery{Text: f.needle.text, Session: f.generation, After: f.upTo}
		f.upTo = t.gen.LastSeq
		if q.After == 0 {
			f.hits = hits{} // it was empty
		}
		return m.search(q)
	}
	return nil
}

// editFind opens the search line.
func (m *Model) editFind() tea.Cmd {
	t := &m.trans
	m.find.editing = true
	m.find.was = t.sighting()
	m.find.field.input.CursorEnd()
	t.dirty = true
	return nil
}

// typeFind handles a key while the search line is open.
func (m *Model) typeFind(msg tea.KeyMsg) tea.Cmd {
	m.trans.dirty = true
	switch msg.String() {
	case "ctrl+c":
		return m.interrupt()
	case "esc":
		m.goBackTo(m.find.was)
		m.clearFind()
		return nil
	case "enter":
		m.find.editing = false
		if !m.find.needle.set() {
			m.clearFind()
		}
		return nil
	case "tab", "shift+tab":
		m.find.editing = false
		return m.press(msg)
	case "down", "ctrl+n":
		m.hop(1)
		return nil
	case "up", "ctrl+p":
		m.hop(-1)
		return nil
	}
	if m.find.field.press(msg) {
		return m.lookFor(m.find.field.text(), true)
	}
	return nil
}

func (m *Model) clearFind() {
	m.find.stop()
	m.find = find{field: newField(), number: m.find.number}
	m.trans.dirty = true
}

// goBackTo shows what was on the screen.
func (m *Model) goBackTo(s sighting) {
	if s.follow {
		m.trans.toEnd()
		return
	}
	m.trans.goTo(jump{seq: s.cursor, top: s.top})
}

// findLine is the first line of the transcript while it is searched.
func (m *Model) findLine(w int) string {
	f, k := &m.find, m.k
	found := run{k.muted, m.foundText()}
	if f.err != nil {
		found = run{k.err, safe.Cut(safe.Line(f.err.Error()), w/2)}
	}
	room := max(w-safe.Width(found.text)-2, 1)
	l := newLine(w)
	if f.editing {
		l.raw(f.field.line(room, "/ ", &k.shades), room)
	} else {
		l.add(k.accent, " / ").add(k.text, safe.Cut(safe.Line(f.field.text()), room-3))
	}
	return l.space(k.text, l.left-safe.Width(found.text)-1).add(found.ink, found.text).end(k.text)
}

// foundText is which match of how many the cursor is on: `3/17`, with … while the search is under way.
func (m *Model) foundText() string {
	f := &m.find
	n := f.hits.len()
	more := ""
	if f.running && len(f.hits.fresh) == 0 && len(f.hits.newer) == 0 {
		more = "…"
	}
	at := m.trans.aim()
	switch i := f.hits.from(at); {
	case !f.needle.set():
		return ""
	case n == 0 && more == "":
		return "nothing found"
	case n == 0:
		return "searching…"
	case i < n && f.hits.at(i) == at:
		return strconv.Itoa(i+1) + "/" + strconv.Itoa(n) + more
	default:
		return "–/" + strconv.Itoa(n) + more
	}
}

func noFind(m *Model) string {
	if !m.find.needle.set() {
		return "nothing is searched for: / begins"
	}
	return ""
}
