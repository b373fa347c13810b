package ui

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cordboard/core"
	"cordboard/core/proptest"
	"cordboard/themes"
	"cordboard/ui/uitest"
)

const mainKey = "agent:main:main"

// Every seventh of 2,000 messages speaks of the harbour; only some pages of them are held.
func harbour(s *shelf) int {
	said, n := numbered(1, 2000), 0
	for i := 6; i < len(said); i += 7 {
		said[i] += " of the Harbour"
		n++
	}
	s.session(mainKey, said...)
	return n
}

func TestFindInATranscript(t *testing.T) {
	s := newShelf(t)
	n := harbour(s)
	c := s.read(mainKey, 80, 24)
	c.press("/")
	c.typed("harb")
	require.Equal(t, "message 1995 of the Harbour", c.under(), "the nearest above, while it is typed")
	require.Contains(t, c.view(), fmt.Sprintf("%d/%d ", n, n))
	c.typed("our")
	c.press("enter")
	require.Equal(t, "message 1995 of the Harbour", c.under())

	c.press("N")
	require.Equal(t, "message 1988 of the Harbour", c.under())
	require.Contains(t, c.view(), fmt.Sprintf("%d/%d ", n-1, n))
	for range 200 { // far beyond what is held
		c.press("N")
	}
	require.Equal(t, fmt.Sprintf("message %d of the Harbour", 1988-200*7), c.under())
	require.Contains(t, c.view(), fmt.Sprintf("%d/%d ", n-201, n))
	c.press("n")
	require.Equal(t, fmt.Sprintf("message %d of the Harbour", 1988-199*7), c.under())

	c.press("home", "N")
	require.Equal(t, "message 1995 of the Harbour", c.under())
	require.Equal(t, "on from the last match", c.footer())
	c.press("n")
	require.Equal(t, "message 7 of the Harbour", c.under())
	require.Equal(t, "on from the first match", c.footer())

	c.press("esc")
	require.NotContains(t, c.view(), fmt.Sprintf("/%d", n))
	require.Equal(t, paneTranscript, c.m.focus, "esc closes one thing at a time")
	require.Equal(t, "message 7 of the Harbour", c.under())
	c.press("n")
	require.Equal(t, "nothing is searched for: / begins", c.footer())
}

// The search goes on in what is appended, and reading does not jump for it.
func TestFindGoesOnWhileItGrows(t *testing.T) {
	s := newShelf(t)
	n := harbour(s)
	c := s.read(mainKey, 80, 24)
	c.find("harbour")
	before := c.lines()
	for i := range 3 {
		s.say(idOf(mainKey), "nothing", fmt.Sprintf("ship %d in the harbour", i))
		c.live()
	}
	require.Equal(t, before, c.lines())
	require.Contains(t, c.view(), fmt.Sprintf("%d/%d ", n, n+3))
	c.press("n", "n", "n")
	require.Equal(t, "ship 2 in the harbour", c.under())
	require.Contains(t, c.view(), fmt.Sprintf("%d/%d ", n+3, n+3))
}

// What is typed and taken back leaves the reader where he was.
func TestFindGivesThePlaceBack(t *testing.T) {
	s := newShelf(t)
	harbour(s)
	c := s.read(mainKey, 80, 24)
	c.press("home", "pgdown", "pgdown")
	before := c.lines()
	c.press("/")
	c.typed("message 1999")
	require.NotEqual(t, before, c.lines())
	c.press("esc")
	require.Equal(t, before, c.lines())

	c.press("end", "/")
	c.typed("message 70 ")
	require.Equal(t, "message 70 of the Harbour", c.under())
	c.press("esc")
	require.True(t, c.m.trans.follow)
	require.Equal(t, "message 2000", c.lastLine())
}

func TestFindSaysWhatItFound(t *testing.T) {
	s := newShelf(t)
	s.session(mainKey, "one", "two")
	c := s.read(mainKey, 80, 24)
	for _, each := range []struct{ text, want string }{
		{"three", "nothing found"},
		{"TWO", "1/1"},
		{strings.Repeat("x", 190), "nothing found"},
	} {
		c.find(each.text)
		require.Contains(t, c.view(), each.want)
		c.press("esc")
	}
	c.press("/", "enter")
	require.False(t, c.m.find.active(), "an empty search is none")
	c.m.env.Board = uitest.New("/data")
	c.find("x")
	require.Contains(t, c.view(), "the test board cannot…")
}

// A match in a fold opens that fold and no other.
func TestFindOpensTheFold(t *testing.T) {
	s := newShelf(t)
	long := strings.Repeat("a line of the log\n", 80)
	s.session(
		mainKey,
		`{"role":"toolResult","toolName":"cat","content":"`+strings.ReplaceAll(long, "\n", `\n`)+`the needle is here\n`+strings.ReplaceAll(long, "\n", `\n`)+`"}`,
		`{"role":"assistant","content":[{"type":"thinking","thinking":"`+strings.Repeat("hm ", 60)+`a thought"},{"type":"text","text":"said"}]}`,
		`{"role":"toolResult","toolName":"cat","content":"another\nresult"}`,
	)
	c := s.read(mainKey, 80, 24)
	c.find("needle is")
	require.Contains(t, c.lines(), "the needle is here")
	require.NotContains(t, c.lines(), "another")
	c.press("esc")
	c.find("a thought")
	require.Contains(t, c.view(), "▾ thinking")
	require.Contains(t, c.view(), "a thought")
}

// Pressed again before the page of the last match has come, n goes on from there.
func TestNextMatchWhileOneIsOnItsWay(t *testing.T) {
	s := newShelf(t)
	n := harbour(s)
	c := s.read(mainKey, 80, 24)
	c.find("harbour")
	c.press("home")
	var late []tea.Cmd
	for range 3 { // far away each time, and no answer yet
		_, cmd := c.m.Update(keyMsg("N"))
		late = append(late, cmd)
	}
	require.Contains(t, c.view(), fmt.Sprintf("%d/%d ", n-2, n))
	for _, cmd := range late {
		c.run(cmd)
	}
	require.Equal(t, fmt.Sprintf("message %d of the Harbour", 1995-14), c.under())
}

// Another transcript is searched for the same text.
func TestFindFollowsTheSession(t *testing.T) {
	s := newShelf(t)
	s.session(mainKey, "the fox", "the dog", "the fox again")
	s.session("agent:main:other", "a fox", "a hen")
	c := s.read(mainKey, 160, 24)
	c.find("fox")
	require.Contains(t, c.view(), "2/2 ")
	c.open("agent:main:other")
	require.Contains(t, c.view(), "–/1 ")
	require.Equal(t, "a hen", c.lastLine(), "it opens at its end all the same")
	c.press("N")
	require.Equal(t, "a fox", c.under())
}

// held is a board that another process holds for a while.
type held struct {
	core.Board
	busy *int
}

func (h held) Search(ctx context.Context, q core.SearchQuery) (core.SearchPage, error) {
	if *h.busy > 0 {
		*h.busy--
		return core.SearchPage{}, core.Errorf(core.CodeStoreLocked, "in use by another process")
	}
	return h.Board.Search(ctx, q)
}

// A store that is held for a moment is searched when it is free again.
func TestFindWaitsForTheStore(t *testing.T) {
	s := newShelf(t)
	s.session(mainKey, "the fox", "the dog")
	busy := 4 // a search for each letter, and one retry
	s.board = held{s.board, &busy}
	c := s.read(mainKey, 120, 30)
	c.find("fox")
	require.Contains(t, c.view(), "searching…")
	c.elapse(time.Second)
	c.elapse(time.Second)
	require.Contains(t, c.view(), "1/1 ")
	require.Equal(t, "the fox", c.under())

	busy = 3
	c.press("ctrl+f")
	c.typed("dog")
	c.elapse(time.Second)
	require.Contains(t, c.view(), "1 hit in ")
}

// Answers to a search that was given up are dropped.
func TestOldFindAnswersAreDropped(t *testing.T) {
	s := newShelf(t)
	s.session(mainKey, "the fox", "the dog")
	c := s.read(mainKey, 80, 24)
	old := findMsg{step: findStep{number: c.m.find.number}, seqs: []uint64{1}}
	c.find("dog")
	c.send(old)
	require.Contains(t, c.view(), "1/1 ")
}

// A text that was wrapped is found across the break, and marked on both lines.
func TestMatchesAcrossLines(t *testing.T) {
	for _, c := range []struct {
		name   string
		lines  []string
		needle string
		want   []string // what is marked of each line
	}{
		{"within a line", []string{"▎ the quick fox"}, "QUICK", []string{"quick"}},
		{"across a blank", []string{"▎ the quick   ", "▎ brown fox"}, "quick brown", []string{"quick", "brown"}},
		{"inside a long word", []string{"▎ aaaa", "▎ abbb"}, "aab", []string{"a", "ab"}},
		{"wide cells", []string{"▎ 一二三", "▎ 四五"}, "三四", []string{"三", "四"}},
		{"twice", []string{"▎ ab ab"}, "ab", []string{"ab|ab"}},
		{"three lines", []string{"▎ one", "▎ two", "▎ three"}, "one two three", []string{"one", "two", "three"}},
		{"the stripe is no text", []string{"▎ one"}, "▎", []string{""}},
		{"half a cluster is all of it", []string{"▎ cafe\u0301s"}, "cafe", []string{"cafe\u0301"}},
		{"joined", []string{"▎ 👨‍👩‍👧‍👦!"}, "👩", []string{"👨‍👩‍👧‍👦"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := flowOf(c.lines)
			for i, spans := range f.matches(newNeedle(c.needle)) {
				var got []string
				for _, s := range spans {
					got = append(got, f.lines[i][s.start:s.end])
				}
				require.Equal(t, c.want[i], strings.Join(got, "|"))
			}
		})
	}
}

// Marks change no cell and no character, whatever is searched for and however often.
func TestMarksChangeNoCell(t *testing.T) {
	over := newInks(styles(t, themes.Dark, termenv.TrueColor)).match
	proptest.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", " ", "一", "é", "e\u0301", "👨‍👩‍👧‍👦", "🇩🇪", "\x1b[31m", "\x1b[1;4m", "\x1b[0m", "x"}), 0, 30).Draw(t, "text"), "")
		n := newNeedle(strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", " ", "一", "e", "\u0301", "👩", "🇪"}), 1, 3).Draw(t, "needle"), ""))
		f := flowOf([]string{text})
		for _, spans := range f.matches(n) {
			marked := paintSpans(text, spans, over)
			require.Equal(t, ansi.StringWidth(text), ansi.StringWidth(marked))
			require.Equal(t, ansi.Strip(text), ansi.Strip(marked))
		}
	})
}

// Colours go on behind a mark as they were before it.
func TestMarksKeepColours(t *testing.T) {
	over := ink{"<", ">"}
	for _, c := range []struct{ name, line, needle, want string }{
		{"plain", "a fox b", "fox", "a <fox> b"},
		{"inside a colour", "\x1b[31ma fox b\x1b[0m", "fox", "\x1b[31ma \x1b[0m<fox>\x1b[31m b\x1b[0m"},
		{"over two colours", "\x1b[31mfo\x1b[0m\x1b[32mx b\x1b[0m", "fox", "\x1b[31m\x1b[0m<fox>\x1b[32m b\x1b[0m"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := flowOf([]string{c.line})
			require.Equal(t, c.want, paintSpans(c.line, f.matches(newNeedle(c.needle))[0], over))
		})
	}
}

// Under colours every match on the screen is marked, and the one under the cursor another way.
func TestMatchesAreSeen(t *testing.T) {
	s := newShelf(t)
	s.session(mainKey, "the fox", "the dog", "the fox again")
	c := s.read(mainKey, 80, 24)
	c.dress(themes.Dark, termenv.TrueColor)
	c.find("fox")
	k := c.m.k
	require.Contains(t, c.view(), k.match.before+"fox"+k.match.after)
	require.Contains(t, c.view(), k.matchCurrent.before+"fox"+k.matchCurrent.after)
	fits(t, c.view(), 80, 24)
}

// Whatever happens while a search is open: the count is of the matches there are, and the frame is sound.
func TestFindProperty(t *testing.T) {
	keys := []string{"n", "N", "up", "pgup", "pgdown", "home", "end", "J", "K", "enter", "t", "w"}
	s, round := newShelf(t), 0
	proptest.Check(t, func(rt *rapid.T) {
		s.at, round = noon.Add(-50*time.Hour), round+1
		key := fmt.Sprintf("agent:main:%d", round)
		n := rapid.IntRange(1, 600).Draw(rt, "messages")
		every := rapid.IntRange(1, 40).Draw(rt, "every")
		said, want := numbered(1, n), 0
		for i := 0; i < n; i += every {
			said[i], want = said[i]+" fox", want+1
		}
		s.session(key, said...)
		c := s.read(key, 80, 24)
		c.find("FOX")
		for range rapid.IntRange(0, 12).Draw(rt, "steps") {
			switch rapid.IntRange(0, 5).Draw(rt, "step") {
			case 0:
				s.say(idOf(key), "one more fox", "and none")
				want++
				c.live()
			case 1:
				c.send(tea.WindowSizeMsg{Width: rapid.IntRange(40, 170).Draw(rt, "w"), Height: rapid.IntRange(10, 50).Draw(rt, "h")})
			default:
				c.press(rapid.SampledFrom(keys).Draw(rt, "key"))
			}
			require.Equal(rt, want, c.m.find.hits.len())
			sound(rt, c.view(), c.m.w, c.m.h)
		}
	})
}

// Seqs stay sorted whatever order steps come in.
func TestHits(t *testing.T) {
	h := hits{older: []uint64{9, 7, 3}}
	h.fresh = []uint64{20, 15, 12, 9}
	h.settle()
	require.Equal(t, 6, h.len())
	var all []uint64
	for i := range h.len() {
		all = append(all, h.at(i))
	}
	require.Equal(t, []uint64{3, 7, 9, 12, 15, 20}, all)
	require.Equal(t, 0, h.from(1))
	require.Equal(t, 2, h.from(8))
	require.Equal(t, 2, h.from(9))
	require.Equal(t, 6, h.from(21))
	require.True(t, shows(core.MessageFilter{}, core.SearchHit{}))
}
