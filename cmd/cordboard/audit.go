package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"cordboard/core"
	"cordboard/ui/safe"
)

func newAudit(a *app) *cobra.Command {
	var limit int
	var all bool
	c := &cobra.Command{
		Use:   "audit",
		Short: "List what operators and clients did, the newest first",
		Long: "audit lists every command with who gave it, what it changed and how it ended, refused ones too. With --json it prints an entry a line, for\n" +
			"export.",
		Example: "  cordboard audit --limit 20\n  cordboard audit --all --json >audit.jsonl",
		Args:    usageArgs(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := checkLimit(limit); err != nil {
				return err
			}
			if all && c.Flags().Changed("limit") {
				return &usageError{errors.New("--all and --limit do not go together")}
			}
			return a.read(c, "", func(ctx context.Context, b core.Board) error {
				if a.json {
					return a.auditLines(ctx, b, limit, all)
				}
				return a.auditTable(ctx, b, limit, all)
			})
		},
	}
	c.Flags().IntVar(&limit, "limit", 200, "how many at most")
	c.Flags().BoolVar(&all, "all", false, "all of them")
	return c
}

const auditPage = 1000

// eachAudit calls fn for the newest entries, a page in memory at a time.
func eachAudit(ctx context.Context, b core.Board, limit int, all bool, fn func(e core.AuditEntry) error) error {
	q := core.RecordQuery{Kind: core.RecordAudit}
	for left := limit; ; {
		q.Limit = auditPage
		if !all {
			q.Limit = min(left, auditPage)
		}
		page, err := b.Records(ctx, q)
		if err != nil {
			return err
		}
		for _, e := range page.Audit {
			if err := fn(e); err != nil {
				return err
			}
			q.Before = e.Rev
			if left--; !all && left == 0 {
				return nil
			}
		}
		if len(page.Audit) < q.Limit {
			return nil
		}
	}
}

func (a *app) auditLines(ctx context.Context, b core.Board, limit int, all bool) error {
	enc := json.NewEncoder(a.out)
	enc.SetEscapeHTML(false)
	return eachAudit(ctx, b, limit, all, func(e core.AuditEntry) error { return enc.Encode(e) })
}

func (a *app) auditTable(ctx context.Context, b core.Board, limit int, all bool) error {
	t := table{columns: []column{
		{title: "AT"},
		{title: "WHO"},
		{title: "VERB"},
		{title: "TARGET", grow: true, tail: true},
		{title: "RESULT"},
		{title: "WHAT", spare: 1},
	}}
	if err := eachAudit(ctx, b, limit, all, func(e core.AuditEntry) error {
		result, why, _ := strings.Cut(e.Result, ": ")
		t.add(instant(e.At), e.Who, e.Verb, e.Target, result, safe.Cut(safe.Column(cmp.Or(why, changeOf(e))), auditCells))
		return nil
	}); err != nil {
		return err
	}
	if len(t.rows) == 0 {
		return a.say("nobody did anything yet.")
	}
	return t.write(a.out, a.width())
}

const auditCells = 60 // of what an entry says at length

// changeOf is what a command changed, as it was and as it is.
func changeOf(e core.AuditEntry) string {
	text := ""
	switch {
	case len(e.Before) > 0 && len(e.After) > 0:
		text = fmt.Sprintf("%s → %s", e.Before, e.After)
	case len(e.Before) > 0:
		text = fmt.Sprintf("was %s", e.Before)
	case len(e.After) > 0:
		text = string(e.After)
	}
	return text
}
