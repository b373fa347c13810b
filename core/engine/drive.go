package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"cordboard/core"
)

const (
	fenceAfter = 500 * time.Millisecond // a runtime that ignores cancel may write no longer than this after it (engine.md §1)
	retryAfter = time.Second            // how long to leave a store alone that could not be written
	exchanges  = 4                      // slots of the exchange lane
)

// Why a run's context ended.
var (
	errAborted     = errors.New("aborted by the operator")
	errLimit       = errors.New("the run's own time limit")
	errInterrupted = errors.New("the engine stopped")
)

// driver runs what is queued. It holds nothing that the store does not: at start it is filled from there.
//
// A committed transaction hands its effects to it (write), which puts new runs in line and wakes whoever waits for ended ones. One
// goroutine takes what may start (loop); each run has a goroutine of its own (execute) that begins it, lets its runtime play the turn and
// finishes it, three transactions in all with the one that queued it.
type driver struct {
	engine *Engine
	ctx    context.Context // ends with errInterrupted
	stop   context.CancelCauseFunc
	wake   chan struct{}
	due    chan struct{} // a delivery is due
	chore  chan struct{} // something else is
	tasks  sync.WaitGroup

	holding sync.Mutex // over reading the holds and telling the queue: the later word is the last

	mu       sync.Mutex
	idle     *sync.Cond // on mu: a run is live no more, or an attempt has ended
	queue    *queue
	live     map[string]context.CancelCauseFunc // ends a run's turn, by run id
	waiters  map[string][]chan struct{}
	passes   map[string]*pass // of children, by run id
	flights  flights
	letGo    []core.DeliveryContext // threads that the channels are to be told of
	draining bool
}

// Start makes the engine the one that runs agents: what an earlier life left is put in order (recover.go), then what is queued starts.
// The store must be this process's own. Stop ends it.
func (e *Engine) Start(ctx context.Context) error {
	if e.drive != nil {
		return core.Errorf(core.CodeInternal, "the engine was started twice")
	}
	live, err := e.recover(ctx)
	if err != nil {
		return err
	}
	if err := e.recoverDeliveries(ctx); err != nil {
		return err
	}
	if err := e.recoverFiles(ctx); err != nil {
		return err
	}
	d := &driver{
		engine: e, wake: make(chan struct{}, 1), due: make(chan struct{}, 1), chore: make(chan struct{}, 1), live: map[string]context.CancelCauseFunc{}, waiters: map[string][]chan struct{}{},
		passes: map[string]*pass{},
		queue: newQueue(map[string]int{
			laneMain: e.config.Agents.Defaults.MaxConcurrent, laneSubagent: e.config.Agents.Defaults.Subagents.MaxConcurrent, laneExchange: exchanges,
		}, e.config.Engine.MaxLive),
	}
	d.idle = sync.NewCond(&d.mu)
	d.flights = flights{routes: map[core.DeliveryContext]bool{}, channels: map[string]int{}}
	d.ctx, d.stop = context.WithCancelCause(context.Background())
	if err := d.readHolds(ctx); err != nil {
		return err
	}
	e.drive = d
	d.take(effects{queued: live})
	d.tasks.Go(d.loop)
	d.tasks.Go(d.deliveries)
	d.tasks.Go(d.chores)
	return nil
}

// Stop starts nothing more, gives running runs the configured grace and ends what still runs then as interrupted. What is queued stays.
func (e *Engine) Stop(ctx context.Context) {
	d := e.drive
	if d == nil {
		return
	}
	d.mu.Lock()
	d.draining = true
	d.mu.Unlock()
	idle := make(chan struct{})
	go func() { // ends with the driver, which is stopped below
		d.awaitIdle()
		close(idle)
	}()
	grace, cancel := context.WithCancel(ctx)
	go func() {
		_ = e.clock.Sleep(grace, e.config.Engine.Drain)
		cancel()
	}()
	select {
	case <-idle:
	case <-grace.Done():
	}
	cancel()
	d.stop(errInterrupted)
	d.tasks.Wait()
	<-idle
}

// Rest starts nothing more, if no run is live at this moment, and reports whether it does: Stop then cuts no run off.
func (e *Engine) Rest() bool {
	d := e.drive
	if d == nil {
		return true
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.live) > 0 {
		return false
	}
	d.draining = true
	return true
}

// awaitIdle returns when no run is live and nothing is on its way to people.
func (d *driver) awaitIdle() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for len(d.live) > 0 || len(d.flights.routes) > 0 {
		d.idle.Wait()
	}
}

// write is Store.Update with effects: they take place once the transaction is committed.
func (e *Engine) write(ctx context.Context, fn func(tx core.Tx, fx *effects) error) (core.Rev, error) {
	var fx effects
	rev, err := e.store.Update(ctx, func(tx core.Tx) error {
		fx = effects{} // the function may run more than once
		return fn(tx, &fx)
	})
	if err == nil && e.drive != nil {
		e.drive.take(fx)
		if fx.holds {
			err = e.drive.readHolds(context.WithoutCancel(ctx))
		}
	}
	return rev, err
}

// take puts committed effects into the world.
func (d *driver) take(fx effects) {
	d.mu.Lock()
	for _, r := range fx.queued {
		d.queue.add(waiting{id: r.ID, session: r.SessionKey, agent: d.engine.names.AgentOf(r.SessionKey), lane: r.Lane, requester: r.RequesterKey})
	}
	for _, r := range fx.ended {
		for _, w := range d.waiters[r.ID] {
			close(w)
		}
		delete(d.waiters, r.ID)
		d.revoke(r.ID)
	}
	d.letGo = append(d.letGo, fx.letGo...)
	d.mu.Unlock()
	d.engine.logEnds(fx.ended)
	for _, blocked := range fx.blocked {
		d.engine.logBlocked(blocked)
	}
	for _, r := range fx.cut {
		d.abort(r)
	}
	for _, id := range fx.answered {
		d.endTurn(id, errAnswered)
	}
	for _, c := range fx.chosen {
		d.engine.approvals.choose(c)
	}
	d.nudge()
	if fx.due {
		signal(d.due)
	}
	if fx.chore || fx.letGo != nil {
		signal(d.chore)
	}
}

// logEnds notes how runs ended. What an error says may quote a message, so it is kept on the run and not told here.
func (e *Engine) logEnds(ended []core.Run) {
	for _, r := range ended {
		level := slog.LevelDebug
		if r.Outcome != core.OutcomeOK {
			level = slog.LevelWarn
		}
		e.options.Log.Log(context.Background(), level, "run ended", "run", r.ID, "session", r.SessionKey, "kind", r.Kind, "outcome", r.Outcome,
			"queuedMs", max(r.StartedAt-r.QueuedAt, 0), "ranMs", r.EndedAt-max(r.StartedAt, r.QueuedAt))
	}
}

func (d *driver) nudge() { signal(d.wake) }

// signal makes sure that whoever reads the channel looks once more.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// watch returns a channel that is closed when a run ends. The caller holds mu.
func (d *driver) watch(id string) <-chan struct{} {
	ended := make(chan struct{})
	d.waiters[id] = append(d.waiters[id], ended)
	return ended
}

// unwatch forgets a waiter that gave up.
func (d *driver) unwatch(id string, ended <-chan struct{}) {
	d.mu.Lock()
	defer d.mu.Unlock()
	list := d.waiters[id]
	for i, w := range list {
		if w == ended {
			d.waiters[id] = append(list[:i:i], list[i+1:]...)
		}
	}
	if len(d.waiters[id]) == 0 {
		delete(d.waiters, id)
	}
}

// loop starts what may start, until the driver is stopped.
func (d *driver) loop() {
	for {
		for {
			w, ok := d.next()
			if !ok {
				break
			}
			d.tasks.Go(func() { d.execute(w) })
		}
		select {
		case <-d.wake:
		case <-d.ctx.Done():
			return
		}
	}
}

func (d *driver) next() (waiting, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.draining || d.ctx.Err() != nil {
		return waiting{}, false
	}
	return d.queue.next()
}

// execute plays one run from its begin to its end.
func (d *driver) execute(w waiting) {
	defer func() {
		d.engine.floor.leave(w.session, w.id)
		d.mu.Lock()
		delete(d.live, w.id)
		d.revoke(w.id)
		d.idle.Broadcast()
		d.queue.done(w.session)
		d.mu.Unlock()
		d.nudge()
	}()
	ctx, cancel := context.WithCancelCause(d.ctx)
	defer cancel(nil)
	d.mu.Lock()
	d.live[w.id] = cancel // before it begins, so that no abort is missed
	d.mu.Unlock()
	run, session, ok := d.begin(w)
	if !ok {
		return
	}
	if session.Asks { // a person may take hours, and the lane is there for agents
		d.mu.Lock()
		d.queue.pause(w.id, session.Key)
		d.mu.Unlock()
		d.nudge()
	}
	d.finish(run, d.turn(ctx, cancel, run, session))
}

// begin starts the run in the store; ok is false when there is nothing to play. A store that cannot be written keeps the run queued: it is
// tried again until the engine stops.
func (d *driver) begin(w waiting) (run core.Run, s core.Session, ok bool) {
	for {
		_, err := d.engine.write(context.Background(), func(tx core.Tx, fx *effects) (err error) {
			run, s, ok, err = d.engine.begin(tx, w.id, d.engine.options.Owner, d.engine.now())
			if ok && err == nil && d.engine.external(s.Key) {
				ok, err = false, d.engine.handOver(tx, fx, &run, d.engine.now())
			}
			return err
		})
		if err == nil {
			return run, s, ok
		}
		if d.engine.clock.Sleep(d.ctx, retryAfter) != nil {
			return run, s, false
		}
	}
}

// finish ends the run in the store, again and again while the store cannot be written: recovery ends what stays behind.
func (d *driver) finish(run core.Run, end ending) {
	for {
		_, err := d.engine.write(context.Background(), func(tx core.Tx, fx *effects) error {
			return d.engine.finish(tx, fx, run.ID, run.Fence, end, d.engine.now())
		})
		if err == nil || errors.Is(err, errFenced) {
			return
		}
		if d.engine.clock.Sleep(d.ctx, retryAfter) != nil {
			return
		}
	}
}

// turn lets the runtime play and returns how it ended: by itself, at its limit, aborted or interrupted. A runtime that ignores cancel is
// left behind, fenced off.
func (d *driver) turn(ctx context.Context, cancel context.CancelCauseFunc, run core.Run, s core.Session) ending {
	if run.Kind == core.RunNote {
		return ending{outcome: core.OutcomeOK}
	}
	out := &sink{engine: d.engine, run: run, after: run.LastSeq, stop: cancel}
	d.engine.floor.give(out)
	played, err := d.engine.runtimeOf(&s)
	if err != nil {
		return ending{outcome: core.OutcomeError, cause: err.Error()}
	}
	if limit := d.engine.limitOf(&run, &s); limit > 0 {
		go func() { // ends with ctx, which execute cancels
			for left := time.Duration(limit) * time.Second; left > 0; left = out.patience() {
				if d.engine.clock.Sleep(ctx, left) != nil {
					return
				}
			}
			cancel(errLimit)
		}()
	}
	t, err := d.engine.turnOf(ctx, run, s)
	if err != nil {
		return ending{outcome: core.OutcomeError, cause: err.Error()}
	}
	type result struct {
		core.TurnResult
		err error
	}
	done := make(chan result, 1)
	go func() { // a runtime that ignores cancel outlives its run: the sink lets it write nothing
		r, err := d.guarded(ctx, played, t, out)
		done <- result{r, err}
	}()
	select {
	case r := <-done:
		return out.ending(r.TurnResult, r.err, context.Cause(ctx))
	case <-ctx.Done():
	}
	late, settled := context.WithCancel(context.Background())
	defer settled()
	go func() { // ends with late
		_ = d.engine.clock.Sleep(late, fenceAfter)
		settled()
	}()
	select {
	case r := <-done:
		return out.ending(r.TurnResult, r.err, context.Cause(ctx))
	case <-late.Done():
		return out.ending(core.TurnResult{}, context.Cause(ctx), context.Cause(ctx))
	}
}

// limitOf is how many seconds a run may take, 0 = as long as it wants. A sub-agent's has a limit of its own; the one of ordinary runs is for
// agents that hang, not for people.
func (e *Engine) limitOf(run *core.Run, s *core.Session) int {
	switch {
	case run.Spawn != nil:
		return run.Spawn.TimeoutSeconds
	case s.Asks:
		return 0
	}
	return e.config.Agents.Defaults.TimeoutSeconds
}

// guarded turns a panic of a runtime into its error; where it happened is for the log.
func (d *driver) guarded(ctx context.Context, r core.Runtime, t core.Turn, out core.Sink) (result core.TurnResult, err error) {
	defer func() {
		if p := recover(); p != nil {
			d.engine.options.Log.Error("a runtime broke down", "run", t.Run.ID, "session", t.Run.SessionKey, "stack", string(debug.Stack()))
			err = fmt.Errorf("the runtime broke down: %s", inShort(fmt.Sprint(p)))
		}
	}()
	return r.Turn(ctx, t, out)
}

// inShort makes a text that may be anything one line of a bearable length.
func inShort(text string) string {
	const most = 300 // bytes
	text = strings.TrimSpace(oneLine(strings.ToValidUTF8(text, "\uFFFD")))
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}

func (e *Engine) now() int64 { return e.clock.Now().UnixMilli() }
