package bolt

import (
	"encoding/binary"
	"encoding/json"

	"cordboard/core"
)

// runs compares every run with its places.
func (x *examination) runs() error {
	places, alive := 0, 0
	err := x.walk(bRun, nil, nil, func(k, v []byte) bool {
		x.report.Runs++
		r, number, err := decodeRun(string(k), v)
		if err != nil {
			x.report.found(doExport, "%v", err)
			return true
		}
		if r.ID != string(k) {
			x.report.found(doExport, "%v", damagedRecord("run", string(k), errOwnID))
		}
		for _, session := range [...]string{r.SessionKey, ""} {
			if string(x.get(bRunTime, runTimeKey(session, r.QueuedAt, number))) != r.ID {
				x.report.found(doExport, "run %q is not in its place among the runs of %q", k, session)
			}
			places++
		}
		if live(r.State) {
			alive++
			if string(x.get(bLive, be64(number))) != r.ID || string(x.get(bQueue, queueKey(&r, number))) != r.ID {
				x.report.found(doExport, "run %q is %s and not in its place in the queue", k, r.State)
			}
		}
		return true
	})
	for _, c := range []struct {
		id   bucket
		want int
	}{{bRunTime, places}, {bLive, alive}, {bQueue, alive}} {
		if err != nil {
			return err
		}
		got := 0
		err = x.walk(c.id, nil, nil, func(_, _ []byte) bool {
			got++
			return true
		})
		if got != c.want {
			x.report.found(doExport, "index %q has %d entries and should have %d", bucketNames[c.id], got, c.want)
		}
	}
	return err
}

// records reads every record that has no index.
func (x *examination) records() error {
	if err := readable[core.Exchange](x, bExch, "exchange", func(r *core.Exchange) string { return r.ID }); err != nil {
		return err
	}
	if err := readable[core.Delivery](x, bDlv, "delivery", func(r *core.Delivery) string { return r.ID }); err != nil {
		return err
	}
	if err := readable[core.AuditEntry](x, bAudit, "audit entry", nil); err != nil {
		return err
	}
	if err := readable[core.SourceFile](x, bSource, "source file", nil); err != nil {
		return err
	}
	if err := readable(x, bHold, "hold", func(h *core.Hold) string { return string(holdKey(h)) }); err != nil {
		return err
	}
	if err := readable(x, bUsage, "usage counter", func(u *core.UsageRow) string {
		k, _ := usageKey(u) // of a day that is none it is nil, which no key is
		return string(k)
	}); err != nil {
		return err
	}
	if err := readable(x, bBinding, "thread binding", func(b *core.Binding) string {
		k, _ := bindingKey(&b.Route) // of a route that names no thread it is nil, which no key is
		return string(k)
	}); err != nil {
		return err
	}
	return x.walk(bDue, nil, nil, func(k, _ []byte) bool {
		if _, ok := decodeDue(k); !ok {
			x.report.found(doExport, "%v", damagedRecord("due entry", string(k), errShort))
		}
		return true
	})
}

func readable[T any](x *examination, id bucket, what string, name func(*T) string) error {
	return x.walk(id, nil, nil, func(k, v []byte) bool {
		var r T
		if err := json.Unmarshal(v, &r); err != nil {
			x.report.found(doExport, "%v", damagedRecord(what, string(k), err))
		} else if name != nil && name(&r) != string(k) {
			x.report.found(doExport, "%v", damagedRecord(what, string(k), errOwnID))
		}
		return true
	})
}

// answers compares the idempotent answers with the order in which they are swept.
func (x *examination) answers() error {
	err := x.walk(bIdem, nil, nil, func(k, _ []byte) bool {
		a, _, err := x.Idempotent(string(k))
		if err != nil {
			x.report.found(doExport, "%v", err)
		} else if x.get(bIdemAt, answerKey(a.At, k)) == nil {
			x.report.found(doExport, "the answer to %q would never be swept", k)
		}
		return true
	})
	if err == nil {
		err = x.walk(bIdemAt, nil, nil, func(k, _ []byte) bool {
			if len(k) < 8 || !x.answeredAt(k[8:], fromAscending(binary.BigEndian.Uint64(k))) {
				x.report.found(doExport, "an answer that is not there is to be swept: %q", k)
			}
			return true
		})
	}
	return err
}

func (x *examination) answeredAt(scope []byte, at int64) bool {
	v := x.get(bIdem, scope)
	return len(v) >= 8 && int64(binary.BigEndian.Uint64(v)) == at
}
