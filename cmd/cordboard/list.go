package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cordboard/core"
	"cordboard/core/key"
	"cordboard/ui"
	"cordboard/ui/safe"
)

type listFlags struct {
	as, agent, channel string
	kinds              []string
	active, messages   int
	limit              int
	all, archived      bool
}

func newList(a *app) *cobra.Command {
	var f listFlags
	c := &cobra.Command{
		Use:   "list",
		Short: "List sessions, the most recently updated first",
		Args:  usageArgs(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			return a.read(c, f.as, func(ctx context.Context, b core.Board) error {
				if err := f.check(); err != nil {
					return err
				}
				f.agent, f.channel = strings.ToLower(strings.TrimSpace(f.agent)), strings.ToLower(strings.TrimSpace(f.channel))
				if a.json {
					return a.listJSON(ctx, b, f)
				}
				return a.listTable(ctx, b, f)
			})
		},
	}
	flags := c.Flags()
	a.addAs(c, &f.as)
	flags.StringSliceVar(&f.kinds, "kinds", nil, "only these kinds: main, group, cron, hook, node, other")
	flags.StringVar(&f.agent, "agent", "", "only this agent's sessions")
	flags.StringVar(&f.channel, "channel", "", "only this channel's sessions")
	flags.IntVar(&f.active, "active", 0, "only sessions updated within this many minutes")
	flags.IntVar(&f.limit, "limit", 200, "how many at most, up to 200")
	flags.BoolVar(&f.all, "all", false, "all of them")
	flags.BoolVar(&f.archived, "archived", false, "archived ones too")
	flags.IntVar(&f.messages, "messages", 0, "with --json: the last messages of each, up to 20")
	offer(c, "kinds", kindNames)
	offer(c, "agent", a.agentIDs)
	return c
}

// check refuses numbers that mean nothing.
func (f listFlags) check() error {
	switch {
	case f.limit < 1 || f.limit > 200:
		return &usageError{fmt.Errorf("--limit %d: 1 to 200, or --all", f.limit)}
	case f.active < 0 || f.active > maxActive:
		return &usageError{fmt.Errorf("--active %d: a number of minutes up to %d", f.active, maxActive)}
	case f.messages < 0 || f.messages > 20:
		return &usageError{fmt.Errorf("--messages %d: up to 20", f.messages)}
	}
	return nil
}

const maxActive = 52_560_000 // minutes: a hundred years

// listJSON prints sessions_list's own answer. With --all, --agent or --channel, which that tool does not have, it joins and sifts the
// answers to every page.
func (a *app) listJSON(ctx context.Context, b core.Board, f listFlags) error {
	params := map[string]any{"limit": f.limit, "includeArchived": f.archived}
	if len(f.kinds) > 0 {
		params["kinds"] = f.kinds
	}
	if f.active > 0 {
		params["activeMinutes"] = f.active
	}
	if f.messages > 0 {
		params["messageLimit"] = f.messages
	}
	if f.all || f.agent != "" || f.channel != "" {
		return a.listPages(ctx, b, params, f)
	}
	return a.callAndPrint(ctx, b, "sessions_list", params)
}

// listPages prints {sessions, count}, a page at a time in memory.
func (a *app) listPages(ctx context.Context, b core.Board, params map[string]any, f listFlags) error {
	params["limit"] = 200
	wanted, err := f.wanted(ctx, b)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(a.out)
	count := 0
	for {
		page, err := a.listPage(ctx, b, params)
		if err != nil {
			return err
		}
		if params["before"] == nil {
			fmt.Fprint(out, `{"sessions":[`)
		}
		for _, row := range page.Sessions {
			keep, err := wanted(row)
			if err != nil {
				return err
			}
			if !keep || !f.all && count == f.limit {
				continue
			}
			if count++; count > 1 {
				out.WriteByte(',')
			}
			fmt.Fprintf(out, "\n%s", row)
		}
		if page.NextBefore == "" || !f.all && count == f.limit {
			fmt.Fprintf(out, "\n],\"count\":%d}\n", count)
			return out.Flush()
		}
		params["before"] = page.NextBefore
	}
}

type listPage struct {
	Sessions   []json.RawMessage `json:"sessions"`
	NextBefore string            `json:"nextBefore"`
}

func (a *app) listPage(ctx context.Context, b core.Board, params map[string]any) (page listPage, err error) {
	raw, err := json.Marshal(params)
	if err != nil {
		return page, err
	}
	result, err := b.Call(ctx, core.ToolCall{Tool: "sessions_list", Params: raw})
	if err == nil && result.Refused != nil {
		err = a.printResult(result)
	}
	if err != nil {
		return page, err
	}
	return page, json.Unmarshal(result.Body, &page)
}

// wanted returns what says of a row whether it is of the agent and channel that were asked for: the board's own filters decide.
func (f listFlags) wanted(ctx context.Context, b core.Board) (func(json.RawMessage) (bool, error), error) {
	if f.agent == "" && f.channel == "" {
		return func(json.RawMessage) (bool, error) { return true, nil }, nil
	}
	info, err := b.Info(ctx)
	if err != nil {
		return nil, err
	}
	names := key.NewNames(info.Names, "")
	own := names.Main(names.AgentOf(info.Actor.Session)) // which a session's rows show as main
	keys := map[string]bool{}
	q := core.SessionQuery{Agent: f.agent, Channel: f.channel, Archived: f.archived, Limit: 10000}
	for {
		page, err := b.Sessions(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, row := range page.Rows {
			keys[row.Key] = true
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			break
		}
	}
	return func(raw json.RawMessage) (bool, error) {
		var row struct{ Key string }
		err := json.Unmarshal(raw, &row)
		return keys[row.Key] || row.Key == key.DefaultMain && keys[own], err
	}, nil
}

// listTable reads heads only: no row is decoded for a table.
func (a *app) listTable(ctx context.Context, b core.Board, f listFlags) error {
	if f.messages > 0 {
		return &usageError{fmt.Errorf("--messages needs --json")}
	}
	q := core.SessionQuery{Agent: f.agent, Channel: f.channel, Archived: f.archived, Limit: 10000}
	for _, kind := range f.kinds {
		q.Kinds = append(q.Kinds, core.Kind(strings.ToLower(strings.TrimSpace(kind))))
	}
	now := time.Now()
	if f.active > 0 {
		q.Since = now.Add(-time.Duration(f.active) * time.Minute).UnixMilli()
	}
	t := table{columns: []column{
		{title: "SESSION", grow: true, tail: true},
		{title: "NAME", spare: 2},
		{title: "KIND", spare: 5},
		{title: "CHANNEL", spare: 6},
		{title: "STATE", spare: 1},
		{title: "POLICY", spare: 3},
		{title: "TOKENS", right: true, spare: 4},
		{title: "AGE", right: true},
	}}
	total := 0
	for {
		page, err := b.Sessions(ctx, q)
		if err != nil {
			return err
		}
		for _, row := range page.Rows {
			if total++; f.all || total <= f.limit {
				t.add(row.Key, name(row.Head), string(row.Kind), row.Channel, a.state(row.Head), policyOf(row.Head), ui.Tokens(&row.Head), ui.Age(now, row.UpdatedAt))
			}
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			return a.printList(t, total, f)
		}
	}
}

func (a *app) printList(t table, total int, f listFlags) error {
	if total == 0 {
		fmt.Fprintln(a.out, "no sessions"+f.narrowed()+".")
		return nil
	}
	if err := t.write(a.out, a.width()); err != nil {
		return err
	}
	if more := total - len(t.rows); more > 0 {
		fmt.Fprintf(a.out, "… and %d more: --all shows them\n", more)
	}
	return nil
}

// narrowed names the filters in force, so that an empty list is not taken for an empty store.
func (f listFlags) narrowed() string {
	var by []string
	add := func(set bool, text string) {
		if set {
			by = append(by, text)
		}
	}
	add(len(f.kinds) > 0, "--kinds "+strings.Join(f.kinds, ","))
	add(f.agent != "", "--agent "+f.agent)
	add(f.channel != "", "--channel "+f.channel)
	add(f.active > 0, fmt.Sprintf("--active %d", f.active))
	add(f.as != "", "the scope of "+f.as)
	if len(by) == 0 {
		return ": import some with `cordboard import DIR`, or look at `cordboard demo`"
	}
	return safe.Line(" within " + strings.Join(by, ", "))
}

const nameCells = 28

func name(h core.Head) string {
	if h.Title == h.Key {
		return ""
	}
	return safe.Cut(safe.Column(h.Title), nameCells)
}

// state is the console's word. A run that is still on record while nobody owns the store has no one who plays it.
func (a *app) state(h core.Head) string {
	if h.Run != "" {
		return a.unowned(ui.StateWord(&h))
	}
	return ui.StateWord(&h)
}

func policyOf(h core.Head) string {
	switch {
	case h.Flags.Has(core.FlagSendDeny):
		return "deny"
	case h.Flags.Has(core.FlagSendAllow):
		return "allow"
	}
	return nothing
}
