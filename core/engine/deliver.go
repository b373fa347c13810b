package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"cordboard/core"
	"cordboard/core/config"
)

// Outbound texts (engine.md §5). A text is a row first; the row is due at a time; who delivers it commits each attempt before it is made,
// so that after a crash nobody wonders whether there was one.

const (
	dueDelivery    = "delivery"
	attemptTimeout = 10 * time.Second
)

// retryDelays are the waits between attempts; after the last attempt the delivery has given up.
var retryDelays = [...]time.Duration{5 * time.Second, 10 * time.Second, 20 * time.Second}

// post stores an outbound text of a session and, unless it is blocked or goes to an outbox, makes it due. The send policy is asked here
// and again when the attempt is committed.
func (e *Engine) post(tx core.Tx, fx *effects, s *core.Session, d core.Delivery, now int64) (core.Delivery, error) {
	d.CreatedAt = now
	switch verdict := e.sendOut(s, d.Route); {
	case d.Route.Channel == "" || d.Route.To == "":
		d.State = core.DeliveryUndeliverable
	case !verdict.Allowed:
		d.State, d.Rule = core.DeliveryBlocked, verdict.Rule
		fx.blocked = append(fx.blocked, d)
	case e.outbox(d.Route.Channel):
		d.State = core.DeliveryDelivered // by being kept and shown
	default:
		d.State, d.NextAttemptAt = core.DeliveryPending, now
		fx.due = true
		if err := tx.PutDue(core.Due{At: now, Kind: dueDelivery, ID: d.ID}); err != nil {
			return d, err
		}
	}
	return d, e.putDelivery(tx, fx, d, now)
}

// putDelivery writes how a delivery stands, and on its session's row whether the people there miss a text; what waited for its end goes on.
func (e *Engine) putDelivery(tx core.Tx, fx *effects, d core.Delivery, now int64) error {
	if err := tx.PutDelivery(d); err != nil {
		return err
	}
	lost := d.State == core.DeliveryBlocked || d.State == core.DeliveryGaveUp || d.State == core.DeliveryUnknown
	if lost || d.State == core.DeliveryDelivered {
		if err := markUndelivered(tx, d.SessionKey, lost); err != nil {
			return err
		}
	}
	return e.delivered(tx, fx, &d, now)
}

func markUndelivered(tx core.Tx, sessionKey string, undelivered bool) error {
	s, ok, err := tx.Session(sessionKey)
	if err != nil || !ok || s.Undelivered == undelivered {
		return err
	}
	s.Undelivered = undelivered
	return tx.PutSession(s)
}

// outbox reports whether a channel delivers by keeping the text: what is not configured is one.
func (e *Engine) outbox(channel string) bool {
	c, ok := e.config.Channels[channel]
	return !ok || c.Type == config.ChannelOutbox
}

// deliveries attempts what is due, until the driver is stopped.
func (d *driver) deliveries() { d.whenDue(d.due, d.attemptDue) }

// whenDue does what is due, again when the next of it is, and whenever there is news of something new, until the driver is stopped. What is
// done tells when the next is due, 0 for never.
func (d *driver) whenDue(news <-chan struct{}, do func() (next int64, err error)) {
	for {
		next, err := do()
		if err != nil {
			next = d.engine.now() + retryAfter.Milliseconds()
		}
		timer, cancel := context.WithCancel(d.ctx)
		fired := make(chan struct{})
		go func() { // ends with timer
			defer close(fired)
			if next > 0 {
				_ = d.engine.clock.Sleep(timer, time.Duration(next-d.engine.now())*time.Millisecond)
			} else {
				<-timer.Done()
			}
		}()
		select {
		case <-news:
		case <-fired:
		}
		cancel()
		<-fired
		if d.ctx.Err() != nil {
			return
		}
	}
}

var errTooSlow = fmt.Errorf("no answer within %s", attemptTimeout)

// deliver makes one attempt: committed, tried, told.
func (e *Engine) deliver(ctx context.Context, entry core.Due) error {
	d, ok, err := e.attempt(ctx, entry)
	if err != nil || !ok {
		return err
	}
	limited, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() { // ends with limited
		if e.clock.Sleep(limited, attemptTimeout) == nil {
			cancel(errTooSlow)
		}
	}()
	failed := e.attemptBy(limited, d)
	if failed != nil && errors.Is(context.Cause(limited), errTooSlow) {
		failed = errTooSlow
	}
	if failed != nil && ctx.Err() != nil {
		return ctx.Err() // the engine stops: the row says that an attempt was made
	}
	return e.settle(context.WithoutCancel(ctx), d, failed)
}

// attemptBy hands a text to its channel. A channel that breaks down has failed.
func (e *Engine) attemptBy(ctx context.Context, d core.Delivery) (err error) {
	channel, ok := e.options.Channels[d.Route.Channel]
	if !ok {
		return fmt.Errorf("the channel %q is configured, and nothing carries it", d.Route.Channel)
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the channel broke down: %v", p)
		}
	}()
	return channel.Deliver(ctx, d)
}

// attempt commits that an attempt is about to be made; ok is false when there is none to make. The send policy is asked in this very
// transaction: what it denies now is blocked for good.
func (e *Engine) attempt(ctx context.Context, entry core.Due) (d core.Delivery, ok bool, err error) {
	_, err = e.write(ctx, func(tx core.Tx, fx *effects) error {
		d, ok, err = tx.Delivery(entry.ID)
		if err != nil {
			return err
		}
		if !ok || d.State != core.DeliveryPending && d.State != core.DeliveryAttempting {
			ok = false
			return tx.DeleteDue(entry)
		}
		s, err := policySession(tx, &d)
		known := s.Key != ""
		if err != nil {
			return err
		}
		switch verdict := e.sendOut(&s, d.Route); {
		case known && !verdict.Allowed:
			ok = false
			d.State, d.Rule, d.NextAttemptAt = core.DeliveryBlocked, verdict.Rule, 0
		case e.outbox(d.Route.Channel): // it was another channel when the text was stored
			ok = false
			d.State, d.LastError, d.NextAttemptAt = core.DeliveryDelivered, "", 0
		}
		if !ok {
			if err := tx.DeleteDue(entry); err != nil {
				return err
			}
			return e.putDelivery(tx, fx, d, e.now())
		}
		d.State, d.Attempts = core.DeliveryAttempting, d.Attempts+1
		return tx.PutDelivery(d) // it stays due, so that recovery finds it
	})
	if err == nil && d.State == core.DeliveryBlocked {
		e.logBlocked(d)
	}
	return d, ok, err
}

// logBlocked notes a text that stays here, and by which rule.
func (e *Engine) logBlocked(d core.Delivery) {
	e.options.Log.Info("delivery blocked", "delivery", d.ID, "session", d.SessionKey, "channel", d.Route.Channel, "rule", d.Rule)
}

// settle records how an attempt went.
func (e *Engine) settle(ctx context.Context, d core.Delivery, failed error) error {
	now := e.now()
	var current core.Delivery
	_, err := e.write(ctx, func(tx core.Tx, fx *effects) (err error) {
		var ok bool
		current, ok, err = tx.Delivery(d.ID)
		if err != nil || !ok || current.State != core.DeliveryAttempting || current.Attempts != d.Attempts {
			return err // cancelled, or told otherwise, meanwhile
		}
		if err := tx.DeleteDue(core.Due{At: d.NextAttemptAt, Kind: dueDelivery, ID: d.ID}); err != nil {
			return err
		}
		switch {
		case failed == nil:
			current.State, current.LastError, current.NextAttemptAt = core.DeliveryDelivered, "", 0
		case current.Attempts > len(retryDelays):
			current.State, current.LastError, current.NextAttemptAt = core.DeliveryGaveUp, failed.Error(), 0
		default:
			current.State, current.LastError = core.DeliveryPending, failed.Error()
			current.NextAttemptAt = now + retryDelays[current.Attempts-1].Milliseconds()
			if err := tx.PutDue(core.Due{At: current.NextAttemptAt, Kind: dueDelivery, ID: d.ID}); err != nil {
				return err
			}
		}
		return e.putDelivery(tx, fx, current, now)
	})
	level := slog.LevelDebug
	if failed != nil {
		level = slog.LevelWarn
	}
	e.options.Log.Log(ctx, level, "delivery attempted", "delivery", d.ID, "session", d.SessionKey, "channel", d.Route.Channel, "attempt", d.Attempts, "state", current.State)
	return err
}

// anyTime is later than everything that is due.
const anyTime = 1 << 62

// openDeliveries are the entries of all deliveries that are not over, whenever they are due.
func openDeliveries(tx core.Tx) (open []core.Due, err error) {
	err = tx.Due(anyTime, func(entry core.Due) bool {
		if entry.Kind == dueDelivery {
			open = append(open, entry)
		}
		return true
	})
	return open, err
}

// recoverDeliveries takes up what an earlier life left: an attempt by a command may or may not have happened, so only the operator repeats
// it; what is too old is not sent any more; the rest stays due (engine.md §5, §6).
func (e *Engine) recoverDeliveries(ctx context.Context) error {
	oldest := e.now() - e.config.Engine.ResumeWithin.Milliseconds()
	_, err := e.write(ctx, func(tx core.Tx, fx *effects) error {
		due, err := openDeliveries(tx)
		if err != nil {
			return err
		}
		for _, entry := range due {
			d, ok, err := tx.Delivery(entry.ID)
			if err != nil {
				return err
			}
			channel := e.config.Channels[d.Route.Channel]
			switch {
			case ok && d.State == core.DeliveryAttempting && channel.Type == config.ChannelExec:
				d.State, d.LastError = core.DeliveryUnknown, "the engine ended while the command ran: whether it delivered is not known"
			case ok && d.CreatedAt < oldest:
				d.State, d.LastError = core.DeliveryExpired, "older than engine.resumeWithin when the engine started"
			default:
				continue
			}
			d.NextAttemptAt = 0
			if err := tx.DeleteDue(entry); err != nil {
				return err
			}
			if err := e.putDelivery(tx, fx, d, e.now()); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}

// retry makes a delivery due again or runs a run's message again, on the operator's word.
func (b *board) retry(r core.Retry) (verb, error) {
	v := verb{name: "retry", target: r.Delivery + r.Run}
	if (r.Delivery == "") == (r.Run == "") {
		return v, core.Errorf(core.CodeInvalidParams, "retry names one delivery or one run").Accept("delivery", "run")
	}
	if r.Delivery != "" {
		v.do = func(a *act) error { return b.redeliver(a, r.Delivery) }
		return v, nil
	}
	id := b.options.NewID()
	v.do = func(a *act) error { return b.rerun(a, r.Run, id) }
	return v, b.runsHere("run again")
}

func (b *board) redeliver(a *act, id string) error {
	d, ok, err := a.Delivery(id)
	switch {
	case err != nil:
		return err
	case !ok:
		return core.Errorf(core.CodeNotFound, "there is no delivery %q", id)
	case d.Kept():
		return core.Errorf(core.CodeConflict, "delivery %s is kept here: the channel %q was not configured to go anywhere when the text came "+
			"(channels.%[2]s), so there is nothing to try again", d.ID, d.Route.Channel).Because("channels." + d.Route.Channel)
	case d.State != core.DeliveryGaveUp && d.State != core.DeliveryUnknown && d.State != core.DeliveryExpired:
		return core.Errorf(core.CodeConflict, "delivery %s is %s: one that gave up, expired or whose fate is unknown can be retried", d.ID, d.State)
	}
	a.receipt.Key = d.SessionKey
	if err := a.unchanged(d.SessionKey); err != nil {
		return err
	}
	a.before, a.after = map[string]string{"delivery": d.ID, "state": string(d.State)}, map[string]string{"state": string(core.DeliveryPending)}
	d.State, d.Attempts, d.NextAttemptAt, d.CreatedAt = core.DeliveryPending, 0, a.now, a.now
	a.fx.due = true
	if err := a.PutDue(core.Due{At: a.now, Kind: dueDelivery, ID: d.ID}); err != nil {
		return err
	}
	if err := a.PutDelivery(d); err != nil {
		return err
	}
	return markUndelivered(a, d.SessionKey, false)
}
