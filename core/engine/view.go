package engine

import (
	"strings"

	"cordboard/core"
	"cordboard/core/key"
	"cordboard/core/policy"
)

// viewer is whose eyes a verb looks through: the operator's, who sees all, or a session's under its scope. Every verb asks here.
type viewer struct {
	engine   *Engine
	operator bool
	asker    core.ActorKind // who looks: an operator may learn what is hidden from the session
	key      string         // of the session
	agent    string         // its agent, "" for the operator
	view     policy.View
	scope    core.ScopeInfo
}

// viewer makes the view of an actor, or of the session that an operator wants to look as.
func (e *Engine) viewer(r core.Reader, actor core.Actor, viewpoint string) (viewer, error) {
	caller := actor.Session
	switch {
	case viewpoint == "" && actor.Kind == core.ActorOperator:
		return e.operator(), nil
	case viewpoint != "" && actor.Kind != core.ActorOperator:
		return viewer{}, core.Errorf(core.CodeForbidden, "only the operator looks through another session's eyes")
	case viewpoint != "":
		found, err := e.resolve(r, e.operator(), viewpoint)
		if err != nil {
			return viewer{}, err
		}
		caller = found.key
	}
	if caller == "" {
		return viewer{}, core.Errorf(core.CodeInvalidParams, "this transcript belongs to no session: there is no one to look as")
	}
	v := e.session(caller, e.rules)
	v.asker = actor.Kind
	return v, nil
}

func (e *Engine) operator() viewer {
	return viewer{engine: e, operator: true, asker: core.ActorOperator, view: e.rules.View("")}
}

// session is the view of a stored key under the given rules.
func (e *Engine) session(sessionKey string, rules policy.Rules) viewer {
	v := viewer{engine: e, key: sessionKey, agent: e.names.AgentOf(sessionKey), view: rules.View(sessionKey)}
	v.scope = v.view.Scope()
	return v
}

// under is the same session as if tools.sessions.visibility were another; a sandbox holds it down all the same.
func (v viewer) under(scope core.Visibility) viewer {
	rules := v.engine.rules
	rules.Visibility = scope
	narrowed := v.engine.session(v.key, rules)
	narrowed.asker = v.asker
	return narrowed
}

// allows is the one predicate; it allocates nothing.
func (v viewer) allows(sessionKey, spawnedBy string) bool {
	return v.view.Allows(sessionKey, spawnedBy)
}

// narrow reports that the scope holds the caller and its children at most, so that lineage finds them without a walk.
func (v viewer) narrow() bool {
	return !v.operator && (v.scope.Effective == core.VisibilitySelf || v.scope.Effective == core.VisibilityTree)
}

func (v viewer) see(sessionKey, spawnedBy string) core.Verdict {
	return v.view.See(policy.Target{Key: sessionKey, SpawnedBy: spawnedBy})
}

// refusal says why a viewer may not have what was found, nil when it may.
func (v viewer) refusal(found target, lookup key.Lookup) error {
	switch {
	case v.operator, found.exists && v.allows(found.key, found.session.SpawnedBy):
		return nil
	case !lookup.KeyShaped:
		return notFound(lookup.Input)
	}
	return v.view.Refuse(policy.Target{Key: found.key, SpawnedBy: found.session.SpawnedBy, Given: lookup.Input})
}

// missing is the answer for a key that names no session: forbidden when the key is out of scope, so that it tells nothing.
func (v viewer) missing(r core.Reader, lookup key.Lookup) error {
	if !v.operator {
		if err := v.view.Refuse(policy.Target{Key: lookup.Canonical, Given: lookup.Input}); err != nil {
			return err
		}
	}
	return v.absent(r, lookup)
}

// absent is the answer for a name that nothing has. An operator is told what he may have meant, a session nothing.
func (v viewer) absent(r core.Reader, lookup key.Lookup) error {
	if !v.operator {
		return notFound(lookup.Input)
	}
	near, err := nearNames(r, lookup)
	switch {
	case err != nil:
		return err
	case len(near) > 0:
		return core.Errorf(core.CodeNotFound, "no session %q: did you mean %s?", lookup.Input, strings.Join(near, " or "))
	}
	return core.Errorf(core.CodeNotFound, "no session %q: give a key or a sessionId; `cordboard list` shows them", lookup.Input)
}

// send is the send policy's verdict on a session.
func (e *Engine) send(s *core.Session) core.Verdict { return e.rules.MaySend(policy.SendingTo(s)) }

// sendOut is its verdict on a text of a session that goes to a route: where that is another channel than the session's own by now, both
// must be allowed.
func (e *Engine) sendOut(s *core.Session, route core.DeliveryContext) core.Verdict {
	asked := policy.SendingTo(s)
	verdict := e.rules.MaySend(asked)
	if !verdict.Allowed || route.Channel == "" {
		return verdict
	}
	asked.Channel = route.Channel
	return e.rules.MaySend(asked)
}
