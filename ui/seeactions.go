package ui

import (
	"slices"

	tea "github.com/charmbracelet/bubbletea"
)

// seeActions are what is done with many sessions: which are in view and through whose eyes, ways among them, and what is done to several.
func seeActions() []action { return slices.Concat(viewActions(), jumpActions(), bulkActions()) }

// viewActions decide which sessions are in view, and through whose eyes.
func viewActions() []action {
	return []action{
		{id: "filter.menu", keys: []string{"f"}, text: "filters: kinds, agent, channel, live, updated within, archived, each with what it would leave", run: (*Model).openFilterMenu},
		{id: "filter.clear", keys: []string{"F"}, text: "clear every filter", run: (*Model).clearFilters, off: noFilter},
		{id: "filter.needs", keys: []string{"!"}, text: "only sessions that need you: a run asks, the last one failed, or a text did not go out", run: (*Model).toggleNeeds},
		{id: "archived.toggle", keys: []string{"a"}, text: "show or leave out archived sessions", run: (*Model).toggleArchived},
		{id: "tree.sort", keys: []string{"S"}, text: "sort by recency, name, tokens or state", run: (*Model).nextOrder},
		{id: "look.this", keys: []string{"V"}, text: "look through this session's eyes; once more: as the operator", hint: "look as", run: (*Model).lookAsThis, off: cannotLookAsThis},
		{id: "look.pick", keys: []string{"L"}, text: "look through the eyes of another session, or of the operator", run: (*Model).pickViewpoint, off: cannotLook},
		{id: "look.scope", keys: []string{"v"}, text: "try the next scope for it: self, tree, agent, all", hint: "scope", run: (*Model).cycleScope, off: notLooking},
		{id: "look.hide", keys: []string{"d"}, text: "dim what it may not see, or leave it out", hint: "hide", run: (*Model).toggleHidden, off: notLooking},
		{id: "look.rights", keys: []string{"X"}, text: "rights: what each tool would say of a session towards this one", run: (*Model).showRights, off: cannotExplain},
	}
}

// seeMemories are what is remembered of what was read and of the views that were kept.
func seeMemories() []memory { return []memory{unreadMemory(), viewsMemory(), filterMemory()} }

// startSeeing shows the tree as the command line asks for.
func (m *Model) startSeeing() tea.Cmd {
	s := m.env.Start
	v, found := m.view(""), s.View == ""
	for _, saved := range m.views {
		if saved.Name == s.View {
			v, found = saved, true
		}
	}
	if s.Filter != "" {
		v = SavedView{Text: s.Filter}
	}
	if s.LookAs != "" {
		v.LookAs, v.Scope = s.LookAs, ""
	}
	var warning tea.Cmd
	if !found {
		warning = m.warn("there is no saved view " + s.View + ": " + m.keyFor("views.open") + " lists them")
	}
	if s.Filter == "" && s.LookAs == "" && (s.View == "" || !found) {
		return warning
	}
	m.linked = s.Filter != "" || s.View != "" && found
	return tea.Batch(warning, m.applyView(v))
}

func (m *Model) toggleNeeds() tea.Cmd {
	m.focusOn(paneTree)
	return m.narrow(func(c *criteria) { c.needs = !c.needs })
}

func noFilter(m *Model) string {
	if !m.filter.active() {
		return "no filter is set"
	}
	return ""
}
