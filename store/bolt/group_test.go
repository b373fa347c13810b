package bolt_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"

	"cordboard/core"
	"cordboard/store/bolt"
)

// commits counts bbolt's transactions that were written so far.
func commits(t *testing.T, s *bolt.Store) (n int) {
	t.Helper()
	require.NoError(t, s.Raw().View(func(tx *bbolt.Tx) error {
		n = tx.ID()
		return nil
	}))
	return n
}

// queueUp holds the writer up until n functions wait, lets them go and returns their answers. fn may be called more than once.
func queueUp(t *testing.T, s *bolt.Store, n int, fn func(i int, tx core.Tx) error) (revs []core.Rev, errs []error) {
	t.Helper()
	running, gate := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		defer wg.Done()
		_, _ = s.Update(context.Background(), func(core.Tx) error {
			close(running)
			<-gate
			return nil
		})
	}()
	<-running
	revs, errs = make([]core.Rev, n), make([]error, n)
	for i := range n {
		wg.Add(1)
		go func() {
			defer wg.Done()
			revs[i], errs[i] = s.Update(context.Background(), func(tx core.Tx) error { return fn(i, tx) })
		}()
		eventually(func() bool { return s.Queued() == i+1 })
	}
	close(gate)
	wg.Wait()
	return revs, errs
}

// TestGroupCommit is R201: what queues during an fsync is committed together, each function under its own revision, in queue order.
func TestGroupCommit(t *testing.T) {
	s := open(t, t.TempDir())
	before := commits(t, s)
	revs, errs := queueUp(t, s, 1000, func(i int, tx core.Tx) error { return tx.PutSession(core.Session{Key: fmt.Sprint("k", i)}) })
	require.NoError(t, errors.Join(errs...))
	for i, rev := range revs {
		require.EqualValues(t, i+1, rev)
	}
	require.LessOrEqual(t, commits(t, s)-before, 3)
	require.NoError(t, s.Close())
}

// TestGroupFailure: functions that fail or panic in the middle of a group leave the others as if they had never been there.
func TestGroupFailure(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	broken := errors.New("broken")
	before := commits(t, s)
	revs, errs := queueUp(t, s, 60, func(i int, tx core.Tx) error {
		if i%6 == 5 {
			return broken // before it wrote: nothing need be undone
		}
		if err := tx.PutSession(core.Session{Key: fmt.Sprintf("k%02d", i)}); err != nil {
			return err
		}
		switch i % 6 {
		case 1:
			return broken
		case 3:
			panic(broken)
		}
		return nil
	})
	next := core.Rev(0)
	for i := range 60 {
		switch i % 6 {
		case 1, 5:
			require.ErrorIs(t, errs[i], broken)
		case 3:
			require.Equal(t, core.CodeInternal, core.CodeOf(errs[i]))
		default:
			next++
			require.NoError(t, errs[i])
			require.Equal(t, next, revs[i])
		}
	}
	require.Equal(t, 1, commits(t, s)-before, "one commit for all of them")
	changes, err := s.Changes(t.Context(), 0, 100)
	require.NoError(t, err)
	require.Len(t, changes, 30)
	for _, c := range changes {
		require.Len(t, c.Changes, 1)
	}
	require.NoError(t, s.Close())
	requireSound(t, dir)
}

// TestNothingWritten: functions that write nothing cost no commit.
func TestNothingWritten(t *testing.T) {
	s := open(t, t.TempDir())
	before := commits(t, s)
	for range 10 {
		require.Zero(t, update(t, s, func(tx core.Tx) error { return tx.DeleteSession("absent") }))
	}
	require.Equal(t, before, commits(t, s))
	require.NoError(t, s.Close())
}

// TestOneCommitPerUpdate: a message, its row, the head and the log are one commit of few pages.
func TestOneCommitPerUpdate(t *testing.T) {
	s := open(t, t.TempDir())
	fill(t, s, 200, 20)
	before, pages := commits(t, s), pagesAllocated(s)
	const n = 50
	for i := range n {
		update(t, s, func(tx core.Tx) error { return turn(tx, "agent:main:s0100", int64(1000+i)) })
	}
	require.Equal(t, n, commits(t, s)-before)
	require.Less(t, (pagesAllocated(s)-pages)/n, int64(20), "pages per commit")
	require.NoError(t, s.Close())
}

func pagesAllocated(s *bolt.Store) int64 {
	stats := s.Raw().Stats()
	return stats.TxStats.GetPageCount()
}

// turn is what one message costs an engine: the message and the moved row.
func turn(tx core.Tx, key string, at int64) error {
	row, _, err := tx.Session(key)
	if err != nil {
		return err
	}
	row.UpdatedAt = at
	if err := tx.PutSession(row); err != nil {
		return err
	}
	_, _, err = tx.Append(row.SessionID, core.Message{Role: core.RoleUser, At: at, Raw: message})
	return err
}

var message = []byte(`{"role":"user","content":"` + strings.Repeat("x", 1900) + `"}`)

// TestLogHorizon: the log keeps the newest revisions and tells a gap from an end.
func TestLogHorizon(t *testing.T) {
	dir := t.TempDir()
	s, err := bolt.Open(bolt.Options{Dir: dir}.With(bolt.Hooks{Keep: 10, Slice: 3}))
	require.NoError(t, err)
	for i := 1; i <= 40; i++ {
		rev := update(t, s, func(tx core.Tx) error { return tx.PutSession(core.Session{Key: "a"}) })
		require.EqualValues(t, i, rev)
		oldest := 0
		for ; ; oldest++ {
			got, err := s.Changes(t.Context(), core.Rev(oldest), 100)
			if errors.Is(err, core.ErrGap) {
				continue
			}
			require.NoError(t, err)
			require.Len(t, got, i-oldest)
			break
		}
		if i > 10 {
			require.GreaterOrEqual(t, i-oldest, 10, "the newest ten are there")
		}
		require.LessOrEqual(t, i-oldest, 13)
	}
	require.NoError(t, s.Close())
	requireSound(t, dir)
}

// TestPurge: a large transcript goes in slices behind other commits; nothing of it is left in the end.
func TestPurge(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	update(t, s, func(tx core.Tx) error { return putChat(tx, "agent:main:big", 1, 5000) })
	update(t, s, func(tx core.Tx) error { return putChat(tx, "agent:main:small", 1, 5) })
	revs, errs := queueUp(t, s, 3, func(_ int, tx core.Tx) error { return tx.DeleteGeneration("t-agent:main:big") })
	require.NoError(t, errors.Join(errs...))
	require.EqualValues(t, []core.Rev{3, 3, 3}, revs)
	eventually(func() bool { return keys(t, s, "purge") == 0 })
	require.Equal(t, 5, keys(t, s, "msg"))
	rev, err := s.Await(t.Context(), 2)
	require.NoError(t, err)
	require.EqualValues(t, 3, rev, "purging takes no revision")
	require.NoError(t, s.Close())
	requireSound(t, dir)

	s = open(t, dir) // a purge that a crash cut short goes on
	update(t, s, func(tx core.Tx) error { return putChat(tx, "agent:main:big", 1, 5000) })
	update(t, s, func(tx core.Tx) error { return tx.DeleteGeneration("t-agent:main:big") })
	require.NoError(t, s.Close())
	s = open(t, dir)
	eventually(func() bool { return keys(t, s, "purge") == 0 })
	require.Equal(t, 5, keys(t, s, "msg"))
	require.NoError(t, s.Close())
	requireSound(t, dir)
}

func keys(t *testing.T, s *bolt.Store, table string) (n int) {
	t.Helper()
	require.NoError(t, s.Raw().View(func(tx *bbolt.Tx) error {
		c := tx.Bucket([]byte(table)).Cursor()
		for k, _ := c.First(); k != nil; k, _ = c.Next() {
			n++
		}
		return nil
	}))
	return n
}

// TestSyncIsOn is R200: no option and no line of the program turns fsync off.
func TestSyncIsOn(t *testing.T) {
	s := open(t, t.TempDir())
	require.False(t, s.Raw().NoSync)
	require.False(t, s.Raw().NoGrowSync)
	require.True(t, s.Raw().NoFreelistSync)
	require.NoError(t, s.Close())
	off := regexp.MustCompile(`\b(NoSync|NoGrowSync)\b`)
	sources, err := filepath.Glob("*.go")
	require.NoError(t, err)
	for _, name := range sources {
		if !strings.HasSuffix(name, "_test.go") {
			require.NotRegexp(t, off, string(must(os.ReadFile(name))), name)
		}
	}
}

// TestCleanClose: the freelist is in the file after a close, also when the store was only taken over from a crash.
func TestCleanClose(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	fill(t, s, 3, 3)
	crashed := must(os.ReadFile(file(dir)))
	require.NoError(t, s.Close())
	require.True(t, hasFreelist(t, must(os.ReadFile(file(dir)))))
	require.False(t, hasFreelist(t, crashed))
	require.NoError(t, os.WriteFile(file(dir), crashed, 0o600))
	require.NoError(t, open(t, dir).Close())
	require.True(t, hasFreelist(t, must(os.ReadFile(file(dir)))))
	before := sum(t, file(dir))
	require.NoError(t, open(t, dir).Close())
	require.Equal(t, before, sum(t, file(dir)), "opening and closing writes nothing")
}

func hasFreelist(t *testing.T, data []byte) bool {
	t.Helper()
	newest, free := uint64(0), uint64(0)
	for meta := range 2 {
		m := data[magicAt(meta):]
		if txid := native(m[48:]); txid >= newest {
			newest, free = txid, native(m[32:])
		}
	}
	return free != ^uint64(0)
}

// TestModes: the directory is the user's alone, and so is the file.
func TestModes(t *testing.T) {
	dir := filled(t, 1, 1)
	require.EqualValues(t, 0o700, must(os.Stat(dir)).Mode().Perm())
	require.EqualValues(t, 0o600, must(os.Stat(file(dir))).Mode().Perm())
}
