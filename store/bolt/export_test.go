package bolt

import (
	"cmp"
	"slices"
	"time"

	"go.etcd.io/bbolt"
)

// Hooks are the unexported options that tests replace.
type Hooks struct {
	After       func(time.Duration) <-chan time.Time
	Keep, Slice uint64
	Migrations  []Migration
}

// Migration is a migration of a test.
type Migration struct {
	To       int
	Readable bool
	Run      func(tx *bbolt.Tx) error
}

// With returns the options with hooks set; migrations are added to those that are.
func (o Options) With(h Hooks) Options {
	o.after, o.logKeep, o.logSlice = h.After, h.Keep, h.Slice
	if len(h.Migrations) == 0 {
		return o
	}
	o.migrations = slices.Clone(migrations)
	for _, m := range h.Migrations {
		o.migrations = append(o.migrations, migration{to: m.To, what: "test", readable: m.Readable, run: m.Run})
	}
	slices.SortFunc(o.migrations, func(a, b migration) int { return cmp.Compare(a.to, b.to) })
	return o
}

// LockPoll, Linger and FilePoll tell the timers of a read-only store apart.
const (
	LockPoll = lockPoll
	Linger   = linger
	FilePoll = filePoll
)

// SmallFile is the size up to which every page is checked at open.
const SmallFile = smallFile

// MaxHeadBytes bounds a head.
const MaxHeadBytes = maxHeadBytes

// PageSize is that of the store's file.
func (s *Store) PageSize() int { return s.db.Info().PageSize }

// FileIsOpen reports whether a read-only store holds the file at this moment.
func (s *Store) FileIsOpen() bool {
	s.reads.mu.Lock()
	defer s.reads.mu.Unlock()
	return s.reads.db != nil
}

// Raw gives a test the bbolt file of a writing store.
func (s *Store) Raw() *bbolt.DB { return s.db }

// Queued counts what waits for the writer.
func (s *Store) Queued() int {
	s.writer.mu.Lock()
	defer s.writer.mu.Unlock()
	return len(s.writer.queue)
}
