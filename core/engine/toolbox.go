package engine

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"cordboard/core"
	"cordboard/core/config"
	"cordboard/core/key"
	"cordboard/core/tool"
)

// The tools of a session: the session tools, and for agents that are played here those of mcp.servers. What a sub-agent may not use it is
// not shown, and does not get when it asks for it all the same (session-tools.md §8).

// isSubagent reports whether a session was spawned, by its lineage or by its key.
func isSubagent(s *core.Session) bool { return s.SpawnedBy != "" || key.IsSubagent(s.Key) }

// mayUse refuses a tool that a session has no right to.
func (e *Engine) mayUse(s *core.Session, name string, ofSession bool) *core.Error {
	if !isSubagent(s) {
		return nil
	}
	depth := max(1, s.SpawnDepth)
	v := e.rules.SubagentToolAt(depth, name, ofSession)
	if name == tool.SessionsSpawn && ofSession {
		v = e.rules.MaySpawnAt(s.Key, depth)
	}
	if !v.Allowed {
		return core.Errorf(core.CodeForbidden, "%s", v.Message).Because(v.ConfigKey)
	}
	return nil
}

// mayCall is mayUse for a session tool that an actor calls. The operator has them all. A session that was deleted under whoever speaks for
// it has none. sessions_spawn asks the rest by itself, when it knows how deep the caller is.
func (e *Engine) mayCall(ctx context.Context, actor core.Actor, name string) error {
	if actor.Kind != core.ActorSession {
		return nil
	}
	return e.store.View(ctx, func(r core.Reader) error {
		if _, err := e.callerIn(r, actor.Session); err != nil || name == tool.SessionsSpawn {
			return err
		}
		return e.mayCallIn(r, actor.Session, name)
	})
}

func (e *Engine) mayCallIn(r core.Reader, sessionKey, name string) error {
	s, err := rowIn(r, sessionKey)
	if err != nil {
		return err
	}
	if refused := e.mayUse(&s, name, true); refused != nil {
		return refused
	}
	return nil
}

// rowOf reads a session's row; one that is not there yet has only its key.
func (e *Engine) rowOf(ctx context.Context, sessionKey string) (s core.Session, err error) {
	err = e.store.View(ctx, func(r core.Reader) error {
		s, err = rowIn(r, sessionKey)
		return err
	})
	return s, err
}

func rowIn(r core.Reader, sessionKey string) (core.Session, error) {
	s, ok, err := r.Session(sessionKey)
	if !ok {
		s = core.Session{Key: sessionKey}
	}
	return s, err
}

// sessionTools are the session tools that a session may use.
func (e *Engine) sessionTools(s *core.Session) []core.ToolSpec {
	return slices.DeleteFunc(tool.Tools(), func(spec core.ToolSpec) bool { return e.mayUse(s, spec.Name, true) != nil })
}

// toolsOf are the tools that a runtime may offer a session's model. Others than echo and openai agents bring their own.
func (e *Engine) toolsOf(ctx context.Context, s *core.Session) []core.ToolSpec {
	specs := e.sessionTools(s)
	switch e.playedBy(s.Key) {
	case config.RuntimeEcho, config.RuntimeOpenAI:
	default:
		return specs
	}
	if e.options.Toolbox == nil {
		return specs
	}
	for _, spec := range e.options.Toolbox.Tools(ctx) {
		if e.mayUse(s, spec.Name, false) == nil {
			specs = append(specs, spec)
		}
	}
	return specs
}

// callFor runs a tool as a run's session. A refusal, and a server that is not there, are the tool's answer: the model reads why.
func (e *Engine) callFor(ctx context.Context, run *core.Run, name string, params json.RawMessage) (answer json.RawMessage, failed bool, err error) {
	if box := e.options.Toolbox; box != nil && box.Has(name) {
		return e.callServer(ctx, run, name, params)
	}
	b := &board{Engine: e, actor: core.Actor{Kind: core.ActorSession, Session: run.SessionKey}, within: run}
	result, err := b.Call(ctx, core.ToolCall{Tool: name, Params: params})
	return result.Body, result.Refused != nil, err
}

func (e *Engine) callServer(ctx context.Context, run *core.Run, name string, params json.RawMessage) (answer json.RawMessage, failed bool, err error) {
	s, err := e.rowOf(ctx, run.SessionKey)
	if err != nil {
		return nil, false, err
	}
	text, failed := "", false
	if refused := e.mayUse(&s, name, false); refused != nil {
		err = refused
	} else {
		text, failed, err = e.options.Toolbox.Call(ctx, name, params)
	}
	if refused, ok := errors.AsType[*core.Error](err); ok {
		return tool.Refusal(refused), true, nil
	}
	return json.RawMessage(text), failed, err
}
