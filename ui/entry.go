package ui

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"cordboard/core"
	"cordboard/ui/md"
	"cordboard/ui/safe"
	"cordboard/ui/transcribe"
)

// reading is how transcripts are read: what is unfolded and whether long lines break. It holds for every transcript.
type reading struct {
	tools    bool
	thinking bool
	wrap     bool
	raw      bool // Markdown as it was written
	notes    bool // events with all they say
}

// entry is a transcript line taken apart for the screen.
type entry struct {
	bar   ink    // of the stripe at its left that says who speaks
	quiet bool   // no blank line before it
	top   bool   // the first of its transcript
	day   string // a new day begins here
	parts []part

	folds, folded int // what can be folded, and what of it is
}

// part is a piece of an entry with its own lines. A text is cut into parts of bounded size, so that a message of megabytes costs what is
// seen of it.
type part struct {
	kind partKind
	lead []run // oneLine: in front of the text
	tail []run // behind it: each is there whole or, where there is no room for it, not at all
	ink  ink
	text string // sanitised
	md   md.Block
}

type partKind uint8

const (
	partText     partKind = iota // wrapped
	partOneLine                  // cut
	partRule                     // a line across
	partGap                      // the blank before an entry and the day's divider; may take no line
	partMarkdown                 // a block of Markdown
)

// maxPart bounds the text of a part in bytes.
const maxPart = 16 << 10

// entryMaker turns messages into entries.
type entryMaker struct {
	k     *inks
	md    *md.Renderer
	marks bool // Markdown keeps the marks it was written with
	read  reading
	zone  *time.Location
}

// opened is the maker of a message that is unfolded or folded by itself; nil = as all are.
func (e entryMaker) opened(open *bool) entryMaker {
	if open != nil {
		e.read.tools, e.read.thinking, e.read.notes = *open, *open, *open
	}
	return e
}

// fold counts something that can be folded and hands on whether it is open.
func (e *entry) fold(open bool) bool {
	e.folds++
	if !open {
		e.folded++
	}
	return open
}

// facts are the fields of a message object that the console shows beside its content.
type facts struct {
	role, model, toolName, stop, failure string
	isError                              bool
	input, output                        int64
	from                                 core.Provenance
}

func factsOf(raw []byte) facts {
	var f facts
	for m := range core.Members(raw) {
		switch {
		case m.Named("role"):
			f.role, _ = core.Unquote(m.Value)
		case m.Named("model"):
			f.model, _ = core.Unquote(m.Value)
		case m.Named("toolName"):
			f.toolName, _ = core.Unquote(m.Value)
		case m.Named("stopReason"):
			f.stop, _ = core.Unquote(m.Value)
		case m.Named("errorMessage"):
			f.failure, _ = core.Unquote(m.Value)
		case m.Named("isError"):
			f.isError = string(m.Value) == "true"
		case m.Named("provenance"):
			_ = json.Unmarshal(m.Value, &f.from) // a provenance of another shape names nobody
		case m.Named("usage"):
			f.input, f.output = usageOf(m.Value)
		}
	}
	return f
}

func usageOf(raw []byte) (input, output int64) {
	var u struct{ Input, Output float64 }
	_ = json.Unmarshal(raw, &u) // figures of another shape are not shown
	return int64(u.Input), int64(u.Output)
}

// make takes a message apart. before is the message above it, nil at the top.
func (e entryMaker) make(m, before *core.Message) *entry {
	out := &entry{top: before == nil, day: e.newDay(m, before)}
	out.parts = append(out.parts, part{kind: partGap})
	switch m.Role {
	case core.RoleEvent:
		e.event(out, m)
	case core.RoleToolResult:
		e.result(out, m)
	default:
		e.message(out, m)
	}
	return out
}

func (e entryMaker) newDay(m, before *core.Message) string {
	if m.At == 0 || before != nil && before.At == 0 {
		return ""
	}
	day := time.UnixMilli(m.At).In(e.zone).Format("Mon 2 Jan 2006")
	if before != nil && time.UnixMilli(before.At).In(e.zone).Format("Mon 2 Jan 2006") == day {
		return ""
	}
	return day
}

func (e entryMaker) clock(at int64) string {
	if at == 0 {
		return "--:--:--"
	}
	return time.UnixMilli(at).In(e.zone).Format("15:04:05")
}

func (e entryMaker) event(out *entry, m *core.Message) {
	out.quiet, out.bar = true, e.k.dim
	told := describe(m.Raw)
	text, loud, failed := safe.Line(told.text), told.loud, told.failed
	switch {
	case text == "":
	case loud:
		out.quiet = false
		out.parts = append(out.parts, part{kind: partRule, ink: e.k.muted, text: text})
	case failed:
		lead := []run{{e.k.dim, e.clock(m.At) + "  "}, {e.k.err, "✗ "}}
		out.parts = append(out.parts, part{kind: partOneLine, lead: lead, ink: e.k.err, text: text})
	default:
		lead := []run{{e.k.dim, e.clock(m.At) + "  "}}
		out.parts = append(out.parts, part{kind: partOneLine, lead: lead, ink: e.k.dim, text: text})
	}
	if told.body != "" && out.fold(e.read.notes) {
		e.text(out, e.k.muted, told.body)
	}
}

// message is a line by a person, an agent or the system: who and when, then its blocks.
func (e entryMaker) message(out *entry, m *core.Message) {
	f := factsOf(m.Raw)
	bar, who := e.speaker(m.Role, f)
	out.bar = bar
	head := part{kind: partOneLine, lead: append([]run{{e.k.muted, e.clock(m.At) + "  "}}, who...)}
	at := len(out.parts)
	out.parts = append(out.parts, head)
	first := true
	for b := range core.Blocks(m.Raw) {
		if b.Type == "text" && first && m.Role == core.RoleUser {
			var env transcribe.Envelope
			env, b.Text = transcribe.OpenEnvelope(b.Text)
			e.envelope(&out.parts[at], env)
		}
		first = false
		e.block(out, m.Role, b)
	}
	e.usage(&out.parts[at], f)
	e.ending(out, f, len(out.parts) == at+1)
}

func (e entryMaker) speaker(role core.Role, f facts) (bar ink, who []run) {
	switch {
	case f.from.Kind == "inter_session":
		who = []run{{e.k.session, "⇄ from " + safe.Line(firstOf(f.from.SourceSessionKey, "an unnamed session"))}}
		if f.from.SourceTool != "" {
			who = append(who, run{e.k.muted, " (" + safe.Line(f.from.SourceTool) + ")"})
		}
		if f.from.Via != "" {
			who = append(who, run{e.k.muted, " via " + safe.Line(f.from.Via)})
		}
		return e.k.session, who
	case role == core.RoleUser:
		return e.k.user, []run{{e.k.user, "user"}}
	case role == core.RoleAssistant:
		return e.k.agent, []run{{e.k.agent, "agent"}}
	case role == core.RoleSystem:
		return e.k.system, []run{{e.k.system, "system"}}
	}
	return e.k.system, []run{{e.k.system, safe.Line(firstOf(f.role, "message without a role"))}}
}

func (e entryMaker) envelope(head *part, env transcribe.Envelope) {
	if env.Sender != "" {
		head.lead = append(head.lead, run{e.k.muted, " " + safe.Line(env.Sender)})
	}
	if env.Stamp != "" {
		head.tail = append(head.tail, run{e.k.dim, " · [" + safe.Line(env.Stamp) + "]"})
	}
}

func (e entryMaker) usage(head *part, f facts) {
	if f.model != "" {
		head.tail = append(head.tail, run{e.k.dim, " · " + safe.Line(f.model)})
	}
	if f.input > 0 || f.output > 0 {
		head.tail = append(head.tail, run{e.k.dim, " · " + count(f.input) + " in " + count(f.output) + " out"})
	}
}

// ending says how an agent's message ended when it did not end well.
func (e entryMaker) ending(out *entry, f facts, empty bool) {
	failure := safe.Block(prefixed(": ", strings.TrimSpace(f.failure)))
	switch {
	case f.stop == "error":
		out.parts = append(out.parts, part{ink: e.k.err, text: "✗ error" + failure})
	case f.stop == "aborted":
		out.parts = append(out.parts, part{ink: e.k.warn, text: "⊘ aborted" + failure})
	case f.stop == "length":
		out.parts = append(out.parts, part{ink: e.k.warn, text: "⊘ cut: the reply reached the model's length limit"})
	case empty:
		out.parts = append(out.parts, part{ink: e.k.dim, text: "(no text)"})
	}
}

func (e entryMaker) block(out *entry, role core.Role, b core.Block) {
	switch b.Type {
	case "text":
		e.prose(out, role, b.Text)
	case "thinking":
		e.thought(out, b.Text)
	case "toolCall":
		e.call(out, b)
	case "image":
		size := "elsewhere"
		if b.Bytes > 0 {
			size = bytesOf(int64(b.Bytes))
		}
		out.parts = append(out.parts, part{ink: e.k.muted, text: "[image " + size + safe.Line(prefixed(" ", b.MimeType)) + "]"})
	default:
		out.parts = append(out.parts, part{ink: e.k.muted, text: "[" + safe.Line(firstOf(b.Type, "block")) + " " + bytesOf(int64(len(b.Raw))) + "]"})
	}
}

// prose adds what a person or an agent wrote: Markdown, unless it is to be shown as it was written.
func (e entryMaker) prose(out *entry, role core.Role, text string) {
	if e.read.raw || role != core.RoleUser && role != core.RoleAssistant {
		e.text(out, e.k.text, text)
		return
	}
	for _, b := range md.Split(text) {
		out.parts = append(out.parts, part{kind: partMarkdown, md: b})
	}
}

// text adds a text in parts of bounded size, cut at line ends where there are any.
func (e entryMaker) text(out *entry, k ink, text string) {
	text = strings.TrimRight(text, "\n")
	for len(text) > maxPart {
		cut := strings.LastIndexByte(text[:maxPart], '\n')
		next := cut + 1
		if cut <= 0 {
			cut = runeStart(text, maxPart)
			next = cut
		}
		out.parts = append(out.parts, part{ink: k, text: safe.Block(text[:cut])})
		text = text[next:]
	}
	if text != "" {
		out.parts = append(out.parts, part{ink: k, text: safe.Block(text)})
	}
}

// runeStart is the last index up to i at which a rune begins.
func runeStart(s string, i int) int {
	for n := 0; n < 3 && i > 1 && s[i]&0xC0 == 0x80; n++ {
		i--
	}
	return i
}

func (e entryMaker) thought(out *entry, text string) {
	if out.fold(e.read.thinking) {
		out.parts = append(out.parts, part{kind: partOneLine, lead: []run{{e.k.thinking, "▾ thinking"}}})
		e.text(out, e.k.thinking, text)
		return
	}
	lead := []run{{e.k.thinking, "▸ thinking"}, {e.k.dim, " · " + bytesOf(int64(len(text))) + " · "}}
	out.parts = append(out.parts, part{kind: partOneLine, lead: lead, ink: e.k.thinking, text: glance(text)})
}

func (e entryMaker) call(out *entry, b core.Block) {
	name := run{e.k.tool, safe.Line(firstOf(b.Name, "tool without a name"))}
	if out.fold(e.read.tools) {
		out.parts = append(out.parts, part{kind: partOneLine, lead: []run{{e.k.tool, "▾ "}, name}})
		e.text(out, e.k.muted, transcribe.Pretty(b.Arguments))
		return
	}
	out.parts = append(out.parts, part{kind: partOneLine, lead: []run{{e.k.tool, "▸ "}, name}, ink: e.k.muted, text: " " + compact(b.Arguments)})
}

// result is a tool's answer: one line while tools are folded.
func (e entryMaker) result(out *entry, m *core.Message) {
	f := factsOf(m.Raw)
	out.quiet, out.bar = true, e.k.tool
	text, images := resultText(m.Raw)
	name, sign := e.k.tool, "◂ "
	if f.isError {
		name, sign = e.k.err, "✗ "
	}
	lead := []run{{e.k.muted, e.clock(m.At) + "  "}, {name, sign + safe.Line(firstOf(f.toolName, "tool result"))}}
	if f.isError {
		lead = append(lead, run{e.k.err, " error"})
	}
	lead = append(lead, run{e.k.dim, " · " + bytesOf(int64(len(text)))})
	for _, image := range images {
		lead = append(lead, run{e.k.dim, " · [image " + bytesOf(int64(image)) + "]"})
	}
	if out.fold(e.read.tools) {
		out.parts = append(out.parts, part{kind: partOneLine, lead: lead})
		e.text(out, e.k.muted, text)
		return
	}
	lead = append(lead, run{e.k.dim, " · "})
	out.parts = append(out.parts, part{kind: partOneLine, lead: lead, ink: e.k.muted, text: glance(text)})
}

func resultText(raw []byte) (text string, images []int) {
	var texts []string
	for b := range core.Blocks(raw) {
		switch b.Type {
		case "text":
			texts = append(texts, b.Text)
		case "image":
			images = append(images, b.Bytes)
		}
	}
	return strings.Join(texts, "\n"), images
}

// glance is the beginning of a text on one line, white space folded.
func glance(text string) string {
	const enough = 1 << 10
	if len(text) > enough {
		text = text[:runeStart(text, enough)]
	}
	return safe.Line(strings.Join(strings.Fields(text), " "))
}

// compact is JSON on one line.
func compact(raw []byte) string {
	var out bytes.Buffer
	if json.Compact(&out, raw) != nil {
		return glance(string(raw))
	}
	return glance(out.String())
}
