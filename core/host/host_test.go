package host_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"cordboard/core"
	"cordboard/core/host"
	"cordboard/testdata/mcpserver"
)

const build = "test"

// The test binary is also the program that owners are started from.
func TestMain(m *testing.M) {
	if mcpserver.Asked() {
		mcpserver.Main()
		return
	}
	if len(os.Args) > 1 && os.Args[1] == "serve" {
		os.Exit(serveAs(os.Args[2:]))
	}
	goleak.VerifyTestMain(m)
}

// serveAs is `serve --idle-exit D --data DIR [--config FILE]`.
func serveAs(args []string) int {
	o := host.Options{Version: build}
	var so host.ServeOptions
	for i := 0; i+1 < len(args); i += 2 {
		switch args[i] {
		case "--idle-exit":
			so.IdleExit, _ = time.ParseDuration(args[i+1])
		case "--data":
			o.Dir = args[i+1]
		case "--config":
			o.ConfigPath, o.ConfigGiven = args[i+1], true
		}
	}
	so.Log = slog.New(slog.NewJSONHandler(os.Stderr, nil))
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if err := host.Serve(ctx, o, so); err != nil {
		fmt.Fprintln(os.Stderr, "cordboard:", err)
		return 1
	}
	return 0
}

// options are those of a new store under the defaults.
func options(t testing.TB) host.Options {
	t.Helper()
	o := place(t)
	h, err := host.Own(t.Context(), o)
	require.NoError(t, err)
	require.NoError(t, h.Close())
	return o
}

// place is a data directory without a store.
func place(t testing.TB) host.Options {
	t.Helper()
	program, err := os.Executable()
	require.NoError(t, err)
	o := host.Options{Dir: filepath.Join(t.TempDir(), "D"), ConfigGiven: true, Version: build, Program: []string{program}}
	t.Cleanup(func() {
		_, err := host.Stop(context.Background(), o)
		require.NoError(t, err)
	})
	return o
}

// owner is one that lives in this process.
type owner struct {
	stop context.CancelFunc
	done chan error
}

func serve(t testing.TB, o host.Options, so host.ServeOptions) *owner {
	t.Helper()
	so.Log = slog.New(slog.NewTextHandler(io.Discard, nil))
	ctx, stop := context.WithCancel(context.Background())
	s := &owner{stop: stop, done: make(chan error, 1)}
	go func() { s.done <- host.Serve(ctx, o, so) }()
	t.Cleanup(stop)
	return s
}

// attached is a board of the store's owner, which is started when there is none.
func attached(t testing.TB, o host.Options) core.Board {
	t.Helper()
	h, err := host.Attach(t.Context(), o)
	require.NoError(t, err)
	b, err := h.Board(t.Context(), core.Operator)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, b.Close())
		require.NoError(t, h.Close())
	})
	return b
}

func send(ctx context.Context, b core.Board, key, message string) (core.Receipt, error) {
	return b.Do(ctx, core.Command{Key: key, Send: &core.Send{Session: "agent:main:main", Message: message}})
}

func wait(ctx context.Context, b core.Board, run string) (core.Run, string, error) {
	page, err := b.Records(ctx, core.RecordQuery{Kind: core.RecordRun, Run: run, Wait: 60_000})
	if err != nil {
		return core.Run{}, "", err
	}
	return page.Runs[0], page.Reply, nil
}

func modeOf(t *testing.T, path string) os.FileMode {
	t.Helper()
	info, err := os.Stat(path)
	require.NoError(t, err)
	return info.Mode().Perm()
}

// Without an owner a reader opens the file and starts nobody; who needs one starts it, and then everybody uses it. What it leaves on the
// disk is private.
func TestOwnerIsStartedByNeed(t *testing.T) {
	absent := place(t)
	for _, open := range []func(context.Context, host.Options) (*host.Host, error){host.Read, host.Attach} {
		_, err := open(t.Context(), absent)
		assert.Equal(t, core.CodeStoreMissing, core.CodeOf(err), "a directory that was named may have been mistyped")
	}
	assert.NoDirExists(t, absent.Dir)
	o := options(t)
	b := attached(t, o)
	info, err := b.Info(t.Context())
	require.NoError(t, err)
	assert.Contains(t, info.Owner, "serve, pid ")
	assert.Empty(t, info.Missing)
	sent, err := send(t.Context(), b, "", "hello")
	require.NoError(t, err)
	_, reply, err := wait(t.Context(), b, sent.Run)
	require.NoError(t, err)
	assert.Equal(t, "hello", reply)

	h, err := host.Read(t.Context(), o)
	require.NoError(t, err)
	assert.True(t, h.Attached())
	require.NoError(t, h.Close())
	var status host.Status
	for status.Clients != 1 { // the owner hears a moment later that a client has gone
		status, err = host.StatusOf(t.Context(), o)
		require.NoError(t, err)
	}
	assert.NotEqual(t, os.Getpid(), status.PID)

	assert.Equal(t, os.FileMode(0o700), modeOf(t, o.Dir))
	assert.Equal(t, os.FileMode(0o600), modeOf(t, filepath.Join(o.Dir, "cordboard.sock")))
	assert.Equal(t, os.FileMode(0o600), modeOf(t, filepath.Join(o.Dir, "log", "serve.log")))
	assert.Equal(t, os.FileMode(0o700), modeOf(t, filepath.Join(o.Dir, "log")))

	_, err = host.Own(t.Context(), host.Options{Dir: o.Dir, ConfigGiven: true, LockWait: -1})
	assert.Equal(t, core.CodeStoreLocked, core.CodeOf(err), "the store has one owner")
}

// Many who need an owner at once get the same one.
func TestOneOwnerForMany(t *testing.T) {
	o := options(t)
	var all sync.WaitGroup
	var mu sync.Mutex
	owners := map[string]bool{}
	for range 8 {
		all.Go(func() {
			h, err := host.Attach(t.Context(), o)
			if !assert.NoError(t, err) {
				return
			}
			defer h.Close()
			b, err := h.Board(t.Context(), core.Operator)
			if !assert.NoError(t, err) {
				return
			}
			defer b.Close()
			info, err := b.Info(t.Context())
			assert.NoError(t, err)
			mu.Lock()
			defer mu.Unlock()
			owners[info.Owner] = true
		})
	}
	all.Wait()
	assert.Len(t, owners, 1)
}

// An owner that nobody needs ends; not while a client is there or a run lives.
func TestIdleExit(t *testing.T) {
	o := options(t)
	s := serve(t, o, host.ServeOptions{IdleExit: 50 * time.Millisecond})
	o.Program = nil // from here on nobody starts one
	require.Eventually(t, func() bool { return host.Exists(o) }, time.Minute, time.Millisecond)
	h := eventually(t, o)
	b, err := h.Board(t.Context(), core.Operator)
	require.NoError(t, err)
	sent, err := send(t.Context(), b, "", "[[sleep:200ms]][[say:done]]")
	require.NoError(t, err)
	_, reply, err := wait(t.Context(), b, sent.Run)
	require.NoError(t, err)
	assert.Equal(t, "done", reply, "a client keeps it")
	_, err = send(t.Context(), b, "last", "[[sleep:200ms]][[say:alone]]")
	require.NoError(t, err)
	require.NoError(t, b.Close())
	require.NoError(t, h.Close())
	require.NoError(t, <-s.done)
	r, err := host.Read(t.Context(), o)
	require.NoError(t, err)
	defer r.Close()
	assert.False(t, r.Attached())
	read, err := r.Board(t.Context(), core.Operator)
	require.NoError(t, err)
	run, err := read.Records(t.Context(), core.RecordQuery{Kind: core.RecordRun, Run: "last"})
	require.NoError(t, err)
	assert.Equal(t, "alone", run.Reply, "a live run keeps it")
	assert.NoFileExists(t, filepath.Join(o.Dir, "cordboard.sock"))
}

// eventually attaches to an owner that is about to be there.
func eventually(t *testing.T, o host.Options) *host.Host {
	t.Helper()
	for {
		h, err := host.Attach(t.Context(), o)
		if err == nil {
			return h
		}
		require.ErrorContains(t, err, "nobody owns")
	}
}

// Another version is told who is there and what to do; it can stop the owner.
func TestVersions(t *testing.T) {
	o := options(t)
	attached(t, o)
	other := o
	other.Version = "newer"
	for _, open := range []func(context.Context, host.Options) (*host.Host, error){host.Read, host.Attach, host.OwnOrAttached} {
		_, err := open(t.Context(), other)
		assert.Equal(t, core.CodeVersion, core.CodeOf(err))
		assert.ErrorContains(t, err, "cordboard test")
		assert.ErrorContains(t, err, "newer")
		assert.ErrorContains(t, err, "serve --stop")
	}
	pid, err := host.Stop(t.Context(), other)
	require.NoError(t, err)
	assert.NotZero(t, pid)
	pid, err = host.Stop(t.Context(), other)
	require.NoError(t, err)
	assert.Zero(t, pid)
}

// A config that was asked for by name and is not the owner's is refused; who names none takes the owner's.
func TestConfigs(t *testing.T) {
	o := options(t)
	file := filepath.Join(t.TempDir(), "c.json5")
	require.NoError(t, os.WriteFile(file, []byte(`{agents: {list: [{id: "main"}, {id: "ops"}]}}`), 0o600))
	o.ConfigPath = file
	attached(t, o)
	named := o
	named.ConfigPath = ""
	_, err := host.Read(t.Context(), named)
	assert.Equal(t, core.CodeConfig, core.CodeOf(err))
	assert.ErrorContains(t, err, file)
	named.ConfigGiven = false
	h, err := host.Read(t.Context(), named)
	require.NoError(t, err)
	require.NoError(t, h.Close())
}

// A store that somebody holds who answers nobody is an error that names the file, soon (R190, R191, R193).
func TestStoreIsHeld(t *testing.T) {
	o := options(t)
	held, err := host.Own(t.Context(), o)
	require.NoError(t, err)
	began := time.Now()
	for _, open := range []func(context.Context, host.Options) (*host.Host, error){host.Read, host.Attach} {
		_, err := open(t.Context(), o)
		assert.Equal(t, core.CodeStoreLocked, core.CodeOf(err))
		assert.ErrorContains(t, err, filepath.Join(o.Dir, "cordboard.db"))
		assert.ErrorContains(t, err, fmt.Sprint(os.Getpid()))
	}
	assert.Less(t, time.Since(began), time.Minute)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = host.Attach(ctx, o)
	assert.ErrorIs(t, err, context.Canceled)
	require.NoError(t, held.Close())
}

// hasty is a clock on which ten seconds are over at once.
type hasty struct{}

func (hasty) Now() time.Time { return time.Now() }

func (hasty) Sleep(ctx context.Context, d time.Duration) error {
	if d == 10*time.Second {
		return nil
	}
	<-ctx.Done()
	return ctx.Err()
}

// An owner that takes the connection and then says nothing, since it is suspended, is named and holds up nobody for ever.
func TestOwnerThatSaysNothing(t *testing.T) {
	o := options(t)
	listener, err := net.Listen("unix", filepath.Join(o.Dir, "cordboard.sock"))
	require.NoError(t, err)
	defer listener.Close()
	held, err := host.Own(t.Context(), o)
	require.NoError(t, err)
	defer held.Close()
	o.Clock = hasty{}
	for _, open := range []func(context.Context, host.Options) (*host.Host, error){host.Read, host.Attach} {
		_, err := open(t.Context(), o)
		assert.ErrorContains(t, err, fmt.Sprintf("the owner of the store (pid %d) does not answer for 10s", os.Getpid()))
	}
}

// An owner that cannot start says why to whoever wanted it, and is not started for ever.
func TestOwnerFails(t *testing.T) {
	o := options(t)
	broken := o
	broken.Program = []string{"/bin/sh", "-c", "echo cordboard: no legs >&2; exit 1"}
	_, err := host.Attach(t.Context(), broken)
	assert.ErrorContains(t, err, "no legs")
	assert.ErrorContains(t, err, "serve.log")
	broken.Program = []string{filepath.Join(t.TempDir(), "absent")}
	_, err = host.Attach(t.Context(), broken)
	assert.ErrorContains(t, err, "cannot be started")

	file := filepath.Join(o.Dir, "cordboard.db")
	require.NoError(t, os.WriteFile(file, []byte(strings.Repeat("no store ", 2000)), 0o600))
	_, err = host.Attach(t.Context(), o)
	assert.Equal(t, core.CodeStoreForeign, core.CodeOf(err))
	require.NoError(t, os.Remove(file))
}

// A stop that was asked for gives the store to whoever wants it next: an open board waits a moment before it starts another owner, then
// goes on.
func TestStopMakesWay(t *testing.T) {
	o := options(t)
	b := attached(t, o)
	stream, err := b.Watch(t.Context(), core.Cursor{})
	require.NoError(t, err)
	next := make(chan error, 1)
	go func() {
		_, err := stream.Next(t.Context())
		next <- err
	}()
	_, err = host.Stop(t.Context(), o)
	require.NoError(t, err)
	mine, err := host.Own(t.Context(), o)
	require.NoError(t, err, "the board has not taken it back")
	require.NoError(t, mine.Close())
	_, err = send(t.Context(), b, "", "again")
	require.NoError(t, err)
	require.NoError(t, <-next)
}

// An owner that is suspended is woken to hear that it is to go.
func TestStopOfTheSuspended(t *testing.T) {
	o := options(t)
	attached(t, o)
	status, err := host.StatusOf(t.Context(), o)
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(status.PID, syscall.SIGSTOP))
	pid, err := host.Stop(t.Context(), o)
	require.NoError(t, err)
	assert.Equal(t, status.PID, pid)
}

// Import, export, backup and doctor are the same through an owner.
func TestWorkOnTheStore(t *testing.T) {
	const fleet = "../../testdata/openclaw"
	direct, through := options(t), options(t)
	attached(t, through)
	var exports, reports [2]string
	for i, o := range []host.Options{direct, through} {
		h, err := host.OwnOrAttached(t.Context(), o)
		require.NoError(t, err)
		assert.Equal(t, i == 1, h.Attached())
		steps := 0
		report, err := h.Import(t.Context(), fleet, host.ImportOptions{Progress: func(host.ImportProgress) { steps++ }})
		require.NoError(t, err)
		assert.Positive(t, steps)
		reports[i] = fmt.Sprintf("%+v", report)
		var out strings.Builder
		require.NoError(t, h.Export(t.Context(), "agent:ops:main", &out))
		exports[i] = out.String()
		assert.Equal(t, core.CodeNotFound, core.CodeOf(h.Export(t.Context(), "agent:ops:nobody", io.Discard)))
		copied := filepath.Join(t.TempDir(), "copy.db")
		f, err := os.Create(copied)
		require.NoError(t, err)
		require.NoError(t, h.Backup(t.Context(), f))
		require.NoError(t, f.Close())
		full := &limited{left: 10}
		assert.ErrorIs(t, h.Backup(t.Context(), full), errFull, "an error of the writer ends it")
		require.NoError(t, h.Close())
		restored := place(t)
		require.NoError(t, host.Restore(t.Context(), restored, copied))
		found, err := host.Doctor(t.Context(), restored)
		require.NoError(t, err)
		assert.Empty(t, found.Findings)
		assert.Equal(t, 23, found.Sessions)
		found, err = host.Doctor(t.Context(), o)
		require.NoError(t, err)
		assert.Empty(t, found.Findings)
		assert.Equal(t, 23, found.Sessions)
	}
	assert.Equal(t, reports[0], reports[1])
	assert.Equal(t, exports[0], exports[1])
	_, err := host.Compact(t.Context(), through, func(int64, int64) {})
	assert.Equal(t, core.CodeStoreLocked, core.CodeOf(err), "a client is there")
	assert.ErrorContains(t, err, "serve --stop")
}

var errFull = fmt.Errorf("full")

type limited struct{ left int }

func (l *limited) Write(p []byte) (int, error) {
	if l.left -= len(p); l.left < 0 {
		return 0, errFull
	}
	return len(p), nil
}

// An import through an owner ends with its caller.
func TestImportIsCancelled(t *testing.T) {
	o := options(t)
	attached(t, o)
	h, err := host.OwnOrAttached(t.Context(), o)
	require.NoError(t, err)
	defer h.Close()
	ctx, cancel := context.WithCancel(t.Context())
	_, err = h.Import(ctx, "../../testdata/openclaw", host.ImportOptions{Progress: func(host.ImportProgress) { cancel() }})
	if err != nil { // it may have been done before it heard
		assert.ErrorIs(t, err, context.Canceled)
	}
	report, err := h.Import(t.Context(), "../../testdata/openclaw", host.ImportOptions{})
	require.NoError(t, err)
	assert.Equal(t, 23, report.Sessions.Added+report.Sessions.Unchanged+report.Sessions.Changed)
}

// A draining owner starts no more runs, keeps what comes for the next one and tells its clients how theirs ended.
func TestDrain(t *testing.T) {
	o := options(t)
	file := filepath.Join(t.TempDir(), "c.json5")
	require.NoError(t, os.WriteFile(file, []byte(`{engine: {drain: "100ms"}}`), 0o600))
	o.ConfigPath = file
	b := attached(t, o)
	long, err := send(t.Context(), b, "", "[[sleep:10m]]")
	require.NoError(t, err)
	queued, err := send(t.Context(), b, "", "later")
	require.NoError(t, err)
	began(t, b, long.Run)
	_, err = host.Stop(t.Context(), o)
	require.NoError(t, err)
	run, _, err := wait(t.Context(), b, long.Run)
	require.NoError(t, err)
	assert.Equal(t, core.OutcomeInterrupted, run.Outcome)
	run, reply, err := wait(t.Context(), b, queued.Run)
	require.NoError(t, err)
	assert.Equal(t, core.OutcomeOK, run.Outcome, run.Error)
	assert.Equal(t, "later", reply)
}

// began returns when a run has begun.
func began(t testing.TB, b core.Board, id string) {
	t.Helper()
	for {
		page, err := b.Records(t.Context(), core.RecordQuery{Kind: core.RecordRun, Run: id})
		require.NoError(t, err)
		if page.Runs[0].State != core.RunQueued {
			return
		}
	}
}

// An owner follows a directory in a client's stead, once, for as long as that wants it.
func TestFollowThroughAnOwner(t *testing.T) {
	o := options(t)
	attached(t, o)
	dir := filepath.Join(t.TempDir(), "fleet")
	require.NoError(t, os.CopyFS(dir, os.DirFS("../../testdata/openclaw")))
	h, err := host.OwnOrAttached(t.Context(), o)
	require.NoError(t, err)
	events := make(chan host.FollowEvent, 100)
	ctx, cancel := context.WithCancel(t.Context())
	ended, err := h.Follow(ctx, dir, host.FollowOptions{Event: func(e host.FollowEvent) { events <- e }})
	require.NoError(t, err)
	started := <-events
	for started.Kind == host.FollowBlind {
		started = <-events
	}
	assert.Equal(t, host.FollowStarted, started.Kind)
	require.NotNil(t, started.Report)
	assert.Equal(t, 23, started.Report.Sessions.Added)

	second, err := host.OwnOrAttached(t.Context(), o)
	require.NoError(t, err)
	_, err = second.Follow(t.Context(), dir, host.FollowOptions{})
	assert.Equal(t, core.CodeConflict, core.CodeOf(err))
	assert.ErrorContains(t, err, "is followed already")
	require.NoError(t, second.Close())

	cancel()
	require.NoError(t, <-ended)
	require.NoError(t, h.Close())
}
