package board_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordboard/core"
)

// What a live run says is heard at the other end as it is here, and after a loss the stream focuses again: where the reply stands is told,
// and the partial holds it.
func TestTextCrossesTheWire(t *testing.T) {
	r := newRig(t)
	direct, wired := r.both(core.Operator)
	made, err := wired.Do(t.Context(), core.Command{Send: &core.Send{Session: "agent:main:main", Message: "hello"}})
	require.NoError(t, err)
	_, err = wired.Records(t.Context(), core.RecordQuery{Kind: core.RecordRun, Run: made.Run, Wait: 60_000})
	require.NoError(t, err)
	var streams []core.Stream
	for _, b := range []core.Board{direct, wired} {
		s, err := b.Watch(t.Context(), core.Cursor{})
		require.NoError(t, err)
		require.NoError(t, s.Focus(made.Key))
		assert.Equal(t, core.CodeInvalidParams, core.CodeOf(s.Focus(make([]string, core.MaxFocus+1)...)))
		streams = append(streams, s)
	}
	sent, err := wired.Do(t.Context(), core.Command{Send: &core.Send{Session: made.Key, Message: "talk"}})
	require.NoError(t, err)
	r.say <- "<b>é\n"
	want := core.Delta{Session: made.Key, Run: sent.Run, After: 3, Text: "<b>é\n"}
	for _, s := range streams {
		assert.Equal(t, want, spoken(t, s))
	}
	q := core.MessageQuery{Session: made.Key}
	whole, err := direct.Messages(t.Context(), q)
	require.NoError(t, err)
	page, err := wired.Messages(t.Context(), q)
	require.NoError(t, err)
	same(t, "a page with a partial", whole, page)
	assert.Equal(t, &core.Partial{Run: sent.Run, After: 3, Text: "<b>é\n"}, page.Partial)

	r.stop("away for a moment")
	r.serve()
	want.Offset, want.Text = len(want.Text), ""
	assert.Equal(t, want, spoken(t, streams[1]))
	require.NoError(t, streams[1].Focus())
	require.NoError(t, streams[1].Focus(made.Key, "agent:ops:main"))
	assert.Equal(t, want, spoken(t, streams[1]))
	r.say <- "more"
	want.Text = "more"
	for _, s := range streams {
		assert.Equal(t, want, spoken(t, s))
	}
	close(r.say)
	for _, s := range streams {
		for ended := false; !ended; {
			batch, err := s.Next(t.Context())
			require.NoError(t, err)
			assert.Empty(t, batch.Deltas)
			for _, c := range batch.Changes {
				ended = ended || c.Run != nil && c.Run.ID == sent.Run && c.Run.State == core.RunEnded
			}
		}
		require.NoError(t, s.Close())
		require.NoError(t, s.Focus(made.Key), "nobody is told of it")
	}
}

// spoken is the next delta of a stream.
func spoken(t *testing.T, s core.Stream) core.Delta {
	t.Helper()
	for {
		batch, err := s.Next(t.Context())
		require.NoError(t, err)
		if len(batch.Deltas) > 0 {
			require.Len(t, batch.Deltas, 1)
			return batch.Deltas[0]
		}
	}
}
