package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"cordboard/core"
	"cordboard/core/host"
	"cordboard/ui/safe"
)

// streams are the process's surroundings, so that tests bring their own.
type streams struct {
	in       io.Reader
	out, err io.Writer
	getenv   func(string) string
	terminal bool // out is one
	progress bool // err is one: progress bars may be drawn
	width    func() int
	barWidth func() int // of the terminal that progress bars are drawn on
	program  []string   // starts this program again, as the owner of a store
}

func hostStreams() streams {
	return streams{
		in: os.Stdin, out: os.Stdout, err: os.Stderr, getenv: os.Getenv,
		terminal: isatty.IsTerminal(os.Stdout.Fd()) && isatty.IsTerminal(os.Stdin.Fd()),
		progress: isatty.IsTerminal(os.Stderr.Fd()),
		width:    terminalWidth,
		barWidth: func() int { return widthOf(os.Stderr) },
		program:  thisProgram(),
	}
}

func thisProgram() []string {
	path, err := os.Executable()
	if err != nil {
		return nil // then no owner is started, and who needs one hears of it
	}
	return []string{path}
}

func terminalWidth() int { return widthOf(os.Stdout) }

func widthOf(f *os.File) int {
	if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
		return w
	}
	return 0
}

// app is one run of the program: its surroundings and the flags every verb has.
type app struct {
	streams
	dir        string
	configPath string
	json       bool
	args       []string // the command line
	console    consoleFlags
	signs      signs // to the process above, of a console under supervision
	owned      bool  // somebody runs agents: what is shown as running does
}

// options are what the global flags say about the store. A --config that was given empty means the defaults.
func (a *app) options(c *cobra.Command) host.Options {
	o := host.Options{Dir: a.dir, Version: version(), ConfigPath: a.configPath, Program: a.program}
	o.ConfigGiven = c.Flags().Changed("config")
	return o
}

// read calls fn with a board to read by, as the operator, or as the session key when as is not blank: the owner's when there is an owner,
// else of the store opened for reading.
func (a *app) read(c *cobra.Command, as string, fn func(ctx context.Context, b core.Board) error) error {
	return a.with(c, host.Read, as, fn)
}

// reach is read for what needs an owner, which is started when there is none.
func (a *app) reach(c *cobra.Command, as string, fn func(ctx context.Context, b core.Board) error) error {
	return a.with(c, host.Attach, as, fn)
}

func (a *app) with(
	c *cobra.Command, open func(context.Context, host.Options) (*host.Host, error), as string, fn func(ctx context.Context, b core.Board) error,
) error {
	if flag := c.Flag("as"); flag != nil && flag.Changed && strings.TrimSpace(flag.Value.String()) == "" {
		return &usageError{errors.New("--as is blank: name the session to act as, or leave it out to be the operator")}
	}
	h, err := a.way(c, open)
	if err != nil {
		return err
	}
	defer h.Close()
	a.owned = h.Attached()
	actor := core.Operator
	if as != "" {
		actor = core.Actor{Kind: core.ActorSession, Session: as}
	}
	b, err := h.Board(c.Context(), actor)
	if core.CodeOf(err) == core.CodeNotFound {
		return cmp.Or(meant(c.Context(), h, as), err)
	}
	if err != nil {
		return err
	}
	defer b.Close()
	return fn(c.Context(), b)
}

// way is how a verb comes to the store, read or reached. A command that plays an agent is the session of its run, unless it names a store by --data.
func (a *app) way(c *cobra.Command, open func(context.Context, host.Options) (*host.Host, error)) (*host.Host, error) {
	child := host.Child{Socket: a.getenv("CORDBOARD_SOCKET"), Token: a.getenv("CORDBOARD_TOKEN")}
	if child.Socket != "" && child.Token != "" && !c.Flags().Changed("data") {
		return host.AsChild(c.Context(), a.options(c), child)
	}
	return open(c.Context(), a.options(c))
}

// unowned marks a state that nobody sees to.
func (a *app) unowned(state string) string {
	if a.owned {
		return state
	}
	return state + " (no owner)"
}

// meant is what the operator is told about a session that there is not: which one he may have meant.
func meant(ctx context.Context, h *host.Host, as string) error {
	b, err := h.Board(ctx, core.Operator)
	if err != nil {
		return err
	}
	defer b.Close()
	if _, err = b.Records(ctx, core.RecordQuery{Kind: core.RecordSession, Session: as}); err != nil {
		err = fmt.Errorf("--as: %w", err)
	}
	return err
}

// own calls fn with the store, through its owner or, when there is none, as its owner for that time.
func (a *app) own(c *cobra.Command, fn func(ctx context.Context, h *host.Host) error) (err error) {
	h, err := host.OwnOrAttached(c.Context(), a.options(c))
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := h.Close(); err == nil {
			err = closeErr
		}
	}()
	return fn(c.Context(), h)
}

// ownFor is own for a verb that takes a directory over: a store is made only once that is known to be one.
func (a *app) ownFor(c *cobra.Command, dir string, fn func(ctx context.Context, h *host.Host) error) error {
	if err := host.CheckSource(dir); err != nil {
		return err
	}
	return a.own(c, fn)
}

// say prints a line, the parts of which are safe to show.
func (a *app) say(format string, parts ...string) error {
	shown := make([]any, len(parts))
	for i, part := range parts {
		shown[i] = safe.Line(part)
	}
	_, err := fmt.Fprintf(a.out, format+"\n", shown...)
	return err
}

// printJSON writes v as indented JSON, text as it is stored. What is stored and not UTF-8 shows as U+FFFD: JSON has no other way.
func (a *app) printJSON(v any) error {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := a.out.Write(asUTF8(text.Bytes()))
	return err
}

func asUTF8(text []byte) []byte {
	if utf8.Valid(text) {
		return text
	}
	return bytes.ToValidUTF8(text, []byte("\uFFFD"))
}

func (a *app) addAs(c *cobra.Command, as *string) {
	c.Flags().StringVar(as, "as", "", "act as this session: its scope, bounds and masking apply")
	offer(c, "as", a.sessionKeys)
}
