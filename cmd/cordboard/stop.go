package main

import (
	"github.com/spf13/cobra"

	"cordboard/core"
)

func newStop(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "stop KEY",
		Short: "End everything of a session and of all it spawned",
		Long: "stop ends what runs and what is queued in a session and in every session it spawned, down the lineage, with the exchanges and open\n" +
			"deliveries of them: nothing of it starts or is announced afterwards. To end a single run, use abort.",
		Example:           "  cordboard stop agent:main:main",
		Args:              usageArgs(cobra.ExactArgs(1)),
		ValidArgsFunction: oneOf(a.sessionKeys),
		RunE: func(c *cobra.Command, args []string) error {
			return a.act(c, core.Command{Stop: &core.Stop{Session: args[0]}}, func(r core.Receipt) error {
				return a.say("stopped %s: "+counted(len(r.Runs), "run")+" ended", r.Key)
			})
		},
	}
}
