package ui

import (
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"cordboard/core"
)

// requests are what agents ask permission for: they wait for the operator. The board is asked when a session begins or ends to wait.
type requests struct {
	list  []core.Approval // oldest first
	busy  bool
	again bool // something changed while it was asked
}

type requestsMsg struct {
	list []core.Approval
	err  error
}

// askRequests asks what waits for permission now; one question is under way at a time.
func (m *Model) askRequests() tea.Cmd {
	if m.permits.busy {
		m.permits.again = true
		return nil
	}
	m.permits.busy, m.permits.again = true, false
	return func() tea.Msg {
		page, err := guarded(func() (core.RecordPage, error) {
			return m.env.Board.Records(m.ctx, core.RecordQuery{Kind: core.RecordApprovals})
		})
		return requestsMsg{page.Approvals, err}
	}
}

// apply takes them in. A board that does not tell has none to answer.
func (msg requestsMsg) apply(m *Model) tea.Cmd {
	m.permits.busy = false
	if m.ended(msg.err) {
		return nil
	}
	if m.permits.list = msg.list; msg.err != nil {
		m.permits.list = nil
	}
	m.dirty, m.insp.dirty = true, true
	for _, l := range slices.Clone(m.layers) {
		if p, ok := l.(*permission); ok {
			p.settle(m)
		}
	}
	if m.permits.again {
		return m.askRequests()
	}
	return nil
}

// hearRequests asks anew when a session has begun or ceased to wait for the operator, or waits for more.
func (m *Model) hearRequests(old, now *core.Head) tea.Cmd {
	waits := func(h *core.Head) bool { return h != nil && h.Flags.Has(core.FlagAsks) }
	if waits(old) || waits(now) {
		return m.askRequests()
	}
	return nil
}

// anyAsks reports whether any session waits for the operator.
func (m *Model) anyAsks() bool {
	for _, h := range m.fleet.heads {
		if h.Flags.Has(core.FlagAsks) {
			return true
		}
	}
	return false
}

// requestsOf are the requests of a session, or of one of its runs where that is named.
func (m *Model) requestsOf(session, run string) (list []core.Approval) {
	for _, r := range m.permits.list {
		if r.Session == session && (run == "" || r.Run == run) {
			list = append(list, r)
		}
	}
	return list
}

// requestFacts tells of what is asked for in a sheet.
func (m *Model) requestFacts(s *sheet, list []core.Approval) {
	if len(list) == 0 {
		return
	}
	s.heading("Asks for permission")
	for i := range list {
		s.text(s.k.strong, list[i].Title)
		s.text(s.k.muted, ago(m.env.Now(), list[i].At)+" · "+m.keyFor("message.reply")+" answers")
	}
}
