package storetest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"sync"

	"cordboard/core"
)

var transactionCases = []testCase{
	{"a new store is empty at revision 0", func(h *harness) {
		h.EqualValues(0, h.rev())
		info, err := h.store.Info(h.ctx)
		h.NoError(err)
		h.NotEmpty(info.Epoch)
		h.EqualValues(0, info.Rev)
		h.Zero(info.Sessions)
		h.False(info.ReadOnly)
		h.reopen()
		again, err := h.store.Info(h.ctx)
		h.NoError(err)
		h.Equal(info.Epoch, again.Epoch, "the epoch is the store's for life")
	}},
	{"each function that writes takes the next revision", func(h *harness) {
		h.EqualValues(1, h.putSessions(core.Session{Key: "a"}))
		h.EqualValues(2, h.putSessions(core.Session{Key: "b"}))
		h.EqualValues(2, h.update(func(core.Tx) error { return nil }), "one that writes nothing takes none")
		h.EqualValues(2, h.update(func(tx core.Tx) error { return tx.DeleteSession("absent") }))
		h.EqualValues(3, h.putSessions(core.Session{Key: "c"}))
		h.EqualValues(3, h.rev())
	}},
	{"a function sees its own writes and the revision they will carry", func(h *harness) {
		h.putSessions(core.Session{Key: "a"})
		rev := h.update(func(tx core.Tx) error {
			h.EqualValues(2, tx.Rev())
			if err := tx.PutSession(core.Session{Key: "b", UpdatedAt: 7}); err != nil {
				return err
			}
			head, ok, err := tx.Head("b")
			h.True(ok)
			h.EqualValues(2, head.Rev)
			h.Equal([]string{"b", "a"}, keysOf(h.headsAfter(tx, core.HeadCursor{})))
			return err
		})
		h.EqualValues(2, rev)
	}},
	{"R046 an error removes all writes of its function", func(h *harness) {
		h.putSessions(core.Session{Key: "a", UpdatedAt: 1, SpawnedBy: "p"})
		h.update(func(tx core.Tx) error { return tx.PutGeneration(core.Generation{ID: "g", Key: "a"}) })
		before := h.dump()
		broken := errors.New("broken")
		_, err := h.store.Update(h.ctx, func(tx core.Tx) error {
			h.NoError(writeAll(tx))
			return broken
		})
		h.ErrorIs(err, broken)
		h.Equal(before, h.dump())
	}},
	{"a panic is that function's error and removes its writes", func(h *harness) {
		h.putSessions(core.Session{Key: "a"})
		before := h.dump()
		_, err := h.store.Update(h.ctx, func(tx core.Tx) error {
			h.NoError(writeAll(tx))
			panic("out of order")
		})
		h.Equal(core.CodeInternal, core.CodeOf(err))
		h.ErrorContains(err, "out of order")
		h.ErrorContains(errors.Unwrap(err), "transactions.go", "the cause has the stack")
		h.Equal(before, h.dump())
		h.EqualValues(2, h.putSessions(core.Session{Key: "b"}))
	}},
	{"a function that ends its goroutine does no harm", func(h *harness) {
		_, err := h.store.Update(h.ctx, func(tx core.Tx) error {
			h.NoError(writeAll(tx))
			runtime.Goexit()
			return nil
		})
		h.Equal(core.CodeInternal, core.CodeOf(err))
		h.EqualValues(1, h.putSessions(core.Session{Key: "b"}))
	}},
	{"a panic in a View is its error", func(h *harness) {
		err := h.store.View(h.ctx, func(core.Reader) error { panic("lost") })
		h.Equal(core.CodeInternal, core.CodeOf(err))
		broken := errors.New("broken")
		h.ErrorIs(h.store.View(h.ctx, func(core.Reader) error { return broken }), broken)
	}},
	{"writing inside a walk is refused", func(h *harness) {
		h.putSessions(core.Session{Key: "a"}, core.Session{Key: "b"})
		h.refuse(core.CodeInternal, func(tx core.Tx) error {
			var failed error
			err := tx.Heads(core.HeadCursor{}, func(head *core.Head) bool {
				failed = tx.DeleteSession(head.Key)
				return failed == nil
			})
			return errors.Join(failed, err)
		})
	}},
	{"a snapshot does not move", func(h *harness) {
		h.putSessions(core.Session{Key: "a", UpdatedAt: 1})
		h.view(func(r core.Reader) {
			wait(func() { h.putSessions(core.Session{Key: "b", UpdatedAt: 2}) })
			h.Equal([]string{"a"}, keysOf(h.headsAfter(r, core.HeadCursor{})))
			h.EqualValues(1, r.Rev())
		})
		h.Equal([]string{"b", "a"}, keysOf(h.heads()))
	}},
	{"a cancelled context keeps a function from running", func(h *harness) {
		ctx, cancel := context.WithCancel(h.ctx)
		cancel()
		ran := false
		_, err := h.store.Update(ctx, func(core.Tx) error {
			ran = true
			return nil
		})
		h.ErrorIs(err, context.Canceled)
		h.ErrorIs(h.store.View(ctx, func(core.Reader) error {
			ran = true
			return nil
		}), context.Canceled)
		h.False(ran)
	}},
	{"a context that ends in the queue takes the function out", cancelInQueue},
	{"close answers what was queued before it", closeDrains},
	{"a closed store answers with an error", func(h *harness) {
		h.NoError(h.bare.Close())
		h.NoError(h.bare.Close(), "closing twice is closing once")
		_, err := h.store.Update(h.ctx, func(core.Tx) error { return nil })
		h.Error(err)
		h.Error(h.store.View(h.ctx, func(core.Reader) error { return nil }))
		_, err = h.store.Await(h.ctx, 5)
		h.Error(err)
		h.open()
	}},
	{"32 writers: revisions are contiguous, in commit order, and failures hit only themselves", manyWriters},
}

// writeAll uses every writing method once.
func writeAll(tx core.Tx) error {
	return errors.Join(
		tx.PutSession(core.Session{Key: "a", UpdatedAt: 99, SpawnedBy: "q", SessionID: "g"}),
		tx.PutSession(core.Session{Key: "z", UpdatedAt: 98}),
		tx.PutEntry("z", []byte(`{}`)),
		tx.DeleteSession("z"),
		tx.PutGeneration(core.Generation{ID: "g", Key: "a"}),
		tx.PutGeneration(core.Generation{ID: "h", Key: "z"}),
		appendText(tx, "g", "x"),
		tx.DeleteGeneration("h"),
		tx.PutRun(core.Run{ID: "r", SessionKey: "a", State: core.RunQueued}),
		tx.PutExchange(core.Exchange{ID: "x"}),
		tx.PutDelivery(core.Delivery{ID: "d"}),
		tx.PutDue(core.Due{At: 1, Kind: "k", ID: "i"}),
		tx.PutDue(core.Due{At: 2, Kind: "k", ID: "i"}),
		tx.DeleteDue(core.Due{At: 2, Kind: "k", ID: "i"}),
		tx.PutIdempotent("s", core.Answer{Hash: "h"}),
		tx.AddAudit(core.AuditEntry{Who: "w"}),
		tx.PutSourceFile(core.SourceFile{Source: "/s", Path: "p"}),
	)
}

func appendText(tx core.Tx, generation string, texts ...string) error {
	for _, text := range texts {
		if _, _, err := tx.Append(generation, core.Message{Role: core.RoleUser, Raw: []byte(strconv.Quote(text))}); err != nil {
			return err
		}
	}
	return nil
}

// wait runs fn in another goroutine and waits for it.
func wait(fn func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		fn()
	}()
	<-done
}

// hold starts an Update function that holds up the writer until release is called; what it returns is sent to the channel.
func (h *harness) hold() (release func(), result <-chan error) {
	running, gate, out := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		_, err := h.bare.Update(h.ctx, func(tx core.Tx) error {
			select {
			case <-running:
			default:
				close(running)
			}
			<-gate
			return tx.PutSession(core.Session{Key: "holder"})
		})
		out <- err
	}()
	<-running
	return func() { close(gate) }, out
}

func cancelInQueue(h *harness) {
	release, held := h.hold()
	ctx, cancel := context.WithCancel(h.ctx)
	result := make(chan error, 1)
	ran := false
	go func() {
		_, err := h.bare.Update(ctx, func(core.Tx) error {
			ran = true
			return nil
		})
		result <- err
	}()
	cancel()
	h.ErrorIs(<-result, context.Canceled, "it comes back while the writer is still held up")
	release()
	h.NoError(<-held)
	h.EqualValues(1, h.rev())
	h.False(ran)
}

func closeDrains(h *harness) {
	release, held := h.hold()
	const n = 10
	var queued, ended sync.WaitGroup
	results := make([]error, n)
	for i := range n {
		queued.Add(1)
		ended.Add(1)
		go func() {
			defer ended.Done()
			queued.Done()
			_, results[i] = h.bare.Update(h.ctx, func(tx core.Tx) error { return tx.PutSession(core.Session{Key: fmt.Sprint("k", i)}) })
		}()
	}
	queued.Wait()
	closed := make(chan error, 1)
	go func() { closed <- h.bare.Close() }()
	release()
	h.NoError(<-held)
	h.NoError(<-closed)
	ended.Wait()
	h.subject.Check(h.t, h.dir)
	h.open()
	h.view(func(r core.Reader) {
		for i, err := range results {
			_, ok, _ := r.Session(fmt.Sprint("k", i))
			h.Equal(err == nil, ok, "what was answered well is stored, what was refused is not")
		}
	})
}

// manyWriters lets 32 goroutines count in one row, each turn failing, panicking or succeeding by its number.
func manyWriters(h *harness) {
	const writers, turns = 32, 12
	h.putSessions(core.Session{Key: "counter"})
	var wg sync.WaitGroup
	revs := make([][]core.Rev, writers)
	broken := errors.New("broken")
	for w := range writers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for turn := range turns {
				rev, err := h.bare.Update(h.ctx, func(tx core.Tx) error {
					if err := countUp(tx, fmt.Sprintf("w%02d-%02d", w, turn)); err != nil {
						return err
					}
					switch (w + turn) % 4 {
					case 1:
						return broken
					case 2:
						panic("broken")
					}
					return nil
				})
				switch (w + turn) % 4 {
				case 1:
					h.ErrorIs(err, broken)
				case 2:
					h.Equal(core.CodeInternal, core.CodeOf(err))
				default:
					h.NoError(err)
					revs[w] = append(revs[w], rev)
				}
			}
		}()
	}
	wg.Wait()
	all := slices.Sorted(slices.Values(slices.Concat(revs...)))
	h.Len(all, writers*turns/2)
	for i, rev := range all {
		h.EqualValues(i+2, rev, "each revision is given once, without a gap")
	}
	h.countedInOrder(len(all))
}

// countUp raises the number in the counter's label and writes a row that carries it.
func countUp(tx core.Tx, key string) error {
	counter, _, err := tx.Session("counter")
	if err != nil {
		return err
	}
	n, _ := strconv.Atoi(counter.Label)
	counter.Label = strconv.Itoa(n + 1)
	if err := tx.PutSession(counter); err != nil {
		return err
	}
	return tx.PutSession(core.Session{Key: key, UpdatedAt: int64(n + 1)})
}

// countedInOrder proves that revisions are in commit order: the row of revision n+1 has read the counter at n-1.
func (h *harness) countedInOrder(n int) {
	changes, err := h.store.Changes(h.ctx, 1, n+10)
	h.NoError(err)
	h.Len(changes, n)
	h.view(func(r core.Reader) {
		for i, c := range changes {
			h.EqualValues(i+2, c.Rev)
			h.Len(c.Changes, 2)
			s, ok, err := r.Session(c.Changes[1].ID)
			h.NoError(err)
			h.True(ok, "row of revision %d", c.Rev)
			h.EqualValues(i+1, s.UpdatedAt)
		}
	})
	info, err := h.store.Info(h.ctx)
	h.NoError(err)
	h.Equal(n+1, info.Sessions)
}
