package ui

import (
	"context"
	"strings"
	"testing"

	"github.com/muesli/termenv"
	"github.com/stretchr/testify/require"

	"cordboard/core"
	"cordboard/themes"
	"cordboard/ui/uitest"
)

// library is a store with the same word in several sessions, in an older transcript and in one that no session names.
func library(t testing.TB) *shelf {
	s := newShelf(t)
	s.session(mainKey, numbered(1, 800)...)
	s.say(idOf(mainKey), "the lighthouse keeper")
	s.say(idOf(mainKey), numbered(801, 400)...)
	s.session("agent:ops:main", "ships pass", "the LIGHTHOUSE is lit", "ships pass", "a second lighthouse")
	s.session("agent:ops:cron:night", "nothing of it")
	s.update(func(tx core.Tx) error {
		return tx.PutGeneration(core.Generation{ID: "older", SessionID: "older", Key: "agent:ops:main", State: core.GenerationReset, CreatedAt: 1, EndedAt: noon.UnixMilli()})
	})
	s.say("older", "an old lighthouse", "gone")
	s.orphan("stray", "a stray", "lighthouse", "here")
	return s
}

func TestFindEverywhere(t *testing.T) {
	s := library(t)
	c := newConsole(t, s.board, 160, 45)
	c.open("agent:ops:cron:night")
	c.press("g", "/")
	require.Equal(t, "agent:ops:cron:night", c.m.tree.selected(), "g alone would have gone to the first row")
	c.typed("lighthouse")
	require.Contains(t, c.view(), "3 hits in ")
	require.Contains(t, c.view(), "the lighthouse keeper")
	require.Contains(t, c.view(), "the LIGHTHOUSE is lit")

	for c.m.findAll.hits[c.m.findAll.at].Session != mainKey {
		c.press("down")
	}
	c.press("enter")
	require.Nil(t, c.m.top())
	require.Equal(t, mainKey, c.m.tree.selected())
	require.Equal(t, paneTranscript, c.m.focus)
	require.Equal(t, "the lighthouse keeper", c.under())
	require.Contains(t, c.view(), "1/1 ", "the search goes on in that transcript")
	require.Equal(t, "", c.m.trans.generation, "it is the current one, and lives on")

	c.press("g", "/")
	require.Equal(t, "lighthouse", c.m.findAll.field.text(), "hits wait to be looked at one after the other")
	require.Contains(t, c.view(), "3 hits")
	c.press("esc", "esc", "backspace")
	require.Equal(t, "agent:ops:cron:night", c.m.tree.selected(), "and back")
}

// Older transcripts and those without a session are searched when asked for, and read where they are.
func TestFindInOlderTranscripts(t *testing.T) {
	s := library(t)
	c := newConsole(t, s.board, 120, 30)
	c.press("ctrl+f")
	c.typed("lighthouse")
	require.Len(t, c.m.findAll.hits, 3)
	c.press("tab")
	require.Len(t, c.m.findAll.hits, 5)
	require.Contains(t, c.view(), "older transcripts too")
	require.Contains(t, c.view(), "no session · stray")
	c.press("end") // goes to the end of the text, not of the hits
	for c.m.findAll.hits[c.m.findAll.at].Generation != "stray" {
		c.press("down")
	}
	c.press("enter")
	require.Equal(t, "lighthouse", c.under())
	require.Contains(t, c.pane(paneTranscript), "no session ─ stray")
	require.Contains(t, c.pane(paneTranscript), "1/1")
	c.open("agent:ops:main")
	require.Equal(t, "a second lighthouse", c.lastLine(), "moving in the tree ends the visit")

	c.press("ctrl+f")
	for c.m.findAll.hits[c.m.findAll.at].Generation != "older" {
		c.press("up")
	}
	c.press("enter")
	require.Equal(t, "an old lighthouse", c.under())
	require.Contains(t, c.pane(paneTranscript), "reset 2 of 2")
}

// slow is a board whose searches wait until they are let go or given up.
type slow struct {
	*uitest.Board
	asked chan core.SearchQuery
}

func (s slow) Search(ctx context.Context, q core.SearchQuery) (core.SearchPage, error) {
	s.asked <- q
	<-ctx.Done()
	return core.SearchPage{}, ctx.Err()
}

// esc gives the running search up; so does typing on.
func TestFindEverywhereIsCancelled(t *testing.T) {
	b := slow{talk(3), make(chan core.SearchQuery, 8)}
	c := newConsole(t, b, 120, 30)
	c.press("ctrl+f")
	search := func(key string) (done chan struct{}) {
		_, cmd := c.m.Update(keyMsg(key))
		done = make(chan struct{})
		go func() { defer close(done); c.run(cmd) }()
		<-b.asked
		return done
	}
	first := search("a")
	second := search("b")
	<-first
	require.True(t, c.m.findAll.running)
	require.Contains(t, c.view(), "searching…")
	c.m.Update(keyMsg("esc"))
	<-second
	require.False(t, c.m.findAll.running)
}

// A hit is shown in the colours of a match, and no cell more than there is.
func TestHitsFit(t *testing.T) {
	s := newShelf(t)
	s.session("agent:main:"+strings.Repeat("long", 40), append(hostile, "fox "+strings.Repeat("一", 300), strings.Repeat("x", 400)+" FOX")...)
	for _, size := range [][2]int{{160, 45}, {80, 24}, {40, 10}} {
		c := newConsole(t, s.board, size[0], size[1])
		c.dress(themes.Dark, termenv.TrueColor)
		for _, text := range []string{"fox", "e", "一", "red", ";", "\u202e"} {
			c.press("ctrl+f", "ctrl+u")
			c.typed(text)
			sound(t, c.view(), size[0], size[1])
			c.press("tab", "down", "pgdown", "up")
			sound(t, c.view(), size[0], size[1])
			c.press("enter")
			sound(t, c.view(), size[0], size[1])
			c.press("esc", "esc")
		}
	}
}

func TestFindEverywhereSaysWhatIsWrong(t *testing.T) {
	c := newConsole(t, talk(3), 120, 30)
	c.press("ctrl+f")
	require.Contains(t, c.view(), "type what to look for")
	c.typed("x")
	require.Contains(t, c.view(), "the test board cannot search")
	c.press("enter")
	require.NotNil(t, c.m.top(), "there is nothing to open")
}

// The list of transcripts has the older ones of the session and those that nobody names; enter reads them.
func TestTranscriptList(t *testing.T) {
	s := library(t)
	c := newConsole(t, s.board, 120, 30)
	c.open("agent:ops:main")
	c.press("g", "o")
	view := c.view()
	require.Contains(t, view, "current")
	require.Contains(t, view, "reset")
	require.Contains(t, view, "No session names these")
	require.Contains(t, view, "stray")
	c.press("down", "enter")
	require.Equal(t, "gone", c.lastLine())
	c.press("g", "o", "end", "enter")
	require.Equal(t, "here", c.lastLine())
	require.Contains(t, c.pane(paneTranscript), "no session ─ stray")
	require.Contains(t, c.pane(paneInspector), "agent:ops:main", "the inspector stays with the tree")
	s.say("stray", "more of it")
	c.live()
	require.Equal(t, "more of it", c.lastLine())
	c.press("backspace", "backspace")
	require.Equal(t, "a second lighthouse", c.lastLine())
}

// Without any there is a word for it.
func TestTranscriptListWithoutOrphans(t *testing.T) {
	s := newShelf(t)
	s.session(mainKey, "hello")
	c := newConsole(t, s.board, 40, 12)
	c.press("g", "o")
	require.Contains(t, c.view(), "Every other transcript is named")
	fits(t, c.view(), 40, 12)
	c.press("enter", "esc")
	require.Equal(t, "", c.m.trans.generation)
}
