// Package manual is the runtime of agents whose answers a person gives (engine.md §3). Nothing is computed here: a turn lasts until the
// operator's reply has ended its run, which the engine does in the transaction that takes the reply, or until the run ends otherwise.
package manual

import (
	"context"

	"cordboard/core"
)

// Runtime waits.
type Runtime struct{}

// Turn implements core.Runtime. It returns why its run ended, never by itself.
func (Runtime) Turn(ctx context.Context, _ core.Turn, _ core.Sink) (core.TurnResult, error) {
	<-ctx.Done()
	return core.TurnResult{}, context.Cause(ctx)
}
