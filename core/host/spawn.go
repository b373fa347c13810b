package host

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"cordboard/core"
	"cordboard/store/bolt"
)

// IdleExit is how long an owner that was started by need stays when nobody needs it any more (gateway.md §1).
const IdleExit = "60s"

const (
	logDir     = "log"
	serveLog   = "serve.log"
	maxLog     = 1 << 20 // bytes, before a new log is begun
	maxLogTail = 4 << 10 // bytes of it that are looked at for why an owner did not start
)

// spawned is an owner that this process started.
type spawned struct {
	pid    int // 0 = none, or it has ended
	log    string
	from   int64 // where its part of the log begins
	failed bool  // it ended with an exit code
}

// spawn starts an owner: in a session of its own, so that it outlives this process and its terminal. What the store's file says against
// it is told here.
func (l *link) spawn(ctx context.Context) error {
	o := l.options
	if len(o.Program) == 0 {
		return errNoOwner
	}
	if err := readable(ctx, o); err != nil {
		return err
	}
	dir, err := filepath.Abs(o.dir())
	if err != nil {
		return core.Errorf(core.CodeStoreIO, "the data directory %q: %w", o.dir(), err)
	}
	log, err := openLog(dir)
	if err != nil {
		return core.Errorf(core.CodeStoreIO, "the log of the owner cannot be written: %w", err)
	}
	defer log.Close()
	from, err := log.Seek(0, io.SeekEnd)
	if err != nil {
		return core.Errorf(core.CodeStoreIO, "the log of the owner cannot be written: %w", err)
	}
	args := append(append([]string{}, o.Program...), "serve", "--idle-exit", IdleExit, "--data", dir)
	if o.ConfigGiven || o.ConfigPath != "" {
		path := o.ConfigPath
		if path != "" {
			if path, err = filepath.Abs(path); err != nil {
				return core.Errorf(core.CodeConfig, "the config file %q: %w", o.ConfigPath, err)
			}
		}
		args = append(args, "--config", path)
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return core.Errorf(core.CodeInternal, "an owner of the store cannot be started: %w", err)
	}
	l.spawned = spawned{pid: cmd.Process.Pid, log: log.Name(), from: from}
	return cmd.Process.Release()
}

// readable opens a store for a moment, so that one which cannot be opened says so here and not in a log.
func readable(_ context.Context, o Options) error {
	store, err := bolt.Open(bolt.Options{Dir: o.dir(), ReadOnly: true, Timeout: -1})
	switch core.CodeOf(err) {
	case "":
		return store.Close()
	case core.CodeStoreMissing: // it will be made
		return nil
	}
	return err
}

// openLog opens the owner's log to add to it; a long one is put aside first.
func openLog(dir string) (*os.File, error) {
	dir = filepath.Join(dir, logDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, serveLog)
	if info, err := os.Stat(path); err == nil && info.Size() > maxLog {
		if err := os.Rename(path, path+".1"); err != nil {
			return nil, err
		}
	}
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
}

// reap reports whether the child still runs; one that has ended is taken from the system's list.
func (c *spawned) reap() bool {
	if c.pid == 0 {
		return false
	}
	var status syscall.WaitStatus
	for {
		pid, err := syscall.Wait4(c.pid, &status, syscall.WNOHANG, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case err == nil && pid == 0:
			return true
		}
		c.pid, c.failed = 0, status.ExitStatus() != 0
		return false
	}
}

// endUnless ends the child when another process became the owner: it would take over in the place of that one, when nobody wants it. It
// has nothing that could be harmed.
func (c *spawned) endUnless(owner int) {
	if c.pid == owner || !c.reap() {
		return
	}
	_ = syscall.Kill(c.pid, syscall.SIGKILL)
	for {
		_, err := syscall.Wait4(c.pid, nil, 0, nil)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	c.pid = 0
}

// failure is why the last child did not become the owner, in its own words.
func (c *spawned) failure() error {
	why := "it said nothing"
	if line := c.lastLine(); line != "" {
		why = line
	}
	return core.Errorf(core.CodeInternal, "an owner of the store was started and ended at once: %s (its log is %s)", why, c.log)
}

func (c *spawned) lastLine() string {
	f, err := os.Open(c.log)
	if err != nil {
		return ""
	}
	defer f.Close()
	text, err := io.ReadAll(io.NewSectionReader(f, c.from, maxLogTail))
	if err != nil {
		return ""
	}
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	return string(bytes.TrimPrefix(lines[len(lines)-1], []byte("cordboard: ")))
}
