package engine

import (
	"context"
	"strings"

	"cordboard/core"
)

// hold keeps what is queued for a session, an agent's sessions or all from starting, or lets it go. It is stored, so that it holds after a
// restart too; what runs goes on.
func (b *board) hold(h core.Hold) (verb, error) {
	h.Session, h.Agent = strings.TrimSpace(h.Session), strings.ToLower(strings.TrimSpace(h.Agent))
	v := verb{name: "hold", target: holdName(h), do: func(a *act) error { return b.changeHold(a, h) }}
	if h.Release {
		v.name = "release"
	}
	_, configured := b.config.Agent(h.Agent)
	switch {
	case h.Session != "" && h.Agent != "":
		return v, core.Errorf(core.CodeInvalidParams, "hold names session %q and agent %q: one of them, or neither for all", h.Session, h.Agent).
			Accept("session", "agent", "")
	case h.Agent != "" && !configured && !h.Release:
		return v, core.Errorf(core.CodeInvalidParams, "agent %q is not configured: agents.list names those that are", h.Agent).Because("agents.list")
	}
	return v, nil
}

// holdName says whom a hold is of.
func holdName(h core.Hold) string {
	switch {
	case h.Session != "":
		return h.Session
	case h.Agent != "":
		return "agent " + h.Agent
	}
	return "all sessions"
}

func (b *board) changeHold(a *act, h core.Hold) error {
	if h.Session != "" {
		s, err := b.row(a, h.Session)
		if err != nil {
			return err
		}
		h.Session = s.Key
		if s.Held == h.Release {
			s.Held = !h.Release
			if err := a.PutSession(s); err != nil {
				return err
			}
		}
	}
	was, err := isHeld(a, h)
	if err != nil {
		return err
	}
	a.before, a.after = map[string]bool{"held": was}, map[string]bool{"held": !h.Release}
	a.fx.holds = true
	switch {
	case was == h.Release:
		undo := h
		undo.Release = !h.Release
		a.receipt.Undo = &core.Command{Hold: &undo}
	case was:
		a.receipt.Outcome = "was held already"
	default:
		a.receipt.Outcome = "was not held"
	}
	return a.PutHold(h)
}

// isHeld reports whether there is this very hold.
func isHeld(r core.Reader, h core.Hold) (found bool, err error) {
	err = r.Holds(func(stored *core.Hold) bool {
		found = stored.Session == h.Session && stored.Agent == h.Agent
		return !found
	})
	return found, err
}

// heldBy says in words what keeps a session's queue from starting, "" when nothing does.
func (e *Engine) heldBy(r core.Reader, sessionKey string) (why string, err error) {
	agent := e.names.AgentOf(sessionKey)
	err = r.Holds(func(h *core.Hold) bool {
		switch {
		case h.Session == "" && h.Agent == "":
			why = "all sessions are held"
		case h.Agent == agent:
			why = "the sessions of agent " + agent + " are held"
		case h.Session == sessionKey:
			why = "this session is held"
		}
		return why == ""
	})
	return why, err
}

func holdsOf(r core.Reader) (holds, error) {
	h := holds{agents: map[string]bool{}, sessions: map[string]bool{}}
	err := r.Holds(func(stored *core.Hold) bool {
		switch {
		case stored.Session != "":
			h.sessions[stored.Session] = true
		case stored.Agent != "":
			h.agents[stored.Agent] = true
		default:
			h.all = true
		}
		return true
	})
	return h, err
}

// readHolds tells the queue what the store says is held. Whoever changed that comes here afterwards, one after the other, so that the
// queue ends with what was committed last.
func (d *driver) readHolds(ctx context.Context) error {
	d.holding.Lock()
	defer d.holding.Unlock()
	var h holds
	err := d.engine.store.View(ctx, func(r core.Reader) (err error) {
		h, err = holdsOf(r)
		return err
	})
	if err != nil {
		return err
	}
	d.mu.Lock()
	d.queue.hold(h)
	d.mu.Unlock()
	d.nudge()
	return nil
}
