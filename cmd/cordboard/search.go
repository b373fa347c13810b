package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"cordboard/core"
	"cordboard/ui/safe"
)

func newSearch(a *app) *cobra.Command {
	var q core.SearchQuery
	var limit int
	c := &cobra.Command{
		Use:   "search TEXT",
		Short: "Search the current transcripts, the most recently updated sessions first",
		Long: "search prints messages that hold TEXT, upper and lower case alike, as it finds them; interrupt it at any time. It looks through\n" +
			"the current transcript of every session, with --generations also through older ones and those of no session. With --json each\n" +
			"hit is one object a line, and no line means no hit.",
		Args: usageArgs(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			q.Text = args[0]
			if limit < 1 {
				return &usageError{fmt.Errorf("--limit %d: at least 1", limit)}
			}
			return a.read(c, "", func(ctx context.Context, b core.Board) error { return a.search(ctx, b, q, limit) })
		},
	}
	flags := c.Flags()
	flags.StringVar(&q.Session, "session", "", "only this session (key or sessionId)")
	flags.StringVar(&q.Agent, "agent", "", "only this agent's sessions")
	flags.BoolVar(&q.Generation, "generations", false, "older generations and transcripts without a session too")
	flags.IntVar(&limit, "limit", 100, "stop after this many hits")
	offer(c, "session", a.sessionKeys)
	offer(c, "agent", a.agentIDs)
	return c
}

func (a *app) search(ctx context.Context, b core.Board, q core.SearchQuery, limit int) error {
	found, scanned := 0, int64(0)
	for {
		q.Limit = min(limit-found, 200)
		page, err := b.Search(ctx, q)
		if err != nil {
			return err
		}
		for _, hit := range page.Hits {
			if err := a.printHit(hit); err != nil {
				return err
			}
		}
		found, scanned = found+len(page.Hits), scanned+page.Scanned
		if q.Cursor = page.Next; q.Cursor == "" || found >= limit {
			break
		}
	}
	if a.json {
		return nil
	}
	if found >= limit && q.Cursor != "" {
		_, err := fmt.Fprintf(a.out, "… stopped at %s: --limit N shows more\n", counted(found, "hit"))
		return err
	}
	hint := ""
	if found == 0 && !q.Generation {
		hint = "; older transcripts are searched with --generations"
	}
	_, err := fmt.Fprintf(a.out, "%s in %s of messages%s\n", counted(found, "hit"), bytesText(scanned), hint)
	return err
}

func (a *app) printHit(hit core.SearchHit) error {
	if a.json {
		enc := json.NewEncoder(a.out)
		enc.SetEscapeHTML(false)
		return enc.Encode(hit)
	}
	where := hit.Session
	if where == "" {
		where = hit.Generation
	}
	before, match, after := hit.Snippet[:hit.Match[0]], hit.Snippet[hit.Match[0]:hit.Match[1]], hit.Snippet[hit.Match[1]:]
	snippet := safe.Line(before) + "»" + safe.Line(match) + "«" + safe.Line(after)
	_, err := fmt.Fprintf(a.out, "%s  #%d  %s  %s\n  %s\n", safe.Line(where), hit.Seq, hit.Role, instant(hit.At), snippet)
	return err
}
