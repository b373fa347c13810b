package ui

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cordboard/core"
	"cordboard/ui/uitest"
)

const (
	broodOne = "agent:main:subagent:one"
	broodTwo = "agent:main:subagent:two"
)

// broodBoard has a session with two sub-agents at work.
func broodBoard() *uitest.Talk {
	b := talkBoard()
	for _, key := range []string{broodOne, broodTwo} {
		b.Put(core.Head{Key: key, Title: key[len("agent:main:subagent:"):], Parent: talkMain, UpdatedAt: noon.UnixMilli()}, core.SessionDetail{})
	}
	b.PutRun(core.Run{ID: "r1", SessionKey: broodOne, RequesterKey: talkMain, Kind: core.RunSpawn, State: core.RunRunning, StartedAt: noon.UnixMilli(), Spawn: &core.Spawn{}})
	b.PutRun(core.Run{ID: "r2", SessionKey: broodTwo, RequesterKey: talkMain, Kind: core.RunSpawn, State: core.RunQueued, QueuedAt: noon.UnixMilli(), Spawn: &core.Spawn{}})
	return b
}

// A row says how many live children its session has, and the inspector which, until they have ended.
func TestLiveChildren(t *testing.T) {
	b := broodBoard()
	c := newConsole(t, b, 160, 45)
	c.open(talkMain)
	require.Contains(t, c.view(), "◐ Mira's main")
	require.Contains(t, c.view(), "waiting on 2 ", "the name goes before more words")
	require.Contains(t, c.view(), "2 live of 2 children")
	require.Contains(t, c.view(), "● running one")
	require.Contains(t, c.view(), "◌ queued two")
	b.PutRun(core.Run{ID: "r0", SessionKey: talkMain, Kind: core.RunSend, State: core.RunRunning, StartedAt: noon.UnixMilli()})
	c.live()
	require.Contains(t, c.view(), "running 2 live")
	b.End("r1", core.OutcomeOK, "done")
	b.End("r0", core.OutcomeOK, "done")
	c.live()
	require.Contains(t, c.view(), "waiting on 1 ")
	b.End("r2", core.OutcomeError, "no")
	c.live()
	require.NotContains(t, c.view(), "waiting on")
	require.Contains(t, c.view(), "✗ failed two")
}

// A stop names how many runs it would end, down the lineage.
func TestStopCountsRuns(t *testing.T) {
	b := broodBoard()
	c := newConsole(t, b, 120, 40)
	c.open(talkMain)
	c.press("K")
	require.Contains(t, c.view(), "It ends 2 runs: 1 at work, 1 queued.")
	require.Contains(t, c.view(), "Stop 3 sessions?")
	c.press("esc")
	c.open(talkOps)
	c.press("K")
	require.Contains(t, c.view(), "Nothing runs or waits there now.")
}

// The details of a sub-agent's run say how its announce stands, and R tries again what the engine would.
func TestAnnounceOfASubagent(t *testing.T) {
	for _, c := range []struct {
		name     string
		spawn    core.Spawn
		delivery core.DeliveryState
		want     string
		retry    *core.Retry
	}{
		{"before it ends", core.Spawn{}, "", "when it has ended", nil},
		{"announced", core.Spawn{Announce: core.AnnounceSent}, core.DeliveryDelivered, "✓ announced", nil},
		{"skipped", core.Spawn{Announce: core.AnnounceSkipped}, "", "skipped: it chose silence", nil},
		{"failed", core.Spawn{Announce: core.AnnounceFailed, AnnounceError: "announce failed: timeout"}, "", "announce failed: timeout", &core.Retry{Run: "r1"}},
		{"gave up", core.Spawn{Announce: core.AnnounceSent}, core.DeliveryGaveUp, "gave up", &core.Retry{Delivery: "r1/announce"}},
		{"blocked", core.Spawn{Announce: core.AnnounceSent}, core.DeliveryBlocked, "blocked", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := talkBoard()
			b.Put(core.Head{Key: broodOne, Parent: talkMain, UpdatedAt: noon.UnixMilli()}, core.SessionDetail{})
			c.spawn.Route = &core.DeliveryContext{Channel: "telegram", To: "-100", ThreadID: "7"}
			r := core.Run{ID: "r1", SessionKey: broodOne, RequesterKey: talkMain, Kind: core.RunSpawn, State: core.RunEnded, Outcome: core.OutcomeOK, EndedAt: noon.UnixMilli(), Spawn: &c.spawn}
			if c.spawn.Announce == "" {
				r.State, r.Outcome = core.RunRunning, ""
			}
			b.PutRun(r)
			if c.delivery != "" {
				b.PutDelivery(core.Delivery{ID: "r1/announce", SessionKey: broodOne, RunID: "r1", State: c.delivery, LastError: "the bridge is away"})
			}
			con := newConsole(t, b, 160, 45)
			con.press("r")
			require.Contains(t, con.view(), c.want)
			require.Contains(t, con.view(), "telegram -100 thread 7")
			con.press("R")
			if c.retry == nil {
				require.Empty(t, b.Commands())
				return
			}
			require.Contains(t, con.view(), "R tries again")
			require.Equal(t, c.retry, b.Commands()[0].Retry)
		})
	}
}
