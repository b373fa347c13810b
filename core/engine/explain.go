package engine

import (
	"context"

	"cordboard/core"
)

// Explain implements core.Board. Only the operator may ask about others.
func (b *board) Explain(ctx context.Context, q core.Question) (x core.Explanation, err error) {
	if b.actor.Kind != core.ActorOperator {
		return x, core.Errorf(core.CodeForbidden, "only the operator may ask why")
	}
	err = b.store.View(ctx, func(r core.Reader) error {
		switch {
		case q.See != nil:
			x, err = b.explainSee(r, *q.See)
		case q.Send != "":
			x, err = b.explainSend(r, q.Send)
		default:
			err = core.Errorf(core.CodeInvalidParams, "the question is empty").Accept("see", "send")
		}
		return err
	})
	return x, err
}

func (b *board) explainSee(r core.Reader, q core.SeeQuestion) (core.Explanation, error) {
	v, err := b.viewer(r, b.actor, q.Caller)
	if err != nil {
		return core.Explanation{}, err
	}
	if q.Scope != "" {
		v = v.under(q.Scope)
	}
	found, err := b.resolve(r, b.operator(), q.Target)
	if err != nil {
		return core.Explanation{}, err
	}
	return core.Explanation{Verdict: v.see(found.key, found.session.SpawnedBy), Scope: &v.scope}, nil
}

func (b *board) explainSend(r core.Reader, sessionKey string) (core.Explanation, error) {
	found, err := b.resolve(r, b.operator(), sessionKey)
	if err != nil {
		return core.Explanation{}, err
	}
	if !found.exists {
		return core.Explanation{}, notFound(sessionKey)
	}
	return core.Explanation{Verdict: b.send(&found.session)}, nil
}
