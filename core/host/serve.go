package host

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"time"

	"cordboard/core"
	"cordboard/core/channel/exec"
	"cordboard/core/channel/webhook"
	"cordboard/core/config"
	"cordboard/core/engine"
	"cordboard/core/gateway/wire"
	"cordboard/core/mcp"
	"cordboard/store/bolt"
)

// ServeOptions say how an owner lives.
type ServeOptions struct {
	IdleExit time.Duration // after the last client, live run and work due within a minute; 0 = never
	Log      *slog.Logger
}

// startWait is how long an owner that was started by need waits for the store: for readers to make way, and not for another owner that was
// quicker, in whose place it would come much later.
const startWait = 300 * time.Millisecond

// server is the owner of a store.
type server struct {
	options Options
	config  string // file
	log     *slog.Logger
	logFile *rotated
	clock   engine.Clock
	store   *bolt.Store
	engine  *engine.Engine
	wire    *wire.Server
	since   time.Time
	idles   time.Duration

	path     string // of the socket
	listener net.Listener
	door     *door
	toolbox  *mcp.Toolbox
	hurry    context.Context // its end cuts the grace of running runs short

	closeRuntimes func()

	open     atomic.Int64  // connections
	moved    chan struct{} // one came or went
	draining atomic.Bool
	imports  chan struct{} // held by the import that runs
	follows  follows

	inForce    *config.Config
	configNews atomic.Value // string: what is to be known of its file
}

// Serve owns the store until ctx ends or nobody needs it any more: it puts in order what an earlier owner left, runs agents and answers
// clients on the socket of the data directory. When ctx ends it starts no more runs, gives those that run the configured grace
// (engine.drain) and ends the rest as interrupted. A store that is owned already is CodeStoreLocked.
func Serve(ctx context.Context, o Options, so ServeOptions) (err error) {
	if so.IdleExit > 0 && o.LockWait == 0 {
		o.LockWait = startWait
	}
	if o.Clock == nil {
		o.Clock = realClock{}
	}
	next, _, err := o.effective()
	if err != nil {
		return err
	}
	store, err := bolt.Open(bolt.Options{Dir: o.dir(), Timeout: o.LockWait})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }() // last: its lock is what others wait for
	for next != nil {
		s, err := newServer(ctx, o, so, store, next)
		if err != nil {
			return err
		}
		if next, err = s.serve(ctx, true); err != nil {
			return err
		}
	}
	return nil
}

// newServer puts a store in order, starts the engine under a config and makes the socket.
func newServer(ctx context.Context, o Options, so ServeOptions, store *bolt.Store, cfg *config.Config) (s *server, err error) {
	path, err := o.socket()
	if err != nil {
		return nil, err
	}
	log, file, err := openOwnerLog(o.dir(), cfg.Logging.Level, so.Log)
	if err != nil {
		return nil, core.Errorf(core.CodeStoreIO, "the log of the owner cannot be written: %w", err)
	}
	so.Log = log
	s = &server{
		options: o, config: o.configFile(), log: log, logFile: file, clock: o.Clock, store: store, since: o.Clock.Now(), idles: so.IdleExit,
		path: path, moved: make(chan struct{}, 1), imports: make(chan struct{}, 1), hurry: context.Background(),
		inForce: cfg,
	}
	s.configNews.Store("")
	defer func() {
		if err != nil {
			err = errors.Join(err, s.letGo())
		}
	}()
	if s.door, err = newDoor(o); err != nil {
		return nil, err
	}
	runtimes, closeRuntimes := o.runtimesOf(cfg, so, o.Clock, s.door.path)
	s.closeRuntimes = closeRuntimes
	s.toolbox = mcp.NewToolbox(serversOf(cfg), mcp.ToolboxOptions{Version: o.Version, Getenv: os.Getenv, Now: o.Clock.Now, Log: so.Log})
	s.engine, err = engine.New(store, cfg, engine.Options{
		Version: o.Version, Owner: "serve, pid " + strconv.Itoa(os.Getpid()), Clock: o.Clock, Channels: channelsOf(cfg),
		Runtimes: runtimes, Log: so.Log, KillChild: killChild, Toolbox: s.toolbox,
		Workspace: newFleet(cfg, o.dir()).workspace,
	})
	if err != nil {
		return nil, err
	}
	if err := s.engine.Start(ctx); err != nil {
		return nil, err
	}
	s.listener, err = listen(path)
	return s, err
}

// letGo stops the engine, if it still runs, and all that it uses but the store.
func (s *server) letGo() error {
	if s.engine != nil {
		s.engine.Stop(s.hurry)
	}
	if s.closeRuntimes != nil {
		s.closeRuntimes()
	}
	if s.toolbox != nil {
		s.toolbox.Close()
	}
	var err error
	if s.door != nil {
		err = s.door.close(reasonStopped)
	}
	return errors.Join(err, s.logFile.Close())
}

// channelsOf makes the channels that carry texts out of the process.
func channelsOf(cfg *config.Config) map[string]core.Channel {
	channels := map[string]core.Channel{}
	for name, c := range cfg.Channels {
		switch c.Type {
		case config.ChannelWebhook:
			secret := func() string {
				if c.SecretEnv == "" {
					return ""
				}
				return os.Getenv(c.SecretEnv)
			}
			channels[name] = webhook.New(c.URL, secret)
		case config.ChannelExec:
			channels[name] = &exec.Channel{Command: c.Command}
		}
	}
	return channels
}

// listen makes the socket. Only who holds the store's lock may: so the socket that it takes the place of is nobody's.
func listen(path string) (net.Listener, error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, core.Errorf(core.CodeStoreIO, "the directory of the socket %s cannot be made: %w", path, err)
	}
	return wire.Listen(path)
}

// serve answers until the end, and takes the socket away while it still holds the store. With reloads it also ends when the config has
// changed, and returns the one to go on with.
func (s *server) serve(ctx context.Context, reloads bool) (next *config.Config, err error) {
	defer func() { err = errors.Join(err, s.letGo()) }()
	s.wire = wire.NewServer(s.greet, s.count)
	served := make(chan error, 1)
	go func() { served <- s.wire.Serve(s.listener) }()
	s.door.open(s.greetChild)
	s.log.Info("serving", "socket", s.path, "version", s.options.Version, "pid", os.Getpid())
	idle := make(chan struct{})
	watch, unwatch := context.WithCancel(ctx)
	go func() {
		defer close(idle)
		s.awaitIdle(watch)
	}()
	reloaded := make(chan *config.Config, 1)
	if reloads {
		go func() { reloaded <- s.reloads(watch) }()
	}
	reason := "nobody needed the owner"
	var failed error
	select {
	case next = <-reloaded:
		reason = "the config has changed"
		reloads = false
	case failed = <-served:
		served <- nil
		reason = "the socket failed"
	case <-idle:
		if ctx.Err() != nil {
			reason = reasonStopped
		}
	}
	unwatch()
	<-idle
	if reloads {
		<-reloaded
	}
	s.log.Info("ending", "reason", reason)
	s.draining.Store(true)
	s.engine.Stop(s.hurry) // clients hear how their runs ended
	if err := os.Remove(s.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.log.Warn("the socket stays", "error", err)
	}
	s.wire.Close(reason)
	s.follows.close()
	return next, errors.Join(failed, <-served)
}

// count is told how many connections are open.
func (s *server) count(open int) {
	s.open.Store(int64(open))
	select {
	case s.moved <- struct{}{}:
	default:
	}
}

// awaitIdle returns when nobody has needed the owner for as long as it stays idle, or when ctx ends.
func (s *server) awaitIdle(ctx context.Context) {
	if s.idles <= 0 {
		<-ctx.Done()
		return
	}
	seen, _ := s.needed(ctx)
	for ctx.Err() == nil {
		if s.quiet(ctx) {
			rev, needed := s.needed(ctx)
			if !needed && rev == seen && s.open.Load() == 0 {
				return
			}
			seen = rev
		}
	}
}

// quiet waits as long as the owner stays idle; false when a client came or went meanwhile.
func (s *server) quiet(ctx context.Context) bool {
	wait, cancel := context.WithCancel(ctx)
	defer cancel()
	over := make(chan struct{})
	go func() { // ends with wait
		_ = s.clock.Sleep(wait, s.idles)
		close(over)
	}()
	select {
	case <-over:
		return ctx.Err() == nil
	case <-s.moved:
		cancel()
		<-over
		return false
	}
}

// needed reports whether something runs, is queued or is due soon, and the store's revision.
func (s *server) needed(ctx context.Context) (rev core.Rev, needed bool) {
	err := s.store.View(ctx, func(r core.Reader) error {
		rev = r.Rev()
		if err := r.LiveRuns(func(*core.Run) bool {
			needed = true
			return false
		}); err != nil {
			return err
		}
		return r.Due(s.clock.Now().Add(time.Minute).UnixMilli(), func(core.Due) bool {
			needed = true
			return false
		})
	})
	return rev, needed || err != nil
}
