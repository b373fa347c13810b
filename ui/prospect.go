package ui

import (
	"strconv"

	tea "github.com/charmbracelet/bubbletea"

	"cordboard/core"
)

// prospect is what a message would meet, asked before it is sent (console.md §5).
type prospect struct {
	asked  core.MessageQuestion
	got    *core.Explanation
	err    error
	number int // of the last question; answers to older ones are dropped
	busy   bool
	again  bool // something changed while it was asked
}

type prospectMsg struct {
	prospect *prospect
	number   int
	got      core.Explanation
	err      error
}

// ask asks about a message to a session, of the operator when as is "".
func (p *prospect) ask(m *Model, as, to string) tea.Cmd {
	q := core.MessageQuestion{As: as, To: to}
	if q != p.asked {
		p.got, p.err = nil, nil
	}
	p.asked = q
	if to == "" {
		return nil
	}
	p.number++
	p.busy, p.again = true, false
	number := p.number
	return func() tea.Msg {
		got, err := guarded(func() (core.Explanation, error) { return m.env.Board.Explain(m.ctx, core.Question{Message: &q}) })
		return prospectMsg{p, number, got, err}
	}
}

// refresh asks once more: what it hangs on has changed.
func (p *prospect) refresh(m *Model) tea.Cmd {
	if p.busy {
		p.again = true
		return nil
	}
	return p.ask(m, p.asked.As, p.asked.To)
}

func (msg prospectMsg) apply(m *Model) tea.Cmd {
	p := msg.prospect
	if msg.number != p.number || m.ended(msg.err) {
		return nil
	}
	p.busy, m.dirty = false, true
	p.err = msg.err
	if msg.err == nil {
		p.got = &msg.got
	}
	if p.again {
		return p.ask(m, p.asked.As, p.asked.To)
	}
	return nil
}

// foretelling is a layer that shows a prospect.
type foretelling interface{ foretold() *prospect }

// hearForms tells open forms of a change that concerns what they show.
func (m *Model) hearForms(c core.Change) tea.Cmd {
	key := c.ID
	if c.Kind == core.ChangeRun {
		if c.Run == nil {
			return nil
		}
		key = c.Run.SessionKey
	}
	var cmds []tea.Cmd
	for _, l := range m.layers {
		if f, ok := l.(*spawnForm); ok && m.formOpen(&f.form) != nil {
			cmds = append(cmds, f.hear(m, c))
		}
		f, ok := l.(foretelling)
		if !ok {
			continue
		}
		if p := f.foretold(); p.asked.To != "" && (key == p.asked.To || c.Kind == core.ChangeHold) && c.Kind != core.ChangeMessages {
			cmds = append(cmds, p.refresh(m))
		}
	}
	return tea.Batch(append(cmds, m.hearFlights(c))...)
}

// lines tell what a message would meet: the verdict with its rule, when it would start, and where the outcome is told.
func (p *prospect) lines(m *Model, w int) []string {
	k := *m.k
	k.shades = m.k.panel
	s := &sheet{k: &k, w: w}
	switch {
	case p.asked.To == "":
	case p.err != nil && p.got == nil:
		s.text(k.muted, "What will happen cannot be told: "+p.err.Error())
	case p.got == nil:
		s.text(k.dim, "asking what will happen …")
	default:
		p.tell(s, &k)
	}
	return s.out
}

func (p *prospect) tell(s *sheet, k *inks) {
	s.decision(k, p.got.Verdict)
	x := (*foresight)(p.got.Message)
	if !p.got.Verdict.Allowed || p.got.Message == nil {
		return
	}
	ground := k.text
	if x.Held != "" {
		ground = k.warn
	}
	s.text(ground, x.when()+prefixed(" · played by ", x.Runtime))
	s.text(k.muted, x.afterwards())
}

// decision is a policy's answer with the rule that gave it.
func (s *sheet) decision(k *inks, v core.Verdict) {
	if v.Allowed {
		s.text(k.ok, "✓ allowed by "+ruleOf(v))
		return
	}
	s.text(k.err, refusedBy(v))
	if v.Message != "" {
		s.text(k.muted, v.Message)
	}
}

// ruleOf is the rule that decided, and the config key that holds it.
func ruleOf(v core.Verdict) string {
	text := firstOf(v.Rule, unknown)
	if v.ConfigKey != "" && v.ConfigKey != v.Rule {
		text += " (" + v.ConfigKey + ")"
	}
	return text
}

// refusals are what no policy's rule decides, in words: a verdict then has the refusal's code for a rule.
var refusals = map[core.Code]string{
	core.CodeNotFound: "there is no such session", core.CodeAmbiguous: "more than one session has that name",
	core.CodeForbidden: "not allowed", core.CodeInvalidParams: "not possible so", core.CodeHopLimit: "the chain of messages is too long",
	core.CodeMirrored: "the session is mirrored", core.CodeUnsupported: "not possible here", core.CodeReadOnly: "nothing can be changed here",
	core.CodeUnavailable: "not possible now", core.CodeConfig: "the config does not let it",
}

// refusedBy says that a message would not go, and for what reason.
func refusedBy(v core.Verdict) string {
	if words, ok := refusals[core.Code(v.Rule)]; ok {
		return "✗ " + words + inBrackets(v.ConfigKey)
	}
	return "✗ denied by " + ruleOf(v)
}

func inBrackets(text string) string {
	if text == "" {
		return ""
	}
	return " (" + text + ")"
}

// foresight is a core.Prospect in words.
type foresight core.Prospect

func (x *foresight) when() string {
	switch {
	case x.Held != "":
		return "It waits: " + x.Held
	case x.Queued > 0:
		return "It waits its turn: " + plural(x.Queued, "run") + " before it"
	case x.Live != "":
		return "It starts when the run under way has ended"
	}
	return "It starts at once"
}

func (x *foresight) afterwards() string {
	text := "Nobody is told of the outcome but you"
	switch {
	case x.Announce != nil:
		text = "The outcome is announced to " + routeOf(x.Announce)
	case x.Loop:
		text = "The outcome is announced nowhere"
	}
	if x.Loop {
		text = "The two agents may talk on. " + text
	}
	if x.Why != "" {
		text += ": " + x.Why
	}
	return text
}

// routeOf is where a delivery goes, as people read it.
func routeOf(d *core.DeliveryContext) string {
	text := d.Channel + prefixed(" ", d.To)
	if d.ThreadID != "" {
		text += " thread " + d.ThreadID
	}
	return text + prefixed(" as ", d.AccountID)
}

// shortID is the part of an id that tells it from others at a glance.
func shortID(id string) string {
	const most = 8
	if len(id) <= most+2 {
		return id
	}
	return id[:most]
}

func seconds(n int) string { return strconv.Itoa(n) + " s" }
