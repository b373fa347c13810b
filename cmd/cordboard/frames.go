package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/creack/pty"

	"cordboard/core"
	"cordboard/core/host"
)

// How the console is measured: in a terminal of its own, attached to an owner, by the time at which what is looked for was written to it.
const (
	frameStreams  = 20
	frameSamples  = 40
	framePatience = 20 * time.Second // for one frame: more is a failure
	frameWidth    = 160
	frameHeight   = 30
)

// frameConfig lets every stream run at once.
const frameConfig = `{agents: {list: [{id: "main"}], defaults: {maxConcurrent: 64}}}`

// watched is a terminal that a program draws into.
type watched struct {
	pty  *os.File
	done sync.WaitGroup

	mu   sync.Mutex
	got  []byte // since the last mark
	news chan struct{}
}

func openWatched() (w *watched, tty *os.File, err error) {
	master, tty, err := pty.Open()
	if err != nil {
		return nil, nil, fmt.Errorf("a terminal to measure the console in: %w", err)
	}
	if err := pty.Setsize(tty, &pty.Winsize{Rows: frameHeight, Cols: frameWidth}); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("a terminal to measure the console in: %w", err), master.Close(), tty.Close())
	}
	w = &watched{pty: master, news: make(chan struct{}, 1)}
	w.done.Go(w.read)
	return w, tty, nil
}

func (w *watched) read() {
	buf := make([]byte, 64<<10)
	for {
		n, err := w.pty.Read(buf)
		w.mu.Lock()
		w.got = append(w.got, buf[:n]...)
		w.mu.Unlock()
		select {
		case w.news <- struct{}{}:
		default:
		}
		if err != nil {
			return // the program is gone
		}
	}
}

func (w *watched) close() error {
	err := w.pty.Close()
	w.done.Wait()
	return err
}

// mark forgets what was written so far.
func (w *watched) mark() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.got = w.got[:0]
}

func (w *watched) has(text string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return bytes.Contains(w.got, []byte(text))
}

// sees waits until a text was written since the mark.
func (w *watched) sees(ctx context.Context, text string) error {
	late := time.NewTimer(framePatience)
	defer late.Stop()
	for !w.has(text) {
		select {
		case <-w.news:
		case <-late.C:
			return fmt.Errorf("the console did not show %q within %s", text, framePatience)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// frames measures how long it takes from act to the text it brings onto the screen, each time at another moment between two frames.
func (w *watched) frames(ctx context.Context, work, target string, act func(i int) (text string, since time.Time, err error)) (figure, error) {
	samples := make([]float64, frameSamples)
	for i := range samples {
		time.Sleep(20*time.Millisecond + rand.N(17*time.Millisecond))
		w.mark()
		text, since, err := act(i)
		if err == nil {
			err = w.sees(ctx, text)
		}
		if err != nil {
			return figure{}, err
		}
		samples[i] = float64(time.Since(since)) / 1e6
	}
	return summary(work, "ms", target, samples), nil
}

// key presses down and up again among the first rows; which session the cursor is on the border of the tree says.
func (w *watched) key(i int) (text string, since time.Time, err error) {
	const span = 10
	row, key := i%(2*span)+2, "\x1b[B"
	if row > span+1 {
		row, key = 2*span+2-row, "\x1b[A"
	}
	since = time.Now()
	_, err = io.WriteString(w.pty, key)
	return atRow(row), since, err
}

func atRow(row int) string { return fmt.Sprintf("m%d/", row) } // the end of a colour, then the row

// emptyProgram is what a key costs without any console: it shows how often one was pressed.
type emptyProgram int

func (emptyProgram) Init() tea.Cmd { return nil }

func (p emptyProgram) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	key, ok := msg.(tea.KeyMsg)
	switch {
	case !ok:
		return p, nil
	case key.String() == "q":
		return p, tea.Quit
	}
	return p + 1, nil
}

func (p emptyProgram) View() string { return fmt.Sprintf("keys: %d.", int(p)) }

// benchEmpty measures the empty program.
func benchEmpty(ctx context.Context) (f figure, err error) {
	w, tty, err := openWatched()
	if err != nil {
		return f, err
	}
	ended := make(chan error, 1)
	go func() { // ends with the program, which q ends
		_, err := tea.NewProgram(emptyProgram(0), tea.WithInput(tty), tea.WithOutput(tty), tea.WithAltScreen(), tea.WithContext(ctx), tea.WithoutSignalHandler()).Run()
		ended <- err
	}()
	if err = w.sees(ctx, "keys: 0."); err == nil {
		f, err = w.frames(ctx, "key to frame, an empty program", "", func(i int) (string, time.Time, error) {
			since := time.Now()
			_, err := io.WriteString(w.pty, "j")
			return fmt.Sprintf("keys: %d.", i+1), since, err
		})
	}
	_, quit := io.WriteString(w.pty, "q")
	return f, errors.Join(err, quit, <-ended, tty.Close(), w.close())
}

// frameBench is a console attached to an owner, which is this process.
type frameBench struct {
	ctx   context.Context
	board core.Board
	w     *watched
	key   string   // of the session the console opens on
	speak []string // of those that speak
}

// prepare makes the sessions that are looked at.
func (b *frameBench) prepare() error {
	for i := range frameStreams + 1 {
		receipt, err := b.board.Do(b.ctx, core.Command{New: &core.New{Agent: "main", Label: fmt.Sprintf("stream-%02d", i)}})
		if err != nil {
			return err
		}
		b.speak = append(b.speak, receipt.Key)
	}
	b.key, b.speak = b.speak[0], b.speak[1:]
	return nil
}

// stream lets the agents of all streams speak for as long as it is measured.
func (b *frameBench) stream() error {
	message := "[[stream:6000/20ms]]" + strings.Repeat("the quick operator reads what the agents write; ", 1200)
	for _, key := range b.speak {
		if _, err := b.board.Do(b.ctx, core.Command{Send: &core.Send{Session: key, Message: message}}); err != nil {
			return err
		}
	}
	return nil
}

// commit writes a label that the console shows; the commit is done when Do returns.
func (b *frameBench) commit(name string) func(i int) (string, time.Time, error) {
	return func(i int) (text string, since time.Time, err error) {
		text = fmt.Sprintf("%s-%03d", name, i)
		_, err = b.board.Do(b.ctx, core.Command{Patch: &core.Patch{Session: b.key, Label: &text}})
		return text, time.Now(), err
	}
}

// run measures commits and keys, first with nothing going on and then with twenty agents speaking.
func (b *frameBench) run() (figures []figure, err error) {
	if err := b.w.sees(b.ctx, "stream-00"); err != nil {
		return nil, err
	}
	speaking := fmt.Sprintf(", %d streams live", frameStreams)
	for _, step := range []struct {
		work, target string
		before       func() error
		act          func(i int) (string, time.Time, error)
	}{
		{"commit to frame, attached console", "≤ 50", nil, b.commit("quiet")},
		{"key to frame, attached console", "≤ 20", b.home, b.w.key},
		{"commit to frame" + speaking, "≤ 50", func() error {
			return errors.Join(b.stream(), b.w.sees(b.ctx, "streaming"))
		}, b.commit("live")},
		{"key to frame" + speaking, "≤ 20", b.home, b.w.key},
	} {
		if step.before != nil {
			if err := step.before(); err != nil {
				return nil, err
			}
		}
		f, err := b.w.frames(b.ctx, step.work, step.target, step.act)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", step.work, err)
		}
		figures = append(figures, f)
	}
	return figures, nil
}

// home puts the cursor on the first session. It may be there, and then nothing would be drawn: so it goes to the last one before.
func (b *frameBench) home() error {
	info, err := b.board.Info(b.ctx)
	if err != nil {
		return err
	}
	b.w.mark()
	if _, err := io.WriteString(b.w.pty, "\x1b[F"); err != nil {
		return err
	}
	if err := b.w.sees(b.ctx, atRow(info.Store.Sessions)); err != nil {
		return err
	}
	b.w.mark()
	_, err = io.WriteString(b.w.pty, "\x1b[H\x1b[B") // its agent's row is the first
	return errors.Join(err, b.w.sees(b.ctx, atRow(1)))
}

// benchFrames measures the console on the store in dir, which nobody has open.
func (a *app) benchFrames(ctx context.Context, dir string) (figures []figure, err error) {
	if len(a.program) == 0 {
		return nil, errors.New("this program cannot be started from here, and so no console to measure")
	}
	empty, err := benchEmpty(ctx)
	if err != nil {
		return nil, err
	}
	config := filepath.Join(dir, "frames.json5")
	if err := os.WriteFile(config, []byte(frameConfig), 0o600); err != nil {
		return nil, err
	}
	o := host.Options{Dir: dir, ConfigPath: config, ConfigGiven: true, Version: version()}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // runs that still speak are cut short
	h, err := host.InProcess(ctx, o, host.ServeOptions{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, err
	}
	defer func() {
		cancel()
		err = errors.Join(err, h.Close())
	}()
	board, err := h.Board(ctx, core.Operator)
	if err != nil {
		return nil, err
	}
	defer board.Close()
	w, tty, err := openWatched()
	if err != nil {
		return nil, err
	}
	defer w.close()
	b := &frameBench{ctx: ctx, board: board, w: w}
	if err := b.prepare(); err != nil {
		return nil, errors.Join(err, tty.Close())
	}
	c := exec.CommandContext(ctx, a.program[0], append(a.program[1:len(a.program):len(a.program)],
		"--data", dir, "--config", config, "--theme", "dark", "--session", b.key)...)
	c.Stdin, c.Stdout, c.Stderr = tty, tty, tty
	// With CI or NO_COLOR the console would draw without colour, and other frames than people see.
	c.Env = append(os.Environ(), "CI=", "NO_COLOR=", "TERM=xterm-256color", "HOME="+dir, "XDG_STATE_HOME="+filepath.Join(dir, "state-home"), "XDG_CONFIG_HOME="+filepath.Join(dir, "config-home"))
	err = c.Start()
	if err := errors.Join(err, tty.Close()); err != nil {
		return nil, err
	}
	figures, err = b.run()
	_, quit := io.WriteString(w.pty, "q")
	return append([]figure{empty}, figures...), errors.Join(err, quit, c.Wait())
}
