package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"cordboard/core"
	"cordboard/ui/safe"
)

type historyFlags struct {
	as            string
	limit         int
	before        string
	tools, all    bool
	redact, lines bool
}

func newHistory(a *app) *cobra.Command {
	var f historyFlags
	c := &cobra.Command{
		Use:   "history KEY|SESSIONID",
		Short: "Print a session's transcript, older generations by their sessionId",
		Long: "history prints the newest messages of a session, oldest first. --json and --jsonl print each message byte for byte as it is\n" +
			"stored; where that is not UTF-8 --json shows the bytes as U+FFFD and counts such messages as replaced. With --as it shows what the\n" +
			"session's own sessions_history answers, bounds and masking included; --json prints that answer.",
		Args:              usageArgs(cobra.ExactArgs(1)),
		ValidArgsFunction: oneOf(a.sessionKeys),
		RunE: func(c *cobra.Command, args []string) error {
			return a.read(c, f.as, func(ctx context.Context, b core.Board) error { return a.history(ctx, b, args[0], f) })
		},
	}
	flags := c.Flags()
	a.addAs(c, &f.as)
	flags.IntVar(&f.limit, "limit", 200, "how many of the newest messages, up to 1000")
	flags.BoolVar(&f.all, "all", false, "the whole transcript")
	flags.BoolVar(&f.tools, "tools", false, "tool results too")
	flags.StringVar(&f.before, "before", "", "with --as: the nextBefore of an earlier answer")
	flags.BoolVar(&f.redact, "redact", false, "mask what looks like a credential")
	flags.BoolVar(&f.lines, "jsonl", false, "one message object a line")
	return c
}

func (a *app) history(ctx context.Context, b core.Board, session string, f historyFlags) error {
	if f.as != "" {
		if f.all || f.redact || f.lines {
			return &usageError{fmt.Errorf("--all, --redact and --jsonl are the operator's: a session's answer is bounded and masked by itself")}
		}
		params := map[string]any{"sessionKey": session, "limit": f.limit, "includeTools": f.tools}
		if f.before != "" {
			params["before"] = f.before
		}
		if a.json {
			return a.callAndPrint(ctx, b, "sessions_history", params)
		}
		return a.historyAs(ctx, b, params)
	}
	if f.before != "" {
		return &usageError{fmt.Errorf("--before goes with --as: the operator takes --limit or --all")}
	}
	if f.limit < 1 || f.limit > 1000 {
		return &usageError{fmt.Errorf("--limit %d: 1 to 1000, or --all", f.limit)}
	}
	q := core.MessageQuery{Session: session, Limit: f.limit, Filter: core.MessageFilter{NoTools: !f.tools}, Redact: f.redact}
	out := bufio.NewWriterSize(a.out, 1<<16)
	var err error
	switch {
	case f.lines:
		err = eachMessage(ctx, b, q, f.all, func(_ core.MessagePage, m core.Message) error { return writeLine(out, m.Raw) })
	case a.json:
		err = historyJSON(ctx, out, b, q, f.all)
	default:
		err = a.historyText(ctx, out, b, q, f.all)
	}
	if err != nil {
		return err
	}
	return out.Flush()
}

// historyAs is sessions_history for people.
func (a *app) historyAs(ctx context.Context, b core.Board, params map[string]any) error {
	var answer struct {
		Messages        []json.RawMessage
		Truncated       bool
		ContentRedacted bool
		NextBefore      string
	}
	if err := ask(ctx, b, "sessions_history", params, &answer); err != nil {
		return err
	}
	out := bufio.NewWriter(a.out)
	if answer.NextBefore != "" {
		fmt.Fprintf(out, "… earlier messages: --before %s\n\n", safe.Line(answer.NextBefore))
	}
	for _, raw := range answer.Messages {
		role, flags, at, err := core.Inspect(raw)
		if err != nil {
			return err
		}
		if err := a.messageText(out, core.Message{Role: role, Flags: flags, At: at, Raw: raw}); err != nil {
			return err
		}
	}
	switch {
	case len(answer.Messages) == 0:
		fmt.Fprintln(out, "no messages.")
	case answer.Truncated && answer.ContentRedacted:
		fmt.Fprintln(out, "(texts are cut and credentials masked, as the session gets them)")
	case answer.Truncated:
		fmt.Fprintln(out, "(texts are cut, as the session gets them)")
	case answer.ContentRedacted:
		fmt.Fprintln(out, "(credentials are masked, as the session gets them)")
	}
	return out.Flush()
}

func writeLine(w io.Writer, raw []byte) error {
	_, err := w.Write(append(slices.Clip(raw), '\n'))
	return err
}

// eachMessage calls fn for the newest q.Limit messages, or for all from the first on, in transcript order, a page in memory at a time.
func eachMessage(ctx context.Context, b core.Board, q core.MessageQuery, all bool, fn func(core.MessagePage, core.Message) error) error {
	if all {
		q.Limit, q.Oldest = 1000, true
	}
	for {
		page, err := b.Messages(ctx, q)
		if err != nil {
			return err
		}
		for _, m := range page.Messages {
			if err := fn(page, m); err != nil {
				return err
			}
			q.After = m.Seq
		}
		if !all || !page.More {
			return nil
		}
	}
}

// historyJSON prints the answer of sessions_history with each message, byte for byte, on a line of its own. Of one that is not UTF-8, which
// JSON cannot hold, the bytes that are not show as U+FFFD; replaced counts such messages.
func historyJSON(ctx context.Context, out io.Writer, b core.Board, q core.MessageQuery, all bool) error {
	detail, err := b.Messages(ctx, core.MessageQuery{Session: q.Session, Limit: 1})
	if err != nil {
		return err
	}
	name, err := json.Marshal(detail.Session)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, `{"sessionKey":%s,"messages":[`, name)
	separator, more, replaced := "", false, 0
	if err := eachMessage(ctx, b, q, all, func(page core.MessagePage, m core.Message) error {
		if !utf8.Valid(m.Raw) {
			replaced++
		}
		fmt.Fprintf(out, "%s\n%s", separator, asUTF8(m.Raw))
		separator, more = ",", page.More && !all
		return nil
	}); err != nil {
		return err
	}
	fmt.Fprintf(out, "\n],\"more\":%t", more)
	if replaced > 0 {
		fmt.Fprintf(out, `,"replaced":%d`, replaced)
	}
	_, err = fmt.Fprintln(out, "}")
	return err
}

// historyText prints the transcript for people.
func (a *app) historyText(ctx context.Context, out io.Writer, b core.Board, q core.MessageQuery, all bool) error {
	count := 0
	err := eachMessage(ctx, b, q, all, func(page core.MessagePage, m core.Message) error {
		if count++; count == 1 && page.More && !all {
			fmt.Fprintf(out, "… earlier messages: --limit N or --all shows them\n\n")
		}
		return a.messageText(out, m)
	})
	if err == nil && count == 0 {
		fmt.Fprintln(out, "no messages.")
	}
	return err
}

func (a *app) messageText(out io.Writer, m core.Message) error {
	head := instant(m.At) + "  " + m.Role.String()
	if p, ok := core.ProvenanceOf(m.Raw); ok && p.SourceSessionKey != "" {
		head += "  from " + p.SourceSessionKey + " (" + p.SourceTool + ")"
	}
	if m.Flags.Has(core.MessageError) {
		head += "  failed"
	}
	if m.Flags.Has(core.MessageAborted) {
		head += "  aborted"
	}
	fmt.Fprintln(out, safe.Line(head))
	for block := range core.Blocks(m.Raw) {
		indent(out, blockText(block))
	}
	if cause, ok := core.Field(m.Raw, "errorMessage"); ok {
		text, _ := core.Unquote(cause)
		indent(out, "error: "+text)
	}
	_, err := fmt.Fprintln(out)
	return err
}

// blockText is a block as plain text.
func blockText(b core.Block) string {
	switch b.Type {
	case "text":
		return b.Text
	case "thinking":
		return "(thinking) " + b.Text
	case "toolCall":
		return "(calls " + b.Name + ") " + string(b.Arguments)
	case "image":
		return fmt.Sprintf("(image %s, %d bytes)", b.MimeType, b.Bytes)
	}
	return "(" + b.Type + ") " + string(b.Raw)
}

func indent(out io.Writer, text string) {
	for _, line := range strings.Split(strings.TrimRight(safe.Block(text), "\n"), "\n") {
		fmt.Fprintln(out, "  "+line)
	}
}
