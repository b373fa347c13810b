package ui

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"cordboard/ui/safe"
)

// composer is the line at the bottom of the transcript in which the operator writes to the session that is read. What has more than one
// line becomes the send form; both have the same draft.
type composer struct {
	key      string
	field    field
	prospect prospect
	attempt  outgoing
	flight   *flight // the last one sent from here
	trouble  string
	warned   bool // that its session is gone
}

// composerMost is the longest text that one line is for, in bytes.
const composerMost = 2000

// openComposer opens the composer, or the form where what was written before is more than a line. A session whose run waits for the operator
// is answered instead.
func (m *Model) openComposer() tea.Cmd {
	key := m.subject()
	if m.asks(key) {
		return m.openReply()
	}
	d := m.drafts.all[sendDraft(key)]
	if strings.ContainsAny(d.Text, "\n\r") || len(d.Text) > composerMost || d.As != "" {
		return m.openSend()
	}
	c := &composer{key: key, field: newField(), flight: m.liveTo(key)}
	c.field.input.CharLimit = 0
	c.field.input.SetValue(d.Text)
	c.field.input.CursorEnd()
	if d.Key != "" {
		c.attempt = outgoing{to: key, text: d.Text, key: d.Key}
	}
	m.open(c)
	m.trans.toEnd()
	return tea.Batch(m.focusOn(paneTranscript), c.prospect.ask(m, "", key))
}

// composing is the composer that is open, nil when none is.
func (m *Model) composing() *composer {
	for _, l := range m.layers {
		if c, ok := l.(*composer); ok {
			return c
		}
	}
	return nil
}

func (c *composer) foretold() *prospect { return &c.prospect }

func (c *composer) press(m *Model, msg tea.KeyMsg) tea.Cmd {
	c.trouble = ""
	key := msg.String()
	switch {
	case msg.Type == tea.KeyRunes && (len(msg.Runes) > composerMost || strings.ContainsAny(string(msg.Runes), "\n\r\t")):
		return c.grow(m, pasted(msg))
	case key == "alt+enter" || key == "ctrl+j" || key == "enter" && m.tooQuick():
		return c.grow(m, "\n")
	case key == "tab" || key == "ctrl+e":
		return c.grow(m, "")
	case key == "enter" || key == "ctrl+s":
		return c.send(m)
	case key == "pgup", key == "pgdown", key == "ctrl+up", key == "ctrl+down":
		return scrollScreens(map[string]int{"pgup": -2, "pgdown": 2, "ctrl+up": -1, "ctrl+down": 1}[key])(m)
	}
	if c.field.press(msg) && len(c.field.text()) > composerMost {
		return c.grow(m, "")
	}
	return nil
}

// grow goes on in the send form, with something more where the cursor is.
func (c *composer) grow(m *Model, more string) tea.Cmd {
	c.keepDraft(m)
	value, at := []rune(c.field.input.Value()), c.field.input.Position()
	m.drop(c)
	f := newSendForm(m, c.key)
	f.area.text.set(string(value[:at]))
	f.area.text.insert(more)
	piece, off := f.area.text.at, f.area.text.off
	f.area.text.insert(string(value[at:]))
	f.area.text.place(piece, off)
	m.open(f)
	return tea.Batch(f.ask(m), m.rememberSoon())
}

func (c *composer) send(m *Model) tea.Cmd {
	text := c.field.text()
	if strings.TrimSpace(text) == "" {
		m.said = "write something first, or press esc to close"
		return nil
	}
	if c.flight != nil && c.flight.state == flightLeaving {
		return nil
	}
	return m.sendOnce(outgoing{to: c.key, text: text, wait: waitUsual, draft: sendDraft(c.key)}, &c.attempt, func(_ *Model, f *flight) { c.flight = f })
}

func (c *composer) shows(f *flight) bool { return c.flight == f }

func (c *composer) landed(m *Model, f *flight, err error) tea.Cmd {
	if err != nil {
		c.flight, c.trouble = nil, refusalOf(err)
		if refused(err) {
			c.attempt = outgoing{}
		}
		return c.prospect.ask(m, "", c.key)
	}
	c.attempt = outgoing{}
	if c.field.text() == f.text {
		c.field.input.SetValue("")
	}
	c.keepDraft(m)
	m.trans.toEnd()
	return nil
}

func (c *composer) keepDraft(m *Model) {
	m.drafts.put(sendDraft(c.key), draft{Text: c.field.text(), Key: c.attempt.key, At: m.env.Now().UnixMilli()})
}

func (c *composer) dismissed(m *Model) tea.Cmd {
	c.keepDraft(m)
	switch {
	case c.field.text() == "":
	case m.orphaned(c, c.key, &c.warned, "tab and to choose another session for the text"):
	default:
		m.said = "kept as a draft: " + m.keyFor("message.compose") + " opens it again"
	}
	return m.rememberSoon()
}

func (c *composer) hints(m *Model) []hint {
	list := []hint{{"enter", "send"}, {"tab", "all options"}, {"alt+enter", "more lines"}, {"pgup", "read back"}}
	if live := m.liveTo(c.key); live != nil {
		list[0].text = "send another"
	}
	return append(list, hint{"esc", "close"})
}

// place is the bottom of the transcript's pane.
func (c *composer) place(m *Model, box []string) (x, y int) {
	r := m.lay.panes[paneTranscript]
	return r.x, r.y + r.h - len(box)
}

func (c *composer) draw(m *Model) []string {
	r := m.lay.panes[paneTranscript]
	if !r.shown() {
		return nil
	}
	k := &m.k.panel
	lines := []string{c.field.line(r.w-2, "", k)}
	if c.trouble != "" {
		wrong := troubleLines(m, c.trouble, r.w-2)
		lines = append(lines, wrong[:min(len(wrong), max(r.h-6, 1), 4)]...)
	}
	return m.panel(safe.Cut("to "+m.nameFor(c.key)+" as the operator", max(r.w-8, 1)), c.note(m), lines, r.w, len(lines)+2)
}

// note says how the last message fares, else what one would meet.
func (c *composer) note(m *Model) string {
	switch p := &c.prospect; {
	case c.flight != nil && (c.flight.state != flightOver || c.field.text() == ""):
		if why := m.holding(c.flight); why != "" {
			return safe.Line(why)
		}
		return safe.Line(c.flight.status(m.env.Now()))
	case p.err != nil:
		return ""
	case p.got == nil:
		return "…"
	case !p.got.Verdict.Allowed:
		return safe.Line(refusedBy(p.got.Verdict))
	case p.got.Message != nil:
		return safe.Line((*foresight)(p.got.Message).when())
	}
	return "✓ allowed"
}

// rows is how many lines of the transcript it takes away: its lower edge lies on that of the pane.
func (c *composer) rows(m *Model) int { return max(len(c.draw(m))-1, 0) }

func cannotCompose(m *Model) string {
	if m.trans.generation != "" {
		return "this is an older transcript: " + m.keyFor("transcript.newer") + " goes on to the one that is written to"
	}
	return cannotSend(m)
}
