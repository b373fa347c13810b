package openclaw

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"cordboard/core"
)

// patient bounds what a test waits for; nothing is measured with it.
const patient = 30 * time.Second

// yearLater is the real clock in a time in which no run of the fleet can be under way.
type yearLater struct{ realClock }

func (yearLater) Now() time.Time { return time.Now().AddDate(1, 0, 0) }

// lived is a real follower in its own goroutine.
type lived struct {
	t      testing.TB
	events chan FollowEvent
	stop   func() error
}

func live(t testing.TB, s core.Store, dir string) *lived {
	ctx, cancel := context.WithCancel(t.Context())
	l := &lived{t: t, events: make(chan FollowEvent, 1000)}
	ended := make(chan error, 1)
	go func() {
		ended <- Follow(ctx, s, dir, FollowOptions{Clock: yearLater{}, Event: func(e FollowEvent) { l.events <- e }})
	}()
	l.stop = func() error {
		cancel()
		return <-ended
	}
	return l
}

// until waits for an event that ok is true for.
func (l *lived) until(what string, ok func(FollowEvent) bool) {
	l.t.Helper()
	limit := time.After(patient)
	for {
		select {
		case e := <-l.events:
			if ok(e) {
				return
			}
		case <-limit:
			require.FailNow(l.t, "nothing came", what)
		}
	}
}

// The whole of it on real files, with the system's own notifications.
func TestFollowARealDirectory(t *testing.T) {
	s := newStore(t)
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	d := copyOf(t, fleet)
	l := live(t, s, d.dir)
	l.until("start", func(e FollowEvent) bool { return e.Kind == FollowStarted && e.Report.Sessions.Added == 23 })
	changed := func(key string, messages int) func(FollowEvent) bool {
		return func(e FollowEvent) bool {
			for _, c := range e.Changes {
				if c.Key == key {
					messages -= c.Messages
				}
			}
			return messages == 0
		}
	}
	main := session(t, s, "agent:main:main").SessionID
	for i := range 20 {
		d.append("main", main+".jsonl", said("user", fmt.Sprint("m", i)))
	}
	l.until("lines", changed("agent:main:main", 20))
	d.rename("main", main+".jsonl", main+".jsonl.reset.2026-11-30T21-28-10.272Z")
	d.write("main", "new.jsonl", header+said("user", "after the reset"))
	index, err := os.ReadFile(d.path("main", "sessions.json"))
	require.NoError(t, err)
	d.write("main", "sessions.json.tmp", strings.ReplaceAll(string(index), main, "new"))
	d.rename("main", "sessions.json.tmp", "sessions.json")
	l.until("reset", func(e FollowEvent) bool {
		return len(e.Changes) > 0 && session(t, s, "agent:main:main").SessionID == "new" && len(texts(t, s, "new")) == 1
	})
	d.write("fresh", "f.jsonl", header)
	d.write("fresh", "sessions.json", `{"agent:fresh:main":{"sessionId":"f","updatedAt":7}}`)
	l.until("new agent", changed("agent:fresh:main", 0))
	d.append("fresh", "f.jsonl", said("user", "hello"))
	l.until("its line", changed("agent:fresh:main", 1))

	require.NoError(t, os.Rename(d.dir, d.dir+".away"))
	l.until("gone", func(e FollowEvent) bool { return e.Kind == FollowGone })
	require.NoError(t, os.Rename(d.dir+".away", d.dir))
	l.until("back", func(e FollowEvent) bool { return e.Kind == FollowBack })
	d.append("fresh", "f.jsonl", said("user", "still there"))
	l.until("line after it came back", changed("agent:fresh:main", 1))
	require.NoError(t, l.stop())

	shadow := newStore(t)
	imported(t, shadow, d.dir)
	for _, k := range sessionKeys(t, shadow) {
		want, got := session(t, shadow, k), session(t, s, k)
		want.CreatedAt = got.CreatedAt
		assert.Equal(t, want, got)
		assert.Equal(t, texts(t, shadow, want.SessionID), texts(t, s, got.SessionID), k)
	}
	shadow.Close()
}

// A follower stops at once, also in the middle of its first import.
func TestFollowStops(t *testing.T) {
	s := newStore(t)
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	ctx, cancel := context.WithCancel(t.Context())
	steps := 0
	require.NoError(t, Follow(ctx, s, fleet, FollowOptions{Progress: func(Progress) {
		if steps++; steps == 2 {
			cancel()
		}
	}}))
	require.NoError(t, Follow(ctx, s, fleet, FollowOptions{}))
}
