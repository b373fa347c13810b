package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"cordboard/core"
	"cordboard/ui/safe"
)

func newPolicy(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "policy",
		Short: "Show, set and try out the send policy of a session",
		Long: "The send policy says whether messages may be sent into a session and texts go out of it. A session's own override goes first, then any\n" +
			"rule of session.sendPolicy.rules that denies, then any that allows, then session.sendPolicy.default.",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return &usageError{fmt.Errorf("policy has no verb %q: there are policy get KEY, policy set KEY... VALUE and policy explain", args[0])}
			}
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newPolicyGet(a), newPolicySet(a), newPolicyExplain(a))
	return c
}

// policyAnswer is what the send policy says of a session, and the session's own override of it.
type policyAnswer struct {
	Key      string       `json:"key"`
	Override string       `json:"override"` // allow, deny or inherit
	Verdict  core.Verdict `json:"verdict"`
}

func newPolicyGet(a *app) *cobra.Command {
	return &cobra.Command{
		Use:               "get KEY",
		Short:             "Show a session's override, the verdict and what decided it",
		Example:           "  cordboard policy get agent:main:main",
		Args:              usageArgs(cobra.ExactArgs(1)),
		ValidArgsFunction: oneOf(a.sessionKeys),
		RunE: func(c *cobra.Command, args []string) error {
			return a.read(c, "", func(ctx context.Context, b core.Board) error {
				page, err := b.Records(ctx, core.RecordQuery{Kind: core.RecordSession, Session: args[0], Limit: 1})
				if err != nil {
					return err
				}
				s := page.Session.Session
				answer := policyAnswer{Key: s.Key, Override: overrideName(s.SendPolicy), Verdict: page.Session.Send}
				if a.json {
					return a.printJSON(answer)
				}
				return a.facts([][2]string{{"session", answer.Key}, {"override", answer.Override}}, verdictFacts(answer.Verdict))
			})
		},
	}
}

func overrideName(p core.SendPolicy) string {
	if p == core.SendInherit {
		return "inherit"
	}
	return string(p)
}

func verdictWord(v core.Verdict) string {
	if v.Allowed {
		return "allow"
	}
	return "deny"
}

func verdictFacts(v core.Verdict) [][2]string {
	return [][2]string{{"verdict", verdictWord(v)}, {"rule", v.Rule}, {"decided by", v.ConfigKey}}
}

// facts prints names and values, those without a value left out.
func (a *app) facts(lists ...[][2]string) error {
	for _, list := range lists {
		for _, fact := range list {
			if fact[1] == "" {
				continue
			}
			if _, err := fmt.Fprintf(a.out, "%-12s %s\n", fact[0], safe.Line(fact[1])); err != nil {
				return err
			}
		}
	}
	return nil
}

// overrides are the values of `policy set` and --send-policy.
var overrides = []string{"allow", "deny", "inherit"}

func overrideOf(name string) (core.SendPolicy, error) {
	switch name = strings.ToLower(strings.TrimSpace(name)); name {
	case "allow", "deny":
		return core.SendPolicy(name), nil
	case "inherit", "":
		return core.SendInherit, nil
	}
	return "", &usageError{fmt.Errorf("send policy %q: allow, deny or inherit", name)}
}

func newPolicySet(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "set KEY... allow|deny|inherit",
		Short: "Override the send policy of sessions",
		Long: "set gives each session an override of its own, kept in the store and not in the config; inherit takes it away. Of several sessions each\n" +
			"is set that can be, and the exit code is that of the first that cannot.",
		Example:           "  cordboard policy set agent:main:main agent:ops:main deny",
		Args:              usageArgs(cobra.MinimumNArgs(2)),
		ValidArgsFunction: a.completePolicySet,
		RunE: func(c *cobra.Command, args []string) error {
			keys, value := args[:len(args)-1], args[len(args)-1]
			policy, err := overrideOf(value)
			if err == nil && strings.TrimSpace(value) == "" {
				err = &usageError{errors.New("the last argument is the policy: allow, deny or inherit")}
			}
			if err != nil {
				return err
			}
			return a.reach(c, "", func(ctx context.Context, b core.Board) error {
				return a.each(keys, func(key string) (itemResult, error) { return setPolicy(ctx, b, key, policy) }, func(r itemResult) error {
					return a.say("%s: %s, was %s", r.Key, verdictText(*r.After), verdictText(*r.Before))
				})
			})
		},
	}
}

func setPolicy(ctx context.Context, b core.Board, key string, policy core.SendPolicy) (itemResult, error) {
	before, err := b.Explain(ctx, core.Question{Send: key})
	if err != nil {
		return itemResult{}, err
	}
	result, err := patched(ctx, b, key, core.Patch{SendPolicy: &policy})
	if err != nil {
		return result, err
	}
	after, err := b.Explain(ctx, core.Question{Send: key})
	result.Before, result.After = &before.Verdict, &after.Verdict
	return result, err
}

// completePolicySet offers sessions, and after the first the values too.
func (a *app) completePolicySet(c *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	list := a.sessionKeys(c)
	if len(args) > 0 {
		list = append(append([]string{}, overrides...), list...)
	}
	return starting(list, typed), cobra.ShellCompDirectiveNoFileComp
}

type explainFlags struct {
	q        core.PolicyQuestion
	chatType string
	override string
}

func newPolicyExplain(a *app) *cobra.Command {
	var f explainFlags
	c := &cobra.Command{
		Use:   "explain [KEY]",
		Short: "Try the send policy out: on a session, or on any channel, chat type and key",
		Long: "explain asks what the send policy would say, and by which rule, and changes nothing: of a session, with --override in place of its own, or of\n" +
			"a session that need not be there, described by --channel, --chat-type and --key. Exit code 0 either way.",
		Example: "  cordboard policy explain agent:main:main --override deny\n" +
			"  cordboard policy explain --channel discord --chat-type group --key agent:main:discord:group:99",
		Args:              usageArgs(cobra.MaximumNArgs(1)),
		ValidArgsFunction: oneOf(a.sessionKeys),
		RunE: func(c *cobra.Command, args []string) error {
			q, err := f.question(c, args)
			if err != nil {
				return err
			}
			return a.read(c, "", func(ctx context.Context, b core.Board) error {
				x, err := b.Explain(ctx, core.Question{Policy: &q})
				if err != nil {
					return err
				}
				if a.json {
					return a.printJSON(x.Verdict)
				}
				return a.facts(verdictFacts(x.Verdict), [][2]string{{"refusal", x.Verdict.Message}})
			})
		},
	}
	flags := c.Flags()
	flags.StringVar(&f.q.Channel, "channel", "", "the channel")
	flags.StringVar(&f.chatType, "chat-type", "", "direct, group or channel")
	flags.StringVar(&f.q.Key, "key", "", "the session key")
	flags.StringVar(&f.override, "override", "", "the session's own override: allow, deny, inherit")
	offer(c, "channel", a.channelNames)
	offer(c, "chat-type", fixed("direct", "group", "channel"))
	offer(c, "override", fixed(overrides...))
	return c
}

func (f *explainFlags) question(c *cobra.Command, args []string) (core.PolicyQuestion, error) {
	q := f.q
	q.ChatType = core.ChatType(strings.ToLower(strings.TrimSpace(f.chatType)))
	if c.Flags().Changed("override") {
		override, err := overrideOf(f.override)
		if err != nil {
			return q, err
		}
		q.Override = &override
	}
	described := q.Channel+f.chatType+q.Key != ""
	switch {
	case len(args) == 1 && described:
		return q, &usageError{errors.New("a session has a channel, chat type and key of its own: leave --channel, --chat-type and --key out, or the session")}
	case len(args) == 1 && strings.TrimSpace(args[0]) == "":
		return q, &usageError{errors.New("the session is blank: name one, or describe one with --channel, --chat-type and --key")}
	case len(args) == 1:
		q.Session = args[0]
	case !described:
		return q, &usageError{errors.New("name a session, or describe one with --channel, --chat-type and --key")}
	}
	return q, nil
}
