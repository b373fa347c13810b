package bolt_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"cordboard/core"
	"cordboard/store/bolt"
)

func TestSmoke(t *testing.T) {
	ctx := context.Background()
	dir := filepath.Join(t.TempDir(), "data")
	s, err := bolt.Open(bolt.Options{Dir: dir})
	require.NoError(t, err)
	rev, err := s.Update(ctx, func(tx core.Tx) error {
		if err := tx.PutSession(core.Session{Key: "agent:main:main", SessionID: "g1", UpdatedAt: 5, Label: "hello"}); err != nil {
			return err
		}
		if err := tx.PutGeneration(core.Generation{ID: "g1", SessionID: "g1", Key: "agent:main:main"}); err != nil {
			return err
		}
		_, _, err := tx.Append("g1", core.Message{Role: core.RoleUser, Raw: json.RawMessage(`{"role":"user"}`)})
		return err
	})
	require.NoError(t, err)
	require.EqualValues(t, 1, rev)
	require.NoError(t, s.Close())

	s, err = bolt.Open(bolt.Options{Dir: dir, ReadOnly: true})
	require.NoError(t, err)
	require.NoError(t, s.View(ctx, func(r core.Reader) error {
		h, ok, err := r.Head("agent:main:main")
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, core.Head{
			Key: "agent:main:main", UpdatedAt: 5, Kind: core.KindOther, Flags: core.FlagLabelled, Title: "hello",
			Channel: "unknown", LastSeq: 1, Rev: 1,
		}, h)
		return nil
	}))
	info, err := s.Info(ctx)
	require.NoError(t, err)
	t.Logf("%+v", info)
	require.NoError(t, s.Close())
	st, err := os.Stat(filepath.Join(dir, bolt.FileName))
	require.NoError(t, err)
	require.EqualValues(t, 0o600, st.Mode().Perm())
}
