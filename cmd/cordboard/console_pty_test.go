package main

import (
	"bytes"
	"image/color"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/creack/pty"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordboard/core"
	"cordboard/themes"
	"cordboard/ui/uitest"
)

// A terminal that answers is asked once, before the first frame, and its background chooses the theme; a flag or COLORFGBG goes before
// it and then it is not asked (R150, R224).
func TestTheTerminalChoosesTheTheme(t *testing.T) {
	h := filled(t)
	for _, c := range []struct {
		name, answer string
		env, args    []string
		theme        string
		asked        bool
	}{
		{"light", white, nil, nil, themes.Light, true},
		{"dark", black, nil, nil, themes.Dark, true},
		{"flag", white, nil, []string{"--theme", "high-contrast"}, themes.HighContrast, false},
		{"COLORFGBG", white, []string{"COLORFGBG=15;0"}, nil, themes.Dark, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := console(t, h, look{w: 100, h: 24, answer: c.answer, env: c.env}, c.args...)
			x.sees("Sessions")
			x.sees("1/23")
			p, err := themes.Load(c.theme)
			require.NoError(t, err)
			want, got := rgbOf(t, p.Roles.BgBar), x.background(1, 0).(color.RGBA)
			assert.InDelta(t, want.R, got.R, 1) // the library rounds
			assert.InDelta(t, want.G, got.G, 1)
			assert.InDelta(t, want.B, got.B, 1)
			assert.Equal(t, c.asked, strings.Contains(x.bytes(), "\x1b]11;?"))
			x.keys("q")
			require.Zero(t, x.ends())
		})
	}
}

func rgbOf(t *testing.T, c themes.Color) color.RGBA {
	t.Helper()
	n, err := strconv.ParseUint(string(c[1:]), 16, 32)
	require.NoError(t, err)
	return color.RGBA{uint8(n >> 16), uint8(n >> 8), uint8(n), 255}
}

// A terminal that never answers costs 150 ms, not the start; what it says too late is no key (R223), and what was typed meanwhile is.
func TestSilentTerminal(t *testing.T) {
	x := console(t, filled(t), look{w: 100, h: 24})
	x.until("question", func() bool { return strings.Contains(x.bytes(), "\x1b]11;?") })
	x.keys("/dep")
	x.sees("filter: dep")
	x.keys("\x1b]11;" + white + "\x1b\\")
	x.keys("\x1b]11;rgb:ff")
	x.keys("ff/ffff/ffff\a")
	x.keys("l")
	x.sees("filter: depl")
	x.keys("\r")
	x.loses("▏")
	assert.NotContains(t, x.text(), "rgb")
	assert.NotContains(t, x.text(), "11;")
	x.keys("q")
	require.Zero(t, x.ends())
}

// The console asks nothing where there are no colours to choose.
func TestNoColour(t *testing.T) {
	h := filled(t)
	for _, env := range []string{"NO_COLOR=1", "TERM=dumb"} {
		x := console(t, h, look{w: 100, h: 24, env: []string{env}})
		x.sees("1/23")
		x.sees("✗ disk-check")
		assert.NotContains(t, x.bytes(), "\x1b]11;?")
		for _, colour := range []string{"\x1b[3", "[38;", "[48;", ";38;", ";48;"} {
			assert.NotContains(t, strings.ReplaceAll(x.bytes(), "\x1b[39m", ""), colour+"8;", env)
		}
		x.keys("q")
		require.Zero(t, x.ends())
	}
}

// A storm of resizes ends in the frame that a fresh start at that size draws (R213).
func TestResizeStorm(t *testing.T) {
	h := filled(t)
	fresh := console(t, h, look{w: 100, h: 40, answer: black}, "--session", "agent:ops:main")
	fresh.sees("following")
	fresh.quiet()
	want := fresh.text()
	fresh.keys("q")
	require.Zero(t, fresh.ends())

	x := console(t, h, look{w: 160, h: 45, answer: black}, "--session", "agent:ops:main")
	x.sees("following")
	dice := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		x.resize(1+dice.IntN(200), 1+dice.IntN(60))
	}
	x.resize(100, 40) // all rows fit: there is one place for each
	x.until("the fresh frame", func() bool { return x.text() == want })
	x.keys("q")
	require.Zero(t, x.ends())
}

// A paste goes into the filter as it is and runs nothing (R153).
func TestPasteIntoTheFilter(t *testing.T) {
	x := console(t, filled(t), look{w: 100, h: 24, answer: black})
	x.sees("1/23")
	x.keys("\x1b[200~q\nq\x1b[201~")
	x.keys("/")
	x.sees("▏")
	x.keys("\x1b[200~ops lounge\n\x1b[201~")
	x.sees("filter: ops lounge (1)")
	x.keys("\r\r")
	x.sees("Freeze from 13:30")
	x.keys("q")
	require.Zero(t, x.ends())
}

// ctrl+z gives the terminal back to the shell, fg brings the same frame back (R186, R187), and quitting leaves the shell as it was.
func TestSuspend(t *testing.T) {
	h := filled(t)
	path, err := binary()
	require.NoError(t, err)
	shell := startIn(t, look{w: 100, h: 24, answer: black, env: h.environment()}, "sh", "-i")
	shell.sees("$")
	before := shell.settings()
	shell.keys(path + " --session agent:ops:main\n")
	shell.sees("following")
	shell.keys("\x1b[B\x1b[B")
	shell.sees("12/23")
	shell.sees("Rollback was not needed") // the transcript has come too,
	shell.quiet()                         // and whatever else was asked for
	shell.quiet()
	frame := shell.text()
	raw := shell.settings()
	require.NotEqual(t, before, raw)

	shell.keys("\x1a")
	shell.until("the shell", func() bool { shell.mu.Lock(); defer shell.mu.Unlock(); return !shell.alt })
	shell.keys("echo back-$((6*7))\n")
	shell.sees("back-42")
	shell.givenBack(before)

	shell.keys("fg\n")
	shell.until("the same frame", func() bool { return shell.text() == frame })
	require.Equal(t, raw, shell.settings())
	require.False(t, shell.modes[ansi.ModeAutoWrap])
	shell.keys("q")
	shell.sees("back here: cordboard --session agent:ops:")
	shell.keys("echo $?-$((6*8))\n")
	shell.sees("0-48")
	shell.givenBack(before)
	shell.keys("exit\n")
	shell.ends()
}

// Where no shell waits, ctrl+z says so and the console goes on: it could neither stop nor be brought back.
func TestNobodyToSuspendTo(t *testing.T) {
	x := console(t, filled(t), look{w: 160, h: 24, answer: black})
	x.sees("1/23")
	x.keys("\x1a")
	x.sees("no shell waits here that could bring the console back")
	x.keys("\x1b[B")
	x.sees("2/23")
	x.keys("q")
	require.Zero(t, x.ends())
}

// Whatever ends the console, the terminal is given back and an exit code tells (R207, R208).
func TestSignals(t *testing.T) {
	h := filled(t)
	for _, c := range []struct {
		name string
		kill func(x *terminal)
		code int
		says string
	}{
		{"SIGTERM", func(x *terminal) { _ = x.cmd.Process.Signal(syscall.SIGTERM) }, 0, "back here:"},
		{"SIGHUP", func(x *terminal) { _ = x.cmd.Process.Signal(syscall.SIGHUP) }, 0, "back here:"},
		{"SIGINT", func(x *terminal) { _ = x.cmd.Process.Signal(syscall.SIGINT) }, 0, "back here:"},
		{"SIGTERM to the console itself", func(x *terminal) { _ = syscall.Kill(below(x), syscall.SIGTERM) }, 0, "back here:"},
		{"kill -9", func(x *terminal) { _ = syscall.Kill(below(x), syscall.SIGKILL) }, 1, "broke down (signal: killed) and the terminal was given back"},
		{"ctrl+c", func(x *terminal) { x.keys("\x03") }, 0, "Nothing that runs was stopped"},
		{"q", func(x *terminal) { x.keys("q") }, 0, "back here:"},
		{":quit", func(x *terminal) { x.keys(":quit\r") }, 0, "back here:"},
	} {
		t.Run(c.name, func(t *testing.T) {
			// the last descriptor of a pty's other side takes what was not read with it: a shell keeps one
			x := console(t, h, look{w: 160, h: 24, answer: black})
			before := x.settings()
			x.sees("following")
			c.kill(x)
			require.Equal(t, c.code, x.ends(), x.text())
			x.givenBack(before)
			assert.Contains(t, x.text(), c.says)
		})
	}
}

// below is the process in which the console runs.
func below(x *terminal) int { return belowPID(x.t, x.cmd.Process.Pid) }

func belowPID(t testing.TB, pid int) int {
	t.Helper()
	tasks, err := filepath.Glob(filepath.Join("/proc", strconv.Itoa(pid), "task", "*", "children"))
	require.NoError(t, err)
	for _, task := range tasks {
		data, err := os.ReadFile(task)
		require.NoError(t, err)
		if child, err := strconv.Atoi(strings.TrimSpace(string(data))); err == nil {
			return child
		}
	}
	require.Fail(t, "no process below")
	return 0
}

// R207–R210: a panic anywhere gives the terminal back, says what happened and exits with an error; one in a command is told and the
// program goes on.
func TestPanics(t *testing.T) {
	for _, c := range []struct {
		how  string
		keys string
		says string
	}{
		{"update", "j", "out of time"},
		{"view", "\x0e", "missing Location"},
		{"goroutine", "j", "nobody waits for me"},
		{"start", "", "nil pointer"},
	} {
		t.Run(c.how, func(t *testing.T) {
			x := startIn(t, look{w: 120, h: 50, answer: black, env: newHome(t).environment("CORDBOARD_TEST=" + c.how)}, os.Args[0])
			before := x.settings()
			if c.keys != "" {
				x.sees("Sessions")
				x.until("a notice", func() bool { return c.how != "view" || strings.Contains(x.text(), "look here") })
				x.keys(c.keys)
			}
			require.NotZero(t, x.ends())
			x.givenBack(before)
			assert.Contains(t, x.bytes(), c.says)
			if c.how != "start" {
				assert.Contains(t, x.bytes(), "Please report the lines above")
			}
		})
	}
	x := startIn(t, look{w: 120, h: 24, answer: black, env: newHome(t).environment("CORDBOARD_TEST=command")}, os.Args[0])
	x.sees("the console failed inside:")
	x.keys("?")
	x.sees("next row")
	x.keys("qq")
	require.Zero(t, x.ends())
}

// What was chosen is there after a restart, and the line that is printed at the end comes back to the same place (R182, R184).
func TestComesBack(t *testing.T) {
	h := filled(t)
	x := console(t, h, look{w: 120, h: 24, answer: black}, "--session", "agent:ops:main")
	x.sees("following")
	x.keys("\x1b[B\x1b[B")
	x.sees("12/23")
	x.keys("\rw")
	x.keys("q")
	require.Zero(t, x.ends())
	require.Contains(t, x.text(), "back here: cordboard --session agent:ops:rollback-4398")

	x = console(t, h, look{w: 120, h: 24, answer: black})
	x.sees("12/23")
	x.sees("following")
	x.keys("q")
	require.Zero(t, x.ends())
	require.Contains(t, x.text(), "back here: cordboard --session agent:ops:rollback-4398")
	files, err := filepath.Glob(filepath.Join(h.dir, "state", "cordboard", "ui", "*", "console.json"))
	require.NoError(t, err)
	require.Len(t, files, 1)
}

// What is wrong on the way to the console is said before its screen is up, or told in it and done without.
func TestWrongOnTheWay(t *testing.T) {
	h := filled(t)
	require.NoError(t, os.MkdirAll(filepath.Join(h.dir, "etc", "cordboard", "themes"), 0o700))
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(h.dir, "etc", "cordboard", name), []byte(text), 0o600))
	}
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"--theme", "drak"}, `no theme is called "drak", did you mean "dark"?`},
		{[]string{"--session", "agent:nobody:main"}, "--session: "},
		{[]string{"--look-as", "agent:nobody:main"}, "--look-as: "},
	} {
		x := console(t, h, look{w: 160, h: 24, answer: black}, c.args...)
		require.NotZero(t, x.ends(), c.args)
		require.Contains(t, x.text(), c.says)
		require.NotContains(t, x.bytes(), enterScreen)
	}

	write("themes/mine.json", `{"name": "mine", "dark": true}`)
	write("config.json5", `{ui: {theme: "mine", keymap: "keys.json5"}}`)
	write("keys.json5", "{\n  // mine\n  'tree.fodl': 'x',\n}")
	x := console(t, h, look{w: 160, h: 45, answer: black})
	x.sees("your theme is left out: theme ")
	x.sees("your keymap is left out")
	x.sees(`there is no action "tree.fodl"`)
	x.keys("\x0e")
	x.sees("keys.json5:3:3")
	x.keys("q:quit\r")
	require.Zero(t, x.ends())

	check := console(t, h, look{w: 160, h: 45}, "config", "check")
	require.NotZero(t, check.ends())
	require.Contains(t, strings.ReplaceAll(check.text(), "\n", ""), `keys.json5:3:3: there is no action "tree.fodl", did you mean "tree.fold"?`)
	require.Contains(t, check.text(), "config.json5:1:14: ui.theme: theme ")
	write("keys.json5", "{'tree.fold': 'f5'}")
	write("config.json5", `{ui: {keymap: "keys.json5"}}`)
	check = console(t, h, look{w: 160, h: 45}, "config", "check")
	require.Zero(t, check.ends(), check.text())
	x = console(t, h, look{w: 160, h: 45, answer: black})
	x.sees("f5 fold")
	x.keys("q")
	require.Zero(t, x.ends())
}

// The mouse is captured when it is asked for and only then (R158).
func TestMouseCapture(t *testing.T) {
	h := filled(t)
	x := console(t, h, look{w: 100, h: 24, answer: black})
	before := x.settings()
	x.sees("following")
	for _, mode := range []string{"\x1b[?1000h", "\x1b[?1002h", "\x1b[?1003h"} {
		require.NotContains(t, x.bytes(), mode)
	}
	x.keys(":mouse\r")
	x.until("the mouse", func() bool { return strings.Contains(x.bytes(), "\x1b[?1002h") })
	x.keys("\x1b[<65;5;5M")
	x.sees("4/23")
	x.keys("q")
	require.Zero(t, x.ends())
	x.givenBack(before)
}

// The accessible console keeps the terminal's own cursor at the selection.
func TestAccessibleCursor(t *testing.T) {
	x := console(t, filled(t), look{w: 100, h: 24, answer: black}, "--accessible")
	x.sees("Sessions")
	x.sees("1/23")
	on := func(name string) func() bool {
		return func() bool {
			x.mu.Lock()
			row := x.grid.CursorPosition().Y
			x.mu.Unlock()
			return strings.Contains(strings.Split(x.text(), "\n")[row], name)
		}
	}
	x.until("the cursor at Mira", on("Mira"))
	x.keys("\x1b[B\x1b[B")
	x.until("the cursor two rows on", on("log-sweep"))
	require.False(t, x.hidden)
	x.keys("q")
	require.Zero(t, x.ends())
}

// BenchmarkKeyToFrame is how long it takes from a key to the first byte of the frame it changes, against a program that only counts
// keys, in the same run.
func BenchmarkKeyToFrame(b *testing.B) {
	for _, which := range []string{"empty", "console"} {
		b.Run(which, func(b *testing.B) { keyToFrame(b, which) })
	}
}

func keyToFrame(b *testing.B, which string) {
	l := look{w: 160, h: 45, answer: black}
	var x *terminal
	if which == "empty" {
		l.env = newHome(b).environment("CORDBOARD_TEST=empty")
		x = startIn(b, l, os.Args[0])
		x.sees("keys: 0")
	} else {
		x = console(b, filled(b), l)
		x.sees("following")
	}
	var took []time.Duration
	for i := 0; b.Loop(); i++ {
		key := "\x1b[B"
		if i/20%2 == 1 {
			key = "\x1b[A"
		}
		x.quiet()
		before := len(x.bytes())
		start := time.Now()
		x.keys(key)
		x.until("a frame", func() bool { return len(x.bytes()) > before })
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "p95-ms")
	x.keys("q")
	x.ends()
}

// quiet waits until nothing has been written for a few frames, so that a whole one is on the screen, and for a moment that no frame is
// bound to.
func (x *terminal) quiet() {
	for {
		select {
		case <-x.changed:
		case <-time.After(60*time.Millisecond + rand.N(16*time.Millisecond)):
			return
		}
	}
}

// R211: starting and leaving the console over and over in one process leaves neither goroutines nor descriptors behind.
func TestStartAndLeaveManyTimes(t *testing.T) {
	b := uitest.New("/data")
	b.Put(core.Head{Key: "agent:main:main", Kind: core.KindMain, UpdatedAt: 1}, core.SessionDetail{})
	run := func() {
		master, tty, err := pty.Open()
		require.NoError(t, err)
		require.NoError(t, pty.Setsize(tty, &pty.Winsize{Rows: 24, Cols: 80}))
		seen, gone := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(gone)
			var all []byte
			buf := make([]byte, 4096)
			for open := seen; ; {
				n, err := master.Read(buf)
				if err != nil {
					return
				}
				if all = append(all, buf[:n]...); open != nil && bytes.Contains(all, []byte("Sessions")) {
					close(open)
					open = nil
				}
			}
		}()
		ended := make(chan error)
		go func() {
			a := &app{streams: streams{in: tty, out: tty, err: io.Discard, terminal: true, getenv: func(name string) string {
				return map[string]string{"TERM": "xterm-256color", "COLORFGBG": "15;0"}[name]
			}}}
			ended <- a.open(t.Context(), b, setting{ui: defaultUI, state: newUIState(t.TempDir(), "/data")})
		}()
		<-seen
		_, err = master.WriteString("q")
		require.NoError(t, err)
		require.NoError(t, <-ended)
		require.NoError(t, tty.Close())
		<-gone
		require.NoError(t, master.Close())
	}
	run()
	goroutines, files := runtime.NumGoroutine(), descriptors(t)
	for range 50 {
		run()
	}
	asking := 1 // the condition runs in a goroutine of its own
	require.Eventually(t, func() bool { return runtime.NumGoroutine() <= goroutines+asking }, patience, 10*time.Millisecond)
	require.LessOrEqual(t, descriptors(t), files)
}

func descriptors(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	return len(list)
}

// R170, R222: the locale changes no cell, and in ASCII every sign of ours is in it; poor terminals show every state as a word.
func TestLocalesAndPoorTerminals(t *testing.T) {
	h := filled(t)
	frame := func(env []string, args ...string) string {
		x := console(t, h, look{w: 100, h: 24, env: append(env, "COLORFGBG=15;0")}, args...)
		x.sees("following")
		x.sees("1/23")
		x.quiet()
		text := x.text()
		x.keys("q")
		require.Zero(t, x.ends())
		return text
	}
	plain := frame(nil)
	for _, env := range [][]string{{"LANG=ja_JP.UTF-8"}, {"LANG=C", "LC_ALL=zh_CN.UTF-8"}, {"TERM=linux"}, {"TERM=screen"}, {"COLORTERM="}} {
		require.Equal(t, plain, frame(env), env)
	}
	require.Contains(t, frame([]string{"TERM=dumb"}), "✗ disk-check         failed")
	ascii := frame([]string{"RUNEWIDTH_EASTASIAN=1"})
	require.Equal(t, ascii, frame(nil, "--ascii"))
	require.NotContains(t, ascii, "─")
	require.Contains(t, ascii, "x disk-check")
}

// BenchmarkFirstFrame is how long it takes from the command line to a whole frame, on a terminal that answers and on one that does not.
func BenchmarkFirstFrame(b *testing.B) {
	for name, answer := range map[string]string{"answering": black, "silent": ""} {
		b.Run(name, func(b *testing.B) {
			h := filled(b)
			var took time.Duration
			for b.Loop() {
				start := time.Now()
				x := console(b, h, look{w: 160, h: 45, answer: answer})
				x.sees("following")
				took += time.Since(start)
				x.keys("q")
				x.ends()
			}
			b.ReportMetric(float64(took.Microseconds())/1000/float64(b.N), "first-frame-ms")
		})
	}
}
