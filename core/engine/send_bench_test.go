package engine_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordboard/core"
	"cordboard/core/config"
	"cordboard/core/engine"
	"cordboard/core/runtime/echo"
	"cordboard/store/bolt"
)

// running is an engine that plays echo agents over a store with the given number of sessions, in real time.
func running(b *testing.B, sessions int) core.Board {
	b.Helper()
	store, err := bolt.Open(bolt.Options{Dir: b.TempDir()})
	require.NoError(b, err)
	_, err = store.Update(b.Context(), func(tx core.Tx) error {
		for i := range sessions {
			if err := tx.PutSession(core.Session{Key: fmt.Sprintf("agent:main:s%d", i), SessionID: fmt.Sprintf("id%d", i), UpdatedAt: 1}); err != nil {
				return err
			}
		}
		return nil
	})
	require.NoError(b, err)
	e, err := engine.New(store, config.Default(), engine.Options{Owner: "bench", Runtimes: map[string]core.Runtime{"echo": echo.Runtime{Sleep: sleep}}})
	require.NoError(b, err)
	require.NoError(b, e.Start(b.Context()))
	b.Cleanup(func() {
		ended, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		e.Stop(ended)
		require.NoError(b, store.Close())
	})
	board, err := e.Board(b.Context(), core.Operator)
	require.NoError(b, err)
	return board
}

func sendAndWait(board core.Board, session string) error {
	receipt, err := board.Do(context.Background(), core.Command{Send: &core.Send{Session: session, Message: "hello"}})
	if err == nil {
		_, err = board.Records(context.Background(), core.RecordQuery{Kind: core.RecordRun, Run: receipt.Run, Wait: 60_000})
	}
	return err
}

// BenchmarkSend is a message and its answer: three commits.
func BenchmarkSend(b *testing.B) {
	board := running(b, 1)
	for b.Loop() {
		if err := sendAndWait(board, "agent:main:s0"); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSend50 is fifty at once to fifty sessions, all answered.
func BenchmarkSend50(b *testing.B) {
	board := running(b, 50)
	for b.Loop() {
		var all sync.WaitGroup
		for i := range 50 {
			all.Go(func() {
				if err := sendAndWait(board, fmt.Sprintf("agent:main:s%d", i)); err != nil {
					b.Error(err)
				}
			})
		}
		all.Wait()
	}
}

// BenchmarkAccept is how many runs a second 64 callers get accepted.
func BenchmarkAccept(b *testing.B) {
	board := running(b, 64)
	var next sync.Mutex
	left := b.N
	var all sync.WaitGroup
	b.ResetTimer()
	for i := range 64 {
		all.Go(func() {
			for {
				next.Lock()
				left--
				done := left < 0
				next.Unlock()
				if done {
					return
				}
				if _, err := board.Do(context.Background(), core.Command{Send: &core.Send{Session: fmt.Sprintf("agent:main:s%d", i), Message: "x"}}); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "accepted/s")
}

// BenchmarkSpawn is a sub-agent accepted: one commit. The calls come from many sessions, so that no requester has its share.
func BenchmarkSpawn(b *testing.B) {
	board := running(b, 1000)
	n := 0
	for b.Loop() {
		result, err := board.Call(context.Background(), core.ToolCall{
			As: fmt.Sprintf("agent:main:s%d", n%1000), Tool: "sessions_spawn", Params: []byte(`{"task":"x"}`),
		})
		if err != nil || result.Refused != nil {
			b.Fatal(err, result.Refused)
		}
		n++
	}
}
