package engine

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"cordboard/core"
	"cordboard/core/tool"
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

// auditCall records what a client or the operator did with a tool.
func (b *board) auditCall(tx core.Tx, actor core.Actor, name, target string, after any) error {
	if b.within != nil {
		return nil
	}
	told, err := auditJSON(after)
	if err != nil {
		return err
	}
	return tx.AddAudit(core.AuditEntry{At: b.now(), Who: b.whoCalls(actor), Verb: name, Target: target, After: told, Result: "ok"})
}

// readsOnly are the tools that change nothing.
var readsOnly = map[string]bool{tool.SessionsList: true, tool.SessionsHistory: true, tool.AgentsList: true}

// auditRefusedCall records that a tool which changes something was refused.
func (b *board) auditRefusedCall(ctx context.Context, actor core.Actor, c core.ToolCall, refused *core.Error) {
	if _, err := tool.Spec(c.Tool); b.within != nil || err != nil || readsOnly[c.Tool] {
		return
	}
	target := ""
	if json.Valid(c.Params) {
		named, _ := core.Field(c.Params, "sessionKey")
		target, _ = core.Unquote(named)
	}
	b.auditRefusal(ctx, verb{name: c.Tool, target: target, who: b.whoCalls(actor)}, refused)
}

// whoCalls is who calls a tool: a session, and that it is the operator who speaks as that session.
func (b *board) whoCalls(actor core.Actor) string {
	switch {
	case actor.Kind == "": // it could not be found
		return nameOf(b.actor)
	case viaOf(b.actor, actor) != "":
		return actor.Session + " via " + viaOf(b.actor, actor)
	}
	return nameOf(actor)
}

func shortened(text string) string {
	if len(text) > maxAuditText {
		text = text[:maxAuditText] + "…"
	}
	return strings.ToValidUTF8(text, "�")
}
