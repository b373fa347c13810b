package ui

import (
	"fmt"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"

	"cordboard/core"
	"cordboard/ui/uitest"
)

var sizes = [][2]int{{160, 45}, {80, 24}, {40, 12}}

// Screens of the fleet in testdata/openclaw, as the engine tells of it.
func TestScreens(t *testing.T) {
	board, _ := engineOn(t, true)
	screens := []struct {
		name string
		do   func(*console)
	}{
		{"start", func(*console) {}},
		{"transcript", func(c *console) { c.press("enter") }},
		{"transcript-top", func(c *console) { c.press("enter", "home") }},
		{"tools-open", func(c *console) { c.press("enter", "t", "home") }},
		{"no-wrap", func(c *console) { c.press("enter", "w", "$") }},
		{"inspector", func(c *console) { c.press("i") }},
		{"help", func(c *console) { c.press("?") }},
		{"filter", func(c *console) { c.press("/"); c.typed("dep") }},
		{"filter-nothing", func(c *console) { c.press("/"); c.typed("zzz"); c.press("enter") }},
		{"folded", func(c *console) { c.press("-") }},
		{"agent", func(c *console) { c.press("home") }},
		{"hostile", func(c *console) { c.open("agent:ops:hook:b6f14162-10b3-4c5d-ab18-764385411f07"); c.press("enter", "t") }},
		{"failed", func(c *console) { c.open("agent:ops:rollback-4398") }},
		{"older", func(c *console) { c.open("agent:research:main"); c.press("enter", "o") }},
		{"group", func(c *console) { c.open("agent:main:telegram:group:-1001843377"); c.press("enter") }},
	}
	for _, size := range sizes {
		for _, s := range screens {
			t.Run(fmt.Sprintf("%s-%dx%d", s.name, size[0], size[1]), func(t *testing.T) {
				c := consoleIn(t, Env{Board: board}, evening, size[0], size[1])
				s.do(c)
				fits(t, c.view(), size[0], size[1])
				golden(t, fmt.Sprintf("%s-%dx%d", s.name, size[0], size[1]), c.view())
			})
		}
	}
}

func TestEmptyScreens(t *testing.T) {
	board, _ := engineOn(t, false)
	for _, size := range append(sizes, [2]int{30, 8}) {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			c := newConsole(t, board, size[0], size[1])
			fits(t, c.view(), size[0], size[1])
			golden(t, fmt.Sprintf("empty-%dx%d", size[0], size[1]), c.view())
		})
	}
}

// The first sessions of a store that was opened empty show up, and the first of them is read.
func TestFirstImportShows(t *testing.T) {
	b := uitest.New("/home/mira/data/cordboard.db")
	c := newConsole(t, b, 80, 24)
	c.m.env.Title = ""
	require.Contains(t, c.view(), "Welcome.")
	b.Put(core.Head{Key: "agent:main:zed", UpdatedAt: 1}, core.SessionDetail{})
	b.Put(core.Head{Key: "agent:main:main", Kind: core.KindMain}, core.SessionDetail{})
	b.Append("agent:main:main", say(1, "hello")...)
	c.live()
	require.NotContains(t, c.view(), "Welcome.")
	require.Equal(t, "agent:main:main", c.m.tree.selected())
	require.Equal(t, "hello", c.lastLine())
	require.Contains(t, splitLines(c.view())[0], " /home/mira/data ")
}

// A store that another process holds keeps the last view and says so calmly.
func TestBusyScreen(t *testing.T) {
	b := uitest.New("/data")
	b.Put(core.Head{Key: "agent:main:main", Kind: core.KindMain, UpdatedAt: noon.UnixMilli()}, core.SessionDetail{})
	c := newConsole(t, b, 80, 24)
	b.Fail(core.Errorf(core.CodeStoreLocked, "/data/cordboard.db is in use by another process"))
	c.press("ctrl+r")
	require.Equal(t, "store busy: /data/cordboard.db is in use by another process · trying again", c.footer())
	require.Contains(t, c.view(), "agent:main:main")
	b.Fail(nil)
	c.elapse(retryFirst)
	require.NotContains(t, c.view(), "store busy")
}

// fits checks that a frame is exactly as large as the window.
func fits(t require.TestingT, frame string, w, h int) {
	lines := splitLines(frame)
	require.Len(t, lines, h)
	for i, l := range lines {
		require.Equal(t, w, ansi.StringWidth(l), "line %d: %q", i, l)
	}
}
