package engine

import (
	"container/heap"
	"slices"
)

// Lanes (engine.md §1).
const (
	laneMain     = "main"     // chat, send and inbound runs
	laneSubagent = "subagent" // every run in a sub-agent session, dealt round-robin over requesters
	laneExchange = "exchange" // turns, announces and notes
)

// waiting is a queued run as the queue needs it.
type waiting struct {
	id        string
	session   string
	agent     string // of the session
	lane      string
	requester string // whom the sub-agent lane deals it to
	number    uint64 // order of arrival
}

// queue decides which queued run may start next: one run a session, first in first out; a lane has so many slots and no more; the
// sub-agent lane is dealt round-robin over its requesters; what returns from a wait goes before what has not begun. It holds nothing that
// the store does not: at start it is filled from there. It is not safe for concurrent use.
type queue struct {
	most    int // live runs in all, those that gave up their slot included
	arrived uint64
	lanes   map[string]*lane
	lines   map[string][]waiting // per session, what waits there
	live    map[string]waiting   // per session, what runs there
	paused  map[string]int       // runs that gave their slot up, and on how many others they wait
	holds   holds
}

// holds are what keeps queued runs from starting.
type holds struct {
	all              bool
	agents, sessions map[string]bool
}

func (h *holds) cover(w waiting) bool { return h.all || h.agents[w.agent] || h.sessions[w.session] }

// lane is a number of slots and what wants them.
type lane struct {
	slots, busy int
	ready       map[string]*heads // per requester, heads of lines whose session is idle; entries may be stale
	dealt       map[string]uint64 // per requester, which deal it got last
	deals       uint64
	returns     []*comeback // first come, first served
}

// comeback is a run's wish to have its slot back; granted is closed when it has it.
type comeback struct {
	id      string
	granted chan struct{}
}

func newQueue(slots map[string]int, most int) *queue {
	q := &queue{most: most, lanes: map[string]*lane{}, lines: map[string][]waiting{}, live: map[string]waiting{}, paused: map[string]int{}}
	for name, n := range slots {
		q.lanes[name] = &lane{slots: n, ready: map[string]*heads{}, dealt: map[string]uint64{}}
	}
	return q
}

// add puts a run at the end of its session's line. Its lane must be one of the queue's.
func (q *queue) add(w waiting) {
	q.arrived++
	w.number = q.arrived
	q.lines[w.session] = append(q.lines[w.session], w)
	q.offer(w.session)
}

// hold changes what is held: lines that are are not offered, the others are. It costs as much as there are lines, so that next costs nothing
// more.
func (q *queue) hold(h holds) {
	q.holds = h
	for _, l := range q.lanes {
		clear(l.ready)
	}
	for session := range q.lines {
		q.offer(session)
	}
}

// offer makes the head of an idle session's line known to its lane.
func (q *queue) offer(session string) {
	line := q.lines[session]
	if _, busy := q.live[session]; busy || len(line) == 0 || q.holds.cover(line[0]) {
		return
	}
	l, who := q.lanes[line[0].lane], line[0].dealtTo()
	if l.ready[who] == nil {
		l.ready[who] = &heads{}
	}
	heap.Push(l.ready[who], line[0])
}

func (w waiting) dealtTo() string {
	if w.lane == laneSubagent {
		return w.requester
	}
	return ""
}

// remove takes a run that has not started out of its line.
func (q *queue) remove(id, session string) bool {
	line := q.lines[session]
	at := slices.IndexFunc(line, func(w waiting) bool { return w.id == id })
	if at < 0 {
		return false
	}
	q.setLine(session, slices.Delete(line, at, at+1))
	if at == 0 {
		q.offer(session)
	}
	return true
}

func (q *queue) setLine(session string, line []waiting) {
	if len(line) == 0 {
		delete(q.lines, session)
		return
	}
	q.lines[session] = line
}

// full reports that as many runs are live as may be.
func (q *queue) full() bool { return len(q.live) >= q.most }

// next takes the run that may start now, if there is one.
func (q *queue) next() (waiting, bool) {
	q.grant()
	if q.full() {
		return waiting{}, false
	}
	for _, name := range [...]string{laneExchange, laneMain, laneSubagent} {
		if l := q.lanes[name]; l != nil && l.free() && len(l.returns) == 0 {
			if w, ok := q.deal(l); ok {
				q.setLine(w.session, q.lines[w.session][1:])
				q.live[w.session] = w
				l.busy++
				return w, true
			}
		}
	}
	return waiting{}, false
}

func (l *lane) free() bool { return l.busy < l.slots }

// deal picks the oldest head of the requester that has waited longest for a deal.
func (q *queue) deal(l *lane) (waiting, bool) {
	who, found := "", false
	for requester, list := range l.ready {
		q.dropStale(list)
		if list.Len() == 0 {
			delete(l.ready, requester)
			continue
		}
		if !found || l.before(requester, who) {
			who, found = requester, true
		}
	}
	if !found {
		return waiting{}, false
	}
	w, _ := heap.Pop(l.ready[who]).(waiting)
	l.deals++
	l.dealt[who] = l.deals
	return w, true
}

// before orders requesters: the one whose last deal is longer ago, then the one whose run came first.
func (l *lane) before(a, b string) bool {
	if l.dealt[a] != l.dealt[b] {
		return l.dealt[a] < l.dealt[b]
	}
	return (*l.ready[a])[0].number < (*l.ready[b])[0].number
}

// dropStale removes from the top what is no longer the head of an idle session's line.
func (q *queue) dropStale(list *heads) {
	for list.Len() > 0 {
		top := (*list)[0]
		_, busy := q.live[top.session]
		if line := q.lines[top.session]; !busy && len(line) > 0 && line[0].number == top.number {
			return
		}
		heap.Pop(list)
	}
}

// done ends a session's live run and frees its slot.
func (q *queue) done(session string) {
	w, ok := q.live[session]
	if !ok {
		return
	}
	delete(q.live, session)
	l := q.lanes[w.lane]
	l.returns = slices.DeleteFunc(l.returns, func(c *comeback) bool {
		if c.id == w.id {
			close(c.granted) // whoever waits for the slot of a run that has ended needs none
		}
		return c.id == w.id
	})
	if q.paused[w.id] > 0 {
		delete(q.paused, w.id)
	} else {
		l.busy--
	}
	q.offer(session)
}

// pause gives a live run's slot up while it waits on another session or on a person. A run that has ended meanwhile has none.
func (q *queue) pause(id, session string) {
	w, ok := q.live[session]
	if !ok || w.id != id {
		return
	}
	if q.paused[w.id]++; q.paused[w.id] == 1 {
		q.lanes[w.lane].busy--
	}
}

// resume asks for the slot back after one wait; the channel is closed when the run has it, or waits on somebody else still.
func (q *queue) resume(id, session string) <-chan struct{} {
	granted := make(chan struct{})
	w, ok := q.live[session]
	if waits := q.paused[id]; !ok || w.id != id || waits != 1 {
		if waits > 1 {
			q.paused[id]--
		}
		close(granted)
		return granted
	}
	l := q.lanes[w.lane]
	l.returns = append(l.returns, &comeback{id: w.id, granted: granted})
	q.grant()
	return granted
}

// grant gives free slots to those that came back.
func (q *queue) grant() {
	for _, l := range q.lanes {
		for l.free() && len(l.returns) > 0 {
			c := l.returns[0]
			l.returns = l.returns[1:]
			switch q.paused[c.id] {
			case 0: // it has its slot
			case 1:
				delete(q.paused, c.id)
				l.busy++
			default: // it has begun to wait anew
				q.paused[c.id]--
			}
			close(c.granted)
		}
	}
}

// heads is a heap of line heads by arrival.
type heads []waiting

func (h heads) Len() int           { return len(h) }
func (h heads) Less(i, j int) bool { return h[i].number < h[j].number }
func (h heads) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }

// Push implements heap.Interface.
func (h *heads) Push(x any) { *h = append(*h, x.(waiting)) }

// Pop implements heap.Interface.
func (h *heads) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
