package host

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"reflect"
	"time"

	"github.com/fsnotify/fsnotify"

	"cordboard/core/config"
)

// A config that is changed comes into force by itself, once nothing runs: the owner then begins anew with it, in the same process and without
// letting go of the store, and its clients attach again as they do to any next owner. Until then, and while the file is broken, the one
// before it is in force (config.md).

const (
	configSettles = 100 * time.Millisecond // what an editor does to a file while it saves it
	configRetry   = 200 * time.Millisecond // to look whether anything still runs
	configAppears = 2 * time.Second        // to look whether the user's directory has been made
)

// watchedConfig is the file that is watched: the one in force, else the user's, which may come into being.
func (o Options) watchedConfig() string {
	if file := o.configFile(); file != "" || o.ConfigGiven {
		return file
	}
	if dir := UserDir(); dir != "" {
		return filepath.Join(dir, config.FileName)
	}
	return ""
}

// reloads returns the next config once there is one and the engine rests for it; nil when ctx ends. Who cannot watch never reloads.
func (s *server) reloads(ctx context.Context) *config.Config {
	file := s.options.watchedConfig()
	if file == "" {
		<-ctx.Done()
		return nil
	}
	w, err := fsnotify.NewWatcher()
	made := false
	if err == nil {
		defer w.Close()
		made, err = s.watchDir(ctx, w, filepath.Dir(file)) // the file itself would be lost with the first save that renames
	}
	if err != nil {
		s.log.Info("changes of the config are not noticed", "file", file, "error", err)
		<-ctx.Done()
		return nil
	}
	for {
		if !made {
			select {
			case <-w.Events:
			case <-w.Errors:
			case <-ctx.Done():
				return nil
			}
		}
		made = false
		if next := s.nextConfig(ctx, w); next != nil || ctx.Err() != nil {
			return next
		}
	}
}

// watchDir watches a directory, and waits for it where there is none yet; made says that it was waited for, so that the file may be there.
func (s *server) watchDir(ctx context.Context, w *fsnotify.Watcher, dir string) (made bool, err error) {
	for {
		err = w.Add(dir)
		if !errors.Is(err, fs.ErrNotExist) {
			return made, err
		}
		made = true
		if err := s.clock.Sleep(ctx, configAppears); err != nil {
			return made, err
		}
	}
}

// nextConfig reads the config anew until it is the one in force, or broken, or the engine rests for it.
func (s *server) nextConfig(ctx context.Context, w *fsnotify.Watcher) *config.Config {
	wait := configSettles
	for {
		if s.clock.Sleep(ctx, wait) != nil {
			return nil
		}
		for len(w.Events) > 0 {
			<-w.Events
		}
		next, _, err := s.options.effective()
		switch {
		case err != nil:
			s.log.Warn("the config is broken, the one before it stays in force", "file", s.options.watchedConfig(), "error", err)
			s.configNews.Store("broken, the one before it is in force: " + err.Error())
			return nil
		case reflect.DeepEqual(next, s.inForce):
			s.configNews.Store("")
			return nil
		case s.engine.Rest():
			return next
		}
		s.configNews.Store("changed: it comes into force once nothing runs")
		wait = configRetry
	}
}
