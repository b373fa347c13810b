package storetest

import (
	"context"

	"cordboard/core"
)

var changeCases = []testCase{
	{"every record written is named once, in order", func(h *harness) {
		h.update(func(tx core.Tx) error {
			if err := writeAll(tx); err != nil {
				return err
			}
			return appendText(tx, "g", "second", "third")
		})
		got, err := h.store.Changes(h.ctx, 0, 10)
		h.NoError(err)
		h.Equal([]core.Revision{{Rev: 1, Changes: []core.Change{
			{Kind: core.ChangeSession, ID: "a"},
			{Kind: core.ChangeSession, ID: "z", Deleted: true},
			{Kind: core.ChangeGeneration, ID: "g"},
			{Kind: core.ChangeGeneration, ID: "h", Deleted: true},
			{Kind: core.ChangeMessages, ID: "g", FirstSeq: 1, LastSeq: 3},
			{Kind: core.ChangeRun, ID: "r"},
			{Kind: core.ChangeExchange, ID: "x"},
			{Kind: core.ChangeDelivery, ID: "d"},
		}}}, got)
	}},
	{"a head that moved is a change of its session", func(h *harness) {
		h.putSessions(core.Session{Key: "a", SessionID: "g"})
		h.update(func(tx core.Tx) error { return tx.PutGeneration(core.Generation{ID: "g", Key: "a"}) })
		h.update(func(tx core.Tx) error { return appendText(tx, "g", "x") })
		h.update(func(tx core.Tx) error { return tx.PutRun(run("r", "a", core.RunQueued, 1)) })
		h.update(func(tx core.Tx) error { return tx.PutRun(run("r2", "a", core.RunQueued, 1)) })
		got, err := h.store.Changes(h.ctx, 1, 10)
		h.NoError(err)
		session := core.Change{Kind: core.ChangeSession, ID: "a"}
		h.Equal([]core.Revision{
			{Rev: 2, Changes: []core.Change{{Kind: core.ChangeGeneration, ID: "g"}}},
			{Rev: 3, Changes: []core.Change{{Kind: core.ChangeMessages, ID: "g", FirstSeq: 1, LastSeq: 1}, session}},
			{Rev: 4, Changes: []core.Change{{Kind: core.ChangeRun, ID: "r"}, session}},
			{Rev: 5, Changes: []core.Change{{Kind: core.ChangeRun, ID: "r2"}}},
		}, got)
	}},
	{"a revision without records is there all the same", func(h *harness) {
		h.update(func(tx core.Tx) error { return tx.PutDue(core.Due{At: 1, Kind: "k", ID: "i"}) })
		got, err := h.store.Changes(h.ctx, 0, 10)
		h.NoError(err)
		h.Equal([]core.Revision{{Rev: 1}}, got)
	}},
	{"changes are paged, and a future or lost past is a gap", func(h *harness) {
		for _, key := range []string{"a", "b", "c", "d"} {
			h.putSessions(core.Session{Key: key})
		}
		h.reopen()
		for _, c := range []struct {
			from  core.Rev
			limit int
			want  []core.Rev
		}{{0, 10, []core.Rev{1, 2, 3, 4}}, {0, 2, []core.Rev{1, 2}}, {2, 1, []core.Rev{3}}, {3, 10, []core.Rev{4}}, {4, 10, nil}, {0, 0, nil}} {
			got, err := h.store.Changes(h.ctx, c.from, c.limit)
			h.NoError(err)
			var revs []core.Rev
			for _, r := range got {
				revs = append(revs, r.Rev)
			}
			h.Equal(c.want, revs, "from %d limit %d", c.from, c.limit)
		}
		_, err := h.store.Changes(h.ctx, 5, 10)
		h.ErrorIs(err, core.ErrGap)
	}},
	{"await returns at once, on a commit, or with its context", func(h *harness) {
		h.putSessions(core.Session{Key: "a"})
		rev, err := h.store.Await(h.ctx, 0)
		h.NoError(err)
		h.EqualValues(1, rev)

		woken := make(chan core.Rev, 3)
		for range 3 {
			go func() {
				rev, _ := h.store.Await(h.ctx, 1)
				woken <- rev
			}()
		}
		h.putSessions(core.Session{Key: "b"})
		for range 3 {
			h.EqualValues(2, <-woken)
		}
		ctx, cancel := context.WithCancel(h.ctx)
		done := make(chan error, 1)
		go func() {
			_, err := h.store.Await(ctx, 2)
			done <- err
		}()
		cancel()
		h.ErrorIs(<-done, context.Canceled)
		go func() {
			_, err := h.bare.Await(context.Background(), 2)
			done <- err
		}()
		h.NoError(h.bare.Close())
		h.Error(<-done, "closing ends a wait")
		h.open()
	}},
}
