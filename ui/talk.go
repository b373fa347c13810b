package ui

import (
	"errors"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"cordboard/core"
)

// talks is what talking to sessions needs: what was written and not sent, and what was sent from here.
type talks struct {
	drafts  drafts
	flights []*flight // the newest last
	ticking bool      // a timer of theirs runs
	keyGap  time.Duration
}

func newTalks() talks { return talks{drafts: newDrafts()} }

// quickly is how soon after another key one comes that nobody has typed: it belongs to a text that was pasted.
const quickly = 10 * time.Millisecond

// tooQuick reports whether the key at hand came too soon after the last to be an operator's: an enter in it sends nothing (R153).
func (m *Model) tooQuick() bool { return m.keyGap >= 0 && m.keyGap < quickly }

// talkActions are what is said and done to sessions.
func talkActions() []action {
	return []action{
		{id: "message.send", keys: []string{"s"}, text: "send a message, as the operator or as a session, and wait for the reply", hint: "send", run: (*Model).openSend, off: cannotSend},
		{id: "message.compose", keys: []string{"C"}, text: "write a line to the session, as the operator", hint: "write", scope: inTranscript, run: (*Model).openComposer, off: cannotCompose},
	}
}

// subject is the session that talking is about: the one that is read.
func (m *Model) subject() string { return firstOf(m.trans.key, m.tree.selected()) }

func cannotSend(m *Model) string {
	key := m.subject()
	if key == "" {
		return "choose a session to send to"
	}
	return firstOf(cannotDo(m), m.noneAnswers(key))
}

// noneAnswers is why a message to a session starts nothing here, "" when one does.
func (m *Model) noneAnswers(key string) string {
	h := m.fleet.heads[key]
	switch {
	case h == nil:
		return "there is no session " + key
	case h.Flags.Has(core.FlagMirrored):
		return m.nameFor(key) + " is mirrored from another place and read only"
	}
	return ""
}

// openSend opens the send form on the session that is read. The form is bound to it, whatever the list does meanwhile (R033).
func (m *Model) openSend() tea.Cmd {
	f := newSendForm(m, m.subject())
	m.open(f)
	return f.ask(m)
}

// asRefusal finds the refusal in an error.
func asRefusal(err error) (*core.Error, bool) { return errors.AsType[*core.Error](err) }
