package main

import (
	"bytes"
	"image/color"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// patience bounds every wait of the tests in a terminal; nothing is judged by it but whether something comes at all.
const patience = 30 * time.Second

// terminal is an emulated terminal with a program in it: what the program writes ends up in a grid of cells.
type terminal struct {
	t    testing.TB
	pty  *os.File
	cmd  *exec.Cmd
	done chan struct{} // the program has ended and all it wrote is in the grid

	mu      sync.Mutex
	grid    *vt.Emulator
	raw     bytes.Buffer
	modes   map[ansi.Mode]bool
	alt     bool
	hidden  bool   // the cursor
	answer  string // what the terminal says of its background, "" = it does not answer
	changed chan struct{}
}

// look is what a terminal is started with.
type look struct {
	w, h   int
	env    []string
	answer string
	dir    string
}

const (
	black = "rgb:1111/1111/1111"
	white = "rgb:ffff/ffff/ffff"
)

// startIn runs a command in a new terminal.
func startIn(t testing.TB, l look, name string, args ...string) *terminal {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = l.dir
	cmd.Env = append([]string{"TERM=xterm-256color", "COLORTERM=truecolor", "PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8", "PS1=$ ", "TZ=UTC"}, l.env...)
	term := &terminal{
		t: t, cmd: cmd, done: make(chan struct{}), grid: vt.NewEmulator(l.w, l.h), modes: map[ansi.Mode]bool{ansi.ModeAutoWrap: true},
		answer: l.answer, changed: make(chan struct{}, 1),
	}
	term.grid.SetCallbacks(vt.Callbacks{
		AltScreen:        func(on bool) { term.alt = on },
		CursorVisibility: func(on bool) { term.hidden = !on },
		EnableMode:       func(m ansi.Mode) { term.modes[m] = true },
		DisableMode:      func(m ansi.Mode) { term.modes[m] = false },
	})
	var err error
	term.pty, err = pty.StartWithSize(cmd, &pty.Winsize{Rows: uint16(l.h), Cols: uint16(l.w)})
	require.NoError(t, err)
	drained := make(chan struct{})
	go func() { // the emulator's own answers: ours are given here
		defer close(drained)
		buf := make([]byte, 256)
		for {
			if _, err := term.grid.Read(buf); err != nil {
				return
			}
		}
	}()
	go term.read()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-term.done
		_ = cmd.Wait()
		_ = term.grid.Close()
		<-drained
		_ = term.pty.Close()
	})
	return term
}

func (x *terminal) read() {
	defer close(x.done)
	buf := make([]byte, 32<<10)
	for {
		n, err := x.pty.Read(buf)
		if n > 0 {
			x.mu.Lock()
			x.raw.Write(buf[:n])
			_, _ = x.grid.Write(buf[:n])
			asked := x.answer != "" && bytes.Contains(buf[:n], []byte("\x1b]11;?"))
			x.mu.Unlock()
			if asked {
				_, _ = x.pty.WriteString("\x1b]11;" + x.answer + "\a\x1b[?62;22c")
			}
			x.poke()
		}
		if err != nil {
			return
		}
	}
}

func (x *terminal) poke() {
	select {
	case x.changed <- struct{}{}:
	default:
	}
}

func (x *terminal) keys(text string) {
	x.t.Helper()
	_, err := x.pty.WriteString(text)
	require.NoError(x.t, err)
}

// text is the grid, blanks at the ends of lines left out.
func (x *terminal) text() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	lines := strings.Split(x.grid.String(), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " \r")
	}
	return strings.Join(lines, "\n")
}

func (x *terminal) bytes() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.raw.String()
}

// until waits for something to hold of the screen.
func (x *terminal) until(what string, holds func() bool) {
	x.t.Helper()
	late := time.After(patience)
	for !holds() {
		select {
		case <-x.changed:
		case <-x.done:
			if holds() {
				return
			}
			require.Fail(x.t, "the program ended before "+what, "%s", x.text())
		case <-late:
			require.Fail(x.t, "no "+what, "%s", x.text())
		}
	}
}

func (x *terminal) sees(text string) {
	x.t.Helper()
	x.until(text, func() bool { return strings.Contains(x.text(), text) })
}

func (x *terminal) loses(text string) {
	x.t.Helper()
	x.until("end of "+text, func() bool { return !strings.Contains(x.text(), text) })
}

// ends waits for the end of the program and returns its exit code.
func (x *terminal) ends() int {
	x.t.Helper()
	select {
	case <-x.done:
	case <-time.After(patience):
		require.Fail(x.t, "the program does not end", "%s", x.text())
	}
	_ = x.cmd.Wait()
	return x.cmd.ProcessState.ExitCode()
}

func (x *terminal) resize(w, h int) {
	x.t.Helper()
	x.mu.Lock()
	x.grid.Resize(w, h)
	x.mu.Unlock()
	require.NoError(x.t, pty.Setsize(x.pty, &pty.Winsize{Rows: uint16(h), Cols: uint16(w)}))
}

// settings are the terminal's own: echo, line mode, signals.
func (x *terminal) settings() unix.Termios {
	x.t.Helper()
	s, err := unix.IoctlGetTermios(int(x.pty.Fd()), unix.TCGETS)
	require.NoError(x.t, err)
	return *s
}

// givenBack checks that the terminal is as it was found.
func (x *terminal) givenBack(before unix.Termios) {
	x.t.Helper()
	require.Equal(x.t, before, x.settings(), "echo and line mode")
	x.mu.Lock()
	defer x.mu.Unlock()
	require.False(x.t, x.alt, "the main screen")
	require.False(x.t, x.hidden, "the cursor")
	require.True(x.t, x.modes[ansi.ModeAutoWrap], "autowrap")
	for _, m := range []ansi.Mode{ansi.ModeBracketedPaste, ansi.ModeMouseNormal, ansi.ModeMouseButtonEvent, ansi.ModeMouseAnyEvent, ansi.ModeMouseExtSgr, ansi.ModeFocusEvent} {
		require.False(x.t, x.modes[m], "mode %v", m)
	}
}

func (x *terminal) background(col, row int) color.Color {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.grid.CellAt(col, row).Style.Bg
}

// home is a place for a user's files; environment names it.
type home struct{ dir string }

func newHome(t testing.TB) home {
	t.Helper()
	h := home{t.TempDir()}
	t.Cleanup(func() { stopOwners(t, h.dir) }) // which the console started
	return h
}

func (h home) environment(more ...string) []string {
	return append([]string{"HOME=" + h.dir, "XDG_STATE_HOME=" + h.dir + "/state", "XDG_CONFIG_HOME=" + h.dir + "/etc"}, more...)
}

// filled is a home whose store holds the fleet of testdata.
func filled(t testing.TB) home {
	t.Helper()
	h := newHome(t)
	path, err := binary()
	require.NoError(t, err)
	cmd := exec.Command(path, "import", "../../testdata/openclaw")
	cmd.Env = h.environment("PATH=" + os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	return h
}

// console starts the built program in a terminal.
func console(t testing.TB, h home, l look, args ...string) *terminal {
	t.Helper()
	path, err := binary()
	require.NoError(t, err)
	l.env = h.environment(l.env...)
	return startIn(t, l, path, args...)
}
