package host_test

import (
	"context"
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordboard/core"
	"cordboard/core/host"
)

func inProcess(ctx context.Context, t *testing.T, o host.Options) *host.Host {
	t.Helper()
	h, err := host.InProcess(ctx, o, host.ServeOptions{Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	require.NoError(t, err)
	return h
}

// An owner in this process runs agents, answers others, says what would stand still with it, and leaves the store to the next.
func TestInProcess(t *testing.T) {
	o := options(t)
	h := inProcess(t.Context(), t, o)
	_, err := host.InProcess(t.Context(), host.Options{Dir: o.Dir, ConfigGiven: true, Version: build, LockWait: time.Millisecond},
		host.ServeOptions{Log: slog.New(slog.DiscardHandler)})
	require.Equal(t, core.CodeStoreLocked, core.CodeOf(err))
	runs, clients := h.Busy(t.Context())
	assert.Zero(t, runs+clients)

	other, err := host.Attach(t.Context(), o)
	require.NoError(t, err)
	b, err := other.Board(t.Context(), core.Operator)
	require.NoError(t, err)
	receipt, err := b.Do(t.Context(), core.Command{Send: &core.Send{Session: "main", Message: "[[sleep:1h]]"}})
	require.NoError(t, err)
	mine, err := h.Board(t.Context(), core.Operator)
	require.NoError(t, err)
	stream, err := mine.Watch(t.Context(), core.Cursor{Epoch: epoch(t, mine)})
	require.NoError(t, err)
	for runs == 0 {
		_, err := stream.Next(t.Context())
		require.NoError(t, err)
		runs, clients = h.Busy(t.Context())
	}
	assert.Equal(t, 1, runs)
	assert.Positive(t, clients)
	require.NoError(t, stream.Close())
	_, err = b.Do(t.Context(), core.Command{Abort: &core.Abort{Run: receipt.Run}})
	require.NoError(t, err)
	require.NoError(t, b.Close())
	require.NoError(t, other.Close())
	require.NoError(t, h.Close())

	next := inProcess(t.Context(), t, o)
	require.NoError(t, next.Close())
}

func epoch(t *testing.T, b core.Board) string {
	t.Helper()
	info, err := b.Info(t.Context())
	require.NoError(t, err)
	return info.Store.Epoch
}

// Who is in a hurry cuts the grace of what runs short: it ends as interrupted and nothing is lost.
func TestInProcessInAHurry(t *testing.T) {
	o := options(t)
	ctx, hurry := context.WithCancel(t.Context())
	h := inProcess(ctx, t, o)
	b, err := h.Board(t.Context(), core.Operator)
	require.NoError(t, err)
	receipt, err := b.Do(t.Context(), core.Command{Send: &core.Send{Session: "main", Message: "[[sleep:1h]]"}})
	require.NoError(t, err)
	stream, err := b.Watch(t.Context(), core.Cursor{Epoch: epoch(t, b)})
	require.NoError(t, err)
	for runs := 0; runs == 0; runs, _ = h.Busy(t.Context()) {
		_, err := stream.Next(t.Context())
		require.NoError(t, err)
	}
	hurry()
	require.NoError(t, h.Close())

	next := inProcess(t.Context(), t, o)
	b, err = next.Board(t.Context(), core.Operator)
	require.NoError(t, err)
	page, err := b.Records(t.Context(), core.RecordQuery{Kind: core.RecordRun, Run: receipt.Run})
	require.NoError(t, err)
	assert.Equal(t, core.OutcomeInterrupted, page.Runs[0].Outcome)
	require.NoError(t, next.Close())
}
