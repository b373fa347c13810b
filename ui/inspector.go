package ui

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"cordboard/core"
	"cordboard/core/key"
	"cordboard/ui/safe"
)

// inspector is the right pane: the facts of the session under the cursor.
type inspector struct {
	key    string
	detail *core.SessionDetail // nil until it has come
	err    error
	stale  bool // the session was written since
	talks  talksOf
	fetch  fetch

	top   int
	w, h  int
	dirty bool
	all   []string
}

func (p *inspector) show(key string) {
	if p.key != key {
		p.key, p.detail, p.err, p.top = key, nil, nil, 0
		p.talks = talksOf{}
		p.fetch.number++
		p.fetch.waiting, p.stale = false, false
		p.dirty = true
	}
}

// wants reports whether the details have to be asked for.
func (p *inspector) wants() bool {
	return p.key != "" && !p.fetch.busy && !p.fetch.waiting && (p.detail == nil && p.err == nil || p.stale)
}

func (p *inspector) scroll(by int) {
	p.top = clamp(p.top+by, 0, max(len(p.all)-p.h, 0))
	p.dirty = true
}

func (p *inspector) resize(w, h int) {
	if w != p.w || h != p.h {
		p.w, p.h, p.dirty = w, h, true
	}
}

func (p *inspector) lines() []string {
	p.top = clamp(p.top, 0, max(len(p.all)-p.h, 0))
	return p.all[p.top:min(p.top+p.h, len(p.all))]
}

// sheet writes facts as label and value under each other.
type sheet struct {
	k   *inks
	w   int
	out []string
}

const labelWidth = 10

func (s *sheet) blank() { s.out = append(s.out, newLine(s.w).end(s.k.text)) }

func (s *sheet) heading(text string) {
	s.blank()
	s.out = append(s.out, newLine(s.w).add(s.k.title, " "+text).end(s.k.text))
}

// fact wraps a value beside its label. An empty value is not shown.
func (s *sheet) fact(label string, k ink, value string) {
	if value == "" {
		return
	}
	label = safe.Column(label)
	for _, text := range safe.Wrap(safe.Line(value), max(s.w-labelWidth-2, 1)) {
		l := newLine(s.w).add(s.k.dim, safe.Pad(" "+label, labelWidth+1))
		s.out = append(s.out, l.add(k, text).end(s.k.text))
		label = ""
	}
}

// runs is one line of painted runs beside a label.
func (s *sheet) runs(label string, runs ...run) {
	label = safe.Column(label)
	s.out = append(s.out, newLine(s.w).add(s.k.dim, safe.Pad(" "+label, labelWidth+1)).addAll(runs).end(s.k.text))
}

// text wraps a text over the whole width.
func (s *sheet) text(k ink, text string) {
	for _, t := range safe.Wrap(safe.Line(text), max(s.w-2, 1)) {
		s.out = append(s.out, newLine(s.w).add(k, " "+t).end(s.k.text))
	}
}

// draw writes the sheet of a session from its head and, when they have come, its details.
func (p *inspector) draw(m *Model, h *core.Head) {
	k, now, zone := m.k, m.env.Now(), m.env.Zone
	s := &sheet{k: k, w: p.w}
	if h.Title != "" {
		s.text(k.strong, h.Title)
	}
	s.text(k.accent2, h.Key)
	if p.err != nil {
		s.blank()
		s.text(k.err, p.err.Error())
	}
	m.sightSheet(s, h.Key)
	s.blank()
	p.identity(s, h, m.hearing.stateOf(h))
	if m.unread.news(h) {
		s.fact("unread", k.accent, "• new messages")
	}
	if !h.Flags.Has(core.FlagMirrored) {
		s.fact("held", k.warn, m.heldBy(h.Key))
	}
	s.fact("path", k.muted, m.breadcrumb(h.Key))
	m.requestFacts(s, m.requestsOf(h.Key, ""))
	if d := p.detail; d != nil {
		p.policy(s, d)
		p.affairs(m, s, d)
		p.lineage(m, s, h, d)
		p.transcripts(s, d, now)
		p.record(s, d, now, zone)
	}
	p.all = s.out
}

func (p *inspector) identity(s *sheet, h *core.Head, st state) {
	s.runs("state", run{s.k.state[st], st.glyph() + " " + st.word()})
	s.fact("kind", s.k.text, kindWord(h))
	s.fact("channel", s.k.text, h.Channel)
	if p.detail != nil {
		s.fact("chat type", s.k.text, string(p.detail.ChatType))
		model := p.detail.Session.Model
		if provider := p.detail.Session.ModelProvider; provider != "" {
			model = provider + "/" + model
		}
		s.fact("model", s.k.text, model)
		s.fact("thinking", s.k.text, p.detail.Session.ThinkingLevel)
	}
	p.tokens(s, h)
}

func kindWord(h *core.Head) string {
	if h.Kind == core.KindOther && (h.Parent != "" || key.IsSubagent(h.Key)) {
		return "other (sub-agent)"
	}
	return string(h.Kind)
}

// tokens shows figure and meter; an unknown figure is a dash, never 0.
func (p *inspector) tokens(s *sheet, h *core.Head) {
	text := tokens(h)
	if h.Flags.Has(core.FlagContextKnown) {
		text += " of " + count(h.ContextTokens)
	}
	if h.Flags.Has(core.FlagTokensStale) {
		text += " (old figure)"
	}
	part, ok := filled(h)
	if !ok {
		s.runs("tokens", run{s.k.text, text})
		return
	}
	share := strconv.Itoa(int(part*100+0.5)) + " %"
	if h.Tokens > h.ContextTokens {
		share = "more than fits"
	}
	s.runs("tokens", run{s.k.text, text}, run{s.k.muted, " · " + share})
	room := max(s.w-labelWidth-3, 4)
	full := int(part*float64(room) + 0.5)
	s.runs("", run{gaugeInk(&s.k.shades, part), strings.Repeat("█", full)}, run{s.k.dim, strings.Repeat("░", room-full)})
}

func (p *inspector) policy(s *sheet, d *core.SessionDetail) {
	s.heading("Send policy")
	verdict, k := "allow", s.k.ok
	if !d.Send.Allowed {
		verdict, k = "▲ deny", s.k.warn
	}
	s.runs("verdict", run{k, verdict})
	s.fact("rule", s.k.text, d.Send.Rule)
	s.fact("from", s.k.muted, d.Send.ConfigKey)
	if d.Sandboxed {
		s.fact("sandbox", s.k.warn, "yes")
	}
}

func (p *inspector) lineage(m *Model, s *sheet, h *core.Head, d *core.SessionDetail) {
	fleet := &m.fleet
	if h.Parent == "" && len(d.Children) == 0 {
		return
	}
	s.heading("Lineage")
	if h.Parent != "" {
		s.fact("parent", s.k.accent2, h.Parent)
		if fleet.heads[h.Parent] == nil {
			s.fact("", s.k.warn, "gone: the store does not hold it")
		}
	}
	live := 0
	for _, child := range d.Children {
		if c := fleet.heads[child]; c != nil && c.Run != "" {
			live++
		}
	}
	if live > 0 {
		s.fact("waits on", s.k.busy, strconv.Itoa(live)+" live of "+childrenOf(len(d.Children)))
	}
	for i, child := range inTurn(d.Children, fleet) {
		label := ""
		if i == 0 {
			label = "children"
		}
		if i == 12 {
			s.fact("", s.k.muted, "and "+strconv.Itoa(len(d.Children)-i)+" more")
			break
		}
		c := fleet.heads[child]
		if c == nil {
			s.runs(label, run{s.k.text, safe.CutMiddle(safe.Line(child), max(s.w-labelWidth-2, 1))})
			continue
		}
		st := m.hearing.stateOf(c)
		sign := st.glyph() + " " + st.word() + " "
		s.runs(label, run{s.k.state[st], sign}, run{s.k.text, safe.CutMiddle(safe.Line(firstOf(c.Title, child)), max(s.w-labelWidth-2-safe.Width(sign), 1))})
	}
}

// inTurn are children with those first that want a look.
func inTurn(children []string, fleet *fleet) []string {
	rank := func(key string) state {
		if h := fleet.heads[key]; h != nil {
			return stateOf(h)
		}
		return stateCount
	}
	list := slices.Clone(children)
	slices.SortStableFunc(list, func(a, b string) int { return int(rank(a)) - int(rank(b)) })
	return list
}

func (p *inspector) transcripts(s *sheet, d *core.SessionDetail, now time.Time) {
	s.heading("Transcripts")
	for _, g := range inOrder(d.Generations) {
		text := plural(g.Messages, "message")
		if g.ToolResults > 0 {
			text += ", " + plural(g.ToolResults, "tool result")
		}
		if g.Bytes > 0 {
			text += ", " + bytesOf(g.Bytes)
		}
		s.fact(string(g.State), s.k.text, text)
		if g.EndedAt > 0 {
			s.fact("", s.k.muted, ago(now, g.EndedAt))
		}
		s.fact("", s.k.dim, g.ID)
	}
	if len(d.Generations) == 0 {
		s.fact("", s.k.muted, "none yet")
	}
}

func (p *inspector) record(s *sheet, d *core.SessionDetail, now time.Time, zone *time.Location) {
	s.heading("Record")
	s.fact("id", s.k.text, d.Session.SessionID)
	stamp := func(at int64) string {
		if at <= 0 {
			return ""
		}
		return time.UnixMilli(at).In(zone).Format("2 Jan 2006 15:04:05")
	}
	s.fact("updated", s.k.text, stamp(d.Session.UpdatedAt))
	s.fact("created", s.k.text, stamp(d.Session.CreatedAt))
	if d.Session.Mirrored() {
		s.fact("source", s.k.text, "⇣ mirrored from "+d.Session.Source)
	}
}

// ago is an age in words.
func ago(now time.Time, at int64) string {
	switch a := age(now, at); a {
	case "now", unknown:
		return a
	default:
		return a + " ago"
	}
}
