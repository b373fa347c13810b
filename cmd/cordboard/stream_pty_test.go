package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What an agent of the owner says is on the screen of an attached console while it is said, and is the message afterwards; a console that
// is opened in the middle shows it too.
func TestAnAnswerStreamsIntoTheConsole(t *testing.T) {
	h := newHome(t)
	key := strings.TrimSpace(h.verb(t, "new", "--label", "talker"))
	x := console(t, h, look{w: 140, h: 30, answer: black})
	x.sees("talker")
	h.verb(t, "send", key, "--timeout", "0", "[[stream:60/100ms]]the first words of an answer that takes its time; 会議 and then the last")
	x.sees("● streaming")
	x.sees("the first words")
	y := console(t, h, look{w: 140, h: 30, answer: black}, "--session", key)
	y.sees("● streaming")
	for _, each := range []*terminal{x, y} {
		each.sees("then the last")
		each.loses("● streaming")
		each.keys("q")
		require.Zero(t, each.ends())
	}
}
