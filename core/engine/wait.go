package engine

import (
	"context"
	"time"

	"cordboard/core"
)

// wait returns a run once it has ended, or as it is when the time is up or ctx ends: agent.wait (engine.md §2). Any number may wait, any
// number of times, also for a run that ended long ago. A wait that runs out changes nothing in the run.
func (e *Engine) wait(ctx context.Context, id string, limit time.Duration) (core.Run, error) {
	var ended <-chan struct{}
	if d := e.drive; d != nil {
		d.mu.Lock()
		ended = d.watch(id) // subscribe first, then read
		d.mu.Unlock()
		defer d.unwatch(id, ended)
	}
	run, err := e.run(ctx, id)
	if err != nil || run.State == core.RunEnded || limit <= 0 {
		return run, err
	}
	if ended == nil {
		return run, core.Errorf(core.CodeUnsupported, "cannot wait for run %s: no engine runs here", id)
	}
	timer, cancel := context.WithCancel(ctx)
	defer cancel()
	out := make(chan struct{})
	go func() { // ends with timer
		_ = e.clock.Sleep(timer, limit)
		close(out)
	}()
	select {
	case <-ended:
	case <-out:
	}
	if err := ctx.Err(); err != nil {
		return run, err
	}
	return e.run(ctx, id)
}

// run reads a run.
func (e *Engine) run(ctx context.Context, id string) (run core.Run, err error) {
	err = e.store.View(ctx, func(r core.Reader) error {
		found, ok, err := r.Run(id)
		if err == nil && !ok {
			err = core.Errorf(core.CodeNotFound, "there is no run %q", id)
		}
		run = found
		return err
	})
	return run, err
}
