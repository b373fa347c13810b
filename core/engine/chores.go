package engine

import (
	"context"

	"cordboard/core"
)

// Chores are what is due beside deliveries: a sub-agent's session to be archived, a thread to be let go, files to be removed. Each has its
// entry in the store, is done in a transaction that removes it, and may be done again; so they survive a crash at any point.

// chores does what is due, until the driver is stopped.
func (d *driver) chores() {
	d.whenDue(d.chore, func() (int64, error) {
		d.tellThreads()
		return d.engine.doChores(d.ctx)
	})
}

// tellThreads tells the channels which threads are no longer ours.
func (d *driver) tellThreads() {
	d.mu.Lock()
	gone := d.letGo
	d.letGo = nil
	d.mu.Unlock()
	for _, route := range gone {
		d.engine.letGo(d.ctx, route)
	}
}

// choresAtOnce is how many chores are taken from one look at the store.
const choresAtOnce = 500

// doChores does what is due now and returns when the next is, 0 for none.
func (e *Engine) doChores(ctx context.Context) (next int64, err error) {
	for {
		due, next, err := e.choresDue(ctx, e.now())
		if err != nil || len(due) == 0 {
			return next, err
		}
		for _, entry := range due {
			if err := e.chore(entry.Kind)(ctx, entry); err != nil {
				return 0, err
			}
		}
	}
}

func (e *Engine) choresDue(ctx context.Context, now int64) (due []core.Due, next int64, err error) {
	err = e.store.View(ctx, func(r core.Reader) error {
		return r.Due(anyTime, func(entry core.Due) bool {
			switch {
			case e.chore(entry.Kind) == nil:
				return true
			case entry.At > now:
				next = entry.At
				return false
			}
			due = append(due, entry)
			return len(due) < choresAtOnce
		})
	})
	return due, next, err
}

// chore is what does a kind of chore, nil for what is none.
func (e *Engine) chore(kind string) func(context.Context, core.Due) error {
	switch kind {
	case dueArchive:
		return e.archive
	case dueFiles:
		return e.removeFiles
	case dueThread:
		return e.unbindDue
	}
	return nil
}
