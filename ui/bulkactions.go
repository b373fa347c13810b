package ui

import (
	"context"
	"strconv"

	tea "github.com/charmbracelet/bubbletea"

	"cordboard/core"
	"cordboard/ui/safe"
)

// bulkActions choose several sessions and do something to all of them.
func bulkActions() []action {
	return []action{
		{id: "mark.toggle", keys: []string{"m"}, text: "mark the session, or take its mark away", scope: inTree, run: (*Model).toggleMark},
		{id: "mark.range", keys: []string{"M"}, text: "mark from the last marked row to here", scope: inTree, run: (*Model).markRange},
		{id: "mark.down", keys: []string{"shift+down"}, text: "mark, and the next row too", scope: inTree, run: markOn(1)},
		{id: "mark.up", keys: []string{"shift+up"}, text: "mark, and the row above too", scope: inTree, run: markOn(-1)},
		{id: "mark.all", keys: []string{"ctrl+a"}, text: "mark every session in view; once more: none", scope: inTree, run: (*Model).markAll},
		{id: "mark.clear", text: "take all marks away", run: (*Model).clearMarks, off: noMarks},
		{id: "session.archive", keys: []string{"x"}, text: "archive or restore the session, or those marked", scope: inTree, run: (*Model).askArchive, off: cannotArchive},
		{id: "session.export", keys: []string{"E"}, text: "write the transcript to a file, or those marked", scope: inTree, run: (*Model).exportChosen, off: cannotExport},
		{id: "session.undo", keys: []string{"z"}, text: "take back what was done last", over: true, run: (*Model).takeBack, off: nothingToUndo},
	}
}

// askArchive asks whether to archive what is chosen; when all of it is archived already, whether to restore it.
func (m *Model) askArchive() tea.Cmd {
	var keys, archived []string
	for _, key := range m.chosen() {
		if h := m.fleet.heads[key]; h != nil && h.Flags.Has(core.FlagArchived) {
			archived = append(archived, key)
		} else {
			keys = append(keys, key)
		}
	}
	c := &confirm{title: "Archive " + plural(len(keys), "session") + "?", what: []string{
		"What is archived leaves the list and stays readable: " + m.keyFor("archived.toggle") + " shows it, " + m.keyFor("session.undo") + " takes this back.",
	}}
	if len(keys) > 0 && len(archived) > 0 {
		c.what = append(c.what, strconv.Itoa(len(archived))+" of those marked are archived already.")
	}
	verb, archive := "archived", true
	if len(keys) == 0 {
		c.title, c.what = "Restore "+plural(len(archived), "session")+"?", []string{"It comes back into the list as it was."}
		verb, archive, keys = "restored", false, archived
	}
	for _, key := range keys {
		c.names = append(c.names, m.called(key))
	}
	c.count = len(keys)
	c.yes = func(m *Model) tea.Cmd {
		j := &job{verb: verb}
		for _, key := range keys {
			j.tasks = append(j.tasks, m.command(core.Command{Patch: &core.Patch{Session: key, Archived: &archive}}))
		}
		m.clearMarks()
		return m.begin(j)
	}
	return m.confirm(c)
}

// called is a session's name with its key, as a person tells it from others.
func (m *Model) called(key string) string {
	if h := m.fleet.heads[key]; h != nil && safe.Column(h.Title) != "" {
		return safe.Column(h.Title) + " · " + key
	}
	return key
}

// exportChosen writes what is chosen to files, each as the JSONL it came from.
func (m *Model) exportChosen() tea.Cmd {
	keys := m.chosen()
	j := &job{verb: "exported", report: len(keys) > 1}
	export := m.env.Export
	for _, key := range keys {
		j.tasks = append(j.tasks, task{key: key, do: func(ctx context.Context) (*core.Command, string, error) {
			path, err := export(ctx, key)
			return nil, path, err
		}})
	}
	m.clearMarks()
	m.said = "exporting " + plural(len(keys), "session")
	return m.begin(j)
}

func cannotArchive(m *Model) string { return firstOf(cannotDo(m), nothingChosen(m)) }

func cannotExport(m *Model) string {
	if m.env.Export == nil {
		return "this console has no place to write files to"
	}
	return nothingChosen(m)
}
