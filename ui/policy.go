package ui

import (
	"context"

	tea "github.com/charmbracelet/bubbletea"

	"cordboard/core"
	"cordboard/ui/safe"
)

// policyPanel is the layer that sets the send policy of one session or of those marked: a key for each choice, with the verdict and the
// rule that hold now and that would hold (console.md §5). It is bound to the sessions it was opened on.
type policyPanel struct {
	rows []policyRow
	busy bool
	was  string // what held before the last choice made here, of a single session
	scroller
}

// policyRow is one session of the panel: what the policy would say for each choice, in the order of policyChoices.
type policyRow struct {
	key   string
	would []core.Verdict
	err   error
}

type policyChoice struct {
	key, word string
	set       core.SendPolicy
}

var policyChoices = [...]policyChoice{{"i", "inherit", core.SendInherit}, {"a", "allow", core.SendAllow}, {"d", "deny", core.SendDeny}}

const policyWide = 92

type policyMsg struct {
	panel *policyPanel
	rows  []policyRow
}

func (m *Model) openPolicy() tea.Cmd {
	keys := m.chosen()
	if m.scope() != inTree {
		keys = []string{m.subject()}
	}
	p := &policyPanel{busy: true}
	for _, key := range keys {
		p.rows = append(p.rows, policyRow{key: key})
	}
	m.open(p)
	board, ctx := m.env.Board, m.ctx
	return func() tea.Msg {
		rows := make([]policyRow, len(keys))
		for i, key := range keys {
			rows[i].key = key
			rows[i].would, rows[i].err = guarded(func() ([]core.Verdict, error) { return judge(ctx, board, key) })
		}
		return policyMsg{p, rows}
	}
}

// judge asks what the send policy would say of a session under each choice.
func judge(ctx context.Context, board core.Board, key string) ([]core.Verdict, error) {
	var list []core.Verdict
	for _, c := range policyChoices {
		x, err := board.Explain(ctx, core.Question{Policy: &core.PolicyQuestion{Session: key, Override: &c.set}})
		if err != nil {
			return nil, err
		}
		list = append(list, x.Verdict)
	}
	return list, nil
}

func (msg policyMsg) apply(m *Model) tea.Cmd {
	msg.panel.rows, msg.panel.busy = msg.rows, false
	m.dirty = true
	return nil
}

// chosenPolicy is which choice a session has now.
func (m *Model) chosenPolicy(key string) int {
	h := m.fleet.heads[key]
	switch {
	case h != nil && h.Flags.Has(core.FlagSendAllow):
		return 1
	case h != nil && h.Flags.Has(core.FlagSendDeny):
		return 2
	}
	return 0
}

func (p *policyPanel) press(m *Model, msg tea.KeyMsg) tea.Cmd {
	key := msg.String()
	for i, c := range policyChoices {
		if c.key == key {
			return p.choose(m, i)
		}
	}
	switch key {
	case "t":
		return m.openTester()
	case "z":
		if why := nothingToUndo(m); why != "" {
			m.said = why
			return nil
		}
		p.was = ""
		return m.takeBack()
	case "q", "enter", "p":
		m.closeTop()
	default:
		w, room := m.layerRoom(policyWide)
		p.scroll(key, len(p.lines(m, w-2)), room-2)
	}
	return nil
}

// choose sets the policy of every session of the panel; each outcome is told with what held before and what holds now.
func (p *policyPanel) choose(m *Model, to int) tea.Cmd {
	if why := cannotDo(m); why != "" {
		m.said = why
		return nil
	}
	set := policyChoices[to].set
	j := &job{verb: "send policy " + policyChoices[to].word + ":", report: len(p.rows) > 1}
	board := m.env.Board
	for _, row := range p.rows {
		note := ""
		if row.would != nil && len(p.rows) > 1 {
			note = signOf(row.would[m.chosenPolicy(row.key)]) + " → " + signOf(row.would[to])
		}
		j.tasks = append(j.tasks, task{key: row.key, do: func(ctx context.Context) (*core.Command, string, error) {
			receipt, err := board.Do(ctx, core.Command{Patch: &core.Patch{Session: row.key, SendPolicy: &set}})
			return receipt.Undo, note, err
		}})
	}
	if row := p.rows[0]; len(p.rows) == 1 && row.would != nil {
		now := m.chosenPolicy(row.key)
		p.was = policyChoices[now].word + ", " + wordOf(row.would[now])
	}
	return m.begin(j)
}

// signOf is a verdict in a few cells, wordOf in words.
func signOf(v core.Verdict) string {
	if v.Allowed {
		return "✓ " + v.Rule
	}
	return "✗ " + v.Rule
}

func wordOf(v core.Verdict) string {
	if v.Allowed {
		return "allowed by " + ruleOf(v)
	}
	return "denied by " + ruleOf(v)
}

func (p *policyPanel) hints(m *Model) []hint {
	list := []hint{{"i", "inherit"}, {"a", "allow"}, {"d", "deny"}}
	if nothingToUndo(m) == "" {
		list = append(list, hint{"z", "take back"})
	}
	return append(list, hint{"t", "try any session"}, hint{"esc", "close"})
}

func (p *policyPanel) draw(m *Model) []string {
	w, room := m.layerRoom(policyWide)
	return p.scroller.draw(m, "Send policy", p.lines(m, w-2), w, room)
}

func (p *policyPanel) lines(m *Model, w int) []string {
	k := *m.k
	k.shades = m.k.panel
	s := &sheet{k: &k, w: w}
	if len(p.rows) == 1 {
		p.single(m, s, &p.rows[0])
		return s.out
	}
	s.text(k.strong, plural(len(p.rows), "session"))
	s.text(k.muted, "i inherits the rules of the config · a allows · d denies, for all of them")
	s.blank()
	for i := range p.rows {
		row := &p.rows[i]
		now := m.chosenPolicy(row.key)
		l := newLine(w).add(k.text, " "+safe.Pad(safe.CutMiddle(safe.Line(m.called(row.key)), w/2), w/2)).space(k.text, 1)
		l.add(k.muted, safe.Pad(policyChoices[now].word, 8))
		s.out = append(s.out, row.verdict(l, &k, now).end(k.text))
	}
	return s.out
}

func (row *policyRow) verdict(l *line, k *inks, choice int) *line {
	switch {
	case row.err != nil:
		return l.add(k.err, safe.Line(row.err.Error()))
	case row.would == nil:
		return l.add(k.dim, "asking …")
	case row.would[choice].Allowed:
		return l.add(k.ok, "✓ "+wordOf(row.would[choice]))
	}
	return l.add(k.err, "✗ "+wordOf(row.would[choice]))
}

// single tells of one session: what each choice would come to, the one that holds marked.
func (p *policyPanel) single(m *Model, s *sheet, row *policyRow) {
	k := s.k
	s.text(k.strong, m.called(row.key))
	s.blank()
	now := m.chosenPolicy(row.key)
	for i, c := range policyChoices {
		mark, ground := " ○ ", k.muted
		if i == now {
			mark, ground = " ● ", k.strong
		}
		l := newLine(s.w).add(ground, mark).add(k.accent, c.key+"  ").add(ground, safe.Pad(c.word, 9))
		s.out = append(s.out, row.verdict(l, k, i).end(k.text))
	}
	s.blank()
	if row.would == nil {
		return
	}
	if v := row.would[now]; v.Message != "" && !v.Allowed {
		s.text(k.muted, v.Message)
	}
	if p.was != "" {
		s.text(k.muted, "before: "+p.was)
	}
	s.text(k.text, "now: "+policyChoices[now].word+", "+wordOf(row.would[now]))
}

func cannotSetPolicy(m *Model) string {
	if m.scope() == inTree {
		return firstOf(cannotDo(m), nothingChosen(m))
	}
	if m.subject() == "" {
		return "choose a session"
	}
	return cannotDo(m)
}
