package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"cordboard/core"
	"cordboard/core/tool"
)

// placed is a sessions_send that has been queued.
type placed struct {
	run      core.Run
	shown    string // the target's key as the caller sees it
	exchange string // id, "" when there is no loop and no announce
	caller   string // the caller's live run, "" when it has none
	cycle    []string
}

// sessionsSend is sessions_send (session-tools.md §6): admitted and queued in one transaction, then waited for without holding a slot.
func (b *board) sessionsSend(ctx context.Context, actor core.Actor, params json.RawMessage) (json.RawMessage, error) {
	if actor.Kind != core.ActorSession {
		return nil, core.Errorf(core.CodeForbidden, "sessions_send speaks for a session: say which with --as KEY, or send as the operator with chat.send")
	}
	asked, _, err := tool.DecodeSend(params)
	if err != nil {
		return nil, err
	}
	if b.drive == nil {
		return nil, core.Errorf(core.CodeUnsupported, "nothing is sent: no engine runs agents here")
	}
	var p placed
	runID, exchangeID, chainID := b.options.NewID(), b.options.NewID(), b.options.NewID()
	if _, err := b.write(ctx, func(tx core.Tx, fx *effects) error {
		p = placed{}
		return b.place(tx, fx, &p, actor, asked, runID, exchangeID, chainID)
	}); err != nil {
		return nil, err
	}
	answer := tool.SendAnswer{RunID: runID, SessionKey: p.shown, ExchangeID: p.exchange}
	switch {
	case asked.TimeoutSeconds == 0:
		return answer.Accepted(), nil
	case p.cycle != nil:
		return answer.TimedOut("wait_cycle", fmt.Sprintf("the message is queued, and not waited for: the wait would close a circle (%s)", circle(p.cycle))), nil
	}
	run, err := b.waitAway(ctx, actor.Session, p, time.Duration(asked.TimeoutSeconds)*time.Second)
	if err != nil {
		return nil, err
	}
	return b.sendAnswer(ctx, answer, run)
}

func circle(sessions []string) string {
	text := ""
	for _, s := range sessions {
		text += s + " → "
	}
	return text + sessions[0]
}

// place admits a send: the target must be in reach and there, somebody must answer for it, its send policy allow it and the chain be
// short enough. A refusal stores nothing.
func (b *board) place(tx core.Tx, fx *effects, p *placed, actor core.Actor, asked tool.Send, runID, exchangeID, chainID string) error {
	v, err := b.viewer(tx, actor, "")
	if err != nil {
		return err
	}
	found, err := b.resolve(tx, v, asked.SessionKey)
	if err != nil {
		return err
	}
	if !found.exists {
		return notFound(asked.SessionKey)
	}
	target := found.session
	if refused := b.mayRun(&target); refused != nil {
		return refused
	}
	caller, _, err := tx.Session(actor.Session)
	if err != nil {
		return err
	}
	now := b.now()
	run := core.Run{
		ID: runID, Kind: core.RunSend, RequesterKey: actor.Session, ChainID: chainID, Message: asked.Message,
		Provenance: &core.Provenance{
			Kind: "inter_session", SourceSessionKey: actor.Session, SourceChannel: caller.LastChannel, SourceTool: tool.SessionsSend, Via: viaOf(b.actor, actor),
		},
	}
	if err := b.join(tx, p, &run, &caller, &target, asked.TimeoutSeconds > 0); err != nil {
		return err
	}
	if target.SpawnedBy != actor.Session { // to one's own child it is round 1 only
		run.ExchangeID, p.exchange = exchangeID, exchangeID
		if err := tx.PutExchange(core.Exchange{
			ID: exchangeID, RequesterKey: actor.Session, TargetKey: target.Key, Channel: caller.LastChannel, ChainID: run.ChainID, Hop: run.Hop,
			Request: asked.Message, Turns: b.config.Session.AgentToAgent.MaxPingPongTurns, Announce: b.config.Session.AgentToAgent.Announce,
			State: core.ExchangePrimary, CreatedAt: now, UpdatedAt: now,
		}); err != nil {
			return err
		}
	}
	p.shown = b.names.Display(target.Key, v.agent)
	p.run, err = b.enqueue(tx, fx, run, target, now)
	return err
}

// viaOf marks what a person sends as a session.
func viaOf(opened, caller core.Actor) string {
	if opened.Kind == core.ActorOperator && caller.Kind == core.ActorSession {
		return "operator"
	}
	return ""
}

// join makes a send part of the run its session is in, whoever brings the call: same chain, one hop further, and the wait recorded there
// unless it would close a circle (engine.md §1).
func (b *board) join(tx core.Tx, p *placed, run *core.Run, caller, target *core.Session, waits bool) error {
	if caller.LiveRun == "" {
		return nil
	}
	live, ok, err := tx.Run(caller.LiveRun)
	if err != nil || !ok {
		return err
	}
	p.caller = live.ID
	run.ParentRunID, run.Hop = live.ID, live.Hop+1
	if live.ChainID != "" {
		run.ChainID = live.ChainID
	} else {
		live.ChainID = run.ChainID
	}
	if most := b.config.Session.AgentToAgent.MaxHops; run.Hop > most {
		return core.Errorf(core.CodeHopLimit, "this chain of sends is %d hops long already, the most that session.agentToAgent.maxHops allows", most).
			Because("session.agentToAgent.maxHops")
	}
	if !waits {
		return tx.PutRun(live)
	}
	if p.cycle, err = waitCycle(tx, caller.Key, target.Key); err != nil {
		return err
	}
	if p.cycle == nil {
		live.WaitingOn = run.ID
	}
	return tx.PutRun(live)
}

// waitCycle follows who waits for whom from the target: liveRun → waitingOn → its session, and so on. Reaching the caller means that the
// wait would never end; the circle is returned, beginning with the caller.
func waitCycle(r core.Reader, caller, target string) ([]string, error) {
	path := []string{caller}
	for at := target; ; {
		if at == caller {
			return path, nil
		}
		path = append(path, at)
		s, ok, err := r.Session(at)
		if err != nil || !ok || s.LiveRun == "" {
			return nil, err
		}
		live, ok, err := r.Run(s.LiveRun)
		if err != nil || !ok || live.WaitingOn == "" {
			return nil, err
		}
		awaited, ok, err := r.Run(live.WaitingOn)
		if err != nil || !ok || awaited.State == core.RunEnded || len(path) > maxCycle {
			return nil, err
		}
		at = awaited.SessionKey
	}
}

const maxCycle = 1000

// waitAway waits for a run with the caller's slot given up, and takes the slot back before it returns.
func (b *board) waitAway(ctx context.Context, session string, p placed, limit time.Duration) (core.Run, error) {
	if p.caller == "" {
		return b.wait(ctx, p.run.ID, limit)
	}
	d := b.drive
	d.mu.Lock()
	gave := d.queue.pause(session)
	d.mu.Unlock()
	d.nudge()
	run, err := b.wait(ctx, p.run.ID, limit)
	if err == nil && run.State != core.RunEnded {
		err = b.stopWaiting(ctx, p.caller)
	}
	if !gave { // whoever gave the slot up takes it back
		return run, err
	}
	d.mu.Lock()
	granted := d.queue.resume(session)
	d.mu.Unlock()
	select {
	case <-granted:
	case <-ctx.Done():
		return run, ctx.Err()
	}
	return run, err
}

// stopWaiting takes back the note of a wait that ran out. A run that has ended ends the wait for it by itself.
func (b *board) stopWaiting(ctx context.Context, runID string) error {
	_, err := b.store.Update(ctx, func(tx core.Tx) error {
		run, ok, err := tx.Run(runID)
		if err != nil || !ok || run.WaitingOn == "" {
			return err
		}
		run.WaitingOn = ""
		return tx.PutRun(run)
	})
	return err
}

// sendAnswer tells how a waited-for run stands.
func (b *board) sendAnswer(ctx context.Context, answer tool.SendAnswer, run core.Run) (json.RawMessage, error) {
	switch {
	case run.State == core.RunEnded && run.Outcome == core.OutcomeOK:
		var reply string
		err := b.store.View(ctx, func(r core.Reader) (err error) {
			reply, err = b.replyOf(r, &run)
			return err
		})
		return answer.OK(reply), err
	case run.State == core.RunEnded:
		return answer.Failed(string(run.Outcome), fmt.Sprintf("the run ended %s: %s", run.Outcome, run.Error)), nil
	}
	now := b.now()
	if run.State == core.RunQueued {
		return answer.TimedOut("", fmt.Sprintf(
			"no reply yet: the message is accepted and has been queued for %s behind other runs of that session; it will run, and sessions_history will hold the reply. Do not send it again",
			seconds(now-run.QueuedAt))), nil
	}
	return answer.TimedOut("", fmt.Sprintf(
		"no reply yet: the message is delivered (queued %s, running for %s) and the run goes on; sessions_history will hold the reply. Do not send it again",
		seconds(run.StartedAt-run.QueuedAt), seconds(now-run.StartedAt))), nil
}

func seconds(ms int64) string {
	return (time.Duration(ms) * time.Millisecond).Round(100 * time.Millisecond).String()
}
