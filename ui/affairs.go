package ui

import (
	"slices"
	"strconv"

	tea "github.com/charmbracelet/bubbletea"

	"cordboard/core"
)

// talksOf is what the inspector tells of a session's dealings with others: its newest exchanges and outbound texts.
type talksOf struct {
	exchanges  []core.Exchange
	deliveries []core.Delivery
}

// talksMsg brings them.
type talksMsg struct {
	number int
	talksOf
	err error
}

// Most runs, exchanges and texts that the inspector tells; the views tell all.
const (
	inspectRuns  = 8
	inspectTalks = 3
)

// talksCmd asks for the newest exchanges and outbound texts of a session.
func (m *Model) talksCmd(number int, key string) tea.Cmd {
	return func() tea.Msg {
		talks, err := guarded(func() (t talksOf, err error) {
			page, err := m.env.Board.Records(m.ctx, core.RecordQuery{Kind: core.RecordExchanges, Session: key, Limit: inspectTalks})
			if err != nil {
				return t, err
			}
			t.exchanges = page.Exchanges
			page, err = m.env.Board.Records(m.ctx, core.RecordQuery{Kind: core.RecordDeliveries, Session: key, Limit: inspectTalks})
			t.deliveries = page.Deliveries
			return t, err
		})
		return talksMsg{number, talks, err}
	}
}

// apply takes them in. A board that does not tell leaves what is known.
func (msg talksMsg) apply(m *Model) tea.Cmd {
	if msg.number == m.insp.fetch.number && msg.err == nil {
		m.insp.talks, m.insp.dirty = msg.talksOf, true
	}
	return nil
}

// deals reports whether a session of which these details are told may have exchanges or outbound texts: something has run there.
func deals(d *core.SessionDetail) bool { return d != nil && len(d.Runs) > 0 }

// concerns reports whether an exchange or a text that has changed is one that the inspector tells of.
func (p *inspector) concerns(c core.Change) bool {
	if p.detail == nil {
		return false
	}
	return slices.ContainsFunc(p.detail.Runs, func(r core.Run) bool { return r.ExchangeID == c.ID || r.ID == c.ID }) ||
		slices.ContainsFunc(p.talks.exchanges, func(x core.Exchange) bool { return x.ID == c.ID }) ||
		slices.ContainsFunc(p.talks.deliveries, func(d core.Delivery) bool { return d.ID == c.ID })
}

// ticks reports whether a run that the inspector tells of is live, so that its time counts on.
func (p *inspector) ticks() bool {
	return p.detail != nil && slices.ContainsFunc(p.detail.Runs, func(r core.Run) bool { return r.State != core.RunEnded })
}

// affairs tells of runs, exchanges and outbound texts.
func (p *inspector) affairs(m *Model, s *sheet, d *core.SessionDetail) {
	p.runs(m, s, d)
	if len(p.talks.exchanges) > 0 {
		s.heading("Exchanges")
		for i := range p.talks.exchanges {
			m.exchangeFact(s, d.Session.Key, &p.talks.exchanges[i])
		}
	}
	if len(p.talks.deliveries) > 0 {
		s.heading("Deliveries")
		for i := range p.talks.deliveries {
			m.deliveryFact(s, &p.talks.deliveries[i])
		}
	}
}

// runs lists the newest runs, live ones with their place in the line.
func (p *inspector) runs(m *Model, s *sheet, d *core.SessionDetail) {
	if len(d.Runs) == 0 {
		return
	}
	s.heading("Runs")
	now := m.env.Now()
	place := 0
	for i := range d.Runs {
		if d.Runs[i].State == core.RunQueued {
			place++ // the newest stands last
		}
	}
	for i := range d.Runs {
		r := &d.Runs[i]
		glyph, word, paint := m.runSign(&s.k.shades, r)
		if r.State == core.RunQueued {
			word += " #" + strconv.Itoa(place)
			place--
		}
		if i >= inspectRuns {
			continue
		}
		took := firstOf(ran(now, r), waited(now, r))
		note := prefixed(" · ", took)
		if r.State == core.RunEnded {
			note += " · " + ago(now, max(r.QueuedAt, r.StartedAt, r.EndedAt))
		}
		s.runs(string(r.Kind), run{paint, glyph + " " + word}, run{s.k.muted, note + prefixed(" · ", glance(r.Label))})
		for _, text := range []string{r.Error, r.Result} {
			if text != "" {
				s.runs("", run{s.k.dim, glance(text)})
			}
		}
	}
	if more := len(d.Runs) - inspectRuns; more > 0 {
		s.fact("", s.k.muted, "and "+strconv.Itoa(more)+" more: "+m.keyFor("runs.open")+" lists them")
	}
}

// exchangeFact is an exchange as seen from one side: with whom, and how it stands.
func (m *Model) exchangeFact(s *sheet, key string, x *core.Exchange) {
	glyph, words, paint := exchangeSign(&s.k.shades, x)
	way, other := "to", x.TargetKey
	if x.TargetKey == key && x.RequesterKey != key {
		way, other = "from", x.RequesterKey
	}
	s.runs(way, run{s.k.accent2, m.placed(other)})
	s.runs("", run{paint, glyph + " " + words}, run{s.k.muted, " · " + ago(m.env.Now(), x.CreatedAt)})
}

func (m *Model) deliveryFact(s *sheet, d *core.Delivery) {
	glyph, word, paint := deliverySign(&s.k.shades, d)
	s.runs(firstOf(d.Route.Channel, "nowhere"), run{paint, glyph + " " + word}, run{s.k.muted, " · " + ago(m.env.Now(), d.CreatedAt)})
	if text := firstOf(d.LastError, d.Rule); text != "" && d.State != core.DeliveryDelivered {
		s.runs("", run{s.k.dim, glance(text)})
	}
}
