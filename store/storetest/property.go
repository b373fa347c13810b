package storetest

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cordboard/core"
	"cordboard/core/proptest"
)

// A step is one call of a Tx method as data: it is made on the store and on the model, and both must answer alike.
type step struct {
	what  string
	apply func(h *harness, tx core.Tx, m *model) error
}

var (
	modelKeys    = []string{"agent:main:main", "a", "ab", "agent:b:discord:group:1", "cron:nightly", "agent:main:subagent:1"}
	modelGens    = []string{"g1", "g2", "g2.reset.1", "g3"}
	modelRuns    = []string{"r1", "r2", "r3", "r4", "r5"}
	modelSources = []string{"/s", "/s2"}
	errStep      = errors.New("given up")
)

// checkModel lets random functions run on the store and on the model (rapid draws and shrinks them).
func checkModel(t *testing.T, s Subject) {
	u := universe{keys: modelKeys, sources: modelSources}
	proptest.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "model")
		require.NoError(rt, err)
		h := &harness{Assertions: require.New(rt), t: t, ctx: t.Context(), dir: dir, subject: s}
		h.open()
		defer func() { _ = h.bare.Close() }()
		m := newModel()
		rt.Repeat(map[string]func(*rapid.T){
			"function": func(rt *rapid.T) {
				m = h.function(m, rapid.SliceOfN(stepGen(), 1, 5).Draw(rt, "steps"), rapid.IntRange(0, 4).Draw(rt, "end"))
			},
			"reopen":  func(*rapid.T) { h.reopen() },
			"changes": func(rt *rapid.T) { h.sameChanges(m, core.Rev(rapid.IntRange(0, int(m.rev)).Draw(rt, "from"))) },
			"page":    func(rt *rapid.T) { h.samePage(m, rapid.IntRange(0, 5).Draw(rt, "after")) },
			"": func(*rapid.T) {
				h.view(func(r core.Reader) { h.Equal(m.content(u), h.contentOf(r, u)) })
			},
		})
		h.reopen()
	})
}

// function runs steps as one Update; end 0 lets it fail, 1 panic.
func (h *harness) function(m *model, steps []step, end int) *model {
	var next *model
	rev, err := h.store.Update(h.ctx, func(tx core.Tx) error {
		next = m.begin()
		for _, s := range steps {
			if err := s.apply(h, tx, next); err != nil {
				return fmt.Errorf("%s: %w", s.what, err)
			}
		}
		switch end {
		case 0:
			return errStep
		case 1:
			panic(errStep)
		}
		return nil
	})
	if end <= 1 {
		h.Error(err)
		return m
	}
	h.NoError(err)
	next.commit()
	h.Equal(next.rev, rev)
	return next
}

func (h *harness) sameChanges(m *model, from core.Rev) {
	got, err := h.store.Changes(h.ctx, from, 1000)
	h.NoError(err)
	want := m.log[from:]
	h.Len(got, len(want))
	for i := range got {
		h.Equal(want[i].Rev, got[i].Rev)
		h.ElementsMatch(want[i].Changes, got[i].Changes, "changes of revision %d", got[i].Rev)
	}
}

// samePage walks on from some head.
func (h *harness) samePage(m *model, after int) {
	heads := m.heads()
	if after >= len(heads) {
		return
	}
	h.view(func(r core.Reader) {
		got := h.headsAfter(r, core.HeadCursor{UpdatedAt: heads[after].UpdatedAt, Key: heads[after].Key})
		h.Equal(keysOf(heads[after+1:]), keysOf(got))
	})
}

func stepGen() *rapid.Generator[step] {
	return rapid.OneOf(sessionStep(), deleteStep(), generationStep(), appendStep(), appendStep(), runStep(), recordStep())
}

func sessionStep() *rapid.Generator[step] {
	return rapid.Custom(func(t *rapid.T) step {
		s := core.Session{
			Key: rapid.SampledFrom(modelKeys).Draw(t, "key"), UpdatedAt: rapid.Int64Range(-1, 3).Draw(t, "updatedAt"),
			SessionID: rapid.SampledFrom(append([]string{""}, modelGens...)).Draw(t, "sessionId"),
			SpawnedBy: rapid.SampledFrom(append([]string{""}, modelKeys...)).Draw(t, "spawnedBy"),
			Label:     rapid.SampledFrom([]string{"", "l"}).Draw(t, "label"), LastChannel: rapid.SampledFrom([]string{"", "irc"}).Draw(t, "channel"),
			TotalTokens: rapid.SampledFrom([]*int64{nil, ptr(int64(0)), ptr(int64(7))}).Draw(t, "tokens"),
		}
		return step{fmt.Sprintf("put session %+v", s), func(_ *harness, tx core.Tx, m *model) error {
			m.putSession(s)
			return tx.PutSession(s)
		}}
	})
}

func deleteStep() *rapid.Generator[step] {
	return rapid.Custom(func(t *rapid.T) step {
		key, id := rapid.SampledFrom(modelKeys).Draw(t, "key"), rapid.SampledFrom(modelGens).Draw(t, "id")
		switch rapid.IntRange(0, 2).Draw(t, "what") {
		case 0:
			return step{"delete session " + key, func(_ *harness, tx core.Tx, m *model) error {
				m.deleteSession(key)
				return tx.DeleteSession(key)
			}}
		case 1:
			return step{"delete transcript " + id, func(_ *harness, tx core.Tx, m *model) error {
				m.deleteGeneration(id)
				return tx.DeleteGeneration(id)
			}}
		}
		return step{"put entry " + key, func(_ *harness, tx core.Tx, m *model) error {
			m.entries[key] = `{"k":1}`
			m.note(core.Change{Kind: core.ChangeSession, ID: key})
			return tx.PutEntry(key, []byte(`{"k":1}`))
		}}
	})
}

func generationStep() *rapid.Generator[step] {
	return rapid.Custom(func(t *rapid.T) step {
		g := core.Generation{
			ID: rapid.SampledFrom(modelGens).Draw(t, "id"), Key: rapid.SampledFrom(append([]string{""}, modelKeys...)).Draw(t, "key"),
			State: rapid.SampledFrom([]core.GenerationState{core.GenerationCurrent, core.GenerationReset}).Draw(t, "state"),
		}
		return step{fmt.Sprintf("put transcript %+v", g), func(_ *harness, tx core.Tx, m *model) error {
			m.putGeneration(g)
			return tx.PutGeneration(g)
		}}
	})
}

func appendStep() *rapid.Generator[step] {
	return rapid.Custom(func(t *rapid.T) step {
		id := rapid.SampledFrom(modelGens).Draw(t, "id")
		messages := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) core.Message {
			return core.Message{
				Seq: rapid.SampledFrom([]uint64{0, 0, 0, 2, 5, 9}).Draw(t, "seq"), Role: core.Role(rapid.IntRange(0, 5).Draw(t, "role")),
				At: rapid.Int64().Draw(t, "at"), Raw: rapid.SliceOfN(rapid.Byte(), 1, 6).Draw(t, "raw"),
			}
		}), 0, 4).Draw(t, "messages")
		return step{fmt.Sprintf("append %d to %s", len(messages), id), func(h *harness, tx core.Tx, m *model) error {
			probe := m.begin()
			if _, _, ok := probe.append(id, messages); !ok {
				// A refused append may leave writes that only the end of its function removes, so it is asked for and not made.
				return nil
			}
			first, last, _ := m.append(id, messages)
			gotFirst, gotLast, err := tx.Append(id, messages...)
			h.Equal([2]uint64{first, last}, [2]uint64{gotFirst, gotLast})
			return err
		}}
	})
}

func runStep() *rapid.Generator[step] {
	return rapid.Custom(func(t *rapid.T) step {
		r := core.Run{
			ID: rapid.SampledFrom(modelRuns).Draw(t, "id"), SessionKey: rapid.SampledFrom(modelKeys).Draw(t, "key"),
			State:    rapid.SampledFrom([]core.RunState{core.RunQueued, core.RunRunning, core.RunEnded}).Draw(t, "state"),
			QueuedAt: rapid.Int64Range(0, 3).Draw(t, "queuedAt"),
		}
		return step{fmt.Sprintf("put run %+v", r), func(_ *harness, tx core.Tx, m *model) error {
			m.putRun(r)
			return tx.PutRun(r)
		}}
	})
}

func recordStep() *rapid.Generator[step] {
	return rapid.Custom(func(t *rapid.T) step {
		n := rapid.IntRange(0, 2).Draw(t, "n")
		id := fmt.Sprint("i", n)
		due := core.Due{At: int64(n), Kind: "k", ID: id}
		file := core.SourceFile{Source: modelSources[n%2], Path: id, Size: int64(n)}
		hold := []core.Hold{{}, {Agent: "b"}, {Session: "a"}}[n]
		counter := core.UsageRow{Day: []string{"2026-11-30", "2026-12-01"}[n%2], Agent: id, Model: []string{"", "p/m"}[n%2]}
		puts := []step{
			{"exchange", func(_ *harness, tx core.Tx, m *model) error {
				m.exchanges[id] = core.Exchange{ID: id, Turn: n}
				m.note(core.Change{Kind: core.ChangeExchange, ID: id})
				return tx.PutExchange(m.exchanges[id])
			}},
			{"delivery", func(_ *harness, tx core.Tx, m *model) error {
				m.deliveries[id] = core.Delivery{ID: id, Attempts: n}
				m.note(core.Change{Kind: core.ChangeDelivery, ID: id})
				return tx.PutDelivery(m.deliveries[id])
			}},
			{"due", func(_ *harness, tx core.Tx, m *model) error {
				m.due[due], m.wrote = true, true
				return tx.PutDue(due)
			}},
			{"due done", func(_ *harness, tx core.Tx, m *model) error {
				m.wrote = m.wrote || m.due[due]
				delete(m.due, due)
				return tx.DeleteDue(due)
			}},
			{"audit", func(_ *harness, tx core.Tx, m *model) error {
				m.wrote = true
				m.audit = append(m.audit, core.AuditEntry{Rev: m.rev, Who: id})
				return tx.AddAudit(core.AuditEntry{Who: id})
			}},
			{"hold", func(_ *harness, tx core.Tx, m *model) error {
				m.hold(hold, false)
				return tx.PutHold(hold)
			}},
			{"release", func(_ *harness, tx core.Tx, m *model) error {
				m.hold(hold, true)
				return tx.PutHold(core.Hold{Session: hold.Session, Agent: hold.Agent, Release: true})
			}},
			{"usage", func(_ *harness, tx core.Tx, m *model) error {
				m.usage[counter]++
				m.wrote = true
				return tx.AddUsage(core.UsageRow{Day: counter.Day, Agent: counter.Agent, Model: counter.Model, Runs: 1, Usage: core.Usage{Input: 3}})
			}},
			{"source file", func(_ *harness, tx core.Tx, m *model) error {
				m.sources[[2]string{file.Source, file.Path}], m.wrote = file, true
				return tx.PutSourceFile(file)
			}},
		}
		return rapid.SampledFrom(puts).Draw(t, "record")
	})
}
