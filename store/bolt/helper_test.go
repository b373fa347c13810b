package bolt_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"cordboard/core"
	"cordboard/store/bolt"
)

func open(t testing.TB, dir string) *bolt.Store {
	t.Helper()
	s, err := bolt.Open(bolt.Options{Dir: dir})
	require.NoError(t, err)
	return s
}

func file(dir string) string { return filepath.Join(dir, bolt.FileName) }

func update(t testing.TB, s core.Store, fn func(core.Tx) error) core.Rev {
	t.Helper()
	rev, err := s.Update(context.Background(), fn)
	require.NoError(t, err)
	return rev
}

// fill puts n sessions with a transcript of m messages each, in one transaction per session.
func fill(t testing.TB, s core.Store, n, m int) {
	t.Helper()
	for i := range n {
		update(t, s, func(tx core.Tx) error { return putChat(tx, fmt.Sprintf("agent:main:s%04d", i), int64(i), m) })
	}
}

func putChat(tx core.Tx, key string, at int64, messages int) error {
	id := "t-" + key
	if err := tx.PutSession(core.Session{Key: key, SessionID: id, UpdatedAt: at, Label: "label of " + key, SpawnedBy: "agent:main:main"}); err != nil {
		return err
	}
	if err := tx.PutGeneration(core.Generation{ID: id, SessionID: id, Key: key, State: core.GenerationCurrent}); err != nil {
		return err
	}
	list := make([]core.Message, messages)
	for i := range list {
		list[i] = core.Message{Role: core.RoleUser, At: int64(i), Raw: fmt.Appendf(nil, `{"role":"user","content":"message %d of %s"}`, i, key)}
	}
	_, _, err := tx.Append(id, list...)
	return err
}

// filled makes a store that was closed cleanly.
func filled(t testing.TB, sessions, messages int) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "data")
	s := open(t, dir)
	fill(t, s, sessions, messages)
	require.NoError(t, s.Close())
	return dir
}

func requireSound(t testing.TB, dir string) {
	t.Helper()
	report, err := bolt.Doctor(context.Background(), file(dir))
	require.NoError(t, err)
	require.Empty(t, report.Findings)
}

func sum(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}

func names(t testing.TB, dir string) (out []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}
