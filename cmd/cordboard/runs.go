package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"cordboard/core"
)

func newRuns(a *app) *cobra.Command {
	var limit int
	c := &cobra.Command{
		Use:               "runs [KEY|SESSIONID]",
		Short:             "List runs, the newest first",
		Args:              usageArgs(cobra.MaximumNArgs(1)),
		ValidArgsFunction: oneOf(a.sessionKeys),
		RunE: func(c *cobra.Command, args []string) error {
			q := core.RecordQuery{Kind: core.RecordRuns, Limit: limit}
			if len(args) == 1 {
				q.Session = args[0]
			}
			return a.read(c, "", func(ctx context.Context, b core.Board) error {
				page, err := b.Records(ctx, q)
				if err != nil {
					return err
				}
				if a.json {
					return a.printJSON(map[string]any{"runs": orEmpty(page.Runs), "count": len(page.Runs)})
				}
				return a.runsTable(page.Runs)
			})
		},
	}
	c.Flags().IntVar(&limit, "limit", 200, "how many at most")
	return c
}

func orEmpty(runs []core.Run) []core.Run {
	if runs == nil {
		return []core.Run{}
	}
	return runs
}

func (a *app) runsTable(runs []core.Run) error {
	t := table{columns: []column{
		{title: "RUN", tail: true},
		{title: "SESSION", grow: true, tail: true},
		{title: "KIND"},
		{title: "STATE"},
		{title: "QUEUED", spare: 1},
		{title: "TOOK", right: true},
		{title: "ERROR", spare: 2},
	}}
	for _, r := range runs {
		state := string(r.Outcome)
		if r.State != core.RunEnded {
			state = a.unowned(string(r.State))
		}
		took := nothing
		if r.StartedAt > 0 && r.EndedAt >= r.StartedAt {
			took = (time.Duration(r.EndedAt-r.StartedAt) * time.Millisecond).String()
		}
		t.add(r.ID, r.SessionKey, string(r.Kind), state, instant(r.QueuedAt), took, r.Error)
	}
	return t.write(a.out, a.width())
}

func newWait(a *app) *cobra.Command {
	var timeout int
	c := &cobra.Command{
		Use:   "wait RUN",
		Short: "Wait for a run's end and print its reply",
		Long:  "wait may be called any number of times, also for a run that ended long ago. Exit code 3: it has not ended yet; 5: it failed.",
		Args:  usageArgs(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			if err := checkWait(timeout); err != nil {
				return err
			}
			return a.reach(c, "", func(ctx context.Context, b core.Board) error { return a.await(ctx, b, args[0], timeout) })
		},
	}
	c.Flags().IntVar(&timeout, "timeout", defaultWait, "seconds to wait")
	return c
}

func newAbort(a *app) *cobra.Command {
	return &cobra.Command{
		Use:               "abort RUN|KEY",
		Short:             "End a run, or what runs or is queued first in a session",
		Args:              usageArgs(cobra.ExactArgs(1)),
		ValidArgsFunction: oneOf(a.sessionKeys),
		RunE: func(c *cobra.Command, args []string) error {
			return a.reach(c, "", func(ctx context.Context, b core.Board) error {
				receipt, err := b.Do(ctx, core.Command{Abort: &core.Abort{Run: args[0]}})
				if core.CodeOf(err) == core.CodeNotFound {
					receipt, err = b.Do(ctx, core.Command{Abort: &core.Abort{Session: args[0]}})
				}
				if err != nil {
					return err
				}
				if a.json {
					return a.printJSON(receipt)
				}
				return a.say("aborted run %s in %s", receipt.Run, receipt.Key)
			})
		},
	}
}
