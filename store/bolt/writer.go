package bolt

import (
	"context"
	"errors"
	"os"
	"runtime/debug"
	"slices"
	"sync"
	"syscall"

	"go.etcd.io/bbolt"

	"cordboard/core"
)

// writer is the goroutine that writes (engine.md §8): it takes what queued during the last fsync, runs it in one bbolt transaction and
// commits. bbolt has no savepoints: when a function fails after it wrote, the transaction is rolled back and the others run again.
type writer struct {
	o    *Options
	file *os.File // bbolt's own, to see whether it is still the store
	db   *bbolt.DB
	now  *revision
	wake chan struct{} // capacity 1
	idle chan struct{} // closed when the goroutine has ended

	mu      sync.Mutex
	queue   []*request
	closing bool

	dirty  bool // the file's freelist is not written; the writer's own
	purges bool // there may be messages of deleted transcripts left; the writer's own
}

// request is one call of Update.
type request struct {
	ctx   context.Context
	fn    func(core.Tx) error
	taken bool // by the writer, under its mutex: from here on the call waits for the outcome
	ran   bool
	rev   core.Rev
	err   error
	done  chan struct{}
}

func (r *request) finish(rev core.Rev, err error) {
	r.rev, r.err = rev, err
	close(r.done)
}

func (r *request) answered() bool {
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

// maxGroup bounds the functions of one transaction, so that none waits long for the fsync of many others.
const maxGroup = 512

func startWriter(o Options, f *os.File, db *bbolt.DB, dirty bool) (*Store, error) {
	s := &Store{o: o, db: db, closed: make(chan struct{})}
	w := &writer{
		o: &s.o, file: f, db: db, dirty: dirty, now: &revision{changed: make(chan struct{})}, wake: make(chan struct{}, 1), idle: make(chan struct{}), purges: true,
	}
	s.writer = w
	err := s.view(context.Background(), func(t *txn) error {
		w.now.set(t.rev)
		return nil
	})
	if err != nil {
		_ = db.Close()
		return nil, err
	}
	go w.loop()
	return s, nil
}

func (w *writer) update(ctx context.Context, fn func(core.Tx) error) (core.Rev, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	r := &request{ctx: ctx, fn: fn, done: make(chan struct{})}
	w.mu.Lock()
	if w.closing {
		w.mu.Unlock()
		return 0, ErrClosed
	}
	w.queue = append(w.queue, r)
	w.mu.Unlock()
	w.poke()
	select {
	case <-r.done:
		return r.rev, r.err
	case <-ctx.Done():
	}
	if w.withdraw(r) {
		return 0, ctx.Err()
	}
	<-r.done
	return r.rev, r.err
}

func (w *writer) poke() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// withdraw takes a request out of the queue unless the writer already has it.
func (w *writer) withdraw(r *request) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if r.taken {
		return false
	}
	for i, other := range w.queue {
		if other == r {
			w.queue = append(w.queue[:i], w.queue[i+1:]...)
			break
		}
	}
	return true
}

// take returns the next group, and last when the store is closing and nothing is left.
func (w *writer) take() (group []*request, last bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := min(len(w.queue), maxGroup)
	group, w.queue = w.queue[:n:n], w.queue[n:]
	for _, r := range group {
		r.taken = true
	}
	return group, n == 0 && w.closing
}

// loop is the writer's goroutine. A function that ends it (runtime.Goexit) is answered for like one that panics: the rest of its group
// goes back into the queue and a new goroutine takes over.
func (w *writer) loop() {
	ended := false
	defer func() {
		if ended {
			close(w.idle)
			return
		}
		go w.loop()
	}()
	debug.SetPanicOnFault(true)
	for {
		group, last := w.take()
		switch {
		case len(group) > 0:
			w.commit(group)
		case last:
			ended = true
			return
		case w.purges:
			w.commit(nil)
		default:
			<-w.wake
		}
	}
}

// commit runs a group until it is durable or refused.
func (w *writer) commit(group []*request) {
	defer func() {
		if len(group) > 0 { // a function ended the goroutine
			w.putBack(group)
		}
	}()
	for again := true; again; {
		group, again = w.attempt(group)
	}
	group = nil
}

// putBack queues what was not answered before all that came later.
func (w *writer) putBack(group []*request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.queue = append(slices.DeleteFunc(group, (*request).answered), w.queue...)
}

// stop ends the goroutine after what is queued and closes the file, with its freelist written so that the next open is instant.
func (w *writer) stop() error {
	w.mu.Lock()
	w.closing = true
	w.mu.Unlock()
	w.poke()
	<-w.idle
	var err error
	if w.dirty {
		w.db.NoFreelistSync = false
		err = guarded(w.o.Path, w.writeFreelist)
	}
	if err == nil {
		err = w.stillThere()
	}
	if closed := w.db.Close(); err == nil && closed != nil {
		err = core.Errorf(core.CodeStoreIO, "the store %s was not closed cleanly: %w", w.o.Path, closed)
	}
	return err
}

// stillThere makes sure that what was written can be found again: a file that was removed or replaced takes everything with it.
func (w *writer) stillThere() error {
	if stillAt(w.file, w.o.Path) {
		return nil
	}
	return core.Errorf(core.CodeStoreMissing, "the store %s was removed or replaced while it was in use: what was written since is lost", w.o.Path)
}

func (w *writer) writeFreelist() error {
	tx, err := w.db.Begin(true)
	if err != nil {
		return w.diskError(err)
	}
	return (&groupTx{w: w, tx: tx}).commit()
}

func (w *writer) diskError(err error) error {
	hint := ""
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG) {
		hint = ": make room, what is stored is safe and can be read"
	}
	return core.Errorf(core.CodeStoreIO, "the store %s could not be written (%w)%s", w.o.Path, err, hint)
}
