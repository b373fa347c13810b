package bolt_test

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordboard/core"
	"cordboard/store/bolt"
)

// fullStore makes a closed store whose tables have branch pages, and returns its path and bytes.
func fullStore(t *testing.T) (path string, data []byte) {
	t.Helper()
	dir := t.TempDir()
	s, err := bolt.Open(bolt.Options{Dir: dir})
	require.NoError(t, err)
	_, err = s.Update(t.Context(), func(tx core.Tx) error {
		for i := range 3000 {
			if err := tx.PutSession(core.Session{Key: fmt.Sprintf("agent:main:s%05d", i), UpdatedAt: int64(i)}); err != nil {
				return err
			}
		}
		return nil
	})
	require.NoError(t, err)
	require.NoError(t, s.Close())
	path = filepath.Join(dir, bolt.FileName)
	data, err = os.ReadFile(path)
	require.NoError(t, err)
	return path, data
}

// A branch page that leads back to itself, or to one above it, would send a reader round for ever: every way in refuses it.
func TestCirclesAmongPagesAreRefused(t *testing.T) {
	path, data := fullStore(t)
	ne := binary.NativeEndian
	const pageSize, branch = 4096, 1
	damaged := 0
	for id := 2; id < len(data)/pageSize; id++ {
		page := data[id*pageSize:]
		if ne.Uint16(page[8:]) != branch || ne.Uint64(page) != uint64(id) {
			continue
		}
		for _, element := range []int{0, 1} {
			bad := append([]byte(nil), data...)
			ne.PutUint64(bad[id*pageSize+16+element*16+8:], uint64(id))
			require.NoError(t, os.WriteFile(path, bad, 0o600))
			for _, readOnly := range []bool{true, false} {
				s, err := bolt.Open(bolt.Options{Path: path, ReadOnly: readOnly})
				if err == nil {
					err = s.View(t.Context(), func(core.Reader) error { return nil })
					require.NoError(t, s.Close())
				}
				if ne.Uint64(data[id*pageSize+16+element*16+8:]) == uint64(id) {
					continue
				}
				assert.Equal(t, core.CodeStoreDamaged, core.CodeOf(err), "page %d element %d read-only %t: %v", id, element, readOnly, err)
				damaged++
			}
			after, err := os.ReadFile(path)
			require.NoError(t, err)
			assert.Equal(t, bad, after)
		}
	}
	assert.Positive(t, damaged)
}

// A meta page that is whole by its checksum may still tell of more pages than there can be.
func TestImpossiblePageCounts(t *testing.T) {
	path, data := fullStore(t)
	ne := binary.NativeEndian
	for _, c := range []struct{ size, pages uint64 }{{1 << 24, 1<<40 + 1}, {4096, 1 << 47}, {1 << 20, 1 << 44}} {
		bad := append([]byte(nil), data...)
		for _, at := range []int{0, 4096} {
			meta := bad[at+16:]
			ne.PutUint32(meta[8:], uint32(c.size))
			ne.PutUint64(meta[40:], c.pages)
			sum := fnv.New64a()
			_, _ = sum.Write(meta[:56])
			ne.PutUint64(meta[56:], sum.Sum64())
		}
		require.NoError(t, os.WriteFile(path, bad, 0o600))
		_, err := bolt.Open(bolt.Options{Path: path})
		assert.Error(t, err)
		_, err = bolt.Doctor(t.Context(), path)
		assert.Error(t, err)
	}
}

// A store that is removed or replaced while it is in use says so instead of taking writes that nobody will find.
func TestRemovedWhileInUse(t *testing.T) {
	dir := t.TempDir()
	s, err := bolt.Open(bolt.Options{Dir: dir})
	require.NoError(t, err)
	put := func() error {
		_, err := s.Update(t.Context(), func(tx core.Tx) error { return tx.PutSession(core.Session{Key: "agent:main:main", UpdatedAt: 1}) })
		return err
	}
	require.NoError(t, put())
	require.NoError(t, os.Remove(filepath.Join(dir, bolt.FileName)))
	assert.Equal(t, core.CodeStoreMissing, core.CodeOf(put()))
	assert.Equal(t, core.CodeStoreMissing, core.CodeOf(s.Close()))
}

// Half-made copies of a process that was killed go away with the next open for writing, those of one that may live stay.
func TestLeftoversGoAway(t *testing.T) {
	path, _ := fullStore(t)
	old, young := path+".new-1", path+".new-2"
	for _, name := range []string{old, young} {
		require.NoError(t, os.WriteFile(name, []byte("x"), 0o600))
	}
	require.NoError(t, os.Chtimes(old, time.Time{}, time.Now().Add(-2*time.Hour)))
	s, err := bolt.Open(bolt.Options{Path: path})
	require.NoError(t, err)
	require.NoError(t, s.Close())
	assert.NoFileExists(t, old)
	assert.FileExists(t, young)
}

// Compacting through a link compacts what it leads to, and keeps its mode.
func TestCompactFollowsLinks(t *testing.T) {
	path, _ := fullStore(t)
	s, err := bolt.Open(bolt.Options{Path: path})
	require.NoError(t, err)
	_, err = s.Update(t.Context(), func(tx core.Tx) error {
		for i := range 2900 {
			if err := tx.DeleteSession(fmt.Sprintf("agent:main:s%05d", i)); err != nil {
				return err
			}
		}
		return nil
	})
	require.NoError(t, err)
	require.NoError(t, s.Close())
	require.NoError(t, os.Chmod(path, 0o640))
	link := filepath.Join(t.TempDir(), bolt.FileName)
	require.NoError(t, os.Symlink(path, link))
	done, err := bolt.Compact(t.Context(), link, nil)
	require.NoError(t, err)
	assert.Less(t, done.After, done.Before)
	target, err := os.Readlink(link)
	require.NoError(t, err)
	assert.Equal(t, path, target)
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, done.After, info.Size())
	assert.Equal(t, os.FileMode(0o640), info.Mode().Perm())
}
