package bolt_test

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"cordboard/core"
	"cordboard/store/bolt"
)

var killRounds = flag.Int("kill9.rounds", 20, "rounds of the kill -9 laboratory")

// childEnv names what a re-executed test binary is to do, with its directory after a colon.
const childEnv = "CORDBOARD_STORE_CHILD"

func TestMain(m *testing.M) {
	if what, dir, ok := strings.Cut(os.Getenv(childEnv), ":"); ok {
		os.Exit(children[what](dir))
	}
	goleak.VerifyTestMain(m)
}

// children are the programs that this test binary can be.
var children = map[string]func(dir string) int{"write": writeUntilKilled, "hold": holdOpen, "full": fillTheDisk, "nomap": openWithoutRoom}

// child starts the test binary as one of children.
func child(t *testing.T, what, dir string) (*exec.Cmd, io.WriteCloser, *bufio.Reader) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+what+":"+dir)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	return cmd, in, bufio.NewReader(out)
}

const killWriters = 6

// TestKill9 is the laboratory: a child writes under load and journals every acknowledged commit; it is killed after a random number of
// journal lines; the store must open at once with every acknowledged write there exactly once, and the doctor finds nothing. The same
// store lives through all rounds.
func TestKill9(t *testing.T) {
	rounds := *killRounds
	if testing.Short() {
		rounds = min(rounds, 4)
	}
	dir := t.TempDir()
	rng := rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
	acknowledged := map[string]int{}
	for round := range rounds {
		killOnce(t, dir, 1+rng.IntN(400), acknowledged)
		requireSound(t, dir)
		s, err := bolt.Open(bolt.Options{Dir: dir, ReadOnly: round%2 == 0}) // every other child takes over a file that nobody has closed
		require.NoError(t, err)
		requireAcknowledged(t, s, acknowledged)
		require.NoError(t, s.Close())
	}
	require.NotEmpty(t, acknowledged)
}

// killOnce runs a child until it has journalled so many lines, and reads the rest of what it managed to say.
func killOnce(t *testing.T, dir string, lines int, acknowledged map[string]int) {
	t.Helper()
	cmd, in, out := child(t, "write", dir)
	for n := 0; ; n++ {
		if n == lines {
			require.NoError(t, cmd.Process.Kill())
		}
		line, err := out.ReadString('\n')
		if err != nil {
			break // a line cut short was not journalled
		}
		acknowledged[strings.TrimSpace(line)]++
	}
	require.NoError(t, in.Close())
	var status *exec.ExitError
	require.True(t, errors.As(cmd.Wait(), &status))
	require.Equal(t, -1, status.ExitCode(), "it was killed and did not fail by itself")
}

// writeUntilKilled is the child: writers append to transcripts, move rows and live through runs; standard output is the journal, one
// write per line.
func writeUntilKilled(dir string) int {
	s, err := bolt.Open(bolt.Options{Dir: dir})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	var wg sync.WaitGroup
	for w := range killWriters {
		wg.Add(1)
		go func() {
			defer wg.Done()
			writeTurns(s, fmt.Sprintf("agent:main:w%d", w))
		}()
	}
	wg.Wait()
	return 1
}

func writeTurns(s *bolt.Store, key string) {
	for turn := 0; ; turn++ {
		token := ""
		_, err := s.Update(context.Background(), func(tx core.Tx) error {
			var err error
			token, err = writeTurn(tx, key, turn)
			return err
		})
		if err == nil {
			_, err = os.Stdout.WriteString(token + "\n")
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

// writeTurn makes one turn of a session in one transaction: messages, a moved row, a run's next state, now and then a reset. The token
// names what must be there afterwards: a transcript and a seq of it.
func writeTurn(tx core.Tx, key string, turn int) (token string, err error) {
	row, known, err := tx.Session(key)
	if err != nil {
		return "", err
	}
	if !known || row.UpdatedAt%97 == 96 {
		row = core.Session{Key: key, UpdatedAt: row.UpdatedAt, SessionID: fmt.Sprintf("%s.%d", key, row.UpdatedAt), SpawnedBy: "agent:main:main"}
		if err := tx.PutGeneration(core.Generation{ID: row.SessionID, SessionID: row.SessionID, Key: key}); err != nil {
			return "", err
		}
		if err := rewrite(tx, "scratch of "+key); err != nil {
			return "", err
		}
	}
	row.UpdatedAt++
	states := [...]core.RunState{core.RunQueued, core.RunRunning, core.RunEnded}
	run := core.Run{ID: fmt.Sprintf("%s.%d", key, row.UpdatedAt/3), SessionKey: key, State: states[row.UpdatedAt%3], QueuedAt: row.UpdatedAt / 3}
	raw := fmt.Appendf(nil, `{"role":"user","content":"turn %d %s"}`, turn, strings.Repeat("x", turn%1500))
	if err := tx.PutSession(row); err != nil {
		return "", err
	}
	if err := tx.PutRun(run); err != nil {
		return "", err
	}
	_, last, err := tx.Append(row.SessionID, core.Message{Role: core.RoleUser, Raw: raw}, core.Message{Role: core.RoleAssistant, Raw: raw})
	return fmt.Sprintf("%s %d %d", row.SessionID, last, row.UpdatedAt), err
}

// rewrite replaces a transcript that is too long to be removed in one transaction.
func rewrite(tx core.Tx, id string) error {
	if err := tx.DeleteGeneration(id); err != nil {
		return err
	}
	if err := tx.PutGeneration(core.Generation{ID: id}); err != nil {
		return err
	}
	_, _, err := tx.Append(id, make([]core.Message, 2500)...)
	return err
}

// requireAcknowledged looks every journalled turn up.
func requireAcknowledged(t *testing.T, s core.Store, acknowledged map[string]int) {
	t.Helper()
	last := map[string]int64{}
	require.NoError(t, s.View(t.Context(), func(r core.Reader) error {
		for token, times := range acknowledged {
			require.Equal(t, 1, times, "%s was acknowledged twice", token)
			var id string
			var seq uint64
			var at int64
			_, err := fmt.Sscan(token, &id, &seq, &at)
			require.NoError(t, err)
			found := 0
			require.NoError(t, r.Messages(id, core.SeqRange{After: seq - 2, Before: seq + 1}, func(m *core.Message) bool {
				require.Contains(t, string(m.Raw), `{"role":"user","content":"turn`)
				found++
				return true
			}))
			require.Equal(t, 2, found, "messages of %s", token)
			g, _, err := r.Generation(id)
			require.NoError(t, err)
			last[g.Key] = max(last[g.Key], at)
		}
		for key, at := range last {
			row, ok, err := r.Session(key)
			require.NoError(t, err)
			require.True(t, ok)
			require.GreaterOrEqual(t, row.UpdatedAt, at)
		}
		return nil
	}))
}

// holdOpen is a child that owns the store until its standard input ends.
func holdOpen(dir string) int {
	s, err := bolt.Open(bolt.Options{Dir: dir})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println("open")
	_, _ = io.Copy(io.Discard, os.Stdin)
	if err := s.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
