package main

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"cordboard/core/host"
	"cordboard/ui/safe"
)

func newServe(a *app) *cobra.Command {
	var idle time.Duration
	var stop bool
	c := &cobra.Command{
		Use:   "serve",
		Short: "Own the store: run agents and answer consoles and verbs",
		Long: "serve is the one process that owns the store. Whoever needs it and finds none starts it, so it need not be started by hand; it then\n" +
			"ends when nobody has needed it for 60 s. Started without --idle-exit, as under a service manager, it stays. SIGTERM starts no more\n" +
			"runs, gives those that run engine.drain to end and exits with code 0. --stop asks the owner of this store to do so.",
		Args: usageArgs(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			switch {
			case idle < 0:
				return &usageError{fmt.Errorf("--idle-exit %s: a duration such as 60s, or 0 to stay", idle)}
			case stop && c.Flags().Changed("idle-exit"):
				return &usageError{errors.New("--stop and --idle-exit do not go together")}
			case stop:
				return a.stopOwner(c)
			}
			var log *slog.Logger
			if f, ok := a.err.(*os.File); !ok || !host.IsOwnerLog(f, a.options(c)) {
				log = slog.New(slog.NewJSONHandler(a.err, &slog.HandlerOptions{Level: slog.LevelDebug}))
			}
			return host.Serve(c.Context(), a.options(c), host.ServeOptions{IdleExit: idle, Log: log})
		},
	}
	c.Flags().DurationVar(&idle, "idle-exit", 0, "end after this long without a client, a live run or work that is due; 0 stays")
	c.Flags().BoolVar(&stop, "stop", false, "stop the owner of this store and wait until it has let go")
	return c
}

func (a *app) stopOwner(c *cobra.Command) error {
	pid, err := host.Stop(c.Context(), a.options(c))
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(map[string]int{"stopped": pid})
	}
	if pid == 0 {
		_, err = fmt.Fprintln(a.out, "nobody owns the store")
		return err
	}
	_, err = fmt.Fprintf(a.out, "stopped the owner, pid %d\n", pid)
	return err
}

func newStatus(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Show who owns the store and what runs",
		Args:  usageArgs(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			status, err := host.StatusOf(c.Context(), a.options(c))
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(status)
			}
			return a.statusText(status)
		},
	}
}

func (a *app) statusText(s host.Status) error {
	owner, idle, runs := "nobody: the store is only read", "", ""
	if s.Owner != "" {
		owner = fmt.Sprintf("%s, pid %d, since %s", s.Owner, s.PID, instant(s.Since))
		idle = "never by itself"
		if s.IdleExit > 0 {
			idle = "after " + (time.Duration(s.IdleExit) * time.Millisecond).String() + " without need"
		}
		if s.Draining {
			idle = "now: it waits for what runs"
		}
		runs = fmt.Sprintf("%d running, %d queued", s.Running, s.Queued)
	} else if s.Running+s.Queued > 0 {
		runs = fmt.Sprintf("%d left running (no owner), %d queued: the next owner sees to them", s.Running, s.Queued)
	}
	for _, fact := range [][2]string{
		{"store", s.Store.Path + ", " + strconv.Itoa(s.Store.Sessions) + " sessions, " + bytesText(s.Store.Bytes)},
		{"owner", owner},
		{"version", s.Version},
		{"socket", s.Socket},
		{"config", s.Config},
		{"", s.News},
		{"clients", strconv.Itoa(s.Clients)},
		{"runs", runs},
		{"ends", idle},
	} {
		if fact[1] == "" || fact[0] == "clients" && s.Owner == "" {
			continue
		}
		if _, err := fmt.Fprintf(a.out, "%-9s%s\n", fact[0], safe.Line(fact[1])); err != nil {
			return err
		}
	}
	return nil
}
