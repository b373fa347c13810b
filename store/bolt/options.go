package bolt

import (
	"crypto/rand"
	"encoding/hex"
	"os"
	"path/filepath"
	"time"

	"cordboard/core"
)

// FileName is the store's file in a data directory (engine.md §8).
const FileName = "cordboard.db"

// Options says which store to open and how. Fsync is always on: there is no option to turn it off.
type Options struct {
	// Dir is the data directory, made with mode 0700 when missing; the store is FileName in it.
	Dir string
	// Path names the file itself and goes before Dir.
	Path string
	// ReadOnly opens the file for the time of a read only, so that it keeps no writer out; it never writes and never migrates.
	ReadOnly bool
	// Timeout bounds the wait for another process to let go of the file: 2 s when 0, one try when negative.
	Timeout time.Duration
	// NewEpoch makes the epoch of a new store; random when nil.
	NewEpoch func() string
	// Now is the clock of a read-only store, which distrusts a file time that is very young; time.Now when nil.
	Now func() time.Time

	hooks
}

// hooks are what tests of this package replace.
type hooks struct {
	after      func(time.Duration) <-chan time.Time
	migrations []migration
	logKeep    uint64
	logSlice   uint64
}

const (
	defaultTimeout = 2 * time.Second
	toolTimeout    = 500 * time.Millisecond // doctor and compact: an owner stays, a short command is gone by then
	defaultKeep    = 65536                  // revisions in the log (engine.md §7)
	defaultSlice   = 1024                   // revisions the log may exceed that by before it is trimmed
)

func (o Options) withDefaults() (Options, error) {
	if o.Path == "" {
		if o.Dir == "" {
			return o, core.Errorf(core.CodeInvalidParams, "a store needs a data directory or a path")
		}
		o.Path = filepath.Join(o.Dir, FileName)
	}
	path, err := filepath.Abs(o.Path)
	if err != nil {
		return o, core.Errorf(core.CodeStoreIO, "the store path %q cannot be made absolute: %w", o.Path, err)
	}
	o.Path = path
	if dir := filepath.Dir(path); isFile(dir) {
		return o, core.Errorf(core.CodeInvalidParams, "%s is a file, not a data directory: name with --data the directory that holds %s", dir, FileName)
	}
	if o.Timeout == 0 {
		o.Timeout = defaultTimeout
	}
	if o.NewEpoch == nil {
		o.NewEpoch = randomEpoch
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.after == nil {
		o.after = time.After
	}
	if o.migrations == nil {
		o.migrations = migrations
	}
	if o.logKeep == 0 {
		o.logKeep, o.logSlice = defaultKeep, defaultSlice
	}
	return o, nil
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

func randomEpoch() string {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // never fails (crypto/rand)
	return hex.EncodeToString(b)
}
