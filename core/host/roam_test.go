package host_test

import (
	"io"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordboard/core"
	"cordboard/core/host"
)

// A board for reading goes with the store: from the file to an owner that comes, on to the next, and back to the file when none is left.
// Its stream misses nothing on the way.
func TestReaderGoesWithTheStore(t *testing.T) {
	o := options(t)
	h, err := host.Read(t.Context(), o)
	require.NoError(t, err)
	defer h.Close()
	assert.False(t, h.Attached())
	b, err := h.Board(t.Context(), core.Operator)
	require.NoError(t, err)
	defer b.Close()
	stream, err := b.Watch(t.Context(), core.Cursor{})
	require.NoError(t, err)
	defer stream.Close()
	page, err := b.Sessions(t.Context(), core.SessionQuery{})
	require.NoError(t, err)
	from := page.At.Rev
	_, err = b.Do(t.Context(), core.Command{New: &core.New{}})
	assert.Equal(t, core.CodeReadOnly, core.CodeOf(err))

	next := func(label string) {
		t.Helper()
		for {
			batch, err := stream.Next(t.Context())
			require.NoError(t, err)
			assert.False(t, batch.Gap)
			assert.Equal(t, from, batch.From)
			from = batch.To
			for _, c := range batch.Changes {
				if c.Head != nil && c.Head.Title == label {
					return
				}
			}
		}
	}
	sees := func(want int) {
		t.Helper()
		page, err := b.Sessions(t.Context(), core.SessionQuery{})
		require.NoError(t, err)
		assert.Len(t, page.Rows, want)
	}
	for round, label := range []string{"first", "second"} {
		var made sync.WaitGroup
		made.Go(func() { // while the stream waits on the file
			owned, err := host.Attach(t.Context(), o)
			if !assert.NoError(t, err) {
				return
			}
			defer owned.Close()
			board, err := owned.Board(t.Context(), core.Operator)
			if !assert.NoError(t, err) {
				return
			}
			defer board.Close()
			_, err = board.Do(t.Context(), core.Command{New: &core.New{Label: label}})
			assert.NoError(t, err)
		})
		next(label)
		made.Wait()
		assert.True(t, h.Attached())
		sees(round + 1)
		if round == 0 {
			killed(t, o)
		} else {
			_, err = host.Stop(t.Context(), o)
			require.NoError(t, err)
		}
		sees(round + 1)
		assert.False(t, h.Attached())
	}
	assert.Equal(t, core.CodeNotFound, core.CodeOf(h.Export(t.Context(), "agent:main:nobody", io.Discard)))
	require.NoError(t, h.Backup(t.Context(), io.Discard))
}

// A stream hears what live runs say as soon as the store has an owner, and again where the next one is.
func TestReaderHearsWhoeverOwnsTheStore(t *testing.T) {
	o := options(t)
	h, err := host.Read(t.Context(), o)
	require.NoError(t, err)
	defer h.Close()
	b, err := h.Board(t.Context(), core.Operator)
	require.NoError(t, err)
	defer b.Close()
	stream, err := b.Watch(t.Context(), core.Cursor{})
	require.NoError(t, err)
	defer stream.Close()
	require.NoError(t, stream.Focus("agent:main:main"))
	for range 2 {
		var made sync.WaitGroup
		heard := make(chan struct{})
		made.Go(func() {
			owned, err := host.Attach(t.Context(), o)
			if !assert.NoError(t, err) {
				return
			}
			defer owned.Close()
			board, err := owned.Board(t.Context(), core.Operator)
			if !assert.NoError(t, err) {
				return
			}
			defer board.Close()
			_, err = board.Do(t.Context(), core.Command{Send: &core.Send{Session: "agent:main:main", Message: "[[think:hm]][[sleep:1h]]"}})
			assert.NoError(t, err)
			<-heard
		})
		for text := ""; text != "hm"; {
			batch, err := stream.Next(t.Context())
			require.NoError(t, err)
			for _, d := range batch.Deltas {
				assert.Equal(t, "agent:main:main", d.Session)
				assert.True(t, d.Thought)
				text += d.Text
				if d.Offset > 0 { // the focus came after it: it is in the partial
					page, err := b.Messages(t.Context(), core.MessageQuery{Session: d.Session})
					require.NoError(t, err)
					text = page.Partial.Thought
				}
			}
		}
		close(heard)
		made.Wait()
		killed(t, o)
	}
}
