package ui

import (
	"fmt"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/muesli/termenv"
	"github.com/stretchr/testify/require"

	"cordboard/core"
	"cordboard/themes"
	"cordboard/ui/uitest"
)

// crowd is 10,000 sessions, every tenth spawned by another, one of them with 100,000 messages.
func crowd(b tester) *uitest.Board {
	b.Helper()
	board := uitest.New("/data")
	for i := range 10_000 {
		h := core.Head{
			Key: fmt.Sprintf("agent:a%d:telegram:group:-100%05d", i%7, i), UpdatedAt: noon.Add(-time.Duration(i) * time.Second).UnixMilli(),
			Kind: core.KindGroup, Channel: "telegram", Title: fmt.Sprintf("group %d", i), Tokens: int64(i), ContextTokens: 20_000,
			Flags: core.FlagTokensKnown | core.FlagContextKnown | core.FlagMirrored,
		}
		if i%10 == 9 {
			h.Parent = fmt.Sprintf("agent:a%d:telegram:group:-100%05d", (i-7)%7, i-7)
		}
		board.Put(h, core.SessionDetail{})
	}
	key := "agent:main:main"
	board.Put(core.Head{Key: key, Kind: core.KindMain, UpdatedAt: noon.UnixMilli()}, core.SessionDetail{})
	list := make([]core.Message, 0, 100_000)
	for i := range 100_000 {
		m := core.Message{Role: core.RoleAssistant, At: noon.UnixMilli() + int64(i)*1000}
		m.Raw = fmt.Appendf(nil, `{"role":"assistant","model":"mock-1","content":[{"type":"text","text":"message %d with a text that is long enough to be wrapped once or twice, as most are; 会議は明日です"},{"type":"toolCall","name":"sessions_list","arguments":{"limit":%d}}],"usage":{"input":12000,"output":40}}`, i, i)
		list = append(list, m)
	}
	board.Append(key, list...)
	return board
}

func crowded(b *testing.B) *console {
	c := newConsole(b, crowd(b), 160, 50)
	c.dress(themes.Dark, termenv.TrueColor)
	require.Equal(b, 10_001, c.m.shownSessions())
	require.Len(b, c.m.trans.lines, 46)
	return c
}

// BenchmarkView is what a frame costs: clean when nothing changed since the last, dirty when every pane was, key when a key moved the
// tree's cursor, scroll when one moved the transcript.
func BenchmarkView(b *testing.B) {
	c := crowded(b)
	b.Run("clean", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_ = c.m.View()
		}
	})
	b.Run("dirty", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			c.m.tree.dirty, c.m.trans.dirty, c.m.insp.dirty, c.m.barsDirty = true, true, true, true
			c.m.settle()
			_ = c.m.View()
		}
	})
	press := func(pane pane, down, up string) func(*testing.B) {
		return func(b *testing.B) {
			b.ReportAllocs()
			c.m.focus = pane
			c.press(down)
			for i := 0; b.Loop(); i++ {
				key := down
				if i/200%2 == 1 {
					key = up
				}
				c.m.Update(keyMsg(key))
				_ = c.m.View()
			}
		}
	}
	b.Run("key", press(paneTree, "down", "up"))
	c.press("home")
	c.open("agent:main:main")
	b.Run("scroll", press(paneTranscript, "pgup", "pgdown"))
}

// BenchmarkChildren is a dirty frame with a parent of sixty sub-agents that all run.
func BenchmarkChildren(b *testing.B) {
	board := crowd(b)
	for i := range 60 {
		board.Put(core.Head{
			Key: fmt.Sprintf("agent:main:subagent:%04d", i), Kind: core.KindOther, UpdatedAt: noon.UnixMilli(), Parent: "agent:main:main", Run: core.RunRunning,
			Title: fmt.Sprintf("task %d", i),
		}, core.SessionDetail{})
	}
	c := newConsole(b, board, 160, 50)
	c.dress(themes.Dark, termenv.TrueColor)
	c.open("agent:main:main")
	require.Contains(b, c.view(), "60 children")
	b.ReportAllocs()
	for b.Loop() {
		c.m.tree.dirty, c.m.trans.dirty, c.m.insp.dirty, c.m.barsDirty = true, true, true, true
		c.m.settle()
		_ = c.m.View()
	}
}

// BenchmarkUpdate is what a change costs before it is drawn.
func BenchmarkUpdate(b *testing.B) {
	c := crowded(b)
	b.Run("row", func(b *testing.B) {
		b.ReportAllocs()
		h := *c.m.fleet.heads["agent:main:main"]
		for b.Loop() {
			h.Rev++
			h.Tokens++
			head := h
			c.m.Update(batchMsg{stream: c.m.link.stream, batch: core.Batch{Changes: []core.Change{{Kind: core.ChangeSession, ID: h.Key, Head: &head}}}})
		}
	})
	c.open("agent:a1:telegram:group:-10000001")
	c.press("home")
	c.open(agentNode("a1"))
	b.Run("fold", func(b *testing.B) { // an agent of 1,400 sessions among 10,000 rows
		b.ReportAllocs()
		for b.Loop() {
			c.m.Update(keyMsg(" "))
		}
	})
	b.Run("resize", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			c.m.Update(tea.WindowSizeMsg{Width: 150 + i%10, Height: 50})
		}
	})
}

// BenchmarkBeside is the work that is done off the loop: a forest of 10,000 sessions, and a filter over them.
func BenchmarkBeside(b *testing.B) {
	c := crowded(b)
	b.Run("build", func(b *testing.B) {
		in := c.m.fleet.snapshot()
		for b.Loop() {
			build(in)
		}
	})
	b.Run("filter", func(b *testing.B) {
		for b.Loop() {
			ask(question{query: "tele42"}, c.m.tree.forest.list, true)
		}
	})
}

// A clean frame allocates nothing.
func TestCleanViewAllocatesNothing(t *testing.T) {
	c := newConsole(t, talk(500), 160, 50)
	require.Zero(t, testing.AllocsPerRun(100, func() { _ = c.m.View() }))
}

// What a key costs does not grow with the transcript: the same messages are drawn at 300 and at 20,000 (R165).
func TestWorkDoesNotGrowWithTheTranscript(t *testing.T) {
	drawn := func(n int) int {
		c := readingOf(t, talk(n), 160, 50)
		c.press("up", "pgup", "down")
		return len(c.m.trans.items.all)
	}
	require.Equal(t, drawn(300), drawn(20_000))
}
