package ui

import (
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"cordboard/core"
)

// stage is a layer that takes the place of the panes: the views of runs, exchanges, deliveries, audit and usage. Unlike other layers it
// leaves keys to the actions of its scope, so that footer, help and palette know them.
type stage interface {
	layer
	scope() scope
	base() *view
	// query is what to ask the board for, and take takes in the answer.
	query() core.RecordQuery
	take(page core.RecordPage)
	// hear takes in a change of the store at a revision and reports whether what is shown has to be read anew because of it.
	hear(c core.Change, at core.Rev) bool
	// arrange lists anew what is shown, after something of it has changed.
	arrange(m *Model)
	// ticks reports whether figures on the screen count on.
	ticks() bool
}

// view is what every stage has.
type view struct {
	rows    roster
	field   field // text that rows have to hold
	editing bool
	session string // only what is about this one; "" = all
	opened  bool   // the facts of a row are shown in place of the rows, where the window has no room for both
	facts   scroller

	fetch  fetch
	known  bool // an answer has come
	stale  bool // and is out of date
	err    error
	listed bool // the rows are listed as things are now
}

func newView() view { return view{field: newField(), stale: true} }

func (v *view) base() *view { return v }

// refresh asks for what is shown once more; what is on the screen stays until the answer comes.
func (v *view) refresh() { v.stale, v.fetch.waiting = true, false }

// another turns to other records: what is on the screen is none of them.
func (v *view) another() {
	v.fetch.number++
	v.fetch.busy = false
	v.known, v.listed, v.err, v.rows = false, false, nil, roster{height: v.rows.height}
	v.refresh()
}

// tickEvery is how often figures that count on are drawn anew, recordsGap the least time between two readings of the same records.
const (
	tickEvery  = time.Second
	recordsGap = 200 * time.Millisecond
)

// stand is what is kept of views while they are closed.
type stand struct {
	ticking    bool // a tick is on its way
	runs       *runsView
	exchanges  *exchangeList
	deliveries *deliveries
	audit      *auditView
	usage      *usageView
	holds      map[string]bool // what is held: session keys, "agent:" and agent ids, "" for all
}

// stage is the topmost view, nil when the panes are seen. What lies over it does not count.
func (m *Model) stage() stage {
	for _, l := range slices.Backward(m.layers) {
		if s, ok := l.(stage); ok {
			return s
		}
	}
	return nil
}

// topStage is the view that has the keyboard, nil when something else has it.
func (m *Model) topStage() stage {
	s, _ := m.top().(stage)
	return s
}

// stages are all views that are open, the one on top last.
func (m *Model) stages() []stage {
	var list []stage
	for _, l := range m.layers {
		if s, ok := l.(stage); ok {
			list = append(list, s)
		}
	}
	return list
}

// openStage shows a view. One that is open already comes to the top again, and what lay over it is closed.
func (m *Model) openStage(s stage) tea.Cmd {
	for i, l := range m.layers {
		if open, ok := l.(stage); ok && open.scope() == s.scope() {
			m.layers = m.layers[:i]
			break
		}
	}
	s.base().refresh()
	m.open(s)
	return nil
}

// closeStages goes back to the panes.
func (m *Model) closeStages() {
	m.layers = nil
	m.dirty, m.barsDirty = true, true
}

// pressStage hands a key to the action that a view has for it, or to its filter while that is typed.
func (m *Model) pressStage(s stage, msg tea.KeyMsg) tea.Cmd {
	m.dirty = true
	if s.base().editing {
		return m.typeInStage(s, msg)
	}
	if msg.Paste || len(msg.Runes) > 1 {
		m.said = "pasted text runs no command"
		return nil // R153
	}
	return s.press(m, msg)
}

// press runs the action of a key.
func (v *view) press(m *Model, msg tea.KeyMsg) tea.Cmd { return m.pressKey(msg.String()) }

func (m *Model) typeInStage(s stage, msg tea.KeyMsg) tea.Cmd {
	v := s.base()
	switch msg.String() {
	case "ctrl+c":
		return m.interrupt()
	case "esc":
		v.editing, v.listed = false, false
		v.field.input.SetValue("")
	case "enter", "tab":
		v.editing = false
	case "down", "up":
		v.editing = false
		return m.pressStage(s, msg)
	default:
		if v.field.press(msg) {
			v.listed = false
		}
	}
	return nil
}

// backInStage closes what is open in a view, then the view.
func (m *Model) backInStage() tea.Cmd {
	switch v := m.stage().base(); {
	case v.opened && !m.factsBeside():
		v.opened = false
	case v.field.text() != "":
		v.field.input.SetValue("")
		v.listed = false
	default:
		m.closeTop()
	}
	return nil
}

// settleStages lists anew what has changed and asks for what is out of date.
func (m *Model) settleStages() tea.Cmd {
	var cmds []tea.Cmd
	ticks := m.insp.ticks() && m.lay.panes[paneInspector].shown()
	for _, s := range m.stages() {
		v := s.base()
		v.rows.resize(m.stageRows())
		if !v.listed {
			s.arrange(m)
			v.listed, m.dirty, m.barsDirty = true, true, true
		}
		ticks = ticks || s.ticks()
		if r, ok := s.(*runsView); ok {
			cmds = append(cmds, r.openings(m), r.telling(m))
		}
		if v.stale && !v.fetch.busy && !v.fetch.waiting {
			v.stale = false
			cmds = append(cmds, m.recordsCmd(s, v.fetch.begin(), s.query()))
		}
	}
	if ticks && !m.stand.ticking {
		m.stand.ticking = true
		cmds = append(cmds, m.seams.after(tickEvery, tickMsg{}))
	}
	return tea.Batch(cmds...)
}

// recordsMsg is what the board answered to a view.
type recordsMsg struct {
	stage  stage
	number int
	page   core.RecordPage
	err    error
}

func (m *Model) recordsCmd(s stage, number int, q core.RecordQuery) tea.Cmd {
	return func() tea.Msg {
		page, err := guarded(func() (core.RecordPage, error) { return m.env.Board.Records(m.ctx, q) })
		return recordsMsg{s, number, page, err}
	}
}

func (msg recordsMsg) apply(m *Model) tea.Cmd {
	v := msg.stage.base()
	if msg.number != v.fetch.number || m.ended(msg.err) {
		return nil
	}
	v.fetch.busy, v.err, v.listed = false, msg.err, false
	v.fetch.waiting = true
	if msg.err != nil {
		v.stale = true
		return m.seams.after(retryAfter(msg.err), rereadMsg{msg.stage})
	}
	v.known = true
	msg.stage.take(msg.page)
	return m.seams.after(recordsGap, rereadMsg{msg.stage})
}

// rereadMsg lets a view ask again.
type rereadMsg struct{ stage stage }

func (msg rereadMsg) apply(*Model) tea.Cmd {
	msg.stage.base().fetch.waiting = false
	return nil
}

// tickMsg has the figures drawn anew that count on.
type tickMsg struct{}

func (tickMsg) apply(m *Model) tea.Cmd {
	m.stand.ticking, m.dirty = false, true
	m.insp.dirty = true
	m.relistStages()
	return nil
}

// tellStages hands a change of the store to the views that are open.
func (m *Model) tellStages(c core.Change, at core.Rev) {
	for _, s := range m.stages() {
		if s.hear(c, at) {
			s.base().stale = true
		}
	}
}

// relistStages has what every open view shows laid out anew.
func (m *Model) relistStages() {
	for _, s := range m.stages() {
		s.base().listed = false
	}
}

// rereadStages has every open view ask anew.
func (m *Model) rereadStages() {
	for _, s := range m.stages() {
		s.base().refresh()
	}
}
