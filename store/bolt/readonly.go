package bolt

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"sync"
	"time"

	"go.etcd.io/bbolt"

	"cordboard/core"
)

// linger is how long the file stays open after the last read, so that a burst of reads opens it once.
const linger = 100 * time.Millisecond

// filePoll is how often a read-only Await looks at the file's size and time.
const filePoll = 200 * time.Millisecond

// readFile opens the file for the time of a read and closes it again, so that a store that only reads keeps no writer out for long.
type readFile struct {
	o      *Options
	mu     sync.Mutex
	db     *bbolt.DB
	refs   int
	stays  bool // a goroutine closes the file when nobody has read for a moment
	closed chan struct{}
	wg     sync.WaitGroup // that goroutine
}

// openReader makes a read-only store. A file that a writer holds is no error yet: its reads answer store_locked until it is free.
func openReader(o Options) (*Store, error) {
	s := &Store{o: o, closed: make(chan struct{})}
	s.reads = &readFile{o: &s.o, closed: s.closed}
	_, err := s.reads.try(true)
	switch {
	case errors.Is(err, errBusy):
		return s, nil
	case err != nil:
		return nil, err
	}
	s.reads.release()
	return s, nil
}

// acquire opens the file unless it is open, waiting for a writer that holds it.
func (r *readFile) acquire(ctx context.Context, wait time.Duration) (*bbolt.DB, error) {
	start := time.Now()
	for {
		db, err := r.try(time.Since(start) < courtesy)
		if !errors.Is(err, errBusy) {
			return db, err
		}
		if time.Since(start) >= wait {
			return nil, lockedError(r.o.Path)
		}
		select {
		case <-r.o.after(lockPoll):
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-r.closed:
			return nil, ErrClosed
		}
	}
}

// courtesy is how long a read stands back for a waiting writer: longer than any reader lingers, so the writer gets its turn; not for
// ever, since anyone may lock a directory for reasons of his own.
const courtesy = 2 * linger

// try is one try. With yield set a file is not taken up while a writer waits for it.
func (r *readFile) try(yield bool) (*bbolt.DB, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	select {
	case <-r.closed:
		return nil, ErrClosed
	default:
	}
	if yield && writerWaits(r.o.Path) {
		if r.refs == 0 {
			r.shut()
		}
		return nil, errBusy
	}
	if r.db == nil {
		f, err := tryLock(r.o.Path, false)
		if err != nil {
			return nil, err
		}
		if r.db, _, err = openDB(f, r.o); err != nil {
			r.db = nil
			return nil, err
		}
	}
	r.refs++
	return r.db, nil
}

// release ends a read; the last one leaves the file open for a moment.
func (r *readFile) release() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.refs--; r.refs > 0 {
		return
	}
	select {
	case <-r.closed:
		r.shut()
		return
	default:
	}
	if !r.stays {
		r.stays = true
		r.wg.Add(1)
		go r.linger(r.o.after(linger))
	}
}

func (r *readFile) linger(over <-chan time.Time) {
	defer r.wg.Done()
	select {
	case <-over:
	case <-r.closed:
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stays = false; r.refs == 0 {
		r.shut()
	}
}

// shut closes the file; nobody reads. A failing close leaves nothing to do: nothing was written.
func (r *readFile) shut() {
	if r.db != nil {
		_ = r.db.Close()
		r.db = nil
	}
}

// close waits for lingering goroutines and closes the file. closed is closed already; a read under way closes the file when it ends.
func (r *readFile) close() error {
	r.wg.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.refs == 0 {
		r.shut()
	}
	return nil
}

// fileState is what tells that somebody wrote.
type fileState struct {
	size int64
	at   time.Time
	info os.FileInfo // for identity: compact puts another file in place
}

func (a fileState) same(b fileState) bool {
	return a.info != nil && b.info != nil && a.size == b.size && a.at.Equal(b.at) && os.SameFile(a.info, b.info)
}

// awaitFile watches the file from outside: it opens it only when its size or time has changed, and not while a writer holds it.
func (s *Store) awaitFile(ctx context.Context, after core.Rev) (core.Rev, error) {
	var read fileState
	for {
		now, err := s.stat()
		if err != nil {
			return 0, err
		}
		if !now.same(read) {
			rev, err := s.currentRev(ctx)
			if err == nil && rev > after {
				return rev, nil
			}
			if err != nil && core.CodeOf(err) != core.CodeStoreLocked {
				return 0, err
			}
			if read = now; err != nil || s.o.Now().Sub(now.at) < youngFile {
				read = fileState{} // not read, or a later write could bear the same time: look again
			}
		}
		select {
		case <-s.o.after(filePoll):
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-s.closed:
			return 0, ErrClosed
		}
	}
}

// youngFile is the age below which a file's time does not tell two writes apart for certain.
const youngFile = time.Second

func (s *Store) stat() (fileState, error) {
	info, err := os.Stat(s.o.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fileState{}, core.Errorf(core.CodeStoreMissing, "the store %s is gone", s.o.Path)
	case err != nil:
		return fileState{}, core.Errorf(core.CodeStoreIO, "the store %s cannot be looked at: %w", s.o.Path, err)
	}
	return fileState{info.Size(), info.ModTime(), info}, nil
}

func (s *Store) currentRev(ctx context.Context) (rev core.Rev, err error) {
	err = s.viewWithin(ctx, -1, func(t *txn) error {
		rev = t.rev
		return nil
	})
	return rev, err
}
