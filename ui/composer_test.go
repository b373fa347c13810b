package ui

import (
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/stretchr/testify/require"

	"cordboard/core"
	"cordboard/ui/uitest"
)

// An operator steps in by hand: enter opens the line, enter sends it, the answer is read above, and the line stays for the next.
func TestComposer(t *testing.T) {
	b := talkBoard()
	c := newConsole(t, b, 100, 30)
	c.open(talkMain)
	c.slowly("enter", "enter")
	require.NotNil(t, c.m.composing())
	require.Contains(t, c.view(), "to Mira's main as the operator")
	require.Contains(t, c.view(), "It starts at once")
	require.Contains(t, c.view(), "What shall I do?", "the last message is not covered")
	require.Equal(t, "enter send  tab all options  alt+enter more lines  pgup read back  esc close", c.footer())
	c.slowly("enter")
	require.Equal(t, "write something first, or press esc to close", c.footer())
	c.slowly("r", "u", "n", "enter")
	require.Equal(t, []uitest.Sent{{Run: "run-1", To: talkMain, Text: "run"}}, b.Sent())
	c.live()
	require.Equal(t, "run", c.lastLine())
	require.Contains(t, c.view(), "◌ queued")
	b.Start("run-1")
	c.live()
	require.Contains(t, c.view(), "● running")
	b.End("run-1", core.OutcomeOK, "running they are")
	c.live()
	c.elapse(time.Second)
	require.Equal(t, "running they are", c.lastLine())
	require.Contains(t, c.view(), "✓ answered")
	require.Empty(t, c.m.toasts.log, "it is on the screen")
	c.slowly("o", "k", "esc")
	require.Equal(t, "kept as a draft: C opens it again", c.footer())
	c.slowly("C")
	require.Equal(t, "ok", c.m.composing().field.text())
}

// R153: an enter that comes at once after a letter was pasted: it becomes a line of a form, and nothing is sent. The same for what a
// terminal says was pasted, and for whoever wants more lines.
func TestComposerGrows(t *testing.T) {
	cases := []struct {
		name, want string
		do         func(*console)
	}{
		{"a burst", "a\nb\n", func(c *console) { c.press("a", "enter", "b", "enter") }},
		{"a paste of lines", "xa\r\nby", func(c *console) { c.slowly("x", "y"); c.slowly("left"); c.send(paste("a\r\nb")) }},
		{"a paste of a tab", "a\tb", func(c *console) { c.send(paste("a\tb")) }},
		{"a long paste", strings.Repeat("x", 3000), func(c *console) { c.send(paste(strings.Repeat("x", 3000))) }},
		{"alt+enter", "a\n", func(c *console) { c.slowly("a"); c.send(tea.KeyMsg{Type: tea.KeyEnter, Alt: true}) }},
		{"ctrl+j", "a\n", func(c *console) { c.slowly("a"); c.send(tea.KeyMsg{Type: tea.KeyCtrlJ}) }},
		{"tab", "a", func(c *console) { c.slowly("a", "tab") }},
	}
	for _, k := range cases {
		t.Run(k.name, func(t *testing.T) {
			b := talkBoard()
			c := newConsole(t, b, 100, 30)
			c.open(talkMain)
			c.slowly("enter", "C")
			k.do(c)
			require.Empty(t, b.Sent())
			require.Nil(t, c.m.composing())
			require.Equal(t, k.want, c.form().area.text.text())
			c.slowly("esc")
			c.press("C")
			if strings.ContainsAny(k.want, "\n\r") || len(k.want) > composerMost {
				require.Equal(t, k.want, c.form().area.text.text(), "more than a line opens the form")
			}
		})
	}
}

// A second message while the first is under way is asked about, and a refusal stands below the line.
func TestComposerIsCareful(t *testing.T) {
	b := talkBoard()
	c := newConsole(t, b, 80, 24)
	c.open(talkMain)
	c.slowly("enter", "C", "a", "enter", "b", "enter")
	require.Contains(t, c.view(), "Send another message?")
	c.slowly("esc")
	require.Len(t, b.Sent(), 1)
	b.Refuse(core.Errorf(core.CodeSendDenied, "denied by the session override"))
	c.slowly("enter")
	c.now = c.now.Add(time.Second)
	c.slowly("y")
	require.Contains(t, c.view(), "✗ denied by the session override")
	require.Equal(t, "b", c.m.composing().field.text())
}

// Where nobody answers, enter says so and opens nothing.
func TestNoComposerOnAMirror(t *testing.T) {
	b := talkBoard()
	b.Append(talkOld, say(1, "from elsewhere")...)
	c := newConsole(t, b, 100, 30)
	c.open(talkOld)
	c.slowly("enter", "enter")
	require.Nil(t, c.m.composing())
	require.Contains(t, c.footer(), "nothing is folded in this message · ")
	require.Contains(t, c.footer(), "mirrored, read only: o adopts")
}
