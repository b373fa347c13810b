package ui

import (
	"strconv"
	"strings"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"

	"cordboard/core"
)

// sendForm is the layer that sends a message (console.md §5): to whom, as whom, how long the reply is waited for, and what will happen. Once
// the message is on its way it tells of that instead.
type sendForm struct {
	form
	key      string // session it was opened on: the draft is that one's
	to, as   *sessionControl
	wait     *textControl
	prospect prospect
	attempt  outgoing // as it was last handed over without an answer
	flight   *flight  // what is shown in place of the fields
	view     scroller // of its reply
	kept     uint64   // version of the text that the draft holds
	warned   bool     // that its session is gone
}

// How long a reply is waited for, in seconds.
const (
	waitUsual = 30
	waitMost  = 86_400
)

func sendDraft(key string) string { return "send " + key }

func newSendForm(m *Model, key string) *sendForm {
	d := m.drafts.all[sendDraft(key)]
	wait := waitUsual
	if d.Wait != nil {
		wait = *d.Wait
	}
	f := &sendForm{
		key:  key,
		to:   &sessionControl{key: key, title: "Send to"},
		as:   &sessionControl{key: d.As, title: "Send as", first: "the operator"},
		wait: newTextControl(strconv.Itoa(wait), "seconds for the reply; 0 does not wait"),
	}
	if d.Key != "" {
		f.attempt = outgoing{to: key, as: d.As, text: d.Text, key: d.Key}
	}
	f.form = form{
		title: "Send a message", verb: "send", at: 3,
		fields: []*formField{
			{label: "to", control: f.to, check: f.checkTo, changed: f.ask},
			{label: "as", control: f.as, check: f.checkAs, changed: f.ask},
			{label: "wait", control: f.wait, check: f.checkWait},
		},
		area:   &formArea{label: "message", text: newEditor(d.Text), check: f.checkText, lines: 14},
		about:  f.foretell,
		submit: f.send,
		closed: f.leave,
	}
	f.kept = f.area.text.version
	return f
}

func (f *sendForm) ask(m *Model) tea.Cmd { return f.prospect.ask(m, f.as.key, f.to.key) }

func (f *sendForm) foretold() *prospect { return &f.prospect }

func (f *sendForm) checkTo(m *Model) string {
	if f.to.key == "" {
		return "choose the session that is to get it"
	}
	return m.noneAnswers(f.to.key)
}

func (f *sendForm) checkAs(m *Model) string {
	if f.as.key != "" && m.fleet.heads[f.as.key] == nil {
		return "there is no session " + f.as.key + " any more"
	}
	return ""
}

func (f *sendForm) checkWait(*Model) string {
	if n, err := strconv.Atoi(f.wait.text()); err != nil || n < 0 || n > waitMost {
		return strconv.Quote(f.wait.text()) + " is no time to wait: whole seconds from 0 to " + strconv.Itoa(waitMost)
	}
	return ""
}

func (f *sendForm) checkText(*Model) string {
	switch text := &f.area.text; {
	case text.blank():
		return "the message is blank"
	case !validText(text):
		return "the message holds bytes that are no UTF-8 text: ‹x..› marks them"
	}
	return ""
}

func validText(e *editor) bool {
	for _, p := range e.pieces {
		if !utf8.ValidString(p.text) {
			return false
		}
	}
	return true
}

// foretell is what stands below the message: a message from here that is still under way, and what this one would meet.
func (f *sendForm) foretell(m *Model, w, h int) []string {
	k := *m.k
	k.shades = m.k.panel
	s := &sheet{k: &k, w: w}
	if live := m.liveTo(f.to.key); live != nil {
		s.text(k.warn, "Run "+shortID(live.run)+" that you sent here "+live.standing(m.env.Now())+".")
	}
	lines := append(s.out, f.prospect.lines(m, w)...)
	return lines[:min(len(lines), h)]
}

// send hands the message over; where one from here is still under way it asks first (R004).
func (f *sendForm) send(m *Model) tea.Cmd {
	wait, _ := strconv.Atoi(f.wait.text()) // checked
	o := outgoing{to: f.to.key, as: f.as.key, text: f.area.text.text(), wait: wait, draft: sendDraft(f.key)}
	if f.flight != nil {
		return nil // it is on its way
	}
	return m.sendOnce(o, &f.attempt, func(m *Model, launched *flight) { f.flight = launched })
}

// sendOnce launches an order, under the same idempotency key as the last attempt when that was the same message and its fate is not known.
func (m *Model) sendOnce(o outgoing, last *outgoing, launched func(*Model, *flight)) tea.Cmd {
	goOn := func(m *Model) tea.Cmd {
		if o.key = last.key; o.key == "" || last.to != o.to || last.as != o.as || last.text != o.text {
			o.key = ""
			if m.env.NewID != nil {
				o.key = m.env.NewID()
			}
		}
		*last = o
		f, cmd := m.launch(o)
		launched(m, f)
		return cmd
	}
	live := m.liveTo(o.to)
	if live == nil || live.key != "" && live.key == last.key && live.text == o.text {
		return goOn(m)
	}
	return m.confirm(&confirm{
		title: "Send another message?", count: 1,
		what: []string{
			"Run " + shortID(live.run) + ", which you sent to " + m.nameFor(o.to) + ", " + live.standing(m.env.Now()) + ". The message " + live.taken() + ": sending again makes a second one.",
		},
		yes: goOn,
	})
}

func (f *sendForm) shows(x *flight) bool { return f.flight == x }

// landed hears what became of handing the message over.
func (f *sendForm) landed(m *Model, x *flight, err error) tea.Cmd {
	if err != nil {
		f.flight = nil
		f.trouble = refusalOf(err)
		if refused(err) {
			f.attempt = outgoing{}
		}
		f.keepDraft(m)
		return f.ask(m)
	}
	f.attempt = outgoing{}
	f.area.text.set("")
	f.kept = f.area.text.version
	if x.wait == 0 {
		m.drop(f)
		m.said = "sent to " + m.nameFor(x.to) + " as run " + shortID(x.run) + " · nobody waits for the reply"
	}
	return nil
}

// refusalOf is what a refusal tells, with the config key that decided and what would have been accepted.
func refusalOf(err error) string {
	text := err.Error()
	if e, ok := asRefusal(err); ok {
		if e.ConfigKey != "" && !strings.Contains(text, e.ConfigKey) {
			text += " · decided by " + e.ConfigKey
		}
		if len(e.Allowed) > 0 && len(e.Allowed) <= 12 {
			text += " · accepted: " + strings.Join(spelled(e.Allowed), ", ")
		}
	}
	return text
}

func spelled(list []string) []string {
	out := make([]string, len(list))
	for i, each := range list {
		out[i] = each
		if each == "" {
			out[i] = `""`
		}
	}
	return out
}

// refused reports whether an error says that nothing was stored; after another one, such as a lost line, nobody knows.
func refused(err error) bool {
	switch core.CodeOf(err) {
	case core.CodeInternal, core.CodeStoreIO, core.CodeStoreLocked:
		return false
	}
	return true
}

// leave keeps the text as a draft; a message on its way goes on.
func (f *sendForm) leave(m *Model) tea.Cmd {
	f.keepDraft(m)
	switch {
	case f.flight != nil && f.flight.live():
		m.said = "the run goes on: its reply will be in the transcript"
	case f.area.text.blank():
	case m.orphaned(f, f.key, &f.warned, "to chooses another session for the text"):
	default:
		m.said = "kept as a draft: " + m.keyFor("message.send") + " opens it again"
	}
	m.barsDirty = true
	return m.rememberSoon()
}

// keepDraft notes what is written and not sent.
func (f *sendForm) keepDraft(m *Model) {
	wait, err := strconv.Atoi(f.wait.text())
	d := draft{As: f.as.key, Key: f.attempt.key, At: m.env.Now().UnixMilli()}
	if err == nil && wait != waitUsual {
		d.Wait = &wait
	}
	if before := m.drafts.all[sendDraft(f.key)]; f.kept == f.area.text.version {
		d.Text = before.Text
	} else {
		d.Text = f.area.text.text()
	}
	f.kept = f.area.text.version
	m.drafts.put(sendDraft(f.key), d)
}

// drop takes a layer away wherever it lies.
func (m *Model) drop(l layer) {
	for i := range m.layers {
		if m.layers[i] == l {
			m.layers = append(m.layers[:i:i], m.layers[i+1:]...)
			m.dirty, m.barsDirty = true, true
			return
		}
	}
}
