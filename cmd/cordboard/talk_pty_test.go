package main

import (
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// An operator makes a session, writes to it and is answered; the owner is killed while the next message is written: the text is there, and
// it is sent by the next owner. A paste is one message, and a draft is there again in the next console.
func TestTalkingOutlivesTheOwner(t *testing.T) {
	h := filled(t)
	x := console(t, h, look{w: 120, h: 40, answer: black})
	x.sees("23 sessions")
	x.keys("N")
	x.sees("New session")
	x.keys("\tnight watch\x13")
	x.sees("24 sessions")
	x.sees("night watch")

	x.keys("s")
	x.sees("It starts at once")
	x.keys("\x1b[200~" + strings.Repeat("a line\tof a log\r\n", 300) + "[[say:all of them are read]]\x1b[201~")
	x.sees("301 lines")
	x.keys("\x13")
	x.sees("✓ answered after")
	x.sees("all of them are read")
	x.keys("n")
	x.sees("Send a message")
	x.keys("still here? [[say:yes]]")
	x.sees("[[say:yes]]")
	first := h.owner(t)
	require.NoError(t, syscall.Kill(first.PID, syscall.SIGKILL))
	h.verb(t, "list")
	x.sees("[[say:yes]]")
	x.keys("\x13")
	x.sees("✓ answered after")
	x.keys("\x1b")
	x.loses("✓ answered after")
	x.keys("snever sent")
	x.sees("never sent")
	x.keys("\x1b")
	x.sees("kept as a draft")
	x.keys("q")
	require.Zero(t, x.ends())

	again := console(t, h, look{w: 120, h: 40, answer: black})
	again.sees("night watch")
	again.keys("s")
	again.sees("never sent")
	again.keys("\x1b")
	again.loses("never sent")
	again.keys("q")
	require.Zero(t, again.ends())
	assert.Equal(t, 1, strings.Count(h.verb(t, "search", "still here?"), "still here?"), "it was sent once")
}
