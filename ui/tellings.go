package ui

import (
	"context"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"cordboard/core"
)

// What became of a sub-agent's announce: its run says whether it was made, its one outbound text whether it arrived. The runs view asks for
// the text of the run under its cursor.

// telling is the one outbound text of a sub-agent's run; nil = there is none.
type tellingMsg struct {
	view *runsView
	run  string
	text *core.Delivery
	err  error
}

const announceOfRun = "/announce" // after the run's id, the id of its text

// telling asks for the text of the run under the cursor when it is not known, one question at a time.
func (v *runsView) telling(m *Model) tea.Cmd {
	r := v.current()
	if r == nil || r.Spawn == nil || r.Spawn.Announce != core.AnnounceSent || v.asking {
		return nil
	}
	if _, known := v.told[r.ID]; known {
		return nil
	}
	v.asking = true
	board, ctx, id, session := m.env.Board, m.ctx, r.ID, r.SessionKey
	return func() tea.Msg {
		text, err := guarded(func() (*core.Delivery, error) { return announced(ctx, board, id, session) })
		return tellingMsg{v, id, text, err}
	}
}

func announced(ctx context.Context, board core.Board, run, session string) (*core.Delivery, error) {
	page, err := board.Records(ctx, core.RecordQuery{Kind: core.RecordDeliveries, Session: session})
	if err != nil {
		return nil, err
	}
	for i := range page.Deliveries {
		if page.Deliveries[i].ID == run+announceOfRun {
			return &page.Deliveries[i], nil
		}
	}
	return nil, nil
}

func (msg tellingMsg) apply(m *Model) tea.Cmd {
	v := msg.view
	v.asking, m.dirty, m.barsDirty = false, true, true
	if v.told == nil {
		v.told = map[string]*core.Delivery{}
	}
	v.told[msg.run] = msg.text // an error tells nothing, and is not asked again until the text changes
	return nil
}

// hearTelling forgets a text that has changed.
func (v *runsView) hearTelling(c core.Change) {
	if c.Kind == core.ChangeDelivery {
		delete(v.told, strings.TrimSuffix(c.ID, announceOfRun))
	}
}

// announceFacts tell how the announce of a sub-agent's run stands.
func (v *runsView) announceFacts(m *Model, s *sheet, r *core.Run) {
	if r.Spawn == nil {
		return
	}
	s.heading("Sub-agent")
	if r.Spawn.Mode == core.SpawnSession {
		s.fact("mode", s.k.text, "stays in its thread")
	}
	if r.Spawn.TimeoutSeconds > 0 {
		s.fact("cut after", s.k.text, seconds(r.Spawn.TimeoutSeconds))
	}
	s.fact("cleanup", s.k.text, r.Cleanup)
	to := "the requester's transcript"
	if r.Spawn.Route != nil {
		to = routeOf(r.Spawn.Route)
	}
	s.fact("tells", s.k.text, to)
	word, paint := announceWord(&s.k.shades, r.Spawn.Announce)
	d := v.told[r.ID]
	if d != nil && d.State != core.DeliveryDelivered {
		var sign string
		sign, word, paint = deliverySign(&s.k.shades, d)
		word = sign + " " + word
	}
	s.runs("announce", run{paint, word})
	s.fact("", s.k.err, r.Spawn.AnnounceError)
	if d != nil && d.State != core.DeliveryDelivered {
		s.fact("", s.k.muted, firstOf(d.LastError, d.Rule))
	}
	if announceRetry(r, d) {
		s.fact("", s.k.accent, m.keyFor("runs.retry")+" tries again")
	}
	if r.Spawn.Files != nil {
		for _, file := range r.Spawn.Files.Files {
			s.fact("file", s.k.text, file.Name+" · "+bytesOf(file.Bytes))
		}
	}
}

func announceWord(k *shades, a core.AnnounceState) (string, ink) {
	switch a {
	case "":
		return "when it has ended", k.muted
	case core.AnnouncePending:
		return "◌ it is asked what to tell", k.busy
	case core.AnnounceSent:
		return "✓ announced", k.ok
	case core.AnnounceSkipped:
		return "skipped: it chose silence", k.muted
	case core.AnnounceOff:
		return "off: agents.defaults.subagents.announce", k.muted
	case core.AnnounceFailed:
		return "✗ failed", k.err
	}
	return "⊘ " + string(a), k.warn
}

// announceRetry reports whether the engine would try the announce of a run again.
func announceRetry(r *core.Run, d *core.Delivery) bool {
	return r.Spawn != nil && (r.Spawn.Announce == core.AnnounceFailed || d != nil && canRetry(d))
}

// runCount is how many runs an end of sessions would end.
type runCountMsg struct {
	dialog *confirm
	text   string
}

// countRuns has a dialog that ends sessions name how many runs it would end.
func (m *Model) countRuns(c *confirm, keys []string) tea.Cmd {
	board, ctx := m.env.Board, m.ctx
	among := map[string]bool{}
	for _, key := range keys {
		among[key] = true
	}
	return func() tea.Msg {
		running, queued := 0, 0
		page, err := guarded(func() (core.RecordPage, error) {
			return board.Records(ctx, core.RecordQuery{Kind: core.RecordRuns, Limit: runsMost})
		})
		for i := range page.Runs {
			switch r := &page.Runs[i]; {
			case !among[r.SessionKey]:
			case r.State == core.RunRunning:
				running++
			case r.State == core.RunQueued:
				queued++
			}
		}
		switch {
		case err != nil:
			return runCountMsg{c, "How many runs it ends cannot be told: " + err.Error()}
		case running+queued == 0:
			return runCountMsg{c, "Nothing runs or waits there now."}
		}
		return runCountMsg{c, "It ends " + plural(running+queued, "run") + ": " + count(int64(running)) + " at work, " + count(int64(queued)) + " queued."}
	}
}

func (msg runCountMsg) apply(m *Model) tea.Cmd {
	msg.dialog.what = append([]string{msg.text}, msg.dialog.what...)
	m.dirty = true
	return nil
}
