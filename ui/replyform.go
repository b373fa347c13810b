package ui

import (
	"context"

	tea "github.com/charmbracelet/bubbletea"

	"cordboard/core"
	"cordboard/ui/safe"
	"cordboard/ui/transcribe"
)

// replyForm answers for an agent whose runtime is manual: a run waits until the operator has written its reply (engine.md §3). It is bound
// to that run.
type replyForm struct {
	form
	key, run string
	message  string
	id       string // idempotency key
	kept     uint64 // version of the text that the draft holds
}

type replyMsg struct {
	key  string
	asks []core.Approval // all that wait for permission
	run  *core.Run       // that waits, nil = none does
	err  error
}

// openReply looks for what waits, then opens the form, or what asks for permission.
func (m *Model) openReply() tea.Cmd { return m.answerFor(m.subject()) }

func (m *Model) answerFor(key string) tea.Cmd {
	board, ctx := m.env.Board, m.ctx
	return func() tea.Msg {
		page, err := guarded(func() (core.RecordPage, error) {
			return board.Records(ctx, core.RecordQuery{Kind: core.RecordApprovals})
		})
		for i := range page.Approvals {
			if err == nil && page.Approvals[i].Session == key {
				return replyMsg{key: key, asks: page.Approvals}
			}
		}
		run, err := guarded(func() (*core.Run, error) { return waitingRun(ctx, board, key) })
		return replyMsg{key: key, run: run, err: err}
	}
}

// waitingRun is the run of a session that is under way, with the message it is to answer.
func waitingRun(ctx context.Context, board core.Board, key string) (*core.Run, error) {
	page, err := board.Records(ctx, core.RecordQuery{Kind: core.RecordRuns, Session: key})
	if err != nil {
		return nil, err
	}
	for i := range page.Runs {
		if r := &page.Runs[i]; r.SessionKey == key && r.State == core.RunRunning {
			if r.Message == "" {
				r.Message, err = askedBy(ctx, board, r)
			}
			return r, err
		}
	}
	return nil, nil
}

// askedBy is the message of a run that has begun: it is in the transcript then, the first that the run wrote, else the last of a person.
func askedBy(ctx context.Context, board core.Board, r *core.Run) (string, error) {
	q := core.MessageQuery{Session: r.SessionKey, Limit: 50, Filter: core.MessageFilter{Roles: []core.Role{core.RoleUser}}}
	if r.FirstSeq > 0 {
		q.After, q.Oldest, q.Limit = r.FirstSeq-1, true, 1
	}
	page, err := board.Messages(ctx, q)
	if err != nil || len(page.Messages) == 0 {
		return "", err
	}
	last := &page.Messages[len(page.Messages)-1]
	for i := range page.Messages {
		if page.Messages[i].Role == core.RoleUser {
			last = &page.Messages[i]
		}
	}
	return transcribe.Said(last), nil
}

func (msg replyMsg) apply(m *Model) tea.Cmd {
	switch {
	case m.ended(msg.err):
		return nil
	case msg.err != nil:
		return m.warn("cannot read what waits in " + msg.key + ": " + msg.err.Error())
	case msg.run == nil && msg.asks == nil:
		return m.toast("nothing waits in " + m.nameFor(msg.key) + " any more")
	case m.top() != nil && m.topStage() == nil:
		return nil // something else was opened meanwhile
	}
	if msg.asks != nil {
		m.permits.list = msg.asks
		m.open(newPermission(m, msg.key))
		return nil
	}
	m.open(newReplyForm(m, msg.key, msg.run))
	return nil
}

func replyDraft(key string) string { return "reply " + key }

func newReplyForm(m *Model, key string, r *core.Run) *replyForm {
	f := &replyForm{key: key, run: r.ID, message: r.Message, id: m.newID()}
	f.form = form{
		title: safe.Line("Answer for " + m.nameFor(key)), verb: "answer", above: f.asked,
		area:   &formArea{label: "reply", text: newEditor(m.drafts.all[replyDraft(key)].Text), lines: 12},
		submit: f.reply, closed: f.leave,
	}
	f.area.check = func(*Model) string {
		if !validText(&f.area.text) {
			return "the reply holds bytes that are no UTF-8 text: ‹x..› marks them"
		}
		if f.area.text.blank() {
			return "the reply is blank"
		}
		return ""
	}
	f.kept = f.area.text.version
	return f
}

// asked is the message to be answered, as much of it as fits.
func (f *replyForm) asked(m *Model, w, h int) []string {
	k := &m.k.panel
	var lines []string
	for _, text := range safe.Wrap(safe.Block(firstBytes(f.message, 16<<10)), max(w-4, 1)) {
		lines = append(lines, newLine(w).add(k.accent2, " ▎ ").add(k.text, text).end(k.text))
	}
	if len(lines) > h {
		lines = append(lines[:max(h-1, 0)], newLine(w).add(k.accent2, " ▎ ").add(k.dim, "… the transcript has all of it").end(k.text))
	}
	return append(lines, newLine(w).end(k.text))
}

func (f *replyForm) reply(m *Model) tea.Cmd {
	c := core.Command{Key: f.id, Reply: &core.Reply{Run: f.run, Text: f.area.text.text()}}
	return m.doForm(&f.form, c, func(m *Model, _ core.Receipt) tea.Cmd {
		m.drafts.put(replyDraft(f.key), draft{})
		m.said = "answered for " + m.nameFor(f.key)
		return m.rememberSoon()
	})
}

func (f *replyForm) leave(m *Model) tea.Cmd {
	f.keepDraft(m)
	if !f.area.text.blank() {
		m.said = "kept as a draft: " + m.keyFor("message.reply") + " opens it again"
	}
	return m.rememberSoon()
}

func (f *replyForm) keepDraft(m *Model) {
	if f.kept != f.area.text.version {
		f.kept = f.area.text.version
		m.drafts.put(replyDraft(f.key), draft{Text: f.area.text.text(), At: m.env.Now().UnixMilli()})
	}
}

// asks reports whether a run of a session waits on the operator.
func (m *Model) asks(key string) bool {
	h := m.fleet.heads[key]
	return h != nil && h.Flags.Has(core.FlagAsks)
}

func nothingAsks(m *Model) string {
	key := m.subject()
	if key == "" {
		return "choose a session"
	}
	if !m.asks(key) {
		return "no run of " + m.nameFor(key) + " waits for you"
	}
	return cannotDo(m)
}
