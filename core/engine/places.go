package engine

import (
	"cmp"
	"maps"
	"slices"

	"cordboard/core"
)

// Places in line, as people and agents are told them: a run's place in the line of its session and, for a sub-agent's run that is first
// there, its place among all that wait for a slot of their lane (session-tools.md §8).

// order is in which order the runs that could start would, if slots became free one by one: the order in which next deals them.
func (q *queue) order(name string) map[string]int {
	l := q.lanes[name]
	ready, dealt := map[string][]waiting{}, maps.Clone(l.dealt)
	for who, list := range l.ready {
		for _, w := range *list {
			if line := q.lines[w.session]; len(line) > 0 && line[0].number == w.number {
				ready[who] = append(ready[who], w)
			}
		}
		slices.SortFunc(ready[who], func(a, b waiting) int { return cmp.Compare(a.number, b.number) })
		ready[who] = slices.CompactFunc(ready[who], func(a, b waiting) bool { return a.number == b.number })
	}
	places := map[string]int{}
	for place := 1; ; place++ {
		next := ""
		for who, list := range ready {
			if len(list) > 0 && (len(ready[next]) == 0 || sooner(dealt[who], list[0], dealt[next], ready[next][0])) {
				next = who
			}
		}
		if len(ready[next]) == 0 {
			return places
		}
		places[ready[next][0].id] = place
		ready[next] = ready[next][1:]
		dealt[next] = l.deals + uint64(place)
	}
}

// sooner is lane.before for requesters that are only thought to have been dealt to.
func sooner(dealtA uint64, a waiting, dealtB uint64, b waiting) bool {
	if dealtA != dealtB {
		return dealtA < dealtB
	}
	return a.number < b.number
}

// waitingPlaces are the places of the sub-agents' runs that are next in their sessions, by run and by session.
func (e *Engine) waitingPlaces() (runs, sessions map[string]int) {
	runs, sessions = map[string]int{}, map[string]int{}
	d := e.drive
	if d == nil {
		return runs, sessions
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if runs = d.queue.order(laneSubagent); len(runs) == 0 {
		return runs, sessions
	}
	for session, line := range d.queue.lines {
		if place := runs[line[0].id]; place > 0 {
			sessions[session] = place
		}
	}
	return runs, sessions
}

// placeInLanes puts the places in the lane where so far there are those in the lines of sessions.
func (e *Engine) placeInLanes(positions map[string]int) {
	if len(positions) == 0 {
		return
	}
	runs, _ := e.waitingPlaces()
	for id := range positions {
		if place := runs[id]; place > 0 {
			positions[id] = place
		}
	}
}

// placeOf is the place that a session's row tells: of its first run, while that waits.
func placeOf(sessionKey string, state core.RunState, places map[string]int) int {
	if state != core.RunQueued {
		return 0
	}
	return max(1, places[sessionKey])
}
