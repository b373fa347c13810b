package engine

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"cordboard/core"
)

// sink takes what one run's runtime produces.
type sink struct {
	engine *Engine
	run    core.Run

	mu      sync.Mutex
	text    voice  // since the run's last line in the transcript
	thought voice  // likewise
	after   uint64 // seq of that line
	open    []openCall
	calls   int
	closed  bool
	spent   error           // set once the run has made more tool calls than it may: it fails, whatever its runtime does
	stop    func(why error) // ends the turn

	asking  int           // requests for permission that wait (approvals.go)
	askedAt time.Time     // from when on
	away    time.Duration // that was waited so before
}

// shut says why nothing more is taken, nil while it is. The caller holds mu.
func (s *sink) shut() error {
	if s.closed {
		return errFenced
	}
	return s.spent
}

// Text implements core.Sink.
func (s *sink) Text(delta string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.shut(); err != nil {
		return err
	}
	s.text.add(delta)
	s.engine.floor.rustle(s.run.SessionKey)
	return nil
}

// Think implements core.Sink.
func (s *sink) Think(delta string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.shut(); err != nil {
		return err
	}
	s.thought.add(delta)
	s.engine.floor.rustle(s.run.SessionKey)
	return nil
}

// Call implements core.Sink: call and result are in the transcript as they happen.
func (s *sink) Call(ctx context.Context, id, name string, params json.RawMessage) (answer json.RawMessage, failed bool, err error) {
	call, said, thought, err := s.opened(id, name, params)
	if err != nil {
		return nil, false, err
	}
	e := s.engine
	if err := s.write(ctx, callLine(&s.run, thought, said, call.stored(), e.now()), len(said), len(thought)); err != nil {
		return nil, false, err
	}
	answer, failed, err = e.callFor(ctx, &s.run, name, params)
	if err != nil {
		return nil, false, err
	}
	if err := s.write(ctx, resultLine(call, string(answer), failed, e.now()), 0, 0); err != nil {
		return nil, false, err
	}
	s.settled(id)
	return answer, failed, nil
}

// Began implements core.Sink.
func (s *sink) Began(ctx context.Context, id, name string, params json.RawMessage) error {
	call, said, thought, err := s.opened(id, name, params)
	if err != nil {
		return err
	}
	return s.write(ctx, callLine(&s.run, thought, said, call.stored(), s.engine.now()), len(said), len(thought))
}

// Ended implements core.Sink.
func (s *sink) Ended(ctx context.Context, id, answer string, failed bool) error {
	s.mu.Lock()
	at := slices.IndexFunc(s.open, func(c openCall) bool { return c.id == id })
	if at < 0 || s.closed {
		s.mu.Unlock()
		return core.Errorf(core.CodeConflict, "the tool call %q is not open: it never began, or was answered", id)
	}
	call := s.open[at]
	s.mu.Unlock()
	if err := s.write(ctx, resultLine(call, answer, failed, s.engine.now()), 0, 0); err != nil {
		return err
	}
	s.settled(id)
	return nil
}

// write puts a line into the transcript. So many bytes of what was said and thought are in it: they are heard until then and not after.
func (s *sink) write(ctx context.Context, l line, said, thought int) error {
	var last uint64
	if _, err := s.engine.write(ctx, func(tx core.Tx, _ *effects) (err error) {
		last, err = s.engine.appendTo(tx, s.run.ID, s.run.Fence, l)
		return err
	}); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text.drop(said)
	s.thought.drop(thought)
	s.after = max(s.after, last)
	s.engine.floor.rustle(s.run.SessionKey)
	return nil
}

func (s *sink) opened(id, name string, params json.RawMessage) (call openCall, said, thought string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.shut(); err != nil {
		return call, "", "", err
	}
	if most := s.engine.config.Agents.Defaults.MaxToolCalls; s.calls >= most {
		s.spent = core.Errorf(core.CodeToolCalls, "the run made %d tool calls, the most that agents.defaults.maxToolCalls allows, and wanted to make another", most).
			Because("agents.defaults.maxToolCalls")
		s.stop(s.spent)
		return call, "", "", s.spent
	}
	s.calls++
	said, thought = s.text.take(), s.thought.take()
	if len(params) == 0 || !json.Valid(params) {
		params = json.RawMessage("{}")
	}
	call = openCall{id, name, params}
	s.open = append(s.open, call)
	return call, said, thought, nil
}

func (s *sink) settled(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open = slices.DeleteFunc(s.open, func(c openCall) bool { return c.id == id })
}

// ending closes the sink and says how the run ended: cause is why its context did, nil when the runtime returned by itself.
func (s *sink) ending(r core.TurnResult, err, cause error) ending {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	end := ending{outcome: core.OutcomeOK, text: s.text.take(), thought: s.thought.take(), open: slices.Clone(s.open), model: r.Model}
	if r.Usage != (core.Usage{}) {
		end.usage = &r.Usage
	}
	if s.spent != nil && errors.Is(cause, s.spent) {
		err = s.spent // whatever the runtime made of it
	}
	switch {
	case err == nil:
		return end
	case errors.Is(cause, errAborted):
		end.outcome = core.OutcomeAborted
	case errors.Is(cause, errLimit):
		end.outcome = core.OutcomeTimeout
	case errors.Is(cause, errInterrupted):
		end.outcome = core.OutcomeInterrupted
	default:
		end.outcome, cause = core.OutcomeError, err
	}
	end.cause = cause.Error()
	return end
}

// runtimeOf is who plays a session's agent.
func (e *Engine) runtimeOf(s *core.Session) (core.Runtime, error) {
	agent, _ := e.config.Agent(e.names.AgentOf(s.Key))
	if !e.answers(agent.ID) { // it was when the run was queued
		return nil, e.nobodyAnswers(s)
	}
	r, ok := e.options.Runtimes[agent.Runtime.Type]
	if !ok {
		return nil, core.Errorf(core.CodeUnsupported, "agent %q has the runtime %q, which is not there", agent.ID, agent.Runtime.Type).
			Because("agents.list[].runtime")
	}
	return r, nil
}

// turnOf gathers what a runtime is given.
func (e *Engine) turnOf(ctx context.Context, run core.Run, s core.Session) (core.Turn, error) {
	t := core.Turn{Run: run, Session: s, Tools: e.toolsOf(ctx, &s), History: e.historyBefore(ctx, run)}
	t.Token = func() string { return e.drive.token(&run) }
	t.Pass = func() (string, func()) { return e.drive.pass(&run) }
	t.Started = func(ctx context.Context, p core.Process) error { return e.started(ctx, &run, p) }
	var spawn *core.Spawn
	err := e.store.View(ctx, func(r core.Reader) (err error) {
		if run.ExchangeID == "" {
			t.Context = senderContext(&run)
		} else {
			x, ok, err := r.Exchange(run.ExchangeID)
			if err != nil {
				return err
			}
			if ok {
				t.Exchange, t.Context = &x, exchangeContext(&run, &x)
			}
		}
		if s.SpawnRun != "" {
			spawn, err = e.subagentTurn(r, &t)
		}
		return err
	})
	if err == nil {
		e.filesForTurn(spawn, &t)
	}
	return t, err
}

const historyPage = 64 // messages read in one snapshot while a runtime walks back

// historyBefore walks the transcript before a run's message, newest first, a page a snapshot.
func (e *Engine) historyBefore(ctx context.Context, run core.Run) iter.Seq[core.Message] {
	return func(yield func(core.Message) bool) {
		before := run.FirstSeq
		for before > 1 {
			var page []core.Message
			err := e.store.View(ctx, func(r core.Reader) error {
				return r.Messages(run.SessionID, core.SeqRange{Before: before, Backward: true}, func(m *core.Message) bool {
					page = append(page, cloneMessage(m))
					return len(page) < historyPage
				})
			})
			if err != nil || len(page) == 0 {
				return
			}
			for _, m := range page {
				if m.Role != core.RoleEvent && !yield(m) {
					return
				}
				before = m.Seq
			}
		}
	}
}

// senderContext tells a model which agent writes, and from which channel; nothing when a person does.
func senderContext(run *core.Run) string {
	p := run.Provenance
	if p == nil || p.Kind != "inter_session" {
		return ""
	}
	from := "The message comes from the agent of session " + p.SourceSessionKey
	if p.SourceChannel != "" {
		from += " (channel " + p.SourceChannel + ")"
	}
	return from + ", not from a person. It is for session " + run.SessionKey + ".\n"
}

// exchangeContext tells a model what its turn is about: who writes, who answers, what was said.
func exchangeContext(run *core.Run, x *core.Exchange) string {
	var b strings.Builder
	add := func(parts ...string) {
		for _, p := range parts {
			b.WriteString(p)
		}
		b.WriteByte('\n')
	}
	add("Messages between agents. Requester: ", x.RequesterKey, ". Target: ", x.TargetKey, ".")
	switch {
	case x.RequesterKey == x.TargetKey:
		add("You are both: you wrote to your own session.")
	default:
		add("You are ", run.SessionKey, "; the other side is ", run.RequesterKey, ".")
	}
	switch run.Kind {
	case core.RunSend:
		b.WriteString(senderContext(run))
	case core.RunTurn:
		add("The message is the other agent's latest reply. Answer it, or answer exactly ", replySkip, " to end the conversation.")
	case core.RunAnnounce:
		add("The conversation has ended. Answer with what the people in your chat should be told, or exactly ", announceSkip, " for nothing.")
	}
	for _, part := range []struct{ label, text string }{{"Request", x.Request}, {"First reply", x.FirstReply}, {"Latest reply", x.LatestReply}} {
		if part.text != "" && run.Kind != core.RunSend {
			add(part.label, ":\n", part.text)
		}
	}
	return b.String()
}
