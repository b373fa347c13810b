package uitest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"cordboard/core"
)

// records are what the board tells beside sessions and messages, and what it was told to do with them.
type records struct {
	runs       []core.Run // in the order they were first put
	exchanges  []core.ExchangeDetail
	deliveries []core.Delivery
	holds      []core.Hold
	approvals  []core.Approval
	audit      []core.AuditEntry // oldest first
	usage      []core.UsageRow
	commands   []core.Command
	refusal    error
}

// PutRun adds or replaces a run, brings its session's head in line and tells the watchers of both.
func (b *Board) PutRun(r core.Run) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.putRun(r)
}

func (b *Board) putRun(r core.Run) {
	if i := b.runAt(r.ID); i >= 0 {
		b.rec.runs[i] = r
	} else {
		b.rec.runs = append(b.rec.runs, r)
	}
	b.rev++
	b.tell(core.Change{Kind: core.ChangeRun, ID: r.ID, Run: &r})
	h, ok := b.heads[r.SessionKey]
	if !ok {
		return
	}
	h.Run = ""
	for _, each := range b.rec.runs {
		if each.SessionKey == r.SessionKey && each.State != core.RunEnded && h.Run != core.RunRunning {
			h.Run = each.State
		}
	}
	if r.State == core.RunEnded {
		h.Flags &^= core.FlagFailed | core.FlagAborted
		switch r.Outcome {
		case core.OutcomeError, core.OutcomeTimeout:
			h.Flags |= core.FlagFailed
		case core.OutcomeAborted, core.OutcomeInterrupted:
			h.Flags |= core.FlagAborted
		}
	}
	h.UpdatedAt = max(h.UpdatedAt, r.QueuedAt, r.StartedAt, r.EndedAt)
	b.putHead(h)
}

func (b *Board) runAt(id string) int {
	return slices.IndexFunc(b.rec.runs, func(r core.Run) bool { return r.ID == id })
}

// PutExchange adds or replaces an exchange and tells the watchers.
func (b *Board) PutExchange(x core.ExchangeDetail) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if i := slices.IndexFunc(b.rec.exchanges, func(o core.ExchangeDetail) bool { return o.ID == x.ID }); i >= 0 {
		b.rec.exchanges[i] = x
	} else {
		b.rec.exchanges = append(b.rec.exchanges, x)
	}
	b.rev++
	b.tell(core.Change{Kind: core.ChangeExchange, ID: x.ID})
}

// PutDelivery adds or replaces an outbound text and tells the watchers.
func (b *Board) PutDelivery(d core.Delivery) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.putDelivery(d)
}

func (b *Board) putDelivery(d core.Delivery) {
	if i := slices.IndexFunc(b.rec.deliveries, func(o core.Delivery) bool { return o.ID == d.ID }); i >= 0 {
		b.rec.deliveries[i] = d
	} else {
		b.rec.deliveries = append(b.rec.deliveries, d)
	}
	b.rev++
	b.tell(core.Change{Kind: core.ChangeDelivery, ID: d.ID})
}

// Ask adds requests for permission, and says on their sessions' heads that they wait for the operator.
func (b *Board) Ask(list ...core.Approval) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, a := range list {
		b.rec.approvals = append(b.rec.approvals, a)
		h := b.heads[a.Session]
		h.Flags |= core.FlagAsks
		b.putHead(h)
	}
}

// approve takes a request away; the head says so when it was its session's last.
func (b *Board) approve(c core.Approve) (core.Receipt, error) {
	at := slices.IndexFunc(b.rec.approvals, func(a core.Approval) bool { return a.ID == c.ID })
	if at < 0 {
		return core.Receipt{}, core.Errorf(core.CodeNotFound, "no such request for permission waits")
	}
	key := b.rec.approvals[at].Session
	b.rec.approvals = slices.Delete(b.rec.approvals, at, at+1)
	if !slices.ContainsFunc(b.rec.approvals, func(a core.Approval) bool { return a.Session == key }) {
		h := b.heads[key]
		h.Flags &^= core.FlagAsks
		b.putHead(h)
	}
	return core.Receipt{Key: key, Outcome: c.Option}, nil
}

// AddAudit adds entries, the newest last, and AddUsage adds rows.
func (b *Board) AddAudit(list ...core.AuditEntry) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rec.audit = append(b.rec.audit, list...)
}

// AddUsage adds rows of what runs cost.
func (b *Board) AddUsage(list ...core.UsageRow) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rec.usage = append(b.rec.usage, list...)
}

// Commands are what the board was told to do, the last one last.
func (b *Board) Commands() []core.Command {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.rec.commands)
}

// Refuse makes every command fail with err until it is called with nil.
func (b *Board) Refuse(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rec.refusal = err
}

// list answers a query for records; ok is false when it is not one of these.
func (b *Board) list(q core.RecordQuery) (page core.RecordPage, ok bool) {
	page.At = b.at()
	of := func(keys ...string) bool { return q.Session == "" || slices.Contains(keys, q.Session) }
	limit := cmp.Or(q.Limit, 200)
	switch q.Kind {
	case core.RecordRuns:
		page.Positions = b.positions()
		for _, r := range slices.Backward(b.rec.runs) {
			if of(r.SessionKey) && len(page.Runs) < limit && !(q.Live && r.State == core.RunEnded) {
				page.Runs = append(page.Runs, r)
			}
		}
	case core.RecordExchanges:
		for _, x := range b.rec.exchanges {
			if of(x.RequesterKey, x.TargetKey) && len(page.Exchanges) < limit {
				page.Exchanges = append(page.Exchanges, x.Exchange)
			}
		}
	case core.RecordExchange:
		for _, x := range b.rec.exchanges {
			if x.ID == q.ID {
				page.Exchange = &x
			}
		}
	case core.RecordDeliveries:
		for _, d := range b.rec.deliveries {
			if of(d.SessionKey) && len(page.Deliveries) < limit {
				page.Deliveries = append(page.Deliveries, d)
			}
		}
	case core.RecordApprovals:
		for _, a := range b.rec.approvals {
			if of(a.Session) {
				page.Approvals = append(page.Approvals, a)
			}
		}
	case core.RecordHolds:
		page.Holds = slices.Clone(b.rec.holds)
	case core.RecordAudit:
		for _, e := range slices.Backward(b.rec.audit) {
			if (q.Before == 0 || e.Rev < q.Before) && len(page.Audit) < limit {
				page.Audit = append(page.Audit, e)
			}
		}
	case core.RecordUsage:
		page.Usage = slices.Clone(b.rec.usage)
	default:
		return page, false
	}
	return page, true
}

func (b *Board) positions() map[string]int {
	places, last := map[string]int{}, map[string]int{}
	for _, r := range b.rec.runs {
		if r.State == core.RunQueued {
			last[r.SessionKey]++
			places[r.ID] = last[r.SessionKey]
		}
	}
	return places
}

// work does a command that is about runs, deliveries and holds; ok is false when it is not one of these.
func (b *Board) work(c core.Command) (receipt core.Receipt, ok bool, err error) {
	switch {
	case c.Abort != nil:
		receipt, err = b.endRuns(func(r *core.Run) bool {
			return r.ID == c.Abort.Run || c.Abort.Run == "" && r.SessionKey == c.Abort.Session
		}, 1)
	case c.Stop != nil:
		receipt, _ = b.endRuns(func(r *core.Run) bool { return b.under(r.SessionKey, c.Stop.Session) }, len(b.rec.runs)) // to stop nothing is no error
		receipt.Key = c.Stop.Session
	case c.Approve != nil:
		receipt, err = b.approve(*c.Approve)
	case c.Retry != nil:
		receipt, err = b.retry(*c.Retry)
	case c.Hold != nil:
		receipt = b.hold(*c.Hold)
	default:
		return receipt, false, nil
	}
	receipt.Rev = b.rev
	return receipt, true, err
}

// under reports whether a session is another or was spawned by it, over any number of steps.
func (b *Board) under(key, top string) bool {
	for range len(b.heads) + 1 {
		if key == top {
			return true
		}
		key = b.heads[key].Parent
	}
	return false
}

func (b *Board) endRuns(wanted func(*core.Run) bool, most int) (receipt core.Receipt, err error) {
	for _, r := range slices.Clone(b.rec.runs) {
		if r.State == core.RunEnded || !wanted(&r) || len(receipt.Runs) == most {
			continue
		}
		r.State, r.Outcome, r.EndedAt = core.RunEnded, core.OutcomeAborted, max(r.QueuedAt, r.StartedAt)+1000
		b.putRun(r)
		receipt.Key, receipt.Run, receipt.Runs = r.SessionKey, r.ID, append(receipt.Runs, r.ID)
	}
	if len(receipt.Runs) == 0 {
		return receipt, core.Errorf(core.CodeNotFound, "nothing runs there")
	}
	return receipt, nil
}

func (b *Board) retry(c core.Retry) (receipt core.Receipt, err error) {
	for _, d := range b.rec.deliveries {
		if c.Delivery != "" && d.ID == c.Delivery {
			d.State, d.LastError = core.DeliveryPending, ""
			b.putDelivery(d)
			return core.Receipt{Key: d.SessionKey}, nil
		}
	}
	i := b.runAt(c.Run)
	if i < 0 {
		return receipt, core.Errorf(core.CodeNotFound, "there is nothing to retry")
	}
	old := b.rec.runs[i]
	again := core.Run{
		ID: fmt.Sprintf("%s-again%d", strings.TrimSuffix(old.ID, "-again"), len(b.rec.runs)), SessionKey: old.SessionKey, Kind: old.Kind,
		State: core.RunQueued, Message: old.Message, Lane: old.Lane, QueuedAt: old.EndedAt + 1000,
	}
	b.putRun(again)
	return core.Receipt{Key: again.SessionKey, Run: again.ID}, nil
}

func (b *Board) hold(c core.Hold) core.Receipt {
	same := func(h core.Hold) bool { return h.Session == c.Session && h.Agent == c.Agent }
	b.rec.holds = slices.DeleteFunc(b.rec.holds, same)
	if !c.Release {
		b.rec.holds = append(b.rec.holds, c)
	}
	if h, ok := b.heads[c.Session]; ok {
		h.Flags &^= core.FlagHeld
		if !c.Release {
			h.Flags |= core.FlagHeld
		}
		b.putHead(h)
	}
	id := c.Session
	if c.Agent != "" {
		id = "agent:" + c.Agent
	}
	b.rev++
	b.tell(core.Change{Kind: core.ChangeHold, ID: id, Deleted: c.Release})
	undo := c
	undo.Release = !c.Release
	return core.Receipt{Key: c.Session, Undo: &core.Command{Hold: &undo}}
}
