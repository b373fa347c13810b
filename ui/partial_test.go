package ui

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/teatest"
	"github.com/muesli/termenv"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cordboard/core"
	"cordboard/core/config"
	"cordboard/core/engine"
	"cordboard/core/proptest"
	"cordboard/store/bolt"
	"cordboard/themes"
	"cordboard/ui/uitest"
)

// runs lets a session of a board run, ended lets it end.
func runs(b *uitest.Board, key string) {
	b.Update(key, func(h *core.Head) { h.Run = core.RunRunning })
	b.PutRun(core.Run{ID: "run-" + key, SessionKey: key, State: core.RunRunning})
}

func ended(b *uitest.Board, key string) {
	b.PutRun(core.Run{ID: "run-" + key, SessionKey: key, State: core.RunEnded, Outcome: core.OutcomeOK})
	b.Update(key, func(h *core.Head) { h.Run = "" })
}

// A streamed answer appears as it comes and becomes the message; its row says so meanwhile.
func TestAStreamedAnswerBecomesTheMessage(t *testing.T) {
	b := talk(3)
	c := readingOf(t, b, 160, 24)
	require.True(t, b.Focused(mainKey))
	runs(b, mainKey)
	c.live()
	require.Contains(t, c.pane(paneTree), "● main")
	require.NotContains(t, c.pane(paneTranscript), "streaming")

	b.Think(mainKey, "what do they want?")
	c.live()
	require.Contains(t, c.pane(paneTranscript), "12:00:00  agent ● streaming")
	require.Contains(t, c.lastLine(), "▸ thinking · 18 B · what do they want?")
	require.Contains(t, c.pane(paneTree), "running", "it has said nothing yet")

	b.Say(mainKey, "First **bold** and `co")
	c.live()
	require.Equal(t, "First **bold** and `co", c.lastLine())
	require.Contains(t, c.pane(paneTree), "◎ main")
	require.Contains(t, c.pane(paneTree), "streaming")
	b.Say(mainKey, "de`.\n\n```go\nfunc main() {")
	c.live()
	require.Contains(t, strings.Join(c.lines(), "\n"), "First **bold** and `code`.")
	require.Contains(t, c.pane(paneTranscript), "func main() {")
	require.Contains(t, c.view(), " following ")

	m := say(4, "First **bold** and `code`.\n\n```go\nfunc main() {")[0]
	m.Raw = fmt.Appendf(nil, `{"role":"assistant","model":"mock-1","content":[{"type":"thinking","thinking":"what do they want?"},{"type":"text","text":%q}]}`, "First **bold** and `code`.\n\n```go\nfunc main() {")
	before := c.lines()
	b.Append(mainKey, m)
	ended(b, mainKey)
	c.live()
	require.NotContains(t, c.view(), "streaming")
	require.Nil(t, c.m.trans.partial)
	after := c.lines()
	for i, line := range before {
		if !strings.Contains(line, "● streaming") {
			require.Equal(t, line, after[i], "no line jumps")
		}
	}
	require.Contains(t, strings.Join(after, "\n"), "12:04:00  agent · mock-1")
}

// Reading elsewhere never jumps: neither while a reply is written, nor when it becomes the message. New are messages, the one that was
// seen as it came is none.
func TestReadingStaysWhereItIsWhileAReplyIsWritten(t *testing.T) {
	b := talk(60)
	c := readingOf(t, b, 80, 24)
	runs(b, mainKey)
	c.live()
	c.press("pgup", "pgup")
	was := c.lines()
	for i := range 40 {
		b.Say(mainKey, fmt.Sprintf("line %d\n\n", i))
		c.live()
		require.Equal(t, was, c.lines())
		require.NotContains(t, c.view(), "▼")
	}
	b.Append(mainKey, say(61, "the reply")...)
	c.live()
	require.Equal(t, was, c.lines())
	require.Contains(t, c.view(), "▼ 1 new")
	b.Say(mainKey, "again")
	c.live()
	require.Contains(t, c.view(), "▼ 1 new")
	c.press("G")
	require.Equal(t, "again", c.lastLine())
	require.Contains(t, c.view(), " following ")
}

// Who reads in the middle of a reply keeps the line at the top, through all that is added and when it becomes the message.
func TestReadingInsideAReplyThatIsWritten(t *testing.T) {
	b := talk(3)
	c := readingOf(t, b, 80, 24)
	runs(b, mainKey)
	text := strings.Join(numbered(1, 80), "\n\n")
	b.Say(mainKey, text)
	c.live()
	require.Equal(t, "message 80", c.lastLine())
	c.press("pgup", "pgup", "up")
	was := c.lines()
	require.Contains(t, c.view(), "G follows")
	b.Say(mainKey, "\n\nand more")
	c.live()
	require.Equal(t, was, c.lines())
	b.Append(mainKey, say(4, text+"\n\nand more")...)
	c.live()
	require.Equal(t, was, c.lines())
	require.NotContains(t, c.view(), "new", "it was on the screen while it was written")
	c.press("end")
	require.Equal(t, "and more", c.lastLine())
}

// After a tool call the reply begins anew: what was said before it is in the transcript then, and nothing is seen twice or vanishes.
func TestAReplyGoesOnAfterAToolCall(t *testing.T) {
	b := talk(3)
	c := readingOf(t, b, 80, 24)
	runs(b, mainKey)
	b.Say(mainKey, "let me look")
	c.live()
	c.send(batchMsg{stream: c.m.link.stream, batch: core.Batch{Deltas: []core.Delta{{Session: mainKey, Run: "run-" + mainKey, After: 5, Text: "found"}}}})
	require.Equal(t, "let me look", c.lastLine(), "its message is on its way")
	b.Append(mainKey,
		core.Message{Role: core.RoleAssistant, Raw: []byte(`{"role":"assistant","content":[{"type":"text","text":"let me look"},{"type":"toolCall","name":"sessions_list","arguments":{}}]}`)},
		core.Message{Role: core.RoleToolResult, Raw: []byte(`{"role":"toolResult","toolName":"sessions_list","content":[{"type":"text","text":"[]"}]}`)})
	b.Say(mainKey, "found")
	c.live()
	require.Equal(t, "found", c.lastLine())
	require.Equal(t, 1, strings.Count(c.view(), "let me look"))
	require.Equal(t, 1, strings.Count(c.view(), "found"))
	require.Equal(t, 1, strings.Count(c.view(), "● streaming"))
}

// A session that is turned to in the middle of a reply shows all of it; another's text is not mixed in.
func TestTurningToAReplyInTheMiddle(t *testing.T) {
	b := talk(3)
	b.Put(core.Head{Key: "agent:main:other", Run: core.RunRunning}, core.SessionDetail{})
	b.Say("agent:main:other", "said before anybody listened")
	c := newConsole(t, b, 160, 24)
	require.True(t, b.Focused("agent:main:other"), "its row is on the screen")
	c.live()
	require.Contains(t, c.pane(paneTree), "streaming")
	require.NotContains(t, c.pane(paneTranscript), "said before")
	c.open("agent:main:other")
	require.Equal(t, "said before anybody listened", c.lastLine())
	b.Say("agent:main:other", ", and after")
	c.live()
	require.Equal(t, "said before anybody listened, and after", c.lastLine())
	c.press("enter", "y") // the message under the cursor is what was said so far
	require.Equal(t, "said before anybody listened, and after", saidUnder(c))
}

func saidUnder(c *console) string {
	text := ""
	for b := range core.Blocks(c.m.trans.current().Raw) {
		text += b.Text
	}
	return text
}

// Only what is on the screen is listened to: rows that scroll away are let go.
func TestFocusFollowsTheScreen(t *testing.T) {
	b := fleetOf(60)
	for i := range 60 {
		b.Update(fmt.Sprintf("agent:main:s%02d", i), func(h *core.Head) { h.Run = core.RunRunning })
	}
	c := newConsole(t, b, 80, 24)
	require.True(t, b.Focused("agent:main:s03"))
	require.False(t, b.Focused("agent:main:s59"))
	c.press("end")
	require.True(t, b.Focused("agent:main:s59"))
	require.False(t, b.Focused("agent:main:s03"))
	c.m.w = 60
	c.press("enter") // the transcript takes the screen
	require.False(t, b.Focused("agent:main:s58"))
	require.True(t, b.Focused("agent:main:s59"))
}

// What twenty runs say costs a frame only where it is seen: the row that begins to stream, and the transcript that is open.
func TestStreamsDirtyOnlyWhatShowsThem(t *testing.T) {
	b := fleetOf(20)
	var deltas []core.Delta
	for i := range 20 {
		key := fmt.Sprintf("agent:main:s%02d", i)
		b.Update(key, func(h *core.Head) { h.Run = core.RunRunning })
		deltas = append(deltas, core.Delta{Session: key, Run: "r", Offset: 0, Text: "word "})
	}
	c := newConsole(t, b, 160, 50)
	c.open("agent:main:s07")
	_ = c.view()
	tree := c.m.boxes[paneTree]
	hear := func() {
		c.send(batchMsg{stream: c.m.link.stream, batch: core.Batch{Deltas: deltas}})
		for i := range deltas {
			deltas[i].Offset += len("word ")
		}
	}
	hear()
	require.NotSame(t, &tree[0], &c.m.boxes[paneTree][0], "the rows say that they stream")
	_ = c.view()
	tree, trans, insp := c.m.boxes[paneTree], c.m.boxes[paneTranscript], c.m.boxes[paneInspector]
	hear()
	require.Same(t, &tree[0], &c.m.boxes[paneTree][0])
	require.Same(t, &insp[0], &c.m.boxes[paneInspector][0])
	require.NotSame(t, &trans[0], &c.m.boxes[paneTranscript][0])
	require.Equal(t, "word word", c.lastLine())
	_ = c.view()
	deltas = append(deltas[:7:7], deltas[8:]...)
	hear()
	require.False(t, c.m.dirty, "nothing of it is on the screen")
}

// However what is said comes and is looked at, the console ends with what one shows that was opened afterwards.
func TestAnyStreamEndsAsTheTranscript(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		b := talk(30)
		c := readingOf(t, b, 80, 24)
		text, n := "", 31
		for _, do := range rapid.SliceOfN(rapid.SampledFrom([]string{"say", "say", "think", "live", "live", "up", "end", "away", "message", "gap"}), 0, 40).Draw(t, "do") {
			switch do {
			case "say":
				piece := rapid.SampledFrom([]string{"word ", "**bold", "** ", "\n\n", "- item\n", "```\ncode\n", "| a | b |\n|--|--|\n", "会議"}).Draw(t, "piece")
				b.Say(mainKey, piece)
				text += piece
			case "think":
				b.Think(mainKey, "hm ")
			case "up":
				c.press("pgup")
			case "end":
				c.press("G")
			case "away":
				c.m.trans.show("", "")
				c.send(nil)
			case "message":
				b.Append(mainKey, say(n, text+".")...)
				text, n = "", n+1
			case "gap":
				b.Gap()
			}
			if do == "live" && b.Waiting() {
				c.live()
			}
		}
		b.Append(mainKey, say(n, text+".")...)
		c.live()
		c.press("G")
		fresh := readingOf(t, b, 80, 24)
		require.Equal(t, fresh.lines(), c.lines())
		require.Nil(t, c.m.trans.partial)
	})
}

// Screens of a reply that is written.
func TestStreamingScreens(t *testing.T) {
	for _, size := range [][2]int{{160, 45}, {80, 24}} {
		name := fmt.Sprintf("streaming-%dx%d", size[0], size[1])
		t.Run(name, func(t *testing.T) {
			b := talk(4)
			b.Put(core.Head{Key: "agent:main:waits", Title: "asks", Run: core.RunRunning, Flags: core.FlagAsks}, core.SessionDetail{})
			b.Put(core.Head{Key: "agent:main:held", Run: core.RunQueued, Flags: core.FlagHeld}, core.SessionDetail{})
			b.Put(core.Head{Key: "agent:main:lost", Flags: core.FlagUndelivered}, core.SessionDetail{})
			b.Put(core.Head{Key: "agent:ops:main", Kind: core.KindMain, Run: core.RunRunning}, core.SessionDetail{})
			c := readingOf(t, b, size[0], size[1])
			c.dress(themes.NoColour, termenv.ANSI)
			runs(b, mainKey)
			b.Say("agent:ops:main", "elsewhere")
			b.Think(mainKey, "They want the runbook of the upgrade.\nIt is long.")
			b.Say(mainKey, "## The upgrade\n\n1. Stop the writers\n2. Run it:\n\n```sh\npg_upgrade --link \\\n  --old-bindir /usr/lib/postgresql/17/bin")
			c.live()
			fits(t, c.view(), size[0], size[1])
			golden(t, name, sgr.ReplaceAllString(c.view(), ""))
		})
	}
}

// talkingEngine is the real engine on a new store, with agents that say what they are given until it is closed.
func talkingEngine(t *testing.T) (core.Board, chan string) {
	t.Helper()
	store, err := bolt.Open(bolt.Options{Dir: t.TempDir()})
	require.NoError(t, err)
	say := make(chan string)
	e, err := engine.New(store, config.Default(), engine.Options{Version: "test", Owner: "this process", Runtimes: map[string]core.Runtime{"echo": talker(say)}})
	require.NoError(t, err)
	require.NoError(t, e.Start(t.Context()))
	t.Cleanup(func() {
		e.Stop(context.Background())
		require.NoError(t, store.Close())
	})
	sessionsIn(t, store, core.Session{Key: mainKey, SessionID: "main", UpdatedAt: 1})
	board, err := e.Board(t.Context(), core.Operator)
	require.NoError(t, err)
	return board, say
}

type talker chan string

func (r talker) Turn(_ context.Context, _ core.Turn, out core.Sink) (core.TurnResult, error) {
	for text := range r {
		if err := out.Text(text); err != nil {
			return core.TurnResult{}, err
		}
	}
	return core.TurnResult{Model: "test/mock"}, nil
}

// In a whole program over the real engine with echo agents: what an agent says is on the screen before it ends, and is the message after.
func TestFlowOfAStream(t *testing.T) {
	board, say := talkingEngine(t)
	m := New(Env{Board: board, Theme: styles(t, themes.Dark, termenv.Ascii), Title: "~/data", Now: time.Now, Zone: time.UTC})
	tm := teatest.NewTestModel(t, m, teatest.WithInitialTermSize(120, 30))
	sees(t, tm.Output(), mainKey)
	_, err := board.Do(t.Context(), core.Command{Send: &core.Send{Session: mainKey, Message: "hello"}})
	require.NoError(t, err)
	say <- "the first half"
	sees(t, tm.Output(), "● streaming")
	say <- " and the second"
	sees(t, tm.Output(), "and the second")
	close(say)
	sees(t, tm.Output(), "agent · mock")
	tm.Send(keyMsg("q"))
	final := tm.FinalModel(t, teatest.WithFinalTimeout(10*time.Second)).(*Model)
	require.NoError(t, final.Close())
	require.Contains(t, final.View(), "the first half and the second")
	require.NotContains(t, final.View(), "streaming")
}

// A row says how many runs wait in its session's line; that is read with the fleet and goes on with what is told.
func TestRowsTellOfTheirLine(t *testing.T) {
	b := fleetOf(3)
	queue := func(id, key string, state core.RunState) {
		b.PutRun(core.Run{ID: id, SessionKey: key, State: state})
	}
	queue("q1", "agent:main:s01", core.RunQueued)
	queue("q2", "agent:main:s01", core.RunQueued)
	queue("old", "agent:main:s02", core.RunEnded)
	b.Update("agent:main:s01", func(h *core.Head) { h.Run = core.RunQueued })
	c := newConsole(t, b, 160, 24)
	require.Contains(t, c.pane(paneTree), "queued #2")
	queue("q1", "agent:main:s01", core.RunRunning)
	b.Update("agent:main:s01", func(h *core.Head) { h.Run = core.RunRunning })
	c.live()
	require.Contains(t, c.pane(paneTree), "running +1")
	queue("q2", "agent:main:s01", core.RunEnded)
	queue("q3", "agent:main:s02", core.RunQueued)
	b.Update("agent:main:s02", func(h *core.Head) { h.Run = core.RunQueued })
	c.live()
	require.NotContains(t, c.pane(paneTree), "+1")
	require.Contains(t, c.pane(paneTree), "queued #1")

	// what was told after the page was read counts, not the page
	c.m.lineup.heard = map[string]core.Rev{"q2": 9, "q3": 9}
	c.send(lineupMsg{c.m.lineup.number, core.RecordPage{At: core.Cursor{Rev: 1}, Runs: []core.Run{
		{ID: "q2", SessionKey: "agent:main:s01", State: core.RunQueued}, {ID: "q9", SessionKey: "agent:main:s00", State: core.RunQueued},
	}}, nil})
	require.Equal(t, map[string]int{"agent:main:s02": 1, "agent:main:s00": 1}, c.m.lineup.waiting)
	c.run(c.m.load())
	require.Equal(t, map[string]int{"agent:main:s02": 1}, c.m.lineup.waiting)
}
