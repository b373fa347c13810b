// Package mcpserver is a small MCP server that tests are done with: a test binary that is started again with Variable set becomes one.
package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Variable makes a test binary the server. Its value says how the server behaves, in words: "ignore-term" it ends by KILL alone, "mute" it
// never answers, "exit-N" it ends at once with that status, "odd" it also lists tools that cannot be offered.
const Variable = "CORDBOARD_TEST_MCP_SERVER"

// Asked reports whether this process is to be the server.
func Asked() bool { return os.Getenv(Variable) != "" }

// Main is the server's main function.
func Main() {
	how := os.Getenv(Variable)
	fmt.Fprintln(os.Stderr, "started, pid", os.Getpid())
	if status, ok := strings.CutPrefix(how, "exit-"); ok {
		n, _ := strconv.Atoi(status)
		os.Exit(n)
	}
	if strings.Contains(how, "ignore-term") {
		ignoreTerm()
	}
	if strings.Contains(how, "mute") {
		select {}
	}
	_ = New(how).Run(context.Background(), &mcp.StdioTransport{})
	if strings.Contains(how, "ignore-term") {
		select {}
	}
}

// New is the server itself.
func New(how string) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "tiny", Version: "1"}, nil)
	add := func(name, schema string, do mcp.ToolHandler) {
		s.AddTool(&mcp.Tool{Name: name, Description: "It can " + name + ".", InputSchema: json.RawMessage(schema)}, do)
	}
	const anything = `{"type":"object"}`
	add("echo", `{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`, echo)
	add("structured", anything, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "not this"}}, StructuredContent: r.Params.Arguments}, nil
	})
	add("fail", anything, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "it cannot be done"}}, IsError: true}, nil
	})
	add("hang", anything, func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		fmt.Fprintln(os.Stderr, "hanging")
		<-ctx.Done()
		return nil, ctx.Err()
	})
	add("crash", anything, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		os.Exit(3)
		return nil, nil
	})
	add("environment", anything, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return text(strings.Join(os.Environ(), "\n")), nil
	})
	add("grow", anything, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		add("grown", anything, echo)
		return text("grown"), nil
	})
	if strings.Contains(how, "odd") {
		add("e.cho", anything, echo)
		add("e/cho", anything, echo)
		add(strings.Repeat("long", 20), anything, echo)
	}
	return s
}

func text(s string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}}
}

func echo(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	var given struct{ Text string }
	if err := json.Unmarshal(r.Params.Arguments, &given); err != nil {
		return nil, err
	}
	return text(given.Text), nil
}
