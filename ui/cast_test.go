package ui

import (
	"fmt"
	"strings"
	"testing"

	"github.com/muesli/termenv"

	"cordboard/core"
	"cordboard/themes"
)

// The reading session of an operator, key by key, as testdata/ui/cast-reading.txt tells it: what went on with the latency of the
// database, who found out, and what was said since.
func TestCastOfAReadingSession(t *testing.T) {
	board, store := engineOn(t, true)
	c := newConsole(t, board, 80, 24)
	c.now = evening
	c.dress(themes.NoColour, termenv.ANSI)
	c.withOutside()
	c.send(agesMsg{})
	s := &shelf{t: t, store: store, board: board, at: evening}
	main := func() string { return c.m.fleet.heads["agent:main:main"].Key }

	var cast strings.Builder
	show := func(keys, why string) {
		fmt.Fprintf(&cast, "%s — %s\n\n%s\n\n", keys, why, sgr.ReplaceAllString(c.view(), ""))
	}
	press := func(why string, keys ...string) {
		c.press(keys...)
		show(strings.Join(keys, " "), why)
	}
	show("cordboard", "the fleet, and what was said last in the main session")
	press("into the transcript", "enter")
	c.press("/")
	c.typed("latency")
	show("/latency", "while it is typed, the nearest match above shows")
	press("stay there", "enter")
	press("the one above it", "N")
	press("enough of the search", "esc")
	press("two messages on: the answer of a tool", "J", "J")
	press("what did ops really say? it opens by itself", "enter")
	press("and what went on over there, at that time", "c")
	press("back again", "backspace")
	press("who else spoke of the backup?", "g", "/")
	c.typed("backup")
	show("backup", "hits of every session, the newest sessions first")
	press("that one, in its place", "down", "enter")
	press("only what the agent itself said", "f", "down", "enter")
	press("as it reads", "esc")
	press("all of it again", "F")
	press("this message for a colleague", "y")
	press("what else is there of this session, and what belongs to none?", "g", "o")
	press("a sub-agent whose session was deleted", "end", "enter")
	press("back to the start", "backspace", "backspace")
	c.open(main())
	press("the newest, and follow", "end")
	s.update(func(tx core.Tx) error {
		head, _, err := tx.Session(main())
		if err != nil {
			return err
		}
		_, _, err = tx.Append(head.SessionID, s.message("logrotate ran at 15:00 and **nothing** was restarted. ✅"))
		return err
	})
	c.live()
	show("…", "a message comes in and shows at once")
	press("reading on above", "pgup")
	s.update(func(tx core.Tx) error {
		head, _, err := tx.Session(main())
		if err != nil {
			return err
		}
		_, _, err = tx.Append(head.SessionID, s.message("One more thing: the certificate of edge-2 ends on Friday."))
		return err
	})
	c.live()
	show("…", "another comes in: nothing moves, and the frame says so")
	press("to it", "G")
	fits(t, c.view(), 80, 24)
	golden(t, "cast-reading", strings.TrimRight(cast.String(), "\n"))
}
