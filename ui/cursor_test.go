package ui

import (
	"fmt"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cordboard/core"
	"cordboard/core/proptest"
)

func result(text string) string {
	return fmt.Sprintf(`{"role":"toolResult","toolName":"cat","content":%s}`, quoted(text))
}

// J and K go from message to message, the arrows from line to line; the cursor comes along.
func TestCursorOnMessages(t *testing.T) {
	s := newShelf(t)
	s.session(mainKey, numbered(1, 100)...)
	c := s.read(mainKey, 80, 24)
	require.Equal(t, "message 100", c.under())
	c.press("K", "K")
	require.Equal(t, "message 98", c.under())
	require.False(t, c.m.trans.follow, "moving up stops following")
	c.press("K", "K", "K", "K", "K", "K")
	require.Equal(t, "message 92", c.under())
	require.Contains(t, c.lines(), "message 92", "it comes onto the screen")
	top := c.lines()[0]
	c.press("J")
	require.Equal(t, "message 93", c.under())
	require.Equal(t, top, c.lines()[0], "what is on the screen need not scroll")
	c.press("pgup")
	require.Contains(t, c.lines(), c.under(), "the cursor stays on the screen")
	c.press("home")
	require.Equal(t, "message 1", c.under())
	c.press("K")
	require.Equal(t, "message 1", c.under())
	for range 99 {
		c.press("J")
	}
	require.Equal(t, "message 100", c.under())
	require.True(t, c.m.trans.follow, "the last message is followed")
	s.say(idOf(mainKey), "message 101")
	c.live()
	require.Equal(t, "message 101", c.under())
}

// Where nothing is left to scroll, the arrows move the cursor.
func TestArrowsGoOnWithTheCursor(t *testing.T) {
	s := newShelf(t)
	s.session(mainKey, numbered(1, 4)...)
	c := s.read(mainKey, 80, 24)
	c.press("up", "up")
	require.Equal(t, "message 2", c.under())
	c.press("up", "up", "up")
	require.Equal(t, "message 1", c.under())
	c.press("down")
	require.Equal(t, "message 2", c.under())
	require.Equal(t, 2, strings.Count(c.view(), cursorStripe), "who and what of one message")
	c.press("tab")
	require.NotContains(t, c.pane(paneTranscript), cursorStripe, "the cursor shows where the keys go")
}

// Enter opens one tool result by itself; t opens and folds all.
func TestEnterOpensOneMessage(t *testing.T) {
	s := newShelf(t)
	s.session(mainKey, result("first\nresult"), result("second\nresult"), result("third\nresult"))
	c := s.read(mainKey, 80, 24)
	c.press("K", "enter")
	require.Contains(t, c.lines(), "second")
	require.NotContains(t, c.lines(), "first")
	require.NotContains(t, c.lines(), "third")
	c.press("enter")
	require.NotContains(t, c.lines(), "second")
	c.press("t")
	require.Contains(t, c.lines(), "first")
	require.Contains(t, c.lines(), "second")
	c.press("enter")
	require.NotContains(t, c.lines(), "second", "one can be folded among open ones")
	require.Contains(t, c.lines(), "first")
	c.press("t", "t")
	require.Contains(t, c.lines(), "second", "t speaks for all")

	s.say(idOf(mainKey), "plain")
	c.live()
	c.press("end", "enter")
	require.NotNil(t, c.m.composing(), "where nothing is folded, enter writes")
}

// What is opened is read from its beginning, at the end of a followed transcript too.
func TestEnterShowsTheBeginning(t *testing.T) {
	s := newShelf(t)
	s.session(mainKey, "before", result(strings.Join(numbered(1, 100), "\n")))
	c := s.read(mainKey, 80, 24)
	c.press("enter")
	require.Contains(t, c.lines(), "message 1")
	require.False(t, c.m.trans.follow)
	c.press("pgdown", "pgdown", "enter")
	require.Contains(t, c.lastLine(), "◂ cat · 1.1 KB · message 1")
	c.press("end", "enter", "end", "enter")
	require.Contains(t, c.lastLine(), "◂ cat", "folded from its end it is on the screen")
	s.say(idOf(mainKey), result("short"))
	c.live()
	c.press("end", "enter")
	require.Equal(t, "short", c.lastLine())
	require.True(t, c.m.trans.follow, "all of it is seen: it is still followed")
}

// A compaction tells all of its summary when it is opened.
func TestEnterOpensACompaction(t *testing.T) {
	s := newShelf(t)
	s.session(mainKey, "before", `{"type":"compaction","tokensBefore":45000,"summary":"what was\nsaid so far"}`)
	c := s.read(mainKey, 80, 24)
	require.Contains(t, c.lastLine(), "compaction · 45k tokens before")
	require.Contains(t, c.pane(paneTranscript), cursorRule)
	c.press("enter")
	require.Equal(t, "said so far", c.lastLine())
}

// Every message with lines is reached from both ends, whatever its height, and is then on the screen.
func TestCursorReachesEveryMessage(t *testing.T) {
	s, round := newShelf(t), 0
	proptest.Check(t, func(rt *rapid.T) {
		round++
		key := fmt.Sprintf("agent:main:%d", round)
		heights := rapid.SliceOfN(rapid.IntRange(1, 60), 1, 30).Draw(rt, "heights")
		said := make([]string, len(heights))
		for i, h := range heights {
			said[i] = fmt.Sprintf("start %d", i) + strings.Repeat("\nline", h-1)
		}
		s.session(key, said...)
		c := s.read(key, 80, rapid.IntRange(10, 40).Draw(rt, "h"))
		for i := len(said) - 1; i > 0; i-- {
			require.Equal(rt, said[i], c.under())
			c.press("K")
			require.Contains(rt, c.lines(), fmt.Sprintf("start %d", i-1))
		}
		for i := range said {
			require.Equal(rt, said[i], c.under())
			c.press("J")
		}
	})
}

// An inter-session message leads to what was said on the other side at that time, and back.
func TestCrossingToTheOtherSide(t *testing.T) {
	s := newShelf(t)
	s.session("agent:ops:main", numbered(1, 700)...)
	s.say(idOf("agent:ops:main"), `{"role":"assistant","content":[{"type":"toolCall","name":"sessions_send","arguments":{"sessionKey":"agent:main:main","message":"what is the state?"}}]}`)
	s.session(mainKey, "hello",
		`{"role":"user","content":"what is the state?","provenance":{"kind":"inter_session","sourceSessionKey":"agent:ops:main","sourceTool":"sessions_send"}}`, "all is well")
	s.say(idOf("agent:ops:main"), numbered(701, 700)...)
	c := s.read(mainKey, 160, 45)
	c.press("K", "enter")
	require.Equal(t, "agent:ops:main", c.m.tree.selected())
	require.Equal(t, core.RoleAssistant, c.m.trans.current().Role)
	require.Contains(t, string(c.m.trans.current().Raw), "sessions_send")
	require.Contains(t, c.view(), "message 701")

	c.press("c") // the call names the session it wrote to
	require.Equal(t, mainKey, c.m.tree.selected())
	require.Equal(t, "what is the state?", c.under())
	c.press("backspace", "backspace")
	require.Equal(t, mainKey, c.m.tree.selected())
	require.Equal(t, "what is the state?", c.under())
	c.press("backspace")
	require.Equal(t, "nothing to go back to: no jump was made", c.footer())
	c.press("J", "c")
	require.Equal(t, "this message names no other session", c.footer())
}

// From a tool's answer one gets to what the other session said for it.
func TestCrossingFromAnAnswer(t *testing.T) {
	s := newShelf(t)
	s.session("agent:ops:main", "earlier", `{"role":"user","content":"how is it?","provenance":{"kind":"inter_session","sourceSessionKey":"agent:main:main"}}`, "it is well")
	s.session(mainKey, result(`{"status":"ok","sessionKey":"agent:ops:main","reply":"it is well"}`))
	s.say(idOf("agent:ops:main"), `{"role":"user","content":"again?","provenance":{"kind":"inter_session","sourceSessionKey":"agent:main:main"}}`)
	c := s.read(mainKey, 160, 45)
	c.press("c")
	require.Equal(t, "agent:ops:main", c.m.tree.selected())
	require.Equal(t, "it is well", c.under())
}

// The other side may be gone.
func TestCrossingToNobody(t *testing.T) {
	s := newShelf(t)
	s.session(mainKey, `{"role":"user","content":"hi","provenance":{"kind":"inter_session","sourceSessionKey":"agent:ops:gone"}}`)
	c := s.read(mainKey, 80, 24)
	c.press("enter")
	require.Contains(t, c.footer(), "agent:ops:gone")
	require.Equal(t, "hi", c.under())
}

// The message for a time is the one that a look at every message finds.
func TestAtTime(t *testing.T) {
	s, round := newShelf(t), 0
	proptest.Check(t, func(rt *rapid.T) {
		round++
		key := fmt.Sprintf("agent:main:%d", round)
		gaps := rapid.SliceOfN(rapid.Int64Range(0, 3), 1, 40).Draw(rt, "gaps")
		s.session(key)
		at, times := int64(1000), []int64{}
		s.update(func(tx core.Tx) error {
			for _, gap := range gaps {
				at += gap
				times = append(times, at)
				if _, _, err := tx.Append(idOf(key), core.Message{Role: core.RoleUser, At: at, Raw: []byte(`{"role":"user"}`)}); err != nil {
					return err
				}
			}
			return nil
		})
		for ask := int64(998); ask < at+3; ask++ {
			last, first := 1, len(times)
			for i, each := range times {
				if each <= ask {
					last = i + 1
				}
				if each >= ask && first == len(times) {
					first = i + 1
				}
			}
			to, err := atTime(t.Context(), s.board, key, ask, true)
			require.NoError(rt, err)
			require.EqualValues(rt, last, to.seq)
			to, err = atTime(t.Context(), s.board, key, ask, false)
			require.NoError(rt, err)
			require.EqualValues(rt, first, to.seq)
		}
	})
}

// Keys that come in one read mean what they mean one by one.
func TestKeysAtOnce(t *testing.T) {
	s := newShelf(t)
	s.session(mainKey, numbered(1, 100)...)
	c := s.read(mainKey, 80, 24)
	b := c.withOutside()
	for keys, want := range map[string]string{"KKy": "message 98", "Gy": "message 100", "KKJy": "message 99"} {
		c.press("home", "end")
		c.together(keys)
		require.Equal(t, want, b.taken(t), keys)
	}
}

// A click chooses the message, and the terminal's own cursor stands where the selection is.
func TestPointing(t *testing.T) {
	s := newShelf(t)
	s.session(mainKey, append(numbered(1, 30), "with\n\n```sh\nls\n```\n\nand\n\n```sh\npwd\n```")...)
	s.session("agent:main:other", "message 7 too")
	c := s.read(mainKey, 120, 30)
	c.withOutside()
	lineAt := func() string {
		c.m.placeCursor()
		row, _ := c.m.Cursor()
		return splitLines(c.view())[row-1]
	}
	require.Contains(t, lineAt(), cursorStripe+" 10:31:00  agent")
	c.press("Y", "down")
	require.Contains(t, lineAt(), "pwd")
	c.press("esc", "home", "J", "J")
	require.Contains(t, lineAt(), cursorStripe+" 10:03:00  agent")
	c.find("message 7")
	require.Contains(t, lineAt(), cursorStripe+" 10:07:00  agent")
	c.press("esc", "f", "down")
	require.Contains(t, lineAt(), "agent")
	c.press("esc", "x", "down")
	require.Contains(t, lineAt(), "this message in the editor")
	c.press("esc", "ctrl+f")
	require.Contains(t, lineAt(), "/ ")
	c.typed("message 7")
	c.press("down")
	require.Contains(t, lineAt(), "main:main")
	c.press("esc", "g", "o")
	require.Contains(t, lineAt(), "current")
	c.press("esc")

	c.m.mouse = true
	for y, l := range splitLines(c.view()) {
		if strings.Contains(l, "message 9 ") {
			c.send(tea.MouseMsg{X: c.m.lay.panes[paneTranscript].x + 5, Y: y, Button: tea.MouseButtonLeft, Action: tea.MouseActionPress})
		}
	}
	require.Equal(t, "message 9", c.under())
}
