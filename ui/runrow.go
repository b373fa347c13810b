package ui

import (
	"strconv"
	"strings"
	"time"

	"cordboard/core"
)

// runColumns are the widths of the columns of the runs view; one without width is left out, the message takes the rest.
type runColumns struct{ state, session, kind, waited, ran, model, age int }

func runColumnsIn(w int) runColumns {
	c := runColumns{state: 14, session: 20, kind: 8, ran: durationWide}
	switch {
	case w >= 108:
		c = runColumns{state: 14, session: 26, kind: 8, waited: durationWide, ran: durationWide, model: 14, age: 4}
	case w >= 84:
		c = runColumns{state: 14, session: 22, kind: 8, waited: durationWide, ran: durationWide, age: 4}
	case w < 60:
		c = runColumns{state: 14, ran: durationWide}
		c.session = max(w-c.state-c.ran-4, 8)
	}
	return c
}

func (v *runsView) draw(m *Model) []string { return m.drawTable(v) }

func (v *runsView) title(m *Model) string {
	title := [runGroups]string{"Runs", "Live runs", "Queued runs", "Failed runs"}[v.group]
	if v.session != "" {
		return title + " of " + m.placed(v.session)
	}
	return title + " of all sessions"
}

func (v *runsView) none() string {
	if v.group != everyRun {
		return [runGroups]string{liveRuns: "Nothing runs or waits.", queuedRuns: "Nothing waits in a queue.", failedRuns: "No run has failed."}[v.group]
	}
	return "Nothing has run yet."
}

func (v *runsView) foot() string {
	if v.capped {
		return "the newest " + strconv.Itoa(runsMost)
	}
	return ""
}

func (v *runsView) caption(l *line, k *shades, w int) {
	c := runColumnsIn(w)
	cell(l, k.dim, "state", c.state)
	cell(l, k.dim, "session", c.session)
	cell(l, k.dim, "kind", c.kind)
	figure(l, k.dim, "waited", c.waited)
	took := "ran"
	if c.waited == 0 {
		took = "time" // waited, where it waits
	}
	figure(l, k.dim, took, c.ran)
	cell(l, k.dim, "model", c.model)
	figure(l, k.dim, "age", c.age)
	l.add(k.dim, "message")
}

func (v *runsView) row(m *Model, l *line, k *shades, id string, w int) {
	c, r, now := runColumnsIn(w), v.runs[id], m.env.Now()
	if r == nil {
		return
	}
	glyph, word, paint := m.runSign(k, r)
	if at := v.place[id]; at > 0 {
		word += " #" + strconv.Itoa(at)
	}
	cell(l, paint, glyph+" "+word, c.state)
	cell(l, k.text, m.placed(r.SessionKey), c.session)
	cell(l, k.muted, string(r.Kind), c.kind)
	figure(l, k.muted, waited(now, r), c.waited)
	took, shade := ran(now, r), k.text
	if c.waited == 0 && r.State == core.RunQueued {
		took, shade = waited(now, r), k.muted
	}
	figure(l, shade, took, c.ran)
	cell(l, k.muted, modelName(r.Model), c.model)
	figure(l, k.muted, age(now, max(r.EndedAt, r.StartedAt, r.QueuedAt)), c.age)
	if l.left > 8 {
		l.add(k.muted, glance(firstOf(v.message(r), r.Label)))
	}
}

// modelName is a model without its provider.
func modelName(model string) string { return model[strings.LastIndexByte(model, '/')+1:] }

// sheet tells all of a run.
func (v *runsView) sheet(m *Model, s *sheet) {
	r, now := v.current(), m.env.Now()
	if r == nil {
		return
	}
	glyph, word, paint := m.runSign(&s.k.shades, r)
	if at := v.place[r.ID]; at > 0 {
		word += ", number " + strconv.Itoa(at) + " in its line"
	}
	s.runs("state", run{paint, glyph + " " + word})
	s.fact("error", s.k.err, r.Error)
	if r.State == core.RunQueued {
		s.fact("held", s.k.warn, m.heldBy(r.SessionKey))
	}
	s.fact("waits on", s.k.busy, m.waitsOn(r))
	s.fact("session", s.k.accent2, r.SessionKey)
	s.fact("kind", s.k.text, string(r.Kind)+prefixed(" · lane ", r.Lane))
	s.fact("label", s.k.text, r.Label)
	s.fact("waited", s.k.text, waited(now, r))
	s.fact("ran", s.k.text, ran(now, r))
	s.fact("model", s.k.text, r.Model)
	s.fact("thinking", s.k.text, r.Thinking)
	s.fact("usage", s.k.text, usageWords(r.Usage))
	m.requestFacts(s, m.requestsOf(r.SessionKey, r.ID))
	v.announceFacts(m, s, r)
	v.origin(s, r)
	if text := v.message(r); text != "" {
		s.heading("Message")
		s.longText(s.k.text, text)
	}
	if r.Result != "" {
		s.heading("Result")
		s.longText(s.k.text, r.Result)
	}
	s.heading("Record")
	s.fact("run", s.k.text, r.ID)
	s.fact("queued", s.k.text, clock(r.QueuedAt, m.env.Zone))
	s.fact("started", s.k.text, clock(r.StartedAt, m.env.Zone))
	s.fact("ended", s.k.text, clock(r.EndedAt, m.env.Zone))
	if r.Answer != nil {
		s.fact("answers to", s.k.text, routeWords(*r.Answer))
	}
	s.fact("owner", s.k.muted, r.Owner)
}

// origin tells where a run comes from.
func (v *runsView) origin(s *sheet, r *core.Run) {
	if r.RequesterKey == "" && r.ChainID == "" && r.ExchangeID == "" && r.ParentRunID == "" {
		return
	}
	s.heading("Comes from")
	s.fact("session", s.k.accent2, r.RequesterKey)
	if r.Provenance != nil {
		s.fact("by", s.k.text, firstOf(r.Provenance.SourceTool, r.Provenance.Kind)+prefixed(" · via ", r.Provenance.Via))
	}
	s.fact("run", s.k.text, r.ParentRunID)
	s.fact("exchange", s.k.text, r.ExchangeID)
	s.fact("chain", s.k.text, r.ChainID)
	if r.ChainID != "" {
		s.fact("hop", s.k.text, strconv.Itoa(r.Hop))
	}
}

// waitsOn says which run another waits for, and where that is.
func (m *Model) waitsOn(r *core.Run) string {
	if v := m.stand.runs; v != nil && v.runs[r.WaitingOn] != nil {
		return m.placed(v.runs[r.WaitingOn].SessionKey) + " · " + r.WaitingOn
	}
	return r.WaitingOn
}

// longMost is how much of a text a sheet tells, in lines.
const longMost = 12

// longText wraps the beginning of a text that may be of any length.
func (s *sheet) longText(k ink, text string) {
	lines, more := excerpt(text, s.w-2, longMost)
	for _, t := range lines {
		s.out = append(s.out, newLine(s.w).add(k, " "+t).end(s.k.text))
	}
	if more {
		s.text(s.k.dim, "… it goes on")
	}
}

func clock(at int64, zone *time.Location) string {
	if at <= 0 {
		return ""
	}
	return time.UnixMilli(at).In(zone).Format("2 Jan 15:04:05")
}

// usageWords are tokens and cost, "" when they are not known.
func usageWords(u *core.Usage) string {
	if u == nil {
		return ""
	}
	text := count(u.Input) + " in, " + count(u.Output) + " out"
	if u.Cost != nil {
		text += " · " + price(*u.Cost)
	}
	return text
}

// price is a cost with as many digits as it needs.
func price(cost float64) string {
	if cost != 0 && cost < 1 {
		return "$" + strconv.FormatFloat(cost, 'f', 4, 64)
	}
	return "$" + strconv.FormatFloat(cost, 'f', 2, 64)
}

// routeWords is where a text goes, as a person reads it.
func routeWords(d core.DeliveryContext) string {
	if d.Channel == "" {
		return "nowhere"
	}
	return d.Channel + prefixed(" · ", d.To) + prefixed(" · account ", d.AccountID) + prefixed(" · thread ", d.ThreadID)
}
