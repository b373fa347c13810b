// Package exec carries texts by running a command (engine.md §5): the text on standard input, the route in the environment. A command
// cannot be asked whether it has done its work, so an attempt that nobody saw end is repeated by the operator only.
package exec

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"cordboard/core"
)

// Channel is one command.
type Channel struct {
	Command []string // argv; must not be empty
}

const (
	grace   = 500 * time.Millisecond // after a kill, for pipes that something still holds
	maxTail = 4 << 10                // bytes of what the command printed that are kept
)

// Deliver implements core.Channel: exit status 0 is a delivery.
func (c *Channel) Deliver(ctx context.Context, d core.Delivery) error {
	_, err := c.run(ctx, d.Text, append(routeEnv(d.Route), "CORDBOARD_OP=deliver", "CORDBOARD_DELIVERY_ID="+d.ID, "CORDBOARD_SESSION_KEY="+d.SessionKey))
	return err
}

// OpenThread implements core.Channel: the command prints the thread's id.
func (c *Channel) OpenThread(ctx context.Context, route core.DeliveryContext, title string) (string, error) {
	out, err := c.run(ctx, title, append(routeEnv(route), "CORDBOARD_OP=thread.open"))
	if err != nil {
		return "", err
	}
	if id := strings.TrimSpace(out); id != "" {
		return id, nil
	}
	return "", errors.New("the command opened no thread: it must print the thread's id")
}

// Unbind implements core.Channel.
func (c *Channel) Unbind(ctx context.Context, route core.DeliveryContext) error {
	_, err := c.run(ctx, "", append(routeEnv(route), "CORDBOARD_OP=thread.unbind"))
	return err
}

func routeEnv(r core.DeliveryContext) []string {
	return []string{
		"CORDBOARD_CHANNEL=" + r.Channel, "CORDBOARD_TO=" + r.To, "CORDBOARD_ACCOUNT_ID=" + r.AccountID, "CORDBOARD_THREAD_ID=" + r.ThreadID,
	}
}

// run runs the command in a process group of its own, which is killed as a whole when ctx ends. NUL bytes, which no environment can hold,
// are refused by the system.
func (c *Channel) run(ctx context.Context, input string, env []string) (string, error) {
	cmd := exec.CommandContext(ctx, c.Command[0], c.Command[1:]...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdin = strings.NewReader(input)
	var out, errs tail
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = grace
	err := cmd.Run()
	switch {
	case err == nil, errors.Is(err, exec.ErrWaitDelay): // it ended well, whatever it left running: a text that is out must not go out again
		return out.String(), nil
	case ctx.Err() != nil:
		return "", fmt.Errorf("%s: %w", c.Command[0], ctx.Err())
	}
	return "", c.failure(err, strings.TrimSpace(errs.String()))
}

// failure is why the command did not do its work, in one line.
func (c *Channel) failure(err error, said string) error {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		err = path.Err // the path is the command, which is named
	}
	if said == "" {
		return fmt.Errorf("%s: %w", c.Command[0], err)
	}
	return fmt.Errorf("%s: %w: %s", c.Command[0], err, said)
}

// tail keeps the last bytes written to it. The buffer is not embedded: its other ways in would keep everything.
type tail struct{ buf bytes.Buffer }

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	n, err := t.buf.Write(p)
	if over := t.buf.Len() - maxTail; over > 0 {
		t.buf.Next(over)
	}
	return n, err
}

func (t *tail) String() string { return t.buf.String() }
