package ui

import (
	"cmp"
	"slices"
	"strconv"

	tea "github.com/charmbracelet/bubbletea"

	"cordboard/ui/safe"
)

// filterMenu is the layer with every filter and how many sessions each choice would leave.
type filterMenu struct {
	at   string // id of the choice under the cursor: it stays on it when counts change what is listed
	most int    // choices that were ever listed while it is open: the box does not shrink
}

const menuWide = 52

// choice is a line of the menu.
type choice struct {
	id      string
	heading bool
	label   string
	count   string
	on      bool
	many    bool // several of its group may be on
	set     func(*criteria)
	only    func(*criteria) // nil = as set
}

func (m *Model) openFilterMenu() tea.Cmd {
	m.open(&filterMenu{})
	return m.runFilter()
}

// menu is the filter menu when it is open.
func (m *Model) menu() *filterMenu {
	for _, l := range m.layers {
		if f, ok := l.(*filterMenu); ok {
			return f
		}
	}
	return nil
}

// choices lists the menu as the last findings count it.
func (m *Model) choices() []choice {
	c, f := m.filter.criteria, m.filter.facets
	if f == nil {
		f = &facets{}
	}
	list := []choice{
		{id: "live", label: "live only", count: strconv.Itoa(f.live), on: c.live, many: true, set: func(c *criteria) { c.live = !c.live }},
		{id: "archived", label: "archived too", count: "+" + strconv.Itoa(f.archived), on: c.archived, many: true, set: func(c *criteria) { c.archived = !c.archived }},
		{id: "needs", label: "needs you", count: strconv.Itoa(f.needs), on: c.needs, many: true, set: func(c *criteria) { c.needs = !c.needs }},
		{heading: true, label: "Updated within"},
	}
	for i, d := range withins {
		list = append(list, choice{id: "within " + lapse(d), label: lapse(d), count: strconv.Itoa(f.within[i]), on: c.within == d, set: func(c *criteria) {
			c.within = toggled(c.within, d)
		}})
	}
	list = append(list, choice{heading: true, label: "Kinds"})
	for i, kind := range kindsShown {
		bit := sorts(1 << i)
		if f.kinds[i] == 0 && c.kinds&bit == 0 {
			continue
		}
		list = append(list, choice{
			id: "kind " + string(kind), label: string(kind), count: strconv.Itoa(f.kinds[i]), on: c.kinds == 0 || c.kinds&bit != 0, many: true,
			set: func(c *criteria) { c.kinds = c.kinds.flip(bit) }, only: func(c *criteria) { c.kinds = toggled(c.kinds, bit) },
		})
	}
	list = append(list, choice{heading: true, label: "Agent"})
	for _, agent := range offered(f.agents, c.agent) {
		list = append(list, choice{id: "agent " + agent, label: agent, count: strconv.Itoa(f.agents[agent]), on: c.agent == agent, set: func(c *criteria) {
			c.agent = toggled(c.agent, agent)
		}})
	}
	list = append(list, choice{heading: true, label: "Channel"})
	for _, channel := range offered(f.channels, c.channel) {
		list = append(list, choice{id: "channel " + channel, label: channel, count: strconv.Itoa(f.channels[channel]), on: c.channel == channel, set: func(c *criteria) {
			c.channel = toggled(c.channel, channel)
		}})
	}
	return list
}

// flip takes a kind out of the set or puts it in; all and none are both no filter.
func (s sorts) flip(bit sorts) sorts {
	if s == 0 {
		s = everySort
	}
	if s ^= bit; s == everySort {
		return 0
	}
	return s
}

// toggled is value, or nothing when it is that already.
func toggled[T comparable](now, value T) (none T) {
	if now == value {
		return none
	}
	return value
}

// offered lists the counted names, and the chosen one even when nothing is left of it.
func offered(counts map[string]int, chosen string) []string {
	var list []string
	for name := range counts {
		if name != "" {
			list = append(list, name)
		}
	}
	if chosen != "" && counts[chosen] == 0 {
		list = append(list, chosen)
	}
	slices.SortFunc(list, func(a, b string) int { return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b)) })
	return list
}

// index is the line under the cursor: never a heading.
func (f *filterMenu) index(list []choice) int {
	return max(slices.IndexFunc(list, func(c choice) bool { return c.id == f.at && !c.heading }), 0)
}

func (f *filterMenu) press(m *Model, msg tea.KeyMsg) tea.Cmd {
	list := m.choices()
	i := f.index(list)
	step := func(by int) {
		for j := i + by; j >= 0 && j < len(list); j += by {
			if !list[j].heading {
				f.at = list[j].id
				return
			}
		}
	}
	switch msg.String() {
	case "down", "j":
		step(1)
	case "up", "k":
		step(-1)
	case "g", "home":
		f.at = list[0].id
	case "G", "end":
		f.at = list[len(list)-1].id
	case " ":
		return m.narrow(list[i].set)
	case "enter":
		if list[i].only != nil {
			return m.narrow(list[i].only)
		}
		return m.narrow(list[i].set)
	case "F", "c":
		return m.clearFilters()
	case "/":
		m.closeTop()
		return m.editFilter()
	case "q", "f":
		m.closeTop()
	}
	return nil
}

func (f *filterMenu) draw(m *Model) []string {
	w, room := m.layerRoom(menuWide)
	list := m.choices()
	at := f.index(list)
	rows := min(room-2, max(len(list), f.most)+1)
	k := &m.k.panel
	left := strconv.Itoa(m.filter.found) + " of " + plural(m.filter.all, "session")
	lines := []string{newLine(w-2).add(k.strong, " shows "+left).add(k.accent, prefixed("  / ", m.filter.input.Value())).end(k.text)}
	top := clamp(at-(rows-1)/2, 0, max(len(list)-(rows-1), 0))
	for i := top; i < min(top+rows-1, len(list)); i++ {
		lines = append(lines, list[i].draw(m.k, i == at, w-2))
	}
	return m.panel("Filters", "space on/off · enter only this · F clears", lines, w, rows+2)
}

func (c *choice) draw(k *inks, cursor bool, w int) string {
	if c.heading {
		return newLine(w).add(k.panel.muted, " "+c.label).end(k.panel.text)
	}
	sh, mark := &k.panel, "   "
	if cursor {
		sh, mark = &k.sel, " ▌ "
	}
	box := map[[2]bool]string{{true, true}: "[x] ", {true, false}: "[ ] ", {false, true}: "(•) ", {false, false}: "( ) "}[[2]bool{c.many, c.on}]
	ground := sh.muted
	if c.on {
		ground = sh.text
	}
	l := newLine(w).add(sh.accent, mark).add(ground, box).add(ground, safe.Cut(safe.Column(c.label), w-16))
	return l.space(sh.text, l.left-len(c.count)-2).add(ground, c.count).end(sh.text)
}
