package ui

import (
	"cmp"
	"context"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"cordboard/core"
	"cordboard/ui/safe"
)

// rights is the layer that tells what each of the four tools would say of a caller towards a target, and which rule and config key
// decide (console.md §3). The answer is Explain's, the code the tools ask.
type rights struct {
	core.SeeQuestion
	answer *core.Explanation // nil until it has come
	err    error
	number int
	scroller
}

const rightsWide = 92

// showRights opens the panel for the session under the cursor. Whose rights they are is the viewpoint, else the operator chooses.
func (m *Model) showRights() tea.Cmd {
	target := m.tree.selected()
	if m.sight.viewpoint != "" {
		return m.openRights(m.sight.viewpoint, target, m.sight.scope)
	}
	return m.pick("Rights of which session?", "", func(m *Model, caller string) tea.Cmd {
		return m.openRights(caller, target, "")
	})
}

func (m *Model) openRights(caller, target string, scope core.Visibility) tea.Cmd {
	r := &rights{SeeQuestion: core.SeeQuestion{Caller: caller, Target: target, Scope: scope}}
	m.open(r)
	return r.ask(m)
}

type rightsMsg struct {
	rights *rights
	number int
	answer core.Explanation
	err    error
}

// ask asks anew; what is on the screen stays until the answer comes.
func (r *rights) ask(m *Model) tea.Cmd {
	r.number++
	number, q := r.number, r.SeeQuestion
	return func() tea.Msg {
		x, err := guarded(func() (core.Explanation, error) { return explain(m.ctx, m.env.Board, q) })
		return rightsMsg{r, number, x, err}
	}
}

func explain(ctx context.Context, board core.Board, q core.SeeQuestion) (core.Explanation, error) {
	return board.Explain(ctx, core.Question{Rights: &q})
}

func (msg rightsMsg) apply(m *Model) tea.Cmd {
	if msg.number == msg.rights.number && !m.ended(msg.err) {
		msg.rights.answer, msg.rights.err = &msg.answer, msg.err
		m.dirty = true
	}
	return nil
}

func (r *rights) press(m *Model, msg tea.KeyMsg) tea.Cmd {
	switch key := msg.String(); key {
	case "q", "enter", "X":
		m.closeTop()
	case "v":
		if r.answer == nil || r.answer.Scope == nil {
			return nil
		}
		r.Scope = nextScope(cmp.Or(r.Scope, r.answer.Scope.Visibility))
		return r.ask(m)
	case "x":
		r.Caller, r.Target = r.Target, r.Caller
		return r.ask(m)
	case "]", "[":
		return r.step(m, map[string]int{"]": 1, "[": -1}[key])
	default:
		w, room := m.layerRoom(rightsWide)
		r.scroll(key, len(r.lines(m, w-2)), room-2)
	}
	return nil
}

// step asks of the next session of the tree.
func (r *rights) step(m *Model, by int) tea.Cmd {
	for range len(m.tree.rows) {
		before := m.tree.index
		m.tree.move(by)
		if m.tree.index == before {
			return nil
		}
		if key := m.tree.selected(); key != "" {
			r.Target = key
			return r.ask(m)
		}
	}
	return nil
}

func (r *rights) draw(m *Model) []string {
	w, room := m.layerRoom(rightsWide)
	return r.scroller.draw(m, "Rights", r.lines(m, w-2), w, room)
}

func (r *rights) lines(m *Model, w int) []string {
	k := *m.k
	k.shades = m.k.panel
	s := &sheet{k: &k, w: w}
	s.fact("caller", k.strong, r.Caller)
	s.fact("target", k.strong, r.Target)
	switch {
	case r.err != nil:
		s.blank()
		s.text(k.err, r.err.Error())
	case r.answer == nil:
		s.fact("", k.muted, "asking…")
	default:
		r.verdicts(s)
	}
	s.blank()
	s.text(k.muted, "[ ] other target · x swap · v scope · enter close")
	return s.out
}

func (r *rights) verdicts(s *sheet) {
	if info := r.answer.Scope; info != nil {
		scope := string(info.Visibility)
		if info.Effective != info.Visibility {
			scope += " → " + string(info.Effective)
		}
		if r.Scope != "" {
			scope += ", tried"
		}
		s.fact("scope", s.k.text, scope)
		s.fact("held by", s.k.warn, info.ClampedBy)
	}
	s.blank()
	for _, right := range r.answer.Rights {
		mark, k := "✓ allowed", s.k.ok
		if !right.Verdict.Allowed {
			mark, k = "✗ refused", s.k.err
		}
		l := newLine(s.w).add(s.k.strong, safe.Pad(" "+safe.Line(right.Tool), 19)).add(k, mark)
		s.out = append(s.out, l.add(s.k.muted, "  "+right.Verdict.Rule).end(s.k.text))
	}
	for i, right := range r.answer.Rights {
		if same := slices.IndexFunc(r.answer.Rights, func(o core.Right) bool { return o.Verdict == right.Verdict }); same == i {
			r.reasons(s, right.Verdict)
		}
	}
}

// reasons are what decided about the tools that share a verdict.
func (r *rights) reasons(s *sheet, v core.Verdict) {
	var tools []string
	for _, right := range r.answer.Rights {
		if right.Verdict == v {
			tools = append(tools, strings.TrimPrefix(right.Tool, "sessions_"))
		}
	}
	s.blank()
	s.text(s.k.strong, strings.Join(tools, ", "))
	s.fact("rule", s.k.text, v.Rule)
	s.fact("key", s.k.text, v.ConfigKey)
	if v.Message != "" {
		s.text(s.k.muted, v.Message)
	}
}

func cannotExplain(m *Model) string {
	if m.tree.selected() == "" {
		return "choose a session: rights are towards one"
	}
	return cannotLook(m)
}
