package ui

import (
	"encoding/json"
	"slices"
	"time"

	"cordboard/core"
	"cordboard/ui/md"
)

// partial is the reply that a live run is writing, as the transcript shows it: a message below those that are held, in the place of the
// one that will be stored. It has that one's seq, so what is looked at stays where it is when the one replaces the other.
type partial struct {
	core.Partial
	message core.Message // Raw is made when it is asked for
	blocks  []md.Block   // of Text
}

// partialOf is a partial that was read; nil stays nil.
func partialOf(p *core.Partial) *partial {
	if p == nil {
		return nil
	}
	out := &partial{Partial: *p, message: core.Message{Seq: p.After + 1, Role: core.RoleAssistant}}
	out.blocks = md.Split(p.Text)
	return out
}

// spoken reports whether anything was said or thought.
func (p *partial) spoken() bool { return p.Text != "" || p.Thought != "" }

// grow takes in what of a delta is new and reports whether it fits.
func (p *partial) grow(d *core.Delta) bool {
	had := &p.Text
	if d.Thought {
		had = &p.Thought
	}
	if d.Run != p.Run || d.After != p.After || d.Offset > len(*had) {
		return false
	}
	if fresh := d.Text[min(len(*had)-d.Offset, len(d.Text)):]; fresh != "" {
		was := *had
		*had += fresh
		p.message.Raw = nil
		if !d.Thought {
			p.blocks, _ = md.Regrow(was, p.blocks, p.Text)
		}
	}
	return true
}

// raw is the message as it would be stored now.
func (p *partial) raw() json.RawMessage {
	type block struct {
		Type     string `json:"type"`
		Text     string `json:"text,omitempty"`
		Thinking string `json:"thinking,omitempty"`
	}
	list := []block{}
	if p.Thought != "" {
		list = append(list, block{Type: "thinking", Thinking: p.Thought})
	}
	if p.Text != "" {
		list = append(list, block{Type: "text", Text: p.Text})
	}
	out, err := json.Marshal(struct {
		Role    string  `json:"role"`
		Content []block `json:"content"`
	}{"assistant", list})
	if err != nil {
		return nil // strings always marshal
	}
	return out
}

// speaking is the partial that stands below what is held, nil when there is none to see: nothing was said, the end is elsewhere, or the
// filter leaves it out.
func (t *transcript) speaking() *partial {
	p := t.partial
	if p == nil || !p.spoken() || t.below || !t.known || t.narrow.Errors {
		return nil
	}
	if len(t.narrow.Roles) > 0 && !slices.Contains(t.narrow.Roles, core.RoleAssistant) {
		return nil
	}
	return p
}

// count is how many messages there are to see: those that are held, and the one that is being written.
func (t *transcript) count() int {
	if t.speaking() != nil {
		return len(t.held) + 1
	}
	return len(t.held)
}

// message is the one at i.
func (t *transcript) message(i int) *core.Message {
	if i == len(t.held) {
		return &t.partial.message
	}
	return &t.held[i]
}

// index is where the message with a seq is, ok false when it is not here.
func (t *transcript) index(seq uint64) (i int, ok bool) {
	i = t.find(seq)
	return i, i < t.count() && t.message(i).Seq == seq
}

// setPartial shows what a page said of the live run: what was shown before is in the page's messages, or goes on. What was heard since the
// page was read stays.
func (t *transcript) setPartial(page *core.MessagePage, now time.Time) {
	was := t.partial
	if was != nil && was.outlives(page) {
		return
	}
	t.begin(page.Partial, now)
	if p := t.partial; p != nil && was != nil && was.Run == p.Run && was.After == p.After {
		p.message.At = was.message.At
	}
}

// outlives reports whether a partial was heard after a page was read.
func (p *partial) outlives(page *core.MessagePage) bool {
	read := page.Partial
	if read == nil {
		return p.After >= page.Generation.LastSeq
	}
	return read.Run == p.Run && read.After == p.After && len(read.Text) <= len(p.Text) && len(read.Thought) <= len(p.Thought)
}

// begin shows another partial, nil for none.
func (t *transcript) begin(p *core.Partial, now time.Time) {
	if t.partial != nil {
		t.items.forget(t.partial.message.Seq)
	}
	if t.partial = partialOf(p); p != nil {
		t.partial.message.At = now.UnixMilli()
		t.items.forget(t.partial.message.Seq)
	}
}

// hear takes in what the live run of the session said. What does not go on from what is here has it read anew, and so has what begins
// while messages are on their way: it would stand above them.
func (t *transcript) hear(d *core.Delta, now time.Time) {
	p := t.partial
	switch begins := p == nil || !p.spoken() || p.Run != d.Run || p.After != d.After; {
	case t.generation != "" && t.gen.State != core.GenerationCurrent:
		return // the run writes into another transcript
	case !t.known, begins && (d.Offset > 0 || d.After != t.gen.LastSeq || t.grew || t.fetch.busy || p != nil && p.spoken()):
		t.grew = true
		return
	case begins:
		t.begin(&core.Partial{Run: d.Run, After: d.After}, now)
	}
	seen, drawn := t.onScreen(), t.items.all[t.partial.message.Seq]
	switch {
	case !t.partial.grow(d):
		t.grew = true
	case d.Text != "":
		t.redraw(drawn)
		t.dirty = t.dirty || seen || t.onScreen()
	}
}

// onScreen reports whether what the live run says is or would be on the screen.
func (t *transcript) onScreen() bool {
	return t.follow || len(t.lines) < t.h || t.partial != nil && t.last >= t.partial.message.Seq
}

// redraw takes the partial apart anew and keeps what is drawn of the parts that are as they were.
func (t *transcript) redraw(was *item) {
	t.items.forget(t.partial.message.Seq)
	if was == nil || t.speaking() == nil {
		return
	}
	now := t.item(len(t.held))
	for p := range min(len(was.parts), len(now.parts)) {
		if a, b := &was.parts[p], &now.parts[p]; a.kind == b.kind && a.text == b.text && a.md == b.md && a.kind != partOneLine {
			now.drawn[p] = was.drawn[p]
		}
	}
	now.wide = was.wide
}

// speaking takes a partial apart as make does a message.
func (e entryMaker) speaking(p *partial, before *core.Message) *entry {
	out := &entry{top: before == nil, day: e.newDay(&p.message, before), bar: e.k.agent}
	lead := []run{{e.k.muted, e.clock(p.message.At) + "  "}, {e.k.agent, "agent"}, {e.k.state[stateStreaming], " ● streaming"}}
	out.parts = append(out.parts, part{kind: partGap}, part{kind: partOneLine, lead: lead})
	if p.Thought != "" {
		e.thought(out, p.Thought)
	}
	if e.read.raw {
		e.text(out, e.k.text, p.Text)
		return out
	}
	for _, b := range p.blocks {
		out.parts = append(out.parts, part{kind: partMarkdown, md: b})
	}
	return out
}
