package ui

import (
	"strconv"

	tea "github.com/charmbracelet/bubbletea"

	"cordboard/core"
)

// What ends something of sessions is asked about first: which, how many, and what becomes of it (console.md §5).

// sweep is something that is done to all chosen sessions after it was asked about.
type sweep struct {
	verb, question string // "reset", "Reset": done, asked
	what           []string
	command        func(key string) core.Command
}

func (m *Model) askSweep(keys []string, s sweep) tea.Cmd {
	c := &confirm{title: s.question + " " + plural(len(keys), "session") + "?", what: s.what, count: len(keys)}
	for _, key := range keys {
		c.names = append(c.names, m.called(key))
	}
	c.yes = func(m *Model) tea.Cmd {
		j := &job{verb: s.verb, report: len(keys) > 1}
		for _, key := range keys {
			j.tasks = append(j.tasks, m.doing(key, s.command(key)))
		}
		m.clearMarks()
		return m.begin(j)
	}
	return m.confirm(c)
}

// aimed are the sessions an end is meant for: those chosen in the tree, elsewhere the one that is read.
func (m *Model) aimed() []string {
	if m.scope() == inTree {
		return m.chosen()
	}
	if key := m.subject(); key != "" {
		return []string{key}
	}
	return nil
}

func (m *Model) askReset() tea.Cmd {
	return m.askSweep(m.aimed(), sweep{
		verb: "reset", question: "Reset",
		what:    []string{"Each begins anew with an empty transcript. The old one stays readable: " + m.keyFor("transcript.older") + " in the transcript shows it. This cannot be taken back."},
		command: func(key string) core.Command { return core.Command{Reset: &core.Reset{Session: key}} },
	})
}

func (m *Model) askDelete() tea.Cmd { return m.askRemoval(false) }
func (m *Model) askPurge() tea.Cmd  { return m.askRemoval(true) }

func (m *Model) askRemoval(purge bool) tea.Cmd {
	keys := m.aimed()
	s := sweep{
		verb: "deleted", question: "Delete", what: []string{"What was said stays readable: " + m.keyFor("transcript.list") + " lists transcripts that no session names. This cannot be taken back."},
		command: func(key string) core.Command {
			return core.Command{Delete: &core.Delete{Session: key, Abort: true, Purge: purge}}
		},
	}
	if purge {
		s.verb, s.question, s.what = "deleted for good", "Delete for good", []string{"The transcripts go too: nobody can read them again. This cannot be taken back."}
	}
	busy := 0
	for _, key := range keys {
		if h := m.fleet.heads[key]; h != nil && h.Run != "" {
			busy++
		}
	}
	if busy > 0 {
		s.what = append(s.what, strconv.Itoa(busy)+" of them "+map[bool]string{true: "has a run that is", false: "have runs that are"}[busy == 1]+" under way or queued: it is stopped first.")
	}
	return m.askSweep(keys, s)
}

// askStopChosen stops sessions with all that they spawned.
func (m *Model) askStopChosen() tea.Cmd {
	keys := m.aimed()
	names := keys
	for _, key := range keys {
		for _, below := range m.spawnedBy(key) {
			if !contains(names, below) {
				names = append(names[:len(names):len(names)], below)
			}
		}
	}
	c := &confirm{
		title: "Stop " + plural(len(names), "session") + "?", count: len(names),
		what: []string{"Every run that is live or queued there ends, exchanges stop and nothing is announced. This cannot be taken back."},
	}
	for _, key := range names {
		c.names = append(c.names, m.called(key))
	}
	c.yes = func(m *Model) tea.Cmd {
		j := &job{verb: "stopped", report: len(keys) > 1}
		for _, key := range keys {
			j.tasks = append(j.tasks, m.doing(key, core.Command{Stop: &core.Stop{Session: key}}))
		}
		m.clearMarks()
		return m.begin(j)
	}
	return tea.Batch(m.confirm(c), m.countRuns(c, names))
}

func contains(list []string, one string) bool {
	for _, each := range list {
		if each == one {
			return true
		}
	}
	return false
}

func (m *Model) askAdopt() tea.Cmd {
	var keys []string
	for _, key := range m.aimed() {
		if h := m.fleet.heads[key]; h != nil && h.Flags.Has(core.FlagMirrored) {
			keys = append(keys, key)
		}
	}
	return m.askSweep(keys, sweep{
		verb: "adopted", question: "Adopt",
		what:    []string{"What comes from the place it is mirrored from is no longer taken over. From now on the agent configured here answers. This cannot be taken back."},
		command: func(key string) core.Command { return core.Command{Adopt: &core.Adopt{Session: key}} },
	})
}

func cannotEnd(m *Model) string {
	if len(m.aimed()) == 0 {
		return "choose a session, or mark some"
	}
	return cannotDo(m)
}

// cannotReset is why none of what is chosen can be begun anew.
func cannotReset(m *Model) string {
	if why := cannotEnd(m); why != "" {
		return why
	}
	return m.allMirrored(m.aimed())
}

// cannotDelete tells of a main session too, which is reset instead.
func cannotDelete(m *Model) string {
	if why := cannotEnd(m); why != "" {
		return why
	}
	keys := m.aimed()
	if h := m.fleet.heads[keys[0]]; len(keys) == 1 && h != nil && h.Kind == core.KindMain {
		return "a main session cannot be deleted: " + m.keyFor("session.reset") + " begins it anew"
	}
	return m.allMirrored(keys)
}

// allMirrored is why nothing is changed of sessions that are all mirrored.
func (m *Model) allMirrored(keys []string) string {
	for _, key := range keys {
		if h := m.fleet.heads[key]; h == nil || !h.Flags.Has(core.FlagMirrored) {
			return ""
		}
	}
	return m.mirrored(keys[0])
}

// mirrored says that a session is read only here, and the way out.
func (m *Model) mirrored(key string) string {
	return "mirrored, read only: " + m.keyFor("session.adopt") + " adopts " + m.nameFor(key)
}

func cannotAdopt(m *Model) string {
	if why := cannotEnd(m); why != "" {
		return why
	}
	for _, key := range m.aimed() {
		if h := m.fleet.heads[key]; h != nil && h.Flags.Has(core.FlagMirrored) {
			return ""
		}
	}
	return "it is not mirrored: there is nothing to adopt"
}
