// Package transcribe writes transcripts for people outside the console (console.md §4): one message as the text that was said in it, for
// the clipboard; one message or a whole transcript as Markdown, for editor, pager and export.
//
// What is written is sanitised by ui/safe, line breaks and tabs stay: it may end in a terminal. Nothing of how the console draws it is
// in it — no borders, no breaks of ours (R159). Who needs every byte takes the JSONL export.
package transcribe

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"cordboard/core"
	"cordboard/ui/safe"
)

// Clean is a text with everything that could drive a terminal as visible marks. CRLF counts as a newline.
func Clean(text string) string { return safe.Text(strings.ReplaceAll(text, "\r\n", "\n")) }

// Said is what a message says: its texts without the envelope a channel put around them; when it has none, its tool calls, or what it
// failed of, or what was thought.
func Said(m *core.Message) string {
	var texts, calls, thoughts []string
	for b := range core.Blocks(m.Raw) {
		switch {
		case b.Type == "thinking":
			thoughts = appendText(thoughts, b.Text)
		case b.Type == "toolCall":
			calls = append(calls, b.Name+"\n"+Pretty(b.Arguments))
		case b.Text != "":
			if len(texts) == 0 && m.Role == core.RoleUser {
				_, b.Text = OpenEnvelope(b.Text)
			}
			texts = appendText(texts, b.Text)
		}
	}
	failure, _ := core.Field(m.Raw, "errorMessage")
	failed, _ := core.Unquote(failure)
	if m.Role == core.RoleEvent {
		texts = appendText(nil, string(m.Raw))
	}
	for _, list := range [][]string{texts, calls, appendText(nil, failed), thoughts} {
		if len(list) > 0 {
			return Clean(strings.TrimRight(strings.Join(list, "\n\n"), "\n"))
		}
	}
	return ""
}

func appendText(list []string, text string) []string {
	if text == "" {
		return list
	}
	return append(list, text)
}

// Pretty is JSON over many lines, as it is when it is none.
func Pretty(raw []byte) string {
	var out bytes.Buffer
	if json.Indent(&out, raw, "", "  ") != nil {
		return string(raw)
	}
	return out.String()
}

// pageSize is how many messages are read at once.
const pageSize = 500

// Markdown writes the messages that q asks for, from the oldest to the newest, and a heading that says which transcript they are of.
// Bounds of q other than its filter do not count.
func Markdown(ctx context.Context, b core.Board, q core.MessageQuery, zone *time.Location, w io.Writer) error {
	out := bufio.NewWriterSize(w, 1<<16)
	q.Before, q.After, q.Oldest, q.Limit = 0, 0, true, pageSize
	for first := true; ; first = false {
		page, err := b.Messages(ctx, q)
		if err != nil {
			return err
		}
		if first {
			heading(out, page)
		}
		for i := range page.Messages {
			if text := Message(&page.Messages[i], zone); text != "" {
				out.WriteString("\n" + text) // a failed write is told by Flush
			}
		}
		if !page.More || len(page.Messages) == 0 {
			return out.Flush()
		}
		q.After = page.Messages[len(page.Messages)-1].Seq
	}
}

func heading(out *bufio.Writer, page core.MessagePage) {
	name := page.Session
	if name == "" {
		name = page.Generation.ID
	}
	fmt.Fprintf(out, "# %s\n", safe.Line(name))
	if g := page.Generation; g.ID != "" {
		fmt.Fprintf(out, "\nTranscript `%s` (%s), %d messages.\n", safe.Line(g.ID), safe.Line(string(g.State)), g.Messages)
	}
}

// Message is one message as Markdown, with a heading that says who, when and at what cost; "" for an event that tells nothing.
func Message(m *core.Message, zone *time.Location) string {
	if m.Role == core.RoleEvent {
		return event(m, zone)
	}
	var out strings.Builder
	var fields struct {
		Model, ToolName, StopReason, ErrorMessage string
		IsError                                   bool
		Usage                                     struct{ Input, Output float64 }
	}
	_ = json.Unmarshal(m.Raw, &fields) // what has another shape is left out
	head := []string{who(m, fields.ToolName, fields.IsError)}
	body := content(m, &head)
	head = appendText(head, fields.Model)
	head = appendText(head, instant(m.At, zone))
	if u := fields.Usage; u.Input > 0 || u.Output > 0 {
		head = append(head, fmt.Sprintf("%.0f in, %.0f out", u.Input, u.Output))
	}
	fmt.Fprintf(&out, "## %s\n", safe.Line(strings.Join(head, " · ")))
	out.WriteString(body)
	if fields.StopReason == "error" || fields.StopReason == "aborted" || fields.StopReason == "length" {
		fmt.Fprintf(&out, "\n**%s** %s\n", fields.StopReason, Clean(fields.ErrorMessage))
	}
	return out.String()
}

func who(m *core.Message, tool string, failed bool) string {
	if p, ok := core.ProvenanceOf(m.Raw); ok && p.Kind == "inter_session" {
		return strings.TrimSuffix("from "+p.SourceSessionKey+" ("+p.SourceTool+")", " ()")
	}
	switch m.Role {
	case core.RoleAssistant:
		return "agent"
	case core.RoleToolResult:
		name := "result"
		if tool != "" {
			name += " of " + tool
		}
		if failed {
			name += " · error"
		}
		return name
	}
	return m.Role.String()
}

func content(m *core.Message, head *[]string) string {
	var out strings.Builder
	first := true
	for b := range core.Blocks(m.Raw) {
		if b.Type == "text" && first && m.Role == core.RoleUser {
			var env Envelope
			env, b.Text = OpenEnvelope(b.Text)
			*head = appendText(*head, env.Sender)
		}
		first = false
		switch {
		case b.Type == "text" && m.Role == core.RoleToolResult:
			out.WriteString("\n" + fenced("", Clean(b.Text)))
		case b.Type == "text":
			out.WriteString("\n" + strings.TrimRight(Clean(b.Text), "\n") + "\n")
		case b.Type == "thinking":
			out.WriteString("\n> *thinking*\n>\n> " + strings.ReplaceAll(strings.TrimRight(Clean(b.Text), "\n"), "\n", "\n> ") + "\n")
		case b.Type == "toolCall":
			fmt.Fprintf(&out, "\n**%s**\n\n%s", safe.Line(b.Name), fenced("json", Clean(Pretty(b.Arguments))))
		default:
			fmt.Fprintf(&out, "\n*[%s %s, %d bytes]*\n", safe.Line(b.Type), safe.Line(b.MimeType), max(b.Bytes, 0))
		}
	}
	return out.String()
}

// fenced is a code block whose fence is longer than any in it.
func fenced(language, text string) string {
	longest, run := 2, 0
	for i := range len(text) {
		if run++; text[i] != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", longest+1)
	return fence + language + "\n" + strings.TrimRight(text, "\n") + "\n" + fence + "\n"
}

// event tells of what parts a transcript: compactions, summaries of branches, failed runs.
func event(m *core.Message, zone *time.Location) string {
	var e struct {
		Type, CustomType, Summary string
		Data                      struct{ Error string }
	}
	_ = json.Unmarshal(m.Raw, &e) // what has another shape is left out
	name, text := map[string]string{"compaction": "compaction", "branch_summary": "branch summary"}[e.Type], e.Summary
	if e.CustomType == "openclaw:prompt-error" {
		name, text = "run failed", e.Data.Error
	}
	if name == "" {
		return ""
	}
	head := name
	if at := instant(m.At, zone); at != "" {
		head += " · " + at
	}
	return "## " + head + "\n\n" + strings.TrimRight(Clean(text), "\n") + "\n"
}

func instant(at int64, zone *time.Location) string {
	if at == 0 {
		return ""
	}
	return time.UnixMilli(at).In(zone).Format("2006-01-02 15:04:05")
}
