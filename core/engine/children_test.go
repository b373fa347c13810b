package engine_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordboard/core"
)

// parent is a runtime that says it has a child and waits.
type parent struct{ child core.Process }

func (p parent) Turn(ctx context.Context, t core.Turn, _ core.Sink) (core.TurnResult, error) {
	if err := t.Started(ctx, p.child); err != nil {
		return core.TurnResult{}, err
	}
	<-ctx.Done()
	return core.TurnResult{}, context.Cause(ctx)
}

// A child is on its run while that lives, and recovery kills it, and it alone, before the run is told to have ended. One that cannot be
// killed holds nothing up.
func TestRecordedChildren(t *testing.T) {
	child := core.Process{PGID: 4242, Start: 17, Boot: "b"}
	for _, kill := range []struct {
		killed bool
		err    error
	}{{true, nil}, {false, nil}, {false, errors.New("not permitted")}} {
		play(t, `agents: { list: [{ id: "main" }, { id: "worker", runtime: { type: "exec", command: ["x"] } }] }`,
			[]string{"agent:main:main", "agent:worker:main"}, func(t *testing.T, s *stage) {
				s.engine.Stop(context.Background())
				require.NoError(t, s.store.Close())
				s.more = map[string]core.Runtime{"exec": parent{child}}
				s.open(t)
				id, other := s.send("agent:worker:main", "x"), s.send("main", "[[sleep:1h]]")
				queued := s.send("agent:worker:main", "y")
				synctest.Wait()
				page, err := s.as("").Records(t.Context(), core.RecordQuery{Kind: core.RecordRun, Run: id})
				require.NoError(t, err)
				assert.Equal(t, &child, page.Runs[0].Process)
				s.kill()
				type ended struct {
					run string
					p   core.Process
				}
				var all []ended
				s.kill9 = func(run string, p core.Process) (bool, error) {
					all = append(all, ended{run, p})
					return kill.killed, kill.err
				}
				s.open(t)
				assert.Equal(t, []ended{{id, child}}, all)
				for _, run := range []string{id, other} {
					r, _ := s.await(run)
					assert.Equal(t, core.OutcomeInterrupted, r.Outcome)
					assert.Nil(t, r.Process)
				}
				_, err = s.as("").Do(t.Context(), core.Command{Abort: &core.Abort{Run: queued}})
				require.NoError(t, err)
			})
	}
}
