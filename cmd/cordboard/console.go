package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"
	"github.com/spf13/cobra"

	"cordboard/core"
	"cordboard/core/host"
	"cordboard/themes"
	"cordboard/ui"
	"cordboard/ui/safe"
)

// consoleWait is how long a console's read waits for a process that is writing: its view stays up, and it tries again.
const consoleWait = 250 * time.Millisecond

func (a *app) needTerminal() error {
	if a.terminal {
		return nil
	}
	return &usageError{errors.New("the console needs a terminal: use a verb such as `cordboard list` (see cordboard --help)")}
}

// console opens the console on the store, which it makes when there is none. It only reads: other verbs work while it is open.
func (a *app) console(c *cobra.Command, _ []string) error {
	if err := a.needTerminal(); err != nil {
		return err
	}
	o := a.options(c)
	if !host.Exists(o) {
		h, err := host.Own(c.Context(), o)
		if err != nil {
			return err
		}
		if err := h.Close(); err != nil {
			return err
		}
	}
	o.LockWait = consoleWait
	h, err := host.Read(c.Context(), o)
	if err != nil {
		return err
	}
	defer h.Close()
	b, err := h.Board(c.Context(), core.Operator)
	if err != nil {
		return err
	}
	defer b.Close()
	cfg, _, err := o.LoadConfig()
	if err != nil {
		return err
	}
	return a.open(c.Context(), b, consoleLook{theme: cfg.UI.Theme, fps: cfg.UI.FPS})
}

// consoleLook is how a console is to look.
type consoleLook struct {
	title string // "" = the store's path
	theme string
	fps   int
}

// open runs the console on a board until the operator leaves it.
func (a *app) open(ctx context.Context, b core.Board, look consoleLook) error {
	styles, err := a.styles(look.theme)
	if err != nil {
		return err
	}
	m := ui.New(ui.Env{Board: b, Theme: styles, Title: look.title, Now: time.Now, Zone: time.Local})
	defer m.Close()
	options := []tea.ProgramOption{tea.WithContext(ctx), tea.WithAltScreen(), tea.WithInput(a.in), tea.WithOutput(a.out)}
	if look.fps > 0 {
		options = append(options, tea.WithFPS(look.fps))
	}
	_, err = tea.NewProgram(m, options...).Run()
	switch {
	case errors.Is(err, tea.ErrProgramPanic):
		return errors.New("the console broke down and gave the terminal back: what it showed is stored and unharmed. Please report the lines above")
	case errors.Is(err, tea.ErrProgramKilled) && ctx.Err() != nil:
		return nil // a signal asked us to go
	case err != nil:
		return err
	}
	if text := m.Farewell(); text != "" {
		fmt.Fprintln(a.out, safe.Line(text))
	}
	return nil
}

// styles compiles the theme for this terminal. NO_COLOR takes the colours away and keeps bold and reverse, so that the selection is seen.
func (a *app) styles(configured string) (*themes.Styles, error) {
	renderer := lipgloss.NewRenderer(io.Discard)
	renderer.SetColorProfile(termenv.NewOutput(os.Stdout, termenv.WithEnvironment(environ(a.getenv))).EnvColorProfile())
	name := themes.Choose("", configured, a.getenv("COLORFGBG"))
	if a.getenv("NO_COLOR") != "" {
		name = themes.NoColour
		if a.getenv("TERM") != "dumb" {
			renderer.SetColorProfile(termenv.ANSI)
		}
	}
	palette, err := themes.Load(name)
	if err != nil {
		return nil, err
	}
	return themes.Compile(palette, renderer), nil
}

// environ lets termenv read our surroundings.
type environ func(string) string

func (e environ) Getenv(name string) string { return e(name) }

func (e environ) Environ() []string {
	var list []string
	for _, pair := range os.Environ() {
		name, _, _ := strings.Cut(pair, "=")
		list = append(list, name+"="+e(name))
	}
	return list
}
