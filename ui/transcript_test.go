package ui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cordboard/core"
	"cordboard/core/proptest"
	"cordboard/ui/uitest"
)

// say makes messages of an agent with the given texts, a minute apart.
func say(first int, texts ...string) []core.Message {
	list := make([]core.Message, len(texts))
	for i, text := range texts {
		at := noon.Add(time.Duration(first+i) * time.Minute).UnixMilli()
		list[i] = core.Message{Role: core.RoleAssistant, At: at, Raw: fmt.Appendf(nil, `{"role":"assistant","content":%q}`, text)}
	}
	return list
}

func numbered(from, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("message %d", from+i)
	}
	return out
}

// talk is a board with one session whose transcript holds n numbered messages.
func talk(n int) *uitest.Board {
	b := uitest.New("/data")
	b.Put(core.Head{Key: "agent:main:main", Kind: core.KindMain}, core.SessionDetail{})
	b.Append("agent:main:main", say(1, numbered(1, n)...)...)
	return b
}

// reading opens the session's transcript.
func readingOf(t tester, b core.Board, w, h int) *console {
	c := newConsole(t, b, w, h)
	c.press("enter")
	return c
}

// lines are the lines on the transcript's screen.
func (c *console) lines() []string {
	out := make([]string, len(c.m.trans.lines))
	for i, l := range c.m.trans.lines {
		out[i] = strings.TrimRight(strings.TrimPrefix(l, "▎ "), " ")
	}
	return out
}

func (c *console) lastLine() string {
	lines := c.lines()
	return lines[len(lines)-1]
}

func TestFollow(t *testing.T) {
	b := talk(100)
	c := readingOf(t, b, 80, 24)
	require.Equal(t, "message 100", c.lastLine())
	require.Contains(t, c.view(), " following ")

	b.Append("agent:main:main", say(101, "message 101")...)
	c.live()
	require.Equal(t, "message 101", c.lastLine())

	// R163: reading never jumps
	c.press("pgup")
	top := c.lines()[0]
	require.NotContains(t, c.view(), " following ")
	for i := range 50 {
		b.Append("agent:main:main", say(102+i, fmt.Sprintf("message %d", 102+i))...)
		c.live()
	}
	require.Equal(t, top, c.lines()[0])
	require.Contains(t, c.view(), "▼ 50 new · G follows")

	c.press("end")
	require.Equal(t, "message 151", c.lastLine())
	require.Contains(t, c.view(), " following ")
	require.NotContains(t, c.view(), "new ·")
}

// Scrolling to the end by hand follows again.
func TestScrollingToTheEndFollows(t *testing.T) {
	c := readingOf(t, talk(100), 80, 24)
	c.press("up", "up", "down")
	require.False(t, c.m.trans.follow)
	c.press("down")
	require.True(t, c.m.trans.follow)
}

// R164: every line of a message taller than the window can be reached, upwards and downwards.
func TestTallMessage(t *testing.T) {
	b := talk(3)
	b.Append("agent:main:main", say(4, strings.Join(numbered(1000, 70), "\n"))...)
	c := readingOf(t, b, 80, 24)
	seen := map[string]bool{}
	look := func() {
		for _, l := range c.lines() {
			seen[l] = true
		}
	}
	for range 100 {
		look()
		c.press("up")
	}
	for i := range 70 {
		require.True(t, seen[fmt.Sprintf("message %d", 1000+i)], i)
	}
	require.Equal(t, "message 1", c.lines()[2])
	clear(seen)
	for range 100 {
		look()
		c.press("down")
	}
	for i := range 70 {
		require.True(t, seen[fmt.Sprintf("message %d", 1000+i)], i)
	}
}

// A transcript is fetched by pages in both directions, held within bounds, and every message is seen once on the way.
func TestPaging(t *testing.T) {
	const n = 9000
	c := readingOf(t, talk(n), 80, 24)
	require.Len(t, c.m.trans.held, pageSize)
	next := n
	for range 5 * n {
		for i := len(c.lines()) - 1; i >= 0; i-- {
			if c.lines()[i] == fmt.Sprintf("message %d", next) {
				next--
			}
		}
		if next == 0 {
			break
		}
		c.press("pgup")
		require.LessOrEqual(t, len(c.m.trans.held), holdCount+pageSize)
	}
	require.Zero(t, next, "message 1 was reached")
	require.True(t, c.m.trans.below)
	c.press("G")
	require.Equal(t, "message 9000", c.lastLine())
	c.press("home")
	require.Equal(t, "message 1", c.lines()[2])
	next = 1
	for range 5 * n {
		for _, l := range c.lines() {
			if l == fmt.Sprintf("message %d", next) {
				next++
			}
		}
		if next > n {
			break
		}
		c.press("pgdown")
		require.LessOrEqual(t, len(c.m.trans.held), holdCount+pageSize)
	}
	require.Equal(t, n+1, next, "message 9000 was reached")
	require.True(t, c.m.trans.follow)
}

// What comes while the end of the transcript is not held is counted, not fetched, and G goes there.
func TestNewMessagesFarBelow(t *testing.T) {
	b := talk(3000)
	c := readingOf(t, b, 80, 24)
	c.press("home")
	require.True(t, c.m.trans.below)
	b.Append("agent:main:main", say(3001, numbered(3001, 7)...)...)
	c.live()
	require.Contains(t, c.view(), "▼ 7 new")
	require.Less(t, len(c.m.trans.held), 600)
	c.press("G")
	require.Equal(t, "message 3007", c.lastLine())
}

// A page that was on its way when more was appended is not taken for all there is.
func TestAppendDuringARequest(t *testing.T) {
	b := talk(10)
	c := readingOf(t, b, 80, 24)
	b.Append("agent:main:main", say(11, "message 11")...)
	s := c.stream
	batch, err := s.Next(t.Context())
	require.NoError(t, err)
	_, cmd := c.m.Update(batchMsg{s, batch, nil})
	b.Append("agent:main:main", say(12, "message 12")...)
	c.m.trans.changed(core.Change{Kind: core.ChangeMessages, ID: "agent:main:main", FirstSeq: 12, LastSeq: 12})
	c.run(cmd)
	require.Equal(t, "message 12", c.lastLine())
}

// Resizing keeps the message at the top of the screen where it is.
func TestResizeKeepsThePlace(t *testing.T) {
	b := talk(0)
	var texts []string
	for i := range 60 {
		texts = append(texts, fmt.Sprintf("start%02d %s", i, strings.Repeat("lorem ipsum dolor sit amet ", i%9)))
	}
	b.Append("agent:main:main", say(1, texts...)...)
	c := readingOf(t, b, 160, 45)
	c.press("home", "pgdown", "pgdown", "pgdown")
	for !strings.HasPrefix(c.lines()[0], "start") {
		c.press("up")
	}
	word := strings.Fields(c.lines()[0])[0]
	for _, size := range [][2]int{{80, 24}, {40, 12}, {120, 30}, {200, 60}, {10, 5}, {160, 45}} {
		c.send(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
		if size[0] >= minWidth {
			require.True(t, strings.HasPrefix(c.lines()[0], word), "%v: %q", size, c.lines()[0])
		}
	}
}

func TestWrapToggle(t *testing.T) {
	long := strings.Repeat("0123456789", 500) + "END"
	b := talk(0)
	b.Append("agent:main:main", say(1, long)...)
	c := readingOf(t, b, 80, 24)
	require.True(t, strings.HasSuffix(strings.Join(c.lines(), ""), "END"))
	c.press("w")
	require.Len(t, c.lines(), 3) // the day, who, and one line of text
	require.NotContains(t, c.lastLine(), "END")
	c.press("$") // R182: the end of a line of 5,000 characters within 3 keys
	require.Contains(t, c.lastLine(), "END")
	c.press("0")
	require.True(t, strings.HasPrefix(c.lastLine(), "0123"))
	c.press("right")
	require.False(t, strings.HasPrefix(c.lastLine(), "0123"))
	c.press("left", "w")
	require.Greater(t, len(c.lines()), 3)
}

// R156: newlines and tabs in a text are shown as such.
func TestNewlinesAreShown(t *testing.T) {
	b := talk(0)
	b.Append("agent:main:main", say(1, "a\n\nb\tc")...)
	c := readingOf(t, b, 80, 24)
	require.Equal(t, []string{"a", "", "b   c"}, c.lines()[2:])
}

// A reset opens the new transcript; the old one stays in reach.
func TestReset(t *testing.T) {
	b := uitest.New("/data")
	old := core.Generation{ID: "g1", SessionID: "g1", Key: "agent:main:main", State: core.GenerationCurrent}
	b.Put(core.Head{Key: "agent:main:main"}, core.SessionDetail{Session: core.Session{SessionID: "g1"}, Generations: []core.Generation{old}})
	b.Append("g1", say(1, "before the reset")...)
	c := readingOf(t, b, 160, 24)
	require.Equal(t, "before the reset", c.lastLine())

	old.State, old.EndedAt = core.GenerationReset, noon.UnixMilli()
	b.Put(core.Head{Key: "agent:main:main"}, core.SessionDetail{Session: core.Session{SessionID: "g2"}, Generations: []core.Generation{
		old, {ID: "g2", SessionID: "g2", Key: "agent:main:main", State: core.GenerationCurrent},
	}})
	b.Append("g2", say(9, "after the reset")...)
	c.live()
	require.Equal(t, "after the reset", c.lastLine())
	c.press("o")
	require.Equal(t, "before the reset", c.lastLine())
	require.Contains(t, c.view(), "reset 2 of 2 · now")
	c.press("O")
	require.Equal(t, "after the reset", c.lastLine())
}

// A transcript that cannot be read says so and is tried again.
func TestTranscriptError(t *testing.T) {
	b := talk(3)
	c := newConsole(t, b, 80, 24)
	b.Put(core.Head{Key: "agent:main:other"}, core.SessionDetail{})
	b.Append("agent:main:other", say(1, "hello")...)
	c.live()
	b.Fail(core.Errorf(core.CodeStoreLocked, "in use"))
	c.press("down")
	require.Contains(t, c.view(), "This transcript could not be read.")
	b.Fail(nil)
	c.elapse(time.Second)
	require.Equal(t, "hello", c.lastLine())
}

// Whatever is scrolled, folded, resized and appended: the screen holds consecutive lines of the transcript, and what is appended while
// nobody follows moves nothing.
func TestScreenIsAlwaysAPieceOfTheTranscript(t *testing.T) {
	keys := []string{"up", "down", "pgup", "pgdown", "ctrl+u", "ctrl+d", "g", "G", "t", "T", "w"}
	proptest.Check(t, func(t *rapid.T) {
		b := talk(0)
		n := rapid.IntRange(0, 700).Draw(t, "messages")
		b.Append("agent:main:main", say(1, numbered(1, n)...)...)
		c := readingOf(t, b, 80, 24)
		for range rapid.IntRange(0, 30).Draw(t, "steps") {
			switch rapid.IntRange(0, 4).Draw(t, "step") {
			case 0:
				before, follow := c.lines(), c.m.trans.follow
				n++
				b.Append("agent:main:main", say(n, fmt.Sprintf("message %d", n))...)
				c.live()
				if !follow && len(before) == c.m.trans.h {
					require.Equal(t, before, c.lines())
				}
			case 1:
				c.send(tea.WindowSizeMsg{Width: rapid.IntRange(80, 119).Draw(t, "w"), Height: rapid.IntRange(minHeight, 40).Draw(t, "h")})
			default:
				c.press(rapid.SampledFrom(keys).Draw(t, "key"))
			}
			consecutive(t, c.lines(), c.m.trans.follow, n)
		}
	})
}

// consecutive checks that the numbered messages on a screen follow each other, up to the last one when it is followed.
func consecutive(t require.TestingT, lines []string, follow bool, n int) {
	last := 0
	for _, l := range lines {
		var number int
		if _, err := fmt.Sscanf(l, "message %d", &number); err != nil {
			continue
		}
		if last > 0 {
			require.Equal(t, last+1, number)
		}
		last = number
	}
	if follow && n > 0 {
		require.Equal(t, n, last)
	}
}
