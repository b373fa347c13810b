package exec_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"cordboard/core"
	"cordboard/core/runtime/exec"
)

func TestMain(m *testing.M) {
	if os.Getenv(ownerFifo) != "" {
		owner()
		return
	}
	goleak.VerifyTestMain(m)
}

// sink takes a reply; ready is closed at its first text.
type sink struct {
	core.Sink
	mu    sync.Mutex
	text  strings.Builder
	ready chan struct{}
	err   error
}

func newSink() *sink { return &sink{ready: make(chan struct{})} }

func (s *sink) Text(delta string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.text.Len() == 0 {
		close(s.ready)
	}
	s.text.WriteString(delta)
	return s.err
}

func (s *sink) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// script is a runtime whose agent runs a script of testdata.
func script(t testing.TB, name string, args ...string) (exec.Runtime, *exec.Agent) {
	file, err := filepath.Abs(filepath.Join("..", "..", "..", "testdata", "runtime", "exec", name))
	require.NoError(t, err)
	a := &exec.Agent{ID: "worker", Command: append([]string{"sh", file}, args...), Workspace: filepath.Join(t.TempDir(), "deep", "workspace")}
	return exec.Runtime{
		Agent: func(*core.Session) exec.Agent { return *a },
		Environ: func() []string {
			return append(os.Environ(), "OWNER_SECRET=hush", "CORDBOARD_TOKEN=the operator's")
		},
		TempDir: t.TempDir(),
	}, a
}

func turn(message string) core.Turn {
	return core.Turn{
		Run:     core.Run{ID: "run-1", SessionID: "sid", Kind: core.RunChat, Message: message},
		Session: core.Session{Key: "agent:worker:main"},
	}
}

// fifo makes a named pipe and returns its path.
func fifo(t testing.TB) string {
	path := filepath.Join(t.TempDir(), "fifo")
	require.NoError(t, syscall.Mkfifo(path, 0o600))
	return path
}

// untilClosed waits until nobody has the fifo open any more, having waited until somebody had.
func untilClosed(t testing.TB, path string) <-chan string {
	done := make(chan string, 1)
	go func() {
		text, err := os.ReadFile(path)
		if err != nil {
			text = []byte(err.Error())
		}
		done <- string(text)
	}()
	return done
}

func TestWhatACommandIsTold(t *testing.T) {
	r, a := script(t, "answer.sh")
	a.Env = map[string]string{"EXTRA": "more", "CORDBOARD_RUN_ID": "not mine"}
	r.Socket = "/run/cordboard.sock"
	given := turn("hello <b>\nworld ✓")
	given.Token = func() string { return "token-of-run-1" }
	given.Context = "Messages between agents."
	given.Run.Provenance = &core.Provenance{Kind: "inter_session", SourceSessionKey: "agent:main:main"}
	given.History = slices.Values([]core.Message{
		{Raw: json.RawMessage(`{"role":"assistant","content":"second"}`)},
		{Raw: json.RawMessage(`{"role":"user","content":"first"}`)},
		{Raw: json.RawMessage(`{"role":"user","content":"` + strings.Repeat("x", exec.MaxHistory) + `"}`)},
	})
	s := newSink()
	_, err := r.Turn(t.Context(), given, s)
	require.NoError(t, err)
	head, file, _ := strings.Cut(s.String(), "\nfile: ")
	assert.Equal(t, strings.Join([]string{
		"message: hello <b>", "world ✓", "session: agent:worker:main", "run: run-1", "agent: worker", "extra: more", "socket: /run/cordboard.sock",
		"token: token-of-run-1", "secret: hush", "pwd: " + a.Workspace, "mode: 600 700",
	}, "\n"), head)
	path, context, _ := strings.Cut(file, "\n")
	assert.NoFileExists(t, path)
	left, err := os.ReadDir(r.TempDir)
	require.NoError(t, err)
	assert.Empty(t, left)
	assert.JSONEq(t, `{"runId":"run-1","kind":"chat","sessionKey":"agent:worker:main","sessionId":"sid","agentId":"worker","message":"hello <b>\nworld ✓",
		"context":"Messages between agents.","provenance":{"kind":"inter_session","sourceSessionKey":"agent:main:main"},
		"messages":[{"role":"user","content":"first"},{"role":"assistant","content":"second"}],"cut":true}`, context)
}

// A sandboxed child runs behind its prefix and gets little of the owner's environment.
func TestSandbox(t *testing.T) {
	r, a := script(t, "answer.sh")
	a.Sandboxed, a.Sandbox = true, []string{"env", "EXTRA=from the sandbox"}
	s := newSink()
	_, err := r.Turn(t.Context(), turn("x"), s)
	require.NoError(t, err)
	assert.Contains(t, s.String(), "extra: from the sandbox\nsocket: \ntoken: \nsecret: \n")

	a.Sandbox = nil
	_, err = r.Turn(t.Context(), turn("x"), newSink())
	refused(t, err, "agents.list[].sandbox.command", "sandbox command")
}

func refused(t *testing.T, err error, key, text string) {
	t.Helper()
	failed, ok := errors.AsType[*core.Error](err)
	require.True(t, ok, "%v", err)
	assert.Equal(t, core.CodeConfig, failed.Code)
	assert.Equal(t, key, failed.ConfigKey)
	assert.Contains(t, failed.Message, text)
}

func TestCannotStart(t *testing.T) {
	r, a := script(t, "answer.sh")
	a.Command = nil
	_, err := r.Turn(t.Context(), turn("x"), newSink())
	refused(t, err, "agents.list[].runtime.command", "no command")
	for command, why := range map[string]string{"no-such-command-here": "not found", "/nowhere/at/all": "no such file", "/dev/null": "permission denied"} {
		a.Command = []string{command}
		_, err = r.Turn(t.Context(), turn("x"), newSink())
		refused(t, err, "agents.list[].runtime.command", why)
	}
	a.Command, a.Workspace = []string{"true"}, "/dev/null/x"
	_, err = r.Turn(t.Context(), turn("x"), newSink())
	refused(t, err, "agents.list[].workspace", "not a directory")

	a.Workspace, r.TempDir = "", filepath.Join(t.TempDir(), "missing")
	_, err = r.Turn(t.Context(), turn("x"), newSink())
	require.ErrorContains(t, err, "no place for the context")
}

// The exit status is the outcome; a message that nobody reads, however long, holds nothing up.
func TestOddEnds(t *testing.T) {
	for how, want := range map[string]exec.Exit{
		"3": {Command: "sh", Status: 3, Stderr: "the reason"}, "255": {Command: "sh", Status: 255, Stderr: "the reason"},
		"KILL": {Command: "sh", Status: -1, Signal: "killed", Stderr: "the reason"}, "SEGV": {Command: "sh", Status: -1, Signal: "segmentation fault", Stderr: "the reason"},
	} {
		r, _ := script(t, "odd.sh", how)
		s := newSink()
		_, err := r.Turn(t.Context(), turn(strings.Repeat("long ", 2<<20)), s)
		failed, ok := errors.AsType[*exec.Exit](err)
		require.True(t, ok, "%s: %v", how, err)
		assert.Equal(t, want, *failed)
		assert.Equal(t, "so far", s.String())
		assert.Contains(t, err.Error(), "the reason")
	}
	r, _ := script(t, "odd.sh", "0")
	s := newSink()
	_, err := r.Turn(t.Context(), turn(""), s)
	require.NoError(t, err)
	assert.Equal(t, "so far", s.String())
}

func TestGarbledOutput(t *testing.T) {
	r, _ := script(t, "garbled.sh")
	s := newSink()
	_, err := r.Turn(t.Context(), turn(""), s)
	require.NoError(t, err)
	assert.Equal(t, "a\uFFFDb ✓ é\r\n\nc\n\n\uFFFD\uFFFD", s.String())
}

// A gigabyte is read and dropped but for the first MiB; the reply says so, the error has the end of what was complained.
func TestFlood(t *testing.T) {
	r, _ := script(t, "flood.sh")
	s := newSink()
	_, err := r.Turn(t.Context(), turn(""), s)
	failed, ok := errors.AsType[*exec.Exit](err)
	require.True(t, ok, "%v", err)
	assert.Equal(t, 3, failed.Status)
	assert.Equal(t, strings.Repeat("e", 4092)+"end", failed.Stderr)
	text, told, _ := strings.Cut(s.String(), "\n")
	assert.Len(t, text, exec.MaxReply)
	assert.Equal(t, fmt.Sprintf("[cut: the command wrote %d bytes more than the %d that a reply may have]", 1<<30-exec.MaxReply, exec.MaxReply), told)
}

// Cancel ends the whole group, also one that ignores TERM: nobody holds its fifo any more once the turn is over.
func TestCancelStubbornGroup(t *testing.T) {
	held := fifo(t)
	closed := untilClosed(t, held)
	r, _ := script(t, "stubborn.sh", held)
	ctx, cancel := context.WithCancelCause(t.Context())
	s, aborted := newSink(), errors.New("aborted")
	go func() {
		<-s.ready
		cancel(aborted)
	}()
	_, err := r.Turn(ctx, turn(""), s)
	require.ErrorIs(t, err, aborted)
	assert.Equal(t, "ready", s.String())
	assert.Equal(t, "there\n", <-closed)
}

// A command that ends when it is asked may say something first.
func TestCancelPolite(t *testing.T) {
	r, _ := script(t, "polite.sh")
	r.Grace = time.Hour
	ctx, cancel := context.WithCancel(t.Context())
	s := newSink()
	go func() {
		<-s.ready
		cancel()
	}()
	_, err := r.Turn(ctx, turn(""), s)
	require.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, "ready\nasked to go", s.String())
}

// What a command leaves behind in its group ends with it, though it holds the output.
func TestOrphanIsSwept(t *testing.T) {
	held := fifo(t)
	open := held + ".open"
	require.NoError(t, syscall.Mkfifo(open, 0o600))
	closed := make(chan error, 1)
	go func() {
		reader, err := os.Open(held) // the child is there
		if err == nil {
			err = errors.Join(os.WriteFile(open, []byte("go on\n"), 0o600), readOut(reader))
		}
		closed <- err
	}()
	r, _ := script(t, "orphan.sh", held)
	s := newSink()
	_, err := r.Turn(t.Context(), turn(""), s)
	require.NoError(t, err)
	assert.Equal(t, "done, but for my child", s.String())
	require.NoError(t, <-closed)
}

func readOut(f *os.File) error {
	defer f.Close()
	_, err := f.WriteTo(new(strings.Builder))
	return err
}

// What left the group cannot be found, but it holds the turn up only for a while.
func TestEscapedChild(t *testing.T) {
	held := fifo(t)
	require.NoError(t, syscall.Mkfifo(held+".open", 0o600))
	r, _ := script(t, "escape.sh", held)
	s := newSink()
	_, err := r.Turn(t.Context(), turn(""), s)
	require.NoError(t, err)
	assert.Equal(t, "done", s.String())
	require.NoError(t, os.WriteFile(held, []byte("go\n"), 0o600)) // blocks unless it still lives
}

// A sink that takes no more ends the command.
func TestFencedSink(t *testing.T) {
	held := fifo(t)
	closed := untilClosed(t, held)
	r, _ := script(t, "stubborn.sh", held)
	s := newSink()
	s.err = core.Errorf(core.CodeConflict, "the run has ended")
	_, err := r.Turn(t.Context(), turn(""), s)
	require.ErrorIs(t, err, s.err)
	<-closed
}

// Whoever records children is told of each; when it cannot record, there is no turn.
func TestStarted(t *testing.T) {
	r, _ := script(t, "odd.sh", "0")
	var told core.Process
	given := turn("")
	given.Started = func(_ context.Context, p core.Process) error {
		told = p
		return nil
	}
	_, err := r.Turn(t.Context(), given, newSink())
	require.NoError(t, err)
	assert.Greater(t, told.PGID, 1)
	assert.Positive(t, told.Start)

	full := errors.New("disk full")
	r, _ = script(t, "polite.sh")
	given.Started = func(context.Context, core.Process) error { return full }
	_, err = r.Turn(t.Context(), given, newSink())
	require.ErrorIs(t, err, full)
}

// ownerFifo tells a copy of this test that it is an owner to be killed, and the fifo its child holds.
const ownerFifo = "EXEC_TEST_OWNER_FIFO"

// owner plays one turn that does not end, and tells what it recorded.
func owner() {
	r := exec.Runtime{
		Agent: func(*core.Session) exec.Agent {
			return exec.Agent{ID: "worker", Command: strings.Split(os.Getenv("EXEC_TEST_COMMAND"), " ")}
		},
		Environ: os.Environ,
		TempDir: os.Getenv("EXEC_TEST_DIR"),
	}
	given := turn("")
	given.Started = func(_ context.Context, p core.Process) error {
		_, err := fmt.Println(strconv.Itoa(p.PGID), p.Start, p.Boot)
		return err
	}
	_, err := r.Turn(context.Background(), given, newSink())
	fmt.Println("over", err)
}
