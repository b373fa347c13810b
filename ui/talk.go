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
		{id: "message.spawn", keys: []string{"n"}, text: "start a sub-agent for the session: task, agent, model, files, and where it will announce", hint: "spawn", scope: inTree, run: (*Model).openSpawn, off: cannotSpawn},
		{id: "message.compose", keys: []string{"C"}, text: "write a line to the session, as the operator", hint: "write", run: (*Model).openComposer, off: cannotCompose},
		{id: "message.reply", keys: []string{"ctrl+y"}, text: "answer where a run waits for you: its reply, or what it asks permission for", hint: "answer", run: (*Model).openReply, off: nothingAsks},
		{id: "session.new", keys: []string{"N"}, text: "a new session: agent, label, model", run: (*Model).openNew, off: cannotDo},
		{id: "policy.open", keys: []string{"p"}, text: "send policy: inherit, allow or deny, with the verdict and its rule", hint: "policy", run: (*Model).openPolicy, off: cannotSetPolicy},
		{id: "policy.test", text: "try the send policy on any channel, chat type and key", run: (*Model).openTester, off: cannotTest},
		{id: "session.edit", keys: []string{"c", "f2"}, text: "label, model and thinking of the session", scope: inTree, run: (*Model).openSettings, off: cannotEdit},
		{id: "session.stop", keys: []string{"K"}, text: "stop the session, or those marked, with all that they spawned", scope: inTree, run: (*Model).askStopChosen, off: cannotEnd},
		{id: "session.reset", keys: []string{"ctrl+x"}, text: "begin the session anew, or those marked: an empty transcript, the old one kept", scope: inTree, run: (*Model).askReset, off: cannotReset},
		{id: "session.delete", keys: []string{"D", "delete"}, text: "delete the session, or those marked; what was said stays readable", scope: inTree, run: (*Model).askDelete, off: cannotDelete},
		{id: "session.purge", text: "delete the session, or those marked, with their transcripts", scope: inTree, run: (*Model).askPurge, off: cannotDelete},
		{id: "session.adopt", keys: []string{"o"}, text: "adopt a mirrored session, or those marked: the agent configured here answers from then on", scope: inTree, run: (*Model).askAdopt, off: cannotAdopt},
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
		return m.mirrored(key)
	}
	return ""
}

func cannotEdit(m *Model) string {
	key := m.subject()
	if key == "" {
		return "choose a session"
	}
	return firstOf(cannotDo(m), m.allMirrored([]string{key}))
}

// openSend opens the send form on the session that is read. The form is bound to it, whatever the list does meanwhile (R033).
func (m *Model) openSend() tea.Cmd {
	f := newSendForm(m, m.subject())
	m.open(f)
	return f.ask(m)
}

// asRefusal finds the refusal in an error.
func asRefusal(err error) (*core.Error, bool) { return errors.AsType[*core.Error](err) }
