package ui

import tea "github.com/charmbracelet/bubbletea"

// treeActions are what can be done in the session tree.
func treeActions() []action {
	return []action{
		{id: "tree.down", keys: []string{"down", "j"}, text: "next row", scope: inTree, run: moveTree(1)},
		{id: "tree.up", keys: []string{"up", "k"}, text: "previous row", scope: inTree, run: moveTree(-1)},
		{id: "tree.pageDown", keys: []string{"pgdown", "ctrl+d"}, text: "a page down", scope: inTree, run: pageTree(1)},
		{id: "tree.pageUp", keys: []string{"pgup", "ctrl+u"}, text: "a page up", scope: inTree, run: pageTree(-1)},
		{id: "tree.first", keys: []string{"g", "home"}, text: "first row", scope: inTree, run: func(m *Model) tea.Cmd { m.tree.jump(0); return nil }},
		{id: "tree.last", keys: []string{"G", "end"}, text: "last row", scope: inTree, run: func(m *Model) tea.Cmd { m.tree.jump(len(m.tree.rows)); return nil }},
		{id: "tree.read", keys: []string{"enter"}, text: "read the session's transcript; fold an agent", hint: "read", scope: inTree, run: (*Model).enterTree},
		{id: "tree.fold", keys: []string{" "}, text: "fold or unfold", hint: "fold", scope: inTree, run: func(m *Model) tea.Cmd { m.tree.toggle(); return nil }, off: noFolds},
		{id: "tree.out", keys: []string{"left", "h"}, text: "fold, or go to the parent row", scope: inTree, run: func(m *Model) tea.Cmd { m.tree.out(); return nil }},
		{id: "tree.in", keys: []string{"right", "l"}, text: "unfold, or go in", scope: inTree, run: (*Model).goIn},
		{id: "tree.foldAll", keys: []string{"-"}, text: "fold all", scope: inTree, run: func(m *Model) tea.Cmd { m.tree.foldAll(); return nil }, off: noFolds},
		{id: "tree.unfoldAll", keys: []string{"+", "="}, text: "unfold all", scope: inTree, run: func(m *Model) tea.Cmd { m.tree.unfoldAll(); return nil }, off: noFolds},
	}
}

func moveTree(by int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd { m.tree.move(by); return nil }
}

func pageTree(by int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd { m.tree.move(by * max(m.tree.height-1, 1)); return nil }
}

func noFolds(m *Model) string {
	if m.tree.matches != nil {
		return "folds do not count while a filter is set: esc clears it"
	}
	return ""
}
