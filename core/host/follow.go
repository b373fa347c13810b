package host

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"cordboard/core"
	"cordboard/core/gateway/wire"
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
// An owner follows it in our stead for as long as we are attached, and Follow comes back once it has begun. When that owner goes, the next
// one follows on: it tells FollowStarted again.
func (h *Host) Follow(ctx context.Context, dir string, o FollowOptions) (ended <-chan error, err error) {
	switch {
	case h.roam != nil:
		return nil, core.Errorf(core.CodeReadOnly, "the store %s was opened for reading, following %s writes to it", h.roam.options.file(), dir)
	case h.owner != nil:
		return h.followAttached(ctx, dir, o)
	}
	source, err := openclaw.Check(dir)
	if err != nil {
		return nil, err
	}
	follows := &h.follows
	if h.inside != nil {
		follows = &h.inside.server.follows // its clients follow there too
	}
	return follows.start(ctx, source, func(ctx context.Context) error { return openclaw.Follow(ctx, h.store, source, o) })
}

// followAttached has the owner follow a directory. That it refuses is known before anybody goes on.
func (h *Host) followAttached(ctx context.Context, dir string, o FollowOptions) (<-chan error, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, core.Errorf(core.CodeInvalidParams, "%s: %w", dir, err)
	}
	begun := make(chan struct{})
	ended, err := h.follows.start(ctx, dir, func(ctx context.Context) error {
		return (&remote{link: h.owner, dir: dir, options: o, begun: begun}).follow(ctx)
	})
	if err != nil {
		return nil, err
	}
	select {
	case <-begun:
		return ended, nil
	case err := <-ended:
		if err != nil {
			return nil, err
		}
		over := make(chan error, 1) // ctx has ended
		over <- nil
		return over, nil
	}
}

// followRetry is how often a directory that was followed is tried again when an owner does not take it up.
const followRetry = 2 * time.Second

// passing are the refusals that may be over soon: the directory is away, the owner before has not let go of it, somebody uses the store.
var passing = []core.Code{core.CodeNotFound, core.CodeInvalidParams, core.CodeConflict, core.CodeStoreLocked}

// remote is a directory that owners follow, one after the other.
type remote struct {
	link    *link
	dir     string
	options FollowOptions
	begun   chan struct{} // closed when the first owner has taken it up
	once    bool          // it is closed
	gone    bool          // it was told that the directory cannot be followed at the moment
	told    map[Problem]bool
}

// follow has the owner follow the directory until ctx ends. What the first owner says against it is the end; later it is tried again.
func (r *remote) follow(ctx context.Context) error {
	for {
		err := r.try(ctx)
		_, lost := errors.AsType[*wire.LostError](err)
		switch code := core.CodeOf(err); {
		case ctx.Err() != nil:
			return nil
		case lost:
			continue
		case !r.once || !slices.Contains(passing, code):
			return err
		}
		r.tell(FollowEvent{Kind: FollowGone, At: r.link.options.Clock.Now().UnixMilli(), Source: r.dir, Message: err.Error()})
		if r.link.options.Clock.Sleep(ctx, followRetry) != nil {
			return nil
		}
	}
}

// try has one owner follow.
func (r *remote) try(ctx context.Context) error {
	c, err := r.link.dial(ctx, core.Operator)
	if err != nil {
		return err
	}
	defer c.Close()
	params, err := wire.Marshal(importParams{r.dir})
	if err != nil {
		return err
	}
	if _, err = c.Call(ctx, methodFollow, params, r.hear); err != nil {
		return err
	}
	select { // an owner that is on its way out says so next
	case <-c.Gone():
		return c.Lost()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// hear takes what the owner tells: the first of it says no more than that it follows.
func (r *remote) hear(payload json.RawMessage) {
	var news followNews
	if json.Unmarshal(payload, &news) != nil {
		return
	}
	if !r.once {
		r.once = true
		close(r.begun)
	}
	switch {
	case news.Event != nil:
		r.gone = false
		r.pass(r.news(*news.Event))
	case news.Progress != nil && r.options.Progress != nil:
		r.options.Progress(*news.Progress)
	}
}

// maxTold is how many problems are remembered, so that the next owner does not tell of them again.
const maxTold = 10_000

// news is an event without the problems that an owner before has told of.
func (r *remote) news(e FollowEvent) FollowEvent {
	if len(r.told) >= maxTold || r.told == nil {
		r.told = map[Problem]bool{}
	}
	old := func(p Problem) bool {
		before := r.told[p]
		r.told[p] = true
		return before
	}
	e.Problems = slices.DeleteFunc(e.Problems, old)
	if e.Report != nil {
		e.Report.Problems = slices.DeleteFunc(e.Report.Problems, old)
	}
	return e
}

// tell tells of trouble, once.
func (r *remote) tell(e FollowEvent) {
	if !r.gone {
		r.gone = true
		r.pass(e)
	}
}

func (r *remote) pass(e FollowEvent) {
	if r.options.Event != nil {
		r.options.Event(e)
	}
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
