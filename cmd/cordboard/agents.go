package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"cordboard/core"
	"cordboard/ui/safe"
)

func newAgents(a *app) *cobra.Command {
	var as string
	c := &cobra.Command{
		Use:   "agents",
		Short: "List the agents: configured ones, and those whose sessions are in the store",
		Long: "agents lists every agent with the number of its sessions. With --as KEY it lists those under\n" +
			"which that session may start sub-agents: what its agents_list answers, which --json prints.",
		Args: usageArgs(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			return a.read(c, as, func(ctx context.Context, b core.Board) error {
				if as != "" {
					return a.spawnableAgents(ctx, b)
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
	a.addAs(c, &as)
	return c
}

// spawnableAgents is agents_list for people, or with --json as it is.
func (a *app) spawnableAgents(ctx context.Context, b core.Board) error {
	if a.json {
		return a.callAndPrint(ctx, b, "agents_list", nil)
	}
	var answer struct {
		Requester string
		AllowAny  bool
		Agents    []struct {
			ID, Name   string
			Configured bool
		}
	}
	if err := ask(ctx, b, "agents_list", nil, &answer); err != nil {
		return err
	}
	t := table{columns: []column{{title: "AGENT", grow: true}, {title: "NAME", spare: 1}, {title: "CONFIGURED"}}}
	for _, agent := range answer.Agents {
		t.add(agent.ID, agent.Name, yesNo(agent.Configured))
	}
	if err := t.write(a.out, a.width()); err != nil || !answer.AllowAny {
		return err
	}
	_, err := fmt.Fprintf(a.out, "%s may start sub-agents under any other agent too.\n", safe.Line(answer.Requester))
	return err
}

func yesNo(yes bool) string {
	if yes {
		return "yes"
	}
	return "no"
}

func (a *app) agentTable(agents []core.AgentInfo) error {
	t := table{columns: []column{{title: "AGENT", grow: true}, {title: "NAME", spare: 1}, {title: "SESSIONS", right: true}, {title: "CONFIGURED"}}}
	for _, agent := range agents {
		configured := yesNo(agent.Configured)
		if agent.Default {
			configured = "yes, default"
		}
		t.add(agent.ID, agent.Name, fmt.Sprint(agent.Sessions), configured)
	}
	return t.write(a.out, a.width())
}
