package storetest

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"cordboard/core"
)

var recordCases = []testCase{
	{"exchanges and deliveries", func(h *harness) {
		x := core.Exchange{
			ID: "x1", RequesterKey: "a", TargetKey: "b", ChainID: "c", Request: "q", FirstReply: "f", LatestReply: "l", Turn: 2,
			State: "looping", Reason: "r", CreatedAt: 1, UpdatedAt: 2,
		}
		d := core.Delivery{
			ID: "d1", SessionKey: "a", RunID: "r", Route: core.DeliveryContext{Channel: "c"}, Text: "<t>", State: "pending",
			Rule: "rules[1]", Attempts: 1, LastError: "e", NextAttemptAt: 5, CreatedAt: 4,
		}
		h.update(func(tx core.Tx) error {
			if err := tx.PutExchange(core.Exchange{ID: "x0"}); err != nil {
				return err
			}
			if err := tx.PutExchange(x); err != nil {
				return err
			}
			return tx.PutDelivery(d)
		})
		h.reopen()
		h.view(func(r core.Reader) {
			gotX, ok, err := r.Exchange("x1")
			h.NoError(err)
			h.True(ok)
			h.Equal(x, gotX)
			gotD, ok, err := r.Delivery("d1")
			h.NoError(err)
			h.True(ok)
			h.Equal(d, gotD)
			_, ok, _ = r.Exchange("absent")
			h.False(ok)
			_, ok, _ = r.Delivery("absent")
			h.False(ok)
		})
		h.Len(h.dump().Exchanges, 2)
		h.refuse(core.CodeInvalidParams, func(tx core.Tx) error { return tx.PutExchange(core.Exchange{}) })
		h.refuse(core.CodeInvalidParams, func(tx core.Tx) error { return tx.PutDelivery(core.Delivery{}) })
	}},
	{"due entries are soonest first, up to and including a time", func(h *harness) {
		all := []core.Due{
			{At: math.MinInt64, Kind: "k", ID: "0"},
			{At: -1, Kind: "k", ID: "1"},
			{At: 5, Kind: "a", ID: "z"},
			{At: 5, Kind: "b", ID: "a"},
			{At: 6, Kind: "a", ID: "b"},
			{At: math.MaxInt64, Kind: "k", ID: "9"},
		}
		h.update(func(tx core.Tx) error {
			for i := range all {
				if err := tx.PutDue(all[(i*5+2)%len(all)]); err != nil {
					return err
				}
			}
			return nil
		})
		for _, c := range []struct {
			until int64
			n     int
		}{{math.MinInt64, 1}, {-2, 1}, {4, 2}, {5, 4}, {math.MaxInt64, 6}} {
			h.view(func(r core.Reader) {
				got := []core.Due{}
				h.NoError(r.Due(c.until, func(d core.Due) bool {
					got = append(got, d)
					return true
				}))
				h.Equal(all[:c.n], got, "until %d", c.until)
			})
		}
		h.update(func(tx core.Tx) error { return tx.DeleteDue(all[3]) })
		rev := h.rev()
		h.Equal(rev, h.update(func(tx core.Tx) error { return tx.DeleteDue(all[3]) }))
		h.Len(h.dump().Due, 5)
		h.refuse(core.CodeInvalidParams, func(tx core.Tx) error { return tx.PutDue(core.Due{ID: "i"}) })
		h.refuse(core.CodeInvalidParams, func(tx core.Tx) error { return tx.PutDue(core.Due{Kind: "k"}) })
	}},
	{"answers are kept byte for byte, for a day", func(h *harness) {
		body := json.RawMessage("{ \"a\": 1.0, \"b\":\"<&>\" }")
		const day = 24 * 60 * 60 * 1000
		h.putAnswer("old", core.Answer{Hash: "h", At: 1000, Body: body})
		h.putAnswer("a\x00b\x00c", core.Answer{Hash: "h2", At: 1000 + day})
		h.Equal(body, h.answer("old").Body, "not older than a day yet")
		h.putAnswer("old", core.Answer{Hash: "h3", At: 2000, Body: body})
		h.Equal("h3", h.answer("old").Hash)
		h.putAnswer("new", core.Answer{At: 2001 + day})
		h.view(func(r core.Reader) {
			_, ok, err := r.Idempotent("old")
			h.NoError(err)
			h.False(ok, "swept")
		})
		h.Equal("h2", h.answer("a\x00b\x00c").Hash)
		h.refuse(core.CodeInvalidParams, func(tx core.Tx) error { return tx.PutIdempotent("", core.Answer{}) })
	}},
	{"the audit bears the revision of its command", func(h *harness) {
		for i := range 3 {
			h.update(func(tx core.Tx) error {
				for j := range 2 {
					e := core.AuditEntry{
						Rev: 77, At: int64(i), Who: "op", Verb: "patch", Target: fmt.Sprintf("%d%d", i, j), Before: json.RawMessage(`{"a":"<"}`),
						After: json.RawMessage(`null`), Result: "ok",
					}
					if err := tx.AddAudit(e); err != nil {
						return err
					}
				}
				return nil
			})
		}
		h.view(func(r core.Reader) {
			var got []string
			for _, before := range []core.Rev{3, 0, 4, 77, 1} {
				h.NoError(r.Audit(before, func(e *core.AuditEntry) bool {
					got = append(got, fmt.Sprint(e.Rev, " ", e.Target))
					h.JSONEq(`{"a":"<"}`, string(e.Before))
					return len(got)%4 != 0
				}))
			}
			newest := []string{"3 21", "3 20", "2 11", "2 10"}
			h.Equal(slices.Concat([]string{"2 11", "2 10", "1 01", "1 00"}, newest, newest, newest), got)
		})
	}},
	{"holds are kept until they are released, the widest first", func(h *harness) {
		all := []core.Hold{{}, {Agent: "main"}, {Agent: "ops"}, {Session: "agent:main:main"}, {Session: "cron:x"}}
		for _, i := range []int{3, 1, 4, 0, 2} {
			h.update(func(tx core.Tx) error { return tx.PutHold(all[i]) })
		}
		rev := h.rev()
		h.Equal(rev, h.update(func(tx core.Tx) error { return tx.PutHold(all[2]) }), "it is held already")
		h.Equal(rev, h.update(func(tx core.Tx) error { return tx.PutHold(core.Hold{Session: "main", Release: true}) }), "it is not held")
		h.reopen()
		h.Equal(all, h.dump().Holds)
		for _, i := range []int{0, 1, 3} {
			released := all[i]
			released.Release = true
			h.update(func(tx core.Tx) error { return tx.PutHold(released) })
		}
		h.Equal([]core.Hold{{Agent: "ops"}, {Session: "cron:x"}}, h.dump().Holds)
		revisions, err := h.store.Changes(h.ctx, rev-1, 10)
		h.NoError(err)
		var changes []core.Change
		for _, r := range revisions {
			changes = append(changes, r.Changes...)
		}
		h.Equal([]core.Change{
			{Kind: core.ChangeHold, ID: "agent:ops"},
			{Kind: core.ChangeHold, Deleted: true},
			{Kind: core.ChangeHold, ID: "agent:main", Deleted: true},
			{Kind: core.ChangeHold, ID: "agent:main:main", Deleted: true},
		}, changes)
		h.refuse(core.CodeInvalidParams, func(tx core.Tx) error { return tx.PutHold(core.Hold{Session: "a", Agent: "b"}) })
		h.refuse(core.CodeInvalidParams, func(tx core.Tx) error { return tx.PutHold(core.Hold{Session: "a\x00"}) })
	}},
	{"usage adds up by day, agent and model", func(h *harness) {
		add := func(day, agent, model string, runs, in, out int64, cost *float64) {
			h.update(func(tx core.Tx) error {
				return tx.AddUsage(core.UsageRow{Day: day, Agent: agent, Model: model, Runs: runs, Usage: core.Usage{Input: in, Output: out, Cost: cost}})
			})
		}
		add("2026-11-30", "main", "p/m", 1, 10, 5, nil)
		add("2026-12-01", "ops", "", 1, 0, 0, nil)
		add("2026-12-01", "main", "p/m", 1, 1, 2, ptr(0.5))
		add("2026-12-01", "main", "a", 1, 7, 7, nil)
		h.reopen()
		add("2026-12-01", "main", "p/m", 1, 3, 4, ptr(0.25))
		add("2026-12-01", "main", "p/m", 1, 0, 0, nil)
		add("1969-12-31", "main", "p/m", 0, 0, 0, ptr(0.0))
		row := func(day, agent, model string, runs, in, out int64, cost *float64) core.UsageRow {
			return core.UsageRow{Day: day, Agent: agent, Model: model, Runs: runs, Usage: core.Usage{Input: in, Output: out, Cost: cost}}
		}
		h.Equal([]core.UsageRow{
			row("2026-12-01", "main", "a", 1, 7, 7, nil), row("2026-12-01", "main", "p/m", 3, 4, 6, ptr(0.75)), row("2026-12-01", "ops", "", 1, 0, 0, nil),
			row("2026-11-30", "main", "p/m", 1, 10, 5, nil), row("1969-12-31", "main", "p/m", 0, 0, 0, ptr(0.0)),
		}, h.dump().Usage)
		for _, bad := range []core.UsageRow{{Agent: "a"}, {Day: "1.12.2026", Agent: "a"}, {Day: "2026-12-01"}, {Day: "2026-12-01", Agent: "a", Model: "\x00"}} {
			h.refuse(core.CodeInvalidParams, func(tx core.Tx) error { return tx.AddUsage(bad) })
		}
	}},
	{"a thread is bound to one session until it is let go", func(h *harness) {
		route := core.DeliveryContext{Channel: "chat", To: "g:1", AccountID: "acct", ThreadID: "7"}
		others := []core.DeliveryContext{
			{Channel: "chat", To: "g:1", ThreadID: "7"},
			{Channel: "chat", To: "g:1", AccountID: "acct", ThreadID: "8"},
			{Channel: "chat", To: "g", AccountID: "acct", ThreadID: "7"},
			{Channel: "other", To: "g:1", AccountID: "acct", ThreadID: "7"},
			{},
			{Channel: "chat\x00", To: "g:1", ThreadID: "7"},
		}
		bound := core.Binding{Route: route, Session: "agent:main:subagent:1", CreatedAt: 1, EndsAt: 2}
		h.update(func(tx core.Tx) error { return tx.PutBinding(bound) })
		bound.EndsAt = 3
		h.update(func(tx core.Tx) error { return tx.PutBinding(bound) })
		h.reopen()
		h.view(func(r core.Reader) {
			got, ok, err := r.Binding(route)
			h.NoError(err)
			h.True(ok)
			h.Equal(bound, got)
			for _, other := range others {
				_, ok, err := r.Binding(other)
				h.NoError(err)
				h.False(ok, "%+v", other)
			}
		})
		for range 2 {
			h.update(func(tx core.Tx) error { return tx.DeleteBinding(route) })
		}
		h.view(func(r core.Reader) {
			_, ok, err := r.Binding(route)
			h.NoError(err)
			h.False(ok)
		})
		h.refuse(core.CodeInvalidParams, func(tx core.Tx) error {
			return tx.PutBinding(core.Binding{Route: core.DeliveryContext{Channel: "c", To: "t"}, Session: "s"})
		})
		h.refuse(core.CodeInvalidParams, func(tx core.Tx) error { return tx.PutBinding(core.Binding{Route: route}) })
	}},
	{"source files are found by directory and path", func(h *harness) {
		f := core.SourceFile{Source: "/s", Path: "agents/a/x\xff.jsonl", Generation: "g", Size: 1, ModTime: 2, Offset: 3, Lines: 4, Sum: "5"}
		h.update(func(tx core.Tx) error {
			for _, file := range []core.SourceFile{{Source: "/s", Path: "b"}, f, {Source: "/sub", Path: "a"}} {
				if err := tx.PutSourceFile(file); err != nil {
					return err
				}
			}
			return nil
		})
		h.reopen()
		h.view(func(r core.Reader) {
			got, ok, err := r.SourceFile("/s", f.Path)
			h.NoError(err)
			h.True(ok)
			h.Equal(f, got)
			h.Equal([]core.SourceFile{f, {Source: "/s", Path: "b"}}, h.contentOf(r, universe{sources: []string{"/s"}}).Sources)
		})
		h.refuse(core.CodeInvalidParams, func(tx core.Tx) error { return tx.PutSourceFile(core.SourceFile{Source: "/s"}) })
		h.refuse(core.CodeInvalidParams, func(tx core.Tx) error { return tx.PutSourceFile(core.SourceFile{Path: "p"}) })
	}},
}

func (h *harness) putAnswer(scope string, a core.Answer) {
	h.t.Helper()
	h.update(func(tx core.Tx) error { return tx.PutIdempotent(scope, a) })
}

func (h *harness) answer(scope string) core.Answer {
	h.t.Helper()
	var out core.Answer
	h.view(func(r core.Reader) {
		a, ok, err := r.Idempotent(scope)
		h.NoError(err)
		h.True(ok, "answer of %q", scope)
		out = a
	})
	return out
}
