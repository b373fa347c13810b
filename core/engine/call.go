package engine

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"cordboard/core"
	"cordboard/core/tool"
)

// Call implements core.Board. A refusal is the tool's answer; an error is a fault of the store or an end of ctx.
func (b *board) Call(ctx context.Context, c core.ToolCall) (core.ToolResult, error) {
	actor, err := b.callAs(ctx, c.As)
	if err == nil {
		var body json.RawMessage
		if body, err = b.dispatch(ctx, actor, c); err == nil {
			return core.ToolResult{Body: body}, nil
		}
	}
	refused, ok := errors.AsType[*core.Error](err)
	if !ok || !refusal(refused.Code) {
		return core.ToolResult{}, err
	}
	b.auditRefusedCall(ctx, actor, c, refused)
	return core.ToolResult{Body: tool.Refusal(refused), Refused: refused}, nil
}

// refusal tells what a tool answers from what went wrong underneath it.
func refusal(code core.Code) bool {
	switch code {
	case core.CodeForbidden, core.CodeInvalidParams, core.CodeNotFound, core.CodeAmbiguous, core.CodeSendDenied,
		core.CodeMirrored, core.CodeHopLimit, core.CodeIdempotency, core.CodeUnsupported:
		return true
	}
	return strings.HasPrefix(string(code), "attachments_")
}

// callAs is the actor of a call. Only the operator may call as another session.
func (b *board) callAs(ctx context.Context, as string) (core.Actor, error) {
	switch {
	case as == "":
		return b.actor, nil
	case b.actor.Kind != core.ActorOperator && as != b.actor.Session:
		return core.Actor{}, core.Errorf(core.CodeForbidden, "this connection acts as %q and may not act as %q", b.actor.Session, as)
	}
	resolved, err := b.caller(ctx, as)
	return core.Actor{Kind: core.ActorSession, Session: resolved}, err
}

func (b *board) dispatch(ctx context.Context, actor core.Actor, c core.ToolCall) (json.RawMessage, error) {
	if _, err := tool.Spec(c.Tool); err != nil {
		return nil, err
	}
	if err := b.mayCall(ctx, actor, c.Tool); err != nil {
		return nil, err
	}
	switch c.Tool {
	case tool.SessionsList:
		return b.sessionsList(ctx, actor, c.Params)
	case tool.SessionsHistory:
		return b.sessionsHistory(ctx, actor, c.Params)
	case tool.SessionsSend:
		return b.sessionsSend(ctx, actor, c)
	case tool.SessionsSpawn:
		return b.sessionsSpawn(ctx, actor, c)
	case tool.AgentsList:
		return b.agentsList(actor, c.Params)
	}
	return nil, core.Errorf(core.CodeInternal, "%s is in the catalogue and nobody does it: the engine's dispatch needs a case for it", c.Tool)
}

// agentsList is agents_list (session-tools.md §8). The operator has no agent: for him it is the default agent's.
func (b *board) agentsList(actor core.Actor, params json.RawMessage) (json.RawMessage, error) {
	if err := tool.DecodeAgents(params); err != nil {
		return nil, err
	}
	requester := ""
	if actor.Kind == core.ActorSession {
		requester = b.names.AgentOf(actor.Session)
	}
	list := b.rules.SpawnableAgents(requester)
	answer := tool.AgentsAnswer{Requester: list.Requester, AllowAny: list.AllowAny}
	for _, a := range list.Agents {
		answer.Agents = append(answer.Agents, tool.Agent{ID: a.ID, Name: a.Name, Configured: a.Configured})
	}
	return answer.JSON(), nil
}
