package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// scratch is where binary builds; TestMain removes it.
var scratch = filepath.Join(os.TempDir(), fmt.Sprintf("cordboard-test-%d", os.Getpid()))

// binary builds the program once for the tests that need the real thing.
var binary = sync.OnceValues(func() (string, error) {
	path := filepath.Join(scratch, "cordboard")
	// Without the commit in its version, as a test binary is: an owner of another version is refused.
	out, err := exec.Command("go", "build", "-buildvcs=false", "-o", path, ".").CombinedOutput()
	if err != nil {
		return "", errors.New(string(out))
	}
	return path, nil
})

// silent bounds a run in a terminal that never answers. A query in any library's init would wait 5 s for its answer.
const silent = 4 * time.Second

// inSilentTerminal runs the program in a pty whose other side reads and never writes, and returns all it wrote.
func inSilentTerminal(t *testing.T, args ...string) (output []byte, err error) {
	t.Helper()
	path, err := binary()
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), silent)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = []string{"TERM=xterm-256color", "HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH")}
	terminal, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 80})
	require.NoError(t, err)
	defer terminal.Close()
	var out bytes.Buffer
	if _, err := io.Copy(&out, terminal); err != nil && !errors.Is(err, syscall.EIO) { // EIO is how a pty says that the program has ended
		require.NoError(t, err)
	}
	err = cmd.Wait()
	require.NoError(t, ctx.Err(), "the program waited for an answer: %q", out.Bytes())
	return out.Bytes(), err
}

// A plain verb never asks the terminal anything, neither for its colours nor for the cursor (architecture.md §4).
func TestPlainVerbsAskTheTerminalNothing(t *testing.T) {
	store := filepath.Join(t.TempDir(), "D")
	for _, args := range [][]string{
		{"version"},
		{"import", "../../testdata/openclaw", "--data", store, "--config", ""},
		{"list", "--data", store, "--config", "", "--all"},
		{"history", "agent:ops:hook:b6f14162-10b3-4c5d-ab18-764385411f07", "--data", store, "--config", "", "--tools"},
		{"show", "agent:ops:main", "--data", store, "--config", ""},
		{"search", "deploy", "--data", store, "--config", ""},
		{"config", "show"},
		{"--help"},
	} {
		out, err := inSilentTerminal(t, args...)
		require.NoError(t, err, "%v: %s", args, out)
		assert.NotEmpty(t, out)
		for _, query := range []string{"\x1b]", "\x1b[6n", "\x1b[c", "\x1b[?", "\x1bP"} {
			assert.NotContains(t, string(out), query, "%v", args)
		}
	}
}

// A mistyped --data makes no store: the console says that there is none. (The default one it makes.)
func TestConsoleMakesNoStoreForATypo(t *testing.T) {
	typo := filepath.Join(t.TempDir(), "typo")
	out, err := inSilentTerminal(t, "--data", typo, "--config", "")
	require.Error(t, err)
	assert.Contains(t, string(out), "there is no store in "+typo)
	assert.Contains(t, string(out), "cordboard import DIR")
	assert.NoDirExists(t, typo)
}
