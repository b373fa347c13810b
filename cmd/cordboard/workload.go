package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"cordboard/core"
	"cordboard/core/host"
)

// workload is the synthetic store of a bench and the work done on it.
type workload struct {
	ctx                context.Context
	dir                string
	program            []string // starts an owner
	store              core.Store
	host               *host.Host
	board              core.Board
	sessions, messages int
	raw                float64 // fdatasync per second of this disk, measured in the same run
	added              int
}

type step struct {
	name string
	run  func() ([]figure, error)
}

func (w *workload) steps() []step {
	return []step{
		{"raw fdatasync", w.rawSync},
		{"filling", w.fill},
		{"list", w.list},
		{"history", w.history},
		{"search", w.search},
		{"append", w.appends},
		{"purge", w.purge},
		{"import", w.importing},
		{"talking", w.talking},
		{"starting an owner", w.starting},
	}
}

const bigSession = "agent:main:main"

// rawSync measures the disk itself: a page written in place and synced, as the ceiling of every durable write.
func (w *workload) rawSync() ([]figure, error) {
	f, err := os.Create(filepath.Join(w.dir, "raw"))
	if err != nil {
		return nil, err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	page := make([]byte, 4096)
	fig, err := times("raw write and fdatasync of 4 KiB", 300, "", func() error {
		if _, err := f.WriteAt(page, 0); err != nil {
			return err
		}
		return datasync(f)
	})
	w.raw = 1000 / fig.Median
	return []figure{fig}, err
}

func (w *workload) key(i int) string {
	switch {
	case i == 0:
		return bigSession
	case i%1000 == 1:
		return fmt.Sprintf("agent:main:cron:job-%d", i)
	}
	return fmt.Sprintf("agent:a%d:telegram:group:-%d", i%20, i)
}

func id(i int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", i) }

func message(i int) core.Message {
	role, name := core.RoleUser, "user"
	if i%2 == 1 {
		role, name = core.RoleAssistant, "assistant"
	}
	at := int64(1_796_000_000_000 + i)
	text := strings.Repeat("the quick operator reads what the agents wrote; ", 6)
	raw := fmt.Sprintf(`{"role":%q,"content":[{"type":"text","text":"%d %s"}],"timestamp":%d}`, name, i, text, at)
	return core.Message{Role: role, At: at, Raw: json.RawMessage(raw)}
}

// fill writes the sessions, half of all messages into the first.
func (w *workload) fill() ([]figure, error) {
	start := time.Now()
	perSession := (w.messages - w.messages/2) / w.sessions
	for i := 0; i < w.sessions; i += 200 {
		if _, err := w.store.Update(w.ctx, func(tx core.Tx) error {
			for j := i; j < min(i+200, w.sessions); j++ {
				if err := w.put(tx, j, perSession); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			return nil, err
		}
	}
	for done := 0; done < w.messages/2; done += 2000 {
		batch := make([]core.Message, min(2000, w.messages/2-done))
		for i := range batch {
			batch[i] = message(done + i)
		}
		if _, err := w.store.Update(w.ctx, func(tx core.Tx) error {
			_, _, err := tx.Append(id(0), batch...)
			return err
		}); err != nil {
			return nil, err
		}
	}
	rate := float64(w.messages) / time.Since(start).Seconds()
	return []figure{{Work: "bulk append", Unit: "messages/s", N: 1, Median: rate, P95: rate}}, nil
}

func (w *workload) put(tx core.Tx, i, messages int) error {
	total := int64(1000 + i)
	if err := tx.PutSession(core.Session{
		Key: w.key(i), SessionID: id(i), UpdatedAt: int64(1_796_000_000_000 + i), Model: "mock-1", DisplayName: fmt.Sprintf("Session %d", i),
		TotalTokens: &total, LastChannel: "telegram", LastTo: "-100", LastAccountID: "default",
	}); err != nil {
		return err
	}
	if err := tx.PutGeneration(core.Generation{ID: id(i), SessionID: id(i), Key: w.key(i), State: core.GenerationCurrent}); err != nil {
		return err
	}
	batch := make([]core.Message, messages)
	for j := range batch {
		batch[j] = message(j)
	}
	if len(batch) == 0 {
		return nil
	}
	_, _, err := tx.Append(id(i), batch...)
	return err
}

func (w *workload) call(tool, params string) error {
	result, err := w.board.Call(w.ctx, core.ToolCall{Tool: tool, Params: json.RawMessage(params)})
	if err == nil && result.Refused != nil {
		err = result.Refused
	}
	return err
}

func (w *workload) list() (figures []figure, err error) {
	for _, m := range []struct{ work, params, target string }{
		{"sessions_list limit 200", `{"limit":200}`, "≤ 3"},
		{"sessions_list kinds=[cron], 1 in 1000", `{"kinds":["cron"]}`, "≤ 15"},
		{"sessions_list limit 200 messageLimit 5", `{"limit":200,"messageLimit":5}`, "≤ 15"},
	} {
		f, err := times(m.work, 40, m.target, func() error { return w.call("sessions_list", m.params) })
		if err != nil {
			return nil, err
		}
		figures = append(figures, f)
	}
	return figures, nil
}

func (w *workload) history() ([]figure, error) {
	params := fmt.Sprintf(`{"sessionKey":%q,"limit":200}`, bigSession)
	newest, err := times(fmt.Sprintf("sessions_history newest 200 of %d", w.messages/2), 40, "≤ 5", func() error {
		return w.call("sessions_history", params)
	})
	return []figure{newest}, err
}

// search looks for a text that only the oldest message holds, so that everything is read.
func (w *workload) search() ([]figure, error) {
	start, scanned := time.Now(), int64(0)
	q := core.SearchQuery{Text: "no message holds this"}
	for {
		page, err := w.board.Search(w.ctx, q)
		if err != nil {
			return nil, err
		}
		scanned += page.Scanned
		if q.Cursor = page.Next; q.Cursor == "" {
			break
		}
	}
	rate := float64(scanned) / 1e6 / time.Since(start).Seconds()
	first, err := times("search, first hits", 20, "≤ 150", func() error {
		_, err := w.board.Search(w.ctx, core.SearchQuery{Text: "quick operator"})
		return err
	})
	return []figure{{Work: "search of all transcripts", Unit: "MB/s", N: 1, Median: rate, P95: rate, Target: "≥ 333"}, first}, err
}

// addOne is one durable append as the engine makes it: the message, its session's row, the moved index entry and the log.
func (w *workload) addOne(i int) error {
	_, err := w.store.Update(w.ctx, func(tx core.Tx) error {
		s, _, err := tx.Session(w.key(i))
		if err != nil {
			return err
		}
		s.UpdatedAt++
		if err := tx.PutSession(s); err != nil {
			return err
		}
		_, _, err = tx.Append(id(i), message(i))
		return err
	})
	return err
}

func (w *workload) appends() ([]figure, error) {
	one, err := times("durable append, one writer", 300, "", func() error {
		w.added++
		return w.addOne(w.added % w.sessions)
	})
	if err != nil {
		return nil, err
	}
	single := 1000 / one.Median
	const writers, each = 256, 8
	start := time.Now()
	var group sync.WaitGroup
	failures := make([]error, writers)
	for n := range writers {
		group.Go(func() {
			for i := 0; i < each && failures[n] == nil; i++ {
				failures[n] = w.addOne((n*each + i) % w.sessions)
			}
		})
	}
	group.Wait()
	for _, err := range failures {
		if err != nil {
			return nil, err
		}
	}
	many := writers * each / time.Since(start).Seconds()
	ratio, speedup := single/w.raw, many/single
	return []figure{
		one,
		{Work: "durable append to raw fdatasync", Unit: "ratio", N: one.N, Median: ratio, P95: ratio, Target: "≥ 0.12"},
		{Work: "256 writers to one writer", Unit: "ratio", N: writers * each, Median: speedup, P95: speedup, Target: "≥ 6"},
	}, nil
}

// purge removes a third of the sessions with their transcripts and measures commits before and after.
func (w *workload) purge() ([]figure, error) {
	sample := func(work string) (figure, error) {
		return times(work, 200, "", func() error { return w.addOne(0) })
	}
	before, err := sample("commit before a purge")
	if err != nil {
		return nil, err
	}
	for i := 1; i < w.sessions/3; i++ {
		if _, err := w.store.Update(w.ctx, func(tx core.Tx) error {
			if err := tx.DeleteSession(w.key(i)); err != nil {
				return err
			}
			return tx.DeleteGeneration(id(i))
		}); err != nil {
			return nil, err
		}
	}
	after, err := sample("commit after purging a third")
	if err != nil {
		return nil, err
	}
	ratio := after.Median / before.Median
	return []figure{before, after, {Work: "commit after to before", Unit: "ratio", N: after.N, Median: ratio, P95: ratio, Target: "≤ 1.5"}}, nil
}

// importing writes a state directory and imports it.
func (w *workload) importing() ([]figure, error) {
	dir := filepath.Join(w.dir, "state")
	size, err := writeState(dir, w.sessions, 50)
	if err != nil {
		return nil, err
	}
	start := time.Now()
	if _, err := w.host.Import(w.ctx, dir, host.ImportOptions{}); err != nil {
		return nil, err
	}
	rate := float64(size) / 1e6 / time.Since(start).Seconds()
	return []figure{{Work: "import of JSONL", Unit: "MB/s", N: 1, Median: rate, P95: rate, Target: "≥ 40"}}, nil
}

// writeState makes an OpenClaw state directory of made-up sessions and returns the size of its transcripts.
func writeState(dir string, sessions, each int) (size int64, err error) {
	folder := filepath.Join(dir, "agents", "bench", "sessions")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return 0, err
	}
	entries := map[string]any{}
	for i := range sessions {
		session := fmt.Sprintf("10000000-0000-4000-8000-%012d", i)
		entries[fmt.Sprintf("agent:bench:telegram:group:-%d", i)] = map[string]any{"sessionId": session, "updatedAt": 1_796_000_000_000 + i}
		var lines strings.Builder
		fmt.Fprintf(&lines, `{"type":"session","version":3,"id":%q,"timestamp":"2026-11-30T21:28:06.436Z","cwd":"/"}`+"\n", session)
		for j := range each {
			fmt.Fprintf(&lines, `{"type":"message","id":"%08x","parentId":null,"timestamp":"2026-11-30T21:28:06.437Z","message":%s}`+"\n", j, message(j).Raw)
		}
		size += int64(lines.Len())
		if err := os.WriteFile(filepath.Join(folder, session+".jsonl"), []byte(lines.String()), 0o600); err != nil {
			return 0, err
		}
	}
	raw, err := json.Marshal(entries)
	if err != nil {
		return 0, err
	}
	return size, os.WriteFile(filepath.Join(folder, "sessions.json"), raw, 0o600)
}
