package openclaw

import (
	"context"
	"maps"
	"os"
	"slices"
	"time"

	"cordboard/core"
)

const (
	// debounce is how long after the first notification its fellows are waited for: an atomic save is several.
	debounce = 30 * time.Millisecond
	// A sweep finds what was not notified of. It comes soon after something has moved, and else later; a large directory is swept
	// less often, so that sweeping takes a small part of the time.
	sweepSoon  = 2 * time.Second
	sweepLater = 5 * time.Second
	livelyFor  = 30 * time.Second
	sweepShare = 200
	// maxTold is how many problems a follower remembers having told of.
	maxTold = 10000
)

// Clock is the time a follower lives in.
type Clock interface {
	Now() time.Time
	// After sends the time once, d from now.
	After(d time.Duration) <-chan time.Time
}

// FollowOptions of Follow. The zero value is the default of each.
type FollowOptions struct {
	// Event is told what happens, in order, by the goroutine that called Follow; what it tells of is in the store by then.
	Event    func(FollowEvent)
	Progress func(Progress) // of the first import, as Options.Progress
	Clock    Clock          // nil is the real one
}

// FollowKind says what a FollowEvent tells of.
type FollowKind string

const (
	FollowStarted FollowKind = "started" // the directory is imported as far as it goes, and watched
	FollowChanged FollowKind = "changed" // something of it changed
	FollowGone    FollowKind = "gone"    // the directory is not there: what was read of it stays, and it is waited for
	FollowBack    FollowKind = "back"    // it is there again
	FollowBlind   FollowKind = "blind"   // the system does not notify of changes: they are looked for every few seconds
	FollowFailed  FollowKind = "failed"  // the store takes nothing at the moment: it is tried again
)

// FollowEvent is something that happened to a followed directory.
type FollowEvent struct {
	Kind     FollowKind      `json:"event"`
	At       int64           `json:"at"`     // ms
	Source   string          `json:"source"` // the directory, absolute
	Report   *Report         `json:"report,omitempty"`
	Changes  []SessionChange `json:"changes,omitempty"`
	Runs     int             `json:"runs,omitempty"`     // of the spawn registry, added or changed
	Problems []Problem       `json:"problems,omitempty"` // each is told of once
	Message  string          `json:"message,omitempty"`  // why it is gone, blind or failed
}

// Follow makes an OpenClaw state directory a live source of a store (engine.md §9): it imports the directory and goes on importing what
// changes in it, until ctx ends; then it returns nil. A line is in the store at most 200 ms after it was written whole, wherever the
// system notifies of changes, and a few seconds after else. Nothing is written while nothing changes.
//
// What is half-written, torn or gone for a moment waits, and nothing that was read is dropped for it. The store is used as by Import, by
// the same rules, so that either may follow on the other. An error is returned only for a directory that could not be imported.
func Follow(ctx context.Context, store core.Store, dir string, opts FollowOptions) error {
	f, err := newFollower(ctx, store, dir, opts)
	if err == nil {
		defer f.close()
		f.listen(openNotifier())
		err = f.begin(ctx)
	}
	if err == nil {
		f.run(ctx)
	}
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// Check returns the name under which a directory is imported or followed, absolute and with links resolved, or why it cannot be.
func Check(dir string) (source string, err error) {
	s, err := openSource(dir)
	if err != nil {
		return "", err
	}
	defer s.close()
	_, err = s.listAgents()
	return s.dir, err
}

// follower follows one directory. All of it belongs to the goroutine of run.
type follower struct {
	store core.Store
	cat   *catalog
	clock Clock
	opts  FollowOptions
	watch watcher

	dirty   map[string]bool // paths that were notified of since the last look
	pending bool            // something could not be done and is tried again in quiet
	reload  bool            // the store refused something: what is known of it is read anew
	gone    bool
	failure string // what was told of it
	told    map[Problem]bool
	moved   time.Time // when something changed last

	soon, again, sweepAt <-chan time.Time
}

func newFollower(ctx context.Context, store core.Store, dir string, opts FollowOptions) (*follower, error) {
	if opts.Clock == nil {
		opts.Clock = realClock{}
	}
	if opts.Event == nil {
		opts.Event = func(FollowEvent) {}
	}
	cat, err := openCatalog(ctx, store, dir)
	if err != nil {
		return nil, err
	}
	cat.patience = newPatience(opts.Clock.Now)
	return &follower{
		store: store, cat: cat, clock: opts.Clock, opts: opts, dirty: map[string]bool{}, told: map[Problem]bool{},
	}, nil
}

type realClock struct{}

func (realClock) Now() time.Time                         { return time.Now() }
func (realClock) After(d time.Duration) <-chan time.Time { return time.After(d) }

func (f *follower) close() {
	f.watch.close()
	f.cat.close()
}

// begin is the first import.
func (f *follower) begin(ctx context.Context) error {
	f.rewatch()
	var found problems
	if _, err := f.cat.src.scan(ctx, &found); err != nil {
		return err
	}
	if err := f.cat.rehome(ctx, f.store, &found); err != nil {
		return err
	}
	p, err := f.cat.newPlan(ctx, f.store, &found)
	if err != nil {
		return err
	}
	im := newImporter(f.store, p, Options{Progress: f.opts.Progress}, &found)
	if err := im.run(ctx); err != nil {
		return err
	}
	f.settled(im)
	report := im.report()
	report.Problems = f.news(&found)
	f.tell(FollowEvent{Kind: FollowStarted, Report: &report})
	f.moved = f.clock.Now()
	f.plan(0)
	return nil
}

func (f *follower) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case n := <-f.watch.events:
			f.notice(n)
		case err := <-f.watch.faults:
			f.missed(err)
		case <-f.soon:
			f.soon = nil
			f.lookAtDirty(ctx, false)
		case <-f.again:
			f.again = nil
			f.lookAtDirty(ctx, true)
		case <-f.sweepAt:
			f.sweep(ctx)
		}
	}
}

// lookAtDirty looks at what was notified of; in quiet also at what was put off.
func (f *follower) lookAtDirty(ctx context.Context, quiet bool) {
	if f.gone {
		f.sweep(ctx)
		return
	}
	if !f.present() {
		f.lost(nil)
		return
	}
	at := slices.Sorted(maps.Keys(f.dirty))
	clear(f.dirty)
	if slices.ContainsFunc(at, isDir) {
		f.rewatch()
	}
	for _, p := range at {
		f.cat.reread(p)
	}
	var found problems
	d, err := f.cat.src.look(ctx, at, &found)
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		f.lost(err)
		return
	}
	f.settle(ctx, d, quiet, &found)
}

func isDir(at string) bool {
	return len(places(at)) < 4 && at != registryPath
}

// sweep looks at everything there is.
func (f *follower) sweep(ctx context.Context) {
	begun := f.clock.Now()
	defer func() { f.plan(f.clock.Now().Sub(begun)) }()
	if f.gone || !f.present() {
		if err := f.cat.src.open(); err != nil {
			f.lost(err)
			return
		}
	}
	f.rewatch()
	var found problems
	d, err := f.cat.src.scan(ctx, &found)
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		f.lost(err)
		return
	}
	if f.gone {
		f.gone = false
		f.tell(FollowEvent{Kind: FollowBack})
	}
	clear(f.dirty)
	f.settle(ctx, d, true, &found)
}

// plan says when the next sweep is, after one that took so long.
func (f *follower) plan(took time.Duration) {
	wait := sweepLater
	if f.clock.Now().Sub(f.moved) < livelyFor {
		wait = sweepSoon
	}
	f.sweepAt = f.clock.After(max(wait, sweepShare*took))
}

// present reports whether the directory is the one that is open.
func (f *follower) present() bool {
	info, err := os.Stat(f.cat.src.dir)
	return err == nil && os.SameFile(info, f.cat.src.self)
}

// lost notes that the directory is not there, or nothing that could be followed.
func (f *follower) lost(err error) {
	clear(f.dirty)
	if f.gone {
		return
	}
	f.gone = true
	message := "the directory is gone or another one has its name"
	if err != nil {
		message = cause(err)
	}
	f.tell(FollowEvent{Kind: FollowGone, Message: message})
	f.moved = f.clock.Now()
}

// settle brings the store up to date with what a look has found: first the transcripts that have only grown, which is the most frequent
// and takes a millisecond, then everything else.
func (f *follower) settle(ctx context.Context, d delta, quiet bool, found *problems) {
	event := FollowEvent{Kind: FollowChanged}
	err := f.recall(ctx)
	if err == nil {
		err = f.bringIn(ctx, d, quiet, found, &event)
	}
	if ctx.Err() != nil {
		return
	}
	f.failed(err)
	if event.Problems = f.news(found); len(event.Changes)+len(event.Problems)+event.Runs > 0 {
		f.moved = f.clock.Now()
		f.tell(event)
	}
	if wanted := f.cat.patience.wanted; wanted > 0 {
		f.again, f.cat.patience.wanted = f.clock.After(wanted), 0
	}
}

func (f *follower) recall(ctx context.Context) error {
	if !f.reload {
		return nil
	}
	err := f.cat.recall(ctx, f.store)
	f.reload = err != nil
	return err
}

func (f *follower) bringIn(ctx context.Context, d delta, quiet bool, found *problems, event *FollowEvent) error {
	if len(d.grown) > 0 {
		p, ok, err := f.cat.further(ctx, f.store, d.grown, found)
		if ok && err == nil {
			err = f.write(ctx, p, found, event)
		}
		if err != nil {
			return err
		}
		d.other = d.other || !ok
	}
	if !d.other && f.cat.last != nil && !(quiet && f.pending) {
		return nil
	}
	f.pending = false
	p, err := f.cat.newPlan(ctx, f.store, found)
	if err != nil {
		return err
	}
	return f.write(ctx, p, found, event)
}

func (f *follower) write(ctx context.Context, p *plan, found *problems, event *FollowEvent) error {
	im := newImporter(f.store, p, Options{}, found)
	im.strict = f.failure == "" // once it is enough to look again
	err := im.run(ctx)
	for _, id := range slices.Sorted(maps.Keys(im.changed)) {
		event.Changes = append(event.Changes, *im.changed[id])
	}
	event.Runs += im.done.Runs.Added + im.done.Runs.Changed
	f.settled(im)
	return err
}

// settled sees what an importer has left for later.
func (f *follower) settled(im *importer) {
	for _, t := range im.plan.work {
		f.pending = f.pending || !t.done
	}
	for _, r := range im.plan.rowWork {
		f.pending = f.pending || !r.done
	}
	for _, at := range im.reader.again {
		f.dirty[at] = true
		f.cat.patience.want(settleTime)
	}
	f.pending = f.pending || f.cat.patience.wanted > 0
}

// failed tells once of a store that takes nothing, and takes note that it does again. A session that was adopted meanwhile is no failure:
// the next plan leaves it alone.
func (f *follower) failed(err error) {
	if err == nil {
		f.failure = ""
		return
	}
	f.reload, f.pending = true, true
	if core.CodeOf(err) == core.CodeConflict && f.failure == "" {
		f.failure = " "
		f.cat.patience.want(settleTime)
		return
	}
	if err.Error() != f.failure {
		f.failure = err.Error()
		f.tell(FollowEvent{Kind: FollowFailed, Message: f.failure})
	}
}

// news picks the problems that were not told of yet.
func (f *follower) news(found *problems) (news []Problem) {
	for _, p := range found.list {
		same := p
		if places(p.File) != nil && !transcriptName.MatchString(p.File) {
			same.Line = 0 // its entries move about
		}
		if !p.once && f.told[same] {
			continue
		}
		if len(f.told) >= maxTold {
			clear(f.told)
		}
		if !p.once {
			f.told[same] = true
		}
		news = append(news, p)
	}
	return news
}

func (f *follower) tell(e FollowEvent) {
	e.At, e.Source = f.clock.Now().UnixMilli(), f.cat.src.dir
	f.opts.Event(e)
}

// reread makes sure that a file which is replaced as a whole is read again, however much it looks like before.
func (c *catalog) reread(at string) {
	if at == registryPath {
		c.registry.seen.again = true
	} else if x := c.indexes[at]; x != nil {
		x.seen.again = true
	}
}
