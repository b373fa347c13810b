package exec_test

import (
	"context"
	"io"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordboard/core"
	"cordboard/core/config"
	"cordboard/core/engine"
	"cordboard/core/runtime/exec"
	"cordboard/store/bolt"
)

// operator is the operator's board of a real engine whose agent runs one command.
func operator(t *testing.T, r exec.Runtime) core.Board {
	cfg, _, err := config.Parse("test.json5", []byte(`{agents: {list: [{id: "worker", runtime: {type: "exec", command: ["told by the test"]}}]}}`))
	require.NoError(t, err)
	store, err := bolt.Open(bolt.Options{Dir: t.TempDir()})
	require.NoError(t, err)
	e, err := engine.New(store, cfg, engine.Options{Owner: "test", Runtimes: map[string]core.Runtime{"exec": r}})
	require.NoError(t, err)
	require.NoError(t, e.Start(t.Context()))
	t.Cleanup(func() {
		e.Stop(context.Background())
		require.NoError(t, store.Close())
	})
	b, err := e.Board(t.Context(), core.Operator)
	require.NoError(t, err)
	return b
}

func do(t *testing.T, b core.Board, c core.Command) string {
	receipt, err := b.Do(t.Context(), c)
	require.NoError(t, err)
	return receipt.Run
}

func await(t *testing.T, b core.Board, run string) (core.Run, string) {
	page, err := b.Records(t.Context(), core.RecordQuery{Kind: core.RecordRun, Run: run, Wait: 60_000})
	require.NoError(t, err)
	return page.Runs[0], page.Reply
}

func TestCommandPlaysAgent(t *testing.T) {
	r, a := script(t, "odd.sh", "0")
	b := operator(t, r)
	send := core.Command{Send: &core.Send{Session: "agent:worker:main", Message: "go"}}
	run, reply := await(t, b, do(t, b, send))
	assert.Equal(t, core.OutcomeOK, run.Outcome)
	assert.Equal(t, "so far", reply)

	a.Command[2] = "7"
	run, reply = await(t, b, do(t, b, send))
	assert.Equal(t, core.OutcomeError, run.Outcome)
	assert.Equal(t, `the command "sh" ended with status 7: the reason`, run.Error)
	assert.Equal(t, "so far", reply)
}

// An abort ends a command that ignores TERM, and everything it started.
func TestAbortedCommand(t *testing.T) {
	held := fifo(t)
	r, _ := script(t, "stubborn.sh", held)
	b := operator(t, r)
	id := do(t, b, core.Command{Send: &core.Send{Session: "agent:worker:main", Message: "go"}})
	life, err := os.Open(held)
	require.NoError(t, err)
	defer life.Close()
	_, err = io.ReadFull(life, make([]byte, len("there\n")))
	require.NoError(t, err)
	do(t, b, core.Command{Abort: &core.Abort{Run: id}})
	run, _ := await(t, b, id)
	assert.Equal(t, core.OutcomeAborted, run.Outcome)
	_, err = io.Copy(io.Discard, life)
	require.NoError(t, err)
}
