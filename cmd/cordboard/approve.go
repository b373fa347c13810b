package main

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cordboard/core"
	"cordboard/ui"
)

func newApprove(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "approve [KEY|RUN|ID] [allow|reject|OPTION]",
		Short: "Answer an agent that asks for permission; without arguments list who asks",
		Long: "approve answers a request for permission, which an agent that speaks the Agent Client Protocol makes before it does something. It is named\n" +
			"by its session, its run or its own id, and answered with allow, reject, or one of the options that the list shows.",
		Example:           "  cordboard approve\n  cordboard approve agent:main:main allow",
		Args:              usageArgs(cobra.RangeArgs(0, 2)),
		ValidArgsFunction: oneOf(a.askingKeys),
		RunE: func(c *cobra.Command, args []string) error {
			switch len(args) {
			case 0:
				return a.read(c, "", a.listApprovals)
			case 1:
				args = append(args, "allow")
			}
			return a.reach(c, "", func(ctx context.Context, b core.Board) error { return a.approve(ctx, b, args[0], args[1]) })
		},
	}
	return c
}

func (a *app) listApprovals(ctx context.Context, b core.Board) error {
	page, err := b.Records(ctx, core.RecordQuery{Kind: core.RecordApprovals})
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(orEmpty(page.Approvals))
	}
	if len(page.Approvals) == 0 {
		return a.say("nobody asks for permission.")
	}
	t := table{columns: []column{{title: "SESSION", grow: true, tail: true}, {title: "ASKS TO", grow: true}, {title: "OPTIONS", spare: 1}, {title: "SINCE"}, {title: "ID", tail: true, spare: 2}}}
	now := time.Now()
	for _, p := range page.Approvals {
		var options []string
		for _, o := range p.Options {
			options = append(options, o.ID)
		}
		t.add(p.Session, p.Title, strings.Join(options, " "), ui.Age(now, p.At), p.ID)
	}
	return t.write(a.out, a.width())
}

// approve answers the request that a name means: its id, its run, or its session.
func (a *app) approve(ctx context.Context, b core.Board, name, option string) error {
	page, err := b.Records(ctx, core.RecordQuery{Kind: core.RecordApprovals})
	if err != nil {
		return err
	}
	answer := core.Approve{Session: name, Option: option}
	for _, p := range page.Approvals {
		switch name {
		case p.ID:
			answer = core.Approve{ID: name, Option: option}
		case p.Run:
			answer = core.Approve{Run: name, Option: option}
		}
	}
	receipt, err := b.Do(ctx, core.Command{Approve: &answer})
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(receipt)
	}
	return a.say("answered %s with %s", receipt.Key, receipt.Outcome)
}
