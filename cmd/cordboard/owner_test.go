package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordboard/core"
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
	assert.NoError(t, cmd.Run(), "%v: %s", args, errs.String())
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

// Owners die at random moments while verbs send: what a verb was told is queued or done is there once, and nothing is left running.
func TestOwnersAreKilledUnderVerbs(t *testing.T) {
	rounds := 10
	if testing.Short() {
		rounds = 3
	}
	h := newHome(t)
	h.verb(t, "new")
	random := rand.New(rand.NewPCG(3, 4))
	var mu sync.Mutex
	accepted := map[string]string{}
	for round := range rounds {
		var senders sync.WaitGroup
		for sender := range 3 {
			senders.Go(func() {
				for n := range 3 {
					text := fmt.Sprintf("r%d-s%d-n%d", round, sender, n)
					var answer sendAnswer
					out := h.verb(t, "send", "main", "[[sleep:5ms]]"+text, "--timeout", "0", "--json")
					if assert.NoError(t, json.Unmarshal([]byte(out), &answer)) {
						mu.Lock()
						accepted[answer.RunID] = text
						mu.Unlock()
					}
				}
			})
		}
		time.Sleep(time.Duration(random.IntN(150)) * time.Millisecond) // the moment is the point, not the length
		if pid := h.owner(t).PID; pid != 0 {
			require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
		}
		senders.Wait()
	}
	h.verb(t, "send", "main", "the last") // waits for all that are queued before it
	var list struct{ Runs []core.Run }
	require.NoError(t, json.Unmarshal([]byte(h.verb(t, "runs", "--limit", "1000", "--json")), &list))
	assert.Len(t, list.Runs, len(accepted)+1)
	for _, run := range list.Runs {
		assert.Equal(t, core.RunEnded, run.State)
		assert.Contains(t, []core.RunOutcome{core.OutcomeOK, core.OutcomeInterrupted}, run.Outcome, run.Error)
		delete(accepted, run.ID)
	}
	assert.Empty(t, accepted, "accepted and lost")
	h.verb(t, "serve", "--stop")
	assert.Contains(t, h.verb(t, "doctor"), "ok")
}
