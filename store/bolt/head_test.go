package bolt_test

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"
	"pgregory.net/rapid"

	"cordboard/core"
	"cordboard/core/proptest"
)

func native(b []byte) uint64 { return binary.NativeEndian.Uint64(b) }

// TestWalkingAllocatesNothing: visiting ten times as many heads or messages costs no allocation more.
func TestWalkingAllocatesNothing(t *testing.T) {
	s := open(t, t.TempDir())
	fill(t, s, 500, 2)
	update(t, s, func(tx core.Tx) error { return putChat(tx, "agent:main:long", 0, 2000) })
	for name, walk := range map[string]func(r core.Reader, n int) error{
		"heads": func(r core.Reader, n int) error {
			return r.Heads(core.HeadCursor{}, func(*core.Head) bool { n--; return n > 0 })
		},
		"messages": func(r core.Reader, n int) error {
			return r.Messages("t-agent:main:long", core.SeqRange{Backward: true}, func(*core.Message) bool { n--; return n > 0 })
		},
		"children": func(r core.Reader, n int) error {
			return r.Children("agent:main:main", func(string) bool { n--; return n > 0 })
		},
	} {
		cost := func(n int) float64 {
			return testing.AllocsPerRun(20, func() {
				require.NoError(t, s.View(t.Context(), func(r core.Reader) error { return walk(r, n) }))
			})
		}
		require.LessOrEqual(t, cost(400), cost(40)+2, name) // the cursor's own stack may grow once
	}
	require.NoError(t, s.Close())
}

// TestClonesAreStable: what was cloned in a visit is the same after the pages were written over.
func TestClonesAreStable(t *testing.T) {
	s := open(t, t.TempDir())
	fill(t, s, 50, 2)
	var kept []string
	require.NoError(t, s.View(t.Context(), func(r core.Reader) error {
		return r.Heads(core.HeadCursor{}, func(h *core.Head) bool {
			kept = append(kept, strings.Clone(h.Key)+"|"+strings.Clone(h.Title))
			return true
		})
	}))
	for range 5 {
		for i := range 50 {
			update(t, s, func(tx core.Tx) error {
				return tx.PutSession(core.Session{Key: fmt.Sprintf("other%04d", i), Label: "overwritten"})
			})
		}
	}
	for i, text := range kept {
		key := fmt.Sprintf("agent:main:s%04d", 49-i)
		require.Equal(t, key+"|label of "+key, text)
	}
	require.NoError(t, s.Close())
}

// TestHeadsAreSmall: whatever a row holds, its head has at most 128 bytes and says the truth, cut or left to the row where it must be.
func TestHeadsAreSmall(t *testing.T) {
	s := open(t, t.TempDir())
	defer func() { require.NoError(t, s.Close()) }()
	text := rapid.StringOfN(rapid.Rune(), 0, 150, 300)
	id := rapid.StringMatching(`[a-z0-9:]{1,400}`)
	proptest.Check(t, func(rt *rapid.T) {
		row := core.Session{
			Key: id.Draw(rt, "key"), UpdatedAt: rapid.Int64().Draw(rt, "at"), SpawnedBy: id.Draw(rt, "parent"), Label: text.Draw(rt, "label"),
			LastChannel: text.Draw(rt, "channel"), TotalTokens: rapid.Ptr(rapid.Int64(), true).Draw(rt, "tokens"),
			ContextTokens: rapid.Ptr(rapid.Int64(), true).Draw(rt, "context"),
		}
		_, err := s.Update(t.Context(), func(tx core.Tx) error { return tx.PutSession(row) })
		require.NoError(rt, err)
		require.NoError(rt, s.View(t.Context(), func(r core.Reader) error {
			h, ok, err := r.Head(row.Key)
			require.NoError(rt, err)
			require.True(rt, ok)
			require.Equal(rt, row.UpdatedAt, h.UpdatedAt)
			require.Equal(rt, row.TotalTokens != nil, h.Flags.Has(core.FlagTokensKnown))
			if row.TotalTokens != nil {
				require.Equal(rt, *row.TotalTokens, h.Tokens)
			}
			if !h.Flags.Has(core.FlagParentOnRow) {
				require.Equal(rt, row.SpawnedBy, h.Parent)
			}
			require.True(rt, strings.HasPrefix(row.Label, h.Title))
			return nil
		}))
		require.NoError(rt, s.Raw().View(func(tx *bbolt.Tx) error {
			return tx.Bucket([]byte("ix_updated")).ForEach(func(_, v []byte) error {
				require.LessOrEqual(rt, len(v), 128)
				return nil
			})
		}))
	})
}

// TestRowsAreSmall is R083: a row has no part in the size of its transcript.
func TestRowsAreSmall(t *testing.T) {
	s := open(t, t.TempDir())
	update(t, s, func(tx core.Tx) error { return putChat(tx, "agent:main:big", 1, 20_000) })
	require.NoError(t, s.Raw().View(func(tx *bbolt.Tx) error {
		require.Less(t, len(tx.Bucket([]byte("session")).Get([]byte("agent:main:big"))), 512)
		return nil
	}))
	require.NoError(t, s.Close())
}
