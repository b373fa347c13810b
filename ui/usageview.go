package ui

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"cordboard/core"
	"cordboard/ui/safe"
)

// usageView is what runs cost: by agent, model and day as the engine counts them, and what each session holds since its last reset.
type usageView struct {
	view
	by      usageBy
	counted []core.UsageRow
	sums    map[string]*usageSum
	most    int64 // the largest of them, for the bars
}

// usageBy is what the figures are told by.
type usageBy uint8

const (
	byAgentUse usageBy = iota
	bySessionUse
	byModelUse
	byDayUse
	usageBys
)

func (b usageBy) word() string { return [usageBys]string{"agent", "session", "model", "day"}[b] }

// usageSum is the figures of one row. known says that the tokens are a figure, priced that the cost is one.
type usageSum struct {
	name          string
	runs          int64
	input, output int64
	total         int64
	cost          float64
	known, priced bool
	head          *core.Head // of a session
}

func (s *usageSum) add(r *core.UsageRow) {
	s.runs += r.Runs
	s.input += r.Input
	s.output += r.Output
	s.total = s.input + s.output
	s.known = true
	if r.Cost != nil {
		s.cost, s.priced = s.cost+*r.Cost, true
	}
}

func (m *Model) openUsage() tea.Cmd {
	if m.stand.usage == nil {
		m.stand.usage = &usageView{view: newView()}
	}
	return m.openStage(m.stand.usage)
}

func (v *usageView) scope() scope { return inUsage }

func (v *usageView) query() core.RecordQuery {
	return core.RecordQuery{Kind: core.RecordUsage, Limit: auditMost}
}

func (v *usageView) take(page core.RecordPage) { v.counted = page.Usage }

// hear wants the counters read anew when a run has ended, and sessions told anew when one has changed.
func (v *usageView) hear(c core.Change, _ core.Rev) bool {
	v.listed = v.listed && c.Kind != core.ChangeSession
	return c.Kind == core.ChangeRun && c.Run != nil && c.Run.State == core.RunEnded
}

func (v *usageView) arrange(m *Model) {
	v.sums = map[string]*usageSum{}
	if v.by == bySessionUse {
		for key, h := range m.fleet.heads {
			if h.Flags.Has(core.FlagTokensKnown) {
				v.sums[key] = &usageSum{name: m.placed(key), total: h.Tokens, known: true, head: h}
			}
		}
	} else {
		for i := range v.counted {
			r := &v.counted[i]
			id := v.idOf(r, v.by)
			if v.sums[id] == nil {
				v.sums[id] = &usageSum{name: id}
			}
			v.sums[id].add(r)
		}
	}
	v.most = 0
	words := v.words()
	var ids []string
	for id, s := range v.sums {
		v.most = max(v.most, s.total)
		if holdsAll(strings.ToLower(s.name+"\n"+id), words) {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(a, b string) int {
		if v.by == byDayUse {
			return strings.Compare(b, a)
		}
		return cmp.Or(cmp.Compare(v.sums[b].total, v.sums[a].total), strings.Compare(a, b))
	})
	v.rows.set(ids)
}

func (v *usageView) idOf(r *core.UsageRow, by usageBy) string {
	switch by {
	case byModelUse:
		return firstOf(r.Model, "no model")
	case byDayUse:
		return r.Day
	}
	return firstOf(r.Agent, unknown)
}

func (v *usageView) ticks() bool { return false }

func (v *usageView) draw(m *Model) []string { return m.drawTable(v) }

func (v *usageView) title(*Model) string { return "Usage" }

// tabs are what it can be told by; the one that is shown stands in brackets.
func (v *usageView) tabs(k *inks) []run {
	var runs []run
	for by := range usageBys {
		if by == v.by {
			runs = append(runs, run{k.titleFocus, " [" + by.word() + "]"})
		} else {
			runs = append(runs, run{k.dim, " " + by.word()})
		}
	}
	return runs
}

func (v *usageView) none() string {
	if v.by == bySessionUse {
		return "No session tells what it has used."
	}
	return "No agent has run here yet."
}

// foot is the sum of all rows in view.
func (v *usageView) foot() string {
	var all usageSum
	for _, id := range v.rows.ids {
		s := v.sums[id]
		all.total, all.runs, all.cost, all.priced = all.total+s.total, all.runs+s.runs, all.cost+s.cost, all.priced || s.priced
	}
	if len(v.rows.ids) == 0 {
		return ""
	}
	text := count(all.total) + " tokens"
	if v.by != bySessionUse {
		text += " · " + plural(int(all.runs), "run")
	}
	if all.priced {
		text += " · " + price(all.cost)
	}
	return text
}

// columns are the widths of the columns; a bar takes the rest.
func (v *usageView) columns(w int) (name, runs, input, output, total, cost int) {
	switch {
	case w >= 84:
		name, runs, input, output, total, cost = 30, 6, 6, 6, 6, 9
	case w >= 60:
		name, runs, input, output, total, cost = 24, 5, 5, 5, 6, 9
	default:
		name, total, cost = max(w-20, 8), 6, 9
	}
	if v.by == bySessionUse {
		name, runs, input, output, cost = name+runs, 0, 0, 0, 0
	}
	return name, runs, input, output, total, cost
}

func (v *usageView) caption(l *line, k *shades, w int) {
	name, runs, input, output, total, cost := v.columns(w)
	cell(l, k.dim, v.by.word(), name)
	figure(l, k.dim, "runs", runs)
	figure(l, k.dim, "in", input)
	figure(l, k.dim, "out", output)
	figure(l, k.dim, "tokens", total)
	figure(l, k.dim, "cost", cost)
}

func (v *usageView) row(m *Model, l *line, k *shades, id string, w int) {
	name, runs, input, output, total, cost := v.columns(w)
	s := v.sums[id]
	if s == nil {
		return
	}
	cell(l, k.text, s.name, name)
	figure(l, k.muted, strconv.FormatInt(s.runs, 10), runs)
	figure(l, k.muted, count(s.input), input)
	figure(l, k.muted, count(s.output), output)
	figure(l, k.text, s.tokens(), total)
	figure(l, k.muted, s.price(), cost)
	if room := min(l.left-2, 40); room > 3 && v.most > 0 {
		full := int(float64(s.total) / float64(v.most) * float64(room))
		l.space(k.text, 1).add(k.accent, strings.Repeat("█", max(full, 0))).add(k.dim, strings.Repeat("░", max(room-full, 0)))
	}
}

func (s *usageSum) tokens() string {
	if s.head != nil {
		return tokens(s.head)
	}
	return count(s.total)
}

func (s *usageSum) price() string {
	if !s.priced {
		return unknown
	}
	return price(s.cost)
}

func (v *usageView) sheet(m *Model, s *sheet) {
	sum := v.sums[v.rows.cursor]
	if sum == nil {
		return
	}
	s.text(s.k.strong, sum.name)
	s.blank()
	s.fact("tokens", s.k.text, sum.tokens())
	if h := sum.head; h != nil {
		s.text(s.k.muted, "Since its last reset.")
		s.fact("key", s.k.accent2, h.Key)
		if part, ok := filled(h); ok {
			s.fact("window", s.k.text, strconv.Itoa(int(part*100+0.5))+" % of "+count(h.ContextTokens))
		}
		return
	}
	s.fact("in", s.k.text, count(sum.input))
	s.fact("out", s.k.text, count(sum.output))
	s.fact("runs", s.k.text, strconv.FormatInt(sum.runs, 10))
	s.fact("cost", s.k.text, sum.price())
	if !sum.priced {
		s.text(s.k.muted, "No prices are configured for it.")
	}
	for _, by := range []usageBy{byAgentUse, byModelUse, byDayUse} {
		if by != v.by {
			v.parts(s, by)
		}
	}
}

// partsMost is how many parts of a sum are told.
const partsMost = 8

// parts tells what the row under the cursor is made of.
func (v *usageView) parts(s *sheet, by usageBy) {
	sums := map[string]*usageSum{}
	var ids []string
	for i := range v.counted {
		r := &v.counted[i]
		if v.idOf(r, v.by) != v.rows.cursor {
			continue
		}
		id := v.idOf(r, by)
		if sums[id] == nil {
			sums[id], ids = &usageSum{name: id}, append(ids, id)
		}
		sums[id].add(r)
	}
	slices.SortFunc(ids, func(a, b string) int {
		if by == byDayUse {
			return strings.Compare(b, a)
		}
		return cmp.Or(cmp.Compare(sums[b].total, sums[a].total), strings.Compare(a, b))
	})
	s.heading("By " + by.word())
	for _, id := range ids[:min(len(ids), partsMost)] {
		note := count(sums[id].total)
		name := safe.Fit(safe.Column(id), max(s.w-len(note)-3, 1))
		s.out = append(s.out, newLine(s.w).add(s.k.text, " "+name).add(s.k.muted, " "+note).end(s.k.text))
	}
	if more := len(ids) - partsMost; more > 0 {
		s.text(s.k.muted, "and "+strconv.Itoa(more)+" more")
	}
}

// usageActions are what can be done with usage.
func usageActions() []action {
	return []action{
		{id: "usage.next", keys: []string{"tab", "f"}, text: "by agent, session, model or day", hint: "by what", scope: inUsage, run: usageOn(1)},
		{id: "usage.previous", keys: []string{"shift+tab"}, text: "by day, model, session or agent", scope: inUsage, run: usageOn(-1)},
		{id: "usage.go", keys: []string{"enter"}, text: "go to the session", hint: "go there", scope: inUsage, run: (*Model).goToUser, off: notBySession},
	}
}

func usageOn(by int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		if v, ok := m.stage().(*usageView); ok {
			v.by = usageBy((int(v.by) + by + int(usageBys)) % int(usageBys))
			v.rows, v.listed = roster{height: v.rows.height}, false
		}
		return nil
	}
}

func (m *Model) goToUser() tea.Cmd { return m.leaveTo(target{key: m.stage().base().rows.cursor}) }

func notBySession(m *Model) string {
	if v, ok := m.stage().(*usageView); !ok || v.by != bySessionUse || v.rows.cursor == "" {
		return "this row is no session"
	}
	return ""
}
