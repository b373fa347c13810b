package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"cordboard/core"
)

const (
	mostTools  = 512     // of one server
	mostName   = 64      // bytes of a name, which is what models' endpoints take
	mostAnswer = 1 << 20 // bytes of a tool's answer
)

// listing is what a server offers under the names that our agents use.
type listing struct {
	specs    []core.ToolSpec
	tools    map[string]string // the server's own name by ours
	problems map[string]error  // by our name: why a tool that is offered cannot be used
}

// newListing takes the tools of a server. One that cannot be offered is left out by name: a name that no model could say, two that would
// be called the same, or a schema that describes no object.
func newListing(server string, tools []*sdk.Tool) *listing {
	l := &listing{tools: map[string]string{}, problems: map[string]error{}}
	byName := map[string][]*sdk.Tool{}
	var order []string
	for _, tool := range tools {
		name := server + separator + speakable(tool.Name)
		if byName[name] == nil {
			order = append(order, name)
		}
		byName[name] = append(byName[name], tool)
	}
	for _, name := range order {
		spec, err := specOf(server, name, byName[name])
		if err != nil {
			l.problems[name] = err
			continue
		}
		l.specs = append(l.specs, spec)
		l.tools[name] = byName[name][0].Name
	}
	return l
}

// speakable writes _ for what a name may not hold.
func speakable(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '_'
	}, name)
}

func specOf(server, name string, tools []*sdk.Tool) (core.ToolSpec, error) {
	tool := tools[0]
	refused := func(format string, args ...any) error {
		return core.Errorf(core.CodeInvalidParams, "the tool %q of the MCP server %q "+format, append([]any{tool.Name, server}, args...)...).
			Because("mcp.servers." + server)
	}
	switch {
	case len(tools) > 1:
		return core.ToolSpec{}, refused("would be called %s, and so would %q: neither is offered", name, tools[1].Name)
	case tool.Name == "":
		return core.ToolSpec{}, refused("has no name")
	case len(name) > mostName:
		return core.ToolSpec{}, refused("would be called %s, which is %d bytes: a name may have %d", name, len(name), mostName)
	}
	schema, err := json.Marshal(tool.InputSchema)
	if err != nil || !describesObject(schema) {
		return core.ToolSpec{}, refused(`has an input schema that is not of type "object"`)
	}
	return core.ToolSpec{Name: name, Description: tool.Description, Schema: schema}, nil
}

func describesObject(schema []byte) bool {
	var s struct {
		Type       string                     `json:"type"`
		Properties map[string]json.RawMessage `json:"properties"`
	}
	return json.Unmarshal(schema, &s) == nil && s.Type == "object"
}

// find is the server's own name for a tool.
func (l *listing) find(name string) (string, error) {
	if tool, ok := l.tools[name]; ok {
		return tool, nil
	}
	if problem, ok := l.problems[name]; ok {
		return "", problem
	}
	names := slices.Sorted(maps.Keys(l.tools))
	hint := ""
	if near := core.Nearest(name, names); near != "" {
		hint = fmt.Sprintf(" (did you mean %s?)", near)
	}
	return "", core.Errorf(core.CodeInvalidParams, "there is no tool %q%s", name, hint).Accept(names...)
}

func isObject(params json.RawMessage) bool {
	params = bytes.TrimSpace(params)
	return len(params) > 0 && params[0] == '{' && json.Valid(params)
}

// textOf is an answer as a model reads it: its structured content as JSON when there is any, else its texts, and of what is no text what
// it is.
func textOf(result *sdk.CallToolResult) string {
	if result.StructuredContent != nil {
		var out bytes.Buffer
		enc := json.NewEncoder(&out)
		enc.SetEscapeHTML(false)
		if enc.Encode(result.StructuredContent) == nil {
			return bounded(strings.TrimSuffix(out.String(), "\n"))
		}
	}
	var parts []string
	for _, c := range result.Content {
		parts = append(parts, partOf(c))
	}
	if len(result.InputRequests) > 0 {
		parts = append(parts, "[the tool asks for input, which nobody here can give]")
	}
	return bounded(strings.Join(parts, "\n"))
}

func partOf(content sdk.Content) string {
	switch c := content.(type) {
	case *sdk.TextContent:
		return c.Text
	case *sdk.ImageContent:
		return fmt.Sprintf("[image, %s, %d bytes]", c.MIMEType, len(c.Data))
	case *sdk.AudioContent:
		return fmt.Sprintf("[audio, %s, %d bytes]", c.MIMEType, len(c.Data))
	case *sdk.ResourceLink:
		return fmt.Sprintf("[resource %s %s]", c.Name, c.URI)
	case *sdk.EmbeddedResource:
		if r := c.Resource; r != nil && r.Text != "" {
			return r.Text
		} else if r != nil {
			return fmt.Sprintf("[resource %s, %s, %d bytes]", r.URI, r.MIMEType, len(r.Blob))
		}
	}
	return "[content of a kind that is not known here]"
}

// bounded cuts an answer that nobody could read, and says so.
func bounded(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= mostAnswer {
		return text
	}
	return strings.ToValidUTF8(text[:mostAnswer], "") + fmt.Sprintf("\n[cut: the answer is %d bytes, %d are kept]", len(text), mostAnswer)
}
