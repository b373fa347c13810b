// Package storetest is the conformance suite of core.Store: whatever passes Run keeps the promises that the engine builds on
// (engine.md §8). It also has Twice, a store that runs every Update function two times, for the tests of those who write such functions.
package storetest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"cordboard/core"
)

// Subject is an implementation under test.
type Subject struct {
	// Open opens the store that lives in dir, making it on first use.
	Open func(t testing.TB, dir string) core.Store
	// Check examines a store that is closed and fails the test when its records do not hold together.
	Check func(t testing.TB, dir string)
}

// Run runs the suite. Every Update function runs twice, and every test ends with the store closed, checked and opened again.
func Run(t *testing.T, s Subject) {
	for _, group := range []struct {
		name  string
		cases []testCase
	}{
		{"transactions", transactionCases},
		{"sessions", sessionCases},
		{"transcripts", transcriptCases},
		{"runs", runCases},
		{"records", recordCases},
		{"changes", changeCases},
	} {
		for _, c := range group.cases {
			t.Run(group.name+"/"+c.name, func(t *testing.T) {
				h := start(t, s)
				c.run(h)
				h.finish()
			})
		}
	}
	t.Run("model", func(t *testing.T) { checkModel(t, s) })
}

type testCase struct {
	name string
	run  func(h *harness)
}

// harness is a store in a directory of its own.
type harness struct {
	*require.Assertions
	t       testing.TB
	ctx     context.Context
	dir     string
	subject Subject
	bare    core.Store // as opened
	store   core.Store // runs every Update function twice
}

func start(t *testing.T, s Subject) *harness {
	h := &harness{Assertions: require.New(t), t: t, ctx: t.Context(), dir: t.TempDir(), subject: s}
	h.open()
	return h
}

func (h *harness) open() {
	h.bare = h.subject.Open(h.t, h.dir)
	h.store = Twice(h.bare)
}

// reopen closes the store, checks it and opens it again.
func (h *harness) reopen() {
	h.NoError(h.bare.Close())
	h.subject.Check(h.t, h.dir)
	h.open()
}

// finish compares what is stored before and after opening anew.
func (h *harness) finish() {
	before := h.dump()
	h.reopen()
	h.Equal(before, h.dump(), "the store after opening it anew")
	h.NoError(h.bare.Close())
}

// update commits fn and returns its revision.
func (h *harness) update(fn func(core.Tx) error) core.Rev {
	h.t.Helper()
	rev, err := h.store.Update(h.ctx, fn)
	h.NoError(err)
	return rev
}

// refuse runs a function that must fail with a code.
func (h *harness) refuse(code core.Code, fn func(core.Tx) error) {
	h.t.Helper()
	before := h.rev()
	_, err := h.store.Update(h.ctx, fn)
	h.Error(err)
	h.Equal(code, core.CodeOf(err), "code of %v", err)
	h.Equal(before, h.rev(), "a failed function takes no revision")
}

func (h *harness) view(fn func(core.Reader)) {
	h.t.Helper()
	h.NoError(h.store.View(h.ctx, func(r core.Reader) error {
		fn(r)
		return nil
	}))
}

func (h *harness) rev() (rev core.Rev) {
	h.t.Helper()
	h.view(func(r core.Reader) { rev = r.Rev() })
	return rev
}

func (h *harness) putSessions(sessions ...core.Session) core.Rev {
	h.t.Helper()
	return h.update(func(tx core.Tx) error {
		for _, s := range sessions {
			if err := tx.PutSession(s); err != nil {
				return err
			}
		}
		return nil
	})
}

func (h *harness) heads() []core.Head {
	h.t.Helper()
	var out []core.Head
	h.view(func(r core.Reader) { out = h.headsAfter(r, core.HeadCursor{}) })
	return out
}

func (h *harness) headsAfter(r core.Reader, after core.HeadCursor) (out []core.Head) {
	h.t.Helper()
	h.NoError(r.Heads(after, func(head *core.Head) bool {
		out = append(out, cloneHead(head))
		return true
	}))
	return out
}

func (h *harness) head(key string) core.Head {
	h.t.Helper()
	var out core.Head
	h.view(func(r core.Reader) {
		head, ok, err := r.Head(key)
		h.NoError(err)
		h.True(ok, "head of %s", key)
		out = cloneHead(&head)
	})
	return out
}

func keysOf(heads []core.Head) []string {
	out := []string{}
	for i := range heads {
		out = append(out, heads[i].Key)
	}
	return out
}
