package engine

import (
	"errors"
	"strings"
	"unicode/utf8"

	"cordboard/core"
	"cordboard/core/config"
)

// errAnswered ends the turn of a run that the operator's reply has ended in the store already.
var errAnswered = errors.New("answered by the operator")

// asks reports whether a run waits on the operator from its begin to its end, because he plays its session's agent (engine.md §3).
func (e *Engine) asks(run *core.Run, s *core.Session) bool {
	return run.Kind != core.RunNote && e.playedBy(s.Key) == config.RuntimeManual
}

// playedBy is the type of the runtime that plays a session's agent.
func (e *Engine) playedBy(sessionKey string) string {
	agent, _ := e.config.Agent(e.names.AgentOf(sessionKey))
	return agent.Runtime.Type
}

// reply answers a run that waits on the operator: its text is the run's final message, and the run ends ok, in the transaction that
// records who said so. A reply that has been taken is therefore never lost, and of two only the first is.
func (b *board) reply(r core.Reply) (verb, error) {
	v := verb{name: "reply", target: r.Run, do: func(a *act) error { return b.answerFor(a, r) }}
	switch {
	case b.drive == nil:
		return v, b.runsHere("answered")
	case strings.TrimSpace(r.Text) == "":
		return v, core.Errorf(core.CodeInvalidParams, "the reply is blank: write what the agent answers, or abort the run")
	case !utf8.ValidString(r.Text):
		return v, core.Errorf(core.CodeInvalidParams, "the reply is not UTF-8")
	}
	return v, nil
}

func (b *board) answerFor(a *act, r core.Reply) error {
	run, err := b.runToAnswer(a, r.Run)
	if err != nil {
		return err
	}
	a.receipt.Key, a.receipt.Run, a.after = run.SessionKey, run.ID, map[string]string{"run": run.ID}
	if err := a.unchanged(run.SessionKey); err != nil {
		return err
	}
	a.fx.answered = append(a.fx.answered, run.ID)
	return b.finish(a, a.fx, run.ID, run.Fence, ending{outcome: core.OutcomeOK, text: r.Text}, a.now)
}

// runToAnswer finds the run that a reply names, or says why it takes none.
func (b *board) runToAnswer(r core.Reader, id string) (core.Run, error) {
	run, ok, err := r.Run(id)
	switch {
	case err != nil:
		return run, err
	case !ok:
		return run, core.Errorf(core.CodeNotFound, "there is no run %q to answer", id)
	case run.State == core.RunEnded:
		return run, core.Errorf(core.CodeConflict, "run %s has ended already: %s", run.ID, run.Outcome)
	}
	s, _, err := r.Session(run.SessionKey)
	switch {
	case err != nil:
		return run, err
	case run.State == core.RunQueued && b.asks(&run, &s):
		return run, core.Errorf(core.CodeConflict, "run %s is still queued: it can be answered once it runs", run.ID)
	case !b.asks(&run, &s) || s.LiveRun != run.ID:
		return run, core.Errorf(core.CodeConflict, "run %s does not wait for a reply: the runtime %q plays its agent, and only manual is answered by hand",
			run.ID, b.playedBy(run.SessionKey)).Because("agents.list[].runtime").Accept(config.RuntimeManual)
	}
	return run, nil
}
