package host

import (
	"context"
	"sync"

	"cordboard/core"
	"cordboard/core/openclaw"
)

// What following a directory takes and tells.
type (
	FollowOptions = openclaw.FollowOptions
	FollowEvent   = openclaw.FollowEvent
	SessionChange = openclaw.SessionChange
	Problem       = openclaw.Problem
)

// Kinds of FollowEvent.
const (
	FollowStarted = openclaw.FollowStarted
	FollowChanged = openclaw.FollowChanged
	FollowGone    = openclaw.FollowGone
	FollowBack    = openclaw.FollowBack
	FollowBlind   = openclaw.FollowBlind
	FollowFailed  = openclaw.FollowFailed
)

// Follow makes an OpenClaw state directory a live source of the store until ctx ends or the host is closed (engine.md §9). It comes back
// at once, the first import goes on beside; ended gets what openclaw.Follow returned. The functions of o are called in another goroutine,
// and not any more once ended has its value or Close has returned.
//
// A directory that is none of OpenClaw's, one that is followed here already, and a host that only reads are errors.
//
// An owner follows it in our stead, for as long as we are attached; what is wrong with the directory then comes with ended.
func (h *Host) Follow(ctx context.Context, dir string, o FollowOptions) (ended <-chan error, err error) {
	switch {
	case h.roam != nil:
		return nil, core.Errorf(core.CodeReadOnly, "the store %s was opened for reading, following %s writes to it", h.roam.options.file(), dir)
	case h.owner != nil:
		return h.follows.start(ctx, dir, func(ctx context.Context) error { return h.owner.follow(ctx, dir, o) })
	}
	source, err := openclaw.Check(dir)
	if err != nil {
		return nil, err
	}
	return h.follows.start(ctx, source, func(ctx context.Context) error { return openclaw.Follow(ctx, h.store, source, o) })
}

// follows are the directories that a host follows. It owns their goroutines.
type follows struct {
	mu     sync.Mutex
	stops  map[string]context.CancelFunc // by source
	closed bool
	all    sync.WaitGroup
}

func (f *follows) start(ctx context.Context, source string, follow func(context.Context) error) (<-chan error, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil, core.Errorf(core.CodeInternal, "%s cannot be followed: the store is being closed", source)
	}
	if f.stops[source] != nil {
		return nil, core.Errorf(core.CodeConflict, "%s is followed already", source)
	}
	if f.stops == nil {
		f.stops = map[string]context.CancelFunc{}
	}
	ctx, stop := context.WithCancel(ctx)
	f.stops[source] = stop
	ended := make(chan error, 1)
	f.all.Go(func() {
		defer stop()
		err := follow(ctx)
		f.mu.Lock()
		delete(f.stops, source)
		f.mu.Unlock()
		ended <- err
	})
	return ended, nil
}

func (f *follows) close() {
	f.mu.Lock()
	f.closed = true
	for _, stop := range f.stops {
		stop()
	}
	f.mu.Unlock()
	f.all.Wait()
}
