package ui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cordboard/core"
	"cordboard/core/proptest"
)

// mixed is a transcript of every voice, with failures in it.
func mixed(s *shelf) {
	var said []string
	for i := range 300 {
		switch i % 6 {
		case 0:
			said = append(said, fmt.Sprintf(`{"role":"user","content":"ask %d"}`, i))
		case 1:
			said = append(said, fmt.Sprintf(`{"role":"assistant","content":"answer %d"}`, i))
		case 2:
			said = append(said, fmt.Sprintf(`{"role":"toolResult","toolName":"exec","isError":%t,"content":"result %d"}`, i%60 == 2, i))
		case 3:
			said = append(said, fmt.Sprintf(`{"role":"assistant","content":"","stopReason":"error","errorMessage":"failure %d"}`, i))
		case 4:
			said = append(said, fmt.Sprintf(`{"role":"system","content":"rule %d"}`, i))
		case 5:
			said = append(said, fmt.Sprintf(`{"type":"label","label":"event %d"}`, i))
		}
	}
	s.session(mainKey, said...)
}

func TestReadFilters(t *testing.T) {
	s := newShelf(t)
	s.at = noon.Add(-5 * time.Hour)
	mixed(s)
	for _, c := range []struct {
		name  string
		keys  []string
		note  string
		shows []string
		hides []string
	}{
		{"all", nil, "", []string{"rule 298", "event 299", "failure 297", "result 296"}, nil},
		{"no user", []string{" "}, "shows no user", []string{"rule 298", "answer 295"}, []string{"ask"}},
		{"only agent", []string{"down", "enter"}, "shows only agent", []string{"failure 297", "answer 295"}, []string{"ask", "rule", "event", "result"}},
		{"no events, no tools", []string{"down", "down", " ", "down", "down", " "}, "shows no tools · no events", []string{"rule 298", "ask 294"}, []string{"label", "result"}},
		{"errors", []string{"down", "down", "down", "down", "down", " "}, "shows errors", []string{"failure 297", "✗ exec error"}, []string{"ask", "answer", "rule", "event", "result 296"}},
		{"nobody is all", []string{"enter", " "}, "", []string{"rule 298"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			con := s.read(mainKey, 80, 60)
			if c.keys != nil {
				con.press("f")
				con.press(c.keys...)
				con.press("esc")
			}
			text := con.pane(paneTranscript)
			require.Contains(t, splitLines(text)[0], c.note)
			for _, each := range c.shows {
				require.Contains(t, text, each)
			}
			for _, each := range c.hides {
				require.NotContains(t, text, each)
			}
			require.True(t, con.m.trans.follow)
			if c.note != "" {
				con.press("F")
				require.Contains(t, con.pane(paneTranscript), "rule 298")
				con.press("F")
				require.Equal(t, "nothing is left out of this transcript", con.footer())
			}
		})
	}
}

// A filter by time leaves what is older out, and new messages come in through it.
func TestReadFilterByTime(t *testing.T) {
	s := newShelf(t)
	s.at = noon.Add(-3 * time.Hour)
	s.session(mainKey, numbered(1, 170)...)
	c := s.read(mainKey, 80, 24)
	c.press("f", "end", "up", "up", "up", "up", " ", "esc")
	require.Contains(t, c.view(), "shows last 1h")
	c.press("home")
	require.Contains(t, c.lines(), "message 120")
	require.NotContains(t, c.lines(), "message 119")
	c.press("end")
	s.say(idOf(mainKey), "a new one", `{"role":"user","content":"from me"}`)
	c.live()
	require.Equal(t, "from me", c.lastLine())
}

// Choosing a filter keeps the reader where he is.
func TestReadFilterKeepsThePlace(t *testing.T) {
	s := newShelf(t)
	mixed(s)
	c := s.read(mainKey, 80, 24)
	for range 60 {
		c.press("K")
	}
	for c.m.trans.current().Role != core.RoleAssistant {
		c.press("K")
	}
	at := c.m.trans.cursor.at
	c.press("f", "down", "enter", "esc")
	require.Equal(t, at, c.m.trans.cursor.at)
	c.press("F")
	require.Equal(t, at, c.m.trans.cursor.at)
}

// The search finds what the filter shows, and counts no more than that.
func TestFindThroughAFilter(t *testing.T) {
	s := newShelf(t)
	mixed(s)
	c := s.read(mainKey, 80, 24)
	c.find("8")
	all := c.m.find.hits.len()
	c.press("f", "down", "enter", "esc") // only the agent
	require.Less(t, c.m.find.hits.len(), all)
	n := c.m.find.hits.len()
	c.press("home")
	for range n + 2 {
		require.Equal(t, core.RoleAssistant, c.m.trans.current().Role)
		c.press("n")
		require.True(t, strings.Contains(string(c.m.trans.current().Raw), "8"))
	}
	c.press("F", "f", "end", "up", "up", "up", "up", "up", " ", "esc") // only errors
	c.press("n")
	require.True(t, c.m.trans.current().Flags.Has(core.MessageError))
	for i := range c.m.find.hits.len() {
		seq := c.m.find.hits.at(i)
		page, err := s.board.Messages(t.Context(), core.MessageQuery{Session: mainKey, Before: seq + 1, Limit: 1})
		require.NoError(t, err)
		require.True(t, page.Messages[0].Flags.Has(core.MessageError))
	}
}

// What is shown under a filter is what the board's own filter takes, from the first to the last.
func TestReadFilterProperty(t *testing.T) {
	s := newShelf(t)
	mixed(s)
	proptest.Check(t, func(rt *rapid.T) {
		f := readFilter{out: voices(rapid.IntRange(0, int(everyVoice)-1).Draw(rt, "out")), errors: rapid.Bool().Draw(rt, "errors")}
		page, err := s.board.Messages(t.Context(), core.MessageQuery{Session: mainKey, Oldest: true, Limit: 5000, Filter: f.query(noon)})
		require.NoError(rt, err)
		c := s.read(mainKey, 80, 24)
		c.m.setReadFilter(f)
		c.send(nil)
		c.press("home")
		var seen []uint64
		for _, m := range c.m.trans.held {
			seen = append(seen, m.Seq)
		}
		want := page.Messages[:min(len(page.Messages), len(seen))]
		for i, m := range want {
			require.Equal(rt, m.Seq, seen[i])
		}
		require.Equal(rt, len(page.Messages) == 0, len(seen) == 0)
		sound(rt, c.view(), 80, 24)
	})
}
