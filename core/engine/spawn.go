package engine

import (
	"context"
	"encoding/json"

	"cordboard/core"
	"cordboard/core/tool"
)

// launch is a sessions_spawn on its way: what was asked for, with the ids and the time it will have, and what was prepared outside the
// store.
type launch struct {
	asked tool.Spawn
	actor core.Actor
	once  once
	via   string
	now   int64

	runID, sessionID, chainID string
	repeated                  bool   // the same was answered before
	within                    string // run of the caller when preparing began; "" = it had none
	prepared                  bool   // thread and files were seen to
	files                     *core.Attachments
	filesDue                  core.Due             // owner row of the files
	route                     core.DeliveryContext // of the thread that was opened; an outbox numbers its own
}

// sessionsSpawn is sessions_spawn (session-tools.md §8). Every check comes before anything is made, and is made again in the transaction
// that makes the child: one commit, unless files must be written first.
func (b *board) sessionsSpawn(ctx context.Context, actor core.Actor, c core.ToolCall) (json.RawMessage, error) {
	if actor.Kind != core.ActorSession {
		return nil, core.Errorf(core.CodeForbidden, "sessions_spawn speaks for a session, which hears of the result: say which with --as KEY")
	}
	asked, _, err := tool.DecodeSpawn(c.Params)
	if err != nil {
		return nil, err
	}
	if err := b.runsHere("spawned"); err != nil {
		return nil, err
	}
	once, err := newOnce(actor, tool.SessionsSpawn, c.Key, asked)
	if err != nil {
		return nil, err
	}
	l := &launch{
		once:  once,
		asked: asked, actor: actor, via: viaOf(b.actor, actor), now: b.now(),
		runID: b.options.NewID(), sessionID: b.options.NewID(), chainID: b.options.NewID(),
	}
	if asked.Thread || len(asked.Attachments) > 0 {
		return b.launchPrepared(ctx, l)
	}
	return b.launch(ctx, l)
}

// launchPrepared is launch for a spawn that needs something outside the store first, which is taken back when no child comes of it.
func (b *board) launchPrepared(ctx context.Context, l *launch) (answer json.RawMessage, err error) {
	if err := b.store.View(ctx, func(r core.Reader) (err error) {
		l.repeated, err = l.once.answered(r, l.now, &answer)
		return err
	}); err != nil || l.repeated {
		return answer, err
	}
	undo, err := b.prepare(ctx, l)
	if err != nil {
		return nil, err
	}
	if answer, err = b.launch(ctx, l); err != nil || l.repeated {
		undo(ctx)
	}
	return answer, err
}

// launch makes the child, its run and its place in the queue in one transaction.
func (b *board) launch(ctx context.Context, l *launch) (answer json.RawMessage, err error) {
	_, err = b.write(ctx, func(tx core.Tx, fx *effects) error {
		if l.repeated, err = l.once.answered(tx, l.now, &answer); l.repeated || err != nil {
			return err
		}
		if err := b.stillRuns(tx); err != nil {
			return err
		}
		a, err := b.clear(tx, l)
		if err != nil {
			return err
		}
		if l.within != "" && (a.live == nil || a.live.ID != l.within) {
			return errFenced // what was stopped while a thread was opened or files were written starts nothing
		}
		child, err := b.accept(tx, fx, l, &a)
		if err != nil {
			return err
		}
		answer = tool.SpawnAnswer{
			RunID: l.runID, SessionKey: child.Key, ModelApplied: l.asked.Model != "", ThreadID: child.Thread.ThreadID, Files: l.files,
		}.Accepted()
		if err := b.auditCall(tx, l.actor, tool.SessionsSpawn, child.Key, map[string]string{"run": l.runID}); err != nil {
			return err
		}
		return l.once.keep(tx, l.now, answer)
	})
	return answer, err
}

// stillRuns refuses a call whose run has ended meanwhile, by a stop for one: nothing of it starts any more (engine.md §1).
func (b *board) stillRuns(tx core.Tx) error {
	if b.within == nil {
		return nil
	}
	_, _, err := held(tx, b.within.ID, b.within.Fence)
	return err
}

// accept writes the child, its empty transcript and its queued run. A main session that spawns comes into being by that.
func (b *board) accept(tx core.Tx, fx *effects, l *launch, a *clearance) (child core.Session, err error) {
	if !a.known {
		main := core.Session{Key: a.caller.Key, SessionID: l.chainID, CreatedAt: l.now, UpdatedAt: l.now}
		if err := b.putNew(tx, main); err != nil {
			return child, err
		}
	}
	provider, model := splitModel(a.model)
	child = core.Session{
		Key: a.child, SessionID: l.sessionID, CreatedAt: l.now, UpdatedAt: l.now, Label: l.asked.Label, SpawnedBy: a.caller.Key, SpawnDepth: a.depth + 1,
		SpawnRun: l.runID, Model: model, ModelProvider: provider, ThinkingLevel: a.thinking,
	}
	run := core.Run{
		ID: l.runID, Kind: core.RunSpawn, RequesterKey: a.caller.Key, ChainID: l.chainID, Message: l.asked.Task, Label: l.asked.Label, Cleanup: l.asked.Cleanup,
		Model: a.model, Thinking: a.thinking,
		Provenance: &core.Provenance{
			Kind: "inter_session", SourceSessionKey: a.caller.Key, SourceChannel: a.caller.LastChannel, SourceTool: tool.SessionsSpawn, Via: l.via,
		},
		Spawn: &core.Spawn{Mode: l.asked.Mode, TimeoutSeconds: b.runLimit(&l.asked), Route: a.route, Files: l.files, MountPath: l.asked.MountPath},
	}
	if err := follow(tx, &run, a.live); err != nil {
		return child, err
	}
	if err := b.bindNew(tx, fx, l, &child, &run); err != nil {
		return child, err
	}
	if err := b.keepFiles(tx, l); err != nil {
		return child, err
	}
	if err := b.putNew(tx, child); err != nil {
		return child, err
	}
	_, err = b.enqueue(tx, fx, run, child, l.now)
	return child, err
}

// putNew writes a session with its empty transcript.
func (e *Engine) putNew(tx core.Tx, s core.Session) error {
	if err := tx.PutSession(s); err != nil {
		return err
	}
	return tx.PutGeneration(core.Generation{
		ID: s.SessionID, SessionID: s.SessionID, Key: s.Key, Agent: e.names.AgentOf(s.Key), State: core.GenerationCurrent, CreatedAt: s.CreatedAt,
	})
}

func (b *board) runLimit(asked *tool.Spawn) int {
	if asked.RunTimeoutSeconds >= 0 {
		return asked.RunTimeoutSeconds
	}
	return b.config.Agents.Defaults.Subagents.RunTimeoutSeconds
}

// follow makes a spawn part of the chain that its caller's run is in.
func follow(tx core.Tx, run, live *core.Run) error {
	if live == nil {
		return nil
	}
	run.ParentRunID, run.Hop = live.ID, live.Hop+1
	if live.ChainID != "" {
		run.ChainID = live.ChainID
		return nil
	}
	live.ChainID = run.ChainID
	return tx.PutRun(*live)
}
