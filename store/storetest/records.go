package storetest

import (
	"encoding/json"
	"fmt"
	"math"

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
			h.NoError(r.Audit(1, func(e *core.AuditEntry) bool {
				got = append(got, fmt.Sprint(e.Rev, " ", e.Target))
				h.JSONEq(`{"a":"<"}`, string(e.Before))
				return true
			}))
			h.Equal([]string{"2 10", "2 11", "3 20", "3 21"}, got)
		})
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
