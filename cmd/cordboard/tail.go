package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"cordboard/core"
	"cordboard/ui/safe"
)

type tailFlags struct {
	limit         int
	tools, redact bool
}

func newTail(a *app) *cobra.Command {
	var f tailFlags
	c := &cobra.Command{
		Use:   "tail KEY",
		Short: "Follow a transcript: print its newest messages, and more as they come",
		Long: "tail prints the last messages of a session and then every message as it is written, until it is interrupted. When the session is reset\n" +
			"it goes on in the new transcript. With --json it prints each message byte for byte, one a line.",
		Example:           "  cordboard tail agent:main:main",
		Args:              usageArgs(cobra.ExactArgs(1)),
		ValidArgsFunction: oneOf(a.sessionKeys),
		RunE: func(c *cobra.Command, args []string) error {
			if f.limit < 0 || f.limit > 1000 {
				return &usageError{fmt.Errorf("--limit %d: 0 to 1000", f.limit)}
			}
			return a.read(c, "", func(ctx context.Context, b core.Board) error {
				err := a.tail(ctx, b, args[0], f)
				if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
					return nil // an interrupt is how it ends
				}
				return err
			})
		},
	}
	flags := c.Flags()
	flags.IntVar(&f.limit, "limit", 10, "how many of the messages that are there")
	flags.BoolVar(&f.tools, "tools", false, "tool results too")
	flags.BoolVar(&f.redact, "redact", false, "mask what looks like a credential")
	return c
}

// tailing is a transcript that is followed: what was printed last, and of which generation.
type tailing struct {
	q          core.MessageQuery
	key        string // of the session, "" for a transcript of none
	generation string
	print      func(m core.Message) error
	turned     func(id string) error // a new transcript begins
}

func (a *app) tail(ctx context.Context, b core.Board, session string, f tailFlags) error {
	out := bufio.NewWriter(a.out)
	t := &tailing{
		q:     core.MessageQuery{Session: session, Filter: core.MessageFilter{NoTools: !f.tools}, Redact: f.redact},
		print: func(m core.Message) error { return a.messageText(out, m) },
		turned: func(id string) error {
			_, err := fmt.Fprintf(out, "… a new transcript begins: %s\n\n", safe.Line(id))
			return err
		},
	}
	if a.json {
		t.print = func(m core.Message) error { return writeLine(out, m.Raw) }
		t.turned = func(string) error { return nil }
	}
	at, err := t.begin(ctx, b, f.limit)
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		return err
	}
	stream, err := b.Watch(ctx, at)
	if err != nil {
		return err
	}
	defer stream.Close()
	for {
		batch, err := stream.Next(ctx)
		if err == nil && t.concerns(batch) {
			err = errors.Join(t.more(ctx, b), out.Flush())
		}
		if err != nil {
			return err
		}
	}
}

// begin prints the last messages that are there and returns from where to watch.
func (t *tailing) begin(ctx context.Context, b core.Board, limit int) (core.Cursor, error) {
	first := t.q
	first.Limit = max(limit, 1)
	page, err := b.Messages(ctx, first)
	if err != nil {
		return core.Cursor{}, err
	}
	t.key, t.generation, t.q.After = page.Session, page.Generation.ID, page.Generation.LastSeq
	if page.Generation.State == core.GenerationCurrent {
		t.q.Session = page.Session // its sessionId would name this very transcript, also when the session has another
	}
	if limit == 0 {
		return page.At, nil
	}
	return page.At, t.show(page)
}

// concerns reports whether a batch may bring messages of the transcript.
func (t *tailing) concerns(batch core.Batch) bool {
	for _, change := range batch.Changes {
		if change.Kind == core.ChangeSession && change.ID == t.key || change.Kind == core.ChangeMessages && change.ID == t.generation {
			return true
		}
	}
	return batch.Gap
}

// more prints what was written since, and when the session was reset meanwhile the rest of what was before.
func (t *tailing) more(ctx context.Context, b core.Board) error {
	t.q.Limit, t.q.Oldest = 1000, true
	for {
		page, err := b.Messages(ctx, t.q)
		switch {
		case err != nil:
			return err
		case page.Generation.ID == t.generation:
			err = t.show(page)
		default:
			if err := t.turn(ctx, b, page.Generation.ID); err != nil {
				return err
			}
			continue
		}
		if err != nil || !page.More {
			return err
		}
	}
}

// turn prints the rest of a transcript that a reset has ended and goes on to the next.
func (t *tailing) turn(ctx context.Context, b core.Board, next string) error {
	last := t.generation
	rest := *t
	rest.q.Session, rest.q.Generation = "", last
	t.generation, t.q.After = next, 0
	if last == "" { // there was none
		return nil
	}
	if err := rest.more(ctx, b); err != nil && core.CodeOf(err) != core.CodeNotFound { // it may have been purged
		return err
	}
	return t.turned(next)
}

func (t *tailing) show(page core.MessagePage) error {
	for _, m := range page.Messages {
		if err := t.print(m); err != nil {
			return err
		}
		t.q.After = max(t.q.After, m.Seq)
	}
	return nil
}
