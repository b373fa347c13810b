package engine

import (
	"cmp"
	"strings"
	"unicode/utf8"

	"cordboard/core"
)

// chatSend is the operator's message into a session: provenance external_user, one run (session-tools.md §6). He owns every session, so
// his standalone /send is a command here as it is in a channel (session-tools.md §7).
func (b *board) chatSend(c core.Command) (verb, error) {
	id, sessionID := cmp.Or(c.Key, b.options.NewID()), b.options.NewID()
	v := verb{name: "send", target: c.Send.Session, do: func(a *act) error { return b.sendChat(a, *c.Send, id, sessionID) }}
	switch {
	case b.drive == nil:
		return v, b.runsHere("sent")
	case strings.TrimSpace(c.Send.Message) == "":
		return v, core.Errorf(core.CodeInvalidParams, "the message is blank")
	case !utf8.ValidString(c.Send.Message):
		return v, core.Errorf(core.CodeInvalidParams, "the message is not UTF-8")
	}
	return v, nil
}

func (b *board) sendChat(a *act, c core.Send, id, sessionID string) error {
	if known, ok, err := a.Run(id); err != nil || ok { // its answer is forgotten, the run is not
		a.receipt, a.quiet = core.Receipt{Key: known.SessionKey, Run: id}, true
		return errFirst(err, sameMessage(a, &known, c.Message))
	}
	s, err := b.targetOf(a, c.Session, sessionID, a.now)
	if err != nil {
		return err
	}
	a.receipt.Key = s.Key
	if err := a.unchanged(s.Key); err != nil {
		return err
	}
	if mode, ok := sendCommand(c.Message); ok {
		return b.sendMode(a, s, mode)
	}
	if refused := b.mayRun(&s); refused != nil {
		return refused
	}
	run, err := b.enqueue(a, a.fx, core.Run{
		ID: id, Kind: core.RunChat, Message: c.Message, Provenance: &core.Provenance{Kind: "external_user"},
	}, s, a.now)
	a.receipt.Run, a.after = run.ID, map[string]string{"run": run.ID}
	return err
}

func errFirst(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// sameMessage refuses a repeated key that asks for another run than it already names.
func sameMessage(r core.Reader, known *core.Run, asked string) error {
	message, err := messageOf(r, known)
	if err != nil {
		return err
	}
	if known.Kind != core.RunChat && known.Kind != core.RunNote || message != asked {
		return core.Errorf(core.CodeIdempotency, "the key %q already names another run: use a new one for another message", known.ID)
	}
	return nil
}

// messageOf is the message of a run: it is in the transcript once the run has begun.
func messageOf(r core.Reader, run *core.Run) (string, error) {
	if run.Message != "" || run.FirstSeq == 0 {
		return run.Message, nil
	}
	var text strings.Builder
	err := r.Messages(run.SessionID, core.SeqRange{After: run.FirstSeq - 1, Before: run.FirstSeq + 1}, func(m *core.Message) bool {
		for block := range core.Blocks(m.Raw) {
			text.WriteString(block.Text)
		}
		return false
	})
	return text.String(), err
}

// targetOf finds the session an operator writes to. A configured agent's main session comes into being by its first use; a mistyped key
// never makes one (session-tools.md §1).
func (b *board) targetOf(r core.Reader, name, sessionID string, now int64) (core.Session, error) {
	found, err := b.resolve(r, b.operator(), name)
	switch {
	case err == nil && found.exists:
		return found.session, nil
	case err != nil && core.CodeOf(err) != core.CodeNotFound:
		return core.Session{}, err
	}
	canonical := b.names.Canonical(name, "")
	if _, configured := b.config.Agent(b.names.AgentOf(canonical)); !configured || !b.names.IsMain(canonical) {
		return core.Session{}, errFirst(err, notFound(name)) // the first says which one may have been meant
	}
	return core.Session{Key: canonical, SessionID: sessionID, CreatedAt: now, UpdatedAt: now}, nil
}

// newSession makes a session of a configured agent, under a key of its own.
func (b *board) newSession(n core.New) (verb, error) {
	agent := strings.ToLower(strings.TrimSpace(n.Agent))
	if agent == "" {
		agent = b.names.DefaultAgent()
	}
	id := b.options.NewID()
	s := core.Session{Key: "agent:" + agent + ":chat-" + id, SessionID: id, Label: strings.TrimSpace(n.Label)}
	v := verb{name: "new", target: agent, do: func(a *act) error { return b.makeSession(a, s, agent) }}
	if _, configured := b.config.Agent(agent); !configured {
		return v, core.Errorf(core.CodeInvalidParams, "agent %q is not configured: agents.list names those that are", agent).Because("agents.list")
	}
	if err := b.validModel(n.Model); err != nil {
		return v, err
	}
	b.setModel(&s, n.Model)
	return v, nil
}

func (b *board) makeSession(a *act, s core.Session, agent string) error {
	s.CreatedAt, s.UpdatedAt = a.now, a.now
	a.receipt.Key, a.after = s.Key, s
	if err := a.PutSession(s); err != nil {
		return err
	}
	return a.PutGeneration(core.Generation{
		ID: s.SessionID, SessionID: s.SessionID, Key: s.Key, Agent: agent, State: core.GenerationCurrent, CreatedAt: a.now,
	})
}

// abort ends one run: a queued one at once, a running one by ending its turn.
func (b *board) abort(a *act, c core.Abort) error {
	run, err := b.runToAbort(a, c)
	if err != nil {
		return err
	}
	a.receipt.Key, a.receipt.Run = run.SessionKey, run.ID
	if err := a.unchanged(run.SessionKey); err != nil {
		return err
	}
	a.before = map[string]string{"run": run.ID, "state": string(run.State)}
	a.fx.cut = append(a.fx.cut, run)
	if run.State != core.RunQueued {
		return nil
	}
	return b.discard(a, a.fx, run, ending{outcome: core.OutcomeAborted, cause: errAborted.Error()}, a.now)
}

func (b *board) runToAbort(r core.Reader, a core.Abort) (run core.Run, err error) {
	if a.Run != "" {
		run, ok, err := r.Run(a.Run)
		switch {
		case err != nil:
			return run, err
		case !ok:
			return run, core.Errorf(core.CodeNotFound, "there is no run %q", a.Run)
		case run.State == core.RunEnded:
			return run, core.Errorf(core.CodeConflict, "run %s has ended already: %s", run.ID, run.Outcome)
		}
		return run, nil
	}
	found, err := b.resolve(r, b.operator(), a.Session)
	if err != nil {
		return run, err
	}
	err = r.LiveRuns(func(live *core.Run) bool {
		if live.SessionKey == found.key && (run.ID == "" || live.State == core.RunRunning) {
			run = *live
		}
		return true
	})
	if err == nil && run.ID == "" {
		err = core.Errorf(core.CodeNotFound, "nothing runs and nothing is queued in %s", found.key)
	}
	return run, err
}

// abort takes a run out of line, or ends its turn.
func (d *driver) abort(run core.Run) {
	d.mu.Lock()
	d.queue.remove(run.ID, run.SessionKey)
	d.mu.Unlock()
	d.endTurn(run.ID, errAborted)
	d.nudge()
}

// endTurn ends what a live run's runtime is doing.
func (d *driver) endTurn(id string, cause error) {
	d.mu.Lock()
	end := d.live[id]
	d.mu.Unlock()
	if end != nil {
		end(cause)
	}
}
