package main

import (
	"errors"

	"github.com/spf13/cobra"

	"cordboard/core"
)

type patchFlags struct {
	label, model, thinking, verbose, sendPolicy string
	ifRev                                       uint64
}

func newPatch(a *app) *cobra.Command {
	var f patchFlags
	c := &cobra.Command{
		Use:   "patch KEY",
		Short: "Change a session's label, model, levels or send policy",
		Long: "patch changes what is named and leaves the rest; an empty value clears. --if-rev changes nothing when the session was changed after that\n" +
			"revision, which `cordboard show` prints with --json as head.rev.",
		Example: "  cordboard patch agent:main:main --label 'Night shift' --thinking high\n" +
			"  cordboard patch agent:main:main --model ''",
		Args:              usageArgs(cobra.ExactArgs(1)),
		ValidArgsFunction: oneOf(a.sessionKeys),
		RunE: func(c *cobra.Command, args []string) error {
			patch, err := f.patch(c)
			if err != nil {
				return err
			}
			patch.Session = args[0]
			return a.act(c, core.Command{IfRev: core.Rev(f.ifRev), Patch: &patch}, func(r core.Receipt) error { return a.say("changed %s", r.Key) })
		},
	}
	flags := c.Flags()
	flags.StringVar(&f.label, "label", "", "the name people see")
	flags.StringVar(&f.model, "model", "", `a configured "provider/model"`)
	flags.StringVar(&f.thinking, "thinking", "", "thinking level: off, minimal, low, medium, high, xhigh, adaptive")
	flags.StringVar(&f.verbose, "verbose", "", "verbose level: off, on, full")
	flags.StringVar(&f.sendPolicy, "send-policy", "", "override of the send policy: allow, deny, inherit")
	flags.Uint64Var(&f.ifRev, "if-rev", 0, "only if the session was not changed after this revision")
	offer(c, "thinking", fixed("off", "minimal", "low", "medium", "high", "xhigh", "adaptive"))
	offer(c, "verbose", fixed("off", "on", "full"))
	offer(c, "send-policy", fixed(overrides...))
	return c
}

// fixed offers the same words always.
func fixed(words ...string) func(*cobra.Command) []string {
	return func(*cobra.Command) []string { return words }
}

// patch is what the flags that were given say.
func (f *patchFlags) patch(c *cobra.Command) (p core.Patch, err error) {
	given := 0
	set := func(flag string, to **string, value *string) {
		if c.Flags().Changed(flag) {
			*to = value
			given++
		}
	}
	set("label", &p.Label, &f.label)
	set("model", &p.Model, &f.model)
	set("thinking", &p.ThinkingLevel, &f.thinking)
	set("verbose", &p.VerboseLevel, &f.verbose)
	if c.Flags().Changed("send-policy") {
		policy, err := overrideOf(f.sendPolicy)
		if err != nil {
			return p, err
		}
		p.SendPolicy = &policy
		given++
	}
	switch {
	case given == 0:
		return p, &usageError{errors.New("nothing to change: name one of --label, --model, --thinking, --verbose, --send-policy")}
	case c.Flags().Changed("if-rev") && f.ifRev == 0:
		return p, &usageError{errors.New("--if-rev 0: revisions begin at 1; leave it out to change the session in any case")}
	}
	return p, nil
}

func newArchive(a *app) *cobra.Command {
	return a.archiving("archive", "Take sessions out of the list; they stay readable", true, "archived %s")
}

func newRestore(a *app) *cobra.Command {
	return a.archiving("restore", "Bring archived sessions back into the list", false, "restored %s")
}

func (a *app) archiving(verb, short string, archived bool, said string) *cobra.Command {
	return &cobra.Command{
		Use:               verb + " KEY...",
		Short:             short,
		Long:              short + ". Of several each is done that can be, and the exit code is that of the first that cannot.",
		Example:           "  cordboard " + verb + " agent:main:cron:nightly",
		Args:              usageArgs(cobra.MinimumNArgs(1)),
		ValidArgsFunction: many(a.sessionKeys),
		RunE: func(c *cobra.Command, args []string) error {
			return a.eachPatched(c, args, core.Patch{Archived: &archived}, said)
		},
	}
}
