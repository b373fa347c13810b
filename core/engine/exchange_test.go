package engine

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"cordboard/core"
	"cordboard/core/proptest"
)

// play runs an exchange whose sessions answer in turn with the given replies, and returns the sessions that ran in order, the end and
// what was announced. Round 1 is the first reply.
func play(x core.Exchange, replies ...string) (speakers []string, end core.Exchange, announce string) {
	return playWith(x, "", replies...)
}

// playWith is play where one side is external, "" for none: it has no reply.
func playWith(x core.Exchange, external string, replies ...string) (speakers []string, end core.Exchange, announce string) {
	run := core.Run{Kind: core.RunSend, SessionKey: x.TargetKey, Outcome: core.OutcomeOK}
	for i := 0; ; i++ {
		speakers = append(speakers, run.SessionKey)
		reply := ""
		if i < len(replies) {
			reply = replies[i]
		}
		out := step(x, run, reply, run.SessionKey == external)
		x = out.exchange
		if out.next == nil {
			return speakers, x, out.announce
		}
		run = core.Run{ID: out.next.id, Kind: out.next.kind, SessionKey: out.next.session, Outcome: core.OutcomeOK}
	}
}

func between(a, b string, turns int) core.Exchange {
	return core.Exchange{ID: "x", RequesterKey: a, TargetKey: b, Turns: turns, Announce: true, State: core.ExchangePrimary}
}

// Runs = 1 + turns + announce, speakers alternate with the requester first (session-tools.md §6, F122, F136, R012).
func TestExchangeRuns(t *testing.T) {
	silent := between("a", "b", 5)
	silent.Announce = false
	for name, c := range map[string]struct {
		x        core.Exchange
		replies  []string
		speakers string
		state    core.ExchangeState
		reason   string
		announce string
	}{
		"five turns":               {between("a", "b", 5), []string{"1", "2", "3", "4", "5", "6", "told"}, "b ababa b", core.ExchangeDone, "turns", "told"},
		"two turns":                {between("a", "b", 2), []string{"r", "pong-1", "pong-2", "announce now"}, "b ab b", core.ExchangeDone, "turns", "announce now"},
		"no turns":                 {between("a", "b", 0), []string{"r", "told"}, "b  b", core.ExchangeDone, "turns", "told"},
		"round 1 skips":            {between("a", "b", 5), []string{" REPLY_SKIP\n", "told"}, "b  b", core.ExchangeDone, "skip", "told"},
		"round 1 blank":            {between("a", "b", 5), []string{" ", "told"}, "b  b", core.ExchangeDone, "blank", "told"},
		"a turn skips":             {between("a", "b", 5), []string{"r", "REPLY_SKIP", "told"}, "b a b", core.ExchangeDone, "skip", "told"},
		"another case is no skip":  {between("a", "b", 1), []string{"r", "reply_skip", "told"}, "b a b", core.ExchangeDone, "turns", "told"},
		"a full stop is no skip":   {between("a", "b", 1), []string{"r", "REPLY_SKIP.", "told"}, "b a b", core.ExchangeDone, "turns", "told"},
		"to itself":                {between("a", "a", 5), []string{"r", "told"}, "a  a", core.ExchangeDone, "self", "told"},
		"the target stays silent":  {between("a", "b", 0), []string{"r", "ANNOUNCE_SKIP"}, "b  b", core.ExchangeSkipped, "turns", ""},
		"a blank announce":         {between("a", "b", 0), []string{"r", " \n"}, "b  b", core.ExchangeSkipped, "turns", ""},
		"a last line with a token": {between("a", "b", 0), []string{"r", "told\n ANNOUNCE_SKIP "}, "b  b", core.ExchangeDone, "turns", "told"},
		"a token inside":           {between("a", "b", 0), []string{"r", "no ANNOUNCE_SKIP"}, "b  b", core.ExchangeDone, "turns", "no ANNOUNCE_SKIP"},
		"announcing is off":        {silent, []string{"r", "REPLY_SKIP"}, "b a", core.ExchangeSkipped, "skip", ""},
	} {
		t.Run(name, func(t *testing.T) {
			speakers, end, announce := play(c.x, c.replies...)
			want := []string{}
			for _, r := range c.speakers {
				if r != ' ' {
					want = append(want, string(r))
				}
			}
			assert.Equal(t, want, speakers)
			assert.Equal(t, c.state, end.State)
			assert.Equal(t, c.reason, end.Reason)
			assert.Equal(t, c.announce, announce)
		})
	}
}

// A loop ends at the side that a client outside plays; only a target that is played here announces.
func TestExchangeWithExternal(t *testing.T) {
	silent := between("a", "b", 5)
	silent.Announce = false
	for name, c := range map[string]struct {
		x        core.Exchange
		external string
		replies  []string
		speakers []string
		state    core.ExchangeState
		announce string
	}{
		"the target":                         {between("a", "b", 5), "b", []string{""}, []string{"b"}, core.ExchangeSkipped, ""},
		"the target, without turns":          {between("a", "b", 0), "b", []string{""}, []string{"b"}, core.ExchangeSkipped, ""},
		"both sides":                         {between("b", "b", 5), "b", []string{""}, []string{"b"}, core.ExchangeSkipped, ""},
		"the requester":                      {between("a", "b", 5), "a", []string{"r", "", "told"}, []string{"b", "a", "b"}, core.ExchangeDone, "told"},
		"the requester, and nobody is told":  {silent, "a", []string{"r", ""}, []string{"b", "a"}, core.ExchangeSkipped, ""},
		"the requester, and the target does": {between("a", "b", 5), "a", []string{"r", "", "ANNOUNCE_SKIP"}, []string{"b", "a", "b"}, core.ExchangeSkipped, ""},
	} {
		speakers, end, announce := playWith(c.x, c.external, c.replies...)
		assert.Equal(t, c.speakers, speakers, name)
		assert.Equal(t, c.state, end.State, name)
		assert.Equal(t, "external", end.Reason, name)
		assert.Equal(t, c.announce, announce, name)
	}
	failed := step(between("a", "b", 5), core.Run{Kind: core.RunSend, SessionKey: "b", Outcome: core.OutcomeAborted}, "", true)
	assert.Equal(t, core.ExchangeFailed, failed.exchange.State, "what the operator took back before it was handed over is not external")
}

// How runs that do not end ok move an exchange (engine.md §4).
func TestExchangeFailures(t *testing.T) {
	primary, turn, announce := core.RunSend, core.RunTurn, core.RunAnnounce
	for _, c := range []struct {
		kind    core.RunKind
		outcome core.RunOutcome
		state   core.ExchangeState
		next    bool
	}{
		{primary, core.OutcomeError, core.ExchangeFailed, false},
		{primary, core.OutcomeInterrupted, core.ExchangeFailed, false},
		{primary, core.OutcomeAborted, core.ExchangeFailed, false},
		{turn, core.OutcomeError, core.ExchangeAnnouncing, true},
		{turn, core.OutcomeTimeout, core.ExchangeAnnouncing, true},
		{turn, core.OutcomeInterrupted, core.ExchangeAnnouncing, true},
		{turn, core.OutcomeAborted, core.ExchangeStopped, false},
		{announce, core.OutcomeError, core.ExchangeFailed, false},
		{announce, core.OutcomeInterrupted, core.ExchangeFailed, false},
	} {
		out := step(between("a", "b", 5), core.Run{Kind: c.kind, Outcome: c.outcome}, "text that must not be sent", false)
		assert.Equal(t, c.state, out.exchange.State, "%s %s", c.kind, c.outcome)
		assert.Equal(t, c.next, out.next != nil, "%s %s", c.kind, c.outcome)
		assert.Empty(t, out.announce)
	}
}

// An exchange always ends, in at most 2 + turns runs, and once ended nothing moves it.
func TestExchangeEnds(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		x := between("a", rapid.SampledFrom([]string{"a", "b"}).Draw(t, "target"), rapid.IntRange(0, 5).Draw(t, "turns"))
		x.Announce = rapid.Bool().Draw(t, "announce")
		run := core.Run{Kind: core.RunSend, SessionKey: x.TargetKey}
		ids := map[string]bool{}
		for n := 1; ; n++ {
			run.Outcome = rapid.SampledFrom([]core.RunOutcome{core.OutcomeOK, core.OutcomeOK, core.OutcomeOK, core.OutcomeError, core.OutcomeAborted}).Draw(t, "outcome")
			reply := rapid.SampledFrom([]string{"x", "y", "", replySkip, announceSkip}).Draw(t, "reply")
			out := step(x, run, reply, false)
			assert.Equal(t, out, step(x, run, reply, false), "a pure function")
			x = out.exchange
			if out.next == nil {
				assert.True(t, over(x.State), "%s", x.State)
				assert.Equal(t, outcome{exchange: x}, step(x, run, "more", false))
				assert.LessOrEqual(t, n, 2+x.Turns)
				return
			}
			assert.False(t, ids[out.next.id], "the step %s twice", out.next.id)
			ids[out.next.id] = true
			run = core.Run{ID: out.next.id, Kind: out.next.kind, SessionKey: out.next.session}
		}
	})
}
