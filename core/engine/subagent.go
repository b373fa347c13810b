package engine

import (
	"fmt"
	"strings"
	"time"

	"cordboard/core"
	"cordboard/core/key"
)

// What follows the run of a sub-agent (session-tools.md §8): its result is kept on the run, the child is asked what to tell, the report is
// stored as one delivery and put into the requester's transcript, and then the child goes or is archived later. Each step is in the
// transaction that ends what was before it; ids are derived, so that none is done twice.

const (
	subannounceStep = "Sub-agent announce step."
	announceTool    = "subagent_announce"
	maxResult       = 16 << 10 // bytes of a result that are kept
)

// subagentEnded goes on after a run that has ended, or never began.
func (e *Engine) subagentEnded(tx core.Tx, fx *effects, run core.Run, reply string, now int64) (err error) {
	switch {
	case !key.IsSubagent(run.SessionKey):
		return nil
	case run.Kind == core.RunSpawn && run.Spawn != nil:
		err = e.spawnEnded(tx, fx, run, reply, now)
	case ofSpawn(&run):
		err = e.announceEnded(tx, fx, run, reply, now)
	}
	if err != nil {
		return err
	}
	return e.rest(tx, fx, run.SessionKey, now)
}

func (e *Engine) spawnEnded(tx core.Tx, fx *effects, run core.Run, reply string, now int64) (err error) {
	if run.Result, err = resultOf(tx, &run, reply); err != nil {
		return err
	}
	spawn := *run.Spawn
	run.Spawn = &spawn
	switch {
	case spawn.Announce == core.AnnounceStopped:
		return tx.PutRun(run)
	case !e.config.Agents.Defaults.Subagents.Announce:
		spawn.Announce = core.AnnounceOff
		return tx.PutRun(run)
	case run.Outcome != core.OutcomeOK:
		return e.publish(tx, fx, run, "", now)
	case e.external(run.SessionKey):
		spawn.Announce, spawn.AnnounceError = core.AnnounceSkipped, "a client outside plays this agent: it has only been told"
		return tx.PutRun(run)
	}
	return e.askAnnounce(tx, fx, run, run.ID+"/announce", now)
}

// askAnnounce queues the step in which the child is asked what to tell.
func (e *Engine) askAnnounce(tx core.Tx, fx *effects, run core.Run, id string, now int64) error {
	s, ok, err := tx.Session(run.SessionKey)
	if err != nil {
		return err
	}
	spawn := *run.Spawn
	run.Spawn = &spawn
	if !ok {
		spawn.Announce, spawn.AnnounceError = core.AnnounceFailed, "the session is gone"
		return tx.PutRun(run)
	}
	spawn.Announce, spawn.AnnounceError = core.AnnouncePending, ""
	if err := tx.PutRun(run); err != nil {
		return err
	}
	_, err = e.enqueue(tx, fx, core.Run{
		ID: id, Kind: core.RunAnnounce, RequesterKey: run.RequesterKey, ParentRunID: run.ID, ChainID: run.ChainID, Hop: run.Hop, Message: subannounceStep,
		Model: run.Model, Thinking: run.Thinking,
		Provenance: &core.Provenance{Kind: "inter_session", SourceSessionKey: run.RequesterKey, SourceTool: announceTool},
	}, s, now)
	return err
}

// announceEnded takes the child's answer. A step that failed never tells anybody anything: the result stays on the run, and the operator
// may retry.
func (e *Engine) announceEnded(tx core.Tx, fx *effects, step core.Run, reply string, now int64) error {
	run, ok, err := tx.Run(step.ParentRunID)
	if err != nil || !ok || run.Spawn == nil || run.Spawn.Announce != core.AnnouncePending {
		return err
	}
	spawn := *run.Spawn
	run.Spawn = &spawn
	switch {
	case step.Outcome != core.OutcomeOK:
		spawn.Announce, spawn.AnnounceError = core.AnnounceFailed, "announce failed: "+string(step.Outcome)+": "+step.Error
		if err := markUndelivered(tx, run.SessionKey, true); err != nil { // people wait for what nobody tells them
			return err
		}
		return tx.PutRun(run)
	case silence(reply):
		spawn.Announce = core.AnnounceSkipped
		if err := markUndelivered(tx, run.SessionKey, false); err != nil { // it may have failed before
			return err
		}
		return tx.PutRun(run)
	case strings.TrimSpace(reply) == subannounceStep: // an agent that says what it hears: the question is no answer
		reply = ""
	}
	return e.publish(tx, fx, run, announcement(reply), now)
}

// publish makes the report and stores it twice: as the one delivery of the run, to where the requester was when it spawned, and as a note
// in the requester's transcript. Where there is no such place, the note is the delivery.
func (e *Engine) publish(tx core.Tx, fx *effects, run core.Run, reply string, now int64) error {
	text, err := e.reportOf(tx, &run, reply)
	if err != nil {
		return err
	}
	spawn := *run.Spawn
	spawn.Announce, spawn.AnnounceError = core.AnnounceSent, ""
	run.Spawn = &spawn
	if err := tx.PutRun(run); err != nil {
		return err
	}
	if err := e.note(tx, fx, &run, text, now); err != nil {
		return err
	}
	return e.deliverReport(tx, fx, &run, text, now)
}

// deliverReport stores the one delivery of a sub-agent's run. The send policy is asked of the requester's session, with the channel that
// was frozen; where there is no route the note is the delivery.
func (e *Engine) deliverReport(tx core.Tx, fx *effects, run *core.Run, text string, now int64) error {
	id := run.ID + "/announce"
	if _, known, err := tx.Delivery(id); err != nil || known {
		return err
	}
	d := core.Delivery{ID: id, SessionKey: run.SessionKey, RequesterKey: run.RequesterKey, RunID: run.ID, Text: text, CreatedAt: now}
	if run.Spawn.Route != nil {
		d.Route = *run.Spawn.Route
	}
	s, err := policySession(tx, &d)
	if err != nil {
		return err
	}
	if d.Route.Channel != "" {
		_, err = e.post(tx, fx, &s, d, now)
		return err
	}
	if d.State = core.DeliveryDelivered; !e.send(&s).Allowed {
		d.State, d.Rule = core.DeliveryBlocked, e.send(&s).Rule
	}
	return e.putDelivery(tx, fx, d, now)
}

// policySession is the session that the send policy is asked of for a delivery.
func policySession(r core.Reader, d *core.Delivery) (core.Session, error) {
	if d.RequesterKey == "" {
		s, _, err := r.Session(d.SessionKey)
		return s, err
	}
	s, _, err := r.Session(d.RequesterKey)
	s.Key = d.RequesterKey
	if d.Route.Channel != "" {
		s.Channel = d.Route.Channel
	}
	return s, err
}

func (e *Engine) reportOf(r core.Reader, run *core.Run, reply string) (string, error) {
	s, _, err := r.Session(run.SessionKey)
	if err != nil {
		return "", err
	}
	g, _, err := r.Generation(s.SessionID)
	if err != nil {
		return "", err
	}
	told := report{run: run, reply: reply, sessionID: s.SessionID, path: g.File}
	if run.Outcome != core.OutcomeOK {
		told.cause = run.Error
		if run.Outcome == core.OutcomeTimeout && run.Spawn.TimeoutSeconds > 0 {
			told.cause = fmt.Sprintf("the run was cut after %s (runTimeoutSeconds); what it did until then is in its transcript",
				time.Duration(run.Spawn.TimeoutSeconds)*time.Second)
		}
	}
	return told.text(), nil
}

// note appends the report to the requester's transcript by a run of its own, which calls no model: its next turn sees it.
func (e *Engine) note(tx core.Tx, fx *effects, run *core.Run, text string, now int64) error {
	id := run.ID + "/note"
	if _, known, err := tx.Run(id); err != nil || known {
		return err
	}
	requester, ok, err := tx.Session(run.RequesterKey)
	if err != nil || !ok || requester.Mirrored() {
		return err // nobody is left to be told
	}
	_, err = e.enqueue(tx, fx, core.Run{
		ID: id, Kind: core.RunNote, RequesterKey: run.SessionKey, ParentRunID: run.ID, ChainID: run.ChainID, Message: text,
		Provenance: &core.Provenance{Kind: "inter_session", SourceSessionKey: run.SessionKey, SourceTool: announceTool},
	}, requester, now)
	return err
}

// resultOf is what a run came to: its last text, else the newest result of a tool, marked as such, else nothing.
func resultOf(r core.Reader, run *core.Run, reply string) (result string, err error) {
	if result = strings.TrimSpace(reply); result == "" && run.FirstSeq > 0 {
		err = r.Messages(run.SessionID, core.SeqRange{After: run.FirstSeq, Before: run.LastSeq + 1, Backward: true}, func(m *core.Message) bool {
			if m.Role != core.RoleToolResult {
				return true
			}
			text := ""
			for b := range core.Blocks(m.Raw) {
				text += b.Text
			}
			if text = strings.TrimSpace(text); text != "" {
				result = "(tool output) " + text
			}
			return false
		})
	}
	if len(result) > maxResult {
		result = strings.ToValidUTF8(result[:maxResult], "") + "\n(cut: the rest is in the transcript)"
	}
	return result, err
}

// subagentTurn tells the runtime of a sub-agent what it is, and of an announce step what it is about.
func (e *Engine) subagentTurn(r core.Reader, t *core.Turn) (*core.Spawn, error) {
	run, ok, err := r.Run(t.Session.SpawnRun)
	if err != nil || !ok || run.Spawn == nil {
		return nil, err
	}
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("You are a sub-agent (%s), started by the session %s.", t.Session.Key, t.Session.SpawnedBy)
	switch {
	case ofSpawn(&t.Run):
		task, err := messageOf(r, &run)
		if err != nil {
			return nil, err
		}
		t.Exchange = &core.Exchange{
			ID: run.ID, RequesterKey: run.RequesterKey, TargetKey: run.SessionKey, ChainID: run.ChainID, Hop: run.Hop, Request: task,
			FirstReply: run.Result, LatestReply: run.Result, Announce: true, State: core.ExchangeAnnouncing, CreatedAt: run.QueuedAt, UpdatedAt: run.EndedAt,
		}
		line("Your run has ended. Answer with what the people in the requester's chat should be told: a line that begins with \"Result:\", and one that "+
			"begins with \"Notes:\" if there is more to say. Status and figures are added for you. Answer exactly %s to tell nothing.", announceSkip)
		line("Task:\n%s\nYour answer was:\n%s", task, run.Result)
	case t.Run.ID == run.ID:
		line("The message is your task. Do it and nothing else, and end with the result as your answer: when you have ended it is told to the requester. " +
			"Do not wait for anybody and ask nothing.")
	default:
		line("Your task was given to you earlier in this conversation.")
	}
	if t.Session.Thread.ThreadID != "" {
		line("You talk with the people in the thread %s of the channel %s: your answers go there.", t.Session.Thread.ThreadID, t.Session.Thread.Channel)
	}
	t.Context += b.String()
	return run.Spawn, nil
}
