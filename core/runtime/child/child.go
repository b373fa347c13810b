// Package child runs local programs that must not outlive what they are for: each in a process group of its own, which is ended with it,
// with its owner (process_linux.go), or by the next owner, who finds it by its record (engine.md §3).
package child

import (
	"errors"
	"io"
	"io/fs"
	"os"
	osexec "os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"cordboard/core"
)

const (
	// What escaped the group and holds the pipes is not waited for longer than this once the command has ended, or was ended.
	drainFor      = time.Second
	drainAtCancel = 200 * time.Millisecond
)

// Child is a running command. Stdout and Stderr are read to their ends and closed by whoever started it.
type Child struct {
	Stdout, Stderr *os.File

	cmd    *osexec.Cmd
	began  uint64        // core.Process.Start
	exited chan struct{} // closed once it is reaped and nothing of its group is left
	err    error         // of Wait

	mu    sync.Mutex
	gone  bool      // its number may belong to another process soon: no more signals
	until time.Time // the pipes are read no longer; zero = as long as they are open
}

// Exited is closed once the command has ended and nothing of its group is left.
func (c *Child) Exited() <-chan struct{} { return c.exited }

// Err is how the command ended, as exec.Cmd.Wait tells it; only once it has exited.
func (c *Child) Err() error { return c.err }

// Process is the child as it can be found again after a crash of its owner.
func (c *Child) Process() core.Process {
	return core.Process{PGID: c.cmd.Process.Pid, Start: c.began, Boot: bootID()}
}

// NotStarted is a command that could not be started, for whatever reason the system gave.
type NotStarted struct{ cause error }

func (n *NotStarted) Error() string { return n.cause.Error() }

// Unwrap returns the system's reason.
func (n *NotStarted) Unwrap() error { return n.cause }

// plain takes the name of the file, which is told anyway, out of a path error.
func plain(err error) error {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return path.Err
	}
	if failed, ok := errors.AsType[*osexec.Error](err); ok {
		return failed.Err
	}
	return err
}

// Start starts a command in a process group of its own, with stdin as its standard input; the caller closes its copy of that. A command
// that cannot be started is a *NotStarted.
//
// The thread that starts it lives as long as it does: the system sends the signal of a parent's death when that thread ends.
func Start(cmd *osexec.Cmd, stdin *os.File) (*Child, error) {
	c := &Child{cmd: cmd, exited: make(chan struct{})}
	stdout, err := c.pipe(&c.Stdout)
	if err != nil {
		return nil, err
	}
	defer stdout.Close()
	stderr, err := c.pipe(&c.Stderr)
	if err != nil {
		return nil, errors.Join(err, c.Stdout.Close())
	}
	defer stderr.Close()
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = stdin, stdout, stderr, attributes()
	started := make(chan error)
	go c.live(started)
	if err := <-started; err != nil {
		return nil, errors.Join(&NotStarted{plain(err)}, c.Stdout.Close(), c.Stderr.Close())
	}
	return c, nil
}

func (c *Child) pipe(read **os.File) (write *os.File, err error) {
	*read, write, err = os.Pipe()
	return write, err
}

// live starts the command, waits for its end and sweeps its group.
func (c *Child) live(started chan<- error) {
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
func (c *Child) sweep() {
	c.signal(syscall.SIGKILL)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gone = true
}

// End asks the group to end, and kills it when it does not within the grace.
func (c *Child) End(grace time.Duration) {
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

func (c *Child) signal(s syscall.Signal) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.gone {
		_ = syscall.Kill(-c.cmd.Process.Pid, s) // a group that is gone already is no error
	}
}

// deadline bounds how long the pipes are read on. The earliest counts.
func (c *Child) deadline(d time.Duration) {
	at := time.Now().Add(d)
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.until.IsZero() && c.until.Before(at) {
		return
	}
	c.until = at
	_ = c.Stdout.SetReadDeadline(at) // closed ones are read no more
	_ = c.Stderr.SetReadDeadline(at)
}

// maxStderr is how much of the end of standard error is kept, bytes.
const maxStderr = 4 << 10

// Tail reads to the end, which it closes, and returns the last 4 KiB of it as text.
func Tail(r io.ReadCloser) string {
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
