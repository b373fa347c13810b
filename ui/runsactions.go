package ui

import (
	"context"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"cordboard/core"
)

// viewScopeActions open the views that take the place of the panes, and are what can be done in them.
func viewScopeActions() []action {
	return slices.Concat(openingActions(), inViewActions(), runsActions(), exchangeActions(), deliveryActions(), holdActions(), auditActions(), usageActions())
}

func openingActions() []action {
	return []action{
		{id: "runs.open", keys: []string{"r"}, text: "runs: what runs, waits and ended, with the reasons", hint: "runs", over: true, run: (*Model).openRuns, off: onScreen(inRuns)},
		{id: "runs.session", keys: []string{"g r"}, text: "runs of this session only", run: (*Model).openSessionRuns, off: noSession},
		{id: "exchanges.open", keys: []string{"e"}, text: "exchanges: what this session and others said to each other", hint: "exchanges", over: true, run: (*Model).openExchanges, off: onScreen(inExchanges)},
		{id: "deliveries.open", keys: []string{"g d"}, text: "deliveries: texts that went out to chats, or could not", over: true, run: (*Model).openDeliveries, off: onScreen(inDeliveries)},
		{id: "audit.open", keys: []string{"A"}, text: "audit: who did what, and what came of it", over: true, run: (*Model).openAudit, off: onScreen(inAudit)},
		{id: "usage.open", keys: []string{"g u"}, text: "usage: what agents, sessions, models and days cost", over: true, run: (*Model).openUsage, off: onScreen(inUsage)},
	}
}

// inViewActions are the same in every view.
func inViewActions() []action {
	return []action{
		{id: "view.down", keys: []string{"down", "j"}, text: "next row", scope: inView, run: stageBy(1)},
		{id: "view.up", keys: []string{"up", "k"}, text: "previous row", scope: inView, run: stageBy(-1)},
		{id: "view.pageDown", keys: []string{"pgdown", "ctrl+d", " "}, text: "a page down", scope: inView, run: stagePages(1)},
		{id: "view.pageUp", keys: []string{"pgup", "ctrl+u"}, text: "a page up", scope: inView, run: stagePages(-1)},
		{id: "view.first", keys: []string{"g", "home"}, text: "first row", scope: inView, run: stageBy(-1 << 20)},
		{id: "view.last", keys: []string{"G", "end"}, text: "last row", scope: inView, run: stageBy(1 << 20)},
		{id: "view.filter", keys: []string{"/"}, text: "show only rows that hold some words", hint: "filter", scope: inView, run: (*Model).filterStage, off: noTable},
		{id: "view.session", keys: []string{"s"}, text: "only the session under the cursor, or all", hint: "one/all", scope: inView, run: (*Model).narrowStage, off: cannotNarrow},
		{id: "view.details", keys: []string{"i"}, text: "all that is known of the row", hint: "details", scope: inView, run: (*Model).showFacts, off: noFacts},
		{id: "view.factsDown", keys: []string{"]"}, text: "details: further down", scope: inView, run: scrollFacts("pgdown"), off: noTable},
		{id: "view.factsUp", keys: []string{"["}, text: "details: further up", scope: inView, run: scrollFacts("pgup"), off: noTable},
		{id: "view.export", keys: []string{"E"}, text: "write the rows to a file, one JSON object a line", scope: inView, run: (*Model).exportRows, off: cannotExportRows},
		{id: "view.close", keys: []string{"esc", "q"}, text: "back: close the details, clear the filter, close the view", hint: "back", scope: inView, run: (*Model).backInStage},
	}
}

// runsActions are what can be done with a run.
func runsActions() []action {
	return []action{
		{id: "runs.go", keys: []string{"enter"}, text: "go to the session, where this run wrote", hint: "go there", scope: inRuns, run: (*Model).goToRun, off: noRun},
		{id: "runs.abort", keys: []string{"x"}, text: "abort this run", hint: "abort", scope: inRuns, run: (*Model).abortRun, off: cannotAbort},
		{id: "runs.stop", keys: []string{"X"}, text: "stop the session and all that it spawned", scope: inRuns, run: (*Model).askStop, off: cannotStop},
		{id: "runs.retry", keys: []string{"R"}, text: "run the message of a run that failed once more, or try its announce again", hint: "retry", scope: inRuns, run: (*Model).retryRun, off: cannotRetryRun},
		{id: "runs.answer", keys: []string{"ctrl+y"}, text: "answer where this run waits for you", scope: inRuns, run: (*Model).answerRun, off: cannotAnswerRun},
		{id: "runs.exchange", keys: []string{"e"}, text: "the exchange that this run is part of", hint: "exchange", scope: inRuns, run: (*Model).openRunsExchange, off: noExchange},
		{id: "runs.hold", keys: []string{"H"}, text: "hold what is queued for the session, or let it go", scope: inRuns, run: (*Model).holdRuns, off: cannotStop},
		{id: "runs.group", keys: []string{"f"}, text: "all runs, live, queued or failed ones", hint: "which", scope: inRuns, run: (*Model).nextRunGroup},
		{id: "runs.copy", keys: []string{"y"}, text: "copy the run's id", scope: inRuns, run: (*Model).copyRunID, off: cannotCopyRun},
	}
}

func noSession(m *Model) string {
	if m.tree.selected() == "" {
		return "choose a session"
	}
	return ""
}

// onScreen is why a view is not opened that is on the screen.
func onScreen(s scope) func(*Model) string {
	return func(m *Model) string {
		if m.scope() == s {
			return "this is it"
		}
		return ""
	}
}

// notInView is why an action of a view cannot be done while that is not on the screen.
func notInView(s scope) string { return "only in the view: " + strings.ToLower(scopeTitles[s]) }

func stageBy(by int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		v := m.stage().base()
		if _, ok := m.stage().(*timeline); ok {
			return sceneBy(by)(m)
		}
		if v.opened && !m.factsBeside() {
			v.facts.at += by
			m.clampFacts()
			return nil
		}
		v.rows.move(by)
		v.facts.at, m.barsDirty = 0, true
		if a, ok := m.stage().(*auditView); ok {
			a.moved()
		}
		return nil
	}
}

func stagePages(by int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		if _, ok := m.stage().(*timeline); ok {
			return sceneBy(3 * by)(m)
		}
		return stageBy(by * max(m.stageRows()-1, 1))(m)
	}
}

func (m *Model) filterStage() tea.Cmd {
	v := m.stage().base()
	v.editing, v.opened = true, false
	v.field.input.CursorEnd()
	return nil
}

// narrower is a view whose rows are about sessions.
type narrower interface{ about() string }

// narrowStage shows only what is about the session of the row under the cursor, or all again.
func (m *Model) narrowStage() tea.Cmd {
	s := m.stage()
	v := s.base()
	if v.session != "" {
		v.session = ""
	} else {
		v.session = s.(narrower).about()
	}
	v.another()
	return nil
}

func cannotNarrow(m *Model) string {
	switch n, ok := m.stage().(narrower); {
	case !ok:
		return "this view is not about sessions"
	case m.stage().base().session == "" && n.about() == "":
		return "there is no row here"
	}
	return ""
}

func (m *Model) showFacts() tea.Cmd {
	v := m.stage().base()
	v.opened, v.facts.at = !v.opened, 0
	return nil
}

func noFacts(m *Model) string {
	if m.factsBeside() {
		return "they stand beside the rows: ] and [ scroll them"
	}
	return noRow(m)
}

func noTable(m *Model) string {
	if _, ok := m.stage().(table); !ok {
		return "an exchange is read as a whole"
	}
	return ""
}

func noRow(m *Model) string {
	if s := m.stage(); s == nil || s.base().rows.cursor == "" {
		return "there is no row here"
	}
	return ""
}

func scrollFacts(key string) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		by := max(m.stageRows()-1, 1)
		if key == "pgup" {
			by = -by
		}
		m.stage().base().facts.at += by
		m.clampFacts()
		return nil
	}
}

// clampFacts keeps the facts from being scrolled beyond their end.
func (m *Model) clampFacts() {
	v := m.stage().base()
	t, ok := m.stage().(table)
	if !ok {
		return
	}
	_, w := m.splitStage(v)
	_, h := m.stageSize()
	s := &sheet{k: m.k, w: max(w-2, 1)}
	if v.rows.cursor != "" {
		t.sheet(m, s)
	}
	v.facts.at = clamp(v.facts.at, 0, max(len(s.out)-(h-2), 0))
}

// about is the session of the run under the cursor.
func (v *runsView) about() string {
	if r := v.current(); r != nil {
		return r.SessionKey
	}
	return ""
}

// runHere is the run under the cursor of the runs view, nil when there is none.
func runHere(m *Model) *core.Run {
	if v, ok := m.stage().(*runsView); ok {
		return v.current()
	}
	return nil
}

func noRun(m *Model) string {
	if runHere(m) == nil {
		return "there is no run here"
	}
	return ""
}

func (m *Model) goToRun() tea.Cmd {
	r := runHere(m)
	return m.leaveTo(target{key: r.SessionKey, generation: r.SessionID, seq: r.FirstSeq})
}

// leaveTo closes the views and shows a place in a transcript.
func (m *Model) leaveTo(to target) tea.Cmd {
	if to.seq == 0 {
		to.generation = "" // nothing was written: the session as it is now
	}
	m.closeStages()
	return m.visitTo(to)
}

// carryOut does one command and tells what came of it; verb is what was done, key to what.
func (m *Model) carryOut(verb, key string, c core.Command) tea.Cmd {
	board := m.env.Board
	m.said = ""
	return m.begin(&job{verb: verb, tasks: []task{{key: key, do: func(ctx context.Context) (*core.Command, string, error) {
		receipt, err := board.Do(ctx, c)
		return receipt.Undo, "", err
	}}}})
}

// abortRun ends a run. One at work is asked about: what it has done so far is lost.
func (m *Model) abortRun() tea.Cmd {
	r := runHere(m)
	key, id := r.SessionKey, r.ID
	abort := func(m *Model) tea.Cmd {
		return m.carryOut("aborted the run of", key, core.Command{Abort: &core.Abort{Run: id}})
	}
	if r.State == core.RunQueued {
		return abort(m)
	}
	return m.confirm(&confirm{
		title: "Abort this run?", what: []string{"It ends at once, with what it has said so far. " + m.keyFor("runs.retry") + " runs its message anew."},
		names: []string{m.called(key)}, yes: abort,
	})
}

func cannotAbort(m *Model) string {
	r := runHere(m)
	switch {
	case r == nil:
		return noRun(m)
	case r.Mirrored:
		return "it ran elsewhere: this is its history"
	case r.State == core.RunEnded:
		return "it has ended"
	}
	return cannotDo(m)
}

// askStop asks whether to end everything of a session and of all that it spawned.
func (m *Model) askStop() tea.Cmd {
	key := runHere(m).SessionKey
	names := []string{m.called(key)}
	for _, below := range m.spawnedBy(key) {
		names = append(names, m.called(below))
	}
	c := &confirm{
		title: "Stop " + plural(len(names), "session") + "?",
		what:  []string{"Every run that is live or queued there ends, exchanges stop and nothing is announced. This cannot be taken back."},
		names: names, count: len(names),
		yes: func(m *Model) tea.Cmd {
			return m.carryOut("stopped", key, core.Command{Stop: &core.Stop{Session: key}})
		},
	}
	return tea.Batch(m.confirm(c), m.countRuns(c, append(m.spawnedBy(key), key)))
}

// spawnedBy are the sessions that one spawned, over any number of steps.
func (m *Model) spawnedBy(key string) []string {
	kids := map[string][]string{}
	for _, h := range m.fleet.heads {
		if h.Parent != "" {
			kids[h.Parent] = append(kids[h.Parent], h.Key)
		}
	}
	var list []string
	seen := map[string]bool{key: true}
	for next := []string{key}; len(next) > 0; next = next[1:] {
		slices.Sort(kids[next[0]])
		for _, kid := range kids[next[0]] {
			if !seen[kid] {
				seen[kid] = true
				list, next = append(list, kid), append(next, kid)
			}
		}
	}
	return list
}

func cannotStop(m *Model) string { return firstOf(noRun(m), cannotDo(m)) }

// retryRun runs a message once more, or tries again to tell what came of a sub-agent.
func (m *Model) retryRun() tea.Cmd {
	r := runHere(m)
	if d := m.stand.runs.told[r.ID]; d != nil && canRetry(d) {
		return m.retryText(d)
	}
	return m.carryOut("queued again for", r.SessionKey, core.Command{Retry: &core.Retry{Run: r.ID}})
}

func cannotRetryRun(m *Model) string {
	r := runHere(m)
	switch {
	case r == nil:
		return noRun(m)
	case r.Mirrored:
		return "it ran elsewhere: this is its history"
	case r.State != core.RunEnded:
		return "it has not ended yet"
	case announceRetry(r, m.stand.runs.told[r.ID]):
	case r.Outcome == core.OutcomeOK:
		return "it ended well: there is nothing to retry"
	}
	return cannotDo(m)
}

func (m *Model) answerRun() tea.Cmd { return m.answerFor(runHere(m).SessionKey) }

func cannotAnswerRun(m *Model) string {
	r := runHere(m)
	switch {
	case r == nil:
		return noRun(m)
	case !m.asksHere(r):
		return "it does not wait for you"
	}
	return cannotDo(m)
}

func (m *Model) nextRunGroup() tea.Cmd {
	if v, ok := m.stage().(*runsView); ok {
		v.group = (v.group + 1) % runGroups
		v.listed = false
	}
	return nil
}

func (m *Model) copyRunID() tea.Cmd { return m.handOver("run id", runHere(m).ID) }

func cannotCopyRun(m *Model) string { return firstOf(noRun(m), noOutside(m)) }
