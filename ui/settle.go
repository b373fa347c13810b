package ui

import (
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"cordboard/core"
	"cordboard/ui/safe"
)

// settle brings everything that depends on something up to date after a message: layout, the panes that follow the cursor, the lines of
// what changed, and the requests that are due.
func (m *Model) settle() tea.Cmd {
	m.lay = arrange(m.w, m.h, m.focus)
	if m.lay != m.laidOut {
		m.laidOut = m.lay
		m.barsDirty, m.tree.dirty, m.trans.dirty, m.insp.dirty = true, true, true, true
		m.resize()
	}
	m.followCursor()
	m.drawTree()
	m.drawTranscript()
	m.drawInspector()
	if m.barsDirty && m.lay.screen != screenTooSmall {
		m.head, m.foot = m.header(), m.footer()
		m.barsDirty, m.dirty = false, true
	}
	return m.requests()
}

func (m *Model) resize() {
	m.dirty = true
	if r := m.lay.panes[paneTranscript]; r.shown() {
		m.trans.resize(r.inner())
	}
	if r := m.lay.panes[paneInspector]; r.shown() {
		m.insp.resize(r.inner())
	}
}

// followCursor turns the other panes to the session under the cursor.
func (m *Model) followCursor() {
	key := m.tree.selected()
	if key != m.trans.key {
		m.trans.show(key, "")
		m.barsDirty = true
	}
	if key != m.insp.key {
		m.insp.show(key)
	}
}

func (m *Model) requests() tea.Cmd {
	var cmds []tea.Cmd
	if q, ok := m.trans.wants(); ok {
		m.trans.asked()
		cmds = append(cmds, m.pageCmd(m.trans.fetch.begin(), q))
	}
	if m.insp.wants() {
		m.insp.stale = false
		cmds = append(cmds, m.detailCmd(m.insp.fetch.begin(), m.insp.key))
	}
	return tea.Batch(cmds...)
}

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
	if m.filter.active() {
		lines = append(lines, m.filterLine(w))
		h--
	}
	m.tree.resize(h)
	switch {
	case m.empty() && m.lay.screen == screenNarrow:
		lines = append(lines, m.passages(w, h, m.welcome())...)
	case len(m.tree.rows) == 0:
		lines = append(lines, m.noRows(w, h)...)
	default:
		v := treeView{k: m.k, tree: &m.tree, heads: m.fleet.heads, now: m.env.Now(), w: w, focus: m.focus == paneTree}
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
	return []run{{m.k.dim, strconv.Itoa(m.tree.index+1) + "/" + strconv.Itoa(len(m.tree.rows))}}
}

func (m *Model) drawTranscript() {
	r := m.lay.panes[paneTranscript]
	if !m.trans.dirty || !r.shown() {
		return
	}
	m.trans.settle()
	lines := m.trans.lines
	if len(lines) == 0 {
		lines = m.noLines(m.trans.w, m.trans.h)
	}
	m.box(paneTranscript, box{title: m.transcriptTitle(), note: m.generationNote(), foot: m.position(), lines: lines})
	m.trans.dirty = false
}

func (m *Model) transcriptTitle() []run {
	h := m.fleet.heads[m.trans.key]
	if h == nil {
		return m.paneTitle(paneTranscript, "Transcript")
	}
	title := m.paneTitle(paneTranscript, safe.Line(h.Key))
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
	return append(runs, run{m.k.muted, "G follows"})
}

func (m *Model) drawInspector() {
	if !m.insp.dirty || !m.lay.panes[paneInspector].shown() {
		return
	}
	switch h := m.fleet.heads[m.insp.key]; {
	case h != nil:
		m.insp.draw(m.k, h, &m.fleet, m.env.Now(), m.env.Zone)
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

// compose puts the frame together from lines that are ready.
func (m *Model) compose() string {
	if m.w <= 0 || m.h <= 0 {
		return ""
	}
	if m.lay.screen == screenTooSmall {
		return tooSmall(m.w, m.h)
	}
	lines := make([]string, 0, m.h)
	lines = append(lines, m.head)
	switch m.lay.screen {
	case screenNarrow:
		lines = append(lines, m.boxes[m.focus]...)
	case screenMedium:
		right := m.boxes[paneTranscript]
		if m.lay.over {
			right = m.boxes[paneInspector]
		}
		lines = beside(lines, m.boxes[paneTree], right)
	default:
		lines = beside(lines, m.boxes[paneTree], m.boxes[paneTranscript], m.boxes[paneInspector])
	}
	lines = append(lines, m.foot)
	if m.help.open {
		over, w, h := m.helpBox()
		cover(lines, over, (m.w-w)/2, (m.h-h)/2, w, m.w)
	}
	return strings.Join(lines, "\n")
}

// generations lists the transcripts of the session shown, the current one first.
func (m *Model) generations() []core.Generation {
	if m.insp.detail == nil || m.insp.key != m.trans.key {
		return nil
	}
	return inOrder(m.insp.detail.Generations)
}

// generationAt is which of them is shown.
func (m *Model) generationAt(list []core.Generation) int {
	for i := range list {
		if m.trans.generation == list[i].ID {
			return i
		}
	}
	return 0
}

// turn goes to an older or newer transcript of the session, around at either end.
func (m *Model) turn(by int) {
	list := m.generations()
	i := (m.generationAt(list) + by + len(list)) % len(list)
	id := list[i].ID
	if list[i].State == core.GenerationCurrent {
		id = ""
	}
	m.trans.show(m.trans.key, id)
}

func (m *Model) generationNote() []run {
	if m.trans.generation == "" {
		return nil
	}
	list := m.generations()
	i := m.generationAt(list)
	if i >= len(list) {
		return nil
	}
	note := safe.Line(string(list[i].State)) + " " + strconv.Itoa(i+1) + " of " + strconv.Itoa(len(list))
	if at := list[i].EndedAt; at > 0 {
		note += " · " + ago(m.env.Now(), at)
	}
	return []run{{m.k.warn, note}}
}
