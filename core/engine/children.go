package engine

import (
	"context"

	"cordboard/core"
)

// Children of runs: processes that play a turn outside of the engine. What they are is on their run while it lives, so that recovery can
// end them (engine.md §3, §6); what they may is in their token (token.go).

// started records the child that plays a run.
func (e *Engine) started(ctx context.Context, run *core.Run, p core.Process) error {
	_, err := e.store.Update(ctx, func(tx core.Tx) error {
		stored, _, err := held(tx, run.ID, run.Fence)
		if err != nil {
			return err
		}
		stored.Process = &p
		return tx.PutRun(stored)
	})
	return err
}

// endChildren kills what plays runs that an earlier life of the engine left running. It is done before these runs are told to have ended,
// so that no child writes for one that has. A child that cannot be killed is told to the log: the run has ended all the same.
func (e *Engine) endChildren(runs []core.Run) {
	for _, run := range runs {
		if run.State != core.RunRunning || run.Process == nil || e.options.KillChild == nil {
			continue
		}
		killed, err := e.options.KillChild(run.ID, *run.Process)
		switch {
		case err != nil:
			e.options.Log.Error("a command that an earlier owner started cannot be ended", "run", run.ID, "pgid", run.Process.PGID, "error", err)
		case killed:
			e.options.Log.Warn("ended a command that an earlier owner left running", "run", run.ID, "pgid", run.Process.PGID)
		}
	}
}
