package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordboard/core/host"
)

// verb runs a verb of the built program beside a console.
func (h home) verb(t *testing.T, args ...string) string {
	t.Helper()
	path, err := binary()
	require.NoError(t, err)
	cmd := exec.Command(path, args...)
	cmd.Env = h.environment("PATH=" + os.Getenv("PATH"))
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	require.NoError(t, cmd.Run(), "%v: %s", args, errs.String())
	return out.String()
}

func (h home) owner(t *testing.T) host.Status {
	t.Helper()
	status, err := host.StatusOf(context.Background(), host.Options{Dir: filepath.Join(h.dir, "state", "cordboard"), Version: version()})
	require.NoError(t, err)
	return status
}

// A console starts an owner, and every verb works beside it. When the owner is killed the console goes on with the next, with what the
// operator was typing, and shows what happened meanwhile.
func TestConsoleOutlivesItsOwner(t *testing.T) {
	h := filled(t)
	x := console(t, h, look{w: 120, h: 40, answer: black})
	x.sees("23 sessions")
	first := h.owner(t)
	require.NotZero(t, first.PID)
	assert.Equal(t, 1, first.Clients)
	h.verb(t, "list")
	h.verb(t, "import", "../../testdata/openclaw")
	h.verb(t, "new", "main", "--label", "made-beside")
	x.sees("made-beside")

	x.keys("/made")
	x.sees("filter: made")
	require.NoError(t, syscall.Kill(first.PID, syscall.SIGKILL))
	h.verb(t, "new", "main", "--label", "made-after")
	x.sees("made-after")
	x.sees("filter: made")
	second := h.owner(t)
	assert.NotEqual(t, first.PID, second.PID)
	x.keys("\r")
	x.keys("q")
	require.Zero(t, x.ends())
	assert.Equal(t, second.PID, h.owner(t).PID, "a console that is left ends nothing")
}

// A console that changes nothing starts nobody.
func TestReadOnlyConsoleStartsNoOwner(t *testing.T) {
	h := filled(t)
	x := console(t, h, look{w: 120, h: 40, answer: black}, "--readonly")
	x.sees("23 sessions")
	assert.Empty(t, h.owner(t).Owner)
	x.keys("q")
	require.Zero(t, x.ends())
}
