package engine

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"cordboard/core"
	"cordboard/core/key"
)

const (
	defaultRecords = 200
	maxRecords     = 10000
)

// Records implements core.Board. They are the operator's: a session has its tools.
func (b *board) Records(ctx context.Context, q core.RecordQuery) (core.RecordPage, error) {
	if b.actor.Kind != core.ActorOperator {
		return core.RecordPage{}, core.Errorf(core.CodeForbidden, "records are the operator's; a session uses its tools")
	}
	if q.Limit == 0 {
		q.Limit = defaultRecords
	}
	if q.Limit < 0 || q.Limit > maxRecords {
		return core.RecordPage{}, core.Errorf(core.CodeInvalidParams, "limit %d: 1 to %d, or 0 for %d", q.Limit, maxRecords, defaultRecords)
	}
	page := core.RecordPage{}
	if q.Kind == core.RecordRun {
		if _, err := b.wait(ctx, q.Run, time.Duration(q.Wait)*time.Millisecond); err != nil {
			return page, err
		}
	}
	err := b.store.View(ctx, func(r core.Reader) error {
		page.At.Rev = r.Rev()
		return b.records(r, q, &page)
	})
	if err != nil {
		return core.RecordPage{}, err
	}
	b.placeInLanes(page.Positions)
	page.At.Epoch, err = b.epoch(ctx)
	return page, err
}

func (b *board) records(r core.Reader, q core.RecordQuery, page *core.RecordPage) error {
	sessionKey := ""
	if q.Session != "" {
		found, err := b.resolve(r, b.operator(), q.Session)
		if err != nil {
			return err
		}
		sessionKey = found.key
	}
	var err error
	switch q.Kind {
	case core.RecordSession:
		page.Session, page.Positions, err = b.detail(r, sessionKey, q)
	case core.RecordRuns:
		list := runsOf
		if q.Live {
			list = liveRunsOf
		}
		page.Runs, page.Positions, err = list(r, sessionKey, q.Limit)
	case core.RecordRun:
		err = b.oneRun(r, q.Run, page)
	case core.RecordExchanges:
		page.Exchanges, err = newest(q.Limit, exchangesOf(r, sessionKey), func(x *core.Exchange) int64 { return x.CreatedAt })
	case core.RecordExchange:
		page.Exchange, err = b.story(r, q.ID)
	case core.RecordDeliveries:
		page.Deliveries, err = deliveriesOf(r, sessionKey, q)
	case core.RecordApprovals:
		page.Approvals = b.approvals.list(sessionKey)
	case core.RecordOrphans:
		page.Generations, err = b.orphans(r, q.Limit)
	case core.RecordAudit:
		page.Audit, err = auditBefore(r, q)
	case core.RecordUsage:
		page.Usage, err = take(q.Limit, r.Usage)
	case core.RecordHolds:
		page.Holds, err = take(q.Limit, r.Holds)
	default:
		kinds := make([]string, len(core.RecordKinds))
		for i, kind := range core.RecordKinds {
			kinds[i] = string(kind)
		}
		err = core.Errorf(core.CodeInvalidParams, "records %q: unknown kind, there are %s", q.Kind, strings.Join(kinds, ", ")).Accept(kinds...)
	}
	return err
}

// auditBefore lists the newest audit entries before a revision. A revision is told whole, so that the next page begins with another.
func auditBefore(r core.Reader, q core.RecordQuery) ([]core.AuditEntry, error) {
	list := []core.AuditEntry{}
	err := r.Audit(q.Before, func(e *core.AuditEntry) bool {
		if len(list) >= q.Limit && e.Rev != list[len(list)-1].Rev {
			return false
		}
		list = append(list, *e)
		return true
	})
	return list, err
}

func (b *board) oneRun(r core.Reader, id string, page *core.RecordPage) error {
	run, ok, err := r.Run(id)
	if err != nil || !ok {
		return err
	}
	page.Runs = []core.Run{run}
	switch run.State {
	case core.RunEnded:
		page.Reply, err = b.replyOf(r, &run)
	case core.RunQueued:
		var live liveOnes
		live, err = liveIn(r, run.SessionKey)
		page.Positions = live.of(page.Runs)
	}
	return err
}

// exchangesOf walks the exchanges that a session has a side in, all of them for "".
func exchangesOf(r core.Reader, sessionKey string) func(func(*core.Exchange) bool) error {
	return func(visit func(*core.Exchange) bool) error {
		return r.Exchanges(func(x *core.Exchange) bool {
			return sessionKey != "" && x.RequesterKey != sessionKey && x.TargetKey != sessionKey || visit(x)
		})
	}
}

// deliveriesOf lists deliveries of a session, all for "", and of a state.
func deliveriesOf(r core.Reader, sessionKey string, q core.RecordQuery) ([]core.Delivery, error) {
	if q.State != "" && !slices.Contains(core.DeliveryStates, q.State) {
		states := make([]string, len(core.DeliveryStates))
		for i, state := range core.DeliveryStates {
			states[i] = string(state)
		}
		return nil, core.Errorf(core.CodeInvalidParams, "state %q: one of %s", q.State, strings.Join(states, ", ")).Accept(states...)
	}
	return newest(q.Limit, func(visit func(*core.Delivery) bool) error {
		return r.Deliveries(func(d *core.Delivery) bool {
			return sessionKey != "" && d.SessionKey != sessionKey || q.State != "" && d.State != q.State || visit(d)
		})
	}, func(d *core.Delivery) int64 { return d.CreatedAt })
}

// newest copies the n newest records of a walk that is in the order of their ids, the newest first. It keeps at most twice as many.
func newest[T any](n int, walk func(func(*T) bool) error, at func(*T) int64) ([]T, error) {
	list := []T{}
	order := func() {
		slices.SortStableFunc(list, func(a, b T) int { return cmp.Compare(at(&b), at(&a)) })
		list = list[:min(n, len(list))]
	}
	err := walk(func(record *T) bool {
		if list = append(list, *record); len(list) == 2*n {
			order()
		}
		return true
	})
	order()
	return list, err
}

// take copies the first n records of a walk. Records hold no borrowed bytes: the store decodes each anew.
func take[T any](n int, walk func(func(*T) bool) error) ([]T, error) {
	list := []T{}
	err := walk(func(record *T) bool {
		list = append(list, *record)
		return len(list) < n
	})
	return list, err
}

// detail is everything about a session, with the places of its queued runs.
func (b *board) detail(r core.Reader, sessionKey string, q core.RecordQuery) (d *core.SessionDetail, places map[string]int, err error) {
	session, ok, err := r.Session(sessionKey)
	if err != nil {
		return nil, nil, err
	}
	if !ok {
		return nil, nil, core.Errorf(core.CodeNotFound, "no session %q: its transcript is kept without it", q.Session)
	}
	head, _, err := r.Head(sessionKey)
	if err != nil {
		return nil, nil, err
	}
	d = &core.SessionDetail{
		Session: session, Head: cloneHead(&head), Kind: b.names.Kind(session.Key, session.ChatType),
		ChatType: chatType(&session), Send: b.send(&session), Sandboxed: b.rules.Sandboxed(session.Key),
	}
	d.Head.Kind = d.Kind
	if d.Generations, err = take(q.Limit, func(visit func(*core.Generation) bool) error { return r.Generations(sessionKey, visit) }); err != nil {
		return nil, nil, err
	}
	if err := r.Children(sessionKey, func(child string) bool {
		d.Children = append(d.Children, strings.Clone(child))
		return true
	}); err != nil {
		return nil, nil, err
	}
	if d.Runs, places, err = runsOf(r, sessionKey, q.Limit); err != nil {
		return nil, nil, err
	}
	entry, _, err := r.Entry(sessionKey)
	d.Entry = slices.Clone(entry)
	return d, places, err
}

// chatType is the stored one, else what the key says (session-tools.md §1).
func chatType(s *core.Session) core.ChatType {
	if s.ChatType != core.ChatUnknown {
		return s.ChatType
	}
	return key.ChatType(s.Key)
}

// orphans lists the transcripts whose session is not there.
func (b *board) orphans(r core.Reader, limit int) ([]core.Generation, error) {
	list := []core.Generation{}
	var inner error
	err := r.AllGenerations("", func(g *core.Generation) bool {
		_, named, err := r.Session(g.Key)
		if inner = err; err != nil {
			return false
		}
		if g.Key == "" || !named {
			list = append(list, *g)
		}
		return len(list) < limit
	})
	if err == nil {
		err = inner
	}
	return list, err
}
