package main

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordboard/core"
	"cordboard/core/host"
	"cordboard/testdata"
)

// The demo shows one of everything: sessions that were adopted and mirrors, an exchange that ended well, a delivery, one that the send
// policy refuses, sub-agents and one that the sandbox refuses, a failure, a run that waits for the operator, and a queue.
func TestDemoLife(t *testing.T) {
	dir := t.TempDir()
	o := host.Options{Dir: filepath.Join(dir, "store"), ConfigPath: filepath.Join(dir, "demo.json5"), ConfigGiven: true, Version: version()}
	require.NoError(t, os.WriteFile(o.ConfigPath, testdata.DemoConfig, 0o600))
	ctx, hurry := context.WithCancel(t.Context())
	h, err := host.InProcess(ctx, o, host.ServeOptions{Log: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	source := filepath.Join(dir, "fleet")
	require.NoError(t, os.CopyFS(source, fleet()))
	_, err = h.Import(t.Context(), source, host.ImportOptions{})
	require.NoError(t, err)
	b, err := h.Board(t.Context(), core.Operator)
	require.NoError(t, err)
	for _, key := range demoAdopted {
		_, err := b.Do(t.Context(), core.Command{Adopt: &core.Adopt{Session: key}})
		require.NoError(t, err, key)
	}
	stream, err := b.Watch(t.Context(), core.Cursor{})
	require.NoError(t, err)
	playAll(t.Context(), b, demoOpening())
	playAll(t.Context(), b, demoRound(1))
	for seen := lookAtDemo(t, b); !seen.all(); seen = lookAtDemo(t, b) { // each begins when its turn comes
		_, err := stream.Next(t.Context())
		require.NoError(t, err)
	}
	require.NoError(t, stream.Close())
	_, err = b.Do(t.Context(), core.Command{Send: &core.Send{Session: demoDeploys, Message: "x"}})
	assert.Equal(t, core.CodeSendDenied, core.CodeOf(err))
	hurry()
	require.NoError(t, h.Close())
}

// demoSights are what a demo is there to show, counted.
type demoSights struct{ ok, failed, queued, exchanges, delivered, asks, mirrors, allowed, told, spawned, confined int }

func (s demoSights) all() bool {
	return s.ok > 0 && s.failed > 0 && s.queued > 0 && s.exchanges >= 3 && s.delivered >= 2 && s.asks == 1 && s.allowed == 1 && s.told > 0 && s.spawned > 1 && s.confined == 1 && s.mirrors == 23-len(demoAdopted)
}

func lookAtDemo(t *testing.T, b core.Board) (s demoSights) {
	records := func(kind core.RecordKind) core.RecordPage {
		page, err := b.Records(t.Context(), core.RecordQuery{Kind: kind})
		require.NoError(t, err)
		return page
	}
	count := func(n *int, yes bool) {
		if yes {
			*n++
		}
	}
	for _, r := range records(core.RecordRuns).Runs {
		count(&s.ok, !r.Mirrored && r.Outcome == core.OutcomeOK)
		count(&s.failed, !r.Mirrored && r.Outcome == core.OutcomeError)
		count(&s.queued, r.State == core.RunQueued)
		count(&s.spawned, !r.Mirrored && r.Kind == core.RunSpawn)
		count(&s.told, r.Spawn != nil && r.Spawn.Announce == core.AnnounceSent)
	}
	s.exchanges = len(records(core.RecordExchanges).Exchanges)
	for _, d := range records(core.RecordDeliveries).Deliveries {
		count(&s.delivered, d.State == core.DeliveryDelivered)
	}
	for _, e := range records(core.RecordAudit).Audit {
		count(&s.confined, e.Verb == "sessions_spawn" && strings.Contains(e.Result, "sandbox"))
	}
	page, err := b.Sessions(t.Context(), core.SessionQuery{})
	require.NoError(t, err)
	for _, row := range page.Rows {
		count(&s.asks, row.Flags.Has(core.FlagAsks))
		count(&s.mirrors, row.Flags.Has(core.FlagMirrored))
		count(&s.allowed, row.Flags.Has(core.FlagSendAllow))
	}
	return s
}
