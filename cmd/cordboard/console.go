package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"cordboard/core"
	"cordboard/core/host"
	"cordboard/ui"
	"cordboard/ui/safe"
)

// consoleWait is how long a console's read waits for a process that is writing: its view stays up, and it tries again.
const consoleWait = 250 * time.Millisecond

// consoleFlags are what the command line says about the console.
type consoleFlags struct {
	session, view, filter, lookAs string
	theme                         string
	follow                        string // a running OpenClaw's directory
	readOnly, accessible, ascii   bool
	inProcess                     bool
	news                          <-chan string // told while the console is open; nil = none
}

func (a *app) addConsoleFlags(c *cobra.Command) {
	f := &a.console
	flags := c.Flags()
	flags.StringVar(&f.follow, "follow", "", "keep the store up to date with a running OpenClaw's `DIR` while the console is open")
	flags.StringVar(&f.session, "session", "", "open on this session: a KEY as for the verbs")
	flags.StringVar(&f.view, "view", "", "open with this saved view")
	flags.StringVar(&f.filter, "filter", "", "open with this text in the filter")
	flags.StringVar(&f.lookAs, "look-as", "", "open as this session sees the fleet")
	flags.StringVar(&f.theme, "theme", "", "theme by name or file, over ui.theme and the one kept")
	flags.BoolVar(&f.readOnly, "readonly", false, "change nothing, whatever is pressed")
	flags.BoolVar(&f.accessible, "accessible", false, "one pane, no boxes, the terminal's own cursor at the selection (ui.accessible)")
	flags.BoolVar(&f.ascii, "ascii", false, "draw borders and signs in ASCII, for terminals that draw them two cells wide")
	offer(c, "session", a.sessionKeys)
	offer(c, "look-as", a.sessionKeys)
	offer(c, "theme", func(*cobra.Command) []string { return themeNames() })
}

// actor is on whose behalf the console acts.
func (f *consoleFlags) actor() core.Actor {
	actor := core.Operator
	actor.ReadOnly = f.readOnly
	return actor
}

func (a *app) needTerminal() error {
	if a.terminal {
		return nil
	}
	return &usageError{errors.New("the console needs a terminal: use a verb such as `cordboard list` (see cordboard --help)")}
}

// openConsole opens the console on the store; the default one it makes when there is none. It attaches to the store's owner, which it starts when
// there is none; with --readonly it starts none and reads the store where there is none.
func (a *app) openConsole(c *cobra.Command, _ []string) error {
	if a.console.inProcess && a.console.readOnly {
		return &usageError{errors.New("--in-process and --readonly do not go together: an owner puts its store in order")}
	}
	if err := a.needTerminal(); err != nil {
		return err
	}
	stop, done, err := a.supervise(c)
	defer stop()
	if done {
		return err
	}
	if a.console.follow != "" {
		return a.followConsole(c)
	}
	o := a.options(c)
	h, err := a.consoleHost(c.Context(), o)
	if err != nil {
		return err
	}
	return errors.Join(a.openHost(c, h), a.leave(h))
}

// leave closes the way to the store. What runs in this process is told of, for it may take as long as engine.drain to end.
func (a *app) leave(h *host.Host) error {
	if runs, _ := h.Busy(context.Background()); runs > 0 {
		fmt.Fprintf(a.err, "waiting for %s to end; ctrl+c interrupts\n", counted(runs, "run"))
	}
	return h.Close()
}

// openHost opens the console on an open store as the operator, as config and flags say.
func (a *app) openHost(c *cobra.Command, h *host.Host) error {
	o := a.options(c)
	b, err := h.Board(c.Context(), a.console.actor())
	if err != nil {
		return err
	}
	defer b.Close()
	cfg, _, err := o.LoadConfig()
	if err != nil {
		return err
	}
	dir := firstText(o.Dir, host.DefaultDir())
	s := setting{title: a.tilde(dir), ui: cfg.UI, state: newUIState(host.DefaultDir(), dir), again: []string{"cordboard"}}
	for _, flag := range []struct{ name, value string }{{"data", o.Dir}, {"config", o.ConfigPath}, {"follow", a.console.follow}} {
		if c.Flags().Changed(flag.name) {
			s.again = append(s.again, "--"+flag.name, flag.value)
		}
	}
	if cfg.UI.Keymap != "" {
		if s.keys, err = readKeymap(o, a.home(cfg.UI.Keymap)); err != nil {
			s.notices = append(s.notices, "your keymap is left out, the usual keys are in force: "+err.Error())
		}
	}
	s.export, s.found, s.noSuspend = exporter(h, exportDir), a.openClawDirs(), suspending(h)
	return a.open(c.Context(), b, s)
}

// consoleHost is the way to the store for a console.
func (a *app) consoleHost(ctx context.Context, o host.Options) (*host.Host, error) {
	if a.console.inProcess {
		return host.InProcess(ctx, o, host.ServeOptions{Log: slog.New(slog.DiscardHandler)})
	}
	if !a.console.readOnly {
		return host.Attach(ctx, o)
	}
	if !host.Exists(o) && o.Dir == "" { // a name that was mistyped is no reason to make a store there
		h, err := host.Own(ctx, o)
		if err != nil {
			return nil, err
		}
		if err := h.Close(); err != nil {
			return nil, err
		}
	}
	o.LockWait = consoleWait
	return host.Read(ctx, o)
}

// setting is what a console is opened with.
type setting struct {
	title   string
	ui      host.ConfigUI
	state   ui.State // nil = nothing is remembered
	keys    ui.Keys
	notices []string
	export  func(ctx context.Context, session string) (string, error)
	found   []string // OpenClaw state directories to offer
	// noSuspend is why the console cannot be suspended, "" when it can.
	noSuspend func() string
	again     []string // the command line that comes back here, without what the operator chose inside; nil = there is no coming back
}

// open runs the console on a board until the operator leaves it.
func (a *app) open(ctx context.Context, b core.Board, s setting) error {
	start, err := a.start(ctx, b)
	if err != nil {
		return err
	}
	look, err := a.dress(s.ui)
	if err != nil {
		return err
	}
	accessible := a.console.accessible || s.ui.Accessible
	out := a.newScreen()
	m := ui.New(ui.Env{
		Board: b, Title: s.title, Now: time.Now, Zone: time.Local, Start: start,
		Theme: look.styles, ThemeName: look.name, ThemeAsked: s.ui.Theme, ThemeFixed: a.console.theme != "", Looks: look.others(),
		Keys: s.keys, State: s.state, Notices: append(s.notices, look.notices...),
		Accessible: accessible, ASCII: a.console.ascii || eastAsian(a.getenv("RUNEWIDTH_EASTASIAN")), Mouse: s.ui.Mouse,
		NoSuspend: s.noSuspend, Notify: bell(out, s.ui.Notifications), Export: s.export, OpenClaw: s.found, Outside: a.outside(out),
		NewID: uuid.NewString,
	})
	if screen, ok := out.(*screen); ok && accessible {
		screen.cursor = m.Cursor
	}
	err = a.runProgram(ctx, m, s, look, out)
	if closeErr := m.Close(); err == nil && closeErr != nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	if !errors.Is(context.Cause(ctx), errAlone) { // a shell writes there now
		a.farewell(m, s.again)
	}
	return nil
}

// runProgram gives the terminal to a console until it is left.
func (a *app) runProgram(ctx context.Context, m *ui.Model, s setting, look *wardrobe, out io.Writer) error {
	options := []tea.ProgramOption{
		tea.WithContext(ctx), tea.WithAltScreen(), tea.WithoutSignalHandler(), tea.WithFPS(a.framesPerSecond(s.ui)),
		tea.WithInput(a.in), tea.WithOutput(out),
	}
	typed, begun := cutTyped(look.typed)
	if in, ok := a.in.(*os.File); ok {
		options = append(options, tea.WithInput(newKeyboard(in, look.asked, begun)))
	}
	if s.ui.Mouse {
		options = append(options, tea.WithMouseCellMotion())
	}
	p := tea.NewProgram(m, options...)
	done := make(chan struct{})
	go func() { // what was typed while the terminal was asked
		defer close(done)
		for _, key := range keysOf(typed) {
			p.Send(key)
		}
	}()
	over, told := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(told)
		for {
			select {
			case text := <-a.console.news:
				p.Send(ui.Notice(text))
			case <-over:
				return
			}
		}
	}()
	_, err := p.Run()
	close(over)
	<-told
	<-done
	switch {
	case errors.Is(err, tea.ErrProgramPanic):
		return errors.New("the console broke down and gave the terminal back: what it showed is stored and unharmed. Please report the lines above")
	case ctx.Err() != nil:
		return nil // a signal asked us to go, or the terminal is another's
	}
	return err
}

// start is where the console opens. A session that the command line names must be there.
func (a *app) start(ctx context.Context, b core.Board) (ui.Start, error) {
	f := &a.console
	start := ui.Start{View: f.view, Filter: f.filter}
	for _, named := range []struct {
		flag, value string
		key         *string
	}{{"--session", f.session, &start.Session}, {"--look-as", f.lookAs, &start.LookAs}} {
		if named.value == "" {
			continue
		}
		page, err := b.Records(ctx, core.RecordQuery{Kind: core.RecordSession, Session: named.value})
		if err != nil {
			return start, fmt.Errorf("%s: %w", named.flag, err)
		}
		*named.key = page.Session.Session.Key
	}
	return start, nil
}

// framesPerSecond is ui.fps, and half of the usual where every frame crosses a network.
func (a *app) framesPerSecond(s host.ConfigUI) int {
	const usual, remote = 60, 30
	if s.FPS == usual && a.getenv("SSH_TTY") != "" {
		return remote
	}
	return s.FPS
}

// farewell prints what the console has to say at its end, and how to come back to where it was left.
func (a *app) farewell(m *ui.Model, again []string) {
	if text := m.Farewell(); text != "" {
		fmt.Fprintln(a.out, safe.Line(text))
	}
	if again == nil {
		return
	}
	left := m.Left()
	for _, flag := range []struct{ name, value string }{
		{"--session", left.Session}, {"--view", left.View}, {"--filter", left.Filter}, {"--look-as", left.LookAs},
	} {
		if flag.value != "" && safe.Line(flag.value) == flag.value { // what a shell cannot be given is left out
			again = append(again, flag.name, flag.value)
		}
	}
	words := make([]string, len(again))
	for i, word := range again {
		words[i] = shellWord(word)
	}
	fmt.Fprintln(a.out, "back here:", safe.Line(strings.Join(words, " ")))
}

// shellWord is a word as any POSIX shell takes it.
func shellWord(word string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-"
	if word != "" && strings.Trim(word, plain) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// tilde writes a path under the home directory as people do.
func (a *app) tilde(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	home := filepath.Clean(a.getenv("HOME"))
	if rel, err := filepath.Rel(home, path); err == nil && filepath.IsAbs(home) && rel != ".." && !strings.HasPrefix(rel, "../") {
		if rel == "." {
			return "~"
		}
		return "~/" + rel
	}
	return path
}

// home is the reverse: a config says ~/keys.json5.
func (a *app) home(path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok && a.getenv("HOME") != "" {
		return filepath.Join(a.getenv("HOME"), rest)
	}
	return path
}

func firstText(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}

// eastAsian reads RUNEWIDTH_EASTASIAN, by which a user says that the terminal draws box characters two cells wide.
func eastAsian(value string) bool { return value == "1" || strings.EqualFold(value, "true") }

// readKeymap reads and checks a keymap file. Its errors are host.ConfigProblems, each with its place in the file.
func readKeymap(o host.Options, path string) (ui.Keys, error) {
	path, file, err := o.ReadJSON5(path)
	if err != nil {
		return nil, host.ConfigProblems{{File: path, Message: err.Error()}}
	}
	keys, err := ui.ReadKeys(file.JSON)
	if err == nil {
		return keys, nil
	}
	var problems host.ConfigProblems
	for _, each := range flatten(err) {
		p := host.ConfigProblem{File: path, Message: each.Error()}
		if e, ok := errors.AsType[*core.Error](each); ok {
			p.Line, p.Col = file.Place(e.ConfigKey)
			p.Allowed = e.Allowed
		}
		problems = append(problems, p)
	}
	return nil, problems
}

// flatten is the errors that were joined into one.
func flatten(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	return []error{err}
}
