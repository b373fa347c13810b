package engine

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cordboard/core/proptest"
)

func startable(q *queue) []string {
	ids := []string{}
	for {
		w, ok := q.next()
		if !ok {
			return ids
		}
		ids = append(ids, w.id)
	}
}

func small() *queue {
	return newQueue(map[string]int{laneMain: 2, laneSubagent: 2, laneExchange: 1}, 4)
}

// R010: one run a session, first in first out; other sessions beside it; a lane's slots are not exceeded.
func TestQueueOrder(t *testing.T) {
	q := small()
	for _, w := range []waiting{
		{id: "a1", session: "a", lane: laneMain},
		{id: "a2", session: "a", lane: laneMain},
		{id: "b1", session: "b", lane: laneMain},
		{id: "c1", session: "c", lane: laneMain},
	} {
		q.add(w)
	}
	assert.Equal(t, []string{"a1", "b1"}, startable(q))
	q.done("b")
	assert.Equal(t, []string{"c1"}, startable(q), "the session that waited longest, not the one that is busy")
	q.done("a")
	assert.Equal(t, []string{"a2"}, startable(q))
}

func TestQueueRemove(t *testing.T) {
	q := small()
	q.add(waiting{id: "a1", session: "a", lane: laneMain})
	q.add(waiting{id: "a2", session: "a", lane: laneMain})
	assert.True(t, q.remove("a1", "a"))
	assert.False(t, q.remove("a1", "a"))
	assert.Equal(t, []string{"a2"}, startable(q))
}

// R008: a run that waits on another session holds no slot, and when it returns it goes before what has not begun.
func TestQueueWaitGivesTheSlotUp(t *testing.T) {
	q := newQueue(map[string]int{laneMain: 1}, 4)
	for _, s := range []string{"a", "b", "c"} {
		q.add(waiting{id: s + "1", session: s, lane: laneMain})
	}
	assert.Equal(t, []string{"a1"}, startable(q))
	q.pause("a1", "a")
	assert.Equal(t, []string{"b1"}, startable(q))
	back := q.resume("a1", "a")
	assert.Empty(t, startable(q))
	q.done("b")
	assert.Empty(t, startable(q), "the slot is the returning run's")
	select {
	case <-back:
	default:
		t.Fatal("not granted")
	}
	q.done("a")
	assert.Equal(t, []string{"c1"}, startable(q))
}

// A held line is not offered, what is added to it neither; others are, and it is once it is let go. What was taken out of it stays out.
func TestQueueHold(t *testing.T) {
	for name, h := range map[string]holds{
		"session": {sessions: map[string]bool{"a": true}}, "agent": {agents: map[string]bool{"x": true}}, "all": {all: true},
	} {
		q := small()
		q.add(waiting{id: "a1", session: "a", agent: "x", lane: laneMain})
		q.hold(h)
		q.add(waiting{id: "a2", session: "a", agent: "x", lane: laneMain})
		q.add(waiting{id: "b1", session: "b", agent: "y", lane: laneMain})
		want := []string{"b1"}
		if h.all {
			want = []string{}
		}
		assert.Equal(t, want, startable(q), name)
		q.done("b")
		assert.True(t, q.remove("a1", "a"))
		assert.Empty(t, startable(q), name)
		q.hold(holds{})
		got := startable(q)
		if h.all {
			assert.Equal(t, []string{"a2", "b1"}, got)
		} else {
			assert.Equal(t, []string{"a2"}, got)
		}
	}
}

// The sub-agent lane is dealt round-robin: one requester's burst does not keep another waiting.
func TestQueueFairLane(t *testing.T) {
	q := newQueue(map[string]int{laneSubagent: 1}, 8)
	for i := range 3 {
		q.add(waiting{id: fmt.Sprintf("big%d", i), session: fmt.Sprintf("b%d", i), lane: laneSubagent, requester: "big"})
	}
	q.add(waiting{id: "small0", session: "s0", lane: laneSubagent, requester: "small"})
	var order []string
	for range 4 {
		w, ok := q.next()
		require.True(t, ok)
		order = append(order, w.id)
		q.done(w.session)
	}
	assert.Equal(t, []string{"big0", "small0", "big1", "big2"}, order)
}

// Whatever happens in whatever order: no slot is used twice or lost, no session runs two, none overtakes within a session, and when
// everything has ended nothing is left waiting.
func TestQueueInvariants(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		slots := map[string]int{laneMain: rapid.IntRange(1, 3).Draw(t, "main"), laneSubagent: 1, laneExchange: 1}
		q := newQueue(slots, rapid.IntRange(1, 5).Draw(t, "most"))
		lanes := []string{laneMain, laneSubagent, laneExchange}
		sessions := []string{"a", "b", "c", "d"}
		agents := map[string]string{"a": "x", "b": "x", "c": "y", "d": "y"}
		running := map[string]waiting{} // by session
		away := map[string]<-chan struct{}{}
		last := map[string]uint64{}
		n := 0
		start := func() {
			for {
				w, ok := q.next()
				if !ok {
					return
				}
				_, two := running[w.session]
				require.False(t, two, "two runs in %s", w.session)
				require.Greater(t, w.number, last[w.session], "overtaken in %s", w.session)
				require.False(t, q.holds.cover(w), "%s started while it is held", w.id)
				running[w.session], last[w.session] = w, w.number
			}
		}
		check := func() {
			busy := map[string]int{}
			for session, w := range running {
				if back, isAway := away[session]; isAway {
					select {
					case <-back: // has its slot again
					default:
						continue
					}
				}
				busy[w.lane]++
			}
			for lane, used := range busy {
				require.LessOrEqual(t, used, slots[lane], lane)
			}
			require.LessOrEqual(t, len(running), q.most)
		}
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				n++
				session := rapid.SampledFrom(sessions).Draw(t, "s")
				q.add(waiting{
					id: fmt.Sprint(n), session: session, agent: agents[session], lane: rapid.SampledFrom(lanes).Draw(t, "l"),
					requester: rapid.SampledFrom([]string{"x", "y"}).Draw(t, "r"),
				})
				start()
				check()
			},
			"hold": func(t *rapid.T) {
				set := func(names ...string) map[string]bool {
					held := map[string]bool{}
					for _, name := range rapid.SliceOfN(rapid.SampledFrom(names), 0, 2).Draw(t, "held") {
						held[name] = true
					}
					return held
				}
				q.hold(holds{all: rapid.IntRange(0, 3).Draw(t, "all") == 0, agents: set("x", "y"), sessions: set(sessions...)})
				start()
				check()
			},
			"remove": func(t *rapid.T) {
				s := rapid.SampledFrom(sessions).Draw(t, "s")
				if line := q.lines[s]; len(line) > 0 { // an abort, whether it is held or not
					require.True(t, q.remove(rapid.SampledFrom(line).Draw(t, "w").id, s))
				}
				start()
				check()
			},
			"end": func(t *rapid.T) {
				s := rapid.SampledFrom(sessions).Draw(t, "s")
				q.done(s)
				delete(running, s)
				delete(away, s)
				start()
				check()
			},
			"wait": func(t *rapid.T) {
				s := rapid.SampledFrom(sessions).Draw(t, "s")
				if _, ok := running[s]; ok && away[s] == nil {
					q.pause(running[s].id, s)
					away[s] = make(chan struct{})
					start()
				}
				check()
			},
			"return": func(t *rapid.T) {
				s := rapid.SampledFrom(sessions).Draw(t, "s")
				if away[s] != nil {
					away[s] = q.resume(running[s].id, s)
					start()
				}
				check()
			},
		})
		q.hold(holds{})
		start()
		check()
		for range 4 * (n + 1) {
			for s := range running {
				q.done(s)
				delete(running, s)
			}
			away = map[string]<-chan struct{}{}
			start()
		}
		require.Empty(t, q.lines)
		for lane, l := range q.lanes {
			require.Zero(t, l.busy, lane)
		}
	})
}

// The places that are told are the order in which runs then start, whatever was dealt before.
func TestQueueOrderIsWhatStarts(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		q := newQueue(map[string]int{laneSubagent: 1, laneMain: 1, laneExchange: 1}, 8)
		for i := range rapid.IntRange(0, 20).Draw(t, "runs") {
			q.add(waiting{
				id: fmt.Sprint(i), session: fmt.Sprint("s", rapid.IntRange(0, 30).Draw(t, "session")), lane: laneSubagent,
				requester: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "requester"),
			})
			if rapid.IntRange(0, 3).Draw(t, "deal") == 0 {
				if w, ok := q.next(); ok && rapid.Bool().Draw(t, "ends") {
					q.done(w.session)
				}
			}
		}
		for session := range q.live {
			q.done(session)
		}
		want := q.order(laneSubagent)
		for place := 1; place <= len(want); place++ {
			w, ok := q.next()
			require.True(t, ok)
			require.Equal(t, place, want[w.id], "run %s", w.id)
			delete(q.live, w.session)
			q.lanes[laneSubagent].busy--
			q.lines[w.session] = nil // what waits behind it there has no place yet
			delete(q.lines, w.session)
		}
	})
}
