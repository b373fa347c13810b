package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"cordboard/core"
)

func newReset(a *app) *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use:   "reset KEY",
		Short: "Give a session a new transcript",
		Long: "reset begins a new transcript in a session; the old one stays readable by its sessionId, which is printed. It asks first on a terminal,\n" +
			"and needs --yes without one. What is queued runs in the new transcript.",
		Example:           "  cordboard reset agent:main:main --yes",
		Args:              usageArgs(cobra.ExactArgs(1)),
		ValidArgsFunction: oneOf(a.sessionKeys),
		RunE: func(c *cobra.Command, args []string) error {
			question := "Reset " + args[0] + "? Its transcript stays readable, the agent begins anew."
			if err := a.confirm(c.Context(), yes, "reset", question); err != nil {
				return err
			}
			return a.reach(c, "", func(ctx context.Context, b core.Board) error { return a.reset(ctx, b, args[0]) })
		},
	}
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return c
}

// resetAnswer is what a reset came to, with the sessionId of the transcript it ended.
type resetAnswer struct {
	core.Receipt
	Previous string `json:"previous,omitempty"`
}

func (a *app) reset(ctx context.Context, b core.Board, key string) error {
	page, err := b.Records(ctx, core.RecordQuery{Kind: core.RecordSession, Session: key, Limit: 1})
	if err != nil {
		return err
	}
	receipt, err := b.Do(ctx, core.Command{IfRev: page.Session.Head.Rev, Reset: &core.Reset{Session: key}})
	if err != nil {
		return err
	}
	answer := resetAnswer{receipt, page.Session.Session.SessionID}
	switch {
	case a.json:
		return a.printJSON(answer)
	case answer.Previous == "":
		return a.say("reset %s", answer.Key)
	}
	return a.say("reset %s: the transcript before is %s", answer.Key, answer.Previous)
}

func newDelete(a *app) *cobra.Command {
	var yes bool
	var d core.Delete
	c := &cobra.Command{
		Use:   "delete KEY...",
		Short: "Remove sessions",
		Long: "delete removes exactly the sessions that are named, and nothing they spawned. Their transcripts are kept and stay readable by their\n" +
			"sessionId, unless --purge removes them for good. Where a run is live or queued it refuses, unless --abort ends it. A main session is\n" +
			"never deleted: reset it. delete asks first on a terminal, and needs --yes without one.",
		Example:           "  cordboard delete agent:main:subagent:4df511fc-771d-42b2-a7e1-6a3a829d2b43 --yes",
		Args:              usageArgs(cobra.MinimumNArgs(1)),
		ValidArgsFunction: many(a.sessionKeys),
		RunE: func(c *cobra.Command, args []string) error {
			question := "Delete " + strings.Join(args, ", ") + "? The transcripts are kept."
			if d.Purge {
				question = "Delete " + strings.Join(args, ", ") + " and every transcript of it, for good?"
			}
			if err := a.confirm(c.Context(), yes, "delete", question); err != nil {
				return err
			}
			return a.reach(c, "", func(ctx context.Context, b core.Board) error {
				return a.each(args, func(key string) (itemResult, error) {
					one := d
					one.Session = key
					return deleted(ctx, b, one)
				}, func(r itemResult) error {
					if r.Previous == "" {
						return a.say("deleted %s", r.Key)
					}
					return a.say("deleted %s: what was said there is readable as %s", r.Key, r.Previous)
				})
			})
		},
	}
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	c.Flags().BoolVar(&d.Abort, "abort", false, "end what runs or is queued there first")
	c.Flags().BoolVar(&d.Purge, "purge", false, "remove the transcripts too")
	return c
}

// deleted deletes a session and tells under which sessionId its last transcript stays readable, if any is left.
func deleted(ctx context.Context, b core.Board, d core.Delete) (itemResult, error) {
	page, err := b.Records(ctx, core.RecordQuery{Kind: core.RecordSession, Session: d.Session, Limit: 1})
	if err != nil {
		return itemResult{}, err
	}
	before := page.Session.Session
	receipt, err := b.Do(ctx, core.Command{Delete: &d})
	result := itemResult{Key: receipt.Key, Rev: receipt.Rev}
	if err != nil || d.Purge || before.SessionID == "" {
		return result, err
	}
	kept, err := b.Messages(ctx, core.MessageQuery{Session: before.SessionID, Limit: 1})
	switch {
	case core.CodeOf(err) == core.CodeNotFound: // nothing was said
		return result, nil
	case err == nil:
		result.Previous = kept.Generation.ID
	}
	return result, err
}
