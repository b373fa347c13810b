package exec

import (
	"cmp"
	"context"
	"errors"
	"os"
	osexec "os/exec"
	"path/filepath"
	"syscall"
	"time"

	"cordboard/core"
	"cordboard/core/runtime/child"
)

const defaultGrace = 200 * time.Millisecond

// run starts a command on the files of dir and streams what it writes until it has ended.
func (r *Runtime) run(ctx context.Context, cmd *osexec.Cmd, dir string, started func(context.Context, core.Process) error, out core.Sink) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stdin, err := os.Open(filepath.Join(dir, messageFile))
	if err != nil {
		return err
	}
	defer stdin.Close()
	c, err := child.Start(cmd, stdin)
	if err != nil {
		return err
	}
	ended := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(ended)
		c.End(cmp.Or(r.Grace, defaultGrace))
	})
	defer func() {
		if !stop() {
			<-ended
		}
	}()
	tail := make(chan string, 1)
	go func() { tail <- child.Tail(c.Stderr) }()
	if started != nil {
		if err := started(ctx, c.Process()); err != nil {
			cancel(err)
		}
	}
	answer := reply{out: out}
	if err := answer.copy(c.Stdout); err != nil {
		cancel(err) // the sink takes nothing more
	}
	<-c.Exited()
	stderr := <-tail
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := answer.close(); err != nil {
		return err
	}
	return outcome(cmd, c.Err(), stderr)
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
