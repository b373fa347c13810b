package engine

import (
	"cmp"
	"fmt"
	"slices"

	"cordboard/core"
)

// story tells an exchange from its beginning: every run of it, in order, and what became of its text.
func (b *board) story(r core.Reader, id string) (*core.ExchangeDetail, error) {
	x, ok, err := r.Exchange(id)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, core.Errorf(core.CodeNotFound, "there is no exchange %q", id)
	}
	runs, err := runsOfExchange(r, &x)
	if err != nil {
		return nil, err
	}
	told := &core.ExchangeDetail{Exchange: x, Steps: []core.ExchangeStep{}}
	turn := 0
	for i := range runs {
		step, err := b.stepOf(r, &runs[i], &turn)
		if err != nil {
			return nil, err
		}
		told.Steps = append(told.Steps, step)
		if d, ok, err := r.Delivery(runs[i].ID); err != nil {
			return nil, err
		} else if ok && runs[i].Kind == core.RunAnnounce {
			told.Delivery = &d
		}
	}
	return told, nil
}

func (b *board) stepOf(r core.Reader, run *core.Run, turn *int) (step core.ExchangeStep, err error) {
	step = core.ExchangeStep{Name: "round 1", Run: *run, Speaker: run.SessionKey, From: run.RequesterKey}
	switch run.Kind {
	case core.RunTurn:
		*turn++
		step.Name = fmt.Sprint("turn ", *turn)
	case core.RunAnnounce:
		step.Name = "announce"
	}
	if step.Message, err = messageOf(r, run); err != nil || run.State != core.RunEnded {
		return step, err
	}
	step.Reply, err = b.replyOf(r, run)
	return step, err
}

// runsOfExchange finds an exchange's runs, first things first. Those of the target are looked for among its runs since the exchange began: a
// first round has an id of its own, and so has an announce that was asked for again. The requester's have derived ids.
func runsOfExchange(r core.Reader, x *core.Exchange) ([]core.Run, error) {
	var runs []core.Run
	err := r.Runs(x.TargetKey, func(run *core.Run) bool {
		if run.ExchangeID == x.ID {
			runs = append(runs, *run)
		}
		return run.QueuedAt >= x.CreatedAt
	})
	for n := 1; err == nil && n <= x.Turn; n += 2 {
		run, ok, lookup := r.Run(turnID(x.ID, n))
		if err = lookup; ok && run.SessionKey != x.TargetKey {
			runs = append(runs, run)
		}
	}
	slices.SortStableFunc(runs, func(a, b core.Run) int {
		return cmp.Or(cmp.Compare(stage(a.Kind), stage(b.Kind)), cmp.Compare(a.QueuedAt, b.QueuedAt), cmp.Compare(a.ID, b.ID))
	})
	return runs, err
}

// stage orders what happens in an exchange.
func stage(kind core.RunKind) int {
	return slices.Index([]core.RunKind{core.RunSend, core.RunTurn, core.RunAnnounce}, kind)
}
