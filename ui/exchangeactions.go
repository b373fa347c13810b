package ui

import (
	"encoding/json"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"cordboard/core"
)

// exchangeActions are what can be done with exchanges, and in the timeline of one.
func exchangeActions() []action {
	return []action{
		{id: "message.exchange", keys: []string{"e"}, text: "the exchange that this message is part of, else all of the session", hint: "exchange", scope: inTranscript, run: (*Model).openMessagesExchange},
		{id: "exchanges.read", keys: []string{"enter"}, text: "read the exchange from its request on, both sides", hint: "read", scope: inExchanges, run: (*Model).readExchange, off: noRow},
		{id: "exchanges.copy", keys: []string{"y"}, text: "copy the exchange's id", scope: inExchanges, run: (*Model).copyExchangeID, off: cannotCopyRow},
		{id: "timeline.down", keys: []string{"down", "j"}, text: "what came next", scope: inTimeline, run: sceneBy(1)},
		{id: "timeline.up", keys: []string{"up", "k"}, text: "what came before", scope: inTimeline, run: sceneBy(-1)},
		{id: "timeline.go", keys: []string{"enter"}, text: "go to the message in its transcript", hint: "go there", scope: inTimeline, run: (*Model).goToScene, off: noScene},
		{id: "timeline.whole", keys: []string{"i", "t"}, text: "all of the texts, or their beginnings", hint: "whole texts", scope: inTimeline, run: (*Model).wholeScenes},
		{id: "timeline.retry", keys: []string{"R"}, text: "try again what failed: a text that was not sent, a step that ended badly", hint: "retry", scope: inTimeline, run: (*Model).retryScene, off: cannotRetryScene},
		{id: "timeline.copy", keys: []string{"y"}, text: "copy what is said here", hint: "copy", scope: inTimeline, run: (*Model).copyScene, off: cannotCopyRow},
	}
}

// openRunsExchange opens the exchange that the run under the cursor is part of.
func (m *Model) openRunsExchange() tea.Cmd { return m.openTimeline(runHere(m).ExchangeID) }

func noExchange(m *Model) string {
	switch r := runHere(m); {
	case r == nil:
		return noRun(m)
	case r.ExchangeID == "":
		return "this run is part of no exchange"
	}
	return ""
}

func (m *Model) readExchange() tea.Cmd { return m.openTimeline(m.stage().base().rows.cursor) }

func (m *Model) copyExchangeID() tea.Cmd {
	return m.handOver("exchange id", m.stage().base().rows.cursor)
}

func cannotCopyRow(m *Model) string { return firstOf(noRow(m), noOutside(m)) }

// sceneHere is the scene under the cursor of the timeline, nil when there is none.
func sceneHere(m *Model) *scene {
	if v, ok := m.stage().(*timeline); ok {
		return v.current()
	}
	return nil
}

func sceneBy(by int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		if v, ok := m.stage().(*timeline); ok {
			v.step(m, by)
			m.barsDirty = true
		}
		return nil
	}
}

func noScene(m *Model) string {
	switch s := sceneHere(m); {
	case s == nil:
		return "there is nothing here"
	case s.to.key == "":
		return "this is in no transcript"
	}
	return ""
}

func (m *Model) goToScene() tea.Cmd { return m.leaveTo(sceneHere(m).to) }

func (m *Model) wholeScenes() tea.Cmd {
	if v, ok := m.stage().(*timeline); ok {
		v.whole = !v.whole
		v.listed = false
	}
	return nil
}

func (m *Model) retryScene() tea.Cmd {
	s := sceneHere(m)
	return m.carryOut("queued again for", s.session, core.Command{Retry: s.retry})
}

func cannotRetryScene(m *Model) string {
	switch s := sceneHere(m); {
	case s == nil:
		return "there is nothing here"
	case s.retry == nil:
		return "nothing of this failed"
	}
	return cannotDo(m)
}

func (m *Model) copyScene() tea.Cmd { return m.handOver(sceneHere(m).name, sceneHere(m).text) }

// exchangeMsg is the exchange that a message was found to be part of; "" = none.
type exchangeMsg struct {
	id  string
	err error
}

func (msg exchangeMsg) apply(m *Model) tea.Cmd {
	switch {
	case m.ended(msg.err) || m.stage() != nil:
		return nil
	case msg.err != nil:
		return m.warn("cannot find its exchange: " + msg.err.Error())
	case msg.id != "":
		return m.openTimeline(msg.id)
	}
	m.said, m.barsDirty = "this message is part of no exchange: these are all of the session", true
	return m.openExchanges()
}

// openMessagesExchange opens the exchange that the message under the cursor is part of.
func (m *Model) openMessagesExchange() tea.Cmd {
	msg := m.trans.current()
	if msg == nil || m.trans.key == "" {
		return m.openExchanges()
	}
	if id := namedExchange(msg); id != "" {
		return m.openTimeline(id)
	}
	key, generation, seq := m.trans.key, m.trans.gen.SessionID, msg.Seq
	return func() tea.Msg {
		page, err := guarded(func() (core.RecordPage, error) {
			return m.env.Board.Records(m.ctx, core.RecordQuery{Kind: core.RecordRuns, Session: key, Limit: runsMost})
		})
		for i := range page.Runs {
			r := &page.Runs[i]
			within := r.FirstSeq > 0 && r.FirstSeq <= seq && (seq <= r.LastSeq || r.LastSeq == 0)
			if within && r.ExchangeID != "" && (r.SessionID == "" || r.SessionID == generation) {
				return exchangeMsg{id: r.ExchangeID, err: err}
			}
		}
		return exchangeMsg{err: err}
	}
}

// namedExchange is the exchange that a tool's answer names: the one that its call began.
func namedExchange(msg *core.Message) string {
	if msg.Role != core.RoleToolResult {
		return ""
	}
	for b := range core.Blocks(msg.Raw) {
		var named struct {
			ExchangeID string `json:"exchangeId"`
		}
		if strings.Contains(b.Text, "exchangeId") && json.Unmarshal([]byte(b.Text), &named) == nil && named.ExchangeID != "" {
			return named.ExchangeID
		}
	}
	return ""
}
