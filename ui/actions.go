package ui

import (
	tea "github.com/charmbracelet/bubbletea"

	"cordboard/core"
)

// scope says where an action's keys work.
type scope uint8

const (
	anywhere scope = iota
	inTree
	inTranscript
	inInspector
)

var scopeTitles = [...]string{"Everywhere", "Sessions", "Transcript", "Inspector"}

// action is something the operator can do, as data: dispatch, footer and help derive from it (console.md §8).
type action struct {
	keys  []string // as bubbletea names them
	label string   // the keys as people read them
	text  string   // for the help
	hint  string   // for the footer; "" keeps it out
	scope scope
	run   func(*Model) tea.Cmd
	off   func(*Model) string // why it cannot be done now, "" = it can
}

// actions lists every action, in the order of the footer and of the help.
func actions() []action {
	return append(append(append(globalActions(), treeActions()...), transcriptActions()...), inspectorActions()...)
}

func globalActions() []action {
	return []action{
		{keys: []string{"tab"}, label: "tab", text: "next pane", hint: "pane", run: func(m *Model) tea.Cmd { return m.cycle(1) }},
		{keys: []string{"shift+tab"}, label: "shift+tab", text: "previous pane", run: func(m *Model) tea.Cmd { return m.cycle(-1) }},
		{keys: []string{"/"}, label: "/", text: "filter sessions by key, name and channel", hint: "filter", run: (*Model).editFilter},
		{keys: []string{"i"}, label: "i", text: "inspector: what is known of the session", hint: "inspect", run: (*Model).toggleInspector},
		{keys: []string{"a"}, label: "a", text: "show or leave out archived sessions", run: (*Model).toggleArchived},
		{keys: []string{"u"}, label: "u", text: "go to the session that spawned this one", run: (*Model).toParent, off: noParent},
		{keys: []string{"r"}, label: "r", text: "read everything anew", run: (*Model).refresh},
		{keys: []string{"?"}, label: "?", text: "this help", hint: "help", run: (*Model).openHelp},
		{keys: []string{"esc"}, label: "esc", text: "close what is open, clear the filter, back to the sessions", run: (*Model).back},
		{keys: []string{"ctrl+z"}, label: "ctrl+z", text: "suspend; fg brings it back", run: func(*Model) tea.Cmd { return tea.Suspend }},
		{keys: []string{"q"}, label: "q", text: "quit; nothing that runs is stopped by it", hint: "quit", run: (*Model).quit},
		{keys: []string{"ctrl+c"}, label: "ctrl+c", text: "quit too", run: (*Model).interrupt},
	}
}

func treeActions() []action {
	return []action{
		{keys: []string{"down", "j"}, label: "↓ j", text: "next row", scope: inTree, run: moveTree(1)},
		{keys: []string{"up", "k"}, label: "↑ k", text: "previous row", scope: inTree, run: moveTree(-1)},
		{keys: []string{"pgdown", "ctrl+d"}, label: "pgdn ctrl+d", text: "a page down", scope: inTree, run: pageTree(1)},
		{keys: []string{"pgup", "ctrl+u"}, label: "pgup ctrl+u", text: "a page up", scope: inTree, run: pageTree(-1)},
		{keys: []string{"g", "home"}, label: "g home", text: "first row", scope: inTree, run: func(m *Model) tea.Cmd { m.tree.jump(0); return nil }},
		{keys: []string{"G", "end"}, label: "G end", text: "last row", scope: inTree, run: func(m *Model) tea.Cmd { m.tree.jump(len(m.tree.rows)); return nil }},
		{keys: []string{"enter"}, label: "enter", text: "read the session's transcript; fold an agent", hint: "read", scope: inTree, run: (*Model).enterTree},
		{keys: []string{" "}, label: "space", text: "fold or unfold", hint: "fold", scope: inTree, run: func(m *Model) tea.Cmd { m.tree.toggle(); return nil }, off: noFolds},
		{keys: []string{"left", "h"}, label: "← h", text: "fold, or go to the parent row", scope: inTree, run: func(m *Model) tea.Cmd { m.tree.out(); return nil }},
		{keys: []string{"right", "l"}, label: "→ l", text: "unfold, or go in", scope: inTree, run: (*Model).goIn},
		{keys: []string{"-"}, label: "-", text: "fold all", scope: inTree, run: func(m *Model) tea.Cmd { m.tree.foldAll(); return nil }, off: noFolds},
		{keys: []string{"+", "="}, label: "+", text: "unfold all", scope: inTree, run: func(m *Model) tea.Cmd { m.tree.unfoldAll(); return nil }, off: noFolds},
	}
}

func transcriptActions() []action {
	return []action{
		{keys: []string{"down", "j"}, label: "↓ j", text: "a line down", scope: inTranscript, run: scrollBy(1)},
		{keys: []string{"up", "k"}, label: "↑ k", text: "a line up", scope: inTranscript, run: scrollBy(-1)},
		{keys: []string{"pgdown", " "}, label: "pgdn space", text: "a screen down", scope: inTranscript, run: scrollScreens(2)},
		{keys: []string{"pgup"}, label: "pgup", text: "a screen up", scope: inTranscript, run: scrollScreens(-2)},
		{keys: []string{"ctrl+d"}, label: "ctrl+d", text: "half a screen down", scope: inTranscript, run: scrollScreens(1)},
		{keys: []string{"ctrl+u"}, label: "ctrl+u", text: "half a screen up", scope: inTranscript, run: scrollScreens(-1)},
		{keys: []string{"g", "home"}, label: "g home", text: "first message", hint: "top", scope: inTranscript, run: func(m *Model) tea.Cmd { m.trans.toStart(); return nil }},
		{keys: []string{"G", "end"}, label: "G end", text: "last message, and follow new ones", hint: "follow", scope: inTranscript, run: func(m *Model) tea.Cmd { m.trans.toEnd(); return nil }},
		{keys: []string{"t"}, label: "t", text: "unfold or fold tool calls and results", hint: "tools", scope: inTranscript, run: reread(func(r *reading) { r.tools = !r.tools })},
		{keys: []string{"T"}, label: "T", text: "unfold or fold thinking", scope: inTranscript, run: reread(func(r *reading) { r.thinking = !r.thinking })},
		{keys: []string{"w"}, label: "w", text: "break long lines or let them run on", hint: "wrap", scope: inTranscript, run: reread(func(r *reading) { r.wrap = !r.wrap })},
		{keys: []string{"left", "h"}, label: "← h", text: "left, when long lines run on; else to the sessions", scope: inTranscript, run: shiftBy(-1)},
		{keys: []string{"right", "l"}, label: "→ l", text: "right, when long lines run on", scope: inTranscript, run: shiftBy(1), off: wrapped},
		{keys: []string{"0"}, label: "0", text: "to the first column", scope: inTranscript, run: func(m *Model) tea.Cmd { m.trans.shiftTo(0); return nil }, off: wrapped},
		{keys: []string{"$"}, label: "$", text: "to the end of the longest line in view", scope: inTranscript, run: func(m *Model) tea.Cmd { m.trans.shiftToEnd(); return nil }, off: wrapped},
		{keys: []string{"o"}, label: "o", text: "an older transcript of the session (before a reset)", hint: "older", scope: inTranscript, run: func(m *Model) tea.Cmd { m.turn(1); return nil }, off: oneGeneration},
		{keys: []string{"O"}, label: "O", text: "a newer transcript of the session", scope: inTranscript, run: func(m *Model) tea.Cmd { m.turn(-1); return nil }, off: oneGeneration},
	}
}

func inspectorActions() []action {
	return []action{
		{keys: []string{"down", "j"}, label: "↓ j", text: "a line down", scope: inInspector, run: inspectBy(1)},
		{keys: []string{"up", "k"}, label: "↑ k", text: "a line up", scope: inInspector, run: inspectBy(-1)},
		{keys: []string{"pgdown", "ctrl+d", " "}, label: "pgdn space", text: "a screen down", scope: inInspector, run: inspectBy(10)},
		{keys: []string{"pgup", "ctrl+u"}, label: "pgup", text: "a screen up", scope: inInspector, run: inspectBy(-10)},
		{keys: []string{"g", "home"}, label: "g home", text: "first line", scope: inInspector, run: inspectBy(-1 << 20)},
		{keys: []string{"G", "end"}, label: "G end", text: "last line", scope: inInspector, run: inspectBy(1 << 20)},
		{keys: []string{"enter"}, label: "enter", text: "go to the session that spawned this one", hint: "to parent", scope: inInspector, run: (*Model).toParent, off: noParent},
		{keys: []string{"left", "h"}, label: "← h", text: "back to the transcript", scope: inInspector, run: func(m *Model) tea.Cmd { return m.focusOn(paneTranscript) }},
	}
}

// keymap finds the action of a key; scopes go before anywhere.
type keymap map[scope]map[string]*action

func newKeymap(list []action) keymap {
	km := keymap{}
	for i := range list {
		a := &list[i]
		if km[a.scope] == nil {
			km[a.scope] = map[string]*action{}
		}
		for _, key := range a.keys {
			km[a.scope][key] = a
		}
	}
	return km
}

func (km keymap) find(s scope, key string) *action {
	if a := km[s][key]; a != nil {
		return a
	}
	return km[anywhere][key]
}

func moveTree(by int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd { m.tree.move(by); return nil }
}

func pageTree(by int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd { m.tree.move(by * max(m.tree.height-1, 1)); return nil }
}

func scrollBy(lines int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd { m.trans.scroll(lines); return nil }
}

// scrollScreens scrolls by halves of a screen; a whole one leaves a line to hold on to.
func scrollScreens(halves int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		by := max(m.trans.h/2, 1)
		if halves == 2 || halves == -2 {
			by = max(m.trans.h-1, 1)
		}
		if halves < 0 {
			by = -by
		}
		m.trans.scroll(by)
		return nil
	}
}

func reread(change func(*reading)) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		r := m.trans.read
		change(&r)
		m.trans.setReading(r)
		return nil
	}
}

func shiftBy(halves int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		if m.trans.read.wrap || m.trans.shift == 0 && halves < 0 {
			return m.focusOn(paneTree)
		}
		m.trans.shiftTo(m.trans.shift + halves*max(m.trans.w/2, 1))
		return nil
	}
}

func inspectBy(lines int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd { m.insp.scroll(lines); return nil }
}

func noParent(m *Model) string {
	if h := m.fleet.heads[m.tree.selected()]; h == nil || h.Parent == "" {
		return "nobody spawned this session"
	} else if m.fleet.heads[h.Parent] == nil {
		return "the session that spawned this one is gone"
	} else if h := m.fleet.heads[h.Parent]; h.Flags.Has(core.FlagArchived) && !m.archived {
		return "the session that spawned this one is archived: a shows it"
	}
	return ""
}

func noFolds(m *Model) string {
	if m.tree.matches != nil {
		return "folds do not count while a filter is set: esc clears it"
	}
	return ""
}

func wrapped(m *Model) string {
	if m.trans.read.wrap {
		return "lines are wrapped: w lets them run on"
	}
	return ""
}

func oneGeneration(m *Model) string {
	if len(m.generations()) < 2 {
		return "this session has one transcript only"
	}
	return ""
}
