package engine

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"cordboard/core"
)

// approvals are the requests for permission that wait for the operator. They live as long as the run that makes them, which ends with its
// engine, so they are kept nowhere else; that a session waits for him is on its row (core.Session.Asks).
type approvals struct {
	mu      sync.Mutex
	pending []*pendingApproval // oldest first
}

type pendingApproval struct {
	core.Approval
	chosen chan string // takes one
}

func (a *approvals) add(asked core.Approval) *pendingApproval {
	p := &pendingApproval{asked, make(chan string, 1)}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.pending = append(a.pending, p)
	return p
}

// remove forgets a request; others says whether its run makes another one.
func (a *approvals) remove(p *pendingApproval) (others bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.pending = slices.DeleteFunc(a.pending, func(each *pendingApproval) bool { return each == p })
	return slices.ContainsFunc(a.pending, func(each *pendingApproval) bool { return each.Run == p.Run })
}

// list copies what is pending, of one session or of all.
func (a *approvals) list(session string) []core.Approval {
	a.mu.Lock()
	defer a.mu.Unlock()
	list := []core.Approval{}
	for _, p := range a.pending {
		if session == "" || p.Session == session {
			list = append(list, p.Approval)
		}
	}
	return list
}

// choose answers a request. Of two answers only the first is one.
func (a *approvals) choose(c chosen) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i, p := range a.pending {
		if p.ID == c.approval {
			a.pending = slices.Delete(a.pending, i, i+1)
			p.chosen <- c.option
			return
		}
	}
}

// chosen is an answer on its way to the run that asked.
type chosen struct{ approval, option string }

// Ask implements core.Sink. The run gives its slot up meanwhile, and the time is not counted on its limit: a person may take hours.
func (s *sink) Ask(ctx context.Context, a core.Approval) (string, error) {
	e := s.engine
	if len(a.Options) == 0 {
		return "", core.Errorf(core.CodeInvalidParams, "the request for permission has no options")
	}
	a.ID, a.Run, a.Session, a.At = e.options.NewID(), s.run.ID, s.run.SessionKey, e.now()
	p := e.approvals.add(a)
	s.awaits(+1)
	defer s.awaits(-1)
	if err := s.asks(ctx, true); err != nil {
		e.approvals.remove(p)
		return "", err
	}
	back := e.drive.away(s.run.ID, s.run.SessionKey)
	var option string
	var err error
	select {
	case option = <-p.chosen:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if others := e.approvals.remove(p); !others { // also when the runtime takes its question back
		if told := s.asks(context.WithoutCancel(ctx), false); err == nil {
			err = told
		}
	}
	if err != nil {
		return "", err
	}
	return option, back(ctx)
}

// asks writes on the session's row whether its live run waits for the operator.
func (s *sink) asks(ctx context.Context, waits bool) error {
	_, err := s.engine.store.Update(ctx, func(tx core.Tx) error {
		_, session, err := held(tx, s.run.ID, s.run.Fence)
		if err != nil {
			return err
		}
		session.Asks = waits
		return tx.PutSession(session)
	})
	return err
}

// away gives a live run's slot up; what it returns takes the slot back.
func (d *driver) away(id, session string) (back func(ctx context.Context) error) {
	d.mu.Lock()
	d.queue.pause(id, session)
	d.mu.Unlock()
	d.nudge()
	return func(ctx context.Context) error {
		d.mu.Lock()
		granted := d.queue.resume(id, session)
		d.mu.Unlock()
		select {
		case <-granted:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// approve answers a request for permission: the answer is audited, then it goes to the run.
func (b *board) approve(c core.Approve) (verb, error) {
	v := verb{name: "approve", target: cmp.Or(c.ID, c.Run, c.Session), do: func(a *act) error { return b.choose(a, c) }}
	if v.target == "" {
		return v, core.Errorf(core.CodeInvalidParams, "which request is meant: name its id, its run or its session")
	}
	return v, b.runsHere("approved")
}

func (b *board) choose(a *act, c core.Approve) error {
	p, err := b.approvalFor(a, c)
	if err != nil {
		return err
	}
	option := optionOf(p, c.Option)
	if option == "" {
		accepted := []string{"allow", "reject"}
		for _, o := range p.Options {
			accepted = append(accepted, o.ID)
		}
		return core.Errorf(core.CodeInvalidParams, "option %q: this request takes %s", c.Option, strings.Join(accepted, ", ")).Accept(accepted...)
	}
	a.receipt.Key, a.receipt.Run, a.receipt.Outcome = p.Session, p.Run, option
	a.after = map[string]string{"run": p.Run, "title": p.Title, "option": option}
	a.fx.chosen = append(a.fx.chosen, chosen{p.ID, option})
	return nil
}

// approvalFor is the one request that an answer means.
func (b *board) approvalFor(r core.Reader, c core.Approve) (found core.Approval, err error) {
	session := ""
	if c.Session != "" {
		target, err := b.resolve(r, b.operator(), c.Session)
		if err != nil {
			return found, err
		}
		session = target.key
	}
	for _, p := range b.approvals.list(session) {
		if c.ID != "" && p.ID != c.ID || c.Run != "" && p.Run != c.Run {
			continue
		}
		if found.ID != "" {
			return found, core.Errorf(core.CodeAmbiguous, "several requests for permission wait there: name the id of one")
		}
		found = p
	}
	if found.ID == "" {
		err = core.Errorf(core.CodeNotFound, "no such request for permission waits: it was answered, or its run has ended")
	}
	return found, err
}

// optionOf is the id of the option that is meant: itself, or the one that allows or rejects once. "" = there is none.
func optionOf(a core.Approval, name string) string {
	kind := name + "_once"
	for _, o := range a.Options {
		if o.ID == name {
			return o.ID
		}
	}
	for _, o := range a.Options {
		if o.Kind == kind {
			return o.ID
		}
	}
	return ""
}

// awaits counts the requests that a run waits for at this moment; time in which there is one is not the run's.
func (s *sink) awaits(by int) {
	now := s.engine.clock.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asking > 0 {
		s.away += now.Sub(s.askedAt)
	}
	s.asking += by
	s.askedAt = now
}

// patience is how much longer a run may take since it was asked last: as long as it waited for the operator, and at least a moment while it
// waits now. A limit that a sub-agent was given by name counts whoever it waits for (session-tools.md §8).
func (s *sink) patience() time.Duration {
	const moment = time.Second
	if s.run.Spawn != nil {
		return 0
	}
	now := s.engine.clock.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.away
	s.away = 0
	if s.asking > 0 {
		d += max(now.Sub(s.askedAt), moment)
		s.askedAt = now
	}
	return d
}
