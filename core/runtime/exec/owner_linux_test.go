package exec_test

import (
	"fmt"
	"io"
	"os"
	osexec "os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordboard/core"
	"cordboard/core/runtime/child"
)

// orphaned starts an owner with a child, kills the owner and returns what it recorded, and
// a reader that ends when nobody of that group lives.
func orphaned(t *testing.T, name string) (child.Process, io.Reader) {
	held := fifo(t)
	file, err := filepath.Abs(filepath.Join("..", "..", "..", "testdata", "runtime", "exec", name))
	require.NoError(t, err)
	cmd := osexec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), ownerFifo+"="+held, "EXEC_TEST_COMMAND=sh "+file+" "+held, "EXEC_TEST_DIR="+t.TempDir())
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	p := child.Process{RunID: "run-1"}
	_, err = fmt.Fscan(out, &p.PGID, &p.Start, &p.Boot)
	require.NoError(t, err)
	reader, err := os.Open(held)
	require.NoError(t, err)
	_, err = io.ReadFull(reader, make([]byte, len("there\n")))
	require.NoError(t, err)
	t.Cleanup(func() { reader.Close() })
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	return p, reader
}

// A child dies with its owner, however that dies.
func TestChildDiesWithOwner(t *testing.T) {
	_, life := orphaned(t, "hold.sh")
	_, err := io.Copy(io.Discard, life)
	require.NoError(t, err)
}

// What it left behind is found by its record and killed; another's group never is.
func TestRecordedGroupIsKilled(t *testing.T) {
	p, life := orphaned(t, "stubborn.sh")
	require.NotEmpty(t, p.Boot)
	for _, other := range []child.Process{
		{RunID: "run-2", Process: core.Process{PGID: p.PGID}},
		{Process: core.Process{PGID: p.PGID, Start: p.Start + 1}},
		{RunID: "run-1", Process: core.Process{PGID: 1}},
		{RunID: "run-1", Process: core.Process{PGID: os.Getpid()}},
		{RunID: "run-1", Process: core.Process{PGID: p.PGID, Start: p.Start, Boot: "before"}},
	} {
		killed, err := other.Kill()
		require.NoError(t, err)
		assert.False(t, killed)
	}
	killed, err := p.Kill()
	require.NoError(t, err)
	assert.True(t, killed)
	_, err = io.Copy(io.Discard, life)
	require.NoError(t, err)
}
