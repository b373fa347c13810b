package engine

import (
	"context"
	"errors"
	"strings"
	"time"

	"cordboard/core"
)

const (
	mergeWindow  = 16 * time.Millisecond // a watcher hears at most once in this time (engine.md §7)
	watchBacklog = 4096                  // revisions merged into one batch
)

// Watch implements core.Board. For a session actor changes of sessions it may not see are left out.
func (b *board) Watch(ctx context.Context, from core.Cursor) (core.Stream, error) {
	info, err := b.store.Info(ctx)
	if err != nil {
		return nil, err
	}
	if from == (core.Cursor{}) {
		from = core.Cursor{Epoch: info.Epoch, Rev: info.Rev}
	}
	return &stream{board: b, at: from, ear: newEar()}, nil
}

// stream follows the store's log. What it skipped while nobody asked is merged into the next batch, so a slow watcher costs nothing.
type stream struct {
	board    *board
	at       core.Cursor
	lastSent time.Time
	ear      ear
}

// Next implements core.Stream. An error other than ctx's leaves the place as it was: call again.
func (s *stream) Next(ctx context.Context) (core.Batch, error) {
	for {
		batch, err := s.next(ctx)
		if err != nil {
			return core.Batch{}, err
		}
		s.at = core.Cursor{Epoch: batch.Epoch, Rev: batch.To}
		if batch.Gap || len(batch.Changes) > 0 || len(batch.Deltas) > 0 {
			s.lastSent = s.board.clock.Now()
			return batch, nil
		}
	}
}

func (s *stream) next(ctx context.Context) (core.Batch, error) {
	store := s.board.store
	info, err := store.Info(ctx)
	if err != nil {
		return core.Batch{}, err
	}
	if info.Epoch != s.at.Epoch || info.Rev < s.at.Rev {
		return core.Batch{Epoch: info.Epoch, From: s.at.Rev, To: info.Rev, Gap: true}, nil
	}
	if err := s.wait(ctx); err != nil {
		return core.Batch{}, err
	}
	if wait := mergeWindow - s.board.clock.Now().Sub(s.lastSent); wait > 0 && !s.lastSent.IsZero() {
		if err := s.board.clock.Sleep(ctx, wait); err != nil {
			return core.Batch{}, err
		}
	}
	revisions, err := store.Changes(ctx, s.at.Rev, watchBacklog)
	if errors.Is(err, core.ErrGap) {
		info, err := store.Info(ctx)
		return core.Batch{Epoch: info.Epoch, From: s.at.Rev, To: info.Rev, Gap: true}, err
	}
	if err != nil {
		return core.Batch{}, err
	}
	batch := merge(s.at, revisions)
	return batch, s.fill(ctx, &batch)
}

// merge keeps one change per record: the last state wins, message ranges unite.
func merge(at core.Cursor, revisions []core.Revision) core.Batch {
	type id struct {
		kind core.ChangeKind
		id   string
	}
	batch := core.Batch{Epoch: at.Epoch, From: at.Rev, To: at.Rev}
	place := map[id]int{}
	for _, revision := range revisions {
		batch.To = revision.Rev
		for _, change := range revision.Changes {
			k := id{change.Kind, change.ID}
			i, seen := place[k]
			if !seen {
				place[k] = len(batch.Changes)
				batch.Changes = append(batch.Changes, change)
				continue
			}
			if change.Kind == core.ChangeMessages && !change.Deleted && !batch.Changes[i].Deleted {
				change.FirstSeq = min(change.FirstSeq, batch.Changes[i].FirstSeq)
				change.LastSeq = max(change.LastSeq, batch.Changes[i].LastSeq)
			}
			batch.Changes[i] = change
		}
	}
	return batch
}

// fill gives each change the record's newest state, drops what the actor may not see, and adds what is to be heard.
func (s *stream) fill(ctx context.Context, batch *core.Batch) error {
	b := s.board
	return b.store.View(ctx, func(r core.Reader) error {
		v, err := b.viewer(r, b.actor, "")
		if err != nil {
			return err
		}
		kept := batch.Changes[:0]
		for _, change := range batch.Changes {
			ok, err := b.fillOne(r, v, &change)
			if err != nil {
				return err
			}
			if ok {
				kept = append(kept, change)
			}
		}
		batch.Changes = kept
		return s.hear(r, v, batch)
	})
}

func (b *board) fillOne(r core.Reader, v viewer, change *core.Change) (visible bool, err error) {
	owner := ""
	switch change.Kind {
	case core.ChangeSession:
		head, ok, err := r.Head(change.ID)
		if err != nil {
			return false, err
		}
		if ok {
			fillParent(r, &head)
			head = cloneHead(&head)
			head.Kind = b.kind(&head)
			change.Head = &head
		}
		change.Deleted, owner = !ok, change.ID
	case core.ChangeRun:
		run, ok, err := r.Run(change.ID)
		if err != nil {
			return false, err
		}
		if ok {
			change.Run, owner = &run, run.SessionKey
		}
	case core.ChangeMessages, core.ChangeGeneration:
		g, ok, err := r.Generation(change.ID)
		if err != nil {
			return false, err
		}
		change.Deleted = !ok
		if ok {
			owner = g.Key
		}
	}
	if v.operator {
		return true, nil
	}
	return owner != "" && v.allows(owner, b.parentOf(r, owner)), nil
}

func (b *board) parentOf(r core.Reader, sessionKey string) string {
	s, ok, err := r.Session(sessionKey)
	if err != nil || !ok {
		return ""
	}
	return s.SpawnedBy
}

// cloneHead copies a borrowed head so that it may outlive the read.
func cloneHead(h *core.Head) core.Head {
	c := *h
	c.Key, c.Parent, c.Title, c.Channel = strings.Clone(h.Key), strings.Clone(h.Parent), strings.Clone(h.Title), strings.Clone(h.Channel)
	return c
}
