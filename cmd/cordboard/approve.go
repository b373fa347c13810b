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
			"by its session, its run or its own id, and answered with allow, reject, or one of the options that the list shows. Without an answer it\n" +
			"shows what is asked, parameters included.",
		Example:           "  cordboard approve\n  cordboard approve agent:main:main\n  cordboard approve agent:main:main allow",
		Args:              usageArgs(cobra.RangeArgs(0, 2)),
		ValidArgsFunction: oneOf(a.askingKeys),
		RunE: func(c *cobra.Command, args []string) error {
			switch len(args) {
			case 0:
				return a.read(c, "", a.listApprovals)
			case 1:
				return a.read(c, "", func(ctx context.Context, b core.Board) error { return a.showApproval(ctx, b, args[0]) })
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

// showApproval tells all of what is asked.
func (a *app) showApproval(ctx context.Context, b core.Board, name string) error {
	p, err := approvalNamed(ctx, b, name)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(p)
	}
	if err := a.say("%s asks to: %s", p.Session, p.Title); err != nil {
		return err
	}
	if len(p.Params) > 0 {
		if err := a.say("  %s", string(p.Params)); err != nil {
			return err
		}
	}
	for _, o := range p.Options {
		if err := a.say("  %s  %s", o.ID, o.Name); err != nil {
			return err
		}
	}
	return nil
}

// approve answers the request that a name means now: by its id, so that what the session asks next is not answered by it.
func (a *app) approve(ctx context.Context, b core.Board, name, option string) error {
	p, err := approvalNamed(ctx, b, name)
	if err != nil {
		return err
	}
	receipt, err := b.Do(ctx, core.Command{Approve: &core.Approve{ID: p.ID, Option: option}})
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(receipt)
	}
	return a.say("answered %s with %s: %s", receipt.Key, receipt.Outcome, p.Title)
}

// approvalNamed is the request of that id, or the only one of that run or session.
func approvalNamed(ctx context.Context, b core.Board, name string) (found core.Approval, err error) {
	page, err := b.Records(ctx, core.RecordQuery{Kind: core.RecordApprovals})
	if err != nil {
		return found, err
	}
	session := name
	if detail, err := b.Records(ctx, core.RecordQuery{Kind: core.RecordSession, Session: name, Limit: 1}); err == nil {
		session = detail.Session.Session.Key
	}
	for _, p := range page.Approvals {
		if p.ID != name && p.Run != name && p.Session != session {
			continue
		}
		if found.ID != "" {
			return found, core.Errorf(core.CodeAmbiguous, "%s asks for more than one thing: name the id of one, `cordboard approve` lists them", name)
		}
		found = p
	}
	if found.ID == "" {
		err = core.Errorf(core.CodeNotFound, "nothing by the name of %s asks for permission: it was answered, or its run has ended", name)
	}
	return found, err
}
