package ui

import (
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"cordboard/core"
)

// timeline is one exchange from its request to what became of its announce: the requester's side at the left, the target's at the right,
// under each other where there is no room for both (console.md §4). The cursor is on a scene, by its id.
type timeline struct {
	view
	id     string
	detail *core.ExchangeDetail // nil until it has come
	whole  bool                 // texts to their end
	scenes []scene
	lines  []string
	spans  []reach // of the scenes in the lines
	top    int     // first line on the screen
	w, h   int     // laid out for
}

// reach is where a scene's lines are.
type reach struct{ from, to int }

// scene is something said or done in an exchange.
type scene struct {
	id      string
	session string // on whose side it is, "" = nobody's
	right   bool   // that is the target's
	at      int64
	name    string // round 1, turn 2, announce, delivery
	state   run    // glyph and word
	note    string // how long it took, which model
	text    string
	paint   ink
	to      target // where it stands in a transcript; "" = nowhere
	retry   *core.Retry
	live    bool
}

func (m *Model) openTimeline(id string) tea.Cmd {
	return m.openStage(&timeline{view: newView(), id: id})
}

func (v *timeline) scope() scope { return inTimeline }

func (v *timeline) query() core.RecordQuery {
	return core.RecordQuery{Kind: core.RecordExchange, ID: v.id}
}

func (v *timeline) take(page core.RecordPage) {
	v.detail = page.Exchange
	if v.detail == nil {
		v.err = core.Errorf(core.CodeNotFound, "there is no exchange %s", v.id)
	}
}

// hear wants the exchange read anew when it, one of its runs or its delivery has changed.
func (v *timeline) hear(c core.Change, _ core.Rev) bool {
	switch c.Kind {
	case core.ChangeExchange:
		return c.ID == v.id
	case core.ChangeRun:
		return c.Run != nil && c.Run.ExchangeID == v.id
	case core.ChangeDelivery:
		return strings.HasPrefix(c.ID, v.id) || v.detail != nil && v.detail.Delivery != nil && v.detail.Delivery.ID == c.ID
	}
	return false
}

func (v *timeline) ticks() bool {
	return slices.ContainsFunc(v.scenes, func(s scene) bool { return s.live })
}

// arrange lays the scenes out anew. One that looks at the last scene goes on to the next that comes.
func (v *timeline) arrange(m *Model) {
	follows := len(v.rows.ids) > 0 && v.rows.index == len(v.rows.ids)-1
	v.w, v.h = m.lay.w-2, m.stageRows()+1
	if v.detail == nil {
		return
	}
	v.scenes = m.scenesOf(v.detail)
	ids := make([]string, len(v.scenes))
	for i := range v.scenes {
		ids[i] = v.scenes[i].id
	}
	first := len(v.rows.ids) == 0
	v.rows.set(ids)
	if first && !exchangeOver(&v.detail.Exchange) || follows {
		v.rows.jump(len(ids) - 1)
	}
	v.layOut(m)
}

// layOut draws the lines and brings the scene under the cursor into view.
func (v *timeline) layOut(m *Model) {
	d := newScenery(m, v)
	v.lines, v.spans = d.draw()
	h := v.room()
	v.top = clamp(v.top, 0, max(len(v.lines)-h, 0))
	if v.rows.index < len(v.spans) {
		at := v.spans[v.rows.index]
		v.top = clamp(v.top, min(at.from, at.to-h), max(at.from, at.to-h))
	}
}

// room is how many lines of scenes are in view; the heads of both sides stay above them.
func (v *timeline) room() int { return max(v.h-headLines(v.w), 1) }

// step goes to the next scene or the one before, or through one that is longer than the screen.
func (v *timeline) step(m *Model, by int) {
	const lines = 3
	if v.rows.index < len(v.spans) && max(by, -by) == 1 {
		at, h := v.spans[v.rows.index], v.room()
		switch {
		case by > 0 && at.to > v.top+h:
			v.top = min(v.top+lines, at.to-h)
			return
		case by < 0 && at.from < v.top:
			v.top = max(v.top-lines, at.from)
			return
		}
	}
	v.rows.move(by)
	if by < -1 {
		v.top = 0 // a leap lands on the beginning
	}
	v.layOut(m)
}

// current is the scene under the cursor, nil when there is none.
func (v *timeline) current() *scene {
	if v.rows.index < len(v.scenes) {
		return &v.scenes[v.rows.index]
	}
	return nil
}

// scenesOf tells an exchange as scenes, in their order.
func (m *Model) scenesOf(d *core.ExchangeDetail) []scene {
	k := &m.k.shades
	request := scene{id: "request", session: d.RequesterKey, at: d.CreatedAt, name: "request", text: d.Request, paint: k.text}
	if len(d.Steps) > 0 {
		r := &d.Steps[0].Run
		request.to = target{key: r.SessionKey, generation: r.SessionID, seq: r.FirstSeq}
	}
	list := []scene{request}
	for i := range d.Steps {
		list = append(list, m.stepScene(d, &d.Steps[i]))
	}
	if d.Delivery != nil {
		list = append(list, m.deliveryScene(d.Delivery))
	}
	glyph, words, paint := exchangeSign(k, &d.Exchange)
	last := scene{id: "end", at: d.UpdatedAt, name: "now", state: run{paint, glyph + " " + words}, text: m.exchangeStory(&d.Exchange), paint: k.muted}
	if exchangeOver(&d.Exchange) {
		last.name = "the end"
	}
	return append(list, last)
}

func (m *Model) stepScene(d *core.ExchangeDetail, step *core.ExchangeStep) scene {
	k, r, now := &m.k.shades, &step.Run, m.env.Now()
	glyph, word, paint := runSign(k, r)
	s := scene{
		id: firstOf(r.ID, step.Name), session: step.Speaker, right: step.Speaker != d.RequesterKey || d.RequesterKey == d.TargetKey,
		at: firstTime(r.StartedAt, r.QueuedAt), name: step.Name, state: run{paint, glyph + " " + word},
		text: step.Reply, paint: k.text, live: r.State != core.RunEnded,
		to: target{key: step.Speaker, generation: r.SessionID, seq: firstSeq(r.LastSeq, r.FirstSeq)},
	}
	s.note = strings.TrimPrefix(prefixed(" · ", firstOf(ran(now, r), waited(now, r)))+prefixed(" · ", modelName(r.Model)), " · ")
	switch {
	case r.State == core.RunQueued:
		s.text, s.paint = "It waits in the queue.", k.muted
	case r.State == core.RunRunning:
		s.text, s.paint = "It is at work on the answer…", k.muted
	case r.Outcome != core.OutcomeOK:
		s.text, s.paint = firstOf(r.Error, "It ended without an answer."), k.err
		s.retry = &core.Retry{Run: r.ID}
	case strings.TrimSpace(step.Reply) == "":
		s.text, s.paint = "It said nothing.", k.muted
	}
	return s
}

func firstSeq(seqs ...uint64) uint64 {
	for _, seq := range seqs {
		if seq > 0 {
			return seq
		}
	}
	return 0
}

func (m *Model) deliveryScene(d *core.Delivery) scene {
	k := &m.k.shades
	glyph, word, paint := deliverySign(k, d)
	s := scene{
		id: "delivery " + d.ID, session: d.SessionKey, right: true, at: d.CreatedAt, name: "to " + routeWords(d.Route), state: run{paint, glyph + " " + word},
		text: strings.Join(slices.DeleteFunc([]string{m.deliveryStory(d), d.LastError, prefixed("Rule: ", d.Rule)}, func(s string) bool { return s == "" }), "\n"), paint: k.muted,
		to: target{key: d.SessionKey},
	}
	if canRetry(d) {
		s.retry = &core.Retry{Delivery: d.ID}
	}
	return s
}

// canRetry reports whether an outbound text can be tried again.
func canRetry(d *core.Delivery) bool {
	return d.State == core.DeliveryGaveUp || d.State == core.DeliveryUnknown
}
