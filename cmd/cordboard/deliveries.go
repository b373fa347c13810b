package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"cordboard/core"
	"cordboard/ui/safe"
)

func newDeliveries(a *app) *cobra.Command {
	var state string
	var limit int
	c := &cobra.Command{
		Use:   "deliveries [KEY|SESSIONID]",
		Short: "List the texts that went out to channels, or should have",
		Long: "deliveries lists outbound texts, the newest first. A text is blocked by the send policy, undeliverable when its session has no route, and\n" +
			"expired when the engine was away for too long. One that is kept here went nowhere: its channel is not configured to (channels.<name>).\n" +
			"`cordboard retry ID` tries one that gave up, expired or whose fate is unknown again.",
		Example:           "  cordboard deliveries agent:main:main --state gave-up",
		Args:              usageArgs(cobra.MaximumNArgs(1)),
		ValidArgsFunction: oneOf(a.sessionKeys),
		RunE: func(c *cobra.Command, args []string) error {
			q := core.RecordQuery{Kind: core.RecordDeliveries, Limit: limit, State: core.DeliveryState(strings.ToLower(strings.TrimSpace(state)))}
			if err := checkLimit(limit); err != nil {
				return err
			}
			if len(args) == 1 {
				q.Session = args[0]
			}
			return a.read(c, "", func(ctx context.Context, b core.Board) error {
				page, err := b.Records(ctx, q)
				if err != nil {
					return err
				}
				if a.json {
					return a.printJSON(map[string]any{"deliveries": orEmpty(page.Deliveries), "count": len(page.Deliveries)})
				}
				return a.deliveryTable(page.Deliveries)
			})
		},
	}
	c.Flags().StringVar(&state, "state", "", "only those in this state: "+strings.Join(deliveryStates(nil), ", "))
	c.Flags().IntVar(&limit, "limit", 200, "how many at most")
	offer(c, "state", deliveryStates)
	return c
}

const mostRecords = 10_000

func checkLimit(limit int) error {
	if limit < 1 || limit > mostRecords {
		return &usageError{fmt.Errorf("--limit %d: 1 to %d", limit, mostRecords)}
	}
	return nil
}

func deliveryStates(*cobra.Command) []string {
	names := make([]string, len(core.DeliveryStates))
	for i, state := range core.DeliveryStates {
		names[i] = string(state)
	}
	return names
}

const textCells = 40 // of a text in a table

func (a *app) deliveryTable(list []core.Delivery) error {
	if len(list) == 0 {
		return a.say("no deliveries.")
	}
	t := table{columns: []column{
		{title: "DELIVERY", tail: true},
		{title: "SESSION", grow: true, tail: true},
		{title: "TO"},
		{title: "STATE"},
		{title: "TRIES", right: true, spare: 3},
		{title: "CREATED", spare: 2},
		{title: "WHY", spare: 1},
		{title: "TEXT", spare: 4},
	}}
	for _, d := range list {
		why := d.Rule
		if why == "" {
			why = d.LastError
		}
		t.add(d.ID, d.SessionKey, routeText(d.Route), deliveryState(&d), fmt.Sprint(d.Attempts), instant(d.CreatedAt), why, safe.Cut(safe.Column(d.Text), textCells))
	}
	return t.write(a.out, a.width())
}

// deliveryState is how a text stands, as people read it.
func deliveryState(d *core.Delivery) string {
	if d.Kept() {
		return "kept here"
	}
	return string(d.State)
}

// routeText is a route in a word or two: channel:to, and the thread.
func routeText(r core.DeliveryContext) string {
	text := strings.Trim(r.Channel+":"+r.To, ":")
	if text == "" {
		return nothing
	}
	if r.ThreadID != "" {
		text += " thread " + r.ThreadID
	}
	return text
}

func newRetry(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "retry DELIVERY|RUN",
		Short: "Try a delivery again, or run the message of a failed run once more",
		Long: "retry makes a delivery due again that gave up, expired or whose fate is unknown, with the same text and id. Where its fate is unknown it may\n" +
			"have reached its receiver already: look there first. A run that did not end ok is run once more, as a new run with the same message.\n" +
			"`cordboard deliveries` and `cordboard runs` list them.",
		Example:           "  cordboard retry 5b0c2f6e-8c1e-4f5e-9a3c-1f0f5d0a7c11",
		Args:              usageArgs(cobra.ExactArgs(1)),
		ValidArgsFunction: oneOf(a.retryIDs),
		RunE: func(c *cobra.Command, args []string) error {
			return a.reach(c, "", func(ctx context.Context, b core.Board) error { return a.retry(ctx, b, args[0]) })
		},
	}
}

// retry tries what has this id. A delivery has that of the run whose text it is, so of a run that ended ok the delivery is meant.
func (a *app) retry(ctx context.Context, b core.Board, id string) error {
	run, isRun, err := runNamed(ctx, b, id)
	if err != nil {
		return err
	}
	again := core.Retry{Delivery: id}
	if isRun && (run.State != core.RunEnded || run.Outcome != core.OutcomeOK) {
		again = core.Retry{Run: id}
	}
	receipt, err := b.Do(ctx, core.Command{Retry: &again})
	switch {
	case core.CodeOf(err) == core.CodeNotFound && isRun:
		return core.Errorf(core.CodeNotFound, "run %s ended ok and no text of it went out: there is nothing to try again", id)
	case core.CodeOf(err) == core.CodeNotFound:
		return core.Errorf(core.CodeNotFound, "there is no delivery and no run %q: `cordboard deliveries` and `cordboard runs` list them", id)
	case err != nil:
		return err
	case a.json:
		return a.printJSON(receipt)
	case again.Delivery != "":
		return a.say("delivery %s of %s is tried again", id, receipt.Key)
	}
	return a.say("run %s of %s is run again as %s", id, receipt.Key, receipt.Run)
}

// runNamed looks for a run of this id.
func runNamed(ctx context.Context, b core.Board, id string) (run core.Run, ok bool, err error) {
	page, err := b.Records(ctx, core.RecordQuery{Kind: core.RecordRun, Run: id})
	switch {
	case core.CodeOf(err) == core.CodeNotFound, err == nil && len(page.Runs) == 0:
		return run, false, nil
	case err != nil:
		return run, false, err
	}
	return page.Runs[0], true, nil
}

// retryIDs are the deliveries that can be tried again, and the runs.
func (a *app) retryIDs(c *cobra.Command) []string {
	return a.onBoard(c, func(b core.Board) (ids []string, err error) {
		for _, state := range []core.DeliveryState{core.DeliveryGaveUp, core.DeliveryUnknown, core.DeliveryExpired} {
			page, err := b.Records(c.Context(), core.RecordQuery{Kind: core.RecordDeliveries, State: state})
			if err != nil {
				return nil, err
			}
			for _, d := range page.Deliveries {
				ids = append(ids, d.ID)
			}
		}
		runs, err := b.Records(c.Context(), core.RecordQuery{Kind: core.RecordRuns})
		for _, run := range runs.Runs {
			if run.State == core.RunEnded && run.Outcome != core.OutcomeOK {
				ids = append(ids, run.ID)
			}
		}
		return ids, err
	})
}
