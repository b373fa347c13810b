package main

import (
	"context"

	"github.com/spf13/cobra"

	"cordboard/core"
)

func newAdopt(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "adopt KEY...",
		Short: "Cut mirrored sessions from their source, so that they are answered here",
		Long: "adopt takes over a session that was imported or is followed: its history stays, what changes at its source no longer comes here, and the\n" +
			"runtime of its agent answers from then on. Its agent must be configured (agents.list). There is no way back.",
		Example:           "  cordboard adopt agent:ops:main",
		Args:              usageArgs(cobra.MinimumNArgs(1)),
		ValidArgsFunction: many(a.mirroredKeys),
		RunE: func(c *cobra.Command, args []string) error {
			return a.reach(c, "", func(ctx context.Context, b core.Board) error {
				return a.each(args, func(key string) (itemResult, error) {
					receipt, err := b.Do(ctx, core.Command{Adopt: &core.Adopt{Session: key}})
					return itemResult{Key: receipt.Key, Rev: receipt.Rev}, err
				}, func(r itemResult) error { return a.say("adopted %s: its agent answers here from now on", r.Key) })
			})
		},
	}
}

func (a *app) mirroredKeys(c *cobra.Command) []string { return a.flaggedKeys(c, core.FlagMirrored) }
