package host

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"cordboard/core"
	"cordboard/core/config"
	"cordboard/core/engine"
	"cordboard/core/gateway/wire"
	"cordboard/store/bolt"
)

const (
	dialEvery  = 20 * time.Millisecond // while the store is held and nobody answers
	startEvery = 2 * time.Millisecond  // while the owner that we started is on its way
	dialFor    = 2 * time.Second       // for a holder of the store that does not answer, unless Options say otherwise
	startFor   = time.Minute           // for an owner that we started: it may have much to put in order
	standBack  = 5 * time.Second       // after an owner was stopped on purpose, before another is started
)

// reasonStopped is why connections end when somebody asked the owner to go.
const reasonStopped = "the owner was stopped"

func (o Options) lockWait() time.Duration {
	if o.LockWait == 0 {
		return dialFor
	}
	return o.LockWait
}

// errNoOwner says that nobody owns the store, and that none is to be started.
var errNoOwner = errors.New("nobody owns the store")

// socket is where the owner of a data directory listens: in it, or where its path would be too long, in a directory for such things
// under a name made of it.
func (o Options) socket() (string, error) { return o.socketOf("cordboard.sock", ".sock") }

// door is where commands that play agents find the owner. Who comes there must show the token of a run, so that a sandbox which hides the
// data directory may let this one file through.
func (o Options) door() (string, error) { return o.socketOf("agents.sock", ".agents.sock") }

func (o Options) socketOf(name, suffix string) (string, error) {
	if err := o.located(); err != nil {
		return "", err
	}
	dir, err := filepath.Abs(o.dir())
	if err != nil {
		return "", core.Errorf(core.CodeStoreIO, "the data directory %q: %w", o.dir(), err)
	}
	if path := filepath.Join(dir, name); len(path) <= wire.MaxSocketPath {
		return path, nil
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	sum := sha256.Sum256([]byte(dir))
	return filepath.Join(socketDir(os.Getenv), hex.EncodeToString(sum[:8])+suffix), nil
}

// socketDir is $XDG_RUNTIME_DIR/cordboard, or one of this user in the directory for temporary files.
func socketDir(getenv func(string) string) string {
	if runtime := getenv("XDG_RUNTIME_DIR"); runtime != "" {
		return filepath.Join(runtime, "cordboard")
	}
	return filepath.Join(os.TempDir(), "cordboard-"+strconv.Itoa(os.Getuid()))
}

// link is the way to the owner of a store. It outlives owners.
type link struct {
	options Options
	starts  bool   // an owner may be started
	child   *Child // instead: the one owner that there is, as the session it lets in

	mu      sync.Mutex // held while an owner is looked for, so that one process starts one
	spawned spawned
	last    *wire.Client // the connection that was made last
	spare   *wire.Client // an operator's that nobody has used yet
	stopped time.Time    // when it was seen that an owner had been stopped on purpose
}

func newLink(o Options, starts bool) *link {
	if o.Clock == nil {
		o.Clock = realClock{}
	}
	return &link{options: o, starts: starts}
}

type realClock struct{}

func (realClock) Now() time.Time { return time.Now() }

func (realClock) Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

var _ engine.Clock = realClock{}

func (l *link) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c := l.spare; c != nil {
		c.Close()
	}
	l.spawned.reap()
	return nil
}

// hello is what a client says first.
type hello struct {
	Version string     `json:"version"`
	Actor   core.Actor `json:"actor"`
	Token   string     `json:"token,omitempty"` // of a command that plays an agent
}

// welcome is the owner's answer.
type welcome struct {
	Config string `json:"config"` // file, absolute; "" = the defaults
}

// probe looks for an owner, and has one when it returns nil. The connection is kept for the first who needs one.
func (l *link) probe(ctx context.Context) error {
	c, err := l.dial(ctx, core.Operator)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.spare = c
	return err
}

// answers reports whether somebody listens where an owner would.
func (l *link) answers(ctx context.Context) bool {
	path, err := l.options.socket()
	if err != nil {
		return false
	}
	conn, err := connect(ctx, path)
	if err != nil {
		return false
	}
	_ = conn.Close()
	return true
}

// unused takes the connection that the probe made.
func (l *link) unused(actor core.Actor) *wire.Client {
	c := l.spare
	l.spare = nil
	if c != nil && actor != core.Operator {
		c.Close()
		return nil
	}
	return c
}

// dial connects to the owner. While the store is held and nobody answers it tries again; when nobody holds the store it starts an owner,
// or answers errNoOwner. The lock of the store's file decides who becomes the owner: of several that are started one gets it.
func (l *link) dial(ctx context.Context, actor core.Actor) (*wire.Client, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c := l.unused(actor); c != nil {
		return c, nil
	}
	w := waiting{link: l, began: l.options.Clock.Now()}
	if l.last != nil && l.last.Lost() != nil && l.last.Lost().Reason == reasonStopped {
		l.last, l.stopped = nil, w.began
	}
	for {
		c, err := l.try(ctx, actor)
		switch {
		case err == nil:
			l.last = c
			return c, nil
		case l.child != nil && errors.Is(err, errAway):
			return nil, core.Errorf(core.CodeUnsupported, "the owner that started this command is gone: nobody answers at %s (CORDBOARD_SOCKET)", l.child.Socket)
		case !errors.Is(err, errAway):
			return nil, err
		}
		pause, err := w.next(ctx)
		if err == nil {
			err = l.options.Clock.Sleep(ctx, pause)
		}
		if err != nil {
			return nil, err
		}
	}
}

// errAway says that no owner answered this time.
var errAway = errors.New("no owner answers")

// try is one try.
func (l *link) try(ctx context.Context, actor core.Actor) (*wire.Client, error) {
	path, token, err := l.where()
	if err != nil {
		return nil, err
	}
	conn, err := connect(ctx, path)
	if err != nil {
		return nil, err
	}
	c, answer, err := l.hello(ctx, conn, hello{l.options.Version, actor, token})
	if _, lost := errors.AsType[*wire.LostError](err); lost {
		return nil, errAway // it was on its way out
	}
	if err != nil {
		return nil, err
	}
	if err := l.sameConfig(answer); err != nil {
		c.Close()
		return nil, err
	}
	if peer, err := wire.PeerOf(conn); err == nil && peer.PID != 0 {
		l.spawned.endUnless(peer.PID)
	}
	return c, nil
}

// where is the socket to connect to, and what to show there.
func (l *link) where() (path, token string, err error) {
	if l.child != nil {
		return l.child.Socket, l.child.Token, nil
	}
	path, err = l.options.socket()
	return path, "", err
}

// sameConfig refuses a config that was asked for by name when the owner lives by another.
func (l *link) sameConfig(answer json.RawMessage) error {
	var w welcome
	if err := json.Unmarshal(answer, &w); err != nil {
		return core.Errorf(core.CodeInternal, "the owner's answer to hello cannot be read: %w", err)
	}
	if mine := l.options.configFile(); l.options.ConfigGiven && mine != w.Config {
		return core.Errorf(core.CodeConfig, "the owner of the store runs with the config %q, not with %q: leave --config out, or `cordboard serve --stop` first", w.Config, mine)
	}
	return nil
}

// configFile is the config file in force, absolute; "" means the defaults.
func (o Options) configFile() string {
	path := config.Choose(o.ConfigPath, o.ConfigGiven, os.Getenv)
	if path == "" {
		return ""
	}
	if absolute, err := filepath.Abs(path); err == nil {
		path = absolute
	}
	return path
}

// connect connects to a socket of this user's; errAway when nobody listens there.
func connect(ctx context.Context, path string) (*net.UnixConn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", path)
	switch {
	case err == nil:
	case errors.Is(err, syscall.ENOENT), errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, syscall.EAGAIN), errors.Is(err, syscall.ENOTDIR):
		return nil, errAway
	case ctx.Err() != nil:
		return nil, ctx.Err()
	default:
		return nil, core.Errorf(core.CodeStoreIO, "the socket %s of the owner of the store: %w", path, err)
	}
	unixConn, ok := conn.(*net.UnixConn)
	if peer, err := wire.PeerOf(unixConn); !ok || err != nil || peer.UID != os.Getuid() {
		_ = conn.Close()
		return nil, core.Errorf(core.CodeForbidden, "the socket %s is another user's: cordboard talks to an owner of its own user only", path)
	}
	return unixConn, nil
}

// waiting is one search for an owner.
type waiting struct {
	link  *link
	began time.Time // when the last change for the better was
	tries int       // owners started
}

// maxStarts bounds the owners that one search starts: one that ends at once for reasons of its own is not started for ever.
const maxStarts = 3

// next decides what to do while nobody answers: how long to pause before the next try, or that there is no use.
func (w *waiting) next(ctx context.Context) (time.Duration, error) {
	l := w.link
	now := l.options.Clock.Now()
	if l.spawned.reap() {
		return w.coming(now)
	}
	held, pid, err := heldBy(l.options)
	switch {
	case err != nil && !l.starts:
		return 0, errNoOwner // what is wrong with the file is said by who opens it
	case held && now.Sub(w.began) > l.options.lockWait():
		return 0, heldError(l.options.file(), pid)
	case held:
		return dialEvery, nil
	case !l.starts:
		return 0, errNoOwner
	case now.Sub(l.stopped) < standBack:
		return dialEvery, nil // whoever stopped it may want the store for himself
	case w.tries == maxStarts:
		return 0, l.spawned.failure()
	}
	if err := l.spawn(ctx); err != nil {
		return 0, err
	}
	w.tries++
	w.began = now
	return startEvery, nil
}

// coming is the pause for an owner that we started.
func (w *waiting) coming(now time.Time) (time.Duration, error) {
	if now.Sub(w.began) > startFor {
		return 0, core.Errorf(core.CodeStoreLocked, "the owner that was started for %s does not answer yet: see %s", w.link.options.file(), w.link.spawned.log)
	}
	return startEvery, nil
}

func heldError(file string, pid int) error {
	who := ""
	if pid > 0 {
		who = " (pid " + strconv.Itoa(pid) + ")"
	}
	return core.Errorf(core.CodeStoreLocked, "the store %s is in use by another process%s, an import perhaps: wait for its end, or end it", file, who)
}

// terminate sends the owner a signal to go. Who it is the kernel says: it is the process that listens on the socket.
func (l *link) terminate(ctx context.Context) (pid int, err error) {
	path, err := l.options.socket()
	if err != nil {
		return 0, err
	}
	conn, err := connect(ctx, path)
	if errors.Is(err, errAway) {
		held, pid, err := heldBy(l.options)
		if err == nil && held {
			err = heldError(l.options.file(), pid)
		}
		return 0, err
	}
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	peer, err := wire.PeerOf(conn)
	if err != nil || peer.PID == 0 {
		return 0, core.Errorf(core.CodeUnsupported, "this system does not tell which process owns the store: end it by hand")
	}
	if err := syscall.Kill(peer.PID, syscall.SIGTERM); err != nil {
		return 0, core.Errorf(core.CodeStoreIO, "the owner of the store (pid %d) cannot be asked to go: %w", peer.PID, err)
	}
	_ = syscall.Kill(peer.PID, syscall.SIGCONT) // one that is suspended would not hear of it
	return peer.PID, nil
}

func heldBy(o Options) (held bool, pid int, err error) { return bolt.Held(o.dir()) }

// ask makes one call of the owner's own.
func (l *link) ask(ctx context.Context, method string, params any, event func(json.RawMessage)) (json.RawMessage, error) {
	c, err := l.dial(ctx, core.Operator)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	raw, err := wire.Marshal(params)
	if err != nil {
		return nil, err
	}
	answer, err := c.Call(ctx, method, raw, event)
	if lost, ok := errors.AsType[*wire.LostError](err); ok {
		return nil, core.Errorf(core.CodeUnsupported, "%w before it was done", lost)
	}
	return answer, err
}

// importDir has the owner import a directory.
func (l *link) importDir(ctx context.Context, dir string, o ImportOptions) (report ImportReport, err error) {
	if dir, err = filepath.Abs(dir); err != nil {
		return report, fmt.Errorf("%s: %w", dir, err)
	}
	answer, err := l.ask(ctx, methodImport, importParams{dir}, func(payload json.RawMessage) {
		var p ImportProgress
		if o.Progress != nil && json.Unmarshal(payload, &p) == nil {
			o.Progress(p)
		}
	})
	if err != nil {
		return report, err
	}
	return report, json.Unmarshal(answer, &report)
}

// stream has the owner send what it writes in pieces.
func (l *link) stream(ctx context.Context, method string, params any, w io.Writer) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	_, err := l.ask(ctx, method, params, func(payload json.RawMessage) {
		var piece []byte
		err := json.Unmarshal(payload, &piece)
		if err == nil && ctx.Err() == nil {
			_, err = w.Write(piece)
		}
		if err != nil {
			cancel(err)
		}
	})
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}
