package ui

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"cordboard/core"
	"cordboard/ui/uitest"
)

func TestAuditAndUsageScreens(t *testing.T) {
	standScreens(t, func() core.Board { return floor() }, map[string]func(*console){
		"audit":         func(c *console) { c.press("A") },
		"audit-row":     func(c *console) { c.press("A", "end", "i") },
		"usage":         func(c *console) { c.press("g", "u") },
		"usage-session": func(c *console) { c.press("g", "u", "tab") },
		"usage-day":     func(c *console) { c.press("g", "u", "shift+tab", "i") },
	})
}

// What is done here shows in the audit, entries of one revision each by itself; a filter narrows it, and what is in view goes to a file.
func TestAudit(t *testing.T) {
	b := floor()
	c := newConsole(t, b, 160, 45)
	out := c.withOutside()
	c.press("A")
	require.Equal(t, []string{"15", "12", "12.2", "9", "3"}, c.m.stage().base().rows.ids)
	c.press("down")
	b.AddAudit(core.AuditEntry{Rev: 40, At: at(0), Who: "operator", Verb: "release", Target: "all sessions", Result: "ok"})
	b.Update("agent:ops:main", func(h *core.Head) { h.Flags |= core.FlagHeld })
	c.elapse(recordsGap)
	c.live()
	require.Contains(t, c.row("release"), "all sessions")
	require.Equal(t, "12", c.rowAtCursor(), "what is new does not move the cursor")
	c.press("/")
	c.typed("wren refused")
	c.press("enter")
	require.Equal(t, []string{"12.2"}, c.m.stage().base().rows.ids)
	c.press("enter")
	require.Equal(t, "agent:main:main", c.m.tree.selected())
	c.press("A", "E")
	require.Contains(t, c.told(), "audit.jsonl · 1 row")
	text, err := os.ReadFile(filepath.Join(out.dir, "audit.jsonl"))
	require.NoError(t, err)
	require.JSONEq(t, `{"rev":12,"at":1796032800000,"who":"client wren","verb":"delete","target":"agent:main:main","result":"refused: a main session is never deleted"}`, string(text))
}

// Older entries are read as the cursor comes to the end.
func TestAuditReadsOn(t *testing.T) {
	b := uitest.New("/data")
	for i := range 1200 {
		b.AddAudit(core.AuditEntry{Rev: core.Rev(i + 1), Verb: fmt.Sprintf("verb%d", i), Result: "ok"})
	}
	c := newConsole(t, b, 80, 24)
	c.press("A")
	require.Len(t, c.m.stage().base().rows.ids, 500)
	for _, want := range []int{1000, 1200, 1200} {
		c.elapse(recordsGap)
		c.press("end")
		require.Len(t, c.m.stage().base().rows.ids, want)
	}
	require.Contains(t, c.view(), "verb0 ")
}

// Every tab adds up to the same, and sessions are told by what they hold.
func TestUsageAddsUp(t *testing.T) {
	c := newConsole(t, floor(), 160, 45)
	c.press("g", "u")
	v := c.m.stand.usage
	for range 2 {
		for by := range usageBys {
			require.Equal(t, by, v.by)
			switch by {
			case bySessionUse:
				require.Len(t, v.rows.ids, 8)
				require.Equal(t, "agent:research:cron:weekly", v.rows.ids[0], "the largest first")
			default:
				require.Equal(t, "1.5M tokens · 106 runs · $3.85", v.foot())
			}
			c.press("tab")
		}
	}
	require.Contains(t, c.row("ops "), "–", "a cost that is not known is not 0")
	c.press("shift+tab")
	require.Equal(t, []string{"2026-11-30", "2026-11-29", "2026-11-28"}, v.rows.ids)
	require.Contains(t, splitLines(c.view())[1], "Usage agent session model [day]")
}
