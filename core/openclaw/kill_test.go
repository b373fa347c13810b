package openclaw

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordboard/store/bolt"
)

// The laboratory: this test binary runs itself as a process that imports, kills it at a random moment, and lets the next one go on, until
// one comes to the end. What is then in the store must be what an import that was never disturbed leaves.
const (
	killSource = "CORDBOARD_TEST_IMPORT"      // set in the child: the directory to import
	killData   = "CORDBOARD_TEST_IMPORT_DATA" // and the store's
	killFollow = "CORDBOARD_TEST_FOLLOW"      // not blank: follow it instead
	killRounds = "CORDBOARD_KILL_ROUNDS"      // of the tests, 10 when unset
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(killSource); dir != "" {
		bring := importSlowly
		if os.Getenv(killFollow) != "" {
			bring = followUntilKilled
		}
		os.Exit(bring(dir, os.Getenv(killData)))
	}
	os.Exit(m.Run())
}

// importSlowly imports in very small transactions and writes a line after each.
func importSlowly(dir, data string) int {
	s, err := bolt.Open(bolt.Options{Dir: data})
	if err == nil {
		defer s.Close()
		_, err = Import(context.Background(), s, dir, Options{BatchRecords: 3, Progress: func(Progress) { fmt.Println("step") }})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// importKilled runs one child and kills it after so many transactions; done when it came to its end before.
func importKilled(t *testing.T, dir, data string, after int) (done bool) {
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), killSource+"="+dir, killData+"="+data)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewScanner(out)
	for ; after > 0 && lines.Scan(); after-- {
	}
	if after == 0 {
		require.NoError(t, cmd.Process.Kill())
	}
	err = cmd.Wait()
	if after > 0 {
		require.NoError(t, err, "a child that was not killed ends well")
	}
	return err == nil
}

func killPlan(t *testing.T) (rounds int, random *rand.Rand) {
	rounds, _ = strconv.Atoi(os.Getenv(killRounds))
	if rounds == 0 {
		rounds = 10
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	return rounds, rand.New(rand.NewPCG(seed, 0))
}

func TestKilledImportLosesAndDoublesNothing(t *testing.T) {
	rounds, random := killPlan(t)
	d := copyOf(t, fleet)
	whole := newStore(t)
	data := make([]string, rounds)
	for i := range data {
		data[i] = t.TempDir()
	}
	phase := func(name string) {
		imported(t, whole, d.dir)
		want := dumped(t, whole)
		for i, dir := range data {
			kills := 0
			for !importKilled(t, d.dir, dir, 1+random.IntN(40)) {
				kills++
				require.Less(t, kills, 1000)
			}
			s := openStore(t, dir)
			if got := dumped(t, s); got != want {
				assert.Fail(t, "the stores differ", "%s, round %d, %d kills, %d instead of %d bytes", name, i, kills, len(got), len(want))
			}
			require.NoError(t, s.Close())
		}
	}
	phase("first import")
	mutate(t, d)
	phase("second import")
}

// mutate does to a copy of the fleet what happens to a live directory: lines are appended, a session is reset, one is compacted, and a
// file is emptied by accident.
func mutate(t *testing.T, d state) {
	row := func(key string) string {
		s := newStore(t)
		imported(t, s, d.dir)
		return session(t, s, key).SessionID + ".jsonl"
	}
	main, desk, telegram, digest := row("agent:main:main"), row("agent:ops:main"), row("agent:main:telegram:group:-1001843377"),
		row("agent:research:Weekly-Digest")
	for i := range 30 {
		d.append("main", main, said("user", fmt.Sprint("more ", i)))
	}
	d.rename("ops", desk, desk+".reset.2026-11-30T18-00-00.000Z")
	d.rename("main", telegram, telegram+".bak.2026-11-30T18-00-01.000Z")
	d.write("main", telegram, header+said("user", "compacted"))
	require.NoError(t, os.Truncate(d.path("research", digest), 0))
}

// followUntilKilled follows and writes a line for everything that happens.
func followUntilKilled(dir, data string) int {
	s, err := bolt.Open(bolt.Options{Dir: data})
	if err == nil {
		defer s.Close()
		err = Follow(context.Background(), s, dir, FollowOptions{Event: func(e FollowEvent) { fmt.Println(e.Kind) }})
	}
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// A follower that is killed while the directory lives on leaves a store that the next one goes on from: in the end it holds what is there.
func TestKilledFollowerLosesAndDoublesNothing(t *testing.T) {
	rounds, random := killPlan(t)
	d, data := newState(t), t.TempDir()
	d.write("a", "sessions.json", "{}")
	spoken, id := []string(nil), ""
	act := func(n int) {
		switch {
		case id == "" || n%9 == 0:
			if id != "" {
				d.rename("a", id+".jsonl", id+fmt.Sprintf(".jsonl.reset.2026-11-30T10-00-%02d.000Z", n%60))
			}
			id = fmt.Sprintf("s%d", n)
			d.write("a", id+".jsonl", header)
			d.write("a", "sessions.json", fmt.Sprintf(`{"agent:a:main":{"sessionId":%q,"updatedAt":%d}}`, id, 1796029200000+n))
		default:
			text := fmt.Sprint("m", n)
			d.append("a", id+".jsonl", said("user", text))
			spoken = append(spoken, text)
		}
	}
	n := 0
	for range rounds {
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), killSource+"="+d.dir, killData+"="+data, killFollow+"=1")
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		lines := bufio.NewScanner(out)
		for range 1 + random.IntN(6) { // it tells of one change, at least, before it is killed in the midst of others
			for range 1 + random.IntN(4) {
				n++
				act(n)
			}
			require.True(t, lines.Scan())
		}
		n++
		act(n)
		require.NoError(t, cmd.Process.Kill())
		require.Error(t, cmd.Wait())
	}
	s := openStore(t, data)
	imported(t, s, d.dir)
	var got []string
	for _, g := range generations(t, s) {
		got = append(got, texts(t, s, g.ID)...)
	}
	require.ElementsMatch(t, spoken, got)
	require.Equal(t, id, session(t, s, "agent:a:main").SessionID)
}
