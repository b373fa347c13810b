package ui

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"cordboard/ui/safe"
)

func stripped(s string) string { return ansi.Strip(s) }

// textControl is a field of one line that is typed; note says what is meant.
type textControl struct {
	field field
	note  string
}

func newTextControl(text, note string) *textControl {
	c := &textControl{field: newField(), note: note}
	c.field.input.SetValue(text)
	c.field.input.CursorEnd()
	return c
}

func (c *textControl) text() string { return strings.TrimSpace(c.field.text()) }

func (c *textControl) press(m *Model, msg tea.KeyMsg, changed func(*Model) tea.Cmd) (tea.Cmd, bool) {
	switch msg.String() {
	case "enter", "up", "down":
		return nil, false
	}
	if c.field.press(msg) {
		return changed(m), true
	}
	return nil, true
}

func (c *textControl) draw(_ *Model, k *shades, w int, focus bool) string {
	l := newLine(w)
	value, at := []rune(c.field.input.Value()), c.field.input.Position()
	if !focus {
		l.add(k.text, safe.Cut(safe.Line(string(value)), max(l.left-1, 1)))
		if len(value) > 0 {
			l.space(k.text, 2)
		}
		return l.add(k.dim, safe.Cut(c.note, max(l.left-1, 0))).end(k.text)
	}
	before, after := safe.Line(string(value[:at])), safe.Line(string(value[at:]))
	room := max(l.left-2, 1)
	l.add(k.text, safe.KeepTail(before, room)).add(k.accent, "▏").add(k.text, safe.Cut(after, max(room-safe.Width(before), 0)))
	return l.space(k.text, 2).add(k.dim, safe.Cut(c.note, max(l.left-1, 0))).end(k.text)
}

// option is one of a few values.
type option struct{ value, text string }

// choiceControl is a field that is one of a few values.
type choiceControl struct {
	options []option
	at      int
	why     string // there are no others, "" = there are
}

// newChoice starts at a value, or at the first option where that is none of them.
func newChoice(value string, options ...option) *choiceControl {
	c := &choiceControl{options: options}
	for i, o := range options {
		if o.value == value {
			c.at = i
		}
	}
	return c
}

// offer gives other options; what was chosen stays so where it is one of them.
func (c *choiceControl) offer(options []option) {
	now := c.value()
	c.options, c.at = options, 0
	for i, o := range options {
		if o.value == now {
			c.at = i
		}
	}
}

func (c *choiceControl) value() string { return c.options[c.at].value }

func (c *choiceControl) opener() hint { return hint{"← →", "choose"} }

func (c *choiceControl) press(m *Model, msg tea.KeyMsg, changed func(*Model) tea.Cmd) (tea.Cmd, bool) {
	by := 0
	switch msg.String() {
	case "right", " ", "l":
		by = 1
	case "left", "h":
		by = -1
	case "enter", "up", "down":
		return nil, false
	default:
		return nil, true
	}
	c.at = (c.at + by + len(c.options)) % len(c.options)
	return changed(m), true
}

// draw shows all values where there is room, else the chosen one.
func (c *choiceControl) draw(_ *Model, k *shades, w int, focus bool) string {
	wide := 0
	for _, o := range c.options {
		wide += safe.Width(safe.Line(o.text)) + 4
	}
	l := newLine(w)
	if wide > w {
		l.add(k.text, "‹ ").add(k.strong, safe.Cut(safe.Line(c.options[c.at].text), max(l.left-4, 1))).add(k.text, " ›")
		return l.end(k.text)
	}
	for i, o := range c.options {
		ground, mark := k.muted, "○ "
		if i == c.at {
			ground, mark = k.text, "● "
			if focus {
				ground = k.strong
			}
		}
		l.add(ground, mark+safe.Line(o.text)).space(k.text, 2)
	}
	if c.why != "" {
		l.add(k.dim, safe.Cut("no other: "+safe.Line(c.why), max(l.left-1, 0)))
	}
	return l.end(k.text)
}

// sessionControl is a field that is a session, chosen in the picker.
type sessionControl struct {
	key   string
	title string // of the picker
	first string // what "" means; "" = a session has to be chosen
}

func (c *sessionControl) opener() hint { return hint{"enter", "choose"} }

func (c *sessionControl) press(m *Model, msg tea.KeyMsg, changed func(*Model) tea.Cmd) (tea.Cmd, bool) {
	switch msg.String() {
	case "enter", " ", "right":
		return m.pick(c.title, c.first, func(m *Model, key string) tea.Cmd {
			c.key = key
			return changed(m)
		}), true
	case "up", "down":
		return nil, false
	}
	return nil, true
}

func (c *sessionControl) draw(m *Model, k *shades, w int, focus bool) string {
	l := newLine(w)
	text := c.first
	if c.key != "" {
		text = m.called(c.key)
	}
	l.add(k.text, safe.CutMiddle(safe.Line(text), max(l.left-2, 1)))
	if focus {
		l.space(k.text, 2).add(k.dim, safe.Cut("enter chooses another", max(l.left-1, 0)))
	}
	return l.end(k.text)
}
