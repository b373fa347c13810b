package ui

import (
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"cordboard/core"
)

// hearing is what the console knows of replies that are being written: which sessions its stream listens to, and which of them have said
// something. Only what is on the screen is listened to.
type hearing struct {
	focus    []string          // told to the stream last
	focusing bool              // it is being told
	want     []string          // scratch
	runs     map[string]string // session → its live run that has said something
}

func newHearing() hearing { return hearing{runs: map[string]string{}} }

// stateOf is what a session is doing, whether it has said something included.
func (e *hearing) stateOf(h *core.Head) state {
	st := stateOf(h)
	if st == stateRunning && e.runs[h.Key] != "" {
		return stateStreaming
	}
	return st
}

// hear takes in what a live run said.
func (m *Model) hear(d *core.Delta) {
	if d.Session == m.trans.key {
		m.trans.hear(d, m.env.Now())
	}
	if d.Thought || d.Offset+len(d.Text) == 0 || m.hearing.runs[d.Session] == d.Run {
		return
	}
	m.hearing.runs[d.Session] = d.Run
	m.stateMoved(d.Session)
}

// stateMoved has drawn anew what shows a session's state.
func (m *Model) stateMoved(key string) {
	m.tree.dirty = m.tree.dirty || m.tree.visible(key)
	m.insp.dirty = m.insp.dirty || m.insp.key == key
}

// fellSilent hears that a run ended, or is gone.
func (m *Model) fellSilent(c core.Change) {
	if c.Run == nil || c.Run.State != core.RunEnded || m.hearing.runs[c.Run.SessionKey] != c.ID {
		return
	}
	delete(m.hearing.runs, c.Run.SessionKey)
	m.stateMoved(c.Run.SessionKey)
}

type focusedMsg struct {
	stream core.Stream
	err    error
}

// keepFocus tells the stream what is on the screen when that is something else now; one call is under way at a time.
func (m *Model) keepFocus() tea.Cmd {
	e := &m.hearing
	s := m.link.stream
	if s == nil || e.focusing {
		return nil
	}
	e.want = m.inSight(e.want[:0])
	if slices.Equal(e.want, e.focus) {
		return nil
	}
	e.focus, e.focusing = slices.Clone(e.want), true
	focus := e.focus
	return func() tea.Msg {
		_, err := guarded(func() (struct{}, error) { return struct{}{}, s.Focus(focus...) })
		return focusedMsg{s, err}
	}
}

func (msg focusedMsg) apply(m *Model) tea.Cmd {
	if msg.stream != m.link.stream {
		return nil
	}
	m.hearing.focusing = false
	if msg.err == nil || m.ended(msg.err) {
		return nil
	}
	return m.warn("what runs are saying is not shown before they end: " + msg.err.Error())
}

// inSight are the session whose transcript is on the screen and those that run among the rows on the screen, sorted.
func (m *Model) inSight(keys []string) []string {
	if m.stage() != nil {
		return keys // a view in the place of the panes
	}
	if t := &m.trans; t.key != "" && m.lay.panes[paneTranscript].shown() && (t.generation == "" || t.gen.State == core.GenerationCurrent) {
		keys = append(keys, t.key)
	}
	if t := &m.tree; m.lay.panes[paneTree].shown() {
		for i := max(t.top, 0); i < min(t.top+t.height, len(t.rows)); i++ {
			key := t.forest.nodes[t.rows[i].node].id
			if h := m.fleet.heads[key]; h != nil && h.Run == core.RunRunning {
				keys = append(keys, key)
			}
		}
	}
	slices.Sort(keys)
	keys = slices.Compact(keys)
	return keys[:min(len(keys), core.MaxFocus)]
}
