package ui

import tea "github.com/charmbracelet/bubbletea"

// transcriptActions are what can be done in the transcript.
func transcriptActions() []action {
	return []action{
		{id: "transcript.down", keys: []string{"down", "j"}, text: "a line down", scope: inTranscript, run: scrollBy(1)},
		{id: "transcript.up", keys: []string{"up", "k"}, text: "a line up", scope: inTranscript, run: scrollBy(-1)},
		{id: "transcript.screenDown", keys: []string{"pgdown", " "}, text: "a screen down", scope: inTranscript, run: scrollScreens(2)},
		{id: "transcript.screenUp", keys: []string{"pgup"}, text: "a screen up", scope: inTranscript, run: scrollScreens(-2)},
		{id: "transcript.halfDown", keys: []string{"ctrl+d"}, text: "half a screen down", scope: inTranscript, run: scrollScreens(1)},
		{id: "transcript.halfUp", keys: []string{"ctrl+u"}, text: "half a screen up", scope: inTranscript, run: scrollScreens(-1)},
		{id: "transcript.first", keys: []string{"g", "home"}, text: "first message", scope: inTranscript, run: func(m *Model) tea.Cmd { m.trans.toStart(); return nil }},
		{id: "transcript.follow", keys: []string{"G", "end"}, text: "last message, and follow new ones", hint: "follow", scope: inTranscript, run: func(m *Model) tea.Cmd { m.trans.toEnd(); return nil }},
		{id: "transcript.tools", keys: []string{"t"}, text: "unfold or fold tool calls and results", hint: "tools", scope: inTranscript, run: reread(func(r *reading) { r.tools = !r.tools })},
		{id: "transcript.thinking", keys: []string{"T"}, text: "unfold or fold thinking", scope: inTranscript, run: reread(func(r *reading) { r.thinking = !r.thinking })},
		{id: "transcript.wrap", keys: []string{"w"}, text: "break long lines or let them run on", hint: "wrap", scope: inTranscript, run: reread(func(r *reading) { r.wrap = !r.wrap })},
		{id: "transcript.left", keys: []string{"left", "h"}, text: "left, when long lines run on; else to the sessions", scope: inTranscript, run: shiftBy(-1)},
		{id: "transcript.right", keys: []string{"right", "l"}, text: "right, when long lines run on", scope: inTranscript, run: shiftBy(1), off: wrapped},
		{id: "transcript.start", keys: []string{"0"}, text: "to the first column", scope: inTranscript, run: func(m *Model) tea.Cmd { m.trans.shiftTo(0); return nil }, off: wrapped},
		{id: "transcript.end", keys: []string{"$"}, text: "to the end of the longest line in view", scope: inTranscript, run: func(m *Model) tea.Cmd { m.trans.shiftToEnd(); return nil }, off: wrapped},
		{id: "transcript.older", keys: []string{"o"}, text: "an older transcript of the session (before a reset)", hint: "older", scope: inTranscript, run: func(m *Model) tea.Cmd { m.turn(1); return nil }, off: oneGeneration},
		{id: "transcript.newer", keys: []string{"O"}, text: "a newer transcript of the session", scope: inTranscript, run: func(m *Model) tea.Cmd { m.turn(-1); return nil }, off: oneGeneration},
	}
}

// scrollBy scrolls by a line up or down. Where there is nothing left to scroll to, the cursor goes on alone.
func scrollBy(lines int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		top := m.trans.top
		if m.trans.scroll(lines); m.trans.top == top {
			m.trans.step(lines)
		}
		return nil
	}
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

func wrapped(m *Model) string {
	if m.trans.read.wrap {
		return "lines are wrapped: " + m.keyFor("transcript.wrap") + " lets them run on"
	}
	return ""
}

func oneGeneration(m *Model) string {
	if len(m.generations()) < 2 {
		return "this session has one transcript only"
	}
	return ""
}
