package engine

import (
	"context"
	"slices"
	"strings"

	"cordboard/core"
	"cordboard/core/key"
)

// Do implements core.Board. A command is one transaction: it is checked, carried out and recorded in the audit together.
func (b *board) Do(ctx context.Context, c core.Command) (core.Receipt, error) {
	if reason := b.missing()["do"]; reason != "" {
		return core.Receipt{}, core.Errorf(core.CodeReadOnly, "cannot change anything: %s", reason)
	}
	switch {
	case c.Patch != nil:
		return b.patch(ctx, c)
	case c.Send != nil:
		return b.chatSend(ctx, c)
	case c.New != nil:
		return b.newSession(ctx, *c.New)
	case c.Abort != nil:
		return b.abort(ctx, *c.Abort)
	case c.Stop != nil:
		return b.stop(ctx, *c.Stop)
	case c.Inbound != nil:
		return b.inbound(ctx, c)
	case c.Retry != nil:
		return b.retry(ctx, *c.Retry)
	case c.Reply != nil:
		return b.reply(ctx, *c.Reply)
	}
	return core.Receipt{}, core.Errorf(core.CodeInvalidParams, "the command names no operation").
		Accept("patch", "send", "new", "abort", "stop", "inbound", "retry", "reply")
}

// patch changes fields of a session (session-tools.md §9). updatedAt stays: it moves with messages and runs only.
func (b *board) patch(ctx context.Context, c core.Command) (receipt core.Receipt, err error) {
	if err := validPatch(*c.Patch); err != nil {
		return receipt, err
	}
	now := b.clock.Now().UnixMilli()
	rev, err := b.store.Update(ctx, func(tx core.Tx) error {
		found, err := b.resolve(tx, b.operator(), c.Patch.Session)
		if err != nil {
			return err
		}
		if !found.exists {
			return notFound(c.Patch.Session)
		}
		if err := unchangedSince(tx, found.key, c.IfRev); err != nil {
			return err
		}
		session, inverse := applyPatch(found.session, *c.Patch, now)
		receipt = core.Receipt{Key: session.Key, Undo: &core.Command{Patch: &inverse}}
		if err := tx.PutSession(session); err != nil {
			return err
		}
		return tx.AddAudit(core.AuditEntry{At: now, Who: "operator", Verb: "patch", Target: session.Key, Result: "ok"})
	})
	if err != nil {
		return core.Receipt{}, err
	}
	receipt.Rev, receipt.Undo.IfRev = rev, rev
	return receipt, nil
}

func unchangedSince(tx core.Tx, sessionKey string, rev core.Rev) error {
	if rev == 0 {
		return nil
	}
	head, ok, err := tx.Head(sessionKey)
	if err != nil || !ok || head.Rev == rev {
		return err
	}
	return core.Errorf(core.CodeConflict, "%s was changed since (revision %d, you saw %d): look again and repeat", sessionKey, head.Rev, rev)
}

var (
	thinkingLevels = []string{"off", "minimal", "low", "medium", "high", "xhigh", "adaptive"}
	verboseLevels  = []string{"off", "on", "full"}
)

func validPatch(p core.Patch) error {
	if p.SendPolicy != nil && !slices.Contains([]core.SendPolicy{core.SendInherit, core.SendAllow, core.SendDeny}, *p.SendPolicy) {
		return core.Errorf(core.CodeInvalidParams, "sendPolicy %q: allow, deny, or empty to inherit", *p.SendPolicy).Accept("allow", "deny", "")
	}
	if p.ThinkingLevel != nil && *p.ThinkingLevel != "" && !slices.Contains(thinkingLevels, *p.ThinkingLevel) {
		return core.Errorf(core.CodeInvalidParams, "thinkingLevel %q: one of %s", *p.ThinkingLevel, strings.Join(thinkingLevels, ", ")).Accept(thinkingLevels...)
	}
	if p.VerboseLevel != nil && *p.VerboseLevel != "" && !slices.Contains(verboseLevels, *p.VerboseLevel) {
		return core.Errorf(core.CodeInvalidParams, "verboseLevel %q: one of %s", *p.VerboseLevel, strings.Join(verboseLevels, ", ")).Accept(verboseLevels...)
	}
	if p.Label != nil && len(*p.Label) > core.MaxKeyBytes {
		return core.Errorf(core.CodeInvalidParams, "label is %d bytes: at most %d", len(*p.Label), core.MaxKeyBytes)
	}
	return key.Valid(p.Session)
}

// applyPatch returns the changed row and the patch that takes the change back.
func applyPatch(s core.Session, p core.Patch, now int64) (core.Session, core.Patch) {
	inverse := core.Patch{Session: s.Key}
	if p.Label != nil {
		inverse.Label, s.Label = ref(s.Label), strings.TrimSpace(*p.Label)
	}
	if p.SendPolicy != nil {
		inverse.SendPolicy, s.SendPolicy = ref(s.SendPolicy), *p.SendPolicy
	}
	if p.ThinkingLevel != nil {
		inverse.ThinkingLevel, s.ThinkingLevel = ref(s.ThinkingLevel), *p.ThinkingLevel
	}
	if p.VerboseLevel != nil {
		inverse.VerboseLevel, s.VerboseLevel = ref(s.VerboseLevel), *p.VerboseLevel
	}
	if p.Archived != nil {
		inverse.Archived = ref(s.ArchivedAt != 0)
		switch {
		case !*p.Archived:
			s.ArchivedAt = 0
		case s.ArchivedAt == 0:
			s.ArchivedAt = now
		}
	}
	return s, inverse
}

func ref[T any](v T) *T { return &v }
