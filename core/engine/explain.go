package engine

import (
	"context"

	"cordboard/core"
	"cordboard/core/key"
	"cordboard/core/policy"
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
		case q.Rights != nil:
			x, err = b.explainRights(r, *q.Rights)
		case q.Send != "":
			x, err = b.explainSend(r, q.Send)
		case q.Policy != nil:
			x, err = b.explainPolicy(r, *q.Policy)
		case q.Message != nil:
			x, err = b.explainMessage(r, *q.Message)
		case q.Spawn != nil:
			x, err = b.explainSpawn(r, *q.Spawn)
		default:
			err = core.Errorf(core.CodeInvalidParams, "the question is empty").Accept("see", "rights", "send", "policy", "message", "spawn")
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

func (b *board) explainRights(r core.Reader, q core.SeeQuestion) (core.Explanation, error) {
	x, err := b.explainSee(r, q)
	if err != nil {
		return x, err
	}
	caller, err := b.party(r, q.Caller)
	if err != nil {
		return x, err
	}
	target, err := b.party(r, q.Target)
	if err != nil {
		return x, err
	}
	v := b.session(caller.Key, b.rules)
	if q.Scope != "" {
		v = v.under(q.Scope)
	}
	x.Rights = b.rules.Rights(v.view, caller, target)
	row, err := rowIn(r, caller.Key)
	for i := range x.Rights {
		right := &x.Rights[i]
		if refused := b.mayUse(&row, right.Tool, true); refused != nil {
			right.Verdict = core.Verdict{Rule: "tools of sub-agents", ConfigKey: refused.ConfigKey, Message: refused.Message}
		}
	}
	return x, err
}

// party is a session as policy sees it.
func (b *board) party(r core.Reader, name string) (policy.Party, error) {
	found, err := b.resolve(r, b.operator(), name)
	if err != nil {
		return policy.Party{}, err
	}
	if !found.exists {
		return policy.Party{}, notFound(name)
	}
	depth, err := spawnDepth(r, &found.session)
	return policy.Party{
		Key: found.key, SpawnedBy: found.session.SpawnedBy, Depth: depth, Mirrored: found.session.Mirrored(),
		Sending: policy.SendingTo(&found.session),
	}, err
}

// spawnDepth is how many spawns a session is away from one nobody spawned: stored, else by lineage, else by the form of its key. Lineage
// that runs in a circle ends where it meets itself.
func spawnDepth(r core.Reader, s *core.Session) (int, error) {
	seen := map[string]bool{}
	for up := 0; ; up++ {
		if s.SpawnDepth > 0 || s.SpawnedBy == "" || seen[s.Key] {
			return up + max(s.SpawnDepth, key.SubagentDepth(s.Key)), nil
		}
		seen[s.Key] = true
		parent, ok, err := r.Session(s.SpawnedBy)
		if err != nil {
			return 0, err
		}
		if !ok {
			return up + 1 + key.SubagentDepth(s.SpawnedBy), nil
		}
		s = &parent
	}
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
