package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cordboard/core"
	"cordboard/core/key"
	"cordboard/ui"
)

// usageBy are the ways in which usage can be summed, in the order of the columns.
var usageBy = []string{"day", "agent", "model", "session"}

func newUsage(a *app) *cobra.Command {
	var by []string
	var since string
	c := &cobra.Command{
		Use:   "usage",
		Short: "Sum what runs cost: tokens, and money where prices are configured",
		Long: "usage sums runs and tokens by agent, or by what --by names, several such as day,model too. Cost is what the configured prices say\n" +
			"(models.providers); ≥ marks a sum in which some runs have no price. The newest 10,000 counters of an agent, model and day are summed,\n" +
			"by session the newest 10,000 runs.",
		Example: "  cordboard usage --by day,model --since 2026-11-01",
		Args:    usageArgs(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			q, err := usageQueryOf(by, since)
			if err != nil {
				return err
			}
			return a.read(c, "", func(ctx context.Context, b core.Board) error {
				rows, err := q.rows(ctx, b)
				if err != nil {
					return err
				}
				if a.json {
					return a.printJSON(usageAnswer{By: q.by, Since: q.since, Rows: rows, Total: totalOf(rows)})
				}
				return a.usageTable(q, rows)
			})
		},
	}
	c.Flags().StringSliceVar(&by, "by", []string{"agent"}, "what to sum by: "+strings.Join(usageBy, ", "))
	c.Flags().StringVar(&since, "since", "", "only from this day on (UTC), as 2006-01-02")
	offer(c, "by", fixed(usageBy...))
	return c
}

// usageRow is a sum. Cost is nil when no run of it has a price; Unpriced says that some have none.
type usageRow struct {
	Day      string   `json:"day,omitempty"`
	Agent    string   `json:"agent,omitempty"`
	Model    string   `json:"model,omitempty"`
	Session  string   `json:"session,omitempty"`
	Runs     int64    `json:"runs"`
	Input    int64    `json:"input"`
	Output   int64    `json:"output"`
	Cost     *float64 `json:"cost,omitempty"`
	Unpriced bool     `json:"unpriced,omitempty"`
}

type usageAnswer struct {
	By    []string   `json:"by"`
	Since string     `json:"since,omitempty"`
	Rows  []usageRow `json:"rows"`
	Total usageRow   `json:"total"`
}

// usageQuery is how usage is to be summed.
type usageQuery struct {
	by    []string // in the order of usageBy
	since string   // day, "" for all
}

func usageQueryOf(by []string, since string) (q usageQuery, err error) {
	for i, name := range by {
		by[i] = strings.ToLower(strings.TrimSpace(name))
		if !slices.Contains(usageBy, by[i]) {
			return q, &usageError{fmt.Errorf("--by %q: one or more of %s", name, strings.Join(usageBy, ", "))}
		}
	}
	if len(by) == 0 {
		return q, &usageError{fmt.Errorf("--by is blank: one or more of %s", strings.Join(usageBy, ", "))}
	}
	if since != "" {
		if _, err := time.Parse(time.DateOnly, since); err != nil {
			return q, &usageError{fmt.Errorf("--since %q: a day such as 2026-11-30", since)}
		}
	}
	for _, name := range usageBy {
		if slices.Contains(by, name) {
			q.by = append(q.by, name)
		}
	}
	q.since = since
	return q, nil
}

// rows sums what the board has: its counters, or by session, which those do not tell, its runs.
func (q usageQuery) rows(ctx context.Context, b core.Board) ([]usageRow, error) {
	list := countersOf
	if slices.Contains(q.by, "session") {
		list = usageOfRuns
	}
	all, err := list(ctx, b)
	if err != nil {
		return nil, err
	}
	sums := map[usageRow]*usageRow{} // by what they are summed by
	rows := []usageRow{}
	for _, row := range all {
		if row.Day < q.since {
			continue
		}
		name := q.name(row)
		if sums[name] == nil {
			sums[name] = &usageRow{Day: name.Day, Agent: name.Agent, Model: name.Model, Session: name.Session}
		}
		sums[name].add(row)
	}
	for _, sum := range sums {
		rows = append(rows, *sum)
	}
	slices.SortFunc(rows, func(a, b usageRow) int {
		return cmp.Or(cmp.Compare(b.Day, a.Day), cmp.Compare(b.Input+b.Output, a.Input+a.Output), cmp.Compare(a.Agent, b.Agent),
			cmp.Compare(a.Model, b.Model), cmp.Compare(a.Session, b.Session))
	})
	return rows, nil
}

// name is a row with nothing in it but what it is summed by.
func (q usageQuery) name(row usageRow) (name usageRow) {
	for _, by := range q.by {
		switch by {
		case "day":
			name.Day = row.Day
		case "agent":
			name.Agent = row.Agent
		case "model":
			name.Model = row.Model
		case "session":
			name.Session = row.Session
		}
	}
	return name
}

func (r *usageRow) add(more usageRow) {
	r.Unpriced = r.Unpriced || more.Unpriced || more.Cost == nil
	r.Runs, r.Input, r.Output = r.Runs+more.Runs, r.Input+more.Input, r.Output+more.Output
	if more.Cost != nil {
		cost := *more.Cost
		if r.Cost != nil {
			cost += *r.Cost
		}
		r.Cost = &cost
	}
}

func totalOf(rows []usageRow) (total usageRow) {
	for _, row := range rows {
		total.add(row)
	}
	return total
}

func countersOf(ctx context.Context, b core.Board) ([]usageRow, error) {
	page, err := b.Records(ctx, core.RecordQuery{Kind: core.RecordUsage, Limit: mostRecords})
	rows := make([]usageRow, len(page.Usage))
	for i, u := range page.Usage {
		rows[i] = usageRow{Day: u.Day, Agent: u.Agent, Model: u.Model, Runs: u.Runs, Input: u.Input, Output: u.Output, Cost: u.Cost}
	}
	return rows, err
}

func usageOfRuns(ctx context.Context, b core.Board) (rows []usageRow, err error) {
	page, err := b.Records(ctx, core.RecordQuery{Kind: core.RecordRuns, Limit: mostRecords})
	if err != nil {
		return nil, err
	}
	info, err := b.Info(ctx)
	if err != nil {
		return nil, err
	}
	names := key.NewNames(info.Names, "")
	for _, r := range page.Runs {
		if r.State != core.RunEnded || r.Kind == core.RunNote || r.StartedAt == 0 {
			continue
		}
		row := usageRow{Day: time.UnixMilli(r.EndedAt).UTC().Format(time.DateOnly), Agent: names.AgentOf(r.SessionKey), Model: r.Model, Session: r.SessionKey, Runs: 1}
		if r.Usage != nil {
			row.Input, row.Output, row.Cost = r.Usage.Input, r.Usage.Output, r.Usage.Cost
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func (a *app) usageTable(q usageQuery, rows []usageRow) error {
	if len(rows) == 0 {
		return a.say("no run has cost anything yet.")
	}
	var t table
	for _, by := range q.by {
		t.columns = append(t.columns, column{title: strings.ToUpper(by), grow: by == q.by[len(q.by)-1], tail: by == "session"})
	}
	t.columns = append(t.columns, column{title: "RUNS", right: true}, column{title: "INPUT", right: true}, column{title: "OUTPUT", right: true},
		column{title: "COST", right: true, spare: 1})
	for _, row := range rows {
		t.add(append(row.names(q.by), row.figures()...)...)
	}
	if len(rows) > 1 {
		total := make([]string, len(q.by))
		total[0] = "total"
		sum := totalOf(rows)
		t.add(append(total, sum.figures()...)...)
	}
	return t.write(a.out, a.width())
}

func (r *usageRow) names(by []string) []string {
	var cells []string
	for _, name := range by {
		cells = append(cells, cmp.Or(map[string]string{"day": r.Day, "agent": r.Agent, "model": r.Model, "session": r.Session}[name], nothing))
	}
	return cells
}

func (r *usageRow) figures() []string {
	cost := nothing
	if r.Cost != nil {
		cost = fmt.Sprintf("%.4f", *r.Cost)
		if r.Unpriced {
			cost = "≥ " + cost
		}
	}
	return []string{ui.Count(r.Runs), ui.Count(r.Input), ui.Count(r.Output), cost}
}
