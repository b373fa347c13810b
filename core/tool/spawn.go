package tool

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"cordboard/core"
)

// How an attachment's content is written.
const (
	EncodingUTF8   = "utf8"
	EncodingBase64 = "base64"
)

// What a spawn asks of the sandbox.
const (
	SandboxInherit = "inherit"
	SandboxRequire = "require"
)

// RunSeconds is the longest runTimeoutSeconds, a year.
const RunSeconds = 31_536_000

// Spawn is a decoded call of sessions_spawn (session-tools.md §8). Texts that were not given are "".
type Spawn struct {
	Task              string // byte for byte as given
	Label             string
	AgentID           string // in lower case
	Model             string
	Thinking          string
	RunTimeoutSeconds int // -1 = not given
	Thread            bool
	Mode              core.SpawnMode
	Cleanup           string
	Sandbox           string
	Attachments       []Attachment
	MountPath         string
}

// Attachment is one file as the call brings it.
type Attachment struct{ Name, Content, Encoding, MimeType string }

// Bytes decodes the content; base64 strictly: padded, without white space, and not empty.
func (a *Attachment) Bytes() ([]byte, bool) {
	if a.Encoding != EncodingBase64 {
		return []byte(a.Content), true
	}
	for i := range len(a.Content) {
		if a.Content[i] == '\n' || a.Content[i] == '\r' {
			return nil, false // the decoder would skip them
		}
	}
	data, err := base64.StdEncoding.Strict().DecodeString(a.Content)
	return data, err == nil && len(data) > 0
}

// Receipt is what is kept of a file's content.
func Receipt(name, mimeType string, data []byte) core.Attachment {
	sum := sha256.Sum256(data)
	return core.Attachment{Name: name, Bytes: int64(len(data)), SHA256: hex.EncodeToString(sum[:]), MimeType: mimeType}
}

// DecodeSpawn reads the parameters of sessions_spawn, as DecodeList does.
func DecodeSpawn(raw json.RawMessage) (Spawn, Clamped, error) {
	var s Spawn
	var mode string
	var chosen bool
	clamped, err := decode(SessionsSpawn, raw, spawnParams(&s, &mode, &chosen))
	if err != nil {
		return s, clamped, err
	}
	switch s.Mode = core.SpawnMode(mode); {
	case !chosen && s.Thread:
		s.Mode = core.SpawnSession
	case s.Mode == core.SpawnSession && !s.Thread:
		return s, clamped, core.Errorf(core.CodeInvalidParams,
			`mode="session" requires thread=true: a session stays in a thread of your channel. Give thread=true with it, or mode="run" without a thread`).
			Accept(string(core.SpawnOnce)).About("mode")
	}
	if s.Mode == core.SpawnSession {
		s.Cleanup = core.CleanupKeep
	}
	return s, clamped, nil
}

func spawnParams(s *Spawn, mode *string, chosen *bool) []param {
	return []param{
		{name: "task", required: true, typ: message{&s.Task}, about: "What the sub-agent is to do. It knows nothing but this: say all that it needs."},
		{name: "label", typ: name{&s.Label, core.MaxKeyBytes}, about: "A name for people; need not be unique."},
		{name: "agentId", typ: agentID{&s.AgentID}, about: "Whose sub-agent: an id that agents_list shows. Leave out for your own."},
		{name: "model", typ: name{&s.Model, 256}, about: `A configured model, as "provider/model", instead of the agent's.`},
		{
			name: "thinking", typ: name{&s.Thinking, 64},
			about: "Thinking level: off, minimal, low, medium, high, xhigh or adaptive, as far as the model knows it.",
		},
		{
			name: "runTimeoutSeconds", typ: optional{seconds{to: &s.RunTimeoutSeconds, max: RunSeconds}},
			about: "Cut the run after so many seconds; 0 never. What it did until then is announced.",
		},
		{name: "thread", typ: boolean{&s.Thread}, about: "Open a thread in your channel in which the sub-agent talks to the people there."},
		{
			name: "mode", typ: given{choice{mode, []string{string(core.SpawnOnce), string(core.SpawnSession)}}, chosen},
			about: "run ends with its answer; session stays in its thread, so it needs thread=true.",
		},
		{name: "cleanup", typ: choice{&s.Cleanup, []string{core.CleanupKeep, core.CleanupDelete}}, about: "Whether its session is deleted once the result is announced."},
		{
			name: "sandbox", typ: choice{&s.Sandbox, []string{SandboxInherit, SandboxRequire}},
			about: "require refuses unless the sub-agent is sandboxed.",
		},
		{name: "attachments", typ: attachments{&s.Attachments}, about: "Files for the sub-agent."},
		{name: "attachAs", typ: mount{&s.MountPath}, about: "A hint where the files should appear."},
	}
}

// SpawnAnswer is the answer of sessions_spawn.
type SpawnAnswer struct {
	RunID        string
	SessionKey   string
	ModelApplied bool // the call named a model, and the run uses it
	ThreadID     string
	Files        *core.Attachments
}

// Accepted is the only answer that is no refusal.
func (a SpawnAnswer) Accepted() json.RawMessage {
	var o object
	o.text("status", "accepted")
	o.text("runId", a.RunID)
	o.text("childSessionKey", a.SessionKey)
	o.mark("modelApplied", a.ModelApplied)
	o.text("threadId", a.ThreadID)
	if a.Files != nil {
		o.key("attachments")
		in := object{buf: o.buf}
		in.text("relDir", a.Files.RelDir)
		in.integer("count", int64(len(a.Files.Files)))
		in.key("files")
		in.buf = append(in.buf, '[')
		for i, f := range a.Files.Files {
			if i > 0 {
				in.buf = append(in.buf, ',')
			}
			in.buf = appendReceipt(in.buf, f)
		}
		in.buf = append(in.buf, ']')
		o.buf = in.done()
	}
	return o.done()
}

func appendReceipt(dst []byte, f core.Attachment) []byte {
	in := object{buf: dst}
	in.key("name")
	in.buf = AppendString(in.buf, f.Name)
	in.integer("bytes", f.Bytes)
	in.text("sha256", f.SHA256)
	return in.done()
}

// Stored is a call's parameters as a transcript keeps them: of a spawn the receipts of its files and not what they hold. Agents that bring
// their own client call it by longer names, such as mcp__cordboard__sessions_spawn.
func Stored(tool string, params json.RawMessage) json.RawMessage {
	if !strings.HasSuffix(tool, SessionsSpawn) {
		return params
	}
	if list, ok := core.Field(params, "attachments"); !ok || len(list) == 0 || list[0] != '[' {
		return params
	}
	var o object
	for m := range core.Members(params) {
		o.literal(m.Key)
		if m.Named("attachments") {
			o.buf = appendReceipts(o.buf, m.Value)
		} else {
			o.buf = append(o.buf, m.Value...)
		}
	}
	return slices.Clip(o.done())
}

func appendReceipts(dst []byte, list json.RawMessage) []byte {
	dst = append(dst, '[')
	first := true
	for element := range core.Elements(list) {
		if !first {
			dst = append(dst, ',')
		}
		first = false
		var a Attachment
		if _, err := decode(SessionsSpawn, element, attachmentParams(&a)); err != nil {
			dst = append(dst, `{"omitted":true}`...) // the call was refused, and there is nothing to tell of what it brought
			continue
		}
		data, ok := a.Bytes()
		if !ok {
			data = []byte(a.Content)
		}
		dst = appendReceipt(dst, Receipt(a.Name, a.MimeType, data))
	}
	return append(dst, ']')
}
