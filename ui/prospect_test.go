package ui

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cordboard/core"
)

// What a message would meet, in words: when its run starts, and where the outcome is told.
func TestForesight(t *testing.T) {
	cases := []struct {
		name, when, afterwards string
		core.Prospect
	}{
		{"idle", "It starts at once", "Nobody is told of the outcome but you: a reason", core.Prospect{Why: "a reason"}},
		{"behind a run", "It starts when the run under way has ended", "Nobody is told of the outcome but you", core.Prospect{Live: "r1"}},
		{"in line", "It waits its turn: 1 run before it", "Nobody is told of the outcome but you", core.Prospect{Live: "r1", Queued: 1}},
		{"held", "It waits: everything is held", "Nobody is told of the outcome but you", core.Prospect{Live: "r1", Queued: 3, Held: "everything is held"}},
		{
			"announced", "It starts at once", "The two agents may talk on. The outcome is announced to discord #dev thread 7 as bot",
			core.Prospect{Loop: true, Announce: &core.DeliveryContext{Channel: "discord", To: "#dev", ThreadID: "7", AccountID: "bot"}},
		},
		{
			"nowhere to announce", "It starts at once", "The two agents may talk on. The outcome is announced nowhere: it has no route",
			core.Prospect{Loop: true, Why: "it has no route"},
		},
		{"announced without a loop", "It starts at once", "The outcome is announced to webchat", core.Prospect{Announce: &core.DeliveryContext{Channel: "webchat"}}},
	}
	for _, k := range cases {
		t.Run(k.name, func(t *testing.T) {
			x := foresight(k.Prospect)
			require.Equal(t, k.when, x.when())
			require.Equal(t, k.afterwards, x.afterwards())
		})
	}
}

// R001: no state of a message that is under way is called failed, and each end has words of its own.
func TestFlightsInWords(t *testing.T) {
	at := noon
	base := flight{outgoing: outgoing{wait: 30}, at: at, until: at.Add(30e9)}
	state := func(s flightState, change func(*flight)) flight {
		f := base
		f.state = s
		if change != nil {
			change(&f)
		}
		return f
	}
	ended := func(outcome core.RunOutcome, cause string) flight {
		return state(flightOver, func(f *flight) { f.end = core.Run{Outcome: outcome, Error: cause}; f.took = 75e9 })
	}
	now := at.Add(4e9)
	for want, f := range map[string]flight{
		"handing it over · 4 s":                    state(flightLeaving, nil),
		"◌ queued · 4 s of 30 s":                   state(flightAwaited, nil),
		"◌ queued, 2 runs before it · 4 s of 30 s": state(flightAwaited, func(f *flight) { f.place = 3 }),
		"● running · 4 s of 30 s":                  state(flightAwaited, func(f *flight) { f.began = true }),
		"still running after 4 s":                  state(flightOn, func(f *flight) { f.began = true }),
		"still queued after 4 s":                   state(flightOn, nil),
		"✓ answered after 1m15s":                   ended(core.OutcomeOK, ""),
		"✗ the run failed: no model":               ended(core.OutcomeError, "no model"),
		"✗ the run hit its own time limit":         ended(core.OutcomeTimeout, ""),
		"✗ the run was stopped":                    ended(core.OutcomeAborted, ""),
		"✗ the run was interrupted: the owner":     ended(core.OutcomeInterrupted, "the owner"),
	} {
		require.Equal(t, want, f.status(now))
		if f.live() {
			require.NotContains(t, f.status(now), "failed")
			require.Contains(t, f.standing(now), "is still")
		}
	}
}
