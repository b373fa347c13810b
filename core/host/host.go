// Package host brings the rooms together: it finds the config and the store, puts an engine over them and returns a core.Board. It is
// the one room that knows engine and store; whoever wants a board asks here and never learns what stands behind it.
package host

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/adrg/xdg"

	"cordboard/core"
	"cordboard/core/engine"
	"cordboard/core/openclaw"
	"cordboard/core/tool"
	"cordboard/store/bolt"
)

// Options say where the store is and under which config it is used.
type Options struct {
	Dir         string // data directory; "" is DefaultDir
	ConfigPath  string // "" with ConfigGiven means the defaults on purpose
	ConfigGiven bool
	Version     string
	LockWait    time.Duration // how long to wait for another process to let go of the store; 0 is 2 s
	Clock       engine.Clock  // nil is the real one
}

// DefaultDir is where a store lives when nobody says otherwise: $XDG_STATE_HOME/cordboard.
func DefaultDir() string { return filepath.Join(xdg.StateHome, "cordboard") }

func (o Options) dir() string {
	if o.Dir != "" {
		return o.Dir
	}
	return DefaultDir()
}

// Host is an open store with an engine over it. Close it when done.
type Host struct {
	store   *bolt.Store
	engine  *engine.Engine
	follows follows
}

// Read opens the store for reading: nothing is migrated, started or written, and another process may take it over between reads
// (gateway.md §1). A store that does not exist is CodeStoreMissing.
func Read(ctx context.Context, o Options) (*Host, error) { return open(ctx, o, true) }

// Own opens the store for this process alone, making it when there is none.
func Own(ctx context.Context, o Options) (*Host, error) { return open(ctx, o, false) }

func open(_ context.Context, o Options, readOnly bool) (*Host, error) {
	cfg, _, err := o.effective()
	if err != nil {
		return nil, err
	}
	store, err := bolt.Open(bolt.Options{Dir: o.dir(), ReadOnly: readOnly, Timeout: o.LockWait})
	if core.CodeOf(err) == core.CodeStoreMissing {
		return nil, core.Errorf(core.CodeStoreMissing,
			"there is no store in %s: fill one with `cordboard import DIR`, look at `cordboard demo`, or name another with --data", o.dir())
	}
	if err != nil {
		return nil, err
	}
	owner := "this process"
	if readOnly {
		owner = ""
	}
	e, err := engine.New(store, cfg, engine.Options{Version: o.Version, Owner: owner, Clock: o.Clock})
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return &Host{store: store, engine: e}, nil
}

// Exists reports whether there is a store file in the data directory.
func Exists(o Options) bool {
	_, err := os.Stat(o.file())
	return err == nil
}

// ToolNames are the session tools that Board.Call knows.
func ToolNames() []string {
	var names []string
	for _, spec := range tool.Tools() {
		names = append(names, spec.Name)
	}
	return names
}

// Board is the engine for one actor.
func (h *Host) Board(ctx context.Context, actor core.Actor) (core.Board, error) {
	return h.engine.Board(ctx, actor)
}

// Store is the store itself, for the verbs that look after it.
func (h *Host) Store() core.Store { return h.store }

// CheckSource says why a directory is none that could be imported, before a store is made for it.
func CheckSource(dir string) error {
	_, err := openclaw.Check(dir)
	return err
}

// Import copies an OpenClaw state directory into the store; see openclaw.Import.
func (h *Host) Import(ctx context.Context, dir string, o ImportOptions) (ImportReport, error) {
	return openclaw.Import(ctx, h.store, dir, o)
}

// What an import takes and tells.
type (
	ImportOptions  = openclaw.Options
	ImportReport   = openclaw.Report
	ImportProgress = openclaw.Progress
	ImportCounts   = openclaw.Counts
)

// Export writes the transcript that a key or sessionId names as version-3 JSONL.
func (h *Host) Export(ctx context.Context, session string, w io.Writer) error {
	b, err := h.Board(ctx, core.Operator)
	if err != nil {
		return err
	}
	page, err := b.Messages(ctx, core.MessageQuery{Session: session, Limit: 1})
	if err != nil {
		return err
	}
	return openclaw.Export(ctx, h.store, w, page.Generation.ID)
}

// Close ends what runs here, waits for it and lets go of the store.
func (h *Host) Close() error {
	h.follows.close()
	return h.store.Close()
}
