package ui

import (
	"context"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"cordboard/core"
)

// openNew makes a session: of which agent, under which label, with which model. The console then opens on it.
func (m *Model) openNew() tea.Cmd {
	var agents []option
	own := m.fleet.info.Names.DefaultAgent
	if n := m.tree.node(); n != nil && n.agent != "" {
		own = n.agent
	}
	for _, a := range m.fleet.info.Agents {
		if a.Configured {
			agents = append(agents, option{a.ID, firstOf(a.Name, a.ID)})
		}
	}
	if len(agents) == 0 {
		own = m.fleet.info.Names.DefaultAgent
		agents = []option{{own, firstOf(own, "the default agent")}}
	}
	agent, label, model := newChoice(own, agents...), newTextControl("", "what it is about; may stay empty"), m.modelControl("")
	id := m.newID() // of the form: when an answer is lost, making it again makes no second one
	f := &form{title: "New session", verb: "make it", fields: []*formField{
		{label: "agent", control: agent}, {label: "label", control: label}, {label: "model", control: model},
	}}
	f.submit = func(m *Model) tea.Cmd {
		c := core.New{Agent: agent.value(), Label: label.text(), Model: valueOf(model)}
		return m.doForm(f, core.Command{Key: id, New: &c}, func(m *Model, r core.Receipt) tea.Cmd {
			m.said = "made " + r.Key
			m.arrival = arrival{key: r.Key, asked: true, sure: true}
			return tea.Batch(m.arrive(), m.focusOn(paneTranscript))
		})
	}
	m.open(f)
	return nil
}

func (m *Model) newID() string {
	if m.env.NewID == nil {
		return ""
	}
	return m.env.NewID()
}

// modelControl chooses among the configured models, where the board names them.
func (m *Model) modelControl(now string) control {
	if len(m.fleet.info.Models) == 0 {
		return newTextControl(now, "provider/model; empty: the agent's own")
	}
	options := []option{{"", "the agent's own"}}
	known := now == ""
	for _, name := range m.fleet.info.Models {
		options = append(options, option{name, name})
		known = known || name == now
	}
	if !known {
		options = append(options, option{now, now})
	}
	return newChoice(now, options...)
}

// valueOf is what a field holds.
func valueOf(c control) string {
	switch c := c.(type) {
	case *textControl:
		return c.text()
	case *choiceControl:
		return c.value()
	case *sessionControl:
		return c.key
	}
	return ""
}

type formDoneMsg struct {
	form    *form
	receipt core.Receipt
	err     error
	done    func(*Model, core.Receipt) tea.Cmd
}

// doForm does a form's command. A refusal stands in the form and leaves it as it is.
func (m *Model) doForm(f *form, c core.Command, done func(*Model, core.Receipt) tea.Cmd) tea.Cmd {
	if f.busy {
		return nil
	}
	f.busy = true
	board, ctx := m.env.Board, m.ctx
	return func() tea.Msg {
		receipt, err := guarded(func() (core.Receipt, error) { return board.Do(ctx, c) })
		return formDoneMsg{f, receipt, err, done}
	}
}

func (msg formDoneMsg) apply(m *Model) tea.Cmd {
	if m.ended(msg.err) {
		return nil
	}
	f := msg.form
	f.busy = false
	m.dirty, m.barsDirty = true, true
	open := m.formOpen(f)
	switch {
	case msg.err != nil && open == nil:
		return m.warn(f.title + ": " + refusalOf(msg.err))
	case msg.err != nil:
		f.trouble = refusalOf(msg.err)
		return nil
	}
	if open != nil {
		m.drop(open)
	}
	return msg.done(m, msg.receipt)
}

// formOpen is the layer of a form, nil when it was closed meanwhile.
func (m *Model) formOpen(f *form) layer {
	for _, l := range m.layers {
		if own, ok := l.(interface{ inner() *form }); ok && own.inner() == f {
			return l
		}
	}
	return nil
}

func (f *form) inner() *form { return f }

// thinkingLevels are those of session-tools.md §9; "" is the agent's own.
func thinkingChoice(now string) *choiceControl {
	options := []option{{"", "the agent's own"}}
	for _, level := range [...]string{"off", "minimal", "low", "medium", "high", "xhigh", "adaptive"} {
		options = append(options, option{level, level})
	}
	return newChoice(now, options...)
}

type settingsMsg struct {
	key    string
	detail *core.SessionDetail
	err    error
}

// openSettings reads how a session is set, then opens the form.
func (m *Model) openSettings() tea.Cmd {
	key := m.subject()
	return func() tea.Msg {
		page, err := guarded(func() (core.RecordPage, error) {
			return m.env.Board.Records(m.ctx, core.RecordQuery{Kind: core.RecordSession, Session: key})
		})
		return settingsMsg{key, page.Session, err}
	}
}

func (msg settingsMsg) apply(m *Model) tea.Cmd {
	switch {
	case m.ended(msg.err):
		return nil
	case msg.err != nil:
		return m.warn("cannot read how " + msg.key + " is set: " + msg.err.Error())
	case msg.detail == nil:
		return m.warn("there is no session " + msg.key)
	case m.top() != nil && m.topStage() == nil:
		return nil // something else was opened meanwhile
	}
	now := &msg.detail.Session
	was := now.Model
	if now.ModelProvider != "" && was != "" && !strings.HasPrefix(was, now.ModelProvider+"/") {
		was = now.ModelProvider + "/" + was
	}
	label, model, thinking := newTextControl(now.Label, "empty: none"), m.modelControl(was), thinkingChoice(now.ThinkingLevel)
	f := &form{title: "Settings of " + m.nameFor(msg.key), verb: "keep", fields: []*formField{
		{label: "label", control: label}, {label: "model", control: model}, {label: "thinking", control: thinking},
	}}
	f.submit = func(m *Model) tea.Cmd {
		p := core.Patch{Session: msg.key}
		p.Label = ifChanged(now.Label, label.text())
		p.Model = ifChanged(was, valueOf(model))
		p.ThinkingLevel = ifChanged(now.ThinkingLevel, thinking.value())
		if p.Label == nil && p.Model == nil && p.ThinkingLevel == nil {
			m.closeTop()
			m.said = "nothing was changed"
			return nil
		}
		return m.doForm(f, core.Command{Patch: &p}, func(m *Model, r core.Receipt) tea.Cmd {
			m.said = "set " + msg.key
			if r.Undo != nil {
				m.undo = append(m.undo, undoable{"set", []core.Command{*r.Undo}})
				m.said += " · " + m.keyFor("session.undo") + " takes it back"
			}
			return nil
		})
	}
	m.open(f)
	return nil
}

// ifChanged is the new value, nil when it is the old one.
func ifChanged(was, now string) *string {
	if was == now {
		return nil
	}
	return &now
}

// doing is a task that does a command to a session.
func (m *Model) doing(key string, c core.Command) task {
	board := m.env.Board
	return task{key: key, do: func(ctx context.Context) (*core.Command, string, error) {
		receipt, err := board.Do(ctx, c)
		return receipt.Undo, "", err
	}}
}
