package engine

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"cordboard/core"
)

// maxAuditText bounds what an audit entry takes over from a command that was refused, in bytes.
const maxAuditText = 600

// nameOf is who an actor is in the audit.
func nameOf(a core.Actor) string {
	if a.Kind == core.ActorSession {
		return a.Session
	}
	return string(a.Kind)
}

// audit records what was done, under the revision that did it.
func (b *board) audit(a *act, v verb) error {
	e := core.AuditEntry{At: a.now, Who: v.who, Verb: a.verb, Target: a.receipt.Key, Result: "ok"}
	if e.Who == "" {
		e.Who = nameOf(b.actor)
	}
	if e.Target == "" {
		e.Target = v.target
	}
	var err error
	if e.Before, err = auditJSON(a.before); err != nil {
		return err
	}
	if e.After, err = auditJSON(a.after); err != nil {
		return err
	}
	return a.AddAudit(e)
}

func auditJSON(v any) (json.RawMessage, error) {
	if v == nil {
		return nil, nil
	}
	return marshal(v)
}

// auditRefusal records that somebody asked for what was refused. That it could not be recorded must not hide why.
func (b *board) auditRefusal(ctx context.Context, v verb, err error) {
	refused, ok := errors.AsType[*core.Error](err)
	if !ok || v.name == "" || b.options.Owner == "" || faulty(refused.Code) {
		return
	}
	who := v.who
	if who == "" {
		who = nameOf(b.actor)
	}
	e := core.AuditEntry{
		At: b.now(), Who: shortened(who), Verb: v.name, Target: shortened(v.target), Result: "denied: " + shortened(refused.Message),
	}
	_, _ = b.store.Update(context.WithoutCancel(ctx), func(tx core.Tx) error { return tx.AddAudit(e) })
}

// faulty tells what went wrong underneath from what was refused.
func faulty(code core.Code) bool {
	return code == core.CodeInternal || strings.HasPrefix(string(code), "store_")
}

func shortened(text string) string {
	if len(text) > maxAuditText {
		text = text[:maxAuditText] + "…"
	}
	return strings.ToValidUTF8(text, "�")
}
