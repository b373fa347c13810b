package exec

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	osexec "os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"cordboard/core"
)

const (
	defaultGrace = 200 * time.Millisecond
	// What escaped the group and holds the pipes is not waited for longer than this once the command has ended, or was ended.
	drainFor      = time.Second
	drainAtCancel = 200 * time.Millisecond
)

// child is a running command.
type child struct {
	cmd    *osexec.Cmd
	stdout *os.File
	stderr *os.File
	began  uint64        // core.Process.Start
	exited chan struct{} // closed once it is reaped and nothing of its group is left
	err    error         // of Wait

	mu    sync.Mutex
	gone  bool      // its number may belong to another process soon: no more signals
	until time.Time // the pipes are read no longer; zero = as long as they are open
}

// run starts a command on the files of dir and streams what it writes until it has ended.
func (r *Runtime) run(ctx context.Context, cmd *osexec.Cmd, dir string, started func(context.Context, core.Process) error, out core.Sink) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	c, err := start(cmd, dir)
	if err != nil {
		return err
	}
	ended := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(ended)
		c.end(cmp.Or(r.Grace, defaultGrace))
	})
	defer func() {
		if !stop() {
			<-ended
		}
	}()
	tail := make(chan string, 1)
	go func() { tail <- tailOf(c.stderr) }()
	if started != nil {
		if err := started(ctx, core.Process{PGID: cmd.Process.Pid, Start: c.began, Boot: bootID()}); err != nil {
			cancel(err)
		}
	}
	answer := reply{out: out}
	if err := answer.copy(c.stdout); err != nil {
		cancel(err) // the sink takes nothing more
	}
	<-c.exited
	stderr := <-tail
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := answer.close(); err != nil {
		return err
	}
	return outcome(cmd, c.err, stderr)
}

// start starts the command in a group of its own. The thread that starts it lives as long as it does: the system sends the signal of a
// parent's death when that thread ends.
func start(cmd *osexec.Cmd, dir string) (*child, error) {
	c := &child{cmd: cmd, exited: make(chan struct{})}
	stdin, err := os.Open(filepath.Join(dir, messageFile))
	if err != nil {
		return nil, err
	}
	defer stdin.Close()
	stdout, err := c.pipe(&c.stdout)
	if err != nil {
		return nil, err
	}
	defer stdout.Close()
	stderr, err := c.pipe(&c.stderr)
	if err != nil {
		return nil, errors.Join(err, c.stdout.Close())
	}
	defer stderr.Close()
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = stdin, stdout, stderr, attributes()
	started := make(chan error)
	go c.live(started)
	if err := <-started; err != nil {
		return nil, errors.Join(&notStarted{plain(err)}, c.stdout.Close(), c.stderr.Close())
	}
	return c, nil
}

func (c *child) pipe(read **os.File) (write *os.File, err error) {
	*read, write, err = os.Pipe()
	return write, err
}

// live starts the command, waits for its end and sweeps its group.
func (c *child) live(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := c.cmd.Start(); err != nil {
		started <- err
		return
	}
	c.began = startOf(c.cmd.Process.Pid) // until it is reaped the number is its own
	started <- nil
	if awaitExit(c.cmd.Process.Pid) {
		c.sweep()
		c.err = c.cmd.Wait()
	} else {
		c.err = c.cmd.Wait()
		c.sweep()
	}
	c.deadline(drainFor)
	close(c.exited)
}

// sweep kills what is left of the group: nothing of a turn outlives it.
func (c *child) sweep() {
	c.signal(syscall.SIGKILL)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gone = true
}

// end asks the group to end and kills it when it does not.
func (c *child) end(grace time.Duration) {
	c.signal(syscall.SIGTERM)
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-c.exited:
	case <-timer.C:
		c.signal(syscall.SIGKILL)
	}
	c.deadline(drainAtCancel)
}

func (c *child) signal(s syscall.Signal) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.gone {
		_ = syscall.Kill(-c.cmd.Process.Pid, s) // a group that is gone already is no error
	}
}

// deadline bounds how long the pipes are read on. The earliest counts.
func (c *child) deadline(d time.Duration) {
	at := time.Now().Add(d)
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.until.IsZero() && c.until.Before(at) {
		return
	}
	c.until = at
	_ = c.stdout.SetReadDeadline(at) // closed ones are read no more
	_ = c.stderr.SetReadDeadline(at)
}

// outcome is what the command's end means.
func outcome(cmd *osexec.Cmd, err error, stderr string) error {
	failed, ok := errors.AsType[*osexec.ExitError](err)
	if !ok {
		return err
	}
	e := &Exit{Command: cmd.Args[0], Status: failed.ExitCode(), Stderr: stderr}
	if status, ok := failed.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		e.Signal = status.Signal().String()
	}
	return e
}

// maxStderr is how much of the end of standard error is kept, bytes.
const maxStderr = 4 << 10

// tailOf reads to the end and returns the last of it.
func tailOf(r io.ReadCloser) string {
	defer r.Close()
	var tail []byte
	buffer := make([]byte, 8<<10)
	for {
		n, err := r.Read(buffer)
		tail = append(tail, buffer[:n]...)
		if over := len(tail) - maxStderr; over > 0 {
			tail = append(tail[:0], tail[over:]...)
		}
		if err != nil {
			return strings.TrimSpace(strings.ToValidUTF8(string(tail), "\uFFFD"))
		}
	}
}
