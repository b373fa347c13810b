package host_test

import (
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordboard/core"
	"cordboard/core/host"
	"cordboard/testdata/mcpserver"
)

// withConfig is options under a config of its own.
func withConfig(t testing.TB, text string) host.Options {
	t.Helper()
	o := options(t)
	o.ConfigPath = filepath.Join(t.TempDir(), "config.json5")
	require.NoError(t, os.WriteFile(o.ConfigPath, []byte(text), 0o600))
	return o
}

// Servers of tools are started by need, once, and end with their owner, however that ends.
func TestServersEndWithTheirOwner(t *testing.T) {
	program, err := os.Executable()
	require.NoError(t, err)
	o := withConfig(t, `{ mcp: { servers: { tiny: { command: [`+strconv.Quote(program)+`], env: { `+mcpserver.Variable+`: "ignore-term" } } } } }`)
	for round, end := range []func(){
		func() {
			_, err := host.Stop(t.Context(), o)
			require.NoError(t, err)
		},
		func() { killed(t, o) },
	} {
		b := attached(t, o)
		sent, err := send(t.Context(), b, "", `[[tool:tiny__echo {"text":"from a server"}]]`)
		require.NoError(t, err)
		run, reply, err := wait(t.Context(), b, sent.Run)
		require.NoError(t, err)
		assert.Equal(t, "from a server", reply, run.Error)
		pid := 0
		for pid == 0 { // it is in the log a moment later
			log, err := os.ReadFile(filepath.Join(o.Dir, "log", "serve.log"))
			require.NoError(t, err)
			if starts := strings.Split(string(log), "started, pid "); len(starts) == round+2 {
				digits, _, _ := strings.Cut(starts[round+1], `"`)
				pid, err = strconv.Atoi(digits)
				require.NoError(t, err)
			}
		}
		require.NoError(t, syscall.Kill(pid, 0))
		end()
		for gone := false; !gone; { // the system sees to it
			text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
			gone = err != nil || strings.Contains(string(text), ") Z ")
		}
	}
}

// What a command of a killed owner left behind is ended by the next owner, before its run is told to have ended.
func TestChildrenOfAKilledOwner(t *testing.T) {
	held := filepath.Join(t.TempDir(), "fifo")
	require.NoError(t, syscall.Mkfifo(held, 0o600))
	script, err := filepath.Abs(filepath.Join("..", "..", "testdata", "runtime", "exec", "stubborn.sh"))
	require.NoError(t, err)
	o := withConfig(t, `{ agents: { list: [{ id: "main", runtime: { type: "exec", command: ["sh", `+strconv.Quote(script)+`, `+strconv.Quote(held)+`] } }] } }`)
	b := attached(t, o)
	sent, err := send(t.Context(), b, "", "go")
	require.NoError(t, err)
	life, err := os.Open(held)
	require.NoError(t, err)
	defer life.Close()
	_, err = io.ReadFull(life, make([]byte, len("there\n")))
	require.NoError(t, err)
	var run core.Run
	for run.Process == nil { // it is recorded a moment after it has started
		page, err := b.Records(t.Context(), core.RecordQuery{Kind: core.RecordRun, Run: sent.Run})
		require.NoError(t, err)
		run = page.Runs[0]
	}
	assert.Equal(t, core.RunRunning, run.State)

	killed(t, o)
	run, _, err = wait(t.Context(), b, sent.Run)
	require.NoError(t, err)
	assert.Equal(t, core.OutcomeInterrupted, run.Outcome)
	assert.Nil(t, run.Process)
	_, err = io.Copy(io.Discard, life)
	require.NoError(t, err, "nobody of the group holds it open any more")
}
