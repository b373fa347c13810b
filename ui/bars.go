package ui

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"cordboard/ui/safe"
)

// header says where we are: the store, on whose behalf, how much there is, and which filter is set. What does not fit goes, the least
// needed first; the filter never does (console.md §1).
func (m *Model) header() string {
	k := m.k
	filter := run{k.bar.dim, "filter: none"}
	if words := m.filterWords(); words != "" {
		count := m.filterCount()
		filter = run{k.filter, "filter: " + safe.Cut(words, max(m.lay.w*2/5, 14)-safe.Width("filter: "+count)) + count}
	} else if m.lay.screen == screenNarrow {
		filter.text = ""
	}
	filter.text = safe.Cut(filter.text, max(m.lay.w*2/5, 14))
	room := m.lay.w - 3 - safe.Width(filter.text)
	most := room
	if filter.text != "" {
		most -= 3 // what parts them
	}
	parts := m.headerParts(most)
	for i := len(parts) - 1; i >= 0 && total(parts) > room; i-- {
		if parts[i].droppable {
			parts[i].text = ""
		}
	}
	l := newLine(m.lay.w).add(k.header, " ")
	for _, p := range parts {
		if p.text != "" {
			l.add(p.ink, p.text).space(k.bar.text, 3)
		}
	}
	l.space(k.bar.text, l.left-safe.Width(filter.text)-1)
	return l.add(filter.ink, filter.text).end(k.bar.text)
}

// filterWords are the filters that are set, "" when none is.
func (m *Model) filterWords() string {
	words := m.filter.words()
	if query := strings.TrimSpace(m.filter.input.Value()); query != "" {
		words = append([]string{safe.Line(query)}, words...)
	}
	return strings.Join(words, " · ")
}

// filterCount is how many are found, where the tree does not tell it below or there is room anyway.
func (m *Model) filterCount() string {
	if m.lay.screen == screenNarrow && m.filter.typed() {
		return ""
	}
	if m.filter.matches == nil {
		return " (" + strconv.Itoa(m.shownSessions()) + ")"
	}
	return " (" + strconv.Itoa(m.filter.found) + ")"
}

type headerPart struct {
	run
	droppable bool
}

func total(parts []headerPart) int {
	w := 0
	for _, p := range parts {
		if p.text != "" {
			w += safe.Width(p.text) + 3
		}
	}
	return w
}

// headerParts are what is told before the filter, the least needed last.
func (m *Model) headerParts(room int) []headerPart {
	k := m.k
	note := k.bar.muted
	looking, badges := m.sight.viewpoint != "", m.badges()
	parts := []headerPart{{run: run{k.header, "cordboard"}, droppable: looking || m.lay.screen == screenNarrow || len(badges) > 0}}
	counts := headerPart{run: run{k.bar.text, m.counts()}, droppable: looking || m.lay.screen == screenNarrow && len(badges) > 0}
	if looking {
		parts = append([]headerPart{{run: run{k.filter, m.sightText(room)}}}, append(parts, counts)...)
	}
	if m.lay.screen != screenNarrow {
		where := m.env.Title
		if path := m.fleet.info.Store.Path; where == "" && path != "" {
			where = filepath.Dir(path)
		}
		parts = append(parts, headerPart{run{note, safe.KeepTail(safe.Line(where), m.lay.w/4)}, true})
	}
	if !looking {
		parts = append(parts, counts)
	}
	parts = append(parts, badges...)
	if n := len(m.marks.keys); n > 0 {
		parts = append(parts, headerPart{run: run{k.filter, strconv.Itoa(n) + " marked"}})
	}
	if m.order != byRecency {
		parts = append(parts, headerPart{run{k.filter, "sort " + m.order.word()}, true})
	}
	if !looking {
		parts = append(parts, headerPart{run{note, "as " + m.actor()}, true}, headerPart{run{note, "scope all"}, true})
	}
	if link := m.fleet.info.Link; link != "" {
		parts = append(parts, headerPart{run{note, "on " + safe.Line(link)}, true})
	}
	return parts
}

// counts names agents and sessions apart; one is not the other (R189).
func (m *Model) counts() string {
	words := []string{plural(len(m.tree.forest.roots), "agent"), plural(m.shownSessions(), "session")}
	if live := m.tree.forest.live; live > 0 {
		words = append(words, strconv.Itoa(live)+" live")
	}
	if m.fleet.loading && m.fleet.loaded == 0 {
		words = append(words, "loading…")
	}
	return strings.Join(words, " · ")
}

func (m *Model) shownSessions() int { return m.tree.forest.sessions }

func (m *Model) actor() string {
	a := m.fleet.info.Actor
	name := firstOf(safe.Line(a.Session), string(a.Kind), "operator")
	if a.ReadOnly {
		name += " (read-only)"
	}
	return name
}

// footer shows the keys of what has the keyboard, or a notice in their place. Of a pane's the help's key is always among them.
func (m *Model) footer() string {
	k := m.k
	l := newLine(m.lay.w).space(k.bar.text, 1)
	if n := m.notice(); n.text != "" {
		return l.add(n.ink, n.text).end(k.bar.text)
	}
	if list, ok := m.layerHints(); ok {
		return m.layerFooter(list)
	}
	help := m.action("help.open")
	for _, a := range m.hints() {
		if a != help && hintWidth(a)+hintWidth(help) > l.left {
			continue
		}
		l.add(k.key, shortLabel(a)).add(k.bar.muted, " "+a.hint).space(k.bar.text, 2)
	}
	return l.end(k.bar.text)
}

// hints are the actions that the footer may show: those of the pane in focus that can be done, then the ones that work anywhere.
func (m *Model) hints() []*action {
	var list []*action
	here := m.scope()
	chain := here.chain()
	for n, pass := range chain {
		for i := range m.actions {
			a := &m.actions[i]
			if a.scope != pass || a.hint == "" || len(a.keys) == 0 {
				continue
			}
			shadowed := slices.ContainsFunc(chain[:n], func(s scope) bool { return m.keys[s][a.keys[0]] != nil })
			if !shadowed && a.worksIn(here) && (a.off == nil || a.off(m) == "") {
				list = append(list, a)
			}
		}
	}
	return list
}

func hintWidth(a *action) int { return safe.Width(shortLabel(a)) + 1 + safe.Width(a.hint) + 2 }

// shortLabel is the first of an action's keys.
func shortLabel(a *action) string {
	if len(a.keys) == 0 {
		return ""
	}
	return keyLabel(a.keys[0])
}

// notice is what has to be said before keys are hinted at.
func (m *Model) notice() run {
	switch {
	case m.trouble != "":
		return run{m.k.bar.warn, safe.Line(m.trouble)}
	case m.said != "":
		return run{m.k.bar.text, safe.Line(m.said)}
	case m.scope() == inTree && len(m.marks.keys) > 0 && !m.typing():
		return run{m.k.bar.text, m.marksNotice()}
	}
	return run{}
}
