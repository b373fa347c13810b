package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// On a line that delivers sequences in pieces a paste runs nothing and an arrow is an arrow (R153).
func TestSlowLine(t *testing.T) {
	x := console(t, filled(t), look{w: 100, h: 24, answer: black})
	x.sees("1/23")
	for _, cut := range []int{1, 2, 3, 5, len(pasteStart) + 2} {
		paste := pasteStart + "axq" + pasteEnd
		x.keys(paste[:cut])
		<-time.After(2 * time.Millisecond) // the line's, not a wait for the console
		x.keys(paste[cut:])
		x.sees("pasted text runs no command")
		x.keys("\x1b")
		<-time.After(2 * time.Millisecond)
		x.keys("[B")
		x.loses("pasted text runs no command")
		x.keys("\x1b[A")
		x.sees("1/23")
	}
	x.keys("/ops\x1b\x1b") // esc twice at once
	x.loses("▏")
	x.keys("q")
	require.Zero(t, x.ends())
}

// When the process above is killed the console goes too, gives the terminal back to the shell and leaves the store to others. Only a
// shell shows it: without one the kernel hangs the terminal up.
func TestTheProcessAboveIsKilled(t *testing.T) {
	h := filled(t)
	path, err := binary()
	require.NoError(t, err)
	for _, sig := range []syscall.Signal{syscall.SIGKILL, syscall.SIGABRT, syscall.SIGQUIT} {
		t.Run(sig.String(), func(t *testing.T) {
			shell := startIn(t, look{w: 100, h: 24, answer: black, env: h.environment()}, "sh", "-i")
			shell.sees("$")
			before := shell.settings()
			shell.keys(path + "\n")
			shell.sees("1/23")
			above := below(shell)
			console := belowPID(t, above)
			require.NoError(t, syscall.Kill(above, sig))
			shell.until("the shell", func() bool { shell.mu.Lock(); defer shell.mu.Unlock(); return !shell.alt })
			require.Eventually(t, func() bool { return zombie(console) }, patience, 10*time.Millisecond)
			shell.keys("echo back-$((6*7))\n")
			shell.sees("back-42")
			shell.givenBack(before)
			if sig == syscall.SIGQUIT {
				require.NotContains(t, shell.bytes(), "goroutine")
			} else {
				require.NotContains(t, shell.bytes(), "back here:", "nothing is written into a prompt")
			}
			shell.keys("exit\n")
			shell.ends()
		})
	}
}

// A shell that edits its line has modes of its own at its prompt, which a console that ends late leaves alone.
func TestTheProcessAboveIsKilledUnderBash(t *testing.T) {
	h := filled(t)
	path, err := binary()
	require.NoError(t, err)
	shell := startIn(t, look{w: 100, h: 24, answer: black, env: h.environment()}, "bash", "--norc", "--noprofile", "-i")
	shell.sees("$")
	before := shell.settings()
	for i := range 3 {
		shell.keys(path + "\n")
		shell.sees("1/23")
		above := below(shell)
		console := belowPID(t, above)
		require.NoError(t, syscall.Kill(above, syscall.SIGKILL))
		require.Eventually(t, func() bool { return zombie(console) }, patience, 10*time.Millisecond)
		shell.until("the prompt's own modes", func() bool { return shell.settings() == before })
		shell.keys(fmt.Sprintf("echo back-$((6*7+%d))\n", i))
		shell.sees(fmt.Sprintf("back-%d", 6*7+i))
	}
	shell.keys("exit\n")
	shell.ends()
}

// zombie reports whether a process has ended, its parent's wait may be missing.
func zombie(pid int) bool {
	data, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	return err != nil || strings.Contains(string(data), ") Z ")
}

// A state that cannot be kept is told at the start; quitting is no failure for it.
func TestStateThatIsADirectory(t *testing.T) {
	for _, how := range []string{"directory", "fifo"} {
		t.Run(how, func(t *testing.T) {
			h := filled(t)
			first := console(t, h, look{w: 100, h: 24, answer: black})
			first.sees("1/23")
			first.keys("q")
			require.Zero(t, first.ends())
			files, err := filepath.Glob(filepath.Join(h.dir, "state", "cordboard", "ui", "*", "console.json"))
			require.NoError(t, err)
			require.Len(t, files, 1)
			require.NoError(t, os.Remove(files[0]))
			if how == "fifo" {
				require.NoError(t, syscall.Mkfifo(files[0], 0o600))
			} else {
				require.NoError(t, os.Mkdir(files[0], 0o700))
			}
			x := console(t, h, look{w: 160, h: 24, answer: black})
			x.sees("no file of ours")
			x.keys("\tq")
			require.Zero(t, x.ends(), x.text())
			require.Contains(t, x.text(), "could not be saved")
		})
	}
}

// An error of --theme names the flag.
func TestThemeFlagIsNamed(t *testing.T) {
	x := console(t, filled(t), look{w: 160, h: 24, answer: black}, "--theme", "nope")
	require.NotZero(t, x.ends())
	require.Contains(t, x.text(), "--theme")
	require.NotContains(t, x.text(), "ui.theme")
}

// A program that is not there is named, with the variable that named it.
func TestMissingEditorIsNamed(t *testing.T) {
	_, err := exec.LookPath("no-such-editor")
	require.Error(t, err)
	x := console(t, filled(t), look{w: 160, h: 24, answer: black, env: []string{"EDITOR=no-such-editor"}})
	x.sees("1/23")
	x.keys("\rE")
	x.sees("the editor no-such-editor ($EDITOR): there is no such")
	x.keys("q")
	require.Zero(t, x.ends())
}
