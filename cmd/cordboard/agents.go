package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"cordboard/core"
)

func newAgents(a *app) *cobra.Command {
	var as string
	c := &cobra.Command{
		Use:   "agents",
		Short: "List the agents: configured ones, and those whose sessions are in the store",
		Long:  "agents lists every agent with the number of its sessions. With --as KEY it prints what that session's agents_list answers.",
		Args:  usageArgs(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			return a.read(c, as, func(ctx context.Context, b core.Board) error {
				if as != "" {
					return a.callAndPrint(ctx, b, "agents_list", nil)
				}
				info, err := b.Info(ctx)
				if err != nil {
					return err
				}
				if a.json {
					return a.printJSON(info.Agents)
				}
				return a.agentTable(info.Agents)
			})
		},
	}
	addAs(c, &as)
	return c
}

func (a *app) agentTable(agents []core.AgentInfo) error {
	t := table{columns: []column{{title: "AGENT", grow: true}, {title: "NAME"}, {title: "SESSIONS", right: true}, {title: "CONFIGURED"}}}
	for _, agent := range agents {
		configured := "no"
		if agent.Configured {
			configured = "yes"
		}
		if agent.Default {
			configured = "yes, default"
		}
		t.add(agent.ID, agent.Name, fmt.Sprint(agent.Sessions), configured)
	}
	return t.write(a.out, a.width())
}
