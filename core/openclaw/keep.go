package openclaw

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"time"

	"cordboard/core"
)

// remains is what a generation holds that no file does any more.
type remains struct {
	at int64  // when that ended, ms
	of string // stands for what it is
}

func remainsOf(f core.SourceFile) *remains {
	return &remains{at: f.ModTime / int64(time.Millisecond), of: f.Sum}
}

// strayRemains are those of a generation of which it is not known what file they came from.
func strayRemains(g *core.Generation) *remains {
	return &remains{at: max(g.EndedAt, g.CreatedAt), of: fmt.Sprint(g.ID, g.CreatedAt, g.Messages, g.LastSeq, g.Bytes)}
}

// keepOld copies what the store has of a transcript to a backup generation, before a file is read anew in its place. The messages keep
// their seqs, so a copy that was cut short is gone on with.
func keepOld(ctx context.Context, store core.Store, generation string, what *remains, opts Options) error {
	for {
		var facts core.Generation
		var part []core.Message
		err := store.View(ctx, func(r core.Reader) error {
			old, _, err := r.Generation(generation)
			if err != nil {
				return err
			}
			// a file may be rewritten twice in a millisecond
			id := cmp.Or(old.SessionID, generation) + "." + string(core.GenerationBackup) + "." +
				time.UnixMilli(what.at).UTC().Format("2006-01-02T15-04-05.000Z") + "." + short(what.of)
			backup, _, err := r.Generation(id)
			if err != nil {
				return err
			}
			facts = core.Generation{
				ID: id, SessionID: old.SessionID, Key: old.Key, Agent: old.Agent, State: core.GenerationBackup,
				CreatedAt: old.CreatedAt, EndedAt: what.at,
			}
			part, err = copyMessages(r, generation, backup.LastSeq, opts)
			return err
		})
		if err != nil || len(part) == 0 {
			return err
		}
		_, err = store.Update(ctx, func(tx core.Tx) error {
			if err := tx.PutGeneration(facts); err != nil {
				return err
			}
			_, _, err := tx.Append(facts.ID, part...)
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
