package main

import (
	"context"
	"encoding/json"
	"io"
	"os"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"cordboard/core"
	"cordboard/core/host"
)

// streams are the process's surroundings, so that tests bring their own.
type streams struct {
	in       io.Reader
	out, err io.Writer
	getenv   func(string) string
	terminal bool // out is one
	progress bool // err is one: progress bars may be drawn
	width    func() int
}

func hostStreams() streams {
	return streams{
		in: os.Stdin, out: os.Stdout, err: os.Stderr, getenv: os.Getenv,
		terminal: isatty.IsTerminal(os.Stdout.Fd()) && isatty.IsTerminal(os.Stdin.Fd()),
		progress: isatty.IsTerminal(os.Stderr.Fd()),
		width:    terminalWidth,
	}
}

func terminalWidth() int {
	if w, _, err := term.GetSize(int(os.Stdout.Fd())); err == nil && w > 0 {
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
}

// options are what the global flags say about the store. A --config that was given empty means the defaults.
func (a *app) options(c *cobra.Command) host.Options {
	o := host.Options{Dir: a.dir, Version: version(), ConfigPath: a.configPath}
	o.ConfigGiven = c.Flags().Changed("config")
	return o
}

// read opens the store for reading as the operator, or as the session key when as is not blank, and calls fn.
func (a *app) read(c *cobra.Command, as string, fn func(ctx context.Context, b core.Board) error) error {
	h, err := host.Read(c.Context(), a.options(c))
	if err != nil {
		return err
	}
	defer h.Close()
	actor := core.Operator
	if as != "" {
		actor = core.Actor{Kind: core.ActorSession, Session: as}
	}
	b, err := h.Board(c.Context(), actor)
	if err != nil {
		return err
	}
	defer b.Close()
	return fn(c.Context(), b)
}

// own opens the store as its owner and calls fn.
func (a *app) own(c *cobra.Command, fn func(ctx context.Context, h *host.Host) error) (err error) {
	h, err := host.Own(c.Context(), a.options(c))
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

// printJSON writes v as indented JSON, text as it is stored.
func (a *app) printJSON(v any) error {
	enc := json.NewEncoder(a.out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

func (a *app) addAs(c *cobra.Command, as *string) {
	c.Flags().StringVar(as, "as", "", "act as this session: its scope, bounds and masking apply")
	offer(c, "as", a.sessionKeys)
}
