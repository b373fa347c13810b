package engine

import (
	"encoding/json"
	"strings"

	"cordboard/core"
	"cordboard/core/config"
	"cordboard/core/tool"
)

// The life of a run, as transactions: enqueue, begin, append, finish. What happens in memory because of them is in drive.go.

// effects are what a transaction does to the running engine once it is committed.
type effects struct {
	queued []core.Run // to be put in line
	ended  []core.Run // whoever waits for them is to be told
	cut    []core.Run // to be taken out of line, or their turn to be ended
	due    bool       // a delivery is due
	holds  bool       // what is held has changed

	blocked []core.Delivery // texts that the send policy did not let out
	chore   bool            // something else than a delivery is due

	answered []string               // ids of runs that the operator's reply has ended: their turn is over
	chosen   []chosen               // answers to requests for permission
	letGo    []core.DeliveryContext // threads that the channels are to be told of
}

// openCall is a tool call whose result is not in the transcript yet.
type openCall struct {
	id, name string
	params   json.RawMessage
}

// stored is the call as the transcript keeps it.
func (c openCall) stored() openCall {
	c.params = tool.Stored(c.name, c.params)
	return c
}

// ending is how a run came to its end.
type ending struct {
	outcome core.RunOutcome
	cause   string // of an outcome other than ok
	text    string // said since the last tool call
	thought string // likewise
	open    []openCall
	usage   *core.Usage
	model   string // that answered in place of the run's; "" = the run's own did
	silent  bool   // no agent was there to say anything: no final message
}

// enqueue writes a queued run; whoever calls it has asked every policy (engine.md §1).
func (e *Engine) enqueue(tx core.Tx, fx *effects, r core.Run, s core.Session, now int64) (core.Run, error) {
	r.State, r.QueuedAt, r.SessionKey = core.RunQueued, now, s.Key
	r.Lane = laneOf(r.Kind, &s)
	if r.Model == "" {
		r.Model = e.modelOf(&s)
	}
	s.UpdatedAt = max(s.UpdatedAt, now)
	if r.Kind != core.RunNote && r.Kind != core.RunAnnounce {
		s.ArchivedAt = 0 // a message brings an archived session back (session-tools.md §8)
	}
	if err := tx.PutSession(s); err != nil {
		return r, err
	}
	fx.queued = append(fx.queued, r)
	return r, tx.PutRun(r)
}

func laneOf(kind core.RunKind, s *core.Session) string {
	switch kind {
	case core.RunTurn, core.RunAnnounce, core.RunNote:
		return laneExchange
	}
	if isSubagent(s) {
		return laneSubagent
	}
	return laneMain
}

// modelOf is the model a run of a session uses: the session's own, else its agent's; none where no model of ours answers.
func (e *Engine) modelOf(s *core.Session) string {
	agent, _ := e.config.Agent(e.names.AgentOf(s.Key))
	if s.Model != "" && s.ModelProvider != "" {
		return agentModel(&agent, s.ModelProvider+"/"+s.Model)
	}
	return agentModel(&agent, agent.Model.Primary)
}

// agentModel is the model that an agent is configured with, as far as its runtime uses one: a person, a client or a program of its own does
// not, and a command is told only of one that somebody chose.
func agentModel(a *config.Agent, model string) string {
	switch a.Runtime.Type {
	case config.RuntimeManual, config.RuntimeExternal, config.RuntimeACP:
		return ""
	case config.RuntimeExec:
		if model == config.EchoModel {
			return ""
		}
	}
	return model
}

// begin starts a queued run: its message joins the transcript and the session is its own until it ends. ok is false when it is no longer
// queued, or the session has a live run.
func (e *Engine) begin(tx core.Tx, id, owner string, now int64) (run core.Run, s core.Session, ok bool, err error) {
	run, ok, err = tx.Run(id)
	if err != nil || !ok || run.State != core.RunQueued {
		return run, s, false, err
	}
	if s, ok, err = tx.Session(run.SessionKey); err != nil || !ok || s.LiveRun != "" {
		return run, s, false, err
	}
	first, err := e.say(tx, &s, userLine(&run, now))
	if err != nil {
		return run, s, false, err
	}
	run.State, run.StartedAt, run.Owner, run.Fence = core.RunRunning, now, owner, tx.Rev()
	run.SessionID, run.FirstSeq, run.LastSeq = s.SessionID, first, first
	stored := run
	stored.Message = "" // it is in the transcript now
	s.LiveRun, s.Asks, s.UpdatedAt = id, e.asks(&run, &s), max(s.UpdatedAt, now)
	if err := tx.PutSession(s); err != nil {
		return run, s, false, err
	}
	return run, s, true, tx.PutRun(stored)
}

// say appends lines to a session's current transcript and returns the seq of the first.
func (e *Engine) say(tx core.Tx, s *core.Session, lines ...line) (first uint64, err error) {
	messages := make([]core.Message, len(lines))
	for i, l := range lines {
		if messages[i], err = l.message(); err != nil {
			return 0, err
		}
	}
	if _, ok, err := tx.Generation(s.SessionID); err != nil {
		return 0, err
	} else if !ok {
		if err := tx.PutGeneration(core.Generation{
			ID: s.SessionID, SessionID: s.SessionID, Key: s.Key, Agent: e.names.AgentOf(s.Key), State: core.GenerationCurrent, CreatedAt: messages[0].At,
		}); err != nil {
			return 0, err
		}
	}
	first, _, err = tx.Append(s.SessionID, messages...)
	return first, err
}

// held returns a running run if it is still the one that was begun: a run that has ended, or was begun again, lets nobody write
// (engine.md §1).
func held(tx core.Tx, id string, fence core.Rev) (core.Run, core.Session, error) {
	run, ok, err := tx.Run(id)
	if err != nil {
		return run, core.Session{}, err
	}
	if !ok || run.State != core.RunRunning || run.Fence != fence {
		return run, core.Session{}, errFenced
	}
	s, ok, err := tx.Session(run.SessionKey)
	if err == nil && !ok {
		err = errFenced
	}
	return run, s, err
}

var errFenced = core.Errorf(core.CodeConflict, "the run has ended: nothing more is written for it")

// appendTo adds lines of a running run to its transcript and returns the seq of the last.
func (e *Engine) appendTo(tx core.Tx, id string, fence core.Rev, lines ...line) (last uint64, err error) {
	run, s, err := held(tx, id, fence)
	if err != nil {
		return 0, err
	}
	first, err := e.say(tx, &s, lines...)
	if err != nil {
		return 0, err
	}
	run.LastSeq = first + uint64(len(lines)) - 1
	return run.LastSeq, tx.PutRun(run)
}

// finish ends a running run: an error result for each open tool call, the final message, the freed session and, in the same
// transaction, the next step of its exchange.
func (e *Engine) finish(tx core.Tx, fx *effects, id string, fence core.Rev, end ending, now int64) error {
	run, s, err := held(tx, id, fence)
	if err != nil {
		return err
	}
	if end.model != "" {
		run.Model = end.model
	}
	var lines []line
	for _, call := range end.open {
		lines = append(lines, resultLine(call, "the run ended before this call was answered", true, now))
	}
	if run.Kind != core.RunNote && !end.silent { // a note is its message and nothing more
		lines = append(lines, finalLine(&run, end, now))
	}
	if len(lines) > 0 {
		first, err := e.say(tx, &s, lines...)
		if err != nil {
			return err
		}
		run.LastSeq = first + uint64(len(lines)) - 1
	}
	endRun(&run, end, now)
	release(&s, &run, end.silent, now)
	played := run.Kind != core.RunNote && !end.silent
	if _, known := e.config.ModelNamed(run.Model); known && played {
		e.setWindow(&s, run.Model)
	}
	if err := tx.PutSession(s); err != nil {
		return err
	}
	if played {
		if err := e.count(tx, &run, now); err != nil {
			return err
		}
	}
	if err := tx.PutRun(run); err != nil {
		return err
	}
	fx.ended = append(fx.ended, run)
	reply, err := e.replyOf(tx, &run)
	if err != nil {
		return err
	}
	if err := e.answer(tx, fx, &run, &s, reply, now); err != nil {
		return err
	}
	if err := e.subagentEnded(tx, fx, run, reply, now); err != nil {
		return err
	}
	return e.advance(tx, fx, run, reply, now)
}

func endRun(run *core.Run, end ending, now int64) {
	run.State, run.Outcome, run.Error, run.EndedAt = core.RunEnded, end.outcome, end.cause, now
	run.Usage, run.WaitingOn, run.Process = end.usage, "", nil
}

// release gives the session back and tells on its row how the run ended.
func release(s *core.Session, run *core.Run, silent bool, now int64) {
	s.LiveRun, s.Asks, s.UpdatedAt = "", false, max(s.UpdatedAt, now)
	if run.Kind == core.RunNote {
		return // no agent ran
	}
	aborted := run.Outcome == core.OutcomeAborted || run.Outcome == core.OutcomeInterrupted
	s.LastOutcome = run.Outcome
	if aborted || run.Outcome == core.OutcomeOK {
		s.AbortedLastRun = &aborted
	}
	if silent {
		return
	}
	sent := true
	s.SystemSent = &sent
	if run.Usage == nil {
		return
	}
	total := run.Usage.Input + run.Usage.Output
	if s.TotalTokens != nil && !s.TokensStale {
		total += *s.TotalTokens
	}
	s.TotalTokens, s.TokensStale = &total, false
}

// discard ends a run that has not begun; it keeps its message and shows how it ended.
func (e *Engine) discard(tx core.Tx, fx *effects, run core.Run, end ending, now int64) error {
	endRun(&run, end, now)
	if err := tx.PutRun(run); err != nil {
		return err
	}
	fx.ended = append(fx.ended, run)
	if err := e.subagentEnded(tx, fx, run, "", now); err != nil {
		return err
	}
	return e.advance(tx, fx, run, "", now)
}

// replyOf is the text of an ended run's last assistant message, over all its text blocks; never an older one.
func (e *Engine) replyOf(r core.Reader, run *core.Run) (reply string, err error) {
	if run.FirstSeq == 0 {
		return "", nil
	}
	err = r.Messages(run.SessionID, core.SeqRange{After: run.FirstSeq - 1, Before: run.LastSeq + 1, Backward: true}, func(m *core.Message) bool {
		if m.Role != core.RoleAssistant {
			return true
		}
		var parts []string
		for b := range core.Blocks(m.Raw) {
			if b.Type == "text" {
				parts = append(parts, strings.Clone(b.Text))
			}
		}
		reply = strings.Join(parts, "")
		return false
	})
	return reply, err
}

// advance moves the exchange a run belonged to, if any.
func (e *Engine) advance(tx core.Tx, fx *effects, run core.Run, reply string, now int64) error {
	if run.ExchangeID == "" {
		return nil
	}
	x, ok, err := tx.Exchange(run.ExchangeID)
	if err != nil || !ok {
		return err
	}
	for {
		out := step(x, run, reply, e.external(run.SessionKey))
		x = out.exchange
		x.UpdatedAt = now
		if out.announce != "" {
			if x, err = e.announce(tx, fx, x, run, out.announce, now); err != nil {
				return err
			}
		}
		if err := tx.PutExchange(x); err != nil || out.next == nil {
			return err
		}
		refused, err := e.enqueueStep(tx, fx, x, *out.next, now)
		if err != nil || refused == nil {
			return err
		}
		// A step that may not run counts as one that failed (session-tools.md §7): a turn gives way to the announce, an announce ends it.
		run = core.Run{Kind: out.next.kind, Outcome: core.RunOutcome(refused.Code), Error: refused.Message}
		reply = ""
	}
}

// enqueueStep queues the next step of an exchange, or says why it may not run.
func (e *Engine) enqueueStep(tx core.Tx, fx *effects, x core.Exchange, o order, now int64) (refused *core.Error, err error) {
	if _, known, err := tx.Run(o.id); known || err != nil {
		return nil, err // derived ids: the same step is never queued twice
	}
	s, ok, err := tx.Session(o.session)
	if err != nil {
		return nil, err
	}
	if !ok {
		return core.Errorf(core.CodeNotFound, "the session %s is gone", o.session), nil
	}
	if refused := e.mayRun(&s); refused != nil {
		return refused, nil
	}
	_, err = e.enqueue(tx, fx, core.Run{
		ID: o.id, Kind: o.kind, RequesterKey: o.source, ChainID: x.ChainID, Hop: x.Hop, ExchangeID: x.ID, Message: o.message,
		Provenance: &core.Provenance{Kind: "inter_session", SourceSessionKey: o.source, SourceTool: tool.SessionsSend},
	}, s, now)
	return nil, err
}

// answers reports whether somebody answers for an agent: one of agents.list, where there is such a list. Without one the offline runtime
// answers for all, so that a store can be tried out without a config.
func (e *Engine) answers(agent string) bool {
	_, configured := e.config.Agent(agent)
	return configured || !e.config.Listed()
}

func (e *Engine) nobodyAnswers(s *core.Session) *core.Error {
	return core.Errorf(core.CodeUnsupported, "nobody answers for %s: its agent %q is not configured (any more)", s.Key, e.names.AgentOf(s.Key)).
		Because("agents.list")
}

// mayRun asks whether a run may be put into a session: nobody answers for a mirrored one, and the send policy may deny it.
func (e *Engine) mayRun(s *core.Session) *core.Error {
	if s.Mirrored() {
		return core.Errorf(core.CodeMirrored,
			"session %q belongs to the imported directory %s, so nobody here writes into it or answers in its name: `cordboard adopt KEY` cuts it from "+
				"there, and its agent answers here from then on", s.Key, s.Source)
	}
	if !e.answers(e.names.AgentOf(s.Key)) {
		return e.nobodyAnswers(s)
	}
	if verdict := e.send(s); !verdict.Allowed {
		return core.Errorf(core.CodeSendDenied, "%s", verdict.Message).Because(verdict.ConfigKey)
	}
	return nil
}
