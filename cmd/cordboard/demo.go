package main

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"cordboard/core"
	"cordboard/core/host"
	"cordboard/testdata"
)

func newDemo(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "Open the console on a scratch store with a small fleet",
		Long:  "demo imports a small OpenClaw state directory into a scratch store, opens the console on it and removes both when you leave.",
		Args:  usageArgs(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := a.needTerminal(); err != nil {
				return err
			}
			dir, err := os.MkdirTemp("", "cordboard-demo-")
			if err != nil {
				return err
			}
			defer os.RemoveAll(dir)
			return a.demo(c.Context(), dir)
		},
	}
}

func (a *app) demo(ctx context.Context, dir string) error {
	source := filepath.Join(dir, "fleet")
	if err := os.CopyFS(source, fleet()); err != nil {
		return err
	}
	h, err := host.Own(ctx, host.Options{Dir: filepath.Join(dir, "store"), ConfigGiven: true, Version: version()})
	if err != nil {
		return err
	}
	defer h.Close()
	if _, err := h.Import(ctx, source, host.ImportOptions{}); err != nil {
		return err
	}
	b, err := h.Board(ctx, core.Operator)
	if err != nil {
		return err
	}
	defer b.Close()
	return a.open(ctx, b, consoleLook{title: "demo"})
}

func fleet() fs.FS {
	sub, err := fs.Sub(testdata.Fleet, "openclaw")
	if err != nil {
		panic(err) // the name is a constant
	}
	return sub
}
