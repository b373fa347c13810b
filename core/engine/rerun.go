package engine

import "cordboard/core"

// rerun runs the message of a run that did not end ok once more, as a new run in its session with the same provenance. The exchange it was
// part of is over; only an announce that failed is asked for again, since its text is nothing without it.
func (b *board) rerun(a *act, id, newID string) error {
	old, ok, err := a.Run(id)
	switch {
	case err != nil:
		return err
	case !ok:
		return core.Errorf(core.CodeNotFound, "there is no run %q", id)
	case old.Mirrored:
		return core.Errorf(core.CodeMirrored, "run %s is history of an imported directory: send its message anew", old.ID)
	case old.State != core.RunEnded:
		return core.Errorf(core.CodeConflict, "run %s is %s: one that has ended can be run again", old.ID, old.State)
	case old.Spawn != nil && old.Spawn.Announce == core.AnnounceFailed, ofSpawn(&old):
		return b.reannounce(a, &old, newID)
	case old.Outcome == core.OutcomeOK:
		return core.Errorf(core.CodeConflict, "run %s ended ok: one that failed, timed out, was aborted or interrupted can be run again", old.ID)
	}
	if repeated, ok, err := a.Run(old.Rerun); err != nil {
		return err
	} else if ok && repeated.State != core.RunEnded { // a key that was pressed twice is one wish
		return core.Errorf(core.CodeConflict, "run %s is being run again already, as %s", old.ID, repeated.ID)
	}
	s, err := b.row(a, old.SessionKey)
	if err != nil {
		return err
	}
	if refused := b.mayRun(&s); refused != nil {
		return refused
	}
	next, err := again(a, &old, newID)
	if err != nil {
		return err
	}
	if next.ExchangeID, err = reopen(a, &old, a.now); err != nil {
		return err
	}
	if next.Spawn != nil {
		s.SpawnRun = next.ID
	}
	old.Rerun = next.ID
	if err := a.PutRun(old); err != nil {
		return err
	}
	next, err = b.enqueue(a, a.fx, next, s, a.now)
	a.receipt.Run = next.ID
	a.before, a.after = map[string]string{"run": old.ID, "outcome": string(old.Outcome)}, map[string]string{"run": next.ID}
	return err
}

// reannounce asks a sub-agent once more what to tell, after its announce step failed.
func (b *board) reannounce(a *act, old *core.Run, newID string) error {
	run := *old
	if run.Spawn == nil {
		parent, ok, err := a.Run(old.ParentRunID)
		if err != nil {
			return err
		}
		if run = parent; !ok || run.Spawn == nil {
			return core.Errorf(core.CodeNotFound, "the run that %s was to tell of is not kept any more", old.ID)
		}
	}
	if run.Spawn.Announce != core.AnnounceFailed {
		return core.Errorf(core.CodeConflict, "the announce of run %s is %s: one that failed can be asked for again", run.ID, run.Spawn.Announce)
	}
	if _, err := b.row(a, run.SessionKey); err != nil {
		return err
	}
	a.receipt.Run = newID
	a.before, a.after = map[string]string{"run": old.ID, "announce": string(run.Spawn.Announce)}, map[string]string{"run": newID}
	return b.askAnnounce(a, a.fx, run, newID, a.now)
}

// again is a run with the message and the meaning of another, and nothing of what became of that.
func again(r core.Reader, old *core.Run, id string) (core.Run, error) {
	message, err := messageOf(r, old)
	if err != nil {
		return core.Run{}, err
	}
	if message == "" {
		return core.Run{}, core.Errorf(core.CodeNotFound, "the message of run %s is not kept any more: its transcript was removed", old.ID)
	}
	next := core.Run{
		ID: id, Kind: old.Kind, RequesterKey: old.RequesterKey, ChainID: old.ChainID, Hop: old.Hop, Message: message, Label: old.Label,
		Provenance: old.Provenance, Thinking: old.Thinking, Cleanup: old.Cleanup, Answer: old.Answer,
	}
	if old.Kind == core.RunSpawn {
		next.Spawn = old.Spawn.Anew()
		next.Model = old.Model // it was chosen for the task; any other run takes what its session has by now
	}
	return next, nil
}

// reopen lets an exchange wait for its announce again and returns its id, "" when the run stands alone.
func reopen(tx core.Tx, old *core.Run, now int64) (string, error) {
	if old.Kind != core.RunAnnounce || old.ExchangeID == "" {
		return "", nil
	}
	x, ok, err := tx.Exchange(old.ExchangeID)
	if err != nil || !ok {
		return "", err
	}
	x.State, x.Reason, x.UpdatedAt = core.ExchangeAnnouncing, "", now
	return x.ID, tx.PutExchange(x)
}
