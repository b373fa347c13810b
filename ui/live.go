package ui

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"cordboard/core"
)

// link is the console's line to the board: the load at work, the stream of changes, and what has to be done because of them.
type link struct {
	load   int // number of the load at work
	stream core.Stream
	wait   time.Duration // before the next retry

	building, buildAgain bool // a forest is being built; the fleet changed meanwhile
	resorting            bool // a resort waits for the cursor to rest
}

func (l *link) close() error {
	if l.stream == nil {
		return nil
	}
	s := l.stream
	l.stream = nil
	return s.Close()
}

// load reads info and heads anew. What is on the screen stays until the answers come.
func (m *Model) load() tea.Cmd {
	m.link.load++
	m.fleet.begin()
	m.barsDirty = true
	return tea.Batch(m.infoCmd(m.link.load), m.headsCmd(m.link.load, ""), m.holdsCmd(m.link.load))
}

// fail shows why the view may be behind and tries again, ever more slowly.
func (m *Model) fail(err error) tea.Cmd {
	if m.ended(err) {
		return nil
	}
	m.trouble = "cannot read the store: " + err.Error() + " · trying again"
	if core.CodeOf(err) == core.CodeStoreLocked {
		m.trouble = "store busy: " + err.Error() + " · trying again"
	}
	m.barsDirty = true
	m.link.load++ // what is still under way belongs to the load that failed
	m.link.wait = min(max(2*m.link.wait, retryFirst), retryMost)
	return m.seams.after(m.link.wait, retryMsg{m.link.load})
}

func (m *Model) onInfo(msg infoMsg) tea.Cmd {
	switch {
	case msg.load != m.link.load:
		return nil
	case msg.err != nil:
		return m.fail(msg.err)
	}
	m.fleet.setInfo(msg.info)
	m.barsDirty = true
	return m.rebuild()
}

func (m *Model) onHeads(msg headsMsg) tea.Cmd {
	switch {
	case msg.load != m.link.load:
		return nil
	case msg.err != nil:
		return m.fail(msg.err)
	}
	m.fleet.addPage(msg.page)
	m.insp.dirty, m.tree.dirty = true, true
	if msg.page.Next != "" {
		return tea.Batch(m.rebuild(), m.headsCmd(msg.load, msg.page.Next))
	}
	m.fleet.end()
	if m.unread.Since == 0 {
		m.unread.Since = m.env.Now().UnixMilli()
	}
	m.trouble, m.link.wait, m.barsDirty = "", 0, true
	cmds := []tea.Cmd{m.rebuild(), m.lookAgain(), m.askLineup()}
	if m.anyAsks() {
		cmds = append(cmds, m.askRequests())
	}
	if m.link.stream == nil {
		cmds = append(cmds, m.watchCmd(msg.load, m.fleet.from))
	}
	return tea.Batch(cmds...)
}

func (m *Model) onWatch(msg watchMsg) tea.Cmd {
	switch {
	case msg.err != nil && msg.load == m.link.load:
		return m.fail(msg.err)
	case msg.err != nil:
		return nil
	case m.link.stream != nil || m.ctx.Err() != nil:
		_ = msg.stream.Close() // nobody listens to it
		return nil
	}
	m.link.stream, m.hearing = msg.stream, newHearing()
	m.tree.dirty = true
	if m.fleet.loaded > 1 { // what happened while nobody listened was told to nobody
		m.trans.missed()
		m.insp.stale = m.insp.key != ""
		m.rereadStages()
	}
	return m.seams.listen(msg.stream)
}

// onBatch applies what changed and listens on.
func (m *Model) onBatch(msg batchMsg) tea.Cmd {
	if msg.stream != m.link.stream {
		return nil
	}
	if msg.err != nil {
		_ = m.link.close() // the stream is broken already
		return m.fail(msg.err)
	}
	cmds := []tea.Cmd{m.seams.listen(msg.stream)}
	if msg.batch.Gap {
		m.trans.missed()
		m.insp.stale = m.insp.key != ""
		m.rereadStages()
		return tea.Batch(append(cmds, m.load())...)
	}
	most := impactNone
	for _, c := range msg.batch.Changes {
		old := m.fleet.heads[c.ID]
		most = max(most, m.apply(c, msg.batch.To))
		m.tellStages(c, msg.batch.To)
		cmds = append(cmds, m.hearForms(c))
		if c.Kind == core.ChangeSession {
			now := m.fleet.heads[c.ID]
			m.announceHead(old, now)
			cmds = append(cmds, m.failedSince(old, now), m.hearRequests(old, now))
		}
	}
	for i := range msg.batch.Deltas {
		m.hear(&msg.batch.Deltas[i])
	}
	switch most {
	case impactShape:
		cmds = append(cmds, m.rebuild(), m.lookAgain())
	case impactOrder:
		cmds = append(cmds, m.resortLater())
	}
	return tea.Batch(cmds...)
}

func (m *Model) apply(c core.Change, at core.Rev) impact {
	shown := m.insp.key != ""
	switch c.Kind {
	case core.ChangeSession:
		hit := m.fleet.apply(c, at)
		if c.Head != nil {
			m.unread.rewound(c.Head)
		} else {
			delete(m.marks.keys, c.ID)
		}
		if m.tree.visible(c.ID) || c.Head != nil && c.Head.Parent != "" && m.tree.visible(c.Head.Parent) {
			m.tree.dirty = true
		}
		m.insp.dirty = m.insp.dirty || c.Head != nil && c.Head.Parent != "" && c.Head.Parent == m.insp.key
		if c.ID == m.insp.key {
			m.insp.stale, m.insp.dirty = shown, true
			m.trans.fetch.waiting = m.trans.fetch.waiting && m.trans.err == nil
			if m.trans.gen.ID == "" {
				m.trans.missed() // it had no transcript yet
			}
		}
		return hit
	case core.ChangeMessages:
		m.trans.changed(c)
		m.announceMessages(c)
	case core.ChangeRun:
		m.fellSilent(c)
		m.lineUp(c, at)
		m.insp.stale = m.insp.stale || shown && (c.Run == nil || c.Run.SessionKey == m.insp.key)
	case core.ChangeExchange, core.ChangeDelivery:
		m.insp.stale = m.insp.stale || shown && m.insp.concerns(c)
	case core.ChangeHold:
		m.hearHold(c)
	case core.ChangeGeneration:
		m.insp.stale = m.insp.stale || shown
	}
	return impactNone
}

// rebuild makes the forest anew beside the screen; while one is made, one more is enough.
func (m *Model) rebuild() tea.Cmd {
	if m.link.building {
		m.link.buildAgain = true
		return nil
	}
	m.link.building = true
	in := m.fleet.snapshot()
	in.order, in.about, in.hide, in.sight = m.order, m.filter.about, m.onlySeen() != nil, m.sight.seen
	in.archived, in.agent = m.filter.archived, m.filter.agent
	return m.buildCmd(in)
}

func (m *Model) onBuilt(msg builtMsg) tea.Cmd {
	m.link.building = false
	if msg.err != nil {
		return m.fail(msg.err)
	}
	m.tree.setForest(msg.forest)
	arrived := m.arrive()
	if m.fleet.loaded > 0 && m.tree.selected() != "" {
		m.tree.held = true
	}
	m.barsDirty = true
	m.trans.dirty = m.trans.dirty || m.trans.key == "" // it tells of what is above
	var again tea.Cmd
	if m.link.buildAgain {
		m.link.buildAgain = false
		again = m.rebuildSoon()
	}
	return tea.Batch(arrived, again, m.runFilter())
}

// rebuildSoon builds anew at once while sessions are still loaded or none is on the screen, else after a pause: a flood of new sessions must not take a core.
func (m *Model) rebuildSoon() tea.Cmd {
	if m.fleet.loading || m.tree.forest.sessions == 0 {
		return m.rebuild()
	}
	m.link.building = true
	return m.seams.after(buildGap, rebuildMsg{})
}

type rebuildMsg struct{}

func (rebuildMsg) apply(m *Model) tea.Cmd {
	m.link.building, m.link.buildAgain = false, false
	return m.rebuild()
}

func (m *Model) onFound(msg foundMsg) tea.Cmd {
	if msg.number == m.filter.number && msg.err == nil {
		m.setFindings(msg.query, msg.findings)
	}
	return nil
}

// resortLater sorts the rows anew once the cursor has rested: no row moves under the operator's finger.
func (m *Model) resortLater() tea.Cmd {
	if m.link.resorting {
		return nil
	}
	m.link.resorting = true
	return m.seams.after(restFor, resortMsg{})
}

func (m *Model) onResort() tea.Cmd {
	m.link.resorting = false
	if m.env.Now().Sub(m.lastKey) < restFor {
		return m.resortLater()
	}
	return m.rebuild()
}

func (m *Model) onPage(msg pageMsg) tea.Cmd {
	m.trans.fetch.busy = false
	switch {
	case msg.number != m.trans.fetch.number:
		return nil
	case msg.err == nil:
		m.trans.take(msg.query, msg.page, m.env.Now())
		return nil
	case m.ended(msg.err):
		return nil
	}
	m.trans.failed(msg.err)
	if core.CodeOf(msg.err) == core.CodeNotFound {
		return nil // until the session is written
	}
	return m.seams.after(retryAfter(msg.err), againMsg{})
}

// retryAfter is soon when another process only holds the store for a moment.
func retryAfter(err error) time.Duration {
	if core.CodeOf(err) == core.CodeStoreLocked {
		return 2 * retryFirst
	}
	return retryMost
}

func (m *Model) onDetail(msg detailMsg) tea.Cmd {
	m.insp.fetch.busy = false
	if msg.number != m.insp.fetch.number || m.ended(msg.err) {
		return nil
	}
	m.insp.err, m.insp.dirty = msg.err, true
	if msg.err != nil {
		m.insp.fetch.waiting = true
		return m.seams.after(retryAfter(msg.err), againMsg{})
	}
	m.insp.detail = msg.detail
	var talks tea.Cmd
	if deals(msg.detail) {
		talks = m.talksCmd(msg.number, m.insp.key)
	}
	m.trans.dirty = true // its title tells of the policy
	if d := msg.detail; d != nil && m.trans.known && m.trans.generation == "" && m.trans.outdated(d.Session.SessionID) {
		m.trans.show(m.trans.key, "")
	}
	return talks
}

func (m *Model) onAgain() {
	m.trans.fetch.waiting, m.insp.fetch.waiting = false, false
	m.trans.err, m.insp.err = nil, nil
}
