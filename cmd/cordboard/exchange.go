package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"cordboard/core"
	"cordboard/ui/safe"
)

func newExchange(a *app) *cobra.Command {
	var session string
	var limit int
	c := &cobra.Command{
		Use:   "exchange [ID]",
		Short: "List the exchanges between sessions, or tell one from its beginning",
		Long: "An exchange is a sessions_send with what follows: round 1, the turns in which the two agents go on, and the announce. With an ID it is\n" +
			"told step by step: who was asked by whom, what was answered, and what became of the announced text.",
		Example:           "  cordboard exchange --session agent:main:main\n  cordboard exchange 5b0c2f6e-8c1e-4f5e-9a3c-1f0f5d0a7c11",
		Args:              usageArgs(cobra.MaximumNArgs(1)),
		ValidArgsFunction: oneOf(a.exchangeIDs),
		RunE: func(c *cobra.Command, args []string) error {
			if err := checkLimit(limit); err != nil {
				return err
			}
			if len(args) == 1 && c.Flags().Changed("session") {
				return &usageError{fmt.Errorf("--session narrows the list: leave it out to see exchange %s", args[0])}
			}
			return a.read(c, "", func(ctx context.Context, b core.Board) error {
				if len(args) == 1 {
					return a.exchange(ctx, b, args[0])
				}
				return a.exchanges(ctx, b, core.RecordQuery{Kind: core.RecordExchanges, Session: session, Limit: limit})
			})
		},
	}
	c.Flags().StringVar(&session, "session", "", "only those in which this session has a side")
	c.Flags().IntVar(&limit, "limit", 200, "how many at most")
	offer(c, "session", a.sessionKeys)
	return c
}

func (a *app) exchangeIDs(c *cobra.Command) []string {
	return a.onBoard(c, func(b core.Board) ([]string, error) {
		page, err := b.Records(c.Context(), core.RecordQuery{Kind: core.RecordExchanges})
		ids := make([]string, len(page.Exchanges))
		for i, x := range page.Exchanges {
			ids[i] = x.ID
		}
		return ids, err
	})
}

func (a *app) exchanges(ctx context.Context, b core.Board, q core.RecordQuery) error {
	page, err := b.Records(ctx, q)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(map[string]any{"exchanges": orEmpty(page.Exchanges), "count": len(page.Exchanges)})
	}
	if len(page.Exchanges) == 0 {
		return a.say("no exchanges.")
	}
	t := table{columns: []column{
		{title: "EXCHANGE", tail: true},
		{title: "FROM", tail: true},
		{title: "TO", grow: true, tail: true},
		{title: "STATE"},
		{title: "WHY", spare: 2},
		{title: "TURNS", right: true, spare: 3},
		{title: "BEGUN", spare: 1},
		{title: "REQUEST", spare: 4},
	}}
	for _, x := range page.Exchanges {
		t.add(x.ID, x.RequesterKey, x.TargetKey, string(x.State), x.Reason, turnsText(x), instant(x.CreatedAt), safe.Cut(safe.Column(x.Request), textCells))
	}
	return t.write(a.out, a.width())
}

// turnsText is how many turns were begun, of how many.
func turnsText(x core.Exchange) string { return fmt.Sprintf("%d of %d", x.Turn, x.Turns) }

// exchange tells one exchange.
func (a *app) exchange(ctx context.Context, b core.Board, id string) error {
	page, err := b.Records(ctx, core.RecordQuery{Kind: core.RecordExchange, ID: id})
	if err != nil {
		return err
	}
	x := page.Exchange
	if a.json {
		return a.printJSON(x)
	}
	state := string(x.State)
	if x.Reason != "" {
		state += " (" + x.Reason + ")"
	}
	announce := "yes"
	if !x.Announce {
		announce = "no"
	}
	if err := a.facts([][2]string{
		{"exchange", x.ID},
		{"from", x.RequesterKey},
		{"to", x.TargetKey},
		{"state", state},
		{"turns", turnsText(x.Exchange)},
		{"announce", announce},
		{"begun", instant(x.CreatedAt)},
		{"changed", instant(x.UpdatedAt)},
	}); err != nil {
		return err
	}
	out := bufio.NewWriter(a.out)
	for _, step := range x.Steps {
		a.exchangeStep(out, step)
	}
	if d := x.Delivery; d != nil {
		fmt.Fprintf(out, "\n%s\n", safe.Line("delivery  "+routeText(d.Route)+"  "+deliveryText(d)))
	}
	return out.Flush()
}

// exchangeStep writes one step: who answers whom, how it went, the message and the reply.
func (a *app) exchangeStep(out io.Writer, s core.ExchangeStep) {
	how := string(s.Run.Outcome)
	if s.Run.State != core.RunEnded {
		how = a.unowned(string(s.Run.State))
	}
	if _, ran := a.spans(s.Run, time.Now()); ran != nothing {
		how += ", " + ran
	}
	fmt.Fprintf(out, "\n%s\n", safe.Line(fmt.Sprintf("%s  %s → %s  %s  run %s", s.Name, s.From, s.Speaker, how, s.Run.ID)))
	indent(out, s.Message)
	switch {
	case s.Reply != "":
		indent(out, "⇠ "+s.Reply)
	case s.Run.Error != "":
		indent(out, "error: "+s.Run.Error)
	}
}

// deliveryText is the state of a delivery and why.
func deliveryText(d *core.Delivery) string {
	text := deliveryState(d)
	if d.Rule != "" {
		text += " (" + d.Rule + ")"
	}
	if d.LastError != "" {
		text += ": " + d.LastError
	}
	return text
}
