package ui

import (
	"cmp"
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"cordboard/core"
)

// runsView is every run, or those of one session: live ones first, then the ended ones from the newest (console.md §4).
type runsView struct {
	view
	group  runGroup
	runs   map[string]*core.Run
	place  map[string]int      // of queued runs in their session's line, from 1
	heard  map[string]core.Rev // runs that a change told of, and when: an older answer does not put them back
	texts  map[string]string   // what the filter reads, in lower case
	capped bool

	began   map[string]string // what runs in sight began with, where that is in the transcript
	reading bool              // it is being asked for

	told   map[string]*core.Delivery // the announces of sub-agents' runs that were looked at
	asking bool                      // one is being asked for
}

// runsMost is how many runs are listed: the newest.
const runsMost = 2000

// runGroup is which runs are listed.
type runGroup uint8

const (
	everyRun runGroup = iota
	liveRuns
	queuedRuns
	failedRuns
	runGroups
)

func (g runGroup) holds(r *core.Run) bool {
	switch g {
	case liveRuns:
		return r.State != core.RunEnded
	case queuedRuns:
		return r.State == core.RunQueued
	case failedRuns:
		return r.State == core.RunEnded && r.Outcome != core.OutcomeOK
	}
	return true
}

func (m *Model) openRuns() tea.Cmd {
	if m.stand.runs == nil {
		m.stand.runs = &runsView{view: newView(), runs: map[string]*core.Run{}}
	}
	return m.openStage(m.stand.runs)
}

// openSessionRuns lists the runs of the session under the cursor.
func (m *Model) openSessionRuns() tea.Cmd {
	cmd := m.openRuns()
	if v, key := m.stand.runs, m.tree.selected(); v.session != key {
		v.session = key
		v.another()
	}
	return cmd
}

func (v *runsView) scope() scope { return inRuns }

func (v *runsView) query() core.RecordQuery {
	return core.RecordQuery{Kind: core.RecordRuns, Session: v.session, Limit: runsMost}
}

func (v *runsView) take(page core.RecordPage) {
	newer := map[string]*core.Run{}
	for id, rev := range v.heard {
		if rev > page.At.Rev {
			newer[id] = v.runs[id]
		}
	}
	v.runs, v.texts = make(map[string]*core.Run, len(page.Runs)), make(map[string]string, len(page.Runs))
	v.place, v.heard = page.Positions, map[string]core.Rev{}
	if v.place == nil {
		v.place = map[string]int{}
	}
	v.capped = len(page.Runs) >= runsMost
	for i := range page.Runs {
		v.runs[page.Runs[i].ID] = &page.Runs[i]
	}
	for id, r := range newer {
		v.put(id, r)
	}
	v.forget()
}

// hear takes in a run as it is now.
func (v *runsView) hear(c core.Change, at core.Rev) bool {
	v.hearTelling(c)
	if c.Kind != core.ChangeRun || c.Run != nil && v.session != "" && c.Run.SessionKey != v.session {
		return false
	}
	if v.heard == nil {
		v.heard, v.texts, v.place = map[string]core.Rev{}, map[string]string{}, map[string]int{}
	}
	v.heard[c.ID] = at
	v.put(c.ID, c.Run)
	v.listed = false
	return len(v.runs) > 2*runsMost // the oldest are left out when all is read anew
}

// put takes in a run, nil for one that is gone, and moves those that wait behind it in the same line.
func (v *runsView) put(id string, r *core.Run) {
	old := v.runs[id]
	delete(v.texts, id)
	queued := r != nil && r.State == core.RunQueued
	switch at := v.place[id]; {
	case at > 0 && !queued:
		delete(v.place, id)
		for each, p := range v.place {
			if p > at && v.runs[each] != nil && old != nil && v.runs[each].SessionKey == old.SessionKey {
				v.place[each] = p - 1
			}
		}
	case at == 0 && queued:
		last := 0
		for each, p := range v.place {
			if v.runs[each] != nil && v.runs[each].SessionKey == r.SessionKey {
				last = max(last, p)
			}
		}
		v.place[id] = last + 1
	}
	if v.runs[id] = r; r == nil {
		delete(v.runs, id)
	}
}

func (v *runsView) arrange(m *Model) {
	words := v.words()
	list := make([]*core.Run, 0, len(v.runs))
	for _, r := range v.runs {
		if v.group.holds(r) && (len(words) == 0 || holdsAll(v.text(m, r), words)) {
			list = append(list, r)
		}
	}
	slices.SortFunc(list, v.compare)
	ids := make([]string, len(list))
	for i, r := range list {
		ids[i] = r.ID
	}
	v.rows.set(ids)
}

// compare puts the longest running first, then the queue in its order, then what ended last.
func (v *runsView) compare(a, b *core.Run) int {
	if c := cmp.Compare(standing(a), standing(b)); c != 0 {
		return c
	}
	last := func(r *core.Run) int64 { return max(r.EndedAt, r.StartedAt, r.QueuedAt) }
	switch a.State {
	case core.RunRunning:
		return cmp.Or(cmp.Compare(a.StartedAt, b.StartedAt), strings.Compare(a.ID, b.ID))
	case core.RunQueued:
		return cmp.Or(cmp.Compare(a.QueuedAt, b.QueuedAt), cmp.Compare(v.place[a.ID], v.place[b.ID]), strings.Compare(a.ID, b.ID))
	}
	return cmp.Or(cmp.Compare(last(b), last(a)), strings.Compare(a.ID, b.ID))
}

// standing is where a run's state stands among the others.
func standing(r *core.Run) int {
	switch r.State {
	case core.RunRunning:
		return 0
	case core.RunQueued:
		return 1
	}
	return 2
}

// text is what the filter reads of a run, read once.
func (v *runsView) text(m *Model, r *core.Run) string {
	text, ok := v.texts[r.ID]
	if !ok {
		_, word, _ := m.runSign(&m.k.shades, r)
		text = strings.ToLower(strings.Join([]string{
			word, r.ID, r.SessionKey, m.placed(r.SessionKey), string(r.Kind), r.Model, r.Label, glance(v.message(r)), glance(r.Error),
		}, "\n"))
		v.texts[r.ID] = text
	}
	return text
}

func (v *runsView) ticks() bool {
	for _, id := range v.rows.shown() {
		if r := v.runs[id]; r != nil && r.State != core.RunEnded {
			return true
		}
	}
	return false
}

// current is the run under the cursor, nil when there is none.
func (v *runsView) current() *core.Run { return v.runs[v.rows.cursor] }

// runSign is how a run stands, as the session tells it: one at work may wait for the operator.
func (m *Model) runSign(k *shades, r *core.Run) (glyph, word string, paint ink) {
	if m.asksHere(r) {
		return stateAsks.glyph(), stateAsks.word(), k.state[stateAsks]
	}
	return runSign(k, r)
}

// runSign is how a run stands: glyph, word and ink. One that has ended says how.
func runSign(k *shades, r *core.Run) (glyph, word string, paint ink) {
	switch {
	case r.State == core.RunQueued:
		return stateQueued.glyph(), stateQueued.word(), k.state[stateQueued]
	case r.State == core.RunRunning && r.WaitingOn != "":
		return "◐", "waiting", k.busy
	case r.State == core.RunRunning:
		return stateRunning.glyph(), stateRunning.word(), k.state[stateRunning]
	}
	switch r.Outcome {
	case core.OutcomeOK:
		return "✓", "ok", k.ok
	case core.OutcomeError:
		return stateFailed.glyph(), "failed", k.err
	case core.OutcomeTimeout:
		return stateFailed.glyph(), "timed out", k.err
	case "":
		return stateIdle.glyph(), "ended", k.muted
	}
	return stateAborted.glyph(), string(r.Outcome), k.warn
}

// waited is how long a run stood in the queue, ran how long it has run; "" where that is not known.
func waited(now time.Time, r *core.Run) string {
	end := firstTime(r.StartedAt, r.EndedAt)
	if r.State == core.RunQueued {
		return ticking(now, r.QueuedAt)
	}
	return lasted(r.QueuedAt, end)
}

func ran(now time.Time, r *core.Run) string {
	if r.State == core.RunRunning {
		return ticking(now, r.StartedAt)
	}
	return lasted(r.StartedAt, r.EndedAt)
}

func firstTime(times ...int64) int64 {
	for _, t := range times {
		if t > 0 {
			return t
		}
	}
	return 0
}
