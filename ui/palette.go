package ui

import (
	"cmp"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/sahilm/fuzzy"

	"cordboard/ui/safe"
)

// palette is the layer that finds an action by what it says and runs it; one that cannot be done now says why.
type palette struct {
	field field
	found []*action
	index int
}

const (
	paletteWide = 84
	paletteRows = 16
)

func (m *Model) openPalette() tea.Cmd {
	p := &palette{field: newField()}
	p.search(m)
	m.open(p)
	return nil
}

func (p *palette) press(m *Model, msg tea.KeyMsg) tea.Cmd {
	rows := p.rows(m)
	switch msg.String() {
	case "enter":
		return p.choose(m)
	case "down", "ctrl+n", "tab":
		p.index++
	case "up", "ctrl+p", "shift+tab":
		p.index--
	case "pgdown":
		p.index += rows
	case "pgup":
		p.index -= rows
	default:
		if p.field.press(msg) {
			p.search(m)
		}
		return nil
	}
	p.index = clamp(p.index, 0, max(len(p.found)-1, 0))
	return nil
}

// choose runs the action under the cursor in the pane that it belongs to.
func (p *palette) choose(m *Model) tea.Cmd {
	if len(p.found) == 0 {
		return nil
	}
	a := p.found[p.index]
	if why := m.whyNot(a); why != "" {
		m.said = why
		return nil
	}
	m.closeTop()
	m.noteRun(a.id)
	if m.stage() != nil && !a.scope.isView() && !a.over {
		m.closeStages() // it is done in the panes
	}
	switch a.scope {
	case inTree:
		m.focusOn(paneTree)
	case inTranscript:
		m.focusOn(paneTranscript)
	case inInspector:
		if m.focus != paneInspector {
			m.toggleInspector()
		}
	}
	return m.perform(a)
}

// whyNot is why an action cannot be done now, "" when it can.
func (m *Model) whyNot(a *action) string {
	if a.scope.isView() && !slices.Contains(m.scope().chain(), a.scope) {
		return notInView(a.scope)
	}
	if a.off == nil {
		return ""
	}
	return a.off(m)
}

// search ranks the actions by the query; without one, those of the pane in focus come first and what cannot be done last.
func (p *palette) search(m *Model) {
	p.index = 0
	query := strings.TrimSpace(p.field.text())
	type ranked struct {
		a    *action
		rank int
	}
	var list []ranked
	for i := range m.actions {
		a := &m.actions[i]
		if rank, ok := p.rank(m, a, query); ok && a.id != "palette.open" {
			list = append(list, ranked{a, rank})
		}
	}
	slices.SortStableFunc(list, func(x, y ranked) int { return cmp.Compare(y.rank, x.rank) })
	p.found = p.found[:0]
	for _, r := range list {
		p.found = append(p.found, r.a)
	}
}

// rank is how well an action answers the query: its key or its name before words of its text before letters found here and there.
func (p *palette) rank(m *Model, a *action, query string) (int, bool) {
	here := 0
	if a.scope == m.scope() || a.scope == anywhere {
		here = 1
	}
	if query == "" {
		return here + m.usefulness(a), true
	}
	lower := strings.ToLower(query)
	_, verb, _ := strings.Cut(strings.ToLower(a.id), ".")
	switch {
	case verb == lower || a.id == query:
		return 5000 + here, true
	case slices.Contains(a.keys, query):
		return 4000 + here, true
	case strings.HasPrefix(verb, lower):
		return 3000 + here, true
	}
	text := strings.ToLower(a.text + " " + a.id)
	if i := strings.Index(text, lower); i == 0 || i > 0 && text[i-1] == ' ' {
		return 2000 - i + here, true
	} else if i > 0 {
		return 1000 - i + here, true
	}
	for _, word := range strings.Fields(lower) {
		if !near(word, text) {
			return 0, false
		}
	}
	return fuzzy.FindNoSort(strings.Join(strings.Fields(lower), ""), []string{text}).Len() + here, true
}

// usefulness orders the actions while nothing is asked for: the last ones run from here, those that the footer shows, the others, and
// what cannot be done now.
func (m *Model) usefulness(a *action) int {
	lately := slices.Index(m.ran, a.id)
	switch {
	case m.whyNot(a) != "":
		return -10
	case lately >= 0:
		return 100 - 2*lately
	case a.hint != "":
		return 4
	}
	return 0
}

// ranMost is how many of the last commands stand first in the palette.
const ranMost = 5

// noteRun remembers a command that was run from the palette, the last one first.
func (m *Model) noteRun(id string) {
	m.ran = slices.DeleteFunc(m.ran, func(each string) bool { return each == id })
	m.ran = slices.Insert(m.ran, 0, id)
	m.ran = m.ran[:min(len(m.ran), ranMost)]
}

func (p *palette) point(m *Model) (x, y int) {
	w, _ := m.layerRoom(paletteWide)
	return min(4+safe.Width(safe.Line(p.field.text())), w-2), 1
}

func (p *palette) rows(m *Model) int {
	_, room := m.layerRoom(paletteWide)
	return max(min(paletteRows, room-3), 1)
}

func (p *palette) draw(m *Model) []string {
	w, _ := m.layerRoom(paletteWide)
	k, rows := m.k, p.rows(m)
	lines := []string{p.field.line(w-2, ": ", &k.panel)}
	top := clamp(p.index-rows+1, 0, max(len(p.found)-rows, 0))
	for i := top; i < top+rows; i++ {
		switch {
		case i < len(p.found):
			lines = append(lines, p.row(m, p.found[i], i == p.index, w-2))
		case i == 0:
			lines = append(lines, newLine(w-2).add(k.panel.muted, "   no command says that").end(k.panel.text))
		default:
			lines = append(lines, newLine(w-2).end(k.panel.text))
		}
	}
	return m.panel("Commands", plural(len(p.found), "command")+" · enter runs · esc closes", lines, w, rows+3)
}

// row is an action: what it does, why it cannot be done now, its keys at the right.
func (p *palette) row(m *Model, a *action, chosen bool, w int) string {
	k := &m.k.panel
	mark := "   "
	if chosen {
		k, mark = &m.k.sel, " ▌ "
	}
	ground, why := k.text, m.whyNot(a)
	keys := safe.Cut(a.label(), max(w/4, 8))
	l := newLine(w).add(k.accent, mark)
	text, room := a.text, max(l.left-safe.Width(keys)-2, 1)
	if why != "" { // the reason is what is new: the text is cut for it, to a third at most
		ground, why = k.dim, " — "+why
		text = safe.Cut(text, max(room-safe.Width(why), room/3)) + why
	}
	l.add(ground, safe.Cut(text, room))
	return l.space(k.text, l.left-safe.Width(keys)-1).add(k.accent, keys).end(k.text)
}
