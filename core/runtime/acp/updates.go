package acp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"

	sdk "github.com/coder/acp-go-sdk"

	"cordboard/core"
)

// turn takes what a program does while it answers one message. Updates come one after another, in another goroutine than the turn's.
type turn struct {
	out core.Sink
	ctx context.Context

	mu    sync.Mutex
	calls map[string]*toolCall // open ones, by the program's id
	err   error                // why nothing more is taken
}

// toolCall is a tool call of the program's own, of which it tells bit by bit.
type toolCall struct {
	title  string
	input  any
	output any
	texts  []string
	begun  bool // it is in the transcript
}

func (t *turn) failure() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.err
}

// update takes one; an error, once there was one, ends the taking: the run has ended or was fenced off.
func (t *turn) update(u sdk.SessionUpdate) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err != nil {
		return t.err
	}
	switch {
	case u.AgentMessageChunk != nil:
		t.err = t.out.Text(textIn(u.AgentMessageChunk.Content))
	case u.AgentThoughtChunk != nil:
		t.err = t.out.Think(textIn(u.AgentThoughtChunk.Content))
	case u.ToolCall != nil:
		c := u.ToolCall
		t.err = t.call(string(c.ToolCallId), c.Title, c.RawInput, c.RawOutput, c.Content, c.Status)
	case u.ToolCallUpdate != nil:
		c := u.ToolCallUpdate
		title, status := "", sdk.ToolCallStatus("")
		if c.Title != nil {
			title = *c.Title
		}
		if c.Status != nil {
			status = *c.Status
		}
		t.err = t.call(string(c.ToolCallId), title, c.RawInput, c.RawOutput, c.Content, status)
	}
	return t.err
}

// call takes what is told of a tool call. It is recorded when it begins to run, and answered when it has ended.
func (t *turn) call(id, title string, input, output any, content []sdk.ToolCallContent, status sdk.ToolCallStatus) error {
	c := t.calls[id]
	if c == nil {
		c = &toolCall{}
		t.calls[id] = c
	}
	c.title = cmp.Or(title, c.title)
	if input != nil {
		c.input = input
	}
	if output != nil {
		c.output = output
	}
	if content != nil {
		c.texts = contentTexts(content)
	}
	ended := status == sdk.ToolCallStatusCompleted || status == sdk.ToolCallStatusFailed
	if !c.begun && (ended || status == sdk.ToolCallStatusInProgress) {
		c.begun = true
		if err := t.out.Began(t.ctx, id, cmp.Or(c.title, "tool"), object(c.input)); err != nil {
			return err
		}
	}
	if !ended {
		return nil
	}
	delete(t.calls, id)
	return t.out.Ended(t.ctx, id, c.answer(), status == sdk.ToolCallStatusFailed)
}

// answer is a call's result as text: what it was given for people, else the raw output.
func (c *toolCall) answer() string {
	if len(c.texts) > 0 || c.output == nil {
		return strings.Join(c.texts, "\n")
	}
	if text, ok := c.output.(string); ok {
		return text
	}
	raw, err := json.Marshal(c.output)
	if err != nil {
		return ""
	}
	return string(raw)
}

// object is a call's input as the JSON object that transcripts hold.
func object(input any) json.RawMessage {
	raw, err := json.Marshal(input)
	if err != nil || len(raw) == 0 || raw[0] != '{' {
		if input == nil || err != nil {
			return json.RawMessage("{}")
		}
		raw, _ = json.Marshal(map[string]json.RawMessage{"input": raw}) // what was marshalled once can be again
	}
	return raw
}

func contentTexts(content []sdk.ToolCallContent) (texts []string) {
	for _, c := range content {
		switch {
		case c.Content != nil:
			texts = append(texts, textIn(c.Content.Content))
		case c.Diff != nil:
			texts = append(texts, "changed "+c.Diff.Path)
		}
	}
	return texts
}

func textIn(b sdk.ContentBlock) string {
	switch {
	case b.Text != nil:
		return b.Text.Text
	case b.ResourceLink != nil:
		return b.ResourceLink.Uri
	case b.Image != nil:
		return "(an image)"
	case b.Audio != nil:
		return "(a sound)"
	}
	return ""
}

// client is what a program may ask of us.
type client struct{ p *program }

var errBetween = errors.New("there is no turn that this belongs to")

// SessionUpdate implements sdk.Client.
func (c *client) SessionUpdate(_ context.Context, n sdk.SessionNotification) error {
	if t := c.p.current(); t != nil {
		return t.update(n.Update)
	}
	return nil
}

// RequestPermission implements sdk.Client: the operator decides. When the turn ends before, the request is cancelled with it.
func (c *client) RequestPermission(ctx context.Context, r sdk.RequestPermissionRequest) (sdk.RequestPermissionResponse, error) {
	t := c.p.current()
	if t == nil {
		return sdk.RequestPermissionResponse{}, errBetween
	}
	ask := core.Approval{Call: string(r.ToolCall.ToolCallId), Params: object(r.ToolCall.RawInput)}
	if r.ToolCall.Title != nil {
		ask.Title = *r.ToolCall.Title
	}
	for _, o := range r.Options {
		ask.Options = append(ask.Options, core.ApprovalOption{ID: string(o.OptionId), Name: o.Name, Kind: string(o.Kind)})
	}
	both, cancel := context.WithCancel(t.ctx)
	defer cancel()
	defer context.AfterFunc(ctx, cancel)()
	chosen, err := t.out.Ask(both, ask)
	if err != nil {
		return sdk.RequestPermissionResponse{Outcome: sdk.NewRequestPermissionOutcomeCancelled()}, nil
	}
	return sdk.RequestPermissionResponse{Outcome: sdk.NewRequestPermissionOutcomeSelected(sdk.PermissionOptionId(chosen))}, nil
}

// What we do not offer (clientCapabilities), a program must not ask for.

// ReadTextFile implements sdk.Client.
func (c *client) ReadTextFile(context.Context, sdk.ReadTextFileRequest) (sdk.ReadTextFileResponse, error) {
	return sdk.ReadTextFileResponse{}, sdk.NewMethodNotFound(sdk.ClientMethodFsReadTextFile)
}

// WriteTextFile implements sdk.Client.
func (c *client) WriteTextFile(context.Context, sdk.WriteTextFileRequest) (sdk.WriteTextFileResponse, error) {
	return sdk.WriteTextFileResponse{}, sdk.NewMethodNotFound(sdk.ClientMethodFsWriteTextFile)
}

// CreateTerminal implements sdk.Client.
func (c *client) CreateTerminal(context.Context, sdk.CreateTerminalRequest) (sdk.CreateTerminalResponse, error) {
	return sdk.CreateTerminalResponse{}, sdk.NewMethodNotFound(sdk.ClientMethodTerminalCreate)
}

// KillTerminal implements sdk.Client.
func (c *client) KillTerminal(context.Context, sdk.KillTerminalRequest) (sdk.KillTerminalResponse, error) {
	return sdk.KillTerminalResponse{}, sdk.NewMethodNotFound(sdk.ClientMethodTerminalKill)
}

// TerminalOutput implements sdk.Client.
func (c *client) TerminalOutput(context.Context, sdk.TerminalOutputRequest) (sdk.TerminalOutputResponse, error) {
	return sdk.TerminalOutputResponse{}, sdk.NewMethodNotFound(sdk.ClientMethodTerminalOutput)
}

// ReleaseTerminal implements sdk.Client.
func (c *client) ReleaseTerminal(context.Context, sdk.ReleaseTerminalRequest) (sdk.ReleaseTerminalResponse, error) {
	return sdk.ReleaseTerminalResponse{}, sdk.NewMethodNotFound(sdk.ClientMethodTerminalRelease)
}

// WaitForTerminalExit implements sdk.Client.
func (c *client) WaitForTerminalExit(context.Context, sdk.WaitForTerminalExitRequest) (sdk.WaitForTerminalExitResponse, error) {
	return sdk.WaitForTerminalExitResponse{}, sdk.NewMethodNotFound(sdk.ClientMethodTerminalWaitForExit)
}
