package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cordboard/core"
	"cordboard/core/config"
	"cordboard/core/engine"
	"cordboard/store/bolt"
)

// synthetic is a store of made-up sessions with a few messages each; one in a thousand is a cron job. Session 0 gets big messages more.
func synthetic(b *testing.B, sessions, big int) core.Board {
	b.Helper()
	store, err := bolt.Open(bolt.Options{Dir: b.TempDir()})
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, store.Close()) })
	for i := 0; i < sessions; i += 1000 {
		_, err := store.Update(b.Context(), func(tx core.Tx) error {
			for j := i; j < min(i+1000, sessions); j++ {
				if err := putSynthetic(tx, j); err != nil {
					return err
				}
			}
			return nil
		})
		require.NoError(b, err)
	}
	for i := 0; i < big; i += 5000 {
		_, err := store.Update(b.Context(), func(tx core.Tx) error {
			_, _, err := tx.Append("id0", syntheticMessages(min(5000, big-i))...)
			return err
		})
		require.NoError(b, err)
	}
	e, err := engine.New(store, config.Default(), engine.Options{})
	require.NoError(b, err)
	board, err := e.Board(b.Context(), core.Operator)
	require.NoError(b, err)
	return board
}

func putSynthetic(tx core.Tx, i int) error {
	key, tokens := fmt.Sprintf("agent:a%d:telegram:group:-%d", i%20, i), int64(i)
	if i%1000 == 1 {
		key = fmt.Sprintf("agent:main:cron:%d", i)
	}
	id := fmt.Sprintf("id%d", i)
	s := core.Session{
		Key: key, SessionID: id, UpdatedAt: int64(1_796_000_000_000 + i), DisplayName: fmt.Sprintf("Session %d", i), Model: "mock-1",
		TotalTokens: &tokens, LastChannel: "telegram", LastTo: "-100",
	}
	if err := tx.PutSession(s); err != nil {
		return err
	}
	if err := tx.PutGeneration(core.Generation{ID: id, SessionID: id, Key: key, State: core.GenerationCurrent}); err != nil {
		return err
	}
	_, _, err := tx.Append(id, syntheticMessages(5)...)
	return err
}

func syntheticMessages(n int) []core.Message {
	raw := json.RawMessage(`{"role":"assistant","content":[{"type":"text","text":"` + strings.Repeat("the quick operator reads; ", 12) + `"}],"timestamp":1}`)
	list := make([]core.Message, n)
	for i := range list {
		list[i] = core.Message{Role: core.RoleAssistant, At: 1, Raw: raw}
	}
	return list
}

func benchCall(b *testing.B, board core.Board, tool, params string) {
	b.Helper()
	b.ReportAllocs()
	for b.Loop() {
		result, err := board.Call(context.Background(), core.ToolCall{Tool: tool, Params: json.RawMessage(params)})
		if err != nil || result.Refused != nil {
			b.Fatal(err, result.Refused)
		}
	}
}

func sizes(b *testing.B, all ...int) []int {
	if testing.Short() {
		return all[:1]
	}
	return all
}

func BenchmarkSessionsList(b *testing.B) {
	for _, n := range sizes(b, 100, 10_000, 100_000) {
		board := synthetic(b, n, 0)
		b.Run(fmt.Sprintf("limit200/%d", n), func(b *testing.B) { benchCall(b, board, "sessions_list", `{"limit":200}`) })
		b.Run(fmt.Sprintf("cron/%d", n), func(b *testing.B) { benchCall(b, board, "sessions_list", `{"kinds":["cron"]}`) })
		b.Run(fmt.Sprintf("messages5/%d", n), func(b *testing.B) { benchCall(b, board, "sessions_list", `{"messageLimit":5}`) })
	}
}

func BenchmarkSessionsHistory(b *testing.B) {
	for _, n := range sizes(b, 10, 10_000, 1_000_000) {
		board := synthetic(b, 10, n)
		b.Run(fmt.Sprintf("newest200/%d", n), func(b *testing.B) { benchCall(b, board, "sessions_history", `{"sessionKey":"id0"}`) })
	}
}

func BenchmarkSearch(b *testing.B) {
	board := synthetic(b, 10, sizes(b, 1000, 100_000)[len(sizes(b, 1000, 100_000))-1])
	var scanned int64
	for b.Loop() {
		q := core.SearchQuery{Text: "no message holds this"}
		for {
			page, err := board.Search(context.Background(), q)
			if err != nil {
				b.Fatal(err)
			}
			scanned += page.Scanned
			if q.Cursor = page.Next; q.Cursor == "" {
				break
			}
		}
	}
	b.ReportMetric(float64(scanned)/1e6/b.Elapsed().Seconds(), "MB/s")
}
