package bolt_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"

	"cordboard/core"
	"cordboard/store/bolt"
)

// everything reads all sessions with their messages as one text.
func everything(t *testing.T, dir string) string {
	t.Helper()
	s, err := bolt.Open(bolt.Options{Dir: dir, ReadOnly: true})
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	var out bytes.Buffer
	info, err := s.Info(t.Context())
	require.NoError(t, err)
	fmt.Fprintln(&out, info.Epoch, info.Rev, info.Sessions)
	changes, err := s.Changes(t.Context(), 0, 1_000_000)
	require.NoError(t, err)
	fmt.Fprintln(&out, changes)
	require.NoError(t, s.View(t.Context(), func(r core.Reader) error {
		require.NoError(t, r.Heads(core.HeadCursor{}, func(h *core.Head) bool {
			fmt.Fprintf(&out, "%+v\n", *h)
			return true
		}))
		return r.AllGenerations("", func(g *core.Generation) bool {
			fmt.Fprintf(&out, "%+v\n", *g)
			require.NoError(t, r.Messages(g.ID, core.SeqRange{}, func(m *core.Message) bool {
				fmt.Fprintf(&out, "%d %s\n", m.Seq, m.Raw)
				return true
			}))
			return true
		})
	}))
	return out.String()
}

// purged makes a store of which nine tenths were deleted.
func purged(t *testing.T) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "data")
	s := open(t, dir)
	fill(t, s, 200, 100)
	for i := range 200 {
		if i%10 == 0 {
			continue
		}
		update(t, s, func(tx core.Tx) error {
			key := fmt.Sprintf("agent:main:s%04d", i)
			return errors.Join(tx.DeleteSession(key), tx.DeleteGeneration("t-"+key))
		})
	}
	info, err := s.Info(t.Context())
	require.NoError(t, err)
	require.Less(t, info.Used, info.Bytes/2, "R205: the free share shows")
	require.NoError(t, s.Close())
	return dir
}

// TestCompact is R194: the file shrinks, everything is the same.
func TestCompact(t *testing.T) {
	dir := purged(t)
	before, text := must(os.Stat(file(dir))).Size(), everything(t, dir)
	var told []int64
	done, err := bolt.Compact(t.Context(), file(dir), func(at, all int64) { told = append(told, at, all) })
	require.NoError(t, err)
	require.Equal(t, before, done.Before)
	after := must(os.Stat(file(dir)))
	require.Equal(t, after.Size(), done.After)
	require.Less(t, done.After, before/2)
	require.EqualValues(t, 0o600, after.Mode().Perm())
	require.Equal(t, text, everything(t, dir))
	require.Equal(t, []string{bolt.FileName}, names(t, dir))
	require.NotEmpty(t, told)
	require.Equal(t, told[len(told)-1], told[len(told)-2], "the end is told")
	requireSound(t, dir)

	s := open(t, dir) // numbers go on where they were: a new transcript and run do not fall onto old ones
	update(t, s, func(tx core.Tx) error {
		return errors.Join(putChat(tx, "agent:main:new", 999, 10), tx.PutRun(core.Run{ID: "r", SessionKey: "agent:main:new"}))
	})
	require.NoError(t, s.Close())
	requireSound(t, dir)
}

// TestCompactLeavesAlone is R197: whatever goes wrong, the source keeps its bytes and nothing lies beside it.
func TestCompactLeavesAlone(t *testing.T) {
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		ctx  context.Context
		harm func(tx *bbolt.Tx) error
		code core.Code
	}{
		"cancelled": {cancelled, func(*bbolt.Tx) error { return nil }, core.CodeInternal},
		"a head missing": {t.Context(), func(tx *bbolt.Tx) error {
			k, _ := first(tx.Bucket([]byte("ix_updated")), "")
			return tx.Bucket([]byte("ix_updated")).Delete(k)
		}, core.CodeStoreDamaged},
	} {
		t.Run(name, func(t *testing.T) {
			dir := purged(t)
			data := boltFile(t, must(os.ReadFile(file(dir))), c.harm)
			require.NoError(t, os.WriteFile(file(dir), data, 0o600))
			_, err := bolt.Compact(c.ctx, file(dir), nil)
			require.Error(t, err)
			if c.ctx.Err() != nil {
				require.ErrorIs(t, err, context.Canceled)
			} else {
				require.Equal(t, c.code, core.CodeOf(err))
			}
			require.Equal(t, data, must(os.ReadFile(file(dir))))
			require.Equal(t, []string{bolt.FileName}, names(t, dir))
		})
	}
	_, err := bolt.Compact(t.Context(), filepath.Join(t.TempDir(), bolt.FileName), nil)
	require.Equal(t, core.CodeStoreMissing, core.CodeOf(err))
}

// TestCompactUnderReaders: readers go on, and a writer that waited gets the new file, not the one that was replaced.
func TestCompactUnderReaders(t *testing.T) {
	dir, c := purged(t), newTimers()
	s := reader(t, dir, c)
	require.NoError(t, s.View(t.Context(), nothing))
	require.True(t, s.FileIsOpen())
	done, err := bolt.Compact(t.Context(), file(dir), nil)
	require.NoError(t, err)
	closeLinger(s, c)
	info, err := s.Info(t.Context())
	require.NoError(t, err)
	require.Equal(t, done.After, info.Bytes)
	require.NoError(t, s.Close())
}

func TestBackup(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	s := open(t, dir)
	fill(t, s, 50, 20)
	var wg sync.WaitGroup
	stop := make(chan struct{})
	for w := range 3 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				_, err := s.Update(context.Background(), func(tx core.Tx) error { return putChat(tx, fmt.Sprintf("agent:w%d:s%d", w, n), int64(n), 3) })
				if err != nil {
					t.Error(err)
				}
			}
		}()
	}
	for round := range 3 {
		_, err := s.Await(t.Context(), core.Rev(50+5*round))
		require.NoError(t, err)
		copied := t.TempDir()
		f, err := os.Create(file(copied))
		require.NoError(t, err)
		n, err := s.Backup(t.Context(), f)
		require.NoError(t, err)
		require.NoError(t, f.Close())
		require.Equal(t, must(os.Stat(file(copied))).Size(), n)
		requireSound(t, copied)
		requireWholeChats(t, copied)
	}
	close(stop)
	wg.Wait()
	require.NoError(t, s.Close())
}

// requireWholeChats: a backup holds no half of a transaction.
func requireWholeChats(t *testing.T, dir string) {
	t.Helper()
	s, err := bolt.Open(bolt.Options{Dir: dir, ReadOnly: true})
	require.NoError(t, err)
	require.NoError(t, s.View(t.Context(), func(r core.Reader) error {
		return r.Heads(core.HeadCursor{}, func(h *core.Head) bool {
			require.NotZero(t, h.LastSeq, "%s has its messages", h.Key)
			return true
		})
	}))
	require.NoError(t, s.Close())
}

type brokenWriter struct{ err error }

func (w brokenWriter) Write([]byte) (int, error) { return 0, w.err }

func TestBackupFails(t *testing.T) {
	s := open(t, t.TempDir())
	fill(t, s, 3, 3)
	full := errors.New("full")
	_, err := s.Backup(t.Context(), brokenWriter{full})
	require.ErrorIs(t, err, full)
	require.Equal(t, core.CodeStoreIO, core.CodeOf(err))
	ctx, cancel := context.WithCancel(t.Context())
	_, err = s.Backup(ctx, writerFunc(func(p []byte) (int, error) {
		cancel()
		return len(p), nil
	}))
	require.ErrorIs(t, err, context.Canceled)
	fill(t, s, 3, 3)
	require.NoError(t, s.Close())
}

type writerFunc func(p []byte) (int, error)

func (w writerFunc) Write(p []byte) (int, error) { return w(p) }

func TestRestore(t *testing.T) {
	dir := filled(t, 5, 5)
	epoch := func(dir string) string {
		s, err := bolt.Open(bolt.Options{Dir: dir, ReadOnly: true, Timeout: time.Second})
		require.NoError(t, err)
		info, err := s.Info(t.Context())
		require.NoError(t, err)
		require.EqualValues(t, 5, info.Rev)
		require.NoError(t, s.Close())
		return info.Epoch
	}
	target := filepath.Join(t.TempDir(), "new", "data")
	require.NoError(t, bolt.Restore(t.Context(), file(dir), bolt.Options{Dir: target}))
	requireSound(t, target)
	require.NotEqual(t, epoch(dir), epoch(target), "a cursor of the old life is none of the new")
	require.EqualValues(t, 0o600, must(os.Stat(file(target))).Mode().Perm())

	before := sum(t, file(target))
	require.Equal(t, core.CodeConflict, core.CodeOf(bolt.Restore(t.Context(), file(dir), bolt.Options{Dir: target})), "never over a store")
	require.Equal(t, before, sum(t, file(target)))
	require.Equal(t, []string{bolt.FileName}, names(t, target))

	data := must(os.ReadFile(file(dir)))
	require.NoError(t, os.WriteFile(file(dir), data[:3*page], 0o600))
	empty := t.TempDir()
	require.Equal(t, core.CodeStoreForeign, core.CodeOf(bolt.Restore(t.Context(), file(dir), bolt.Options{Dir: empty})))
	require.Empty(t, names(t, empty))
}

// A store that has nothing to give back is left alone: compacting never makes a file larger.
func TestCompactNeverGrows(t *testing.T) {
	for _, size := range []struct{ sessions, messages int }{{0, 0}, {3, 4}, {200, 10}} {
		dir := filled(t, size.sessions, size.messages)
		before := must(os.Stat(file(dir))).Size()
		for range 3 { // a compacted one too
			was := sum(t, file(dir))
			done, err := bolt.Compact(t.Context(), file(dir), nil)
			require.NoError(t, err)
			require.LessOrEqual(t, done.After, done.Before)
			require.Equal(t, must(os.Stat(file(dir))).Size(), done.After)
			require.Equal(t, []string{bolt.FileName}, names(t, dir))
			if done.After == done.Before {
				require.Equal(t, was, sum(t, file(dir)))
			}
		}
		require.LessOrEqual(t, must(os.Stat(file(dir))).Size(), before)
		requireSound(t, dir)
	}
}
