package exec_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordboard/core"
	"cordboard/core/channel/exec"
)

func sh(script string) *exec.Channel {
	return &exec.Channel{Command: []string{"/bin/sh", "-c", script}}
}

func TestDeliver(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	c := sh(`{ cat; printf ' %s' "$CORDBOARD_OP" "$CORDBOARD_DELIVERY_ID" "$CORDBOARD_CHANNEL" "$CORDBOARD_TO" "$CORDBOARD_THREAD_ID"; } > ` + out)
	d := core.Delivery{ID: "d1", Route: core.DeliveryContext{Channel: "chat", To: "4 2", ThreadID: "7"}, Text: "$(rm -rf /) 'text'\n"}
	require.NoError(t, c.Deliver(t.Context(), d))
	raw, err := os.ReadFile(out)
	require.NoError(t, err)
	assert.Equal(t, "$(rm -rf /) 'text'\n deliver d1 chat 4 2 7", string(raw))
}

func TestFailures(t *testing.T) {
	err := sh("echo no route >&2; exit 3").Deliver(t.Context(), core.Delivery{})
	assert.ErrorContains(t, err, "exit status 3")
	assert.ErrorContains(t, err, "no route")
	assert.Error(t, (&exec.Channel{Command: []string{"/no/such/command"}}).Deliver(t.Context(), core.Delivery{}))
	err = sh("yes oh | head -c 200000 >&2; exit 1").Deliver(t.Context(), core.Delivery{})
	assert.Less(t, len(err.Error()), 5000)
	assert.NoError(t, sh("exit 0").Deliver(t.Context(), core.Delivery{Text: strings.Repeat("x", 1<<20)}), "a command need not read its input")
}

// Status 0 is a delivery, also where something is left behind that holds the pipes: the text is out, and trying again would repeat it.
func TestWhatIsLeftRunningIsNoFailure(t *testing.T) {
	left := `sleep 60 & echo $! > "$0"; echo t9`
	pid := filepath.Join(t.TempDir(), "pid")
	c := &exec.Channel{Command: []string{"/bin/sh", "-c", left, pid}}
	id, err := c.OpenThread(t.Context(), core.DeliveryContext{}, "title")
	require.NoError(t, err)
	assert.Equal(t, "t9", id)
	endLeft(t, pid)
	assert.NoError(t, c.Deliver(t.Context(), core.Delivery{Text: "x"}))
	endLeft(t, pid)
}

// endLeft ends the process whose number is in the file.
func endLeft(t *testing.T, file string) {
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	number, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(number, syscall.SIGKILL))
}

// What is told of a failure is one sentence with nothing twice and no end left open.
func TestFailuresInWords(t *testing.T) {
	assert.EqualError(t, sh("exit 3").Deliver(t.Context(), core.Delivery{}), "/bin/sh: exit status 3")
	err := (&exec.Channel{Command: []string{"/no/such/command"}}).Deliver(t.Context(), core.Delivery{})
	assert.EqualError(t, err, "/no/such/command: no such file or directory")
}

// A command that hangs, ignores TERM and has children is gone when ctx ends.
func TestCancelKillsTheGroup(t *testing.T) {
	pid := filepath.Join(t.TempDir(), "pid")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- sh(`trap '' TERM; (trap '' TERM; echo up > `+pid+`; while :; do sleep 1; done) & wait`).Deliver(ctx, core.Delivery{})
	}()
	require.Eventually(t, func() bool { raw, _ := os.ReadFile(pid); return len(raw) > 0 }, 5*time.Second, 5*time.Millisecond)
	cancel()
	assert.ErrorIs(t, <-done, context.Canceled)
}

func TestThreads(t *testing.T) {
	id, err := sh(`printf ' t9 \n'`).OpenThread(t.Context(), core.DeliveryContext{}, "title")
	require.NoError(t, err)
	assert.Equal(t, "t9", id)
	_, err = sh("true").OpenThread(t.Context(), core.DeliveryContext{}, "title")
	assert.ErrorContains(t, err, "thread")
	assert.NoError(t, sh(`test "$CORDBOARD_OP" = thread.unbind`).Unbind(t.Context(), core.DeliveryContext{}))
}
