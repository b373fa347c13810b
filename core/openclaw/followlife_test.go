package openclaw

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cordboard/core"
	"cordboard/core/proptest"
)

// followed is a directory that lives on under a follower.
type followed struct {
	*life
	rig *rig
}

// half leaves an agent's sessions.json half-written, as a gateway that does not replace it as a whole would for a moment.
func (l *followed) half(rt *rapid.T) {
	if l.broken {
		rt.Skip("it is broken already")
	}
	at := l.d.path("a", indexName)
	whole, err := os.ReadFile(at)
	require.NoError(rt, err)
	require.NoError(rt, os.WriteFile(at, whole[:rapid.IntRange(0, len(whole)-1).Draw(rt, "cut")], 0o600))
	l.broken = true
	if rapid.Bool().Draw(rt, "settled") {
		l.rig.settle()
	} else {
		l.rig.look()
	}
}

// away takes the directory away for a while.
func (l *followed) away(rt *rapid.T) {
	what := l.d.dir
	if rapid.Bool().Draw(rt, "agents only") {
		what += "/agents"
	}
	require.NoError(rt, os.Rename(what, what+".away"))
	if rapid.Bool().Draw(rt, "noticed") {
		l.rig.settle()
	}
	if rapid.Bool().Draw(rt, "swept") {
		l.rig.sweep()
	}
	require.NoError(rt, os.Rename(what+".away", what))
	l.rig.sweep()
}

func (l *followed) settleSome(rt *rapid.T) {
	if rapid.IntRange(0, 3).Draw(rt, "lost") == 0 {
		l.rig.sweep()
	} else {
		l.rig.settle()
	}
	if !l.broken {
		l.compare()
		l.compareRemoved()
		l.remember()
	}
}

// compareFresh holds every row and every file's transcript to what an import into a new store makes of the directory.
func (l *followed) compareFresh() {
	fresh := newStore(l.d.t)
	defer fresh.Close()
	imported(l.d.t, fresh, l.d.dir)
	for _, k := range sessionKeys(l.d.t, fresh) {
		want, got := session(l.d.t, fresh, k), session(l.d.t, l.s, k)
		want.CreatedAt = got.CreatedAt // a session is older than its last reset
		require.Equal(l.rt, want, got)
	}
	files := map[string]core.Generation{}
	for _, g := range generations(l.d.t, l.s) {
		if g.File != "" {
			files[g.File] = g
		}
	}
	for _, want := range generations(l.d.t, fresh) {
		got := files[want.File]
		if want.File == "" {
			got = generation(l.d.t, l.s, want.ID)
			require.Equal(l.rt, want.State, got.State)
			continue
		}
		require.Equal(l.rt, want.State, got.State, want.File)
		if !strings.Contains(want.File, "moved-") { // an import that comes too late cannot tell whose it was
			require.Equal(l.rt, want.SessionID, got.SessionID, want.File)
		}
		require.Equal(l.rt, want.EndedAt, got.EndedAt, want.File)
		require.Equal(l.rt, texts(l.d.t, fresh, want.ID), texts(l.d.t, l.s, got.ID), want.File)
	}
}

func (l *followed) again(*rapid.T) {
	l.rig.f.close()
	l.rig = follow(l.rt, l.s, l.d.dir)
}

// Whatever a gateway does to its files while they are followed, looked at between any two steps of it, with notifications lost, the index
// torn and the directory taken away: at rest the store holds what is on disk, once, and nothing that was there is lost.
func TestLifeOfAFollowedDirectory(t *testing.T) {
	proptest.Check(t, func(rt *rapid.T) {
		l := &followed{life: newLife(rt, t)}
		defer l.s.Close()
		l.rig = follow(rt, l.s, l.d.dir)
		defer func() { l.rig.f.close() }()
		l.see = func() { l.rig.sweep() }
		l.pause = func() {
			switch rapid.IntRange(0, 4).Draw(rt, "pause") {
			case 0:
				l.rig.look()
			case 1:
				l.rig.settle()
			case 2:
				l.rig.sweep()
			}
		}
		rt.Repeat(map[string]func(*rapid.T){
			"begin": l.begin, "elsewhere": l.beginElsewhere, "say": l.say, "say again": l.say, "say more": l.say, "reset": l.reset, "compact": l.compact,
			"remove": l.remove, "empty": l.empty, "ruin": l.ruinIndex, "half": l.half, "away": l.away, "settle": l.settleSome, "settle again": l.settleSome,
			"again": l.again, "move": l.move, "desert": l.desert, "swap": l.swap,
		})
		if l.broken {
			l.index("a")
		}
		l.settleSome(rt)
		l.compareFresh()
	})
}

// A follower that looks when an import runs leaves what that leaves, byte for byte.
func TestFollowingIsImportingAgainAndAgain(t *testing.T) {
	proptest.Check(t, func(rt *rapid.T) {
		l := &followed{life: newLife(rt, t)}
		defer l.s.Close()
		shadow := newStore(t)
		defer shadow.Close()
		l.rig = follow(rt, l.s, l.d.dir)
		defer func() { l.rig.f.close() }()
		both := func(rt *rapid.T) {
			if l.broken {
				l.index("a")
			}
			if rapid.Bool().Draw(rt, "swept") {
				l.rig.sweep()
			} else {
				l.rig.settle()
			}
			_, err := Import(context.Background(), shadow, l.d.dir, Options{})
			require.NoError(rt, err)
			require.Equal(rt, dumped(t, shadow), dumped(t, l.s))
			before := info(rt, l.s)
			l.rig.sweep()
			require.Equal(rt, before, info(rt, l.s), "nothing is written when nothing changed")
		}
		both(rt)
		l.pause = func() {
			if rapid.IntRange(0, 2).Draw(rt, "pause") == 0 {
				l.rig.settle()
				_, err := Import(context.Background(), shadow, l.d.dir, Options{})
				require.NoError(rt, err)
			}
		}
		rt.Repeat(map[string]func(*rapid.T){
			"begin": l.begin, "elsewhere": l.beginElsewhere, "say": l.say, "say again": l.say, "say more": l.say, "reset": l.reset, "compact": l.compact,
			"remove": l.remove, "empty": l.empty, "both": both, "both again": both,
		})
		both(rt)
	})
}

func info(rt *rapid.T, s core.Store) string {
	i, err := s.Info(context.Background())
	require.NoError(rt, err)
	return fmt.Sprint(i.Rev)
}
