package bolt_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"

	"cordboard/core"
	"cordboard/store/bolt"
)

// TestOneBadRecord is R195: one record that cannot be read does not hide the others; the walk tells of it at its end.
func TestOneBadRecord(t *testing.T) {
	const key = "agent:main:s0001"
	for name, c := range map[string]struct {
		table, at string
		walk      func(r core.Reader, seen func() bool) error
	}{
		"heads": {"ix_updated", key, func(r core.Reader, seen func() bool) error {
			return r.Heads(core.HeadCursor{}, func(*core.Head) bool { return seen() })
		}},
		"transcripts": {"gen", key, func(r core.Reader, seen func() bool) error {
			return r.AllGenerations("", func(*core.Generation) bool { return seen() })
		}},
		"messages": {"msg", "\x01\x00\x00\x00\x00\x00\x00\x00\x02", func(r core.Reader, seen func() bool) error {
			return r.Messages("t-agent:main:s0000", core.SeqRange{}, func(*core.Message) bool { return seen() })
		}},
		"runs": {"run", "r1", func(r core.Reader, seen func() bool) error {
			return r.LiveRuns(func(*core.Run) bool { return seen() })
		}},
		"exchanges": {"exch", "r1", func(r core.Reader, seen func() bool) error {
			return r.Exchanges(func(*core.Exchange) bool { return seen() })
		}},
		"due entries": {"due", "", func(r core.Reader, seen func() bool) error {
			return r.Due(math.MaxInt64, func(core.Due) bool { return seen() })
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, t.TempDir())
			fill(t, s, 3, 3)
			for i := range 3 {
				id := fmt.Sprint("r", i)
				update(t, s, func(tx core.Tx) error {
					if err := tx.PutRun(core.Run{ID: id, SessionKey: key, State: core.RunQueued}); err != nil {
						return err
					}
					if err := tx.PutDue(core.Due{At: int64(i), Kind: "k", ID: id}); err != nil {
						return err
					}
					return tx.PutExchange(core.Exchange{ID: id})
				})
			}
			require.NoError(t, s.Raw().Update(func(tx *bbolt.Tx) error {
				b := tx.Bucket([]byte(c.table))
				k, _ := first(b, c.at)
				if c.table == "due" {
					if err := b.Delete(k); err != nil {
						return err
					}
					k = k[:8]
				}
				return b.Put(k, []byte{0})
			}))
			seen := 0
			err := s.View(t.Context(), func(r core.Reader) error { return c.walk(r, func() bool { seen++; return true }) })
			require.Equal(t, core.CodeStoreDamaged, core.CodeOf(err))
			require.Equal(t, 2, seen)
			require.NoError(t, s.Close())
		})
	}
}

// TestAbsurdRevision: a damaged number in the log costs no more than a few removals.
func TestAbsurdRevision(t *testing.T) {
	s := open(t, t.TempDir())
	fill(t, s, 3, 3)
	require.NoError(t, s.Raw().Update(func(tx *bbolt.Tx) error { return tx.Bucket([]byte("log")).Put(be(math.MaxUint64/2), []byte{}) }))
	fill(t, s, 3, 3)
	require.NoError(t, s.Close())
}

// TestLongRead: the file grows while a reader holds its snapshot; neither waits for the other.
func TestLongRead(t *testing.T) {
	s := open(t, t.TempDir())
	fill(t, s, 1, 1)
	require.NoError(t, s.View(t.Context(), func(r core.Reader) error {
		grown := make(chan error)
		go func() {
			for i := range 10 {
				if _, err := s.Update(context.Background(), func(tx core.Tx) error {
					_, _, err := tx.Append("t-agent:main:s0000", core.Message{Raw: bytes.Repeat([]byte{byte(i)}, 2<<20)})
					return err
				}); err != nil {
					grown <- err
				}
			}
			grown <- s.View(context.Background(), nothing)
		}()
		require.NoError(t, <-grown)
		g, _, err := r.Generation("t-agent:main:s0000")
		require.EqualValues(t, 1, g.LastSeq)
		return err
	}))
	info, err := s.Info(t.Context())
	require.NoError(t, err)
	require.Greater(t, info.Bytes, int64(20<<20))
	require.NoError(t, s.Close())
}

// TestNoMmap is R204: where a file cannot be mapped, opening says so and names the path.
func TestNoMmap(t *testing.T) {
	dir := filled(t, 3, 3)
	before := sum(t, file(dir))
	cmd, _, out := child(t, "nomap", dir)
	said, err := out.ReadString('\n')
	require.NoError(t, err)
	require.NoError(t, cmd.Wait())
	require.Contains(t, said, string(core.CodeStoreIO))
	require.Contains(t, said, file(dir))
	require.Equal(t, before, sum(t, file(dir)))
}

// openWithoutRoom is a child that may not map a gigabyte more.
func openWithoutRoom(dir string) int {
	data, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		fmt.Println(err)
		return 0
	}
	pages, _ := strconv.ParseUint(strings.Fields(string(data))[0], 10, 64)
	limit := pages*uint64(os.Getpagesize()) + 256<<20
	if err := syscall.Setrlimit(syscall.RLIMIT_AS, &syscall.Rlimit{Cur: limit, Max: limit}); err != nil {
		fmt.Println(err)
		return 0
	}
	_, err = bolt.Open(bolt.Options{Dir: dir})
	fmt.Println(core.CodeOf(err), err)
	return 0
}
