package engine

import (
	"context"

	"cordboard/core"
)

// Do implements core.Board. A command is one transaction: it is checked, carried out, answered under its key and recorded in the audit
// together. One that is refused leaves its audit entry and nothing else.
func (b *board) Do(ctx context.Context, c core.Command) (core.Receipt, error) {
	v, err := b.verbOf(c)
	if reason := b.missing()["do"]; reason != "" {
		err = core.Errorf(core.CodeReadOnly, "cannot change anything: %s", reason)
	}
	var receipt core.Receipt
	if err == nil {
		receipt, err = b.carryOut(ctx, v, c)
	}
	if err != nil {
		b.auditRefusal(ctx, v, err)
		return core.Receipt{}, err
	}
	return receipt, nil
}

// verb is a command made ready: what it is called, whom it is for as it was named, and what it does.
type verb struct {
	name, target string
	who          string // "" = the board's actor
	do           func(a *act) error
}

// act is a verb that is being carried out in a transaction. It holds nothing from outside it, since it may be carried out again.
type act struct {
	core.Tx
	fx      *effects
	now     int64
	ifRev   core.Rev
	receipt core.Receipt

	verb          string // for the audit, where it is not the command's own name
	before, after any    // what the audit keeps of the change
	quiet         bool   // nothing was changed: no audit entry, no answer to keep
}

// verbOf makes a command ready. An error says why it cannot be done at all; the verb's name and target hold then too.
func (b *board) verbOf(c core.Command) (verb, error) {
	switch {
	case c.Patch != nil:
		return verb{name: "patch", target: c.Patch.Session, do: func(a *act) error { return b.patch(a, *c.Patch) }}, b.validPatch(*c.Patch)
	case c.Send != nil:
		return b.chatSend(c)
	case c.New != nil:
		return b.newSession(*c.New)
	case c.Abort != nil:
		return verb{name: "abort", target: c.Abort.Run + c.Abort.Session, do: func(a *act) error { return b.abort(a, *c.Abort) }}, b.runsHere("aborted")
	case c.Stop != nil:
		return verb{name: "stop", target: c.Stop.Session, do: func(a *act) error { return b.stop(a, *c.Stop) }}, b.runsHere("stopped")
	case c.Inbound != nil:
		return b.inbound(c)
	case c.Retry != nil:
		return b.retry(*c.Retry)
	case c.Reply != nil:
		return b.reply(*c.Reply)
	case c.Approve != nil:
		return b.approve(*c.Approve)
	case c.Hold != nil:
		return b.hold(*c.Hold)
	case c.Reset != nil:
		id := b.options.NewID()
		return verb{name: "reset", target: c.Reset.Session, do: func(a *act) error { return b.reset(a, *c.Reset, id) }}, nil
	case c.Delete != nil:
		return verb{name: "delete", target: c.Delete.Session, do: func(a *act) error { return b.delete(a, *c.Delete) }}, nil
	case c.Adopt != nil:
		return verb{name: "adopt", target: c.Adopt.Session, do: func(a *act) error { return b.adopt(a, *c.Adopt) }}, nil
	}
	return verb{}, core.Errorf(core.CodeInvalidParams, "the command names no operation").
		Accept("patch", "send", "new", "abort", "stop", "inbound", "retry", "reply", "hold", "reset", "delete", "adopt", "approve")
}

// runsHere refuses what needs an engine that runs agents.
func (b *board) runsHere(what string) error {
	if b.drive != nil {
		return nil
	}
	return core.Errorf(core.CodeUnsupported, "nothing is %s: no engine runs agents here", what)
}

// carryOut does a verb, or answers what it answered before under the same key.
func (b *board) carryOut(ctx context.Context, v verb, c core.Command) (receipt core.Receipt, err error) {
	once, err := b.onceFor(b.actor, v.name, c)
	if err != nil {
		return receipt, err
	}
	now, repeated := b.now(), false
	rev, err := b.write(ctx, func(tx core.Tx, fx *effects) (err error) {
		receipt = core.Receipt{}
		if repeated, err = once.answered(tx, now, &receipt); repeated || err != nil {
			return err
		}
		a := &act{Tx: tx, fx: fx, now: now, ifRev: c.IfRev, verb: v.name}
		if err := v.do(a); err != nil {
			return err
		}
		a.receipt.Rev = tx.Rev()
		if undo := a.receipt.Undo; undo != nil && undo.Patch != nil { // a hold says what it takes back by itself
			undo.IfRev = tx.Rev()
		}
		if receipt = a.receipt; a.quiet {
			return nil
		}
		if err := b.audit(a, v); err != nil {
			return err
		}
		return once.keep(tx, now, receipt)
	})
	if err == nil && !repeated {
		receipt.Rev = rev // of a quiet one it is that of the store
	}
	return receipt, err
}

// row finds the session a command names and makes sure that it is as the operator saw it.
func (b *board) row(a *act, name string) (core.Session, error) {
	found, err := b.named(a, name)
	return found.session, err
}

// whole is row for what concerns a session as a whole: the id of one of its older transcripts does not name it then.
func (b *board) whole(a *act, name string) (core.Session, error) {
	found, err := b.named(a, name)
	if err == nil && found.generation != found.session.SessionID {
		err = core.Errorf(core.CodeInvalidParams, "%q is an older transcript of %s: name the session by its key", name, found.key)
	}
	return found.session, err
}

func (b *board) named(a *act, name string) (target, error) {
	found, err := b.resolve(a.Tx, b.operator(), name)
	if err == nil && !found.exists {
		err = notFound(name)
	}
	if err != nil {
		return target{}, err
	}
	a.receipt.Key = found.key
	return found, a.unchanged(found.key)
}

// unchanged refuses a command whose row was written since the operator saw it.
func (a *act) unchanged(sessionKey string) error {
	if a.ifRev == 0 {
		return nil
	}
	head, ok, err := a.Head(sessionKey)
	if err != nil || !ok || head.Rev == a.ifRev {
		return err
	}
	return core.Errorf(core.CodeConflict, "%s was changed since (revision %d, you saw %d): look again and repeat", sessionKey, head.Rev, a.ifRev)
}
