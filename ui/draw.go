package ui

import (
	"strconv"

	"cordboard/core"
	"cordboard/ui/safe"
)

// box draws a pane with its border.
func (m *Model) box(p pane, b box) {
	r := m.lay.panes[p]
	b.focus = m.focus == p
	m.boxes[p] = b.draw(m.k, r.w, r.h)
	m.dirty = true
}

func (m *Model) drawTree() {
	r := m.lay.panes[paneTree]
	if !m.tree.dirty || !r.shown() {
		return
	}
	w, h := r.inner()
	var lines []string
	if m.filter.typed() {
		lines = append(lines, m.filterLine(w))
		h--
	}
	m.tree.resize(h)
	switch {
	case m.empty() && m.lay.screen == screenNarrow:
		lines = append(lines, m.welcome(w, h)...)
	case len(m.tree.rows) == 0:
		lines = append(lines, m.noRows(w, h)...)
	default:
		v := treeView{k: m.k, tree: &m.tree, heads: m.fleet.heads, sight: &m.sight, words: m.env.Accessible, marks: m.marks.keys, unread: &m.unread, heard: &m.hearing, line: &m.lineup, now: m.env.Now(), w: w, focus: m.focus == paneTree}
		lines = append(lines, v.draw()...)
	}
	m.box(paneTree, box{title: m.paneTitle(paneTree, "Sessions"), note: m.treePosition(), lines: lines})
	m.tree.dirty = false
}

func (m *Model) paneTitle(p pane, text string) []run {
	if m.focus == p {
		return []run{{m.k.titleFocus, text}}
	}
	return []run{{m.k.title, text}}
}

// treePosition tells where in a list longer than the screen the cursor is.
func (m *Model) treePosition() []run {
	if len(m.tree.rows) <= m.tree.height {
		return nil
	}
	at, all := m.tree.count()
	if at == 0 {
		return []run{{m.k.dim, strconv.Itoa(all)}}
	}
	return []run{{m.k.dim, strconv.Itoa(at) + "/" + strconv.Itoa(all)}}
}

func (m *Model) drawTranscript() {
	r := m.lay.panes[paneTranscript]
	if !m.trans.dirty || !r.shown() {
		return
	}
	m.trans.settle()
	lines := m.trans.shown(m.k, m.find.needle, m.focus == paneTranscript)
	if len(lines) == 0 {
		lines = m.noLines(m.trans.w, m.trans.h)
	}
	if m.find.active() {
		lines = append([]string{m.findLine(m.trans.w)}, lines...)
	}
	m.box(paneTranscript, box{title: m.transcriptTitle(), note: m.transcriptNote(), foot: m.position(), lines: lines})
	m.trans.dirty = false
}

func (m *Model) transcriptTitle() []run {
	h := m.fleet.heads[m.trans.key]
	if h == nil {
		return m.paneTitle(paneTranscript, m.strayTitle())
	}
	title := m.paneTitle(paneTranscript, safe.Line(h.Key))
	if !m.sight.sees(h.Key) {
		note := " ─ hidden from " + safe.Line(m.sight.viewpoint)
		room := max(m.lay.panes[paneTranscript].w-8-safe.Width(note), 16)
		return append(m.paneTitle(paneTranscript, safe.CutMiddle(safe.Line(h.Key), room)), run{m.k.warn, note})
	}
	if h.Channel != "" && h.Channel != "unknown" {
		title = append(title, run{m.k.dim, " ─ " + safe.Line(h.Channel)})
	}
	if d := m.insp.detail; d != nil && m.insp.key == m.trans.key {
		verdict, k := "allow", m.k.dim
		if !d.Send.Allowed {
			verdict, k = "▲deny", m.k.warn
		}
		title = append(title, run{m.k.dim, " ─ "}, run{k, verdict})
		if d.Send.Rule != "" {
			title = append(title, run{m.k.dim, " (" + safe.Line(d.Send.Rule) + ")"})
		}
	}
	return title
}

// strayTitle is the title of a transcript whose session is not in the fleet.
func (m *Model) strayTitle() string {
	switch t := &m.trans; {
	case t.key != "":
		return safe.Line(t.key)
	case t.generation != "":
		return "no session ─ " + safe.Line(t.generation)
	}
	return "Transcript"
}

// position tells whether the transcript is followed, what is new below, and how far down one is, by seq: there is no total height.
func (m *Model) position() []run {
	t := &m.trans
	if len(t.lines) == 0 {
		return nil
	}
	switch {
	case t.follow && t.gen.State != core.GenerationCurrent:
		return []run{{m.k.dim, "end"}} // nothing comes to an old transcript
	case t.follow:
		return []run{{m.k.dim, "following"}}
	}
	var runs []run
	if span := t.gen.LastSeq - t.gen.FirstSeq; t.gen.LastSeq > t.gen.FirstSeq && t.last >= t.gen.FirstSeq {
		runs = append(runs, run{m.k.dim, strconv.FormatUint(min((t.last-t.gen.FirstSeq)*100/span, 100), 10) + " % · "})
	}
	if t.unseen > 0 {
		runs = append(runs, run{m.k.below, "▼ " + strconv.Itoa(t.unseen) + " new"}, run{m.k.dim, " · "})
	}
	return append(runs, run{m.k.muted, m.keyFor("transcript.follow") + " follows"})
}

func (m *Model) drawInspector() {
	if !m.insp.dirty || !m.lay.panes[paneInspector].shown() {
		return
	}
	switch h := m.fleet.heads[m.insp.key]; {
	case h != nil:
		m.insp.draw(m, h)
	case m.tree.node() != nil:
		m.insp.all = m.agentSheet(m.tree.node())
	default:
		m.insp.all = nil
	}
	b := box{title: m.paneTitle(paneInspector, "Inspector"), lines: m.insp.lines()}
	if m.insp.top+m.insp.h < len(m.insp.all) {
		b.foot = []run{{m.k.dim, "↓ more"}}
	}
	m.box(paneInspector, b)
	m.insp.dirty = false
}

// agentSheet is what the inspector shows of an agent.
func (m *Model) agentSheet(n *node) []string {
	s := &sheet{k: m.k, w: m.insp.w}
	s.text(m.k.strong, n.agent)
	s.blank()
	s.fact("agent", m.k.text, n.agent)
	for _, a := range m.fleet.info.Agents {
		if a.ID != n.agent {
			continue
		}
		s.fact("name", m.k.text, a.Name)
		s.fact("default", m.k.text, yes(a.Default))
		s.fact("config", m.k.text, map[bool]string{true: "in the config", false: "only in the store"}[a.Configured])
	}
	s.fact("sessions", m.k.text, strconv.Itoa(m.tree.forest.owned[n.agent]))
	return s.out
}

func yes(is bool) string {
	if is {
		return "yes"
	}
	return ""
}
