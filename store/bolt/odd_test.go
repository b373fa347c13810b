package bolt_test

import (
	"bytes"
	"encoding/binary"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"

	"cordboard/core"
	"cordboard/store/bolt"
)

const page = 4096

// magicAt is where a meta page's magic lies; its checksum is 56 bytes further.
func magicAt(meta int) int { return meta*page + 16 }

// TestOddFiles is R084 and its kind: whatever lies at the store's path, opening names it and leaves it as it was.
func TestOddFiles(t *testing.T) {
	good, err := os.ReadFile(file(filled(t, 30, 20)))
	require.NoError(t, err)
	require.Equal(t, page, os.Getpagesize(), "the offsets below are those of this page size")
	patch := func(at int, b ...byte) []byte {
		out := bytes.Clone(good)
		copy(out[at:], b)
		return out
	}
	flip := func(at ...int) []byte {
		out := bytes.Clone(good)
		for _, i := range at {
			out[i] ^= 0x40
		}
		return out
	}
	random := make([]byte, 64<<10)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(random)

	for name, c := range map[string]struct {
		data []byte
		code core.Code
		says string
	}{
		"empty":                      {nil, core.CodeStoreForeign, "empty"},
		"one byte":                   {good[:1], core.CodeStoreForeign, "no store"},
		"1 KB of zeros":              {make([]byte, 1024), core.CodeStoreForeign, "no store"},
		"first KB of a store":        {good[:1024], core.CodeStoreForeign, "cut short"},
		"first page of a store":      {good[:page], core.CodeStoreForeign, "cut short"},
		"half a store":               {good[:len(good)/2], core.CodeStoreForeign, "cut short"},
		"64 KB of noise":             {random, core.CodeStoreForeign, "no store"},
		"a text":                     {bytes.Repeat([]byte("not a store\n"), 1000), core.CodeStoreForeign, "no store"},
		"both magics flipped":        {flip(magicAt(0), magicAt(1)), core.CodeStoreForeign, "no store"},
		"both checksums flipped":     {flip(magicAt(0)+56, magicAt(1)+56), core.CodeStoreDamaged, "meta pages"},
		"both versions flipped":      {flip(magicAt(0)+4, magicAt(1)+4), core.CodeStoreDamaged, "meta pages"},
		"one magic, one checksum":    {flip(magicAt(0), magicAt(1)+56), core.CodeStoreDamaged, "meta pages"},
		"absurd number of pages":     {withMeta(good, 40, 1<<40), core.CodeStoreForeign, "cut short"},
		"root beyond the end":        {withMeta(good, 16, 1<<30), core.CodeStoreDamaged, "page"},
		"freelist beyond the end":    {withMeta(good, 32, 1<<30), core.CodeStoreDamaged, "page"},
		"everything behind overlaid": {patch(2*page, bytes.Repeat([]byte{0xAA}, len(good)-2*page)...), core.CodeStoreDamaged, "page"},
		"another program's bbolt":    {foreignBolt(t, "theirs"), core.CodeStoreForeign, "other program"},
		"another program's meta":     {foreignBolt(t, "meta"), core.CodeStoreForeign, "other program"},
		"a newer schema":             {newerSchema(t, good), core.CodeStoreNewer, "schema 1000"},
		"a table is missing":         {without(t, good, "ix_parent"), core.CodeStoreDamaged, "ix_parent"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "data", bolt.FileName)
			require.NoError(t, os.Mkdir(filepath.Dir(path), 0o700))
			require.NoError(t, os.WriteFile(path, c.data, 0o600))
			requireRefused(t, path, c.code, c.says)
		})
	}
}

// requireRefused opens a file for writing and for reading.
func requireRefused(t *testing.T, path string, code core.Code, says string) {
	t.Helper()
	before, list := sum(t, path), names(t, filepath.Dir(path))
	for _, readOnly := range []bool{false, true} {
		_, err := bolt.Open(bolt.Options{Path: path, ReadOnly: readOnly})
		require.Error(t, err, "read-only %v", readOnly)
		require.Equal(t, code, core.CodeOf(err), "read-only %v: %v", readOnly, err)
		require.ErrorContains(t, err, path)
		require.ErrorContains(t, err, says)
	}
	require.Equal(t, before, sum(t, path), "the file is as it was")
	require.Equal(t, list, names(t, filepath.Dir(path)), "nothing lies beside it")
}

// withMeta sets a field of both meta pages and makes their checksums right.
func withMeta(good []byte, field int, value uint64) []byte {
	out := bytes.Clone(good)
	for meta := range 2 {
		m := out[magicAt(meta):][:64]
		binary.NativeEndian.PutUint64(m[field:], value)
		sum := fnv.New64a()
		_, _ = sum.Write(m[:56])
		binary.NativeEndian.PutUint64(m[56:], sum.Sum64())
	}
	return out
}

func boltFile(t *testing.T, start []byte, change func(tx *bbolt.Tx) error) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if start != nil {
		require.NoError(t, os.WriteFile(path, start, 0o600))
	}
	db, err := bbolt.Open(path, 0o600, nil)
	require.NoError(t, err)
	require.NoError(t, db.Update(change))
	require.NoError(t, db.Close())
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	return data
}

func foreignBolt(t *testing.T, bucket string) []byte {
	return boltFile(t, nil, func(tx *bbolt.Tx) error {
		b, err := tx.CreateBucket([]byte(bucket))
		require.NoError(t, err)
		return b.Put([]byte("app"), []byte("other"))
	})
}

func newerSchema(t *testing.T, good []byte) []byte {
	return boltFile(t, good, func(tx *bbolt.Tx) error {
		return tx.Bucket([]byte("meta")).Put([]byte("schema"), binary.BigEndian.AppendUint64(nil, 1000))
	})
}

func without(t *testing.T, good []byte, bucket string) []byte {
	return boltFile(t, good, func(tx *bbolt.Tx) error { return tx.DeleteBucket([]byte(bucket)) })
}

func TestOddPlaces(t *testing.T) {
	t.Run("a directory", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), bolt.FileName)
		require.NoError(t, os.Mkdir(path, 0o700))
		for _, readOnly := range []bool{false, true} {
			_, err := bolt.Open(bolt.Options{Path: path, ReadOnly: readOnly})
			require.Equal(t, core.CodeStoreForeign, core.CodeOf(err))
		}
	})
	t.Run("a pipe", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), bolt.FileName)
		require.NoError(t, syscall.Mkfifo(path, 0o600))
		for _, readOnly := range []bool{false, true} {
			_, err := bolt.Open(bolt.Options{Path: path, ReadOnly: readOnly})
			require.Equal(t, core.CodeStoreForeign, core.CodeOf(err))
		}
	})
	t.Run("nothing, for reading", func(t *testing.T) {
		dir := t.TempDir()
		_, err := bolt.Open(bolt.Options{Dir: dir, ReadOnly: true})
		require.Equal(t, core.CodeStoreMissing, core.CodeOf(err))
		require.ErrorContains(t, err, dir)
		require.Empty(t, names(t, dir))
	})
	t.Run("a dangling link", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), bolt.FileName)
		require.NoError(t, os.Symlink("nowhere", path))
		_, err := bolt.Open(bolt.Options{Path: path})
		require.Equal(t, core.CodeStoreMissing, core.CodeOf(err))
	})
	t.Run("below a file", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "f")
		require.NoError(t, os.WriteFile(path, nil, 0o600))
		_, err := bolt.Open(bolt.Options{Dir: filepath.Join(path, "data")})
		require.Equal(t, core.CodeStoreIO, core.CodeOf(err))
		require.ErrorContains(t, err, path)
	})
	t.Run("no place at all", func(t *testing.T) {
		_, err := bolt.Open(bolt.Options{})
		require.Equal(t, core.CodeInvalidParams, core.CodeOf(err))
	})
}

// TestOneMetaPage: with one meta page damaged the store goes on from the other, which is at most one commit behind.
func TestOneMetaPage(t *testing.T) {
	for meta := range 2 {
		dir := filled(t, 5, 3)
		data, err := os.ReadFile(file(dir))
		require.NoError(t, err)
		data[magicAt(meta)] ^= 1
		require.NoError(t, os.WriteFile(file(dir), data, 0o600))

		report, err := bolt.Doctor(t.Context(), file(dir))
		require.NoError(t, err)
		require.NotEmpty(t, report.Findings)
		require.Contains(t, report.Findings[0].What, "meta page")
		s := open(t, dir)
		require.EqualValues(t, 6, update(t, s, func(tx core.Tx) error { return tx.PutSession(core.Session{Key: "new"}) }))
		update(t, s, func(tx core.Tx) error { return tx.PutSession(core.Session{Key: "newer"}) })
		require.NoError(t, s.Close())
		requireSound(t, dir)
	}
}

// TestAnyByte flips bytes all over a store, closed well or not: opening, the doctor and a full read answer, with an error or without;
// none of them takes the process down, and a refused file keeps its bytes.
func TestAnyByte(t *testing.T) {
	dir := filled(t, 12, 12)
	clean, err := os.ReadFile(file(dir))
	require.NoError(t, err)
	s := open(t, dir)
	update(t, s, func(tx core.Tx) error { return tx.PutSession(core.Session{Key: "last"}) })
	unclean, err := os.ReadFile(file(dir)) // its freelist is not written, as after a crash
	require.NoError(t, err)
	require.NoError(t, s.Close())

	rng := rand.New(rand.NewPCG(7, 7))
	path := filepath.Join(t.TempDir(), bolt.FileName)
	rounds := 400
	if testing.Short() {
		rounds = 100
	}
	refused := 0
	for round := range rounds {
		data := bytes.Clone([][]byte{clean, unclean}[round%2])
		for range 1 + rng.IntN(3) {
			at := rng.IntN(len(data))
			data[at] ^= byte(1 + rng.IntN(255))
			if rng.IntN(4) == 0 { // a whole page
				at -= at % page
				copy(data[at:], bytes.Repeat([]byte{byte(rng.IntN(256))}, page))
			}
		}
		require.NoError(t, os.WriteFile(path, data, 0o600))
		_, err := bolt.Doctor(t.Context(), path)
		requireNamed(t, err)
		before := sum(t, path)
		s, err := bolt.Open(bolt.Options{Path: path})
		if err != nil {
			refused++
			requireNamed(t, err)
			require.Equal(t, before, sum(t, path))
			continue
		}
		_, err = s.Examine(t.Context())
		requireNamed(t, err)
		_, err = s.Update(t.Context(), func(tx core.Tx) error { return putChat(tx, "agent:main:s0003", 99, 3) })
		requireNamed(t, err)
		requireNamed(t, s.Close())
	}
	require.NotZero(t, refused)
	require.Less(t, refused, rounds)
}

func requireNamed(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		require.Contains(t, []core.Code{core.CodeStoreDamaged, core.CodeStoreForeign, core.CodeStoreIO, core.CodeStoreNewer, core.CodeReadOnly},
			core.CodeOf(err), "%v", err)
	}
}
