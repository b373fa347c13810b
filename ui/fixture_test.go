package ui

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordboard/core"
	"cordboard/core/config"
	"cordboard/core/engine"
	"cordboard/core/openclaw"
	"cordboard/store/bolt"
)

// evening is a time shortly after the fleet's last message.
var evening = time.Date(2026, 11, 30, 15, 0, 0, 0, time.UTC)

// engineOn opens the real engine on a new store, empty or with the fleet of testdata/openclaw in it.
func engineOn(t testing.TB, fleet bool) (core.Board, *bolt.Store) {
	t.Helper()
	store, err := bolt.Open(bolt.Options{Dir: t.TempDir()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	if fleet {
		report, err := openclaw.Import(t.Context(), store, "testdata/openclaw", openclaw.Options{})
		require.NoError(t, err)
		require.NotZero(t, report)
		moveSource(t, store)
	}
	return boardOver(t, store, "", core.Operator), store
}

// boardOver is the real engine on a store under a config: the inside of its braces.
func boardOver(t tester, store core.Store, text string, actor core.Actor) core.Board {
	t.Helper()
	cfg, _, err := config.Parse("test.json5", []byte("{"+text+"}"))
	require.NoError(t, err)
	e, err := engine.New(store, cfg, engine.Options{Version: "test", Owner: "this process"})
	require.NoError(t, err)
	board, err := e.Board(t.Context(), actor)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, board.Close()) })
	return board
}

// sessionsIn puts sessions into a store.
func sessionsIn(t tester, store core.Store, list ...core.Session) {
	t.Helper()
	_, err := store.Update(t.Context(), func(tx core.Tx) error {
		for _, s := range list {
			if err := tx.PutSession(s); err != nil {
				return err
			}
		}
		return nil
	})
	require.NoError(t, err)
}

// moveSource names the same source on every machine.
func moveSource(t testing.TB, store core.Store) {
	t.Helper()
	_, err := store.Update(t.Context(), func(tx core.Tx) error {
		var keys []string
		if err := tx.Heads(core.HeadCursor{}, func(h *core.Head) bool { keys = append(keys, string([]byte(h.Key))); return true }); err != nil {
			return err
		}
		for _, key := range keys {
			s, _, err := tx.Session(key)
			if err != nil {
				return err
			}
			s.Source = "/home/mira/.openclaw"
			if err := tx.PutSession(s); err != nil {
				return err
			}
		}
		return nil
	})
	require.NoError(t, err)
}
