package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"cordboard/ui/safe"
)

// The console runs in a process of its own under one that does nothing but wait. Whatever ends it — a panic in a goroutine that nobody
// can recover, a runtime error, kill -9, the kernel short of memory — there is somebody left to give the terminal back and to say what
// happened (R207).

// supervised marks the process below; the descriptors are those it finds there.
const (
	supervised  = "CORDBOARD_SUPERVISED"
	signsFD     = 3 // it tells when its screen goes up and comes down
	crashFD     = 4 // what the runtime has to say when it crashes
	aboveFD     = 5 // it ends with the process above
	screenUp    = 'u'
	screenDown  = 'd'
	giveItBack  = "\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?2004l\x1b[?1004l\x1b[0m\x1b[?7h\x1b[?1049l\x1b[?25h\r\n"
	mostOfCrash = 64 << 10
)

// ended is how the process below ended: the code it exited with, its error told by itself.
type ended struct{ code int }

func (e *ended) Error() string { return fmt.Sprintf("exit status %d", e.code) }

// supervise is underSupervision for a verb whose context then ends with the process above too, and with SIGQUIT: that is an end like any
// other, and a stack says nothing to who sees it. stop is to be called at the end.
func (a *app) supervise(c *cobra.Command) (stop func(), done bool, err error) {
	ctx, unquit := signal.NotifyContext(c.Context(), syscall.SIGQUIT)
	if done, err := a.underSupervision(ctx); done {
		return unquit, true, err
	}
	ctx, release := a.withTheOneAbove(ctx)
	c.SetContext(ctx)
	return func() { release(); unquit() }, false, nil
}

// underSupervision runs this command line again in a process below this one, and reports true when it did; in that process, and where
// the terminal is not ours to give back, it reports false.
func (a *app) underSupervision(ctx context.Context) (bool, error) {
	if a.getenv(supervised) != "" {
		a.signs = a.newSigns() // before anything is started from here: an owner of the store would keep what it inherits
		return false, nil
	}
	in, inOK := a.in.(*os.File)
	out, outOK := a.out.(*os.File)
	program, err := os.Executable()
	if !inOK || !outOK || err != nil {
		return false, nil
	}
	was, err := term.GetState(int(in.Fd()))
	if err != nil {
		return false, nil
	}
	c := &child{cmd: exec.Command(program, a.args...)}
	c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = in, out, os.Stderr
	c.cmd.Env = append(os.Environ(), supervised+"=1")
	up, crash, err := c.run(ctx)
	if err != nil && c.cmd.ProcessState == nil {
		return false, nil // it could not be started: without it then
	}
	_ = term.Restore(int(in.Fd()), was)
	if up {
		fmt.Fprint(out, giveItBack)
	}
	code := c.cmd.ProcessState.ExitCode()
	if !up && code >= 0 {
		return true, exited(code)
	}
	if crash != "" {
		fmt.Fprintln(a.err, crash)
	}
	return true, fmt.Errorf("the console broke down (%s) and the terminal was given back: what it showed is stored and unharmed. Please report the lines above", c.cmd.ProcessState)
}

func exited(code int) error {
	if code == 0 {
		return nil
	}
	return &reported{&ended{code}}
}

// child is the console's process as the one above sees it.
type child struct{ cmd *exec.Cmd }

// run starts the process, hands signals on to it and waits for its end. It reports whether its screen was still up then, and what the
// runtime said if it crashed.
func (c *child) run(ctx context.Context) (up bool, crash string, err error) {
	signs, theirs, err := os.Pipe()
	if err != nil {
		return false, "", err
	}
	defer signs.Close()
	report, err := os.CreateTemp("", "cordboard-crash-")
	if err != nil {
		return false, "", errors.Join(err, theirs.Close())
	}
	defer report.Close()
	_ = os.Remove(report.Name()) // it lives as long as it is open
	life, ours, err := os.Pipe()
	if err != nil {
		return false, "", errors.Join(err, theirs.Close())
	}
	defer ours.Close()
	c.cmd.ExtraFiles = []*os.File{theirs, report, life}
	err = c.cmd.Start()
	_, _ = theirs.Close(), life.Close()
	if err != nil {
		return false, "", err
	}
	stop := context.AfterFunc(ctx, func() { _ = c.cmd.Process.Signal(syscall.SIGTERM) })
	defer stop()
	told, _ := io.ReadAll(signs)
	err = c.cmd.Wait()
	up = len(told) > 0 && told[len(told)-1] == screenUp
	if _, seekErr := report.Seek(0, io.SeekStart); seekErr == nil {
		text, _ := io.ReadAll(io.LimitReader(report, mostOfCrash))
		crash = safe.Text(strings.TrimSpace(string(text)))
	}
	return up, crash, err
}

// signs tells the process above when the screen goes up and comes down. One that nobody waits for tells nothing.
type signs struct{ to *os.File }

// newSigns takes up the marks of the process above, so that what is started from here finds none.
func (a *app) newSigns() signs {
	_ = os.Unsetenv(supervised)
	if report := os.NewFile(crashFD, "crash"); report != nil {
		_ = debug.SetCrashOutput(report, debug.CrashOptions{})
		_ = report.Close() // the runtime has a copy of its own
	}
	syscall.CloseOnExec(signsFD)
	return signs{os.NewFile(signsFD, "signs")}
}

func (s signs) tell(sign byte) {
	if s.to != nil {
		_, _ = s.to.Write([]byte{sign})
	}
}

// errAlone is why a console ends whose process above has ended.
var errAlone = errors.New("the process above has ended")

// withTheOneAbove is a context that ends when the process above does, even by kill -9: nobody waits for the console then, and the
// terminal is another's. stop waits for what watches; it is to be called when the console has let go of the terminal.
func (a *app) withTheOneAbove(ctx context.Context) (_ context.Context, stop func()) {
	if a.signs.to == nil || syscall.SetNonblock(aboveFD, true) != nil { // so that closing it ends the read
		return ctx, func() {}
	}
	syscall.CloseOnExec(aboveFD)
	life := os.NewFile(aboveFD, "the process above")
	found := modesOf(a.in)
	ctx, cancel := context.WithCancelCause(ctx)
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_, err := life.Read(make([]byte, 1))
		if errors.Is(err, io.EOF) {
			found.giveBack() // before anything else: the shell hears of it now too
			cancel(errAlone)
		}
	}()
	return ctx, func() {
		_ = life.Close()
		<-gone
		if errors.Is(context.Cause(ctx), errAlone) {
			found.giveBackLate()
		}
		cancel(nil)
	}
}

// modes are those a terminal was found with, and those the console gives it.
type modes struct {
	fd        int
	was, ours *term.State // nil where there is no terminal
}

func modesOf(in io.Reader) modes {
	file, ok := in.(*os.File)
	if !ok {
		return modes{}
	}
	fd := int(file.Fd())
	was, err := term.MakeRaw(fd) // as the console will: only so what it looks like is known
	if err != nil {
		return modes{}
	}
	ours, err := term.GetState(fd)
	_ = term.Restore(fd, was)
	if err != nil {
		return modes{}
	}
	return modes{fd, was, ours}
}

// giveBack is refused once a shell has taken the terminal.
func (m modes) giveBack() {
	if m.was != nil {
		_ = term.Restore(m.fd, m.was)
	}
}

// giveBackLate gives a terminal back that a shell has taken with our modes still on: a plain one (dash) takes what it finds, while one
// that edits its line has set its own, which stay.
func (m modes) giveBackLate() {
	if m.was == nil {
		return
	}
	if now, err := term.GetState(m.fd); err == nil && *now == *m.ours {
		signal.Ignore(syscall.SIGTTOU) // what would refuse it; the process ends now
		_ = term.Restore(m.fd, m.was)
	}
}
