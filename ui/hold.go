package ui

import (
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"cordboard/core"
)

// holdActions keep what is queued from starting, and let it go. What runs goes on.
func holdActions() []action {
	return []action{
		{id: "session.hold", keys: []string{"H"}, text: "hold what is queued for the session, those marked or the agent; once more lets it go", run: (*Model).holdChosen, off: cannotHold},
		{id: "all.hold", keys: []string{"g H"}, text: "hold everything that is queued, or let it go", over: true, run: (*Model).holdAll, off: cannotDo},
		{id: "run.again", keys: []string{"R"}, text: "run the message of the session's last run once more, where that failed", run: (*Model).retryLast, off: cannotRetryLast},
	}
}

// holdID is how a hold is named in changes of the store.
func holdID(h core.Hold) string {
	if h.Agent != "" {
		return "agent:" + h.Agent
	}
	return h.Session
}

// holdName says what a hold is of.
func holdName(h core.Hold) string {
	switch {
	case h.Session != "":
		return h.Session
	case h.Agent != "":
		return "agent " + h.Agent
	}
	return "everything"
}

// heldBy says what keeps the queue of a session from starting, "" when nothing does.
func (m *Model) heldBy(key string) string {
	agent := m.fleet.names.AgentOf(key)
	switch held := m.stand.holds; {
	case held[""]:
		return "everything is held: " + m.keyFor("all.hold") + " lets it go"
	case held["agent:"+agent]:
		return "agent " + agent + " is held: " + m.keyFor("session.hold") + " on it lets it go"
	case held[key]:
		return "the session is held: " + m.keyFor("session.hold") + " lets it go"
	}
	return ""
}

// holdsMsg is everything that is held.
type holdsMsg struct {
	load  int
	holds []core.Hold
	err   error
}

func (m *Model) holdsCmd(load int) tea.Cmd {
	return func() tea.Msg {
		page, err := guarded(func() (core.RecordPage, error) {
			return m.env.Board.Records(m.ctx, core.RecordQuery{Kind: core.RecordHolds})
		})
		return holdsMsg{load, page.Holds, err}
	}
}

// apply takes in what is held. A board that cannot tell holds nothing; one that cannot be read is asked again with the rest.
func (msg holdsMsg) apply(m *Model) tea.Cmd {
	if msg.load != m.link.load || msg.err != nil {
		return nil
	}
	m.stand.holds = map[string]bool{}
	for _, h := range msg.holds {
		m.stand.holds[holdID(h)] = true
	}
	m.barsDirty, m.insp.dirty = true, true
	return nil
}

// hearHold takes in a hold that came or went.
func (m *Model) hearHold(c core.Change) {
	if m.stand.holds == nil {
		m.stand.holds = map[string]bool{}
	}
	if c.Deleted {
		delete(m.stand.holds, c.ID)
	} else {
		m.stand.holds[c.ID] = true
	}
	m.barsDirty, m.tree.dirty, m.insp.dirty, m.dirty = true, true, true, true
}

// badges are what the header tells because somebody should know it: sessions that need the operator, and what is held.
func (m *Model) badges() []headerPart {
	var parts []headerPart
	if n := m.tree.forest.needs; n > 0 {
		word := " need you"
		if n == 1 {
			word = " needs you"
		}
		parts = append(parts, headerPart{run: run{m.k.bar.err, "! " + strconv.Itoa(n) + word}})
	}
	if words := m.heldWords(); words != "" {
		parts = append(parts, headerPart{run: run{m.k.bar.warn, words}})
	}
	return parts
}

// heldWords say what is held, "" when nothing is.
func (m *Model) heldWords() string {
	held := m.stand.holds
	if held[""] {
		return "all held"
	}
	var agents, sessions int
	for id := range held {
		if strings.Count(id, ":") == 1 && strings.HasPrefix(id, "agent:") {
			agents++
		} else {
			sessions++
		}
	}
	switch {
	case agents > 0 && sessions > 0:
		return plural(agents, "agent") + " and " + plural(sessions, "session") + " held"
	case agents > 0:
		return plural(agents, "agent") + " held"
	case sessions > 0:
		return plural(sessions, "session") + " held"
	}
	return ""
}

// holdChosen holds what is marked, else the session or agent under the cursor; when all of that is held, it is let go.
func (m *Model) holdChosen() tea.Cmd {
	if n := m.tree.node(); len(m.marks.keys) == 0 && n != nil && n.isAgent() && m.scope() != inTranscript {
		return m.hold(core.Hold{Agent: n.agent})
	}
	keys := m.chosen()
	if m.scope() == inTranscript && m.trans.key != "" {
		keys = []string{m.trans.key}
	}
	list := make([]core.Hold, len(keys))
	for i, key := range keys {
		list[i] = core.Hold{Session: key}
	}
	m.clearMarks()
	return m.hold(list...)
}

func (m *Model) holdAll() tea.Cmd { return m.hold(core.Hold{}) }

func (m *Model) holdRuns() tea.Cmd { return m.hold(core.Hold{Session: runHere(m).SessionKey}) }

// hold holds what is not held yet, or lets go of all when every one is.
func (m *Model) hold(list ...core.Hold) tea.Cmd {
	release := true
	for _, h := range list {
		release = release && m.stand.holds[holdID(h)]
	}
	j := &job{verb: map[bool]string{true: "let go:", false: "held:"}[release]}
	for _, h := range list {
		if m.stand.holds[holdID(h)] == release {
			h.Release = release
			j.tasks = append(j.tasks, m.command(core.Command{Hold: &h}))
		}
	}
	return m.begin(j)
}

func cannotHold(m *Model) string {
	if n := m.tree.node(); n == nil {
		return "there is nothing to hold"
	}
	return cannotDo(m)
}

// retryLast runs the message of the session's last run once more.
func (m *Model) retryLast() tea.Cmd {
	r := m.lastRun()
	return m.carryOut("queued again for", r.SessionKey, core.Command{Retry: &core.Retry{Run: r.ID}})
}

// lastRun is the newest run of the session that the inspector tells of, nil when it is not known.
func (m *Model) lastRun() *core.Run {
	if d := m.insp.detail; d != nil && len(d.Runs) > 0 {
		return &d.Runs[0]
	}
	return nil
}

func cannotRetryLast(m *Model) string {
	switch r := m.lastRun(); {
	case m.tree.selected() == "":
		return "choose a session"
	case r == nil:
		return "nothing has run here yet"
	case r.Mirrored:
		return "it ran elsewhere: this is its history"
	case r.State != core.RunEnded:
		return "its run has not ended yet"
	case r.Outcome == core.OutcomeOK:
		return "its last run ended well: there is nothing to retry"
	}
	return cannotDo(m)
}
