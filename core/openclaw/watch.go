package openclaw

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/fsnotify/fsnotify"
)

// notifier tells of changes in directories, not of those in directories below them. fsnotify.Watcher is one.
type notifier interface {
	Add(dir string) error
	Remove(dir string) error
	Close() error
}

// watcher keeps a notifier on the directories of a source.
type watcher struct {
	notifier
	events <-chan fsnotify.Event
	faults <-chan error
	on     map[string]fs.FileInfo // directories that are watched, by path within the source
	blind  bool                   // some cannot be
}

// openNotifier is the system's.
func openNotifier() (watcher, error) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return watcher{}, err
	}
	return watcher{notifier: w, events: w.Events, faults: w.Errors}, nil
}

func (w *watcher) close() {
	if w.notifier != nil {
		w.notifier.Close()
	}
}

// listen takes a notifier into use. Without one everything is found by sweeps.
func (f *follower) listen(w watcher, err error) {
	w.on = map[string]fs.FileInfo{}
	f.watch = w
	if err != nil {
		f.blinded(err)
	}
}

func (f *follower) blinded(err error) {
	if f.watch.blind {
		return
	}
	f.watch.blind = true
	f.tell(FollowEvent{Kind: FollowBlind, Message: "not every directory can be watched (" + err.Error() + "): changes are found within a few seconds"})
}

// notice takes note of a change. It is looked at a moment later, with those that follow it.
func (f *follower) notice(e fsnotify.Event) {
	at, err := filepath.Rel(f.cat.src.dir, e.Name)
	if err != nil || e.Op == fsnotify.Chmod {
		return
	}
	at = filepath.ToSlash(at)
	if places(at) == nil {
		return
	}
	if !e.Has(fsnotify.Write) {
		f.watch.forget(at)
	}
	f.dirty[at] = true
	if f.soon == nil {
		f.soon = f.clock.After(debounce)
	}
}

// missed makes up for notifications that were lost.
func (f *follower) missed(err error) {
	if errors.Is(err, fsnotify.ErrEventOverflow) {
		f.sweepAt = f.clock.After(0)
		return
	}
	f.blinded(err)
}

// forget takes it that a directory which came, went or was renamed, and those in it, are not watched any more.
func (w *watcher) forget(at string) {
	for dir := range w.on {
		if dir == at || strings.HasPrefix(dir, at+"/") || at == "." {
			delete(w.on, dir)
		}
	}
}

// rewatch watches every directory that is there and those only: that of the source, its agents and their sessions, and the registry's.
func (f *follower) rewatch() {
	w := &f.watch
	if w.notifier == nil {
		return
	}
	wanted := f.cat.src.dirs()
	for dir := range w.on {
		if _, still := wanted[dir]; !still {
			_ = w.Remove(f.absolute(dir)) // it may be gone already
			delete(w.on, dir)
		}
	}
	for dir, info := range wanted {
		if before, on := w.on[dir]; on && os.SameFile(before, info) {
			continue
		}
		_ = w.Remove(f.absolute(dir)) // another one of that name
		err := w.Add(f.absolute(dir))
		switch {
		case err == nil:
			w.on[dir] = info
		case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENOSYS):
			f.blinded(err)
		}
	}
}

func (f *follower) absolute(at string) string {
	return filepath.Join(f.cat.src.dir, filepath.FromSlash(at))
}

// dirs are the directories of a source in which something may happen that concerns us.
func (s *source) dirs() map[string]fs.FileInfo {
	all := map[string]fs.FileInfo{}
	add := func(at string) {
		if info, err := s.root.Stat(at); err == nil && info.IsDir() {
			all[at] = info
		}
	}
	add(".")
	add(agentsDir)
	add(path.Dir(registryPath))
	agents, err := fs.ReadDir(s.root.FS(), agentsDir)
	if err != nil {
		return all
	}
	for _, a := range agents {
		add(path.Join(agentsDir, a.Name()))
		add(path.Join(agentsDir, a.Name(), sessionsDir))
	}
	return all
}
