package ui

import (
	"encoding/json"
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"cordboard/core"
	"cordboard/ui/transcribe"
)

// auditView is what operators and clients did, the newest first (engine.md §7). Older entries are read as the cursor comes to the end.
type auditView struct {
	view
	all   map[string]*core.AuditEntry
	order []string // newest first
	limit int
}

const (
	auditStep = 500    // entries that are read at a time
	auditMost = 10_000 // that are listed
)

func (m *Model) openAudit() tea.Cmd {
	if m.stand.audit == nil {
		m.stand.audit = &auditView{view: newView(), limit: auditStep}
	}
	return m.openStage(m.stand.audit)
}

func (v *auditView) scope() scope { return inAudit }

func (v *auditView) query() core.RecordQuery {
	return core.RecordQuery{Kind: core.RecordAudit, Limit: v.limit}
}

func (v *auditView) take(page core.RecordPage) {
	v.all, v.order = make(map[string]*core.AuditEntry, len(page.Audit)), v.order[:0]
	for i := range page.Audit {
		e := &page.Audit[i]
		id := strconv.FormatUint(uint64(e.Rev), 10)
		for n := 2; v.all[id] != nil; n++ {
			id = strconv.FormatUint(uint64(e.Rev), 10) + "." + strconv.Itoa(n)
		}
		v.all[id], v.order = e, append(v.order, id)
	}
}

// hear wants the audit read anew after any change: who does something changes something.
func (v *auditView) hear(core.Change, core.Rev) bool { return true }

func (v *auditView) arrange(m *Model) {
	words := v.words()
	var ids []string
	for _, id := range v.order {
		if len(words) == 0 || holdsAll(v.text(v.all[id]), words) {
			ids = append(ids, id)
		}
	}
	v.rows.set(ids)
}

func (v *auditView) text(e *core.AuditEntry) string {
	return strings.ToLower(strings.Join([]string{e.Who, e.Verb, e.Target, glance(e.Result), glance(string(e.Before)), glance(string(e.After))}, "\n"))
}

func (v *auditView) ticks() bool { return false }

// moved reads further back once the cursor stands at the end of what was read.
func (v *auditView) moved() {
	if v.known && v.rows.index >= len(v.rows.ids)-1 && len(v.order) >= v.limit && v.limit < auditMost {
		v.limit = min(v.limit+auditStep, auditMost)
		v.refresh()
	}
}

func (v *auditView) current() *core.AuditEntry { return v.all[v.rows.cursor] }

func (v *auditView) draw(m *Model) []string { return m.drawTable(v) }
func (v *auditView) title(*Model) string    { return "Audit" }
func (v *auditView) none() string           { return "Nobody has done anything yet." }

func (v *auditView) foot() string {
	switch {
	case len(v.order) < v.limit:
		return ""
	case v.limit >= auditMost:
		return "the newest " + strconv.Itoa(auditMost)
	}
	return "older ones below"
}

// auditColumns are the widths of the columns; the result takes the rest.
func auditColumns(w int) (at, who, verb, target int) {
	switch {
	case w >= 100:
		return 15, 14, 13, 35
	case w >= 60:
		return 15, 10, 13, 21
	}
	return 0, 0, 13, max(w-24, 8)
}

func (v *auditView) caption(l *line, k *shades, w int) {
	at, who, verb, target := auditColumns(w)
	cell(l, k.dim, "when", at)
	cell(l, k.dim, "who", who)
	cell(l, k.dim, "what", verb)
	cell(l, k.dim, "to what", target)
	l.add(k.dim, "result")
}

func (v *auditView) row(m *Model, l *line, k *shades, id string, w int) {
	at, who, verb, target := auditColumns(w)
	e := v.all[id]
	if e == nil {
		return
	}
	cell(l, k.muted, clock(e.At, m.env.Zone), at)
	cell(l, k.muted, e.Who, who)
	cell(l, k.text, e.Verb, verb)
	cell(l, k.text, m.targetName(e.Target), target)
	result := k.ok
	if e.Result != "ok" {
		result = k.err
	}
	l.add(result, glance(e.Result))
}

// targetName is what an entry is about, by its name where it is a session.
func (m *Model) targetName(target string) string {
	if m.fleet.heads[target] != nil {
		return m.placed(target)
	}
	return target
}

func (v *auditView) sheet(m *Model, s *sheet) {
	e := v.current()
	if e == nil {
		return
	}
	s.fact("what", s.k.strong, e.Verb)
	s.fact("to what", s.k.accent2, e.Target)
	s.fact("who", s.k.text, e.Who)
	s.fact("when", s.k.text, clock(e.At, m.env.Zone))
	if e.Result == "ok" {
		s.fact("result", s.k.ok, "✓ ok")
	} else {
		s.fact("result", s.k.err, "✗ "+e.Result)
	}
	s.fact("revision", s.k.muted, strconv.FormatUint(uint64(e.Rev), 10))
	for _, part := range []struct {
		name string
		raw  json.RawMessage
	}{{"Before", e.Before}, {"After", e.After}} {
		if len(part.raw) > 0 {
			s.heading(part.name)
			s.longText(s.k.text, transcribe.Pretty(part.raw))
		}
	}
}

// auditActions are what can be done in the audit.
func auditActions() []action {
	return []action{
		{id: "audit.go", keys: []string{"enter"}, text: "go to the session that it was done to", hint: "go there", scope: inAudit, run: (*Model).goToAudited, off: notASession},
	}
}

func auditedHere(m *Model) *core.AuditEntry {
	if v, ok := m.stage().(*auditView); ok {
		return v.current()
	}
	return nil
}

func (m *Model) goToAudited() tea.Cmd { return m.leaveTo(target{key: auditedHere(m).Target}) }

func notASession(m *Model) string {
	if e := auditedHere(m); e == nil || m.fleet.heads[e.Target] == nil {
		return "it was not done to a session that is still there"
	}
	return ""
}
