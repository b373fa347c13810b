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

// sent is what a sessions_send keeps under its key: whoever repeats it waits for the same run.
type sent struct {
	Run      string `json:"run"`
	Shown    string `json:"shown"`
	Exchange string `json:"exchange,omitempty"`
}

// sendIDs are made outside the transaction, which may run more than once.
type sendIDs struct{ run, exchange, chain string }

// sessionsSend is sessions_send (session-tools.md §6): admitted and queued in one transaction, then waited for without holding a slot.
func (b *board) sessionsSend(ctx context.Context, actor core.Actor, c core.ToolCall) (json.RawMessage, error) {
	if actor.Kind != core.ActorSession {
		return nil, core.Errorf(core.CodeForbidden, "sessions_send speaks for a session: say which with --as KEY, or send as the operator with chat.send")
	}
	asked, _, err := tool.DecodeSend(c.Params)
	if err != nil {
		return nil, err
	}
	if err := b.runsHere("sent"); err != nil {
		return nil, err
	}
	once, err := newOnce(actor, tool.SessionsSend, c.Key, asked)
	if err != nil {
		return nil, err
	}
	var p placed
	ids := sendIDs{b.options.NewID(), b.options.NewID(), b.options.NewID()}
	if _, err := b.write(ctx, func(tx core.Tx, fx *effects) error {
		if err := b.stillRuns(tx); err != nil {
			return err
		}
		var before sent
		if repeated, err := once.answered(tx, b.now(), &before); err != nil || repeated {
			return errFirst(err, b.placedBefore(tx, &p, actor, asked, before))
		}
		if err := b.place(tx, fx, &p, actor, asked, ids); err != nil {
			return err
		}
		if err := b.auditCall(tx, actor, tool.SessionsSend, p.run.SessionKey, map[string]string{"run": p.run.ID}); err != nil {
			return err
		}
		return once.keep(tx, b.now(), sent{p.run.ID, p.shown, p.exchange})
	}); err != nil {
		return nil, err
	}
	answer := tool.SendAnswer{RunID: p.run.ID, SessionKey: p.shown, ExchangeID: p.exchange}
	switch {
	case asked.TimeoutSeconds == 0:
		return answer.Accepted(), nil
	case p.cycle != nil:
		return answer.TimedOut("wait_cycle", fmt.Sprintf("the message is queued, and not waited for: the wait would close a circle (%s)", circle(p.cycle))), nil
	}
	run, full, err := b.waitAway(ctx, actor.Session, p, time.Duration(asked.TimeoutSeconds)*time.Second)
	switch {
	case err != nil:
		return nil, err
	case full:
		return answer.TimedOut("max_live", fmt.Sprintf(
			"the message is queued, and not waited for: %d runs are live, the most that engine.maxLive allows, and one that waits would keep what it waits for from starting; sessions_history will hold the reply. Do not send it again",
			b.config.Engine.MaxLive)), nil
	}
	return b.sendAnswer(ctx, answer, run)
}

// placedBefore finds again what was sent under the same key, and waits for it as if it had just been sent.
func (b *board) placedBefore(tx core.Tx, p *placed, actor core.Actor, asked tool.Send, before sent) error {
	run, ok, err := tx.Run(before.Run)
	if err != nil || !ok {
		return errFirst(err, core.Errorf(core.CodeNotFound, "there is no run %q any more", before.Run))
	}
	*p = placed{run: run, shown: before.Shown, exchange: before.Exchange}
	caller, _, err := tx.Session(actor.Session)
	if err != nil || caller.LiveRun == "" || asked.TimeoutSeconds == 0 || run.State == core.RunEnded {
		return err
	}
	live, ok, err := tx.Run(caller.LiveRun)
	if err != nil || !ok {
		return err
	}
	return awaits(tx, p, live, run.SessionKey, run.ID)
}

func circle(sessions []string) string {
	text := ""
	for _, s := range sessions {
		text += s + " → "
	}
	return text + sessions[0]
}

// admission is a send that may be made.
type admission struct {
	view           viewer
	caller, target core.Session
	live           *core.Run // the caller's, nil when it has none
}

// admit says whether a session may send to another: the target must be in reach and there, somebody must answer for it, its send policy allow
// it and the chain be short enough. What it found holds as far as it came.
func (b *board) admit(r core.Reader, actor core.Actor, to string) (ad admission, err error) {
	if ad.view, err = b.viewer(r, actor, ""); err != nil {
		return ad, err
	}
	found, err := b.resolve(r, ad.view, to)
	if err != nil {
		return ad, err
	}
	if !found.exists {
		return ad, notFound(to)
	}
	ad.target = found.session
	if ad.caller, _, err = r.Session(actor.Session); err != nil {
		return ad, err
	}
	ad.caller.Key = actor.Session // a main session that is not there yet
	if refused := b.mayRun(&ad.target); refused != nil {
		return ad, refused
	}
	if ad.caller.LiveRun == "" {
		return ad, nil
	}
	live, ok, err := r.Run(ad.caller.LiveRun)
	if err != nil || !ok {
		return ad, err
	}
	ad.live = &live
	if most := b.config.Session.AgentToAgent.MaxHops; live.Hop+1 > most {
		return ad, core.Errorf(core.CodeHopLimit, "this chain of sends is %d hops long already, the most that session.agentToAgent.maxHops allows", most).
			Because("session.agentToAgent.maxHops")
	}
	return ad, nil
}

// place queues a send that is admitted. A refusal stores nothing.
func (b *board) place(tx core.Tx, fx *effects, p *placed, actor core.Actor, asked tool.Send, ids sendIDs) error {
	*p = placed{}
	ad, err := b.admit(tx, actor, asked.SessionKey)
	if err != nil {
		return err
	}
	now := b.now()
	run := core.Run{
		ID: ids.run, Kind: core.RunSend, RequesterKey: actor.Session, ChainID: ids.chain, Message: asked.Message,
		Provenance: &core.Provenance{
			Kind: "inter_session", SourceSessionKey: actor.Session, SourceChannel: ad.caller.LastChannel, SourceTool: tool.SessionsSend,
			Via: viaOf(b.actor, actor),
		},
	}
	if err := b.join(tx, p, &run, &ad, asked.TimeoutSeconds > 0); err != nil {
		return err
	}
	if ad.target.SpawnedBy != actor.Session { // to one's own child it is round 1 only
		run.ExchangeID, p.exchange = ids.exchange, ids.exchange
		if err := tx.PutExchange(core.Exchange{
			ID: ids.exchange, RequesterKey: actor.Session, TargetKey: ad.target.Key, Channel: ad.caller.LastChannel, ChainID: run.ChainID, Hop: run.Hop,
			Request: asked.Message, Turns: b.config.Session.AgentToAgent.MaxPingPongTurns, Announce: b.config.Session.AgentToAgent.Announce,
			State: core.ExchangePrimary, CreatedAt: now, UpdatedAt: now,
		}); err != nil {
			return err
		}
	}
	p.shown = b.names.Display(ad.target.Key, ad.view.agent)
	p.run, err = b.enqueue(tx, fx, run, ad.target, now)
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
func (b *board) join(tx core.Tx, p *placed, run *core.Run, ad *admission, waits bool) error {
	if ad.live == nil {
		return nil
	}
	live := *ad.live
	p.caller = live.ID
	run.ParentRunID, run.Hop = live.ID, live.Hop+1
	if live.ChainID != "" {
		run.ChainID = live.ChainID
	} else {
		live.ChainID = run.ChainID
	}
	if !waits {
		return tx.PutRun(live)
	}
	return awaits(tx, p, live, ad.target.Key, run.ID)
}

// awaits records on a caller's live run that it waits for a run in another session, unless that would close a circle.
func awaits(tx core.Tx, p *placed, live core.Run, target, runID string) (err error) {
	p.caller = live.ID
	if p.cycle, err = waitCycle(tx, live.SessionKey, target); err != nil {
		return err
	}
	if p.cycle == nil {
		live.WaitingOn = runID
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

// waitAway waits for a run with the caller's slot given up, and takes the slot back before it returns. full says that it did not wait: as
// many runs are live as may be, and one that waits is one of them (engine.md §1).
func (b *board) waitAway(ctx context.Context, session string, p placed, limit time.Duration) (run core.Run, full bool, err error) {
	if p.caller == "" {
		run, err = b.wait(ctx, p.run.ID, limit)
		return run, false, err
	}
	d := b.drive
	d.mu.Lock()
	full = d.queue.full()
	d.mu.Unlock()
	if full {
		return p.run, true, b.stopWaiting(ctx, p.caller, p.run.ID)
	}
	back := d.away(p.caller, session)
	run, err = b.wait(ctx, p.run.ID, limit)
	if run.State != core.RunEnded { // a run that has ended ends the wait for it by itself
		err = errFirst(err, b.stopWaiting(context.WithoutCancel(ctx), p.caller, p.run.ID))
	}
	return run, false, errFirst(err, back(ctx))
}

// stopWaiting takes back the note of a wait that ran out or was not taken.
func (b *board) stopWaiting(ctx context.Context, runID, awaited string) error {
	_, err := b.store.Update(ctx, func(tx core.Tx) error {
		run, ok, err := tx.Run(runID)
		if err != nil || !ok || run.WaitingOn != awaited {
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
		var held string
		err := b.store.View(ctx, func(r core.Reader) (err error) {
			held, err = b.heldBy(r, run.SessionKey)
			return err
		})
		why := "behind other runs of that session; it will run"
		if held != "" {
			why = "and does not start before the operator lets it (" + held + "; he does so with `cordboard release`); it will run then"
		}
		return answer.TimedOut("", fmt.Sprintf(
			"no reply yet: the message is accepted and has been queued for %s %s, and sessions_history will hold the reply. Do not send it again",
			seconds(now-run.QueuedAt), why)), err
	}
	return answer.TimedOut("", fmt.Sprintf(
		"no reply yet: the message is delivered (queued %s, running for %s) and the run goes on; sessions_history will hold the reply. Do not send it again",
		seconds(run.StartedAt-run.QueuedAt), seconds(now-run.StartedAt))), nil
}

func seconds(ms int64) string {
	return (time.Duration(ms) * time.Millisecond).Round(100 * time.Millisecond).String()
}
