package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"cordboard/core"
)

func newRuns(a *app) *cobra.Command {
	var limit int
	c := &cobra.Command{
		Use:               "runs [KEY|SESSIONID]",
		Short:             "List runs, the newest first",
		Long:              "runs lists what agents did, do and still have to: a queued run with its place in the line of its session, how long it waited and ran.",
		Example:           "  cordboard runs agent:main:main --limit 20",
		Args:              usageArgs(cobra.MaximumNArgs(1)),
		ValidArgsFunction: oneOf(a.sessionKeys),
		RunE: func(c *cobra.Command, args []string) error {
			if err := checkLimit(limit); err != nil {
				return err
			}
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
					return a.printJSON(runList{orEmpty(page.Runs), len(page.Runs), page.Positions})
				}
				return a.runsTable(page, time.Now())
			})
		},
	}
	c.Flags().IntVar(&limit, "limit", 200, "how many at most")
	return c
}

// orEmpty makes a list that is not there an empty one in JSON.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// runList is what `runs --json` prints.
type runList struct {
	Runs      []core.Run     `json:"runs"`
	Count     int            `json:"count"`
	Positions map[string]int `json:"positions,omitempty"` // in the line of its session, from 1, by run id
}

func (a *app) runsTable(page core.RecordPage, now time.Time) error {
	if len(page.Runs) == 0 {
		return a.say("no runs.")
	}
	t := table{columns: []column{
		{title: "RUN", tail: true},
		{title: "SESSION", grow: true, tail: true},
		{title: "KIND"},
		{title: "STATE"},
		{title: "QUEUED", spare: 1},
		{title: "WAITED", right: true, spare: 3},
		{title: "RAN", right: true},
		{title: "ERROR", spare: 2},
	}}
	for _, r := range page.Runs {
		state := string(r.Outcome)
		if r.State != core.RunEnded {
			state = a.unowned(string(r.State))
		}
		if place := page.Positions[r.ID]; place > 0 {
			state += fmt.Sprintf(" #%d", place)
		}
		waited, ran := a.spans(r, now)
		t.add(r.ID, r.SessionKey, string(r.Kind), state, instant(r.QueuedAt), waited, ran, r.Error)
	}
	return t.write(a.out, a.width())
}

// spans are how long a run was queued and how long it ran. What has not ended counts up to now, unless nobody sees to it.
func (a *app) spans(r core.Run, now time.Time) (waited, ran string) {
	span := func(from, to int64) string {
		if to == 0 && a.owned && r.State != core.RunEnded {
			to = now.UnixMilli()
		}
		if from == 0 || to < from {
			return nothing
		}
		return (time.Duration(to-from) * time.Millisecond).String()
	}
	begun := r.StartedAt
	if begun == 0 && r.State == core.RunEnded {
		begun = r.EndedAt // it never ran
	}
	return span(r.QueuedAt, begun), span(r.StartedAt, r.EndedAt)
}

func newWait(a *app) *cobra.Command {
	var timeout int
	c := &cobra.Command{
		Use:   "wait RUN|KEY",
		Short: "Wait for a run's end and print its reply",
		Long: "wait may be called any number of times, also for a run that ended long ago. A session's key names the run that is live there, else the\n" +
			"first that is queued, else the one that ended last. Exit code 3: it has not ended yet; 5: it failed.",
		Example:           "  cordboard wait 5b0c2f6e-8c1e-4f5e-9a3c-1f0f5d0a7c11 --timeout 600",
		Args:              usageArgs(cobra.ExactArgs(1)),
		ValidArgsFunction: oneOf(a.runIDs),
		RunE: func(c *cobra.Command, args []string) error {
			if err := checkWait(timeout); err != nil {
				return err
			}
			return a.reach(c, "", func(ctx context.Context, b core.Board) error {
				run, err := awaited(ctx, b, args[0])
				if err != nil {
					return err
				}
				return a.await(ctx, b, run, timeout)
			})
		},
	}
	c.Flags().IntVar(&timeout, "timeout", defaultWait, "seconds to wait")
	return c
}

// awaited is the run that a name means: a run's id, or of the session of that name the live one, else the first in line, else the last ended.
func awaited(ctx context.Context, b core.Board, name string) (string, error) {
	if _, isRun, err := runNamed(ctx, b, name); isRun || err != nil {
		return name, err
	}
	page, err := b.Records(ctx, core.RecordQuery{Kind: core.RecordSession, Session: name, Limit: 1})
	if core.CodeOf(err) == core.CodeNotFound {
		return "", core.Errorf(core.CodeNotFound, "there is no run %q, and %w", name, err)
	}
	if err != nil {
		return "", err
	}
	s := page.Session.Session
	if s.LiveRun != "" {
		return s.LiveRun, nil
	}
	if page, err = b.Records(ctx, core.RecordQuery{Kind: core.RecordRuns, Session: s.Key}); err != nil {
		return "", err
	}
	last, place := "", 0
	for _, run := range page.Runs { // the newest first
		at := page.Positions[run.ID]
		switch {
		case run.State != core.RunEnded && (place == 0 || at < place):
			last, place = run.ID, max(at, 1)
		case last == "":
			last = run.ID
		}
	}
	if last == "" {
		return "", core.Errorf(core.CodeNotFound, "nothing has run in %s yet", s.Key)
	}
	return last, nil
}

func newAbort(a *app) *cobra.Command {
	return &cobra.Command{
		Use:               "abort RUN|KEY",
		Short:             "End a run, or what runs or is queued first in a session",
		Example:           "  cordboard abort agent:main:main",
		Args:              usageArgs(cobra.ExactArgs(1)),
		ValidArgsFunction: oneOf(a.sessionKeys),
		RunE: func(c *cobra.Command, args []string) error {
			return a.reach(c, "", func(ctx context.Context, b core.Board) error {
				abort := core.Abort{Session: args[0]}
				_, isRun, err := runNamed(ctx, b, args[0])
				if err != nil {
					return err
				}
				if isRun {
					abort = core.Abort{Run: args[0]}
				}
				receipt, err := b.Do(ctx, core.Command{Abort: &abort})
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
