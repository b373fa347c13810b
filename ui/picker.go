package ui

import (
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"cordboard/ui/safe"
)

// picker is the layer that chooses a session by typing some of it, or what stands first: nobody, everybody.
type picker struct {
	title string
	first string // what stands before the sessions, "" = nothing
	field field
	list  []candidate // in the tree's order, the one under the cursor before all others
	here  string      // its key
	found []*candidate
	at    int // 0 is the first line
	done  func(m *Model, key string) tea.Cmd

	number int // of the last search
}

const (
	pickerWide = 76
	pickerMost = 100 // found sessions that are listed
)

// pick opens a picker; done gets the key of the session, "" for what stands first.
func (m *Model) pick(title, first string, done func(m *Model, key string) tea.Cmd) tea.Cmd {
	p := &picker{title: title, first: first, field: newField(), here: m.tree.selected(), done: done}
	f := m.tree.forest
	p.list = slices.Clone(f.list)
	place := func(c *candidate) int {
		if c.head.Key == p.here {
			return -1
		}
		if i, ok := f.find(c.head.Key); ok && m.tree.at[i] >= 0 {
			return m.tree.at[i]
		}
		return len(m.tree.rows)
	}
	slices.SortStableFunc(p.list, func(a, b candidate) int { return place(&a) - place(&b) })
	p.found = best(p.list, "")
	if first != "" && p.here != "" && m.sight.viewpoint == "" {
		p.at = 1
	}
	m.open(p)
	return nil
}

// best are the candidates that match a query, those whose name starts with it first.
func best(list []candidate, query string) []*candidate {
	words := wordsOf(query)
	whole := strings.Join(strings.Fields(strings.ToLower(query)), " ")
	var ranks [4][]*candidate
	for i := range list {
		if c := &list[i]; c.matches(words) {
			r := c.rank(whole)
			ranks[r] = append(ranks[r], c)
		}
	}
	found := slices.Concat(ranks[:]...)
	return found[:min(len(found), pickerMost)]
}

// rank is how well a whole query fits, 0 the best.
func (c *candidate) rank(whole string) int {
	rank := 3
	if strings.Contains(c.id, whole) {
		rank = 2
	}
	for _, name := range c.names {
		switch {
		case strings.HasPrefix(name, whole):
			rank = min(rank, 0)
		case strings.Contains(name, whole):
			rank = min(rank, 1)
		}
	}
	if whole == "" {
		return 0
	}
	return rank
}

// lines is how many can be chosen from.
func (p *picker) lines() int {
	if p.leads() {
		return 1 + len(p.found)
	}
	return len(p.found)
}

// leads reports whether what stands first is there to be chosen: typing looks for a session.
func (p *picker) leads() bool { return p.first != "" && p.field.text() == "" }

// choice is the found session of a line, nil for what stands first.
func (p *picker) choice(line int) *candidate {
	if p.leads() {
		line--
	}
	if line < 0 {
		return nil
	}
	return p.found[line]
}

func (p *picker) press(m *Model, msg tea.KeyMsg) tea.Cmd {
	switch msg.String() {
	case "down", "ctrl+n", "tab":
		p.at = min(p.at+1, max(p.lines()-1, 0))
	case "up", "ctrl+p", "shift+tab":
		p.at = max(p.at-1, 0)
	case "pgdown":
		p.at = min(p.at+10, max(p.lines()-1, 0))
	case "pgup":
		p.at = max(p.at-10, 0)
	case "enter":
		return p.choose(m)
	default:
		if p.field.press(msg) {
			p.at = 0
			p.number++
			return p.search(p.number, p.field.text())
		}
	}
	return nil
}

func (p *picker) choose(m *Model) tea.Cmd {
	if p.lines() == 0 {
		return nil
	}
	key := ""
	if c := p.choice(p.at); c != nil {
		key = c.head.Key
	}
	m.closeTop()
	return p.done(m, key)
}

type pickedMsg struct {
	picker *picker
	number int
	found  []*candidate
	err    error
}

func (p *picker) search(number int, query string) tea.Cmd {
	list := p.list
	return func() tea.Msg {
		found, err := guarded(func() ([]*candidate, error) { return best(list, query), nil })
		return pickedMsg{p, number, found, err}
	}
}

func (msg pickedMsg) apply(m *Model) tea.Cmd {
	if msg.number == msg.picker.number && msg.err == nil {
		msg.picker.found, m.dirty = msg.found, true
		msg.picker.at = clamp(msg.picker.at, 0, max(msg.picker.lines()-1, 0))
	}
	return nil
}

// height is that of the box: what is typed does not change it.
func (p *picker) height(room int) int {
	all := min(len(p.list), pickerMost)
	if p.first != "" {
		all++
	}
	return min(room, 2+1+max(all, 1))
}

func (p *picker) draw(m *Model) []string {
	w, room := m.layerRoom(pickerWide)
	h := p.height(room)
	k := &m.k.panel
	lines := []string{p.field.line(w-2, "/ ", k)}
	rows := h - 3
	top := clamp(p.at-rows+1, 0, max(p.lines()-rows, 0))
	for i := top; i < min(top+rows, p.lines()); i++ {
		lines = append(lines, p.line(m, i, w-2))
	}
	if p.lines() == 0 {
		lines = append(lines, newLine(w-2).add(k.muted, "   no session matches").end(k.text))
	}
	for len(lines) < h-2 {
		lines = append(lines, newLine(w-2).end(k.text))
	}
	foot := "enter chooses · esc closes"
	return m.panel(p.title, foot, lines, w, h)
}

func (p *picker) line(m *Model, i, w int) string {
	sh, mark := &m.k.panel, "   "
	if i == p.at {
		sh, mark = &m.k.sel, " ▌ "
	}
	l := newLine(w).add(sh.accent, mark)
	c := p.choice(i)
	if c == nil {
		return l.add(sh.strong, p.first).end(sh.text)
	}
	h := c.head
	st := stateOf(h)
	l.add(sh.state[st], st.glyph()+" ")
	name := nameOf(h)
	note := safe.Column(h.Key)
	if h.Key == p.here {
		note = "this session · " + note
	}
	cell(l, sh.text, name, (w-6)*2/5)
	l.space(sh.text, 1)
	return l.add(sh.muted, safe.CutMiddle(note, l.left-1)).end(sh.text)
}
