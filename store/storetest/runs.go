package storetest

import (
	"strings"

	"cordboard/core"
)

var runCases = []testCase{
	{"a run comes back as it was put", func(h *harness) {
		full := core.Run{
			ID: "r", SessionKey: "a", SessionID: "s", Kind: core.RunSend, Lane: "main", State: core.RunEnded, Outcome: core.OutcomeError,
			Error: "429", QueuedAt: 1, StartedAt: 2, EndedAt: 3, RequesterKey: "b", ChainID: "c", Hop: 2, ExchangeID: "x", ParentRunID: "p",
			WaitingOn: "w", Owner: "o", Fence: 7, Message: "<&> hello", Label: "l", Provenance: &core.Provenance{Kind: "inter_session"},
			Model: "m", Thinking: "high", Cleanup: "delete", Result: "res", Usage: &core.Usage{Input: 1, Output: 2, Cost: ptr(0.0)}, FirstSeq: 4,
			LastSeq: 5, Mirrored: true,
		}
		h.putRuns(full)
		h.reopen()
		h.view(func(r core.Reader) {
			got, ok, err := r.Run("r")
			h.NoError(err)
			h.True(ok)
			h.Equal(full, got)
			_, ok, err = r.Run("absent")
			h.NoError(err)
			h.False(ok)
		})
		for _, bad := range []string{"", "a\x00", strings.Repeat("i", core.MaxKeyBytes+1)} {
			h.refuse(core.CodeInvalidParams, func(tx core.Tx) error { return tx.PutRun(core.Run{ID: bad, SessionKey: "a"}) })
		}
	}},
	{"runs are newest first, of one session or of all", func(h *harness) {
		h.putRuns(run("r1", "a", core.RunEnded, 10), run("r2", "b", core.RunEnded, 30), run("r3", "a", core.RunEnded, 20),
			run("r4", "a", core.RunEnded, 20), run("r5", "aa", core.RunEnded, 5))
		h.view(func(r core.Reader) {
			c := h.contentOf(r, universe{keys: []string{"a", "aa", "b"}})
			h.Equal([]string{"r4", "r3", "r1"}, c.RunsOf["a"], "of two at one time the later put is newer")
			h.Equal([]string{"r5"}, c.RunsOf["aa"])
			h.Equal([]string{"r2", "r4", "r3", "r1", "r5"}, runIDs(c.Runs))
		})
		h.putRuns(run("r1", "b", core.RunEnded, 40))
		h.view(func(r core.Reader) {
			c := h.contentOf(r, universe{keys: []string{"a", "b"}})
			h.Equal([]string{"r4", "r3"}, c.RunsOf["a"])
			h.Equal([]string{"r1", "r2"}, c.RunsOf["b"])
			h.Equal([]string{"r1", "r2", "r4", "r3", "r5"}, runIDs(c.Runs), "a moved run is in one place")
		})
	}},
	{"live runs are in the order in which they were queued", func(h *harness) {
		h.putRuns(run("z", "a", core.RunQueued, 50), run("y", "a", core.RunQueued, 50), run("x", "b", core.RunQueued, 50),
			run("old", "b", core.RunEnded, 1))
		h.Equal([]string{"z", "y", "x"}, h.dump().Live)
		h.putRuns(run("y", "a", core.RunRunning, 50))
		h.Equal([]string{"z", "y", "x"}, h.dump().Live, "starting keeps the place")
		h.putRuns(run("z", "a", core.RunEnded, 50))
		h.Equal([]string{"y", "x"}, h.dump().Live)
		h.reopen()
		h.putRuns(run("w", "a", core.RunQueued, 10))
		h.Equal([]string{"y", "x", "w"}, h.dump().Live)
	}},
	{"the head shows running before queued", func(h *harness) {
		h.putSessions(core.Session{Key: "a"}, core.Session{Key: "b"})
		rev := h.head("a").Rev
		for _, step := range []struct {
			put  core.Run
			a, b core.RunState
		}{
			{run("r1", "a", core.RunQueued, 1), core.RunQueued, ""},
			{run("r2", "a", core.RunQueued, 2), core.RunQueued, ""},
			{run("r2", "a", core.RunRunning, 2), core.RunRunning, ""},
			{run("r1", "a", core.RunEnded, 1), core.RunRunning, ""},
			{run("r2", "b", core.RunRunning, 2), "", core.RunRunning},
			{run("r2", "b", core.RunQueued, 2), "", core.RunQueued},
			{run("r2", "b", core.RunEnded, 2), "", ""},
		} {
			h.putRuns(step.put)
			h.Equal(step.a, h.head("a").Run, "a after %+v", step.put)
			h.Equal(step.b, h.head("b").Run, "b after %+v", step.put)
			h.Equal(rev, h.head("a").Rev)
		}
		h.putRuns(run("early", "c", core.RunRunning, 1))
		h.putSessions(core.Session{Key: "c"})
		h.Equal(core.RunRunning, h.head("c").Run, "a row that comes after its run")
	}},
}

func run(id, key string, state core.RunState, queuedAt int64) core.Run {
	return core.Run{ID: id, SessionKey: key, State: state, QueuedAt: queuedAt}
}

func (h *harness) putRuns(runs ...core.Run) {
	h.t.Helper()
	h.update(func(tx core.Tx) error {
		for _, r := range runs {
			if err := tx.PutRun(r); err != nil {
				return err
			}
		}
		return nil
	})
}

func runIDs(runs []core.Run) []string {
	out := []string{}
	for i := range runs {
		out = append(out, runs[i].ID)
	}
	return out
}
