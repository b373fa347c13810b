package tool

import (
	"encoding/json"
	"slices"
	"strings"

	"cordboard/core"
	"cordboard/core/key"
)

// choice is one word of a few, trimmed; absent it is the first.
type choice struct {
	to    *string
	words []string
}

func (t choice) preset() { *t.to = t.words[0] }

func (t choice) schema(o *object) {
	o.text("type", "string")
	o.texts("enum", t.words)
	o.text("default", t.words[0])
}

func (t choice) read(name string, value json.RawMessage, _ Clamped) error {
	text, ok := core.Unquote(value)
	if text = strings.TrimSpace(text); !ok || !slices.Contains(t.words, text) {
		return core.Errorf(core.CodeInvalidParams, "%s is %s%s: one of %s is accepted", name, shown(value), didYouMean(text, t.words),
			strings.Join(t.words, ", ")).Accept(t.words...)
	}
	*t.to = text
	return nil
}

// given is a choice that tells whether it was made.
type given struct {
	choice
	was *bool
}

func (t given) preset() {
	t.choice.preset()
	*t.was = false
}

func (t given) schema(o *object) {
	o.text("type", "string")
	o.texts("enum", t.words)
}

func (t given) read(name string, value json.RawMessage, c Clamped) error {
	*t.was = true
	return t.choice.read(name, value, c)
}

// agentID is the id of an agent in lower case, "" when absent.
type agentID struct{ to *string }

func (t agentID) preset() { *t.to = "" }

func (t agentID) schema(o *object) {
	o.text("type", "string")
	o.text("pattern", `^\s*[A-Za-z0-9][A-Za-z0-9_-]{0,63}\s*$`)
}

func (t agentID) read(name string, value json.RawMessage, _ Clamped) error {
	text, ok := core.Unquote(value)
	id := strings.ToLower(strings.TrimSpace(text))
	if !ok || !key.ValidAgentID(id) {
		return core.Errorf(core.CodeInvalidParams, "Invalid agentId: %s is %s, and an agent's id is 1 to 64 letters, digits, _ and -, the first no mark; "+
			"agents_list shows them", name, shown(value))
	}
	*t.to = id
	return nil
}

// name is a short text for people, white space around it trimmed; blank is absent.
type name struct {
	to  *string
	max int // bytes
}

func (t name) preset() { *t.to = "" }

func (t name) schema(o *object) {
	o.text("type", "string")
	o.integer("maxLength", int64(t.max))
}

func (t name) read(name string, value json.RawMessage, _ Clamped) error {
	text, ok := core.Unquote(value)
	if text = strings.TrimSpace(text); !ok || len(text) > t.max {
		return core.Errorf(core.CodeInvalidParams, "%s is %s: a text of up to %d bytes is accepted", name, shown(value), t.max)
	}
	*t.to = text
	return nil
}

// optional is seconds that may be absent: -1 then.
type optional struct{ seconds }

func (t optional) preset() { *t.to = -1 }

func (t optional) schema(o *object) {
	o.text("type", "integer")
	o.integer("minimum", 0)
	o.integer("maximum", int64(t.max))
}

// attachments is a list of files. What they are called and what they hold is checked later, in the order of session-tools.md §8.
type attachments struct{ to *[]Attachment }

func (t attachments) preset() { *t.to = nil }

func (t attachments) schema(o *object) {
	var item object
	item.text("type", "object")
	item.raw("properties", schemaMembers(attachmentParams(new(Attachment))))
	item.texts("required", []string{"name", "content"})
	item.boolean("additionalProperties", false)
	o.text("type", "array")
	o.raw("items", item.done())
}

func (t attachments) read(name string, value json.RawMessage, _ Clamped) error {
	if value[0] != '[' {
		return badValue(name, value, `an array of files, as in [{"name": "a.txt", "content": "…"}]`)
	}
	for element := range core.Elements(value) {
		var a Attachment
		if element[0] != '{' {
			return badValue(name, element, `an object, as in {"name": "a.txt", "content": "…"}, for each file`)
		}
		if _, err := decode(name+"[]", element, attachmentParams(&a)); err != nil {
			return err
		}
		*t.to = append(*t.to, a)
	}
	return nil
}

func attachmentParams(a *Attachment) []param {
	return []param{
		{name: "name", required: true, typ: plain{&a.Name}, about: "File name, without a directory."},
		{name: "content", required: true, typ: plain{&a.Content}, about: "What the file holds."},
		{name: "encoding", typ: choice{&a.Encoding, []string{EncodingUTF8, EncodingBase64}}, about: "How content is written."},
		{name: "mimeType", typ: name{&a.MimeType, 255}, about: "Type of the file, as in image/png."},
	}
}

// plain is any text, byte for byte; blank ones too.
type plain struct{ to *string }

func (t plain) preset()          { *t.to = "" }
func (t plain) schema(o *object) { o.text("type", "string") }

func (t plain) read(name string, value json.RawMessage, _ Clamped) error {
	text, ok := core.Unquote(value)
	if !ok {
		return badValue(name, value, "a text")
	}
	*t.to = text
	return nil
}

// mount is {mountPath}.
type mount struct{ to *string }

func (t mount) params() []param {
	return []param{{name: "mountPath", typ: name{t.to, 1024}, about: "Where the files should appear for the sub-agent."}}
}

func (t mount) preset() { *t.to = "" }

func (t mount) schema(o *object) {
	o.text("type", "object")
	o.raw("properties", schemaMembers(t.params()))
	o.boolean("additionalProperties", false)
}

func (t mount) read(name string, value json.RawMessage, _ Clamped) error {
	if value[0] != '{' {
		return badValue(name, value, `an object, as in {"mountPath": "inputs"}`)
	}
	_, err := decode(name, value, t.params())
	return err
}
