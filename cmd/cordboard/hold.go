package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"cordboard/core"
)

type holdFlags struct {
	agent string
	all   bool
}

func newHold(a *app) *cobra.Command {
	var f holdFlags
	c := &cobra.Command{
		Use:   "hold [KEY]",
		Short: "Keep what is queued from starting, or list what is held",
		Long: "hold keeps what is queued for a session, for the sessions of an agent (--agent) or for all (--all) from starting until it is released, over\n" +
			"restarts too. What runs goes on, and messages are still taken. Without a name it lists the holds.",
		Example:           "  cordboard hold agent:ops:main\n  cordboard hold --agent ops\n  cordboard hold",
		Args:              usageArgs(cobra.MaximumNArgs(1)),
		ValidArgsFunction: oneOf(a.sessionKeys),
		RunE: func(c *cobra.Command, args []string) error {
			hold, named, err := f.hold(c, args)
			if err != nil {
				return err
			}
			if !named {
				return a.read(c, "", a.holds)
			}
			return a.act(c, core.Command{Hold: &hold}, a.saidHold(hold, "held"))
		},
	}
	f.add(a, c, "hold")
	return c
}

func newRelease(a *app) *cobra.Command {
	var f holdFlags
	c := &cobra.Command{
		Use:   "release KEY",
		Short: "Let what was held start",
		Long: "release takes back a hold: of a session, of an agent's sessions (--agent) or of all (--all). Each hold is released by itself: a session\n" +
			"whose agent is held too still waits.",
		Example:           "  cordboard release agent:ops:main\n  cordboard release --all",
		Args:              usageArgs(cobra.MaximumNArgs(1)),
		ValidArgsFunction: oneOf(a.heldKeys),
		RunE: func(c *cobra.Command, args []string) error {
			hold, named, err := f.hold(c, args)
			if err == nil && !named {
				err = &usageError{errors.New("name what to release: a session, --agent ID or --all; `cordboard hold` lists what is held")}
			}
			if err != nil {
				return err
			}
			hold.Release = true
			return a.act(c, core.Command{Hold: &hold}, a.saidHold(hold, "released"))
		},
	}
	f.add(a, c, "release")
	return c
}

func (f *holdFlags) add(a *app, c *cobra.Command, verb string) {
	c.Flags().StringVar(&f.agent, "agent", "", verb+" the sessions of this agent")
	c.Flags().BoolVar(&f.all, "all", false, verb+" all sessions")
	offer(c, "agent", a.agentIDs)
}

// hold is what the command line names, and whether it names anything.
func (f *holdFlags) hold(c *cobra.Command, args []string) (h core.Hold, named bool, err error) {
	given := len(args)
	if given > 0 {
		h.Session = args[0]
	}
	if c.Flags().Changed("agent") {
		h.Agent = f.agent
		given++
	}
	if f.all {
		given++
	}
	switch {
	case given > 1:
		err = &usageError{errors.New("one of a session, --agent and --all")}
	case given == 1 && h == core.Hold{} && !f.all:
		err = &usageError{errors.New("the name is blank: a blank one would mean all sessions, which --all says")}
	}
	return h, given > 0, err
}

func (a *app) saidHold(h core.Hold, done string) func(core.Receipt) error {
	return func(r core.Receipt) error {
		if r.Key != "" {
			h.Session = r.Key
		}
		if r.Outcome != "" {
			return a.say("%s %s (it %s)", done, holdText(h), r.Outcome)
		}
		return a.say("%s %s", done, holdText(h))
	}
}

// holdText names what a hold is of.
func holdText(h core.Hold) string {
	switch {
	case h.Session != "":
		return h.Session
	case h.Agent != "":
		return "the sessions of agent " + h.Agent
	}
	return "all sessions"
}

// holds lists what is held.
func (a *app) holds(ctx context.Context, b core.Board) error {
	page, err := b.Records(ctx, core.RecordQuery{Kind: core.RecordHolds, Limit: mostRecords})
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(map[string]any{"holds": orEmpty(page.Holds), "count": len(page.Holds)})
	}
	if len(page.Holds) == 0 {
		return a.say("nothing is held.")
	}
	for _, h := range page.Holds {
		if err := a.say("%s", holdText(h)); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) heldKeys(c *cobra.Command) []string { return a.flaggedKeys(c, core.FlagHeld) }
