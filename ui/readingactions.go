package ui

import tea "github.com/charmbracelet/bubbletea"

// reads is what reading needs beside the transcript itself.
type reads struct {
	readFilter readFilter
	find       find
	findAll    findAll
	visit      *visit
	trail      []target // where jumps began
}

func newReads() reads {
	return reads{find: find{field: newField()}, findAll: findAll{field: newField()}}
}

// readingActions are what can be done with messages.
func readingActions() []action {
	return []action{
		{id: "message.next", keys: []string{"J", "shift+down"}, text: "next message", scope: inTranscript, run: stepBy(1)},
		{id: "message.previous", keys: []string{"K", "shift+up"}, text: "previous message", scope: inTranscript, run: stepBy(-1)},
		{id: "message.open", keys: []string{"enter"}, text: "unfold or fold this message; ⇄ goes to the session it came from; where there is nothing to open, write to the session", hint: "open", scope: inTranscript, run: (*Model).enterMessage},
		{id: "message.cross", keys: []string{"c"}, text: "go to the other side: where it came from, or the session its call names", scope: inTranscript, run: (*Model).cross, off: oneSided},
		{id: "jump.back", keys: []string{"backspace", "ctrl+o"}, text: "back to where the last jump began", scope: inTranscript, run: (*Model).goBack, off: noTrail},
		{id: "find.edit", keys: []string{"/"}, text: "search this transcript, as it was written", hint: "search", scope: inTranscript, run: (*Model).editFind, off: noSearch},
		{id: "find.everywhere", keys: []string{"g /", "ctrl+f"}, text: "search every session", run: (*Model).openFindAll, off: noSearch},
		{id: "transcript.list", keys: []string{"g o"}, text: "other transcripts: older ones of the session, and those that no session names", run: (*Model).openTranscripts},
		{id: "find.next", keys: []string{"n"}, text: "next match below", scope: inTranscript, run: hopBy(1), off: noFind},
		{id: "find.previous", keys: []string{"N"}, text: "next match above", scope: inTranscript, run: hopBy(-1), off: noFind},
		{id: "read.filter", keys: []string{"f"}, text: "choose what transcripts show: who speaks, errors only, since when", hint: "filter", scope: inTranscript, run: (*Model).openReadMenu},
		{id: "read.all", keys: []string{"F"}, text: "show all of the transcript again", scope: inTranscript, run: (*Model).clearReadFilter, off: noReadFilter},
		{id: "message.copy", keys: []string{"y"}, text: "copy what this message says", hint: "copy", scope: inTranscript, run: (*Model).copyMessage, off: noOutside},
		{id: "message.copyCode", keys: []string{"Y"}, text: "copy a code block of this message, or what a tool was given or said", scope: inTranscript, run: (*Model).copyCode, off: noOutside},
		{id: "message.page", keys: []string{"p"}, text: "this message in $PAGER", scope: inTranscript, run: func(m *Model) tea.Cmd { return m.openMessage(Outside.Pager) }, off: noMessage},
		{id: "message.edit", keys: []string{"E"}, text: "this message in $EDITOR", scope: inTranscript, run: func(m *Model) tea.Cmd { return m.openMessage(Outside.Editor) }, off: noMessage},
		{id: "transcript.page", keys: []string{"P"}, text: "the transcript in $PAGER", scope: inTranscript, run: func(m *Model) tea.Cmd { return m.openTranscript(Outside.Pager) }, off: noTranscript},
		{id: "transcript.takeout", keys: []string{"x"}, text: "open or export this message or the transcript", scope: inTranscript, run: (*Model).openTakeouts},
		{id: "transcript.raw", keys: []string{"m"}, text: "Markdown drawn, or as it was written", scope: inTranscript, run: reread(func(r *reading) { r.raw = !r.raw })},
	}
}

// noSearch is why this board does not search.
func noSearch(m *Model) string { return m.fleet.info.Missing["search"] }

func stepBy(by int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd { m.trans.step(by); return nil }
}

func hopBy(by int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd { m.hop(by); return nil }
}
