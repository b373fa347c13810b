// A tiny agent that speaks the Agent Client Protocol, for tests and to try the runtime acp with. It answers with the message it got, and
// does what a line of it says first:
//
//	stream A B C      says the words one by one, after a thought
//	tool NAME         runs a tool of its own
//	ask TITLE         asks for permission, and says what was chosen
//	call TOOL JSON    calls a tool of the MCP server it was given
//	told              says what it was told in this turn, all of it
//	turns             says how many turns it has had
//	hang              says nothing until it is cancelled
//	stubborn          says nothing, also when it is cancelled
//	crash TEXT        writes TEXT to standard error and ends
//	refuse            ends the turn as refused
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"

	acp "github.com/coder/acp-go-sdk"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "--mute" {
		fmt.Fprintln(os.Stderr, "this speaks no protocol")
		os.Exit(3)
	}
	signal.Ignore(syscall.SIGTERM)
	a := &agent{}
	a.conn = acp.NewAgentSideConnection(a, os.Stdout, os.Stdin)
	a.conn.SetLogger(slog.New(slog.DiscardHandler))
	<-a.conn.Done()
}

type agent struct {
	conn    *acp.AgentSideConnection
	servers []acp.McpServer
	turns   int

	mu     sync.Mutex
	cancel context.CancelFunc
}

func (a *agent) Initialize(context.Context, acp.InitializeRequest) (acp.InitializeResponse, error) {
	return acp.InitializeResponse{ProtocolVersion: acp.ProtocolVersionNumber}, nil
}

func (a *agent) NewSession(_ context.Context, r acp.NewSessionRequest) (acp.NewSessionResponse, error) {
	a.servers = r.McpServers
	return acp.NewSessionResponse{SessionId: "one"}, nil
}

func (a *agent) Cancel(context.Context, acp.CancelNotification) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.cancel != nil {
		a.cancel()
	}
	return nil
}

func (a *agent) Prompt(ctx context.Context, r acp.PromptRequest) (acp.PromptResponse, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	a.mu.Lock()
	a.cancel = cancel
	a.turns++
	a.mu.Unlock()
	var told []string
	for _, b := range r.Prompt {
		if b.Text != nil {
			told = append(told, b.Text.Text)
		}
	}
	message := told[len(told)-1]
	verb, rest, _ := strings.Cut(strings.TrimSpace(message), " ")
	reason, err := a.do(ctx, verb, rest, message, told)
	if ctx.Err() != nil {
		return acp.PromptResponse{StopReason: acp.StopReasonCancelled}, nil
	}
	return acp.PromptResponse{StopReason: reason, Usage: &acp.Usage{InputTokens: 10 * a.turns, OutputTokens: a.turns}}, err
}

func (a *agent) do(ctx context.Context, verb, rest, message string, told []string) (acp.StopReason, error) {
	end := acp.StopReasonEndTurn
	switch verb {
	case "stream":
		if err := a.update(ctx, acp.UpdateAgentThoughtText("hm")); err != nil {
			return end, err
		}
		for word := range strings.FieldsSeq(rest) {
			if err := a.say(ctx, word+" "); err != nil {
				return end, err
			}
		}
		return end, nil
	case "tool":
		return end, errors.Join(
			a.update(ctx, acp.StartToolCall("t1", rest, acp.WithStartStatus(acp.ToolCallStatusPending), acp.WithStartRawInput(map[string]any{"path": "a.txt"}))),
			a.update(ctx, acp.UpdateToolCall("t1", acp.WithUpdateStatus(acp.ToolCallStatusInProgress))),
			a.update(ctx, acp.UpdateToolCall("t1", acp.WithUpdateStatus(acp.ToolCallStatusCompleted), acp.WithUpdateContent([]acp.ToolCallContent{acp.ToolContent(acp.TextBlock("done it"))}))),
			a.say(ctx, "used "+rest))
	case "ask":
		return end, a.ask(ctx, rest)
	case "call":
		return end, a.call(ctx, rest)
	case "told":
		return end, a.say(ctx, strings.Join(told, "\n--\n"))
	case "turns":
		return end, a.say(ctx, fmt.Sprint(a.turns))
	case "hang":
		<-ctx.Done()
		return end, nil
	case "stubborn":
		select {}
	case "crash":
		fmt.Fprintln(os.Stderr, rest)
		os.Exit(7)
	case "refuse":
		return acp.StopReasonRefusal, nil
	}
	return end, a.say(ctx, message)
}

func (a *agent) ask(ctx context.Context, title string) error {
	r, err := a.conn.RequestPermission(ctx, acp.RequestPermissionRequest{
		SessionId: "one", ToolCall: acp.ToolCallUpdate{ToolCallId: "t1", Title: &title, RawInput: map[string]any{"command": title}},
		Options: []acp.PermissionOption{
			{OptionId: "yes", Name: "Allow", Kind: acp.PermissionOptionKindAllowOnce}, {OptionId: "no", Name: "Reject", Kind: acp.PermissionOptionKindRejectOnce},
		},
	})
	if err != nil {
		return err
	}
	if r.Outcome.Selected == nil {
		return a.say(ctx, "nobody chose")
	}
	return a.say(ctx, "chosen: "+string(r.Outcome.Selected.OptionId))
}

// call calls a tool of the first MCP server and says its answer.
func (a *agent) call(ctx context.Context, rest string) error {
	if len(a.servers) == 0 || a.servers[0].Stdio == nil {
		return a.say(ctx, "no server")
	}
	name, params, _ := strings.Cut(rest, " ")
	server := a.servers[0].Stdio
	cmd := exec.Command(server.Command, server.Args...)
	cmd.Env = os.Environ()
	for _, v := range server.Env {
		cmd.Env = append(cmd.Env, v.Name+"="+v.Value)
	}
	c, err := mcp.NewClient(&mcp.Implementation{Name: "tiny", Version: "1"}, nil).Connect(ctx, &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		return a.say(ctx, "no connection: "+err.Error())
	}
	defer c.Close()
	result, err := c.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: json.RawMessage(params)})
	if err != nil {
		return a.say(ctx, "no answer: "+err.Error())
	}
	for _, content := range result.Content {
		if text, ok := content.(*mcp.TextContent); ok {
			if err := a.say(ctx, text.Text); err != nil {
				return err
			}
		}
	}
	return nil
}

func (a *agent) say(ctx context.Context, text string) error {
	return a.update(ctx, acp.UpdateAgentMessageText(text))
}

func (a *agent) update(ctx context.Context, u acp.SessionUpdate) error {
	return a.conn.SessionUpdate(ctx, acp.SessionNotification{SessionId: "one", Update: u})
}

// What this agent does not offer.

func (a *agent) Authenticate(context.Context, acp.AuthenticateRequest) (acp.AuthenticateResponse, error) {
	return acp.AuthenticateResponse{}, nil
}

func (a *agent) CloseSession(context.Context, acp.CloseSessionRequest) (acp.CloseSessionResponse, error) {
	return acp.CloseSessionResponse{}, acp.NewMethodNotFound(acp.AgentMethodSessionClose)
}

func (a *agent) ListSessions(context.Context, acp.ListSessionsRequest) (acp.ListSessionsResponse, error) {
	return acp.ListSessionsResponse{}, acp.NewMethodNotFound(acp.AgentMethodSessionList)
}

func (a *agent) ResumeSession(context.Context, acp.ResumeSessionRequest) (acp.ResumeSessionResponse, error) {
	return acp.ResumeSessionResponse{}, acp.NewMethodNotFound(acp.AgentMethodSessionResume)
}

func (a *agent) SetSessionConfigOption(context.Context, acp.SetSessionConfigOptionRequest) (acp.SetSessionConfigOptionResponse, error) {
	return acp.SetSessionConfigOptionResponse{}, acp.NewMethodNotFound(acp.AgentMethodSessionSetConfigOption)
}

func (a *agent) SetSessionMode(context.Context, acp.SetSessionModeRequest) (acp.SetSessionModeResponse, error) {
	return acp.SetSessionModeResponse{}, acp.NewMethodNotFound(acp.AgentMethodSessionSetMode)
}
