package ui

import tea "github.com/charmbracelet/bubbletea"

// inspectorActions are what can be done in the inspector.
func inspectorActions() []action {
	return []action{
		{id: "inspector.down", keys: []string{"down", "j"}, text: "a line down", scope: inInspector, run: inspectBy(1)},
		{id: "inspector.up", keys: []string{"up", "k"}, text: "a line up", scope: inInspector, run: inspectBy(-1)},
		{id: "inspector.screenDown", keys: []string{"pgdown", "ctrl+d", " "}, text: "a screen down", scope: inInspector, run: inspectBy(10)},
		{id: "inspector.screenUp", keys: []string{"pgup", "ctrl+u"}, text: "a screen up", scope: inInspector, run: inspectBy(-10)},
		{id: "inspector.first", keys: []string{"g", "home"}, text: "first line", scope: inInspector, run: inspectBy(-1 << 20)},
		{id: "inspector.last", keys: []string{"G", "end"}, text: "last line", scope: inInspector, run: inspectBy(1 << 20)},
		{id: "inspector.parent", keys: []string{"enter"}, text: "go to the session that spawned this one", hint: "to parent", scope: inInspector, run: (*Model).toParent, off: noParent},
		{id: "inspector.left", keys: []string{"left", "h"}, text: "back to the transcript", scope: inInspector, run: func(m *Model) tea.Cmd { return m.focusOn(paneTranscript) }},
	}
}

func inspectBy(lines int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd { m.insp.scroll(lines); return nil }
}
