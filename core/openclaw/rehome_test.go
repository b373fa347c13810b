package openclaw

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordboard/core"
)

var errFull = errors.New("the disk is full")

// full is a store that takes so many transactions.
type full struct {
	core.Store
	left int
}

func (f *full) Update(ctx context.Context, fn func(core.Tx) error) (core.Rev, error) {
	if f.left--; f.left < 0 {
		return 0, errFull
	}
	return f.Store.Update(ctx, fn)
}

// A directory that was moved is the one it was, wherever the moving of its sessions is cut short.
func TestAMovedDirectoryIsTheSameOne(t *testing.T) {
	for cut := range 5 {
		old := copyOf(t, fleet)
		s := newStore(t)
		imported(t, s, old.dir)
		before := generations(t, s)
		keys := sessionKeys(t, s)
		now := state{t, filepath.Join(t.TempDir(), "elsewhere")}
		require.NoError(t, os.Rename(old.dir, now.dir))
		real, err := filepath.EvalSymlinks(now.dir)
		require.NoError(t, err)
		row := session(t, s, "agent:main:main")
		now.append("main", row.SessionID+".jsonl", said("user", "after the move"))
		if cut > 0 {
			_, err := Import(t.Context(), &full{s, cut - 1}, now.dir, Options{})
			require.ErrorIs(t, err, errFull)
		}
		report := imported(t, s, now.dir)
		if cut == 0 {
			require.NotEmpty(t, report.Problems)
			assert.Contains(t, report.Problems[0].Reason, "was imported from "+old.dir+", which is gone")
			assert.Equal(t, 1, report.Messages)
		}
		assert.Zero(t, report.Sessions.Added+report.Sessions.Skipped)
		assert.Zero(t, report.Transcripts.Added+report.Transcripts.Skipped)
		after := generations(t, s)
		assert.Len(t, after, len(before))
		for id, g := range after {
			assert.Equal(t, before[id].State, g.State)
			assert.Equal(t, before[id].Key, g.Key)
			assert.False(t, strings.HasPrefix(g.File, old.dir), g.File)
		}
		assert.Equal(t, "after the move", texts(t, s, row.SessionID)[len(texts(t, s, row.SessionID))-1])
		assert.ElementsMatch(t, keys, sessionKeys(t, s))
		for _, k := range keys {
			assert.Equal(t, real, session(t, s, k).Source)
		}
		dump := dumped(t, s)
		assert.NotContains(t, dump, old.dir)
		imported(t, s, now.dir)
		assert.Equal(t, dump, dumped(t, s))
	}
}

// A directory of the same keys is another one when its sessions are others, or when the first one is still there.
func TestADirectoryOfTheSameKeysIsAnotherOne(t *testing.T) {
	for _, c := range []struct {
		id   string
		gone bool
	}{{"t", true}, {"s", false}} {
		old, other := newState(t), newState(t)
		old.write("a", indexName, `{"agent:a:main":{"sessionId":"s","updatedAt":7}}`)
		old.write("a", "s.jsonl", said("user", "one"))
		other.write("a", indexName, `{"agent:a:main":{"sessionId":"`+c.id+`","updatedAt":7}}`)
		other.write("a", c.id+".jsonl", said("user", "two"))
		s := newStore(t)
		source := imported(t, s, old.dir).Source
		if c.gone {
			require.NoError(t, os.RemoveAll(old.dir))
		}
		assert.Equal(t, map[string]int{source: 1}, imported(t, s, other.dir).Others)
		assert.Equal(t, source, session(t, s, "agent:a:main").Source)
		assert.Equal(t, []string{"one"}, texts(t, s, "s"))
	}
}
