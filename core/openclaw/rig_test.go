package openclaw

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/stretchr/testify/require"

	"cordboard/core"
)

// handClock moves only when a test moves it.
type handClock struct{ now time.Time }

func (c *handClock) Now() time.Time                       { return c.now }
func (c *handClock) After(time.Duration) <-chan time.Time { return make(chan time.Time) }

// handNotifier takes every watch; a test makes the notifications.
type handNotifier struct {
	on   map[string]bool
	fail error // of the next Add
}

func (n *handNotifier) Add(dir string) error {
	if n.fail != nil {
		return n.fail
	}
	n.on[dir] = true
	return nil
}

func (n *handNotifier) Remove(dir string) error { delete(n.on, dir); return nil }
func (n *handNotifier) Close() error            { return nil }

// rig is a follower that is driven by hand: what changed in the directory is found by comparing it with what it was, and notified of as the
// system would, for directories that are watched.
type rig struct {
	t        require.TestingT
	f        *follower
	clock    *handClock
	notifier *handNotifier
	before   map[string]fs.FileInfo
	events   []FollowEvent
}

func follow(t require.TestingT, s core.Store, dir string) *rig {
	r := &rig{t: t, clock: &handClock{now: time.UnixMilli(1796029200000)}, notifier: &handNotifier{on: map[string]bool{}}}
	f, err := newFollower(context.Background(), s, dir, FollowOptions{Clock: r.clock, Event: func(e FollowEvent) { r.events = append(r.events, e) }})
	require.NoError(t, err)
	r.f = f
	f.listen(watcher{notifier: r.notifier}, nil)
	require.NoError(t, f.begin(context.Background()))
	r.before = r.tree()
	r.quieten()
	return r
}

// tree is the state of every file and directory, by path.
func (r *rig) tree() map[string]fs.FileInfo {
	all := map[string]fs.FileInfo{}
	_ = filepath.WalkDir(r.f.cat.src.dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // what is not there is not there
		}
		if info, err := os.Stat(p); err == nil {
			all[p] = info
		}
		return nil
	})
	return all
}

// notify tells of everything that has changed since the last time.
func (r *rig) notify() {
	now := r.tree()
	tell := func(p string, op fsnotify.Op) {
		if r.notifier.on[filepath.Dir(p)] || r.notifier.on[p] {
			r.f.notice(fsnotify.Event{Name: p, Op: op})
		}
	}
	for p, info := range r.before {
		if now[p] == nil || !os.SameFile(info, now[p]) {
			tell(p, fsnotify.Remove)
		}
	}
	for p, info := range now {
		switch old := r.before[p]; {
		case old == nil || !os.SameFile(old, info):
			tell(p, fsnotify.Create)
		case !info.IsDir() && !sameFile(old, info):
			tell(p, fsnotify.Write)
		}
	}
	r.before = now
}

// look lets the follower look at what it was notified of, once.
func (r *rig) look() {
	r.notify()
	r.clock.now = r.clock.now.Add(debounce)
	r.f.soon = nil
	r.f.lookAtDirty(context.Background(), false)
}

// settle lets it look until there is nothing it waits for.
func (r *rig) settle() {
	r.look()
	r.quieten()
}

func (r *rig) quieten() {
	for tries := 0; r.f.again != nil; tries++ {
		require.Less(r.t, tries, 100, "the follower comes to rest")
		r.clock.now = r.clock.now.Add(settleTime)
		r.f.again = nil
		r.f.lookAtDirty(context.Background(), true)
	}
}

// sweep lets it find what has changed by itself.
func (r *rig) sweep() {
	r.before = r.tree()
	r.clock.now = r.clock.now.Add(sweepSoon)
	r.f.sweep(context.Background())
	r.quieten()
}

// told returns what the follower has told of since the last call, by kind.
func (r *rig) told() (kinds []FollowKind, problems []Problem, changes map[string]SessionChange) {
	changes = map[string]SessionChange{}
	for _, e := range r.events {
		if !slices.Contains(kinds, e.Kind) {
			kinds = append(kinds, e.Kind)
		}
		problems = append(problems, e.Problems...)
		for _, c := range e.Changes {
			c.Messages, c.Events = c.Messages+changes[c.Generation].Messages, c.Events+changes[c.Generation].Events
			changes[c.Generation] = c
		}
	}
	r.events = nil
	return kinds, problems, changes
}

func rev(t testing.TB, s core.Store) core.Rev {
	t.Helper()
	info, err := s.Info(t.Context())
	require.NoError(t, err)
	return info.Rev
}
