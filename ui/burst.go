package ui

import tea "github.com/charmbracelet/bubbletea"

// burstMost is how many different keys that came in one go are taken for keys. More are text that was pasted by a terminal which does not
// say so, and pasted text is no command (R153).
const burstMost = 7

// apart takes keys that came in one go apart: over a slow link a key that is held arrives as "jjjj", and none of them may be lost.
// Two esc in one go come as alt+esc.
func apart(msg tea.KeyMsg) []tea.KeyMsg {
	if msg.Type == tea.KeyEsc && msg.Alt {
		return []tea.KeyMsg{{Type: tea.KeyEsc}, {Type: tea.KeyEsc}}
	}
	if msg.Type != tea.KeyRunes || msg.Paste || msg.Alt || len(msg.Runes) < 2 {
		return []tea.KeyMsg{msg}
	}
	same := true
	for _, r := range msg.Runes {
		same = same && r == msg.Runes[0]
	}
	if !same && len(msg.Runes) > burstMost {
		return []tea.KeyMsg{msg}
	}
	list := make([]tea.KeyMsg, len(msg.Runes))
	for i, r := range msg.Runes {
		list[i] = tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}}
		if r == ' ' {
			list[i].Type = tea.KeySpace
		}
	}
	return list
}

// typing reports whether keys are text, or belong to what lies over the panes.
func (m *Model) typing() bool {
	if s := m.topStage(); s != nil {
		return s.base().editing
	}
	return m.top() != nil || m.filter.editing || m.find.editing
}

// escFirst reports whether a key with alt is an esc after which another key came quickly: to a terminal both are the same. Where keys are
// text it closes what is open and its letter is dropped, neither typed nor a command. alt+b, alt+d and alt+f go by words in a text.
func escFirst(msg tea.KeyMsg) bool {
	if !msg.Alt || msg.Type != tea.KeyRunes && msg.Type != tea.KeySpace {
		return false
	}
	switch msg.String() {
	case "alt+b", "alt+d", "alt+f":
		return false
	}
	return true
}

// pressAll presses keys one after the other.
func (m *Model) pressAll(list []tea.KeyMsg) tea.Cmd {
	cmds := make([]tea.Cmd, len(list))
	for i, msg := range list {
		cmds[i] = m.press(msg)
	}
	return tea.Batch(cmds...)
}
