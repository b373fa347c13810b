// Package host brings the rooms together: it finds the config and the store and returns a core.Board, of the process that owns the store
// or of a store that is only read. It is the one room that knows engine, store, gateway, runtimes and channels; whoever wants a board
// asks here and never learns what stands behind it (gateway.md §1).
//
//	Read          the owner's board when there is an owner, else the store read-only   read verbs, the console with --readonly
//	Attach        the owner's board; an owner is started when there is none            console, verbs that write
//	AttachMaking  likewise, and a named store is made when there is none               following a directory
//	Own           the store for this process alone, no engine running                  import without an owner, bench
//	Serve         be the owner
//	InProcess     be the owner beside other work                                       demo, the console with --in-process
//
// serve.go is the owner, session.go what it answers, child.go its other door for commands that play agents, reload.go what it does when the
// config changes, log.go where it writes. attach.go is the way to it, roam.go the way of who only reads, spawn.go how one is started,
// care.go what looks after the store. runtimes.go and mcp.go put the rooms of agents and tools together.
package host

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/adrg/xdg"
	"github.com/google/uuid"

	"cordboard/core"
	"cordboard/core/engine"
	"cordboard/core/gateway/board"
	"cordboard/core/gateway/wire"
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
	// Program starts an owner: the argv that `serve` and its flags are added to. Without it none is started.
	Program []string
}

// DefaultDir is where a store lives when nobody says otherwise: $XDG_STATE_HOME/cordboard.
func DefaultDir() string { return filepath.Join(xdg.StateHome, "cordboard") }

func (o Options) dir() string {
	if o.Dir != "" {
		return o.Dir
	}
	return DefaultDir()
}

// located refuses a data directory that nobody named and that has no home to be in: it would be at the root of the file system.
func (o Options) located() error {
	if o.Dir != "" || os.Getenv("HOME") != "" || filepath.IsAbs(os.Getenv("XDG_STATE_HOME")) {
		return nil
	}
	return core.Errorf(core.CodeStoreIO, "HOME is not set, so there is no place for the store: set HOME or XDG_STATE_HOME, or name a directory with --data")
}

// Host is a way to a store: an owner it is attached to, or the store itself. Close it when done.
type Host struct {
	store   *bolt.Store
	engine  *engine.Engine
	follows follows
	owner   *link   // instead of the store and the engine
	inside  *inside // the owner that store and engine belong to, when it lives in this process
	roam    *roam   // instead of all these: whichever there is
}

// Read is a way to read the store: through the owner while there is one, else from the file, which another process may take over between
// reads. Nothing is migrated, started or written. A store that does not exist is CodeStoreMissing.
func Read(ctx context.Context, o Options) (*Host, error) {
	r, err := newRoam(ctx, o)
	if err != nil {
		return nil, errors.Join(err, r.close())
	}
	return &Host{roam: r}, nil
}

// Attach returns the owner's host and starts an owner when there is none. The default store is made when there is none; a directory that
// was named and holds none is CodeStoreMissing, for it may have been mistyped.
func Attach(ctx context.Context, o Options) (*Host, error) {
	if o.Dir != "" && !Exists(o) {
		if _, _, broken := o.effective(); broken != nil {
			return nil, broken // nobody can have the config before
		}
		return nil, noStore(o)
	}
	return attach(ctx, o)
}

// AttachMaking is Attach for who brings something to keep: a store that is not there yet is made, a named one too.
func AttachMaking(ctx context.Context, o Options) (*Host, error) { return attach(ctx, o) }

// attach looks for an owner, or starts one. One that lives keeps the config that it had before the file was broken (config.md); one that is
// started would say what is wrong with the file to its log alone.
func attach(ctx context.Context, o Options) (*Host, error) {
	_, _, broken := o.effective()
	l := newLink(o, broken == nil)
	if err := l.probe(ctx); err != nil {
		if broken != nil && (errors.Is(err, errNoOwner) || core.CodeOf(err) == core.CodeConfig) {
			err = broken
		}
		return nil, err
	}
	l.starts = true
	return &Host{owner: l}, nil
}

// Own opens the store for this process alone, making it when there is none.
func Own(_ context.Context, o Options) (*Host, error) { return open(o, false) }

// OwnOrAttached is Attach when there is an owner and Own when there is none: for work that needs the store for a while, runs no agents and
// so leaves no owner behind.
func OwnOrAttached(ctx context.Context, o Options) (*Host, error) {
	l := newLink(o, false)
	switch err := l.probe(ctx); {
	case err == nil:
		return &Host{owner: l}, nil
	case !errors.Is(err, errNoOwner):
		return nil, err
	}
	return open(o, false)
}

func open(o Options, readOnly bool) (*Host, error) {
	if err := o.located(); err != nil {
		return nil, err
	}
	cfg, _, err := o.effective()
	if err != nil {
		return nil, err
	}
	store, err := bolt.Open(bolt.Options{Dir: o.dir(), ReadOnly: readOnly, Timeout: o.LockWait})
	if core.CodeOf(err) == core.CodeStoreMissing {
		return nil, noStore(o)
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

func noStore(o Options) error {
	if o.Dir != "" {
		return core.Errorf(core.CodeStoreMissing, "there is no store in %[1]s: if the name is right, `cordboard serve --data %[1]s` makes one there "+
			"and `cordboard import DIR --data %[1]s` fills one", o.Dir)
	}
	return core.Errorf(core.CodeStoreMissing, "there is no store in %s yet: `cordboard new` makes one, `cordboard import DIR` fills one, `cordboard demo` "+
		"shows one; or name another with --data", o.dir())
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

// ToolActs reports whether a session tool does more than read, so that it needs an owner.
func ToolActs(name string) bool {
	return name == tool.SessionsSend || name == tool.SessionsSpawn
}

// Attached reports whether the board is another process's, the owner's.
func (h *Host) Attached() bool { return h.owner != nil || h.roam != nil && h.roam.isAttached() }

// Board is a board for one actor. An attached one finds the next owner by itself when this one is gone.
func (h *Host) Board(ctx context.Context, actor core.Actor) (core.Board, error) {
	switch {
	case h.roam != nil:
		return newRoamBoard(ctx, h.roam, actor)
	case h.owner == nil:
		return h.engine.Board(ctx, actor)
	}
	b, err := board.NewClient(ctx, func(ctx context.Context) (*wire.Client, error) { return h.owner.dial(ctx, actor) },
		board.Options{Now: time.Now, NewID: uuid.NewString})
	if err != nil {
		return nil, err
	}
	return b, nil
}

// Store is the store itself, of a host that Own opened; else nil.
func (h *Host) Store() core.Store { return h.store }

// CheckSource says why a directory is none that could be imported, before a store is made for it.
func CheckSource(dir string) error {
	_, err := openclaw.Check(dir)
	return err
}

// Import copies an OpenClaw state directory into the store; see openclaw.Import. An owner reads the directory itself.
func (h *Host) Import(ctx context.Context, dir string, o ImportOptions) (ImportReport, error) {
	switch {
	case h.roam != nil:
		return ImportReport{}, core.Errorf(core.CodeReadOnly, "the store %s was opened for reading, importing %s writes to it", h.roam.options.file(), dir)
	case h.owner != nil:
		return h.owner.importDir(ctx, dir, o)
	}
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
	if h.roam != nil {
		return h.roam.try(func(h *Host) error { return h.Export(ctx, session, w) })
	}
	if h.owner != nil {
		return h.owner.stream(ctx, methodExport, exportParams{session}, w)
	}
	b, err := h.Board(ctx, core.Operator)
	if err != nil {
		return err
	}
	return export(ctx, h.store, b, session, w)
}

func export(ctx context.Context, store core.Store, b core.Board, session string, w io.Writer) error {
	page, err := b.Messages(ctx, core.MessageQuery{Session: session, Limit: 1})
	if err != nil {
		return err
	}
	return openclaw.Export(ctx, store, w, page.Generation.ID)
}

// Backup writes a consistent copy of the store, while it is in use.
func (h *Host) Backup(ctx context.Context, w io.Writer) error {
	if h.roam != nil {
		return h.roam.try(func(h *Host) error { return h.Backup(ctx, w) })
	}
	if h.owner != nil {
		return h.owner.stream(ctx, methodBackup, struct{}{}, w)
	}
	_, err := h.store.Backup(ctx, w)
	return err
}

// Close ends what runs here, waits for it and lets go of the store. An owner stays: it ends by itself when nobody needs it.
func (h *Host) Close() error {
	h.follows.close()
	switch {
	case h.inside != nil:
		return h.inside.close()
	case h.roam != nil:
		return h.roam.close()
	case h.owner != nil:
		return h.owner.close()
	}
	return h.store.Close()
}
