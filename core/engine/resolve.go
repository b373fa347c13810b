package engine

import (
	"context"
	"path/filepath"
	"strings"

	"cordboard/core"
	"cordboard/core/key"
)

// target is the transcript a caller named: a session with its current generation, an older generation of it, or one no session names.
type target struct {
	key        string       // session key; "" for a transcript of no known session
	session    core.Session // zero when there is no row
	exists     bool         // there is a row
	generation string       // the generation the name means; "" when the session has no transcript
}

// resolve finds the session or generation that input names for a viewer: alias, exact key, sessionId (session-tools.md §1).
//
// Nothing leaks existence (session-tools.md §3): a key out of scope is forbidden whether or not there is such a session, a sessionId out
// of scope is not found whether or not there is one.
func (e *Engine) resolve(r core.Reader, v viewer, input string) (target, error) {
	lookup, err := e.names.Lookup(input, v.agent)
	if err != nil {
		return target{}, err
	}
	for _, candidate := range lookup.Keys {
		session, ok, err := r.Session(candidate)
		if err != nil {
			return target{}, err
		}
		if !ok {
			continue
		}
		found := target{key: session.Key, session: session, exists: true, generation: session.SessionID}
		refused := v.refusal(found, lookup)
		if refused == nil || lookup.KeyShaped {
			return found, refused
		}
		// A hidden key that looks like a sessionId must not stand in front of one that the caller may use.
	}
	if lookup.KeyShaped {
		return target{}, v.missing(r, lookup)
	}
	return e.resolveID(r, v, lookup)
}

// resolveID takes the input for a sessionId, the id of an older generation, or the name of the file a transcript was read from.
func (e *Engine) resolveID(r core.Reader, v viewer, lookup key.Lookup) (target, error) {
	if own, ok, err := v.ownID(r, lookup.Input); ok || err != nil {
		return own, err
	}
	g, ok, err := generationNamed(r, lookup.Input)
	if err != nil {
		return target{}, err
	}
	if !ok {
		return target{}, v.absent(r, lookup)
	}
	found := target{key: g.Key, generation: g.ID}
	if g.Key != "" {
		if found.session, found.exists, err = r.Session(g.Key); err != nil {
			return target{}, err
		}
	}
	return found, v.refusal(found, lookup)
}

// ownID finds the caller itself or one of its children by sessionId. A generation names one session, and where two sessions of a source
// share a sessionId that may be a hidden one.
func (v viewer) ownID(r core.Reader, id string) (target, bool, error) {
	if v.operator {
		return target{}, false, nil
	}
	keys := []string{v.key}
	if err := r.Children(v.key, func(child string) bool {
		keys = append(keys, strings.Clone(child))
		return true
	}); err != nil {
		return target{}, false, err
	}
	for _, k := range keys {
		s, ok, err := r.Session(k)
		if err != nil {
			return target{}, false, err
		}
		if ok && s.SessionID == id && v.allows(s.Key, s.SpawnedBy) {
			return target{key: s.Key, session: s, exists: true, generation: id}, true, nil
		}
	}
	return target{}, false, nil
}

// generationNamed finds a generation by id or, since people copy names from a directory, by `<sessionId>.jsonl` with any suffix.
func generationNamed(r core.Reader, name string) (core.Generation, bool, error) {
	id, suffix, isFile := strings.Cut(name, ".jsonl")
	if !isFile {
		return r.Generation(name)
	}
	g, ok, err := r.Generation(id + strings.Replace(suffix, ".bak.", "."+string(core.GenerationBackup)+".", 1))
	if ok || err != nil {
		return g, ok, err
	}
	g, ok, err = r.Generation(id)
	return g, ok && filepath.Base(g.File) == name, err
}

func notFound(input string) error {
	return core.Errorf(core.CodeNotFound, "no session %q: give a key or a sessionId that sessions_list shows", input)
}

// caller resolves the session an actor acts as. It must exist, or be the main session of a configured agent, which comes into being by
// use (session-tools.md §1).
func (e *Engine) caller(ctx context.Context, input string) (resolved string, err error) {
	err = e.store.View(ctx, func(r core.Reader) error {
		resolved, err = e.callerIn(r, input)
		return err
	})
	return resolved, err
}

func (e *Engine) callerIn(r core.Reader, input string) (string, error) {
	found, err := e.resolve(r, e.operator(), input)
	switch {
	case err == nil && found.exists:
		return found.key, nil
	case err != nil && core.CodeOf(err) != core.CodeNotFound:
		return "", err
	}
	canonical := e.names.Canonical(input, "")
	if _, configured := e.config.Agent(e.names.AgentOf(canonical)); configured && e.names.IsMain(canonical) {
		return canonical, nil
	}
	return "", core.Errorf(core.CodeNotFound,
		"cannot act as %q: there is no such session, and it is not the main session of a configured agent", input)
}
