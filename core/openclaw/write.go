package openclaw

import (
	"bytes"
	"reflect"

	"cordboard/core"
)

// apply writes one step. It may run more than once for the same step (core.Store.Update): what it counts goes into n, which the caller
// empties before.
func (s *step) apply(tx core.Tx, n *Tally) error {
	if s.t != nil {
		if err := s.applyGeneration(tx); err != nil {
			return err
		}
	}
	row, moved := s.row, false
	if row != nil {
		var err error
		if moved, err = s.applyRow(tx, n); err != nil {
			return rowError{err}
		}
	} else if s.t != nil && !s.alone {
		row = s.t.row
	}
	if len(s.messages) > 0 {
		if _, _, err := tx.Append(s.t.gen.ID, s.messages...); err != nil {
			return err
		}
	}
	if s.t != nil && row != nil && (moved || len(s.messages) > 0) {
		if err := s.touchRow(tx, row, moved); err != nil {
			return rowError{err}
		}
	}
	s.count(n)
	return s.remember(tx)
}

// applyGeneration makes sure that the step continues what is stored, and writes the generation's facts when they have changed.
func (s *step) applyGeneration(tx core.Tx) error {
	id := s.t.gen.ID
	g, ok, err := tx.Generation(id)
	if err != nil {
		return err
	}
	if s.first || s.from > 0 {
		if err := s.continues(tx); err != nil {
			return err
		}
	}
	if s.first && s.left.Generation != "" {
		if err := s.leaveOld(tx); err != nil {
			return err
		}
	}
	if ok && s.fresh && s.first {
		if err := tx.DeleteGeneration(id); err != nil {
			return err
		}
		g, ok = core.Generation{}, false
	}
	next := s.t.gen
	next.CreatedAt = g.CreatedAt
	if next.CreatedAt == 0 {
		next.CreatedAt = s.created
	}
	if s.t.path == "" {
		next.File = g.File
	}
	facts := g
	facts.Messages, facts.ToolResults, facts.FirstSeq, facts.LastSeq, facts.Bytes = 0, 0, 0, 0, 0
	if ok && facts == next {
		return nil
	}
	if err := tx.PutGeneration(next); err != nil {
		return err
	}
	return s.retire(tx, g, next)
}

// retire archives a session whose entry is gone and whose current transcript has become an archive: the source has deleted it. It takes
// that back when the transcript does.
func (s *step) retire(tx core.Tx, before, now core.Generation) error {
	gone := s.t.gone && ended(now.State)
	if !gone && !ended(before.State) {
		return nil
	}
	row, ok, err := tx.Session(now.Key)
	if err != nil || !ok || row.Source != s.file.Source || row.SessionID != now.ID {
		return err
	}
	switch {
	case gone && row.ArchivedAt == 0:
		row.ArchivedAt = now.EndedAt
	case !ended(now.State) && row.ArchivedAt == before.EndedAt:
		row.ArchivedAt = 0
	default:
		return nil
	}
	return tx.PutSession(row)
}

func ended(s core.GenerationState) bool {
	return s == core.GenerationDeleted || s == core.GenerationReset
}

// leaveOld parts with the generation that the file was read into before: what is in the file still is dropped there. It may be another file's
// since, which then has seen to it.
func (s *step) leaveOld(tx core.Tx) error {
	f, ok, err := tx.SourceFile(s.file.Source, s.file.Path)
	if err != nil || !ok || f.Generation != s.left.Generation {
		return err
	}
	g, ok, err := tx.Generation(s.left.Generation)
	if err != nil || !ok {
		return err
	}
	if s.drop {
		if err := tx.DeleteGeneration(g.ID); err != nil || !s.t.leftTo {
			return err
		}
	}
	if !s.t.leftTo {
		g.File = ""
	}
	return tx.PutGeneration(g)
}

// continues refuses a step whose place in its file is not where the store stopped: someone else has imported the same source meanwhile.
func (s *step) continues(tx core.Tx) error {
	if s.file.Path == "" {
		return nil
	}
	path := s.file.Path
	if s.first && s.t.renamed {
		path = s.t.from.Path
	}
	f, ok, err := tx.SourceFile(s.file.Source, path)
	if err != nil {
		return err
	}
	expected := s.from
	if s.first {
		expected = s.t.from.Offset
	}
	if !ok || f.Generation != s.t.gen.ID {
		f.Offset = 0
	}
	if f.Offset != expected {
		return core.Errorf(core.CodeConflict, "%s is being imported by someone else: byte %d was expected next of %s and %d is", s.file.Source,
			expected, s.file.Path, f.Offset)
	}
	return nil
}

// applyRow writes the session's row and its entry, each only when it has changed; moved tells that its current transcript is another one
// than it was.
func (s *step) applyRow(tx core.Tx, n *Tally) (moved bool, err error) {
	want := s.row.session
	stored, had, err := tx.Session(want.Key)
	if err != nil {
		return false, err
	}
	if had && stored.Source != want.Source {
		return false, core.Errorf(core.CodeConflict, "session %q came into being while it was imported", want.Key)
	}
	old, hadEntry, err := tx.Entry(want.Key)
	if err != nil {
		return false, err
	}
	same := hadEntry && bytes.Equal(old, s.rawEntry)
	next := want
	if had {
		next = s.row.update(stored, old, same)
		if err := leave(tx, stored.SessionID, &next); err != nil {
			return false, err
		}
	}
	changed := !had || !reflect.DeepEqual(stored, next)
	if changed {
		if err := tx.PutSession(next); err != nil {
			return false, err
		}
	}
	if !same {
		if err := tx.PutEntry(want.Key, s.rawEntry); err != nil {
			return false, err
		}
	}
	switch {
	case !had:
		n.Sessions.Added++
	case changed || !same:
		n.Sessions.Changed++
	default:
		n.Sessions.Unchanged++
	}
	return stored.SessionID != next.SessionID || !had, nil
}

// update is the stored row after this import. The old entry tells which values the source has changed since.
func (r *row) update(stored core.Session, old []byte, same bool) core.Session {
	next := stored
	if !same {
		before, _, _ := sessionOf(stored.Key, old)
		fit(&before)
		now := r.entry.session
		fit(&now)
		next = merged(stored, before, now)
	}
	if next.SpawnedBy == "" {
		next.SpawnedBy = r.session.SpawnedBy
	}
	if r.lineage.outcome != "" {
		next.LastOutcome = r.lineage.outcome
	}
	next.SessionID = r.session.SessionID
	return next
}

// leave marks the generation that a session has left since the last import, where no archive on disk tells how. A session that was
// archived because it was deleted is one again.
func leave(tx core.Tx, from string, next *core.Session) error {
	if from == "" || from == next.SessionID {
		return nil
	}
	g, ok, err := tx.Generation(from)
	if err != nil || !ok || g.Key != next.Key {
		return err
	}
	if ended(g.State) && g.EndedAt == next.ArchivedAt {
		next.ArchivedAt = 0
	}
	if g.State != core.GenerationCurrent {
		return nil
	}
	g.State, g.EndedAt = core.GenerationReset, next.UpdatedAt
	return tx.PutGeneration(g)
}

// touchRow puts on the row what the transcript tells: when the session began, how its last run ended unless the registry knows, and
// when it was updated where the entry does not say. For a row that has moved the transcript may have been here before, as an orphan.
func (s *step) touchRow(tx core.Tx, row *row, moved bool) error {
	stored, ok, err := tx.Session(row.session.Key)
	if err != nil || !ok {
		return err
	}
	if stored.Source != row.session.Source {
		return core.Errorf(core.CodeConflict, "session %q is answered here since", stored.Key)
	}
	g, _, err := tx.Generation(s.t.gen.ID)
	if err != nil {
		return err
	}
	outcome, last := s.outcome, s.last
	if moved {
		if outcome, last, err = tail(tx, g.ID); err != nil {
			return err
		}
	}
	next := stored
	if next.CreatedAt == 0 {
		next.CreatedAt = g.CreatedAt
	}
	if row.lineage.outcome == "" && (outcome != "" || moved) {
		next.LastOutcome = outcome
	}
	if row.entry.session.UpdatedAt == 0 && last > 0 {
		next.UpdatedAt = last
	}
	if reflect.DeepEqual(stored, next) {
		return nil
	}
	return tx.PutSession(next)
}

// tailLength is how many messages are looked at for the end of the last run.
const tailLength = 50

// tail looks at the end of a stored transcript: how its last run ended and when its last message came.
func tail(tx core.Tx, generation string) (outcome core.RunOutcome, last int64, err error) {
	seen := 0
	err = tx.Messages(generation, core.SeqRange{Backward: true}, func(m *core.Message) bool {
		if seen++; m.Role != core.RoleEvent {
			last = max(last, m.At)
		}
		outcome = outcomeOf(m)
		return outcome == "" && seen < tailLength
	})
	return outcome, last, err
}

// outcomeOf is how the run ended that wrote a message, "" when it is no reply of a model: of another role, or put there by the gateway.
func outcomeOf(m *core.Message) core.RunOutcome {
	switch {
	case m.Role != core.RoleAssistant:
		return ""
	case m.Flags.Has(core.MessageError):
		return core.OutcomeError
	case m.Flags.Has(core.MessageAborted):
		return core.OutcomeAborted
	case bytes.Contains(m.Raw, []byte(`"gateway-injected"`)):
		model, _ := core.Field(m.Raw, "model")
		if name, _ := core.Unquote(model); name == "gateway-injected" {
			return ""
		}
	}
	return core.OutcomeOK
}

func (s *step) count(n *Tally) {
	for i := range s.messages {
		if s.messages[i].Role == core.RoleEvent {
			n.Events++
		} else {
			n.Messages++
		}
	}
	if s.t == nil || s.t.path == "" || !s.done {
		return
	}
	switch {
	case s.file.Path == "" && !s.t.current:
		n.Transcripts.Skipped++
	case s.t.current:
		n.Transcripts.Unchanged++
	case s.t.stored:
		n.Transcripts.Changed++
	default:
		n.Transcripts.Added++
	}
}

// remember moves the file's place to behind the step's lines. The place of a file that was renamed is freed, so that a new file of
// its old name is never taken for it, and so is that of a file whose generation this one is now.
func (s *step) remember(tx core.Tx) error {
	if s.file.Path == "" {
		return nil
	}
	if at := s.frees(); at != "" {
		old, ok, err := tx.SourceFile(s.file.Source, at)
		if err == nil && ok && old.Generation == s.t.gen.ID {
			err = tx.PutSourceFile(core.SourceFile{Source: s.file.Source, Path: at})
		}
		if err != nil {
			return err
		}
	}
	f, ok, err := tx.SourceFile(s.file.Source, s.file.Path)
	if err != nil || ok && f == s.file {
		return err
	}
	return tx.PutSourceFile(s.file)
}

// frees is the path of the file that was read into the step's generation before, "" for none.
func (s *step) frees() string {
	switch {
	case !s.first:
		return ""
	case s.t.renamed:
		return s.t.from.Path
	}
	return s.t.taken.Path
}

// applyRun writes a run of the registry when it is new or has changed. A run of our own with that id stays, and so does what belongs to a
// session that is not of this source; ok is then false.
func applyRun(tx core.Tx, source string, run core.Run, n *Tally) (ok bool, err error) {
	stored, had, err := tx.Run(run.ID)
	if err != nil {
		return false, err
	}
	child, known, err := tx.Session(run.SessionKey)
	if err != nil {
		return false, err
	}
	if run.SessionID == "" {
		run.SessionID = stored.SessionID // the session has been deleted since
	}
	switch {
	case had && !stored.Mirrored, known && child.Source != source:
		n.Runs.Skipped++
		return false, nil
	case had && reflect.DeepEqual(stored, run):
		n.Runs.Unchanged++
		return true, nil
	case had:
		n.Runs.Changed++
	default:
		n.Runs.Added++
	}
	return true, tx.PutRun(run)
}
