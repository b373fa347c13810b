package host_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"cordboard/core"
	"cordboard/core/host"
)

const fleet = "../../testdata/openclaw"

func copyFleet(t *testing.T) string {
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(fleet)))
	return dir
}

// A directory is followed once, beside whoever reads the board, and Close waits until it is not any more.
func TestFollow(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	dir := copyFleet(t)
	o := host.Options{Dir: filepath.Join(t.TempDir(), "D"), ConfigGiven: true}
	h, err := host.Own(t.Context(), o)
	require.NoError(t, err)
	b, err := h.Board(t.Context(), core.Operator)
	require.NoError(t, err)
	stream, err := b.Watch(t.Context(), core.Cursor{})
	require.NoError(t, err)
	events := make(chan host.FollowEvent, 100)
	ended, err := h.Follow(t.Context(), dir, host.FollowOptions{Event: func(e host.FollowEvent) { events <- e }})
	require.NoError(t, err)
	require.Equal(t, host.FollowStarted, (<-events).Kind)
	_, err = h.Follow(t.Context(), dir+"/.", host.FollowOptions{})
	assert.Equal(t, core.CodeConflict, core.CodeOf(err))

	batch, err := stream.Next(t.Context())
	require.NoError(t, err)
	page, err := b.Messages(t.Context(), core.MessageQuery{Session: "agent:ops:main", Limit: 1})
	require.NoError(t, err)
	file, err := os.OpenFile(page.Generation.File, os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = file.WriteString(`{"type":"message","message":{"role":"user","content":"live","timestamp":1796029200000}}` + "\n")
	require.NoError(t, err)
	require.NoError(t, file.Close())
	limit, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for seen := false; !seen; {
		batch, err = stream.Next(limit)
		require.NoError(t, err)
		for _, c := range batch.Changes {
			seen = seen || c.Kind == core.ChangeMessages && c.LastSeq > page.Generation.LastSeq && c.ID == page.Generation.ID
		}
	}
	require.NoError(t, stream.Close())
	require.NoError(t, b.Close())
	require.NoError(t, h.Close())
	require.NoError(t, <-ended)
	_, err = h.Follow(t.Context(), dir, host.FollowOptions{})
	assert.Error(t, err, "nothing is followed into a store that is closed")
}

// It ends with its own context too, and the directory can be followed again then.
func TestFollowEndsWithItsContext(t *testing.T) {
	dir := copyFleet(t)
	h, err := host.Own(t.Context(), host.Options{Dir: t.TempDir(), ConfigGiven: true})
	require.NoError(t, err)
	defer h.Close()
	for range 2 {
		ctx, cancel := context.WithCancel(t.Context())
		ended, err := h.Follow(ctx, dir, host.FollowOptions{})
		require.NoError(t, err)
		cancel()
		require.NoError(t, <-ended)
	}
}

func TestFollowRefuses(t *testing.T) {
	o := host.Options{Dir: t.TempDir(), ConfigGiven: true}
	h, err := host.Own(t.Context(), o)
	require.NoError(t, err)
	_, err = h.Follow(t.Context(), t.TempDir(), host.FollowOptions{})
	assert.Equal(t, core.CodeInvalidParams, core.CodeOf(err))
	require.NoError(t, h.Close())
	h, err = host.Read(t.Context(), o)
	require.NoError(t, err)
	defer h.Close()
	_, err = h.Follow(t.Context(), fleet, host.FollowOptions{})
	assert.Equal(t, core.CodeReadOnly, core.CodeOf(err))
}
