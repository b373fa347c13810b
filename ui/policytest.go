package ui

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"cordboard/core"
)

// policyTester is the form that asks what the send policy would say of any channel, chat type and key.
type policyTester struct {
	form
	channel, key *textControl
	chat         *choiceControl
	verdict      *core.Verdict
	err          error
	number       int // of the last question
}

type testedMsg struct {
	tester  *policyTester
	number  int
	verdict core.Verdict
	err     error
}

// openTester starts with what the session that is read is like.
func (m *Model) openTester() tea.Cmd {
	channel, key, chat := "", "", core.ChatDirect
	if h := m.fleet.heads[m.subject()]; h != nil {
		key = h.Key
		if h.Channel != "unknown" {
			channel = h.Channel
		}
		if h.Kind == core.KindGroup {
			chat = core.ChatGroup
		}
	}
	t := &policyTester{
		channel: newTextControl(channel, "as the config names it"+prefixed(": ", strings.Join(m.fleet.info.Channels, ", "))),
		key:     newTextControl(key, "the rules look at how it begins"),
		chat: newChoice(string(chat), option{string(core.ChatDirect), "direct"}, option{string(core.ChatGroup), "group"},
			option{string(core.ChatChannel), "channel"}),
	}
	t.form = form{
		title: "What would the send policy say?", verb: "ask again",
		fields: []*formField{
			{label: "channel", control: t.channel, changed: t.ask},
			{label: "chat", control: t.chat, changed: t.ask},
			{label: "key", control: t.key, changed: t.ask},
		},
		about:  t.tell,
		submit: t.ask,
	}
	m.open(t)
	return t.ask(m)
}

func (t *policyTester) ask(m *Model) tea.Cmd {
	t.number++
	number := t.number
	q := core.PolicyQuestion{Channel: t.channel.text(), ChatType: core.ChatType(t.chat.value()), Key: t.key.text()}
	return func() tea.Msg {
		x, err := guarded(func() (core.Explanation, error) { return m.env.Board.Explain(m.ctx, core.Question{Policy: &q}) })
		return testedMsg{t, number, x.Verdict, err}
	}
}

func (msg testedMsg) apply(m *Model) tea.Cmd {
	t := msg.tester
	if msg.number == t.number && !m.ended(msg.err) {
		t.verdict, t.err, m.dirty = &msg.verdict, msg.err, true
	}
	return nil
}

func (t *policyTester) tell(m *Model, w, h int) []string {
	k := *m.k
	k.shades = m.k.panel
	s := &sheet{k: &k, w: w}
	switch {
	case t.err != nil:
		s.text(k.err, t.err.Error())
	case t.verdict == nil:
		s.text(k.dim, "asking …")
	default:
		s.decision(&k, *t.verdict)
	}
	return s.out[:min(len(s.out), h)]
}

func cannotTest(m *Model) string { return m.fleet.info.Missing["explain"] }
