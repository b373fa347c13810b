package ui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordboard/core"
	"cordboard/ui/uitest"
)

// talkScreens are the forms, each as an operator comes to it.
func talkScreens() []struct {
	name string
	do   func(*console, *uitest.Talk)
} {
	return []struct {
		name string
		do   func(*console, *uitest.Talk)
	}{
		{"send", func(c *console, _ *uitest.Talk) { c.press("s"); c.typed("Run the tests and tell me what fails.") }},
		{"send-fields", func(c *console, _ *uitest.Talk) {
			c.press("s", "shift+tab", "ctrl+u")
			c.typed("soon")
			c.press("ctrl+s")
		}},
		{"send-long", func(c *console, _ *uitest.Talk) {
			c.press("s")
			c.send(paste(strings.Repeat("A line of a log that was pasted\twith tabs, and 会議 in it.\n", 400)))
		}},
		{"send-denied", func(c *console, b *uitest.Talk) {
			b.Foresee = func(core.MessageQuestion) (core.Explanation, error) {
				return core.Explanation{Verdict: core.Verdict{
					Rule: "rules[0]", ConfigKey: "session.sendPolicy.rules[0]", Message: "sending to discord groups is denied by rules[0] {channel: discord, chatType: group}",
				}}, nil
			}
			c.open(talkDM)
			c.press("s")
			c.typed("hello")
		}},
		{"send-waiting", func(c *console, _ *uitest.Talk) {
			c.press("s")
			c.typed("Run the tests and tell me what fails.")
			c.press("ctrl+s")
			c.elapse(time.Second)
		}},
		{"send-timeout", func(c *console, _ *uitest.Talk) {
			c.press("s")
			c.typed("Run the tests and tell me what fails.")
			c.press("ctrl+s")
			c.elapse(31 * time.Second)
			c.elapse(time.Second)
		}},
		{"send-answered", func(c *console, b *uitest.Talk) {
			c.press("s")
			c.typed("Run the tests and tell me what fails.")
			c.press("ctrl+s")
			b.End("run-1", core.OutcomeOK, "Two fail:\n\n- TestPaste, on Windows only\n- TestSuspend, since this morning")
			c.elapse(4 * time.Second)
		}},
		{"send-failed", func(c *console, b *uitest.Talk) {
			c.press("s")
			c.typed("Run the tests.")
			c.press("ctrl+s")
			b.End("run-1", core.OutcomeError, "the model mock-1 answered 500 three times: upstream overloaded")
			c.elapse(4 * time.Second)
		}},
		{"composer", func(c *console, _ *uitest.Talk) {
			c.press("enter", "C")
			c.typed("run the tests")
		}},
		{"composer-denied", func(c *console, b *uitest.Talk) {
			c.press("enter", "C")
			c.typed("run the tests")
			b.Refuse(core.Errorf(core.CodeSendDenied, "sending is denied by rules[0] {channel: discord}").Because("session.sendPolicy.rules[0]"))
			c.slowly("enter")
		}},
		{"policy", func(c *console, _ *uitest.Talk) { c.open(talkDM); c.press("p") }},
		{"policy-set", func(c *console, _ *uitest.Talk) {
			c.open(talkDM)
			c.press("p", "a")
			c.live()
		}},
		{"policy-many", func(c *console, _ *uitest.Talk) { c.press("ctrl+a", "p") }},
		{"policy-test", func(c *console, _ *uitest.Talk) { c.open(talkDM); c.press("p", "t") }},
		{"new-session", func(c *console, b *uitest.Talk) {
			b.Agents(core.AgentInfo{ID: "main", Name: "Mira", Configured: true}, core.AgentInfo{ID: "ops", Configured: true})
			b.Models("mock/one", "mock/two")
			c.press("ctrl+r", "N", "tab")
			c.typed("night watch")
		}},
		{"settings", func(c *console, b *uitest.Talk) {
			b.Models("mock/one", "mock/two")
			c.press("ctrl+r", "c", "tab", "tab", "right")
		}},
		{"delete-many", func(c *console, _ *uitest.Talk) { c.press("ctrl+a", "D") }},
		{"reply", func(c *console, b *uitest.Talk) {
			b.PutRun(core.Run{ID: "r1", SessionKey: talkOps, State: core.RunRunning, Message: "Shall I deploy 4.2 now?\n\nThe tests are green; two alerts are open."})
			b.Update(talkOps, func(h *core.Head) { h.Flags |= core.FlagAsks })
			c.live()
			c.open(talkOps)
			c.press("ctrl+y")
			c.typed("Wait for the alerts.")
		}},
		{"send-again", func(c *console, _ *uitest.Talk) {
			c.press("s")
			c.typed("Run the tests.")
			c.press("ctrl+s", "n")
			c.typed("Hello?")
			c.press("ctrl+s")
		}},
	}
}

func TestTalkScreens(t *testing.T) {
	for _, size := range sizes {
		for _, s := range talkScreens() {
			name := fmt.Sprintf("%s-%dx%d", s.name, size[0], size[1])
			t.Run(name, func(t *testing.T) {
				b := talkBoard()
				c := newConsole(t, b, size[0], size[1])
				c.open(talkMain)
				s.do(c, b)
				fits(t, c.view(), size[0], size[1])
				golden(t, name, c.view())
			})
		}
	}
}

// A form at every size, down to one cell, is exactly as large as the window and never falls over.
func TestFormsAtEverySize(t *testing.T) {
	for _, s := range talkScreens() {
		t.Run(s.name, func(t *testing.T) {
			b := talkBoard()
			c := newConsole(t, b, 80, 24)
			c.open(talkMain)
			s.do(c, b)
			for w := 1; w <= 200; w += 1 + w/5 {
				for h := 1; h <= 60; h += 1 + h/4 {
					c.send(windowOf(w, h))
					sound(t, c.view(), w, h)
					c.press("up", "down", "end")
					sound(t, c.view(), w, h)
				}
			}
			require.NotNil(t, c.m.top())
		})
	}
}
