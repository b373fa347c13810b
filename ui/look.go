package ui

import (
	"encoding/json"
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"cordboard/themes"
	"cordboard/ui/safe"
)

// Looks are the themes a console can wear. Load compiles one for this terminal; an error names what is wrong with it.
type Looks interface {
	Names() []string
	Load(name string) (*themes.Styles, error)
}

// attire is the theme in force and the one that the operator keeps over the configured one.
type attire struct {
	name   string
	kept   string // "" = whatever the config and the terminal say
	number int    // of the last theme asked for; answers to older ones are dropped
}

// dress draws everything in other styles from now on.
func (m *Model) dress(s *themes.Styles) {
	*m.k = *newInks(s)
	m.trans.items.clear()
	m.relistStages()
	m.tree.dirty, m.trans.dirty, m.insp.dirty, m.barsDirty, m.dirty = true, true, true, true, true
}

type dressMsg struct {
	number int
	name   string
	styles *themes.Styles
	err    error
}

// wear loads a theme beside the screen and puts it on; the last one asked for wins.
func (m *Model) wear(name string) tea.Cmd {
	m.attire.number++
	number, looks := m.attire.number, m.env.Looks
	return func() tea.Msg {
		s, err := guarded(func() (*themes.Styles, error) { return looks.Load(name) })
		return dressMsg{number, name, s, err}
	}
}

func (msg dressMsg) apply(m *Model) tea.Cmd {
	if msg.number != m.attire.number {
		return nil
	}
	if msg.err != nil {
		return m.warn("the theme stays " + m.attire.name + ": " + msg.err.Error())
	}
	m.attire.name = msg.name
	m.dress(msg.styles)
	return nil
}

// lookPicker is the layer that tries themes on: the one under the cursor is in force at once, esc puts the old one back.
type lookPicker struct {
	names []string
	index int
	was   attire
}

func noLooks(m *Model) string {
	if m.env.Looks == nil {
		return "this terminal shows no colours: NO_COLOR is set, or TERM is dumb"
	}
	return ""
}

func (m *Model) openLooks() tea.Cmd {
	p := &lookPicker{names: m.env.Looks.Names(), was: m.attire}
	p.index = max(slices.Index(p.names, m.attire.name), 0)
	m.open(p)
	return nil
}

func (p *lookPicker) press(m *Model, msg tea.KeyMsg) tea.Cmd {
	was := p.index
	switch msg.String() {
	case "down", "j", "tab":
		p.index++
	case "up", "k", "shift+tab":
		p.index--
	case "g", "home":
		p.index = 0
	case "G", "end":
		p.index = len(p.names)
	case "enter":
		m.closeTop()
		m.attire.kept = p.names[p.index]
		return tea.Batch(m.rememberSoon(), m.toast("theme "+p.names[p.index]+", kept for this store"))
	case "x":
		m.closeTop()
		m.attire.kept = ""
		return tea.Batch(m.rememberSoon(), m.wear(m.env.ThemeName), m.toast("theme as the config and the terminal say"))
	case "q":
		m.closeTop()
		return p.dismissed(m)
	}
	p.index = clamp(p.index, 0, len(p.names)-1)
	if p.index == was {
		return nil
	}
	return m.wear(p.names[p.index])
}

func (p *lookPicker) dismissed(m *Model) tea.Cmd {
	if m.attire.name == p.was.name && m.attire.number == p.was.number {
		return nil
	}
	return m.wear(p.was.name)
}

func (p *lookPicker) point(m *Model) (x, y int) {
	_, room := m.layerRoom(44)
	h := min(room, len(p.names)+2)
	return 1, 1 + p.index - clamp(p.index-(h-3), 0, max(len(p.names)-(h-2), 0))
}

func (p *lookPicker) draw(m *Model) []string {
	w, room := m.layerRoom(44)
	h := min(room, len(p.names)+2)
	top := clamp(p.index-(h-3), 0, max(len(p.names)-(h-2), 0))
	lines := make([]string, 0, h)
	for i := top; i < min(top+h-2, len(p.names)); i++ {
		k, mark := &m.k.panel, "   "
		if i == p.index {
			k, mark = &m.k.sel, " ▌ "
		}
		note := ""
		switch p.names[i] {
		case m.attire.kept:
			note = "kept"
		case m.env.ThemeName:
			note = "as configured"
		}
		l := newLine(w-2).add(k.accent, mark).add(k.text, safe.Cut(safe.Line(p.names[i]), w-18))
		lines = append(lines, l.space(k.text, l.left-safe.Width(note)-1).add(k.muted, note).end(k.text))
	}
	return m.panel("Theme", "enter keeps · x forgets · esc", lines, w, h)
}

// lookMemory keeps a theme together with the configured one that it was chosen over: who changes the config means it.
func lookMemory() memory {
	type kept struct {
		Name string `json:"name"`
		Over string `json:"over"`
	}
	return memory{
		name: "theme",
		keep: func(m *Model) any { return kept{m.attire.kept, m.env.ThemeAsked} },
		recall: func(m *Model, raw json.RawMessage) error {
			var k kept
			if err := json.Unmarshal(raw, &k); err != nil {
				return err
			}
			if k.Name == "" || m.env.Looks == nil || k.Over != m.env.ThemeAsked {
				return nil
			}
			if m.env.ThemeFixed {
				m.attire.kept = k.Name
				return nil
			}
			s, err := m.env.Looks.Load(k.Name)
			if err != nil {
				return err
			}
			m.attire.name, m.attire.kept = k.Name, k.Name
			m.dress(s)
			return nil
		},
	}
}
