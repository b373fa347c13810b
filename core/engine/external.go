package engine

import (
	"cordboard/core"
	"cordboard/core/config"
)

// An external agent is played by a client that comes for its messages and writes back through the session tools (engine.md §3). Nobody here
// answers for it, so:
//
//   - a message to it is queued as any other, is pending until its run begins, and joins the transcript then;
//   - its run ends ok in the same transaction, with no message of ours: there is nothing in it that a crash could interrupt;
//   - whoever sent the message and waits hears ok without a reply;
//   - a loop ends there, reason "external", whichever side it is. The announce step asks the target, so with an external target there is none
//     and the exchange ends skipped; with an external requester the target announces as ever.

// external reports whether a client outside plays a session's agent.
func (e *Engine) external(sessionKey string) bool {
	return e.playedBy(sessionKey) == config.RuntimeExternal
}

// handOver ends a run of an external agent right after it has begun: its message is in the transcript, the rest is the client's.
func (e *Engine) handOver(tx core.Tx, fx *effects, run *core.Run, now int64) error {
	return e.finish(tx, fx, run.ID, run.Fence, ending{outcome: core.OutcomeOK, silent: true}, now)
}
