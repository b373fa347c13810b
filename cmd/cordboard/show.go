package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cordboard/core"
	"cordboard/ui"
	"cordboard/ui/safe"
)

func newShow(a *app) *cobra.Command {
	return &cobra.Command{
		Use:               "show KEY|SESSIONID",
		Short:             "Show everything about one session but its messages",
		Args:              usageArgs(cobra.ExactArgs(1)),
		ValidArgsFunction: oneOf(a.sessionKeys),
		RunE: func(c *cobra.Command, args []string) error {
			return a.read(c, "", func(ctx context.Context, b core.Board) error {
				page, err := b.Records(ctx, core.RecordQuery{Kind: core.RecordSession, Session: args[0]})
				if err != nil {
					return err
				}
				if a.json {
					return a.printJSON(page.Session)
				}
				return a.showText(*page.Session)
			})
		},
	}
}

func (a *app) showText(d core.SessionDetail) error {
	s := d.Session
	facts := []struct{ name, value string }{
		{"key", s.Key},
		{"session id", s.SessionID},
		{"kind", string(d.Kind)},
		{"channel", d.Head.Channel},
		{"chat type", string(d.ChatType)},
		{"label", s.Label},
		{"name", s.DisplayName},
		{"state", a.state(d.Head)},
		{"model", strings.Trim(s.ModelProvider+"/"+s.Model, "/")},
		{"tokens", ui.Tokens(&d.Head) + " of " + window(s.ContextTokens)},
		{"thinking", s.ThinkingLevel},
		{"send policy", verdictText(d.Send)},
		{"spawned by", s.SpawnedBy},
		{"children", strings.Join(d.Children, "\n")},
		{"updated", instant(s.UpdatedAt) + " (" + ui.Age(time.Now(), s.UpdatedAt) + ")"},
		{"mirror of", s.Source},
	}
	for _, fact := range facts {
		if fact.value == "" {
			continue
		}
		for i, line := range strings.Split(fact.value, "\n") {
			title := fact.name
			if i > 0 {
				title = ""
			}
			fmt.Fprintf(a.out, "%-14s %s\n", title, safe.Line(line))
		}
	}
	if len(d.Generations) > 0 {
		fmt.Fprintln(a.out)
		if err := a.generationTable(d.Generations); err != nil {
			return err
		}
	}
	if len(d.Runs) == 0 {
		return nil
	}
	fmt.Fprintln(a.out)
	return a.runTable(d.Runs)
}

func window(n *int64) string {
	if n == nil {
		return "an unknown window"
	}
	return ui.Count(*n)
}

func verdictText(v core.Verdict) string {
	word := "deny"
	if v.Allowed {
		word = "allow"
	}
	text := word + " (" + v.Rule
	if v.ConfigKey != "" {
		text += ", " + v.ConfigKey
	}
	return text + ")"
}

func (a *app) generationTable(generations []core.Generation) error {
	t := table{columns: []column{
		{title: "TRANSCRIPT", grow: true},
		{title: "STATE"},
		{title: "MESSAGES", right: true},
		{title: "TOOL RESULTS", right: true},
		{title: "SIZE", right: true},
		{title: "ENDED"},
	}}
	for _, g := range generations {
		t.add(g.ID, string(g.State), fmt.Sprint(g.Messages), fmt.Sprint(g.ToolResults), bytesText(g.Bytes), instant(g.EndedAt))
	}
	return t.write(a.out, a.width())
}

func (a *app) runTable(runs []core.Run) error {
	t := table{columns: []column{{title: "RUN", grow: true}, {title: "KIND"}, {title: "OUTCOME"}, {title: "LABEL"}, {title: "QUEUED"}}}
	for _, r := range runs {
		outcome := string(r.Outcome)
		if r.State != core.RunEnded {
			outcome = string(r.State)
		}
		t.add(r.ID, string(r.Kind), outcome, r.Label, instant(r.QueuedAt))
	}
	return t.write(a.out, a.width())
}
