package ui

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"cordboard/core"
	"cordboard/ui/safe"
)

// What the send form shows once its message is on its way: how far it is, then what came of it.

func (f *sendForm) press(m *Model, msg tea.KeyMsg) tea.Cmd {
	if f.flight == nil {
		return f.form.press(m, msg)
	}
	switch key := msg.String(); {
	case f.flight.state == flightOn && key == "w":
		wait := max(f.flight.wait, 1)
		return m.await(f.flight, wait)
	case f.flight.live() && key == "l":
		m.closeTop()
		return f.leave(m)
	case f.flight.state == flightLeaving:
	case key == "n":
		f.flight = nil
		f.at, f.view = len(f.fields), scroller{}
		return f.ask(m)
	case key == "enter" && !m.tooQuick(), key == "q":
		m.closeTop()
		return f.leave(m)
	default:
		w, room := m.layerRoom(formWide)
		f.view.scroll(key, len(f.faceLines(m, w-2)), room-2)
	}
	return nil
}

func (f *sendForm) hints(m *Model) []hint {
	if f.flight == nil {
		return f.form.hints(m)
	}
	switch f.flight.state {
	case flightLeaving:
		return []hint{{"esc", "close"}}
	case flightAwaited:
		return []hint{{"l", "let it run"}, {"n", "write another"}, {"esc", "close, the wait goes on"}}
	case flightOn:
		return []hint{{"w", "wait again"}, {"l", "let it run"}, {"n", "write another"}, {"esc", "close"}}
	}
	return []hint{{"enter", "close"}, {"n", "write another"}, {"↑↓", "scroll"}, {"esc", "close"}}
}

func (f *sendForm) draw(m *Model) []string {
	if f.flight == nil {
		return f.form.draw(m)
	}
	w, room := m.layerRoom(formWide)
	return f.view.draw(m, f.flight.title(), f.faceLines(m, w-2), w, room)
}

func (f *sendForm) point(m *Model) (x, y int) {
	if f.flight == nil {
		return f.form.point(m)
	}
	return 1, 1
}

func (x *flight) title() string {
	switch {
	case x.state == flightLeaving:
		return "Sending"
	case x.state == flightOver && x.end.Outcome == core.OutcomeOK:
		return "Answered"
	case x.state == flightOver:
		return "No answer"
	}
	return "Sent"
}

const sentLines = 3 // of the message that was sent

func (f *sendForm) faceLines(m *Model, w int) []string {
	k := *m.k
	k.shades = m.k.panel
	x := f.flight
	s := &sheet{k: &k, w: w}
	s.fact("to", k.text, m.called(x.to))
	if x.as != "" {
		s.fact("as", k.text, m.called(x.as))
	} else {
		s.fact("as", k.text, "the operator")
	}
	said := &sheet{k: &k, w: w}
	said.fact("message", k.text, glance(x.text))
	s.out = append(s.out, said.out[:min(len(said.out), sentLines)]...)
	if x.run != "" {
		s.fact("run", k.muted, x.run)
	}
	fate := &sheet{k: &k, w: w}
	fate.text(x.ground(&k), x.status(m.env.Now()))
	fate.out = append(fate.out, f.outcomeLines(m, w)...)
	if _, room := m.layerRoom(formWide); len(s.out)+4 > room { // with the borders: how it stands would be out of view
		fate.blank()
		return append(fate.out, s.out...)
	}
	s.blank()
	return append(s.out, fate.out...)
}

func (x *flight) ground(k *inks) ink {
	switch {
	case x.state == flightOver && x.end.Outcome == core.OutcomeOK:
		return k.ok
	case x.state == flightOver:
		return k.err
	case x.state == flightOn:
		return k.warn
	}
	return k.busy
}

// outcomeLines are what there is to say and to do beside the status.
func (f *sendForm) outcomeLines(m *Model, w int) []string {
	k := *m.k
	k.shades = m.k.panel
	x := f.flight
	s := &sheet{k: &k, w: w}
	if why := m.holding(x); why != "" {
		s.text(k.warn, "It waits: "+why)
	}
	switch {
	case x.state == flightAwaited && x.fault != nil:
		s.text(k.warn, "The owner of the store does not answer, asking again: "+x.fault.Error())
	case x.state == flightOn:
		s.text(k.text, "No reply yet. The message "+x.taken()+" and the run goes on; its reply will be in the transcript.")
		s.text(k.muted, "w waits again · l lets it run")
	case x.state == flightOver && x.end.Outcome == core.OutcomeOK && strings.TrimSpace(x.reply) == "":
		s.text(k.muted, "It wrote no text.")
	case x.state == flightOver && x.end.Outcome == core.OutcomeOK:
		s.blank()
		for _, line := range safe.Wrap(safe.Block(firstBytes(x.reply, 64<<10)), max(w-2, 1)) {
			s.out = append(s.out, newLine(w).add(k.text, " "+line).end(k.text))
		}
	case x.state == flightOver:
		s.text(k.muted, "The message is in the transcript.")
	}
	return s.out
}

// firstBytes is the beginning of a text; the rest is in the transcript.
func firstBytes(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return text[:runeStart(text, most)] + "\n…"
}
