package engine

import (
	"time"

	"cordboard/core"
)

// count adds a run that an agent has played to the counters of its day (engine.md §1). What it cost when it did not tell is not known, and
// not nothing: it counts as a run only.
func (e *Engine) count(tx core.Tx, run *core.Run, now int64) error {
	row := core.UsageRow{Day: time.UnixMilli(now).UTC().Format(time.DateOnly), Agent: e.names.AgentOf(run.SessionKey), Model: run.Model, Runs: 1}
	if run.Usage != nil {
		row.Usage = *run.Usage
	}
	return tx.AddUsage(row)
}
