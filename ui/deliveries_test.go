package ui

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordboard/core"
)

func TestDeliveryScreens(t *testing.T) {
	standScreens(t, func() core.Board { return floor() }, map[string]func(*console){
		"deliveries":        func(c *console) { c.press("home", "g", "d") },
		"deliveries-row":    func(c *console) { c.press("home", "g", "d", "down", "i") },
		"deliveries-astray": func(c *console) { c.press("home", "g", "d", "f") },
	})
}

// What gave up is tried again at once; what may have arrived is asked about first; what has arrived is not sent twice.
func TestRetryDeliveries(t *testing.T) {
	b := floor()
	c := newConsole(t, b, 160, 45)
	c.press("home", "g", "d")
	require.Equal(t, "d-gave", c.rowAtCursor(), "what needs somebody comes first")
	c.press("R")
	require.Equal(t, []core.Command{{Retry: &core.Retry{Delivery: "d-gave"}}}, b.Commands())
	c.onRow("d-lost")
	c.press("R")
	require.Contains(t, c.view(), "If it did arrive")
	c.now = c.now.Add(time.Second)
	c.press("y")
	require.Len(t, b.Commands(), 2)
	c.onRow("d-sent")
	c.press("R")
	require.Equal(t, "it has arrived", c.footer())
	c.onRow("d-block")
	c.press("R")
	require.Contains(t, c.footer(), "only a text that gave up")
	c.elapse(tickEvery)
	c.live()
	require.Equal(t, "d-block", c.rowAtCursor())
	require.Contains(t, c.row("logrotate restarted"), "waiting")
}

// The view opens on the session under the cursor and follows what is written.
func TestDeliveriesOfOneSession(t *testing.T) {
	b := floor()
	c := newConsole(t, b, 80, 24)
	c.open("agent:ops:main")
	c.press("g", "d")
	require.Equal(t, []string{"d-gave", "d-nowhere"}, c.m.stage().base().rows.ids)
	c.elapse(tickEvery)
	b.PutDelivery(core.Delivery{ID: "d-new", SessionKey: "agent:ops:main", Text: "new", State: core.DeliveryDelivered, Attempts: 1, CreatedAt: at(0)})
	c.live()
	require.Contains(t, c.view(), "new")
	c.press("s")
	require.Len(t, c.m.stage().base().rows.ids, 7)
	c.onRow("d-lost")
	c.press("enter")
	require.Equal(t, "agent:ops:discord:channel:991", c.m.tree.selected())
}

// A text whose channel goes nowhere was told to nobody: it is kept here, and that is what the view says.
func TestDeliveryThatIsKeptHere(t *testing.T) {
	b := floor()
	b.PutDelivery(core.Delivery{
		ID: "d-kept", SessionKey: "agent:ops:main", Text: "only here", State: core.DeliveryDelivered, CreatedAt: at(0),
		Route: core.DeliveryContext{Channel: "irc", To: "#ops"},
	})
	c := newConsole(t, b, 120, 30)
	c.open("agent:ops:main")
	c.press("g", "d")
	require.Contains(t, c.row("only here"), "kept here")
	c.onRow("d-kept")
	require.Contains(t, cannotRetryDelivery(c.m), "the channel irc is not configured to go anywhere")
}
