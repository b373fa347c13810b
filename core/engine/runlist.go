package engine

import (
	"slices"

	"cordboard/core"
)

// liveOnes are queued and running runs in the order in which they were queued, with the places of those that wait in their session's line.
type liveOnes struct {
	runs   []core.Run
	places map[string]int // run id → place, from 1
}

// liveIn gathers the live runs of a session, of all for "".
func liveIn(r core.Reader, sessionKey string) (liveOnes, error) {
	live := liveOnes{places: map[string]int{}}
	waiting := map[string]int{}
	err := r.LiveRuns(func(run *core.Run) bool {
		if sessionKey != "" && run.SessionKey != sessionKey {
			return true
		}
		live.runs = append(live.runs, *run)
		if run.State == core.RunQueued {
			waiting[run.SessionKey]++
			live.places[run.ID] = waiting[run.SessionKey]
		}
		return true
	})
	return live, err
}

// of are the places of those runs that wait.
func (l liveOnes) of(runs []core.Run) map[string]int {
	var places map[string]int
	for i := range runs {
		if place := l.places[runs[i].ID]; place > 0 {
			if places == nil {
				places = map[string]int{}
			}
			places[runs[i].ID] = place
		}
	}
	return places
}

// runsOf lists the runs of a session, of all for "", newest first. Live ones are there however old they are, those first in line when not all
// of them fit; the newest ended ones fill the rest.
func runsOf(r core.Reader, sessionKey string, limit int) ([]core.Run, map[string]int, error) {
	live, err := liveIn(r, sessionKey)
	if err != nil {
		return nil, nil, err
	}
	wanted := live.runs[:min(limit, len(live.runs))]
	unseen := map[string]bool{}
	for i := range wanted {
		unseen[wanted[i].ID] = true
	}
	list, room := []core.Run{}, limit-len(wanted)
	err = r.Runs(sessionKey, func(run *core.Run) bool {
		switch {
		case unseen[run.ID]:
			delete(unseen, run.ID)
			list = append(list, *run)
		case room > 0 && run.State == core.RunEnded:
			room--
			list = append(list, *run)
		}
		return room > 0
	})
	for _, run := range slices.Backward(wanted) { // older than all that ended
		if unseen[run.ID] {
			list = append(list, run)
		}
	}
	return list, live.of(list), err
}

// liveRunsOf is runsOf without those that ended.
func liveRunsOf(r core.Reader, sessionKey string, limit int) ([]core.Run, map[string]int, error) {
	live, err := liveIn(r, sessionKey)
	if err != nil {
		return nil, nil, err
	}
	list := append([]core.Run{}, live.runs[:min(limit, len(live.runs))]...)
	slices.Reverse(list)
	return list, live.of(list), nil
}
