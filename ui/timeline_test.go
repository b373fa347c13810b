package ui

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cordboard/core"
)

func TestExchangeScreens(t *testing.T) {
	standScreens(t, func() core.Board { return floor() }, map[string]func(*console){
		"exchanges":      func(c *console) { c.press("home", "e", "down") },
		"timeline":       func(c *console) { c.press("home", "e"); c.onRow("x-five"); c.press("enter", "down", "down") },
		"timeline-end":   func(c *console) { c.press("home", "e"); c.onRow("x-five"); c.press("enter", "end") },
		"timeline-live":  func(c *console) { c.press("home", "e"); c.onRow("x-live"); c.press("enter") },
		"timeline-quiet": func(c *console) { c.press("home", "e"); c.onRow("x-silent"); c.press("enter") },
	})
}

// scenesIn are the scenes of the timeline as they stand on the screen, each with the side that it is on.
func (c *console) scenesIn() []string {
	var list []string
	for _, s := range c.m.stage().(*timeline).scenes {
		list = append(list, map[bool]string{true: "  > ", false: ""}[s.right]+s.name)
	}
	return list
}

// An exchange of five turns is read from the request to what became of its announce, both sides in turn; enter goes to where each was
// said, and what was not sent is tried again.
func TestTimelineOfFiveTurns(t *testing.T) {
	b := floor()
	c := newConsole(t, b, 160, 45)
	c.press("home", "e")
	c.onRow("x-five")
	c.press("enter")
	require.Equal(t, []string{
		"request", "  > round 1", "turn 1", "  > turn 2", "turn 3", "  > turn 4", "turn 5", "  > announce", "  > to slack · channel:ops · thread 7", "the end",
	}, c.scenesIn())
	c.press("R")
	require.Equal(t, "nothing of this failed", c.footer())
	c.press("end", "up", "R")
	require.Equal(t, []core.Command{{Retry: &core.Retry{Delivery: "x-five/announce"}}}, b.Commands())
	c.press("home", "down", "down", "enter")
	require.Nil(t, c.m.stage())
	require.Equal(t, "agent:main:main", c.m.trans.key)
	require.EqualValues(t, 2, c.m.trans.cursor.at)
}

// The timeline of an exchange that goes on shows each step as it comes, and stays at the last while that is looked at.
func TestTimelineGoesOn(t *testing.T) {
	b := floor()
	c := newConsole(t, b, 120, 20)
	c.press("r")
	c.onRow("r-ops")
	c.press("e")
	require.Equal(t, []string{"request", "  > round 1", "now"}, c.scenesIn())
	require.Contains(t, c.view(), "It is at work on the answer…")
	c.elapse(tickEvery)
	x := floorExchanges()[1]
	x.Steps[0].Run.State, x.Steps[0].Run.Outcome, x.Steps[0].Reply = core.RunEnded, core.OutcomeOK, "logrotate did it"
	x.Steps = append(x.Steps, core.ExchangeStep{Name: "turn 1", Speaker: "agent:main:main", From: "agent:ops:main", Run: core.Run{ID: "x-live/t1", State: core.RunQueued, QueuedAt: at(0)}})
	x.State, x.Turn = core.ExchangeLooping, 1
	b.PutExchange(x)
	c.live()
	require.Equal(t, []string{"request", "  > round 1", "turn 1", "now"}, c.scenesIn())
	require.Equal(t, "end", c.rowAtCursor())
	require.Contains(t, c.view(), "logrotate did it")
	require.Contains(t, c.view(), "main/Mira is asked in turn 1 of at most 5.")
	c.press("up", "up")
	c.elapse(tickEvery)
	b.PutExchange(x)
	c.live()
	require.Equal(t, "r-ops", c.rowAtCursor())
	c.press("esc")
	require.Equal(t, inRuns, c.m.scope(), "esc goes back to the runs")
}

// e on a message opens the exchange that it is part of: by the run that wrote it, or by the id that a tool's answer names.
func TestExchangeOfAMessage(t *testing.T) {
	b := floor()
	x := floorExchanges()[0]
	for _, step := range x.Steps[:2] {
		b.PutRun(step.Run)
	}
	b.Append("s0", core.Message{Role: core.RoleToolResult, Raw: []byte(`{"role":"toolResult","content":[{"type":"text","text":"{\"status\":\"ok\",\"exchangeId\":\"x-silent\"}"}]}`)})
	c := newConsole(t, b, 160, 45)
	c.open("agent:main:main")
	c.press("enter", "e")
	require.Contains(t, c.view(), "main/Ops Lounge chose to tell nobody", "the answer names x-silent")
	c.press("esc", "K", "e")
	require.Equal(t, "x-five", c.m.stage().(*timeline).id, "the run of turn 1 wrote messages 1 and 2")
	c.press("esc")
	c.open("agent:research:main")
	c.press("e")
	require.Equal(t, "this message is part of no exchange: these are all of the session", c.footer())
	require.Equal(t, inExchanges, c.m.scope())
	require.Len(t, c.m.stage().base().rows.ids, 4)
}

// Every way in which an exchange ends has words.
func TestExchangeStories(t *testing.T) {
	c := newConsole(t, floor(), 80, 24)
	for reason, want := range map[string]string{
		"skip": "answered REPLY_SKIP", "blank": "said nothing", "turns": "All 5 turns", "self": "writes to itself", "child": "its own child",
		"external": "played from outside", "timeout": "Turn 3 ended with timeout", "hop_limit": "too long", "denied": "denied by the send policy", "": "The talk is over",
	} {
		for _, state := range []core.ExchangeState{core.ExchangeDone, core.ExchangeSkipped, core.ExchangeAnnouncing} {
			x := core.Exchange{RequesterKey: "agent:main:main", TargetKey: "agent:ops:main", Turn: 3, Turns: 5, Announce: true, State: state, Reason: reason}
			require.Contains(t, c.m.exchangeStory(&x), want, "%s %s", state, reason)
		}
	}
	for _, state := range []core.ExchangeState{core.ExchangePrimary, core.ExchangeLooping, core.ExchangeUndeliverable, core.ExchangeFailed, core.ExchangeStopped} {
		require.NotEmpty(t, c.m.exchangeStory(&core.Exchange{State: state}))
	}
	for _, state := range []core.DeliveryState{core.DeliveryPending, core.DeliveryAttempting, core.DeliveryGaveUp, core.DeliveryUnknown, core.DeliveryBlocked, core.DeliveryCancelled, core.DeliveryUndeliverable, core.DeliveryExpired} {
		require.NotEmpty(t, c.m.deliveryStory(&core.Delivery{State: state}))
	}
}

// A text longer than the screen is read through before the next is reached, stays where it is while something counts on, and home and
// end leave it at once.
func TestTimelineOfLongTexts(t *testing.T) {
	b := floor()
	x := floorExchanges()[1]
	x.Request = strings.Repeat("a long line of words\n", 60)
	b.PutExchange(x)
	c := newConsole(t, b, 80, 24)
	c.press("home", "e")
	c.onRow("x-live")
	c.press("enter", "i", "home")
	v := c.m.stage().(*timeline)
	require.Zero(t, v.top)
	c.press("down", "down")
	require.Equal(t, "request", c.rowAtCursor())
	require.Equal(t, 6, v.top)
	c.elapse(tickEvery)
	require.Equal(t, 6, v.top)
	sound(t, c.view(), 80, 24)
	for range 30 {
		c.press("down")
	}
	require.Equal(t, "end", c.rowAtCursor())
	c.press("up", "up")
	require.Equal(t, "request", c.rowAtCursor())
	require.Equal(t, v.spans[0].to-v.room(), v.top, "from below it is entered at its end")
	c.press("end")
	require.Equal(t, "end", c.rowAtCursor())
	c.press("home")
	require.Zero(t, v.top)
}
