package mcp

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"cordboard/core"
	"cordboard/core/tool"
)

// ServerOptions are what a server tells of itself.
type ServerOptions struct {
	Version string
	Log     *slog.Logger // nil = nothing is logged
}

// NewServer offers the tools of a session to an MCP client: those that the session may use, with the schemas that the engine decodes by,
// called as the session whatever the client says of itself. The board's actor is the identity, and nothing a client sends can change it
// (gateway.md §4).
//
// An answer is the tool's JSON as text and as structured content; a refusal is such an answer too, marked as an error. The board must
// outlive the server.
func NewServer(ctx context.Context, b core.Board, o ServerOptions) (*mcp.Server, error) {
	info, err := b.Info(ctx)
	if err != nil {
		return nil, err
	}
	s := mcp.NewServer(&mcp.Implementation{Name: "cordboard", Version: o.Version}, &mcp.ServerOptions{
		Instructions: "Sessions of AI agents, as " + info.Actor.Session + " sees them. A tool's refusal says which rule decided and what would be accepted.",
		Logger:       o.Log,
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
	})
	for _, spec := range tool.Tools() {
		if slices.Contains(info.Tools, spec.Name) {
			s.AddTool(&mcp.Tool{Name: spec.Name, Description: spec.Description, InputSchema: spec.Schema}, handler(b, spec.Name))
		}
	}
	return s, nil
}

func handler(b core.Board, name string) mcp.ToolHandler {
	return func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		params := r.Params.Arguments
		if len(params) == 0 {
			params = json.RawMessage("{}")
		}
		result, err := b.Call(ctx, core.ToolCall{Tool: name, Params: params})
		if err != nil {
			return nil, err
		}
		return &mcp.CallToolResult{
			Content: []mcp.Content{&mcp.TextContent{Text: string(result.Body)}}, StructuredContent: result.Body, IsError: result.Refused != nil,
		}, nil
	}
}
