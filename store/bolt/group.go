package bolt

import (
	"context"
	"encoding/binary"
	"fmt"

	"go.etcd.io/bbolt"

	"cordboard/core"
)

// attempt runs a group in one bbolt transaction. It answers those that are done with and returns the rest with again set when a failed
// function left writes behind, so that the rest must run anew without it.
func (w *writer) attempt(group []*request) (rest []*request, again bool) {
	tx, err := w.db.Begin(true)
	if err != nil {
		refuse(group, w.diskError(err))
		return nil, false
	}
	open := true
	defer func() {
		if open {
			_ = tx.Rollback()
		}
	}()
	g := &groupTx{w: w, tx: tx}
	if g.begin(); g.err != nil {
		refuse(group, g.err)
		return nil, false
	}
	for i, r := range group {
		if !r.ran && r.ctx.Err() != nil {
			r.finish(0, r.ctx.Err())
			continue
		}
		if g.run(r) {
			return append(g.kept, group[i+1:]...), true
		}
	}
	open = false
	if err := g.finish(); err != nil {
		refuse(g.kept, err)
		return nil, false
	}
	for _, r := range g.kept {
		r.finish(r.rev, nil)
	}
	return nil, false
}

func refuse(group []*request, err error) {
	for _, r := range group {
		r.finish(0, err)
	}
}

// groupTx is one bbolt transaction with the functions that have run in it.
type groupTx struct {
	w    *writer
	tx   *bbolt.Tx
	base core.Rev   // before the group
	rev  core.Rev   // of the last function that wrote
	kept []*request // ran without error
	own  *txn       // the writer's own work: log, purge
	err  error      // of the writer's own work
}

func (g *groupTx) begin() {
	g.own = &txn{ctx: context.Background(), tx: g.tx}
	g.own.call(func() error {
		g.base = g.own.newest()
		return nil
	}, g.fail)
	g.rev = g.base
}

func (g *groupTx) fail(err error) {
	if g.err == nil {
		g.err = err
	}
}

// run runs one function and reports whether it must be undone.
func (g *groupTx) run(r *request) (undo bool) {
	t := &txn{ctx: r.ctx, tx: g.tx, rev: g.rev + 1}
	r.ran = true
	t.call(func() error {
		err := r.fn(t)
		if err == nil && t.wrote {
			err = t.writeLog()
		}
		return err
	}, func(err error) {
		t.tx = nil
		switch {
		case err != nil:
			undo = t.wrote
			r.finish(0, err)
			return
		case t.wrote:
			g.rev++
		}
		r.rev = g.rev
		g.kept = append(g.kept, r)
	})
	return undo
}

// finish makes the group durable. Without writes there is nothing to commit.
func (g *groupTx) finish() error {
	purged, left := g.purge()
	if g.err != nil || g.rev == g.base && !purged {
		g.w.purges = false // a purge that the disk refuses is tried again after the next commit
		_ = g.tx.Rollback()
		return g.err
	}
	g.bookkeeping()
	if g.err != nil {
		_ = g.tx.Rollback()
		return g.err
	}
	if err := g.commit(); err != nil {
		g.w.purges = false
		return err
	}
	g.w.dirty, g.w.purges = true, left
	g.w.now.set(g.rev)
	return nil
}

// purge removes a slice of what deleted transcripts left: a small one beside other work, a large one when there is none.
func (g *groupTx) purge() (purged, left bool) {
	limit := purgeBeside
	if len(g.kept) == 0 {
		limit = inlineDelete
	}
	g.own.call(func() error {
		number, _ := g.own.first(bPurge, nil)
		if number == nil {
			return nil
		}
		purged = true
		more, err := g.own.purge(binary.BigEndian.Uint64(number), limit)
		if err == nil && !more {
			err = g.own.del(bPurge, append([]byte(nil), number...))
		}
		next, _ := g.own.first(bPurge, nil)
		left = next != nil
		return err
	}, g.fail)
	return purged, left
}

const purgeBeside = 64

// bookkeeping notes the free pages, trims the log and lets the file grow in steps of an eighth, so that a small store stays small and
// a large one grows rarely.
func (g *groupTx) bookkeeping() {
	stats := g.w.db.Stats()
	g.own.call(func() error {
		if err := g.own.setMetaNumber(metaFree, uint64(stats.FreePageN+stats.PendingPageN)); err != nil {
			return err
		}
		return g.own.trimLog(g.w.o.logKeep, g.w.o.logSlice)
	}, g.fail)
	g.w.db.AllocSize = int(max(minGrow, min(g.tx.Size()/8, maxGrow)))
}

const (
	minGrow = 256 << 10
	maxGrow = 16 << 20
)

func (g *groupTx) commit() (err error) {
	defer func() {
		if r := recover(); r != nil {
			_ = g.tx.Rollback()
			err = core.Errorf(core.CodeStoreDamaged, "the store %s is damaged (%v): run doctor", g.w.o.Path, r)
		}
	}()
	if err := g.w.stillThere(); err != nil {
		_ = g.tx.Rollback()
		return err
	}
	if err := g.tx.Commit(); err != nil {
		return g.w.diskError(fmt.Errorf("commit: %w", err))
	}
	return nil
}
