package bolt

import (
	"cmp"
	"context"
	"io"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"go.etcd.io/bbolt"

	"cordboard/core"
)

// Store is a core.Store in one file. Open makes it. Update must not be called inside a View or Update function: it would wait for
// itself.
type Store struct {
	o      Options
	db     *bbolt.DB // nil when read-only
	reads  *readFile // nil when writing
	writer *writer   // nil when read-only
	closed chan struct{}
	close  sync.Once
	done   error // what Close returned
}

var _ core.Store = (*Store)(nil)

// ErrClosed is what a closed store answers.
var ErrClosed = core.Errorf(core.CodeInternal, "the store is closed")

// View runs fn on a snapshot. A panic of fn becomes an error.
func (s *Store) View(ctx context.Context, fn func(core.Reader) error) error {
	return s.view(ctx, func(t *txn) error { return fn(t) })
}

func (s *Store) view(ctx context.Context, fn func(*txn) error) error {
	return s.viewWithin(ctx, s.o.Timeout, fn)
}

// viewWithin is view with the time that a read-only store waits for a writer.
func (s *Store) viewWithin(ctx context.Context, wait time.Duration, fn func(*txn) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	db := s.db
	if s.reads != nil {
		var err error
		if db, err = s.reads.acquire(ctx, wait); err != nil {
			return err
		}
		defer s.reads.release()
	}
	tx, err := db.Begin(false)
	if err != nil {
		return s.readError(err)
	}
	t := &txn{ctx: ctx, tx: tx}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	t.call(func() error {
		t.rev = t.newest()
		return fn(t)
	}, func(result error) {
		t.tx = nil
		_ = tx.Rollback()
		err = result
	})
	return err
}

func (s *Store) readError(err error) error {
	select {
	case <-s.closed:
		return ErrClosed
	default:
		return core.Errorf(core.CodeStoreIO, "the store %s cannot be read: %w", s.o.Path, err)
	}
}

// Update runs fn in the writer and returns when it is durable. While fn waits for its turn a cancelled ctx takes it out of the queue;
// once it has run its outcome is returned.
func (s *Store) Update(ctx context.Context, fn func(core.Tx) error) (core.Rev, error) {
	if s.writer == nil {
		return 0, core.Errorf(core.CodeReadOnly, "the store %s was opened for reading only", s.o.Path)
	}
	return s.writer.update(ctx, fn)
}

// Await returns the current revision once it is greater than after.
func (s *Store) Await(ctx context.Context, after core.Rev) (core.Rev, error) {
	if s.reads != nil {
		return s.awaitFile(ctx, after)
	}
	for {
		rev, changed := s.writer.now.get()
		if rev > after {
			return rev, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-s.closed:
			return 0, ErrClosed
		}
	}
}

// Info tells of the file: what it takes and how much of that holds data (the rest is what compact gives back).
func (s *Store) Info(ctx context.Context) (core.StoreInfo, error) {
	info := core.StoreInfo{Path: s.o.Path, ReadOnly: s.reads != nil}
	err := s.view(ctx, func(t *txn) error {
		info.Epoch, info.Rev = string(t.get(bMeta, metaEpoch)), t.rev
		info.Schema, info.Sessions = int(t.metaNumber(metaSchema)), int(t.metaNumber(metaSessions))
		info.Used = t.tx.Size() - int64(t.metaNumber(metaFree))*int64(t.tx.DB().Info().PageSize)
		return nil
	})
	if err != nil {
		return core.StoreInfo{}, err
	}
	file, err := os.Stat(s.o.Path)
	if err != nil {
		return core.StoreInfo{}, core.Errorf(core.CodeStoreIO, "the store %s cannot be looked at: %w", s.o.Path, err)
	}
	info.Bytes = file.Size()
	return info, nil
}

// Backup writes a consistent copy while the store is in use and returns its size.
func (s *Store) Backup(ctx context.Context, w io.Writer) (n int64, err error) {
	err = s.view(ctx, func(t *txn) error {
		out := &contextWriter{ctx: ctx, w: w, pause: s.o.after}
		n, err = t.tx.WriteTo(out)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			return core.Errorf(core.CodeStoreIO, "the backup of %s stopped after %d bytes: %w", s.o.Path, n, cmp.Or(out.err, err))
		}
		return nil
	})
	return n, err
}

// contextWriter stops a long copy when its context ends, and with pause set leaves the disk to the writer now and then: without that a
// backup makes the slowest commits several times slower.
type contextWriter struct {
	ctx   context.Context
	w     io.Writer
	pause func(time.Duration) <-chan time.Time
	since int   // bytes since the last pause
	err   error // what w said: bbolt passes on only its text
}

const (
	backupStep  = 1 << 20
	backupPause = 2 * time.Millisecond
)

func (c *contextWriter) Write(p []byte) (n int, err error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	n, c.err = c.w.Write(p)
	if c.since += n; c.pause != nil && c.since >= backupStep {
		c.since = 0
		select {
		case <-c.pause(backupPause):
		case <-c.ctx.Done():
		}
	}
	return n, c.err
}

// Close waits for what was handed to Update, stops the writer and lets go of the file. Reads under way end first.
func (s *Store) Close() error {
	s.close.Do(func() {
		close(s.closed)
		if s.reads != nil {
			s.done = s.reads.close()
			return
		}
		s.done = s.writer.stop()
	})
	return s.done
}

// revision is the current one, with a channel that is closed when the next is there.
type revision struct {
	mu      sync.Mutex
	rev     core.Rev
	changed chan struct{}
}

func (r *revision) get() (core.Rev, <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.rev, r.changed
}

func (r *revision) set(rev core.Rev) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if rev != r.rev {
		r.rev = rev
		close(r.changed)
		r.changed = make(chan struct{})
	}
}
