package manual_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"

	"cordboard/core"
	"cordboard/core/runtime/manual"
)

// A turn lasts as long as its run and says why that ended; nothing is written for the agent.
func TestTurnLastsAsLongAsItsRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, end := context.WithCancelCause(t.Context())
		returned := make(chan error, 1)
		go func() {
			_, err := manual.Runtime{}.Turn(ctx, core.Turn{}, nil)
			returned <- err
		}()
		synctest.Wait()
		assert.Empty(t, returned)
		why := errors.New("the operator answered")
		end(why)
		assert.ErrorIs(t, <-returned, why)
	})
}
