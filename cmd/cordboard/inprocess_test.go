package main

import (
	"context"
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordboard/core"
	"cordboard/core/host"
)

// A console whose process runs agents is not suspended while one would stand still (gateway.md §1).
func TestSuspendingAnOwner(t *testing.T) {
	o := host.Options{Dir: filepath.Join(t.TempDir(), "D"), ConfigGiven: true, Version: version()}
	ctx, hurry := context.WithCancel(t.Context())
	h, err := host.InProcess(ctx, o, host.ServeOptions{Log: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	why := suspending(h)
	idle := why()
	assert.Equal(t, noSuspend(), idle)

	b, err := h.Board(t.Context(), core.Operator)
	require.NoError(t, err)
	info, err := b.Info(t.Context())
	require.NoError(t, err)
	stream, err := b.Watch(t.Context(), info.Cursor)
	require.NoError(t, err)
	_, err = b.Do(t.Context(), core.Command{Send: &core.Send{Session: "main", Message: "[[sleep:1h]]"}})
	require.NoError(t, err)
	for runs := 0; runs == 0; runs, _ = h.Busy(t.Context()) {
		_, err := stream.Next(t.Context())
		require.NoError(t, err)
	}
	if idle == "" {
		assert.Equal(t, "1 run would stand still: agents run in this process", why())
	}
	hurry()
	require.NoError(t, h.Close())
}

func TestInProcessIsNoReader(t *testing.T) {
	a := &app{console: consoleFlags{inProcess: true, readOnly: true}}
	var wrong *usageError
	require.ErrorAs(t, a.openConsole(newRoot(a), nil), &wrong)
}
