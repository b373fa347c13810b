package ui

import (
	tea "github.com/charmbracelet/bubbletea"
)

// Update implements tea.Model: it hands each message to what it concerns, then settles.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	var cmd tea.Cmd
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.w, m.h = msg.Width, msg.Height
	case tea.KeyMsg:
		cmd = tea.Batch(m.take(msg), m.rememberSoon())
	case tea.MouseMsg:
		cmd = m.onMouse(msg)
	case tea.ResumeMsg:
		cmd = m.resume()
	case infoMsg:
		cmd = m.onInfo(msg)
	case headsMsg:
		cmd = m.onHeads(msg)
	case watchMsg:
		cmd = m.onWatch(msg)
	case batchMsg:
		cmd = m.onBatch(msg)
	case builtMsg:
		cmd = m.onBuilt(msg)
	case foundMsg:
		cmd = m.onFound(msg)
	case pageMsg:
		cmd = m.onPage(msg)
	case detailMsg:
		cmd = m.onDetail(msg)
	case retryMsg:
		cmd = m.onRetry(msg)
	case againMsg:
		m.onAgain()
	case resortMsg:
		cmd = m.onResort()
	case agesMsg:
		cmd = m.onAges()
	case effect:
		cmd = msg.apply(m)
	}
	return m, m.guard(tea.Batch(cmd, m.settle()))
}

func (m *Model) suspend() tea.Cmd { return tea.Suspend }

func (m *Model) noSuspend() string {
	if m.env.NoSuspend == nil {
		return ""
	}
	return m.env.NoSuspend()
}

// resume draws everything anew after fg; the mouse, if it was wanted, has been given back (R186, R187).
func (m *Model) resume() tea.Cmd {
	if m.mouse {
		return tea.Batch(tea.ClearScreen, tea.EnableMouseCellMotion)
	}
	return tea.ClearScreen
}

func (m *Model) onRetry(msg retryMsg) tea.Cmd {
	if msg.load != m.link.load {
		return nil
	}
	return m.load()
}

func (m *Model) onAges() tea.Cmd {
	m.tree.dirty, m.insp.dirty = true, true
	again := m.seams.after(agesEvery, agesMsg{})
	if m.filter.within != 0 {
		return tea.Batch(again, m.runFilter())
	}
	return again
}

// press hands a key to what has the keyboard.
func (m *Model) press(msg tea.KeyMsg) tea.Cmd {
	now := m.env.Now()
	m.keyGap = now.Sub(m.lastKey)
	m.lastKey = now
	m.said, m.barsDirty = "", true
	if m.w > 0 && m.lay.screen == screenTooSmall { // keys typed before the first size is known are kept
		return m.pressBlind(msg)
	}
	if m.topStage() != nil && escFirst(msg) {
		msg = tea.KeyMsg{Type: tea.KeyEsc}
	}
	if m.typing() {
		switch {
		case msg.String() == "ctrl+z":
			return m.perform(m.action("console.suspend")) // wherever ctrl+c works too
		case escFirst(msg):
			msg = tea.KeyMsg{Type: tea.KeyEsc}
		}
	}
	if l := m.top(); l != nil {
		return m.pressLayer(l, msg)
	}
	if m.filter.editing {
		return m.typeFilter(msg)
	}
	if m.find.editing {
		return m.typeFind(msg)
	}
	if msg.Paste || len(msg.Runes) > 1 {
		m.said = pastedNothing
		return nil // R153
	}
	return m.pressKey(msg.String())
}

// pressBlind takes a key while nothing is shown but that the window is too small: it leaves or suspends the console, and is no command and
// no text for what nobody sees.
func (m *Model) pressBlind(msg tea.KeyMsg) tea.Cmd {
	switch key := msg.String(); {
	case key == "ctrl+c":
		return m.interrupt()
	case key == "ctrl+z":
		return m.perform(m.action("console.suspend"))
	case !m.typing() && !msg.Paste && m.keys.find(anywhere, key) == m.action("console.quit"):
		return m.perform(m.action("console.quit"))
	}
	return nil
}

// perform runs an action, or says why it cannot be done. Keys can come in one go ("jjs"): what follows the cursor is brought to it first, so
// that each acts on the session that the keys before it chose.
func (m *Model) perform(a *action) tea.Cmd {
	m.followCursor()
	if a.off != nil {
		if why := a.off(m); why != "" {
			m.said = why
			return nil
		}
	}
	return a.run(m)
}

func (m *Model) quit() tea.Cmd {
	m.cancel()
	return tea.Quit
}

// interrupt quits too, and says what it did not do: elsewhere ctrl+c stops what runs (R174).
func (m *Model) interrupt() tea.Cmd {
	m.parting = "ctrl+c closed the console. Nothing that runs was stopped."
	return m.quit()
}

func (m *Model) focusOn(p pane) tea.Cmd {
	m.focus = p
	m.barsDirty = true
	return nil
}

// cycle goes to the next pane; one that lies over the others is not among them.
func (m *Model) cycle(by int) tea.Cmd {
	panes := 3
	if m.lay.screen == screenMedium {
		panes = 2
		if m.focus == paneInspector {
			return m.focusOn(m.behind)
		}
	}
	return m.focusOn(pane((int(m.focus) + by + panes) % panes))
}

func (m *Model) toggleInspector() tea.Cmd {
	if m.focus == paneInspector {
		return m.focusOn(m.behind)
	}
	m.behind = m.focus
	return m.focusOn(paneInspector)
}

// back closes the top layer only, and never the console (R176).
func (m *Model) back() tea.Cmd {
	switch {
	case m.focus == paneInspector:
		return m.focusOn(m.behind)
	case m.focus == paneTranscript && m.find.active():
		m.clearFind()
		return nil
	case m.focus == paneTranscript:
		return m.focusOn(paneTree)
	case len(m.marks.keys) > 0:
		return m.clearMarks()
	case m.filter.active():
		return m.clearFilters()
	case m.sight.viewpoint != "":
		return m.lookAs("", "")
	}
	return nil
}

func (m *Model) toggleArchived() tea.Cmd {
	return m.narrow(func(c *criteria) { c.archived = !c.archived })
}

func (m *Model) refresh() tea.Cmd {
	m.said = "reading everything anew"
	m.onAgain()
	m.insp.stale = true
	m.rereadStages()
	return m.load()
}

func (m *Model) enterTree() tea.Cmd {
	if m.tree.selected() == "" {
		m.tree.toggle()
		return nil
	}
	return m.focusOn(paneTranscript)
}

func (m *Model) goIn() tea.Cmd {
	if m.tree.in() || m.tree.selected() == "" {
		return nil
	}
	return m.focusOn(paneTranscript)
}

func (m *Model) toParent() tea.Cmd {
	parent := m.fleet.heads[m.tree.selected()].Parent
	if !m.tree.goTo(parent) {
		m.said = "the filter leaves out " + parent + ": esc clears it"
	}
	return nil
}
