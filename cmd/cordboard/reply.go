package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"cordboard/core"
)

func newReply(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "reply RUN|KEY TEXT|-",
		Short: "Answer a run that waits for you, because its agent's runtime is manual",
		Long: "reply ends a run that waits on the operator, with TEXT as its agent's reply. A session's key names the run that waits there; `cordboard list`\n" +
			"shows such sessions. - reads the text from standard input.",
		Example: "  cordboard reply agent:main:main 'It is done.'\n" +
			"  cordboard reply 5b0c2f6e-8c1e-4f5e-9a3c-1f0f5d0a7c11 - <answer.txt",
		Args:              usageArgs(cobra.ExactArgs(2)),
		ValidArgsFunction: oneOf(a.askingKeys),
		RunE: func(c *cobra.Command, args []string) error {
			text, err := a.message(c.Context(), args[1])
			if err != nil {
				return err
			}
			return a.reach(c, "", func(ctx context.Context, b core.Board) error { return a.reply(ctx, b, args[0], text) })
		},
	}
	return c
}

func (a *app) reply(ctx context.Context, b core.Board, name, text string) error {
	run, err := asking(ctx, b, name)
	if err != nil {
		return err
	}
	receipt, err := b.Do(ctx, core.Command{Reply: &core.Reply{Run: run, Text: text}})
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(receipt)
	}
	return a.say("answered run %s in %s", run, receipt.Key)
}

// asking is the run that a name means: a run's id, or the one that waits in the session of that name.
func asking(ctx context.Context, b core.Board, name string) (string, error) {
	if _, isRun, err := runNamed(ctx, b, name); isRun || err != nil {
		return name, err
	}
	page, err := b.Records(ctx, core.RecordQuery{Kind: core.RecordSession, Session: name, Limit: 1})
	switch refused, ok := errors.AsType[*core.Error](err); {
	case ok && refused.Code == core.CodeNotFound:
		return "", core.Errorf(core.CodeNotFound, "there is no run %q, and %w", name, err)
	case err != nil:
		return "", err
	case !page.Session.Session.Asks:
		return "", core.Errorf(core.CodeConflict, "nothing in %s waits for a reply: `cordboard list` shows what does", page.Session.Session.Key)
	}
	return page.Session.Session.LiveRun, nil
}

func (a *app) askingKeys(c *cobra.Command) []string { return a.flaggedKeys(c, core.FlagAsks) }
