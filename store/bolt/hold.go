package bolt

import (
	"cmp"
	"encoding/binary"
	"time"

	"cordboard/core"
)

// A hold's key begins with a rank, so that the wider one comes first.
const (
	rankAll     = '0'
	rankAgent   = '1'
	rankSession = '2'
)

func holdKey(h *core.Hold) []byte {
	switch {
	case h.Session != "":
		return append([]byte{rankSession}, h.Session...)
	case h.Agent != "":
		return append([]byte{rankAgent}, h.Agent...)
	}
	return []byte{rankAll}
}

// holdID is a hold's id in a change.
func holdID(h *core.Hold) string {
	if h.Session == "" && h.Agent != "" {
		return "agent:" + h.Agent
	}
	return h.Session
}

// Holds walks the holds, the widest first.
func (t *txn) Holds(visit func(*core.Hold) bool) error {
	if !t.has(bHold) {
		return nil
	}
	return records(t, bHold, "hold", nil, nil, func(_ []byte, h *core.Hold) bool { return visit(h) })
}

// PutHold keeps a hold, or removes it when it is released.
func (t *txn) PutHold(h core.Hold) error {
	if h.Session != "" && h.Agent != "" {
		return core.Errorf(core.CodeInvalidParams, "a hold is of session %q or of agent %q, not of both", h.Session, h.Agent)
	}
	if err := checkText("what a hold is of", cmp.Or(h.Session, h.Agent, "all"), core.MaxKeyBytes); err != nil {
		return err
	}
	k, release := holdKey(&h), h.Release
	if (t.get(bHold, k) == nil) == release {
		return nil
	}
	t.changes.note(core.Change{Kind: core.ChangeHold, ID: holdID(&h), Deleted: release})
	if release {
		return t.del(bHold, k)
	}
	return t.putRecord(bHold, k, &h)
}

// usageKey orders counters by day, the newest first, then by agent and model.
func usageKey(u *core.UsageRow) ([]byte, error) {
	day, err := time.Parse(time.DateOnly, u.Day)
	if err != nil {
		return nil, core.Errorf(core.CodeInvalidParams, "day %q of a usage counter is not written like 2006-01-02", u.Day)
	}
	return append(binary.BigEndian.AppendUint64(nil, descending(day.Unix())), joined(u.Agent, u.Model)...), nil
}

// Usage walks the counters, newest day first.
func (t *txn) Usage(visit func(*core.UsageRow) bool) error {
	if !t.has(bUsage) {
		return nil
	}
	return records(t, bUsage, "usage counter", nil, nil, func(_ []byte, u *core.UsageRow) bool { return visit(u) })
}

// AddUsage adds to a counter.
func (t *txn) AddUsage(u core.UsageRow) error {
	k, err := usageKey(&u)
	if err != nil {
		return err
	}
	if err := checkText("agent of a usage counter", u.Agent, core.MaxKeyBytes); err != nil {
		return err
	}
	if u.Model != "" {
		if err := checkText("model of a usage counter", u.Model, core.MaxKeyBytes); err != nil {
			return err
		}
	}
	sum, _, err := record[core.UsageRow](t, bUsage, "usage counter", string(k))
	if err != nil {
		return err
	}
	sum.Day, sum.Agent, sum.Model = u.Day, u.Agent, u.Model
	sum.Runs, sum.Input, sum.Output = sum.Runs+u.Runs, sum.Input+u.Input, sum.Output+u.Output
	if u.Cost != nil {
		cost := *u.Cost
		if sum.Cost != nil {
			cost += *sum.Cost
		}
		sum.Cost = &cost
	}
	return t.putRecord(bUsage, k, &sum)
}
