package main

import (
	"context"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"cordboard/core"
	"cordboard/core/host"
	"cordboard/testdata"
)

func newDemo(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "demo",
		Short: "Open the console on a scratch store with a small fleet",
		Long: "demo imports a small OpenClaw state directory into a scratch store, makes some of its sessions answer with the offline runtime, and opens\n" +
			"the console on it: messages between agents, sub-agents, a queue, a failure, a denied channel, a sandboxed agent, and one that\n" +
			"you play. All of it is removed when you leave.",
		Args: usageArgs(cobra.NoArgs),
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
	o := host.Options{Dir: filepath.Join(dir, "store"), ConfigPath: filepath.Join(dir, "demo.json5"), ConfigGiven: true, Version: version()}
	if err := os.WriteFile(o.ConfigPath, testdata.DemoConfig, 0o600); err != nil {
		return err
	}
	cfg, _, err := o.LoadConfig()
	if err != nil {
		return err
	}
	h, err := host.InProcess(ctx, o, host.ServeOptions{Log: slog.New(slog.DiscardHandler)})
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
	if !a.console.readOnly {
		director, err := h.Board(ctx, core.Operator)
		if err != nil {
			return err
		}
		playing, end := context.WithCancel(ctx)
		done := make(chan struct{})
		go func() { // ends with the console
			defer close(done)
			live(playing, director)
		}()
		defer func() {
			end()
			<-done
			_ = director.Close()
		}()
	}
	return a.open(ctx, b, setting{title: "demo", ui: cfg.UI, export: exporter(h, exportDir), noSuspend: suspending(h)})
}

func fleet() fs.FS {
	sub, err := fs.Sub(testdata.Fleet, "openclaw")
	if err != nil {
		panic(err) // the name is a constant
	}
	return sub
}
