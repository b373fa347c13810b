package openclaw

import (
	"bytes"
	"context"
	"time"

	"cordboard/core"
)

// keepOld copies what the store has of a transcript to a backup generation, before the file that was rewritten is read anew. The
// messages keep their seqs, so a copy that was cut short is gone on with.
func keepOld(ctx context.Context, store core.Store, t *transcript, opts Options) error {
	at := t.from.ModTime / int64(time.Millisecond)
	id := t.gen.SessionID + "." + string(core.GenerationBackup) + "." + time.UnixMilli(at).UTC().Format("2006-01-02T15-04-05.000Z") + "." +
		short(t.from.Sum) // a file may be rewritten twice in a millisecond
	for {
		var facts core.Generation
		var part []core.Message
		err := store.View(ctx, func(r core.Reader) error {
			old, _, err := r.Generation(t.gen.ID)
			if err != nil {
				return err
			}
			backup, _, err := r.Generation(id)
			if err != nil {
				return err
			}
			facts = core.Generation{
				ID: id, SessionID: old.SessionID, Key: old.Key, Agent: old.Agent, State: core.GenerationBackup,
				CreatedAt: old.CreatedAt, EndedAt: at,
			}
			part, err = copyMessages(r, t.gen.ID, backup.LastSeq, opts)
			return err
		})
		if err != nil || len(part) == 0 {
			return err
		}
		_, err = store.Update(ctx, func(tx core.Tx) error {
			if err := tx.PutGeneration(facts); err != nil {
				return err
			}
			_, _, err := tx.Append(id, part...)
			return err
		})
		if err != nil {
			return err
		}
	}
}

// copyMessages copies one page of a generation out of the store.
func copyMessages(r core.Reader, generation string, after uint64, opts Options) (page []core.Message, err error) {
	size := int64(0)
	err = r.Messages(generation, core.SeqRange{After: after}, func(m *core.Message) bool {
		c := *m
		c.Raw, c.Before, c.After = bytes.Clone(m.Raw), bytes.Clone(m.Before), bytes.Clone(m.After)
		page = append(page, c)
		size += int64(len(c.Raw) + len(c.Before) + len(c.After))
		return size < opts.BatchBytes && len(page) < opts.BatchRecords
	})
	return page, err
}
