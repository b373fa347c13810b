package engine

import (
	"strings"

	"cordboard/core"
)

// stop ends a session's and all its descendants' work in one transaction (engine.md §1): whatever races with it is either in it or finds
// that its run has ended.
func (b *board) stop(a *act, c core.Stop) error {
	s, err := b.row(a, c.Session)
	if err != nil {
		return err
	}
	family, err := descendants(a, s.Key)
	if err != nil {
		return err
	}
	return b.endWork(a, family)
}

// endWork ends the runs, exchanges and deliveries of sessions.
func (b *board) endWork(a *act, family map[string]bool) error {
	stopped, err := b.stopRuns(a, a.fx, family, a.now)
	if err != nil {
		return err
	}
	for _, run := range stopped {
		a.receipt.Runs = append(a.receipt.Runs, run.ID)
	}
	a.after = map[string][]string{"runs": a.receipt.Runs}
	a.fx.cut = append(a.fx.cut, stopped...)
	return cancelDeliveries(a, family)
}

// descendants are a session and all that it spawned, down the lineage; a circle is walked once.
func descendants(r core.Reader, root string) (map[string]bool, error) {
	family := map[string]bool{root: true}
	for line := []string{root}; len(line) > 0; {
		parent := line[0]
		line = line[1:]
		if err := r.Children(parent, func(child string) bool {
			if !family[child] {
				child = strings.Clone(child)
				family[child] = true
				line = append(line, child)
			}
			return true
		}); err != nil {
			return nil, err
		}
	}
	return family, nil
}

func (b *board) stopRuns(tx core.Tx, fx *effects, family map[string]bool, now int64) (stopped []core.Run, err error) {
	exchanges := map[string]bool{}
	if err := tx.LiveRuns(func(run *core.Run) bool {
		if run.ExchangeID != "" {
			exchanges[run.ExchangeID] = true
		}
		if family[run.SessionKey] || run.Kind == core.RunNote && family[run.RequesterKey] {
			stopped = append(stopped, *run)
		}
		return true
	}); err != nil {
		return nil, err
	}
	for id := range exchanges {
		if err := stopExchange(tx, id, family, now); err != nil {
			return nil, err
		}
	}
	for _, run := range stopped {
		if run, err = stopAnnounce(tx, run); err != nil {
			return nil, err
		}
		end := ending{outcome: core.OutcomeAborted, cause: "stopped by the operator"}
		if run.State == core.RunQueued {
			err = b.discard(tx, fx, run, end, now)
		} else {
			if end.open, err = unanswered(tx, &run); err == nil {
				err = b.finish(tx, fx, run.ID, run.Fence, end, now)
			}
		}
		if err != nil {
			return nil, err
		}
	}
	return stopped, nil
}

// stopExchange ends an exchange of the family before its run ends, so that no further step comes of that; the run may be the other side's,
// which goes on to its end.
func stopExchange(tx core.Tx, id string, family map[string]bool, now int64) error {
	x, ok, err := tx.Exchange(id)
	if err != nil || !ok || over(x.State) || !family[x.RequesterKey] && !family[x.TargetKey] {
		return err
	}
	x.State, x.Reason, x.UpdatedAt = core.ExchangeStopped, "stopped", now
	return tx.PutExchange(x)
}

// stopAnnounce marks a sub-agent's run, before it or its announce step ends, as one of which nothing is told.
func stopAnnounce(tx core.Tx, run core.Run) (core.Run, error) {
	spawned := run
	if ofSpawn(&run) {
		parent, ok, err := tx.Run(run.ParentRunID)
		if err != nil || !ok {
			return run, err
		}
		spawned = parent
	}
	if spawned.Spawn == nil {
		return run, nil
	}
	marked := *spawned.Spawn
	marked.Announce = core.AnnounceStopped
	spawned.Spawn = &marked
	if err := tx.PutRun(spawned); err != nil || spawned.ID != run.ID {
		return run, err
	}
	return spawned, nil
}

func cancelDeliveries(tx core.Tx, family map[string]bool) error {
	due, err := openDeliveries(tx)
	if err != nil {
		return err
	}
	for _, entry := range due {
		d, ok, err := tx.Delivery(entry.ID)
		if err != nil {
			return err
		}
		if !ok || !family[d.SessionKey] {
			continue
		}
		d.State, d.NextAttemptAt = core.DeliveryCancelled, 0
		if err := tx.DeleteDue(entry); err != nil {
			return err
		}
		if err := tx.PutDelivery(d); err != nil {
			return err
		}
	}
	return nil
}
