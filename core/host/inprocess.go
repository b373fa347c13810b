package host

import (
	"context"
	"errors"

	"cordboard/core"
	"cordboard/store/bolt"
)

// inside is an owner that lives in this process, beside who asked for it.
type inside struct {
	server *server
	end    context.CancelFunc
	ended  chan error
}

// InProcess owns the store in this process for as long as the host is open: agents run here, and others attach to it as to any owner
// (gateway.md §1). Close drains it; the end of ctx cuts the grace of what still runs short. A store that has an owner is CodeStoreLocked. A config that
// changes comes into force with the next start.
func InProcess(ctx context.Context, o Options, so ServeOptions) (*Host, error) {
	if o.Clock == nil {
		o.Clock = realClock{}
	}
	cfg, _, err := o.effective()
	if err != nil {
		return nil, err
	}
	store, err := bolt.Open(bolt.Options{Dir: o.dir(), Timeout: o.LockWait})
	if err != nil {
		return nil, err
	}
	s, err := newServer(ctx, o, so, store, cfg)
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	s.hurry = ctx
	until, end := context.WithCancel(context.WithoutCancel(ctx))
	in := &inside{server: s, end: end, ended: make(chan error, 1)}
	go func() {
		_, err := s.serve(until, false)
		in.ended <- errors.Join(err, store.Close())
	}()
	return &Host{store: s.store, engine: s.engine, inside: in}, nil
}

// close drains the owner and waits until it has let go of the store.
func (in *inside) close() error {
	in.end()
	return <-in.ended
}

// Busy counts what would stand still if this process stopped now: the runs that are live in it, and the clients of the owner that lives in
// it. A host of any other kind has neither.
func (h *Host) Busy(ctx context.Context) (runs, clients int) {
	if h.inside == nil {
		return 0, 0
	}
	_ = h.store.View(ctx, func(r core.Reader) error { // a store that cannot be read has no run to show either
		return r.LiveRuns(func(run *core.Run) bool {
			if run.State == core.RunRunning {
				runs++
			}
			return true
		})
	})
	return runs, int(h.inside.server.open.Load())
}
