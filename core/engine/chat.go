package engine

import (
	"context"
	"strings"
	"unicode/utf8"

	"cordboard/core"
)

// chatSend is the operator's message into a session: provenance external_user, one run (session-tools.md §6).
func (b *board) chatSend(ctx context.Context, c core.Command) (receipt core.Receipt, err error) {
	switch {
	case b.drive == nil:
		return receipt, core.Errorf(core.CodeUnsupported, "nothing is sent: no engine runs agents here")
	case strings.TrimSpace(c.Send.Message) == "":
		return receipt, core.Errorf(core.CodeInvalidParams, "the message is blank")
	case !utf8.ValidString(c.Send.Message):
		return receipt, core.Errorf(core.CodeInvalidParams, "the message is not UTF-8")
	}
	id := c.Key
	if id == "" {
		id = b.options.NewID()
	}
	sessionID := b.options.NewID()
	now := b.now()
	rev, err := b.write(ctx, func(tx core.Tx, fx *effects) error {
		if known, ok, err := tx.Run(id); err != nil || ok {
			receipt = core.Receipt{Key: known.SessionKey, Run: id}
			return errFirst(err, sameSend(tx, &known, c.Send))
		}
		s, err := b.targetOf(tx, c.Send.Session, sessionID, now)
		if err != nil {
			return err
		}
		if refused := b.mayRun(&s); refused != nil {
			return refused
		}
		run, err := b.enqueue(tx, fx, core.Run{
			ID: id, Kind: core.RunChat, Message: c.Send.Message, Provenance: &core.Provenance{Kind: "external_user"},
		}, s, now)
		if err != nil {
			return err
		}
		receipt = core.Receipt{Key: s.Key, Run: run.ID}
		return tx.AddAudit(core.AuditEntry{At: now, Who: "operator", Verb: "send", Target: s.Key, Result: run.ID})
	})
	receipt.Rev = rev
	return receipt, err
}

func errFirst(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// sameSend reports whether a repeated key asks for the run it already names.
func sameSend(r core.Reader, known *core.Run, s *core.Send) error {
	message := known.Message
	if message == "" && known.FirstSeq > 0 {
		if err := r.Messages(known.SessionID, core.SeqRange{After: known.FirstSeq - 1, Before: known.FirstSeq + 1}, func(m *core.Message) bool {
			for block := range core.Blocks(m.Raw) {
				message += block.Text
			}
			return false
		}); err != nil {
			return err
		}
	}
	if known.Kind != core.RunChat || message != s.Message {
		return core.Errorf(core.CodeIdempotency, "the key %q already names another run: use a new one for another message", known.ID)
	}
	return nil
}

// targetOf finds the session an operator writes to. A configured agent's main session comes into being by its first use; a mistyped key
// never makes one (session-tools.md §1).
func (b *board) targetOf(tx core.Tx, name, sessionID string, now int64) (core.Session, error) {
	found, err := b.resolve(tx, b.operator(), name)
	switch {
	case err == nil && found.exists:
		return found.session, nil
	case err != nil && core.CodeOf(err) != core.CodeNotFound:
		return core.Session{}, err
	}
	canonical := b.names.Canonical(name, "")
	if _, configured := b.config.Agent(b.names.AgentOf(canonical)); !configured || !b.names.IsMain(canonical) {
		return core.Session{}, notFound(name)
	}
	return core.Session{Key: canonical, SessionID: sessionID, CreatedAt: now, UpdatedAt: now}, nil
}

// newSession makes a session of a configured agent, under a key of its own.
func (b *board) newSession(ctx context.Context, n core.New) (core.Receipt, error) {
	agent := strings.ToLower(strings.TrimSpace(n.Agent))
	if agent == "" {
		agent = b.names.DefaultAgent()
	}
	if _, configured := b.config.Agent(agent); !configured {
		return core.Receipt{}, core.Errorf(core.CodeInvalidParams, "agent %q is not configured: agents.list names those that are", agent).Because("agents.list")
	}
	id, now := b.options.NewID(), b.now()
	s := core.Session{Key: "agent:" + agent + ":chat-" + id, SessionID: id, CreatedAt: now, UpdatedAt: now, Label: strings.TrimSpace(n.Label)}
	rev, err := b.write(ctx, func(tx core.Tx, _ *effects) error {
		if err := tx.PutSession(s); err != nil {
			return err
		}
		if err := tx.PutGeneration(core.Generation{ID: id, SessionID: id, Key: s.Key, Agent: agent, State: core.GenerationCurrent, CreatedAt: now}); err != nil {
			return err
		}
		return tx.AddAudit(core.AuditEntry{At: now, Who: "operator", Verb: "new", Target: s.Key, Result: "ok"})
	})
	return core.Receipt{Rev: rev, Key: s.Key}, err
}

// abort ends one run: a queued one at once, a running one by ending its turn.
func (b *board) abort(ctx context.Context, a core.Abort) (receipt core.Receipt, err error) {
	if b.drive == nil {
		return receipt, core.Errorf(core.CodeUnsupported, "nothing is aborted: no engine runs agents here")
	}
	now := b.now()
	var run core.Run
	rev, err := b.write(ctx, func(tx core.Tx, fx *effects) error {
		found, err := b.runToAbort(tx, a)
		if err != nil {
			return err
		}
		run = found
		if run.State == core.RunQueued {
			if err := b.discard(tx, fx, run, ending{outcome: core.OutcomeAborted, cause: errAborted.Error()}, now); err != nil {
				return err
			}
		}
		return tx.AddAudit(core.AuditEntry{At: now, Who: "operator", Verb: "abort", Target: run.ID, Result: string(run.State)})
	})
	if err != nil {
		return receipt, err
	}
	b.drive.abort(run)
	return core.Receipt{Rev: rev, Key: run.SessionKey, Run: run.ID}, nil
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
