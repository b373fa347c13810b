package bolt_test

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordboard/core"
	"cordboard/store/bolt"
)

// TestInUse is R190, R191 and R193: a store that another process owns is named with its path, the owner and what to do.
func TestInUse(t *testing.T) {
	dir := filled(t, 3, 3)
	cmd, in, out := child(t, "hold", dir)
	said, err := out.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "open\n", said)
	before := sum(t, file(dir))

	_, err = bolt.Open(bolt.Options{Dir: dir, Timeout: time.Millisecond})
	requireLocked(t, err, dir, cmd.Process.Pid)
	_, err = bolt.Doctor(t.Context(), file(dir))
	requireLocked(t, err, dir, cmd.Process.Pid)
	_, err = bolt.Compact(t.Context(), file(dir), nil)
	requireLocked(t, err, dir, cmd.Process.Pid)

	reader, err := bolt.Open(bolt.Options{Dir: dir, ReadOnly: true, Timeout: -1})
	require.NoError(t, err, "a reader may wait for the owner to leave")
	requireLocked(t, reader.View(t.Context(), func(core.Reader) error { return nil }), dir, cmd.Process.Pid)
	_, err = reader.Info(t.Context())
	requireLocked(t, err, dir, cmd.Process.Pid)
	require.Equal(t, before, sum(t, file(dir)))

	require.NoError(t, in.Close())
	require.NoError(t, cmd.Wait())
	require.NoError(t, reader.View(t.Context(), func(core.Reader) error { return nil }))
	require.NoError(t, reader.Close())
}

func requireLocked(t *testing.T, err error, dir string, pid int) {
	t.Helper()
	require.Equal(t, core.CodeStoreLocked, core.CodeOf(err), "%v", err)
	require.ErrorContains(t, err, file(dir))
	require.ErrorContains(t, err, "in use by another process")
	if runtime.GOOS == "linux" {
		require.ErrorContains(t, err, fmt.Sprintf("pid %d", pid))
	}
}

// TestKilledOwner is R085: nothing is left over when the owner dies.
func TestKilledOwner(t *testing.T) {
	dir := filled(t, 3, 3)
	cmd, _, out := child(t, "hold", dir)
	_, err := out.ReadString('\n')
	require.NoError(t, err)
	require.NoError(t, cmd.Process.Kill())
	require.Error(t, cmd.Wait())
	s, err := bolt.Open(bolt.Options{Dir: dir, Timeout: -1})
	require.NoError(t, err)
	require.NoError(t, s.Close())
	require.Equal(t, []string{bolt.FileName}, names(t, dir))
}

// TestManyMakers: of several that make a store at once each gets the same one, or is told that it is in use.
func TestManyMakers(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	var epochs sync.Map
	for range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			s, err := bolt.Open(bolt.Options{Dir: dir, Timeout: time.Minute})
			if err != nil {
				epochs.Store(err.Error(), true)
				return
			}
			info, _ := s.Info(context.Background())
			epochs.Store(info.Epoch, true)
			_ = s.Close()
		}()
	}
	wg.Wait()
	n := 0
	epochs.Range(func(epoch, _ any) bool {
		require.Len(t, epoch, 32)
		n++
		return true
	})
	require.Equal(t, 1, n)
	require.Equal(t, []string{bolt.FileName}, names(t, dir))
}

// timers lets a test fire the timers of a read-only store.
type timers struct {
	poll   chan time.Time
	linger chan time.Time
	asked  sync.Map // duration → *atomic.Int64
}

func newTimers() *timers { return &timers{poll: make(chan time.Time), linger: make(chan time.Time)} }

func (c *timers) after(d time.Duration) <-chan time.Time {
	c.count(d).Add(1)
	switch d {
	case bolt.FilePoll:
		return c.poll
	case bolt.Linger:
		return c.linger
	}
	now := make(chan time.Time, 1)
	now <- time.Time{}
	return now
}

func (c *timers) count(d time.Duration) *atomic.Int64 {
	n, _ := c.asked.LoadOrStore(d, new(atomic.Int64))
	return n.(*atomic.Int64)
}

func reader(t *testing.T, dir string, c *timers) *bolt.Store {
	t.Helper()
	options := bolt.Options{Dir: dir, ReadOnly: true, Timeout: -1, Now: func() time.Time { return time.Now().Add(time.Hour) }}
	s, err := bolt.Open(options.With(bolt.Hooks{After: c.after}))
	require.NoError(t, err)
	return s
}

// eventually yields until something that another goroutine is about to do has happened.
func eventually(done func() bool) {
	for !done() {
		runtime.Gosched()
	}
}

func nothing(core.Reader) error { return nil }

func TestReaderLetsGo(t *testing.T) {
	dir, c := filled(t, 3, 3), newTimers()
	s := reader(t, dir, c)
	require.NoError(t, s.View(t.Context(), nothing))
	require.NoError(t, s.View(t.Context(), nothing))
	require.True(t, s.FileIsOpen(), "a burst of reads opens the file once")
	require.EqualValues(t, 1, c.count(bolt.Linger).Load())
	c.linger <- time.Time{}
	eventually(func() bool { return !s.FileIsOpen() })
	w, err := bolt.Open(bolt.Options{Dir: dir, Timeout: -1})
	require.NoError(t, err, "the file is free")
	require.Equal(t, core.CodeStoreLocked, core.CodeOf(s.View(t.Context(), nothing)))
	require.NoError(t, w.Close())
	require.NoError(t, s.View(t.Context(), nothing))
	require.NoError(t, s.Close())
	require.False(t, s.FileIsOpen())
	require.ErrorIs(t, s.View(t.Context(), nothing), bolt.ErrClosed)
}

// TestWriterGoesFirst: a console that reads all the time lets a waiting writer in, though its file would stay open for ever.
func TestWriterGoesFirst(t *testing.T) {
	dir, c := filled(t, 3, 3), newTimers()
	s := reader(t, dir, c)
	require.NoError(t, s.View(t.Context(), nothing))
	opened := make(chan *bolt.Store)
	go func() {
		w, err := bolt.Open(bolt.Options{Dir: dir, Timeout: time.Minute})
		if err != nil {
			t.Error(err)
		}
		opened <- w
	}()
	eventually(func() bool { return core.CodeOf(s.View(t.Context(), nothing)) == core.CodeStoreLocked })
	w := <-opened
	require.NoError(t, w.Close())
	require.NoError(t, s.Close())
}

// TestReaderAwaits: a read-only store sees another process's commits by the file's size and time and opens it only then.
func TestReaderAwaits(t *testing.T) {
	dir, c := filled(t, 3, 3), newTimers()
	s := reader(t, dir, c)
	rev, err := s.Await(t.Context(), 2)
	require.NoError(t, err)
	require.EqualValues(t, 3, rev)

	got := make(chan core.Rev)
	go func() {
		rev, _ := s.Await(t.Context(), 3)
		got <- rev
	}()
	for range 3 {
		c.poll <- time.Time{}
	}
	reads := c.count(bolt.Linger).Load()
	for range 5 {
		c.poll <- time.Time{}
	}
	require.Equal(t, reads, c.count(bolt.Linger).Load(), "an unchanged file is not opened")
	closeLinger(s, c)

	w := open(t, dir)
	update(t, w, func(tx core.Tx) error { return tx.PutSession(core.Session{Key: "new"}) })
	for range 3 {
		c.poll <- time.Time{} // it is locked: the wait goes on
	}
	require.NoError(t, w.Close())
	require.EqualValues(t, 4, tickUntil(c, got))

	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error)
	go func() {
		_, err := s.Await(ctx, 4)
		failed <- err
	}()
	cancel()
	require.ErrorIs(t, <-failed, context.Canceled)
	go func() {
		_, err := s.Await(context.Background(), 4)
		failed <- err
	}()
	require.NoError(t, s.Close())
	require.ErrorIs(t, <-failed, bolt.ErrClosed)
}

func closeLinger(s *bolt.Store, c *timers) {
	for s.FileIsOpen() {
		select {
		case c.linger <- time.Time{}:
		default:
			runtime.Gosched()
		}
	}
}

func tickUntil(c *timers, got <-chan core.Rev) core.Rev {
	for {
		select {
		case rev := <-got:
			return rev
		case c.poll <- time.Time{}:
		}
	}
}

func TestReaderNeverWrites(t *testing.T) {
	dir := filled(t, 3, 3)
	before := sum(t, file(dir))
	s := reader(t, dir, newTimers())
	_, err := s.Update(t.Context(), func(core.Tx) error { return nil })
	require.Equal(t, core.CodeReadOnly, core.CodeOf(err))
	info, err := s.Info(t.Context())
	require.NoError(t, err)
	require.True(t, info.ReadOnly)
	require.Equal(t, 3, info.Sessions)
	report, err := s.Examine(t.Context())
	require.NoError(t, err)
	require.Empty(t, report.Findings)
	require.Equal(t, 9, report.Messages)
	require.NoError(t, s.Close())
	require.Equal(t, before, sum(t, file(dir)))
}

// TestSomeoneElsesLock: a directory that is locked for other reasons (`flock DIR command`) keeps nobody from reading or writing.
func TestSomeoneElsesLock(t *testing.T) {
	dir := filled(t, 3, 3)
	d, err := os.Open(dir)
	require.NoError(t, err)
	defer func() { require.NoError(t, d.Close()) }()
	require.NoError(t, syscall.Flock(int(d.Fd()), syscall.LOCK_EX))
	s, err := bolt.Open(bolt.Options{Dir: dir, ReadOnly: true})
	require.NoError(t, err)
	require.NoError(t, s.View(t.Context(), nothing))
	require.NoError(t, s.Close())
	w, err := bolt.Open(bolt.Options{Dir: dir, Timeout: -1})
	require.NoError(t, err)
	require.NoError(t, w.Close())
}
