package engine

import (
	"context"
	"time"

	"cordboard/core"
)

// recover puts in order what an earlier life of the engine left (engine.md §6): what was running ends as interrupted, what was queued too
// long ago does not start any more unless the operator holds it, the rest is returned in its order. Nothing that reached a model is ever
// run again by itself. Its cost is that of the live runs, not of what is stored.
func (e *Engine) recover(ctx context.Context) (queued []core.Run, err error) {
	var live []core.Run
	if err := e.store.View(ctx, func(r core.Reader) error {
		return r.LiveRuns(func(run *core.Run) bool {
			live = append(live, *run)
			return true
		})
	}); err != nil {
		return nil, err
	}
	e.endChildren(live)
	oldest := e.now() - e.config.Engine.ResumeWithin.Milliseconds()
	const batch = 500
	for start := 0; start < len(live); start += batch {
		part := live[start:min(start+batch, len(live))]
		kept, err := e.recoverBatch(ctx, part, oldest)
		if err != nil {
			return nil, err
		}
		queued = append(queued, kept...)
	}
	return queued, nil
}

func (e *Engine) recoverBatch(ctx context.Context, part []core.Run, oldest int64) (kept []core.Run, err error) {
	var fx effects
	_, err = e.store.Update(ctx, func(tx core.Tx) error {
		kept, fx = kept[:0], effects{}
		held, err := holdsOf(tx)
		if err != nil {
			return err
		}
		for _, run := range part {
			switch {
			case run.State == core.RunRunning:
				end := ending{outcome: core.OutcomeInterrupted, cause: "the engine that ran it ended"}
				if end.open, err = unanswered(tx, &run); err != nil {
					return err
				}
				if err := e.finish(tx, &fx, run.ID, run.Fence, end, e.now()); err != nil {
					return err
				}
			case run.QueuedAt < oldest && !keepsWaiting(&run) && !held.cover(waiting{session: run.SessionKey, agent: e.names.AgentOf(run.SessionKey)}):
				end := ending{outcome: core.OutcomeInterrupted, cause: "it was queued longer than " + e.config.Engine.ResumeWithin.Round(time.Second).String() +
					" (engine.resumeWithin) when the engine started"}
				if err := e.discard(tx, &fx, run, end, e.now()); err != nil {
					return err
				}
			default:
				kept = append(kept, run)
			}
		}
		kept = append(kept, fx.queued...)
		return nil
	})
	if err == nil {
		e.logEnds(fx.ended)
	}
	return kept, err
}

// keepsWaiting reports whether a queued run stays however old it is: a sub-agent that has not begun, and what tells of one. A requester
// counts on them, and nothing of them has reached a model or a chat (engine.md §6).
func keepsWaiting(run *core.Run) bool {
	return run.Kind == core.RunSpawn || ofSpawn(run) || run.Kind == core.RunNote && run.ParentRunID != ""
}

// unanswered finds the tool calls of a run that have no result in its transcript.
func unanswered(r core.Reader, run *core.Run) (open []openCall, err error) {
	calls := map[string]openCall{}
	var order []string
	err = r.Messages(run.SessionID, core.SeqRange{After: run.FirstSeq, Before: run.LastSeq + 1}, func(m *core.Message) bool {
		if m.Role == core.RoleToolResult {
			value, _ := core.Field(m.Raw, "toolCallId")
			id, _ := core.Unquote(value)
			delete(calls, id)
			return true
		}
		for b := range core.Blocks(m.Raw) {
			if b.Type == "toolCall" {
				calls[b.ID] = openCall{id: b.ID, name: b.Name}
				order = append(order, b.ID)
			}
		}
		return true
	})
	for _, id := range order {
		if call, ok := calls[id]; ok {
			open = append(open, call)
		}
	}
	return open, err
}
