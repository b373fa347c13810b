package engine

import (
	"context"

	"cordboard/core"
)

// dueArchive is the end of a sub-agent's session: its ID is the session's key.
const dueArchive = "archive"

// putChore notes something to do and wakes whoever does it.
func putChore(tx core.Tx, fx *effects, d core.Due) error {
	fx.chore = true
	return tx.PutDue(d)
}

// rest is called when a run in a session has ended. When it was the last one for now, a sub-agent's session either goes, because it was to
// be deleted and its announce is over, or is archived some time later (session-tools.md §8).
func (e *Engine) rest(tx core.Tx, fx *effects, sessionKey string, now int64) error {
	s, idle, err := idleChild(tx, sessionKey)
	if err != nil || !idle {
		return err
	}
	gone, err := e.cleanUp(tx, fx, &s, now)
	if err != nil || gone {
		return err
	}
	if err := e.usedThread(tx, fx, &s, now); err != nil {
		return err
	}
	return e.archiveLater(tx, fx, &s, now)
}

// archiveLater stores when a session is archived: so long after now. One that is bound to a thread is kept until it no longer is.
func (e *Engine) archiveLater(tx core.Tx, fx *effects, s *core.Session, now int64) error {
	at := int64(0)
	if minutes := e.config.Agents.Defaults.Subagents.ArchiveAfterMinutes; minutes > 0 && s.ArchivedAt == 0 && s.Thread == (core.DeliveryContext{}) {
		at = now + int64(minutes)*60_000
	}
	if at == s.ArchiveAt {
		return nil
	}
	if s.ArchiveAt != 0 {
		if err := tx.DeleteDue(core.Due{At: s.ArchiveAt, Kind: dueArchive, ID: s.Key}); err != nil {
			return err
		}
	}
	if s.ArchiveAt = at; at != 0 {
		if err := putChore(tx, fx, core.Due{At: at, Kind: dueArchive, ID: s.Key}); err != nil {
			return err
		}
	}
	return tx.PutSession(*s)
}

// archive is what is done when an archive is due. Doing it again changes nothing: the row says when it is due, and a session in which
// something runs or waits is left to the end of that.
func (e *Engine) archive(ctx context.Context, entry core.Due) error {
	now := e.now()
	_, err := e.write(ctx, func(tx core.Tx, _ *effects) error {
		if err := tx.DeleteDue(entry); err != nil {
			return err
		}
		s, ok, err := tx.Session(entry.ID)
		if err != nil || !ok || s.ArchiveAt != entry.At {
			return err
		}
		head, _, err := tx.Head(s.Key)
		if err != nil {
			return err
		}
		if s.ArchiveAt = 0; head.Run == "" && s.ArchivedAt == 0 {
			s.ArchivedAt = now
		}
		return tx.PutSession(s)
	})
	return err
}

// lateArchives are the sessions that are archived as far as anybody can tell and not yet in the store, since no engine runs here: the next
// one that does makes it so.
func (e *Engine) lateArchives(r core.Reader) (late map[string]bool, err error) {
	if e.drive != nil {
		return nil, nil
	}
	err = r.Due(e.now(), func(entry core.Due) bool {
		if entry.Kind == dueArchive {
			if late == nil {
				late = map[string]bool{}
			}
			late[entry.ID] = true
		}
		return true
	})
	return late, err
}

// cleanUp deletes a session that was spawned to be deleted, once its announce is over: delivered, given up, or not to be made. The result
// stays on the run, the transcript is kept as an archive.
func (e *Engine) cleanUp(tx core.Tx, fx *effects, s *core.Session, now int64) (gone bool, err error) {
	run, ok, err := tx.Run(s.SpawnRun)
	if err != nil || !ok || run.Cleanup != core.CleanupDelete || run.Spawn == nil {
		return false, err
	}
	switch run.Spawn.Announce {
	case core.AnnounceSkipped, core.AnnounceOff:
	case core.AnnounceSent:
		d, ok, err := tx.Delivery(run.ID + "/announce")
		if err != nil || !ok || !closed(d.State) {
			return false, err
		}
	default:
		return false, nil
	}
	if err := e.dropExtras(tx, fx, s, now); err != nil {
		return false, err
	}
	if err := retire(tx, s, core.GenerationDeleted, now); err != nil {
		return false, err
	}
	fx.holds = true
	if err := tx.PutHold(core.Hold{Session: s.Key, Release: true}); err != nil {
		return false, err
	}
	return true, tx.DeleteSession(s.Key)
}

// closed reports whether a delivery is over for good as far as nobody does anything about it.
func closed(state core.DeliveryState) bool {
	switch state {
	case core.DeliveryDelivered, core.DeliveryGaveUp, core.DeliveryBlocked, core.DeliveryUndeliverable, core.DeliveryExpired:
		return true
	}
	return false
}

// dropExtras gives back what a session has beside its row, before the row goes: when it is archived next, its thread and its files.
func (e *Engine) dropExtras(tx core.Tx, fx *effects, s *core.Session, now int64) error {
	if s.ArchiveAt != 0 {
		if err := tx.DeleteDue(core.Due{At: s.ArchiveAt, Kind: dueArchive, ID: s.Key}); err != nil {
			return err
		}
	}
	if err := e.endBinding(tx, fx, s, now); err != nil {
		return err
	}
	if s.SpawnRun == "" {
		return nil
	}
	run, ok, err := tx.Run(s.SpawnRun)
	if err != nil || !ok || run.Spawn == nil || run.Spawn.Files == nil {
		return err
	}
	return putChore(tx, fx, filesDue(run.Spawn.Files, now))
}

// delivered goes on when the delivery of an announce has come to a state that it stays in.
func (e *Engine) delivered(tx core.Tx, fx *effects, d *core.Delivery, now int64) error {
	if d.RequesterKey == "" || !closed(d.State) {
		return nil
	}
	s, idle, err := idleChild(tx, d.SessionKey)
	if err != nil || !idle {
		return err
	}
	_, err = e.cleanUp(tx, fx, &s, now)
	return err
}

// idleChild is a sub-agent's session of ours in which nothing runs or waits; idle is false for any other.
func idleChild(r core.Reader, sessionKey string) (s core.Session, idle bool, err error) {
	s, ok, err := r.Session(sessionKey)
	if err != nil || !ok || s.SpawnRun == "" || s.Mirrored() {
		return s, false, err
	}
	head, _, err := r.Head(sessionKey)
	return s, head.Run == "", err
}
