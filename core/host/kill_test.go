package host_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordboard/core"
	"cordboard/core/host"
)

// killed kills the owner of a store.
func killed(t testing.TB, o host.Options) {
	t.Helper()
	status, err := host.StatusOf(t.Context(), o)
	require.NoError(t, err)
	if status.PID != 0 {
		require.NoError(t, syscall.Kill(status.PID, syscall.SIGKILL))
	}
}

// Owners die at random moments while clients send and wait. What was accepted is there once, every wait is answered, nothing is left
// running, and the store is whole.
func TestKilledOwners(t *testing.T) {
	rounds := 10
	if testing.Short() {
		rounds = 3
	}
	o := options(t)
	random := rand.New(rand.NewPCG(1, uint64(rounds)))
	accepted := map[string]string{}
	for round := range rounds {
		ctx, cancel := context.WithCancel(t.Context())
		var mu sync.Mutex
		var senders sync.WaitGroup
		for sender := range 4 {
			b := attached(t, o)
			senders.Go(func() {
				for n := 0; ctx.Err() == nil; n++ {
					key := fmt.Sprintf("r%d-s%d-%d", round, sender, n)
					receipt, err := send(t.Context(), b, key, "[[sleep:2ms]]say "+key)
					if !assert.NoError(t, err) {
						return
					}
					mu.Lock()
					accepted[receipt.Run] = key
					mu.Unlock()
					if n%3 == 0 {
						run, _, err := wait(t.Context(), b, receipt.Run)
						if assert.NoError(t, err) {
							assert.Equal(t, core.RunEnded, run.State)
						}
					}
				}
			})
		}
		for range 2 {
			time.Sleep(time.Duration(random.IntN(60)) * time.Millisecond) // the moment is the point, not the length
			killed(t, o)
		}
		cancel()
		senders.Wait()
	}
	settled(t, o, accepted)
}

// settled waits for the end of every run that was accepted and looks at what there is.
func settled(t *testing.T, o host.Options, accepted map[string]string) {
	b := attached(t, o)
	require.NotEmpty(t, accepted)
	outcomes := map[core.RunOutcome]int{}
	for id, key := range accepted {
		assert.Equal(t, key, id, "a key is its run's id, however often it was sent")
		run, reply, err := wait(t.Context(), b, id)
		require.NoError(t, err, id)
		require.Equal(t, core.RunEnded, run.State)
		outcomes[run.Outcome]++
		if run.Outcome == core.OutcomeOK {
			assert.Equal(t, "say "+key, reply)
		} else {
			assert.Equal(t, core.OutcomeInterrupted, run.Outcome, run.Error)
		}
	}
	t.Log(outcomes)
	assert.Positive(t, outcomes[core.OutcomeOK])
	once(t, b, len(accepted))
	require.NoError(t, b.Close())
	_, err := host.Stop(t.Context(), o)
	require.NoError(t, err)
	report, err := host.Doctor(t.Context(), o)
	require.NoError(t, err)
	assert.Empty(t, report.Findings)
}

// once looks through the transcript: each message is there once and is followed by its one answer.
func once(t *testing.T, b core.Board, want int) {
	t.Helper()
	seen := map[string]int{}
	after, more := uint64(0), true
	last := core.RoleAssistant
	for more {
		page, err := b.Messages(t.Context(), core.MessageQuery{Session: "agent:main:main", Oldest: true, After: after})
		require.NoError(t, err)
		for _, m := range page.Messages {
			after = m.Seq
			assert.NotEqual(t, last, m.Role, "u a u a")
			last = m.Role
			if m.Role != core.RoleUser {
				continue
			}
			for block := range core.Blocks(m.Raw) {
				_, said, _ := strings.Cut(block.Text, "say ")
				seen[said]++
			}
		}
		more = page.More
	}
	assert.Len(t, seen, want)
	for key, n := range seen {
		assert.Equal(t, 1, n, key)
	}
}

// A board that is open when its owner is killed goes on with the next: its stream misses nothing, its wait is answered with the truth.
func TestBoardOutlivesItsOwner(t *testing.T) {
	o := options(t)
	b := attached(t, o)
	sent, err := send(t.Context(), b, "", "[[sleep:10m]]")
	require.NoError(t, err)
	began(t, b, sent.Run)
	stream, err := b.Watch(t.Context(), core.Cursor{})
	require.NoError(t, err)
	defer stream.Close()
	type answer struct {
		run core.Run
		err error
	}
	waited := make(chan answer, 1)
	go func() {
		run, _, err := wait(t.Context(), b, sent.Run)
		waited <- answer{run, err}
	}()
	killed(t, o)
	batch, err := stream.Next(t.Context())
	require.NoError(t, err)
	assert.False(t, batch.Gap)
	got := <-waited
	require.NoError(t, got.err)
	assert.Equal(t, core.OutcomeInterrupted, got.run.Outcome)
}

func BenchmarkOwnerStart(b *testing.B) {
	o := options(b)
	attached(b, o)
	for b.Loop() {
		b.StopTimer()
		_, err := host.Stop(b.Context(), o)
		require.NoError(b, err)
		b.StartTimer()
		h, err := host.Attach(b.Context(), o)
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		require.NoError(b, h.Close())
		b.StartTimer()
	}
}

func BenchmarkAttach(b *testing.B) {
	o := options(b)
	attached(b, o)
	for b.Loop() {
		h, err := host.Attach(b.Context(), o)
		if err != nil {
			b.Fatal(err)
		}
		if err := h.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// A send through the owner, waited for: the socket and three commits.
func BenchmarkSend(b *testing.B) {
	board := attached(b, options(b))
	for b.Loop() {
		sent, err := send(b.Context(), board, "", "hello")
		if err != nil {
			b.Fatal(err)
		}
		if _, _, err := wait(b.Context(), board, sent.Run); err != nil {
			b.Fatal(err)
		}
	}
}

// A commit until its batch is in an attached board's hands.
func BenchmarkCommitToBatch(b *testing.B) {
	board := attached(b, options(b))
	stream, err := board.Watch(b.Context(), core.Cursor{})
	require.NoError(b, err)
	defer stream.Close()
	for b.Loop() {
		receipt, err := board.Do(b.Context(), core.Command{New: &core.New{}})
		if err != nil {
			b.Fatal(err)
		}
		for to := core.Rev(0); to < receipt.Rev; {
			batch, err := stream.Next(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			to = batch.To
		}
	}
}
