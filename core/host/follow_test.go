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

// followed follows a directory through the owner and returns what is told, the system's lack of notifications left out.
func followed(t *testing.T, h *host.Host, dir string) (next func() host.FollowEvent, stop func()) {
	t.Helper()
	events := make(chan host.FollowEvent, 100)
	ctx, cancel := context.WithCancel(t.Context())
	ended, err := h.Follow(ctx, dir, host.FollowOptions{Event: func(e host.FollowEvent) { events <- e }})
	require.NoError(t, err)
	next = func() host.FollowEvent {
		for e := range events {
			if e.Kind != host.FollowBlind {
				return e
			}
		}
		return host.FollowEvent{}
	}
	return next, func() {
		cancel()
		require.NoError(t, <-ended)
	}
}

// Following starts an owner where there is none and makes the store, one of a name too; the follower is a client of the owner's, and when
// that is killed the next one follows on: what was written meanwhile is told of, and so is what comes after.
func TestFollowGoesOnWithTheNextOwner(t *testing.T) {
	o := place(t)
	dir := copyFleet(t)
	_, err := host.Attach(t.Context(), o)
	require.Equal(t, core.CodeStoreMissing, core.CodeOf(err))
	h, err := host.AttachMaking(t.Context(), o)
	require.NoError(t, err)
	next, stop := followed(t, h, dir)
	assert.Equal(t, 23, next().Report.Sessions.Added)
	status, err := host.StatusOf(t.Context(), o)
	require.NoError(t, err)
	assert.Equal(t, 1, status.Clients, "the follower keeps the owner from going")

	files, err := filepath.Glob(filepath.Join(dir, "agents", "ops", "sessions", "*.jsonl"))
	require.NoError(t, err)
	say := func(text string) {
		file, err := os.OpenFile(files[0], os.O_APPEND|os.O_WRONLY, 0)
		require.NoError(t, err)
		_, err = file.WriteString(`{"type":"message","message":{"role":"user","content":"` + text + `","timestamp":1796029200000}}` + "\n")
		require.NoError(t, err)
		require.NoError(t, file.Close())
	}
	killed(t, o)
	say("while nobody followed")
	again := next()
	for again.Kind != host.FollowStarted { // the first owner may have seen it
		again = next()
	}
	say("afterwards")
	changed := next()
	assert.Equal(t, host.FollowChanged, changed.Kind)
	require.Len(t, changed.Changes, 1)
	stop()
	require.NoError(t, h.Close())
}

// A directory that went away with the owner is waited for.
func TestFollowWaitsForADirectoryWithTheNextOwner(t *testing.T) {
	o := place(t)
	dir := copyFleet(t)
	h, err := host.AttachMaking(t.Context(), o)
	require.NoError(t, err)
	next, stop := followed(t, h, dir)
	assert.Equal(t, host.FollowStarted, next().Kind)
	require.NoError(t, os.Rename(dir, dir+".away"))
	killed(t, o)
	assert.Equal(t, host.FollowGone, next().Kind)
	require.NoError(t, os.Rename(dir+".away", dir))
	for next().Kind != host.FollowStarted {
	}
	stop()
	require.NoError(t, h.Close())
}
