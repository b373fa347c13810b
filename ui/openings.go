package ui

import (
	"context"

	tea "github.com/charmbracelet/bubbletea"

	"cordboard/core"
	"cordboard/ui/transcribe"
)

// A run that has started keeps no message: it stands in the transcript. The runs view reads there what the runs in sight began with.

// openingMost is how much of a message is kept, in bytes.
const openingMost = 2 << 10

// openingsMsg is what runs began with; a run whose message is not there has none.
type openingsMsg struct {
	view  *runsView
	texts map[string]string
}

// openings asks for the messages of the runs in sight that are not known yet, one question at a time.
func (v *runsView) openings(m *Model) tea.Cmd {
	var wanted []core.Run
	for _, id := range v.rows.shown() {
		if r := v.runs[id]; r != nil && r.Message == "" && r.FirstSeq > 0 {
			if _, known := v.began[id]; !known {
				wanted = append(wanted, *r)
			}
		}
	}
	if len(wanted) == 0 || v.reading {
		return nil
	}
	v.reading = true
	board, ctx := m.env.Board, m.ctx
	return func() tea.Msg {
		texts := map[string]string{}
		for i := range wanted {
			text, err := guarded(func() (string, error) { return opening(ctx, board, &wanted[i]) })
			if err != nil {
				text = "" // the row tells the rest
			}
			texts[wanted[i].ID] = text
		}
		return openingsMsg{v, texts}
	}
}

// opening is the beginning of the message that a run started with.
func opening(ctx context.Context, board core.Board, r *core.Run) (string, error) {
	q := core.MessageQuery{Generation: r.SessionID, After: r.FirstSeq - 1, Limit: 1, Oldest: r.FirstSeq == 1}
	if q.Generation == "" {
		q.Session = r.SessionKey
	}
	page, err := board.Messages(ctx, q)
	if err != nil || len(page.Messages) == 0 || page.Messages[0].Seq != r.FirstSeq {
		return "", err
	}
	text := transcribe.Said(&page.Messages[0])
	if len(text) > openingMost {
		text = text[:runeStart(text, openingMost)]
	}
	return text, nil
}

func (msg openingsMsg) apply(m *Model) tea.Cmd {
	v := msg.view
	v.reading, m.dirty = false, true
	if v.began == nil {
		v.began = map[string]string{}
	}
	for id, text := range msg.texts {
		v.began[id] = text
		delete(v.texts, id)
	}
	return nil
}

// message is what a run was given, as far as it is known.
func (v *runsView) message(r *core.Run) string { return firstOf(r.Message, v.began[r.ID]) }

// forget drops what is known of runs that are no longer listed.
func (v *runsView) forget() {
	for id := range v.began {
		if v.runs[id] == nil {
			delete(v.began, id)
		}
	}
}

// asksHere reports whether a run waits on the operator.
func (m *Model) asksHere(r *core.Run) bool {
	h := m.fleet.heads[r.SessionKey]
	return r.State == core.RunRunning && h != nil && h.Flags.Has(core.FlagAsks)
}
