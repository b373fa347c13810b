package ui

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"cordboard/core"
)

// Screens of filters, viewpoints, rights, marks and views, over the fleet of testdata/openclaw. None of them writes.
func TestSeeScreens(t *testing.T) {
	board, _ := engineOn(t, true)
	screens := []struct {
		name string
		do   func(*console)
	}{
		{"filters", func(c *console) { c.press("f") }},
		{"filters-set", func(c *console) { c.press("f"); c.choose("kind cron", " "); c.choose("within 24h", " ") }},
		{"filtered", func(c *console) {
			c.press("f")
			c.choose("kind cron", " ")
			c.choose("within 6h", " ", "esc")
			c.press("/")
			c.typed("a")
			c.press("enter")
		}},
		{"looking", func(c *console) { c.press("V"); c.open("agent:ops:main") }},
		{"looking-inspector", func(c *console) { c.press("V"); c.open("agent:ops:main"); c.press("i") }},
		{"looking-hidden", func(c *console) { c.press("V", "d") }},
		{"pick", func(c *console) { c.press("L"); c.typed("desk") }},
		{"rights", func(c *console) { c.press("V"); c.open("agent:ops:main"); c.press("X") }},
		{"marked", func(c *console) { c.press("m", "down", "M") }},
		{"confirm", func(c *console) { c.press("ctrl+a", "x") }},
		{"export", func(c *console) { c.press("shift+down", "E") }},
		{"views", func(c *console) {
			c.m.putView(SavedView{Name: "incidents", Text: "incident", Kinds: []core.Kind{core.KindGroup, subagent}, Minutes: 60})
			c.m.putView(SavedView{Name: "what ops sees", LookAs: "agent:ops:main", Scope: core.VisibilityAll, Hide: true, Sort: "name"})
			c.press("b", "n")
			c.typed("everything")
		}},
	}
	export := func(_ context.Context, key string) (string, error) { return "out/" + key + ".jsonl", nil }
	for _, size := range sizes {
		for _, s := range screens {
			t.Run(fmt.Sprintf("%s-%dx%d", s.name, size[0], size[1]), func(t *testing.T) {
				c := consoleIn(t, Env{Board: board, Export: export}, evening, size[0], size[1])
				s.do(c)
				fits(t, c.view(), size[0], size[1])
				golden(t, fmt.Sprintf("%s-%dx%d", s.name, size[0], size[1]), c.view())
			})
		}
	}
}

// The welcome offers what was found on this machine by name.
func TestWelcome(t *testing.T) {
	board, store := engineOn(t, false)
	for _, size := range sizes {
		c := consoleIn(t, Env{Board: board, OpenClaw: []string{"~/.openclaw", "~/.openclaw-work"}}, noon, size[0], size[1])
		fits(t, c.view(), size[0], size[1])
		golden(t, fmt.Sprintf("welcome-%dx%d", size[0], size[1]), c.view())
		for _, line := range []string{"cordboard import ~/.openclaw", "cordboard import ~/.openclaw-work", "cordboard demo"} {
			require.Contains(t, c.view(), line)
		}
	}
	c := consoleIn(t, Env{Board: board}, noon, 120, 30)
	sessionsIn(t, store, core.Session{Key: "agent:main:main", UpdatedAt: 1})
	c.live()
	require.NotContains(t, c.view(), "Welcome")
}
