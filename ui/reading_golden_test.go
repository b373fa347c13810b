package ui

import (
	"fmt"
	"testing"

	"github.com/muesli/termenv"

	"cordboard/themes"
)

// Screens of reading: the fleet in testdata/openclaw, in a theme without colours but with attributes, as most terminals have it.
func TestReadingScreens(t *testing.T) {
	board, _ := engineOn(t, true)
	screens := []struct {
		name string
		do   func(*console)
	}{
		{"markdown", func(c *console) { c.press("enter") }},
		{"markdown-raw", func(c *console) { c.press("enter", "m") }},
		{"code", func(c *console) { c.press("enter"); c.find("pg_upgrade --no"); c.press("esc") }},
		{"search", func(c *console) { c.press("enter", "/"); c.typed("backup") }},
		{"search-above", func(c *console) { c.press("enter"); c.find("backup"); c.press("N", "N") }},
		{"search-nothing", func(c *console) { c.press("enter"); c.find("zeppelin") }},
		{"search-everywhere", func(c *console) { c.press("ctrl+f"); c.typed("backup") }},
		{"search-everywhere-older", func(c *console) { c.press("ctrl+f"); c.typed("the"); c.press("tab", "pgdown") }},
		{"read-filter", func(c *console) { c.press("enter", "f", "down", "enter") }},
		{"read-filtered", func(c *console) { c.press("enter", "f", "down", "enter", "esc") }},
		{"transcripts", func(c *console) { c.open("agent:research:main"); c.press("g", "o") }},
		{"stray", func(c *console) { c.press("g", "o", "end", "enter") }},
		{"open-one", func(c *console) { c.press("enter", "K", "K", "K", "enter") }},
		{"takeout", func(c *console) { c.withOutside(); c.press("enter", "x", "down") }},
		{"other-side", func(c *console) { c.press("enter"); c.find("[Internal task"); c.press("esc", "enter") }},
	}
	for _, size := range sizes {
		for _, s := range screens {
			name := fmt.Sprintf("%s-%dx%d", s.name, size[0], size[1])
			t.Run(name, func(t *testing.T) {
				c := newConsole(t, board, size[0], size[1])
				c.now = evening
				c.dress(themes.NoColour, termenv.ANSI)
				c.send(agesMsg{})
				s.do(c)
				fits(t, c.view(), size[0], size[1])
				golden(t, name, sgr.ReplaceAllString(c.view(), ""))
			})
		}
	}
}
