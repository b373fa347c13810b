package ui

import (
	tea "github.com/charmbracelet/bubbletea"

	"cordboard/core"
)

// lineup is how many runs wait in line for each session. What waits is read after the fleet and goes on with what the stream tells.
type lineup struct {
	number  int                 // of the request that counts
	session map[string]string   // queued run → its session
	waiting map[string]int      // session → how many of them
	heard   map[string]core.Rev // runs told of while they are asked for
}

// lineupMost is how many runs are read.
const lineupMost = 10_000

func newLineup() lineup {
	return lineup{session: map[string]string{}, waiting: map[string]int{}}
}

type lineupMsg struct {
	number int
	page   core.RecordPage
	err    error
}

// askLineup reads what waits, unless every head says that nothing does.
func (m *Model) askLineup() tea.Cmd {
	m.lineup.number++
	live := false
	for _, h := range m.fleet.heads {
		live = live || h.Run != ""
	}
	if !live {
		m.lineup = lineup{number: m.lineup.number, session: map[string]string{}, waiting: map[string]int{}}
		return nil
	}
	m.lineup.heard = map[string]core.Rev{}
	number := m.lineup.number
	return func() tea.Msg {
		page, err := guarded(func() (core.RecordPage, error) {
			return m.env.Board.Records(m.ctx, core.RecordQuery{Kind: core.RecordRuns, Live: true, Limit: lineupMost})
		})
		return lineupMsg{number, page, err}
	}
}

func (msg lineupMsg) apply(m *Model) tea.Cmd {
	l := &m.lineup
	switch {
	case msg.number != l.number || m.ended(msg.err):
		return nil
	case msg.err != nil:
		return m.warn("how many runs wait in line is not known: " + msg.err.Error())
	}
	was := l.session
	l.session, l.waiting = map[string]string{}, map[string]int{}
	for id, session := range was {
		if l.heard[id] > msg.page.At.Rev {
			l.put(id, session)
		}
	}
	for i := range msg.page.Runs {
		if r := &msg.page.Runs[i]; r.State == core.RunQueued && l.heard[r.ID] <= msg.page.At.Rev {
			l.put(r.ID, r.SessionKey)
		}
	}
	l.heard = nil
	m.tree.dirty = true
	return nil
}

func (l *lineup) put(run, session string) {
	if _, known := l.session[run]; known {
		return
	}
	l.session[run] = session
	l.waiting[session]++
}

func (l *lineup) drop(run string) {
	session, known := l.session[run]
	if !known {
		return
	}
	delete(l.session, run)
	if l.waiting[session]--; l.waiting[session] == 0 {
		delete(l.waiting, session)
	}
}

// lineUp hears of a run as it is now.
func (m *Model) lineUp(c core.Change, at core.Rev) {
	l := &m.lineup
	before := len(l.session)
	if l.heard != nil {
		l.heard[c.ID] = at
	}
	if c.Run != nil && c.Run.State == core.RunQueued {
		l.put(c.ID, c.Run.SessionKey)
	} else {
		l.drop(c.ID)
	}
	m.tree.dirty = m.tree.dirty || len(l.session) != before
}
