package engine_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"cordboard/core"
)

// caller is a runtime that calls tools without end, and does not care what becomes of it.
type caller struct {
	stubborn bool // it ignores its context too
	after    chan error
}

func (c caller) Turn(ctx context.Context, _ core.Turn, out core.Sink) (core.TurnResult, error) {
	defer close(c.after)
	for i := 0; ; i++ {
		if _, _, err := out.Call(ctx, fmt.Sprint("c", i), "agents_list", nil); err != nil {
			break
		}
	}
	if c.stubborn {
		_ = sleep(context.Background(), time.Hour)
	} else {
		<-ctx.Done()
	}
	_, _, call := out.Call(context.Background(), "again", "agents_list", nil)
	for _, err := range []error{out.Text("never mind"), out.Think("never mind"), call} {
		c.after <- err
	}
	return core.TurnResult{}, nil
}

// A run that calls tools without end fails by the name of the key, and nothing it does after that counts: no text, no call, no good end.
func TestMaxToolCalls(t *testing.T) {
	for _, stubborn := range []bool{false, true} {
		play(t, `agents: { defaults: { maxToolCalls: 3 } }`, []string{"agent:main:main"}, func(t *testing.T, s *stage) {
			r := caller{stubborn, make(chan error, 3)}
			s.reopen(t, func() { s.runtime = r })
			began := time.Now()
			run, reply := s.await(s.send("main", "go on"))
			assert.Equal(t, core.OutcomeError, run.Outcome)
			assert.Equal(t, "the run made 3 tool calls, the most that agents.defaults.maxToolCalls allows, and wanted to make another", run.Error)
			assert.Empty(t, reply)
			assert.LessOrEqual(t, time.Since(began), 500*time.Millisecond)
			assert.Len(t, s.transcript("main"), 1+2*3+1, "every call is answered")
			for err := range r.after {
				assert.Error(t, err)
			}
		})
	}
}
