package bolt_test

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"

	"cordboard/core"
	"cordboard/store/bolt"
)

// titled is a migration that a later cordboard might have: it puts a name into the meta table.
func titled(readable bool, runs *int) bolt.Migration {
	return bolt.Migration{To: 4, Readable: readable, Run: func(tx *bbolt.Tx) error {
		*runs++
		return tx.Bucket([]byte("meta")).Put([]byte("title"), []byte("migrated"))
	}}
}

func TestMigration(t *testing.T) {
	dir, runs := filled(t, 3, 3), 0
	later := bolt.Options{Dir: dir}.With(bolt.Hooks{Migrations: []bolt.Migration{titled(false, &runs)}})
	for range 2 {
		s, err := bolt.Open(later)
		require.NoError(t, err)
		info, err := s.Info(t.Context())
		require.NoError(t, err)
		require.Equal(t, 4, info.Schema)
		require.Equal(t, 3, info.Sessions)
		require.NoError(t, s.Close())
	}
	require.Equal(t, 1, runs, "a store is migrated once")
	requireRefused(t, file(dir), core.CodeStoreNewer, "schema 4")
}

func TestFailedMigration(t *testing.T) {
	dir, runs := filled(t, 3, 3), 0
	broken := errors.New("broken")
	steps := []bolt.Migration{titled(true, &runs), {To: 5, Run: func(*bbolt.Tx) error { return broken }}}
	_, err := bolt.Open(bolt.Options{Dir: dir}.With(bolt.Hooks{Migrations: steps}))
	require.ErrorIs(t, err, broken)
	require.Equal(t, 1, runs)
	s := open(t, dir) // all or nothing: the old program still opens it
	info, err := s.Info(t.Context())
	require.NoError(t, err)
	require.Equal(t, 3, info.Schema)
	require.NoError(t, s.Close())
}

func TestReadingAnOlderSchema(t *testing.T) {
	dir, runs := filled(t, 3, 3), 0
	before := sum(t, file(dir))
	for _, readable := range []bool{true, false} {
		o := bolt.Options{Dir: dir, ReadOnly: true}.With(bolt.Hooks{Migrations: []bolt.Migration{titled(readable, &runs)}})
		s, err := bolt.Open(o)
		if !readable {
			require.Equal(t, core.CodeReadOnly, core.CodeOf(err))
			require.ErrorContains(t, err, "for writing")
			continue
		}
		require.NoError(t, err)
		info, err := s.Info(t.Context())
		require.NoError(t, err)
		require.Equal(t, 3, info.Schema)
		require.NoError(t, s.Close())
	}
	require.Zero(t, runs)
	require.Equal(t, before, sum(t, file(dir)))
}

// TestSchemaZero brings a store of a layout before the first one up: it lacks a table and keeps its rows elsewhere.
func TestSchemaZero(t *testing.T) {
	good, err := os.ReadFile(file(filled(t, 3, 3)))
	require.NoError(t, err)
	old := boltFile(t, good, func(tx *bbolt.Tx) error {
		if err := tx.DeleteBucket([]byte("ix_parent")); err != nil {
			return err
		}
		return tx.Bucket([]byte("meta")).Put([]byte("schema"), binary.BigEndian.AppendUint64(nil, 0))
	})
	dir := t.TempDir()
	path := filepath.Join(dir, bolt.FileName)
	require.NoError(t, os.WriteFile(path, old, 0o600))
	requireRefused(t, path, core.CodeStoreForeign, "schema 0")

	rebuild := bolt.Migration{To: 1, Run: func(tx *bbolt.Tx) error {
		children, err := tx.CreateBucket([]byte("ix_parent"))
		if err != nil {
			return err
		}
		return tx.Bucket([]byte("session")).ForEach(func(key, _ []byte) error {
			return children.Put(append([]byte("agent:main:main\x00"), key...), []byte{})
		})
	}}
	s, err := bolt.Open(bolt.Options{Dir: dir}.With(bolt.Hooks{Migrations: []bolt.Migration{rebuild}}))
	require.NoError(t, err)
	require.NoError(t, s.Close())
	requireSound(t, dir)
}

// TestSchemaOne opens a store from before there were holds, usage and thread bindings: read as it is they are none, written to they are made.
func TestSchemaOne(t *testing.T) {
	good, err := os.ReadFile(file(filled(t, 3, 3)))
	require.NoError(t, err)
	old := boltFile(t, good, func(tx *bbolt.Tx) error {
		for _, name := range []string{"hold", "usage", "binding"} {
			if err := tx.DeleteBucket([]byte(name)); err != nil {
				return err
			}
		}
		return tx.Bucket([]byte("meta")).Put([]byte("schema"), binary.BigEndian.AppendUint64(nil, 1))
	})
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, bolt.FileName), old, 0o600))
	count := func(s *bolt.Store) (n int) {
		require.NoError(t, s.View(t.Context(), func(r core.Reader) error {
			if err := r.Holds(func(*core.Hold) bool { n++; return true }); err != nil {
				return err
			}
			return r.Usage(func(*core.UsageRow) bool { n++; return true })
		}))
		return n
	}
	s, err := bolt.Open(bolt.Options{Dir: dir, ReadOnly: true})
	require.NoError(t, err)
	info, err := s.Info(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, info.Schema)
	require.Zero(t, count(s))
	require.NoError(t, s.Close())

	s = open(t, dir)
	_, err = s.Update(t.Context(), func(tx core.Tx) error {
		if err := tx.PutHold(core.Hold{Agent: "main"}); err != nil {
			return err
		}
		return tx.AddUsage(core.UsageRow{Day: "2026-12-01", Agent: "main", Runs: 1})
	})
	require.NoError(t, err)
	require.Equal(t, 2, count(s))
	require.NoError(t, s.Close())
	requireSound(t, dir)
}
