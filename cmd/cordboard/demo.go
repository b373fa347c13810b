package main

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"cordboard/core/host"
	"cordboard/testdata"
)

func newDemo(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "demo",
		Short: "Open the console on a scratch store with a small fleet",
		Long:  "demo imports a small OpenClaw state directory into a scratch store, opens the console on it and removes both when you leave.",
		Args:  usageArgs(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := a.needTerminal(); err != nil {
				return err
			}
			stop, done, err := a.supervise(c)
			defer stop()
			if done {
				return err
			}
			dir, err := newScratch("", "cordboard-demo-")
			if err != nil {
				return err
			}
			defer dir.remove()
			return a.demo(c.Context(), dir.path)
		},
	}
	a.addConsoleFlags(c)
	return c
}

func (a *app) demo(ctx context.Context, dir string) error {
	source := filepath.Join(dir, "fleet")
	if err := os.CopyFS(source, fleet()); err != nil {
		return err
	}
	o := host.Options{Dir: filepath.Join(dir, "store"), ConfigGiven: true, Version: version()}
	defaults, _, err := o.LoadConfig()
	if err != nil {
		return err
	}
	h, err := host.Own(ctx, o)
	if err != nil {
		return err
	}
	defer h.Close()
	if _, err := h.Import(ctx, source, host.ImportOptions{}); err != nil {
		return err
	}
	b, err := h.Board(ctx, a.console.actor())
	if err != nil {
		return err
	}
	defer b.Close()
	return a.open(ctx, b, setting{title: "demo", ui: defaults.UI, export: exporter(h, exportDir)})
}

func fleet() fs.FS {
	sub, err := fs.Sub(testdata.Fleet, "openclaw")
	if err != nil {
		panic(err) // the name is a constant
	}
	return sub
}
