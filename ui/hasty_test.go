package ui

import (
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/stretchr/testify/require"
)

// Keys that come in one go, or while the second of a sequence is waited for, act on the session that the keys before them chose (R033).
func TestHastyKeysMeanTheSessionTheyChose(t *testing.T) {
	for name, press := range map[string]func(c *console, last rune){
		"one by one": func(c *console, last rune) { c.press("j", string(last)) },
		"in one go": func(c *console, last rune) {
			c.together("j" + string(last))
		},
		"while a sequence waits": func(c *console, last rune) { c.press("j", "j", "k", "g", string(last)) },
	} {
		t.Run(name, func(t *testing.T) {
			b := talkBoard()
			c := newConsole(t, b, 100, 30)
			c.open(talkMain)
			c.press("esc")
			press(c, 's')
			chosen := c.m.tree.selected()
			if chosen == "" { // the first row is the agent's
				require.Nil(t, c.m.top(), "a form for no session")
				return
			}
			require.Equal(t, chosen, c.form().key)
		})
	}
}

// Where only "window too small" is shown no key is a command and none is text.
func TestNobodyActsInAWindowTooSmall(t *testing.T) {
	b := talkBoard()
	c := newConsole(t, b, 100, 30)
	c.open(talkMain)
	before := c.m.tree.selected()
	c.send(tea.WindowSizeMsg{Width: 30, Height: 8})
	c.press("j", "s", "p", "d", "D", "K", "/", "x")
	c.send(tea.WindowSizeMsg{Width: 100, Height: 30})
	require.Nil(t, c.m.top())
	require.Equal(t, before, c.m.tree.selected())
	require.False(t, c.m.filter.editing)
	require.Empty(t, b.Commands())

	c.press("s")
	c.send(tea.WindowSizeMsg{Width: 30, Height: 8})
	c.press("q", "a", "enter")
	require.False(t, c.quit, "q was meant for the form")
	c.send(tea.WindowSizeMsg{Width: 100, Height: 30})
	require.Empty(t, c.form().area.text.text())
	c.press("esc")
	c.send(tea.WindowSizeMsg{Width: 30, Height: 8})
	c.press("q")
	require.True(t, c.quit)
}

// A text whose session is gone would never be found again: the first esc says so and keeps the form, the next is taken.
func TestTextOfASessionThatIsGone(t *testing.T) {
	for name, key := range map[string]string{"the form": "s", "the line": "C"} {
		t.Run(name, func(t *testing.T) {
			b := talkBoard()
			c := newConsole(t, b, 100, 30)
			c.open(talkOps)
			c.press(key)
			c.typed("long thought about")
			b.Delete(talkOps)
			c.live()
			c.press("esc")
			require.NotNil(t, c.m.top(), "the text is out of reach")
			require.Contains(t, c.footer(), "its session is gone")
			require.Contains(t, c.view(), "long thought about")
			c.press("esc")
			require.Nil(t, c.m.top())
		})
	}
}

// In the smallest window too the first thing that is told of a message that was sent is how it fares.
func TestHowAMessageFaresInASmallWindow(t *testing.T) {
	b := talkBoard()
	c := newConsole(t, b, 40, 10)
	c.open(talkMain)
	c.press("s")
	c.typed("hello")
	c.press("ctrl+s")
	require.Contains(t, c.view(), "queued")
	require.Less(t, strings.Index(c.view(), "queued"), strings.Index(c.view(), "to  "), c.view())
}

// Text that is pasted word by word, by a terminal that does not say so, runs no command; keys that a slow link delivers together do (R153).
func TestPastedWordsRunNothing(t *testing.T) {
	rush := func(c *console, keys ...string) {
		for _, key := range keys {
			c.now = c.now.Add(time.Millisecond)
			c.press(key)
		}
		c.elapse(time.Second)
		c.elapse(time.Second)
	}
	b := talkBoard()
	c := newConsole(t, b, 100, 30)
	c.open(talkMain)
	before := c.m.tree.selected()
	c.now = c.now.Add(time.Second)
	c.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("pad")})
	rush(c, strings.Split(" the disks, then D K x o and send it all to ops enter", "")...)
	require.Equal(t, pastedNothing, c.footer())
	require.Nil(t, c.m.top())
	require.Empty(t, b.Commands())

	c.open(before)
	c.now = c.now.Add(time.Second)
	rush(c, "down", "down", "up", "s", "h", "i")
	require.Equal(t, "hi", c.form().area.text.text())
	require.Equal(t, c.m.tree.selected(), c.form().key)
}

// A message that waits because its session is held says so: nobody waits for a reply that cannot come.
func TestAMessageToAHeldSession(t *testing.T) {
	b := talkBoard()
	c := newConsole(t, b, 100, 30)
	c.open(talkMain)
	c.press("H")
	c.live()
	c.press("s")
	c.typed("hello")
	c.press("ctrl+s")
	c.live()
	require.Contains(t, c.view(), "It waits: the session is held: H lets it go")
	c.slowly("esc")
	c.elapse(time.Minute)
	c.press("C")
	require.Contains(t, c.view(), "the session is held: H lets it go")
}
