package ui

import (
	"strconv"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"cordboard/ui/safe"
)

// confirm is the layer that asks before something is done to sessions: it names what and how many, and is deaf to keys that were meant
// for what was there before it (console.md §5).
type confirm struct {
	title  string
	what   []string // paragraphs
	names  []string // of the sessions
	count  int      // to be typed when it is more than one
	field  field
	opened time.Time
	wrong  bool // what was typed is not the count
	yes    func(*Model) tea.Cmd
}

const (
	confirmWide  = 64
	confirmGrace = 400 * time.Millisecond
	confirmNames = 8
)

func (m *Model) confirm(c *confirm) tea.Cmd {
	c.field, c.opened = newField(), m.env.Now()
	m.open(c)
	return nil
}

func (c *confirm) press(m *Model, msg tea.KeyMsg) tea.Cmd {
	if m.env.Now().Sub(c.opened) < confirmGrace {
		return nil
	}
	switch key := msg.String(); {
	case key == "enter" && c.count > 1:
		if c.wrong = c.field.text() != strconv.Itoa(c.count); c.wrong {
			return nil
		}
		m.closeTop()
		return c.yes(m)
	case c.count <= 1 && key == "y":
		m.closeTop()
		return c.yes(m)
	case c.count <= 1 && (key == "n" || key == "q"):
		m.closeTop()
	case c.count > 1:
		c.wrong = false
		c.field.press(msg)
	}
	return nil
}

func (c *confirm) draw(m *Model) []string {
	w, room := m.layerRoom(confirmWide)
	k := *m.k
	k.shades = m.k.panel
	tail := &sheet{k: &k, w: w - 2}
	if c.count > 1 {
		tail.out = append(tail.out, c.field.line(w-2, "type "+strconv.Itoa(c.count)+" to go on: ", &k.shades))
	} else {
		tail.text(k.strong, "y does it")
	}
	if c.wrong {
		tail.text(k.err, "that is not "+strconv.Itoa(c.count))
	}
	s := &sheet{k: &k, w: w - 2}
	for _, text := range c.what {
		s.text(k.text, text)
	}
	space := room - 2 - len(s.out) - len(tail.out)
	shown := clamp(min(len(c.names), confirmNames), 0, max(space-1, 0))
	for _, name := range c.names[:shown] {
		s.out = append(s.out, newLine(w-2).add(k.muted, "   "+safe.CutMiddle(safe.Line(name), w-7)).end(k.text))
	}
	if more := len(c.names) - shown; more > 0 && shown > 0 {
		s.text(k.muted, "  and "+strconv.Itoa(more)+" more")
	}
	lines := append(s.out, tail.out...)
	lines = lines[max(len(lines)-(room-2), 0):]
	return m.panel(c.title, "esc leaves it", lines, w, len(lines)+2)
}
