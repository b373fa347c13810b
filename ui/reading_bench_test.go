package ui

import (
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"github.com/muesli/termenv"
	"github.com/stretchr/testify/require"

	"cordboard/core"
	"cordboard/themes"
	"cordboard/ui/uitest"
)

// million is a transcript of a million messages.
func million(b *testing.B) *console {
	board := uitest.New("/data")
	board.Put(core.Head{Key: mainKey, Kind: core.KindMain, UpdatedAt: noon.UnixMilli()}, core.SessionDetail{})
	raws := make([][]byte, 97)
	for i := range raws {
		raws[i] = fmt.Appendf(nil, `{"role":"assistant","model":"mock-1","content":"## Part %d\n\nThe **harbour** is [open](http://x/%d); 会議は明日です.\n\n- one\n- two","usage":{"input":12000,"output":40}}`, i, i)
	}
	list := make([]core.Message, 1_000_000)
	for i := range list {
		list[i] = core.Message{Role: core.RoleAssistant, At: noon.UnixMilli() + int64(i)*1000, Raw: raws[i%len(raws)]}
	}
	board.Append(mainKey, list...)
	c := newConsole(b, board, 160, 50)
	c.dress(themes.Dark, termenv.TrueColor)
	c.press("enter")
	return c
}

// BenchmarkMillion is what reading a million messages costs: a line, a screen and a message further, a jump anywhere, and a line while a
// search has matches on the whole screen.
func BenchmarkMillion(b *testing.B) {
	c := million(b)
	keys := func(back, on string) func(*testing.B) {
		return func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				key := back
				if i/400%2 == 1 {
					key = on
				}
				c.send(keyMsg(key))
				_ = c.m.View()
			}
		}
	}
	b.Run("line", keys("up", "down"))
	b.Run("screen", keys("pgup", "pgdown"))
	b.Run("message", keys("K", "J"))
	b.Run("jump", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			c.m.trans.goTo(jump{seq: uint64(1 + i*7919%1_000_000)})
			c.send(nil)
			_ = c.m.View()
		}
	})
	c.m.find.needle = newNeedle("the harbour")
	c.m.find.generation, c.m.find.narrow, c.m.find.upTo = mainKey, c.m.trans.narrow, 1_000_000
	c.m.find.hits.older = make([]uint64, 1_000_000)
	for i := range c.m.find.hits.older {
		c.m.find.hits.older[i] = uint64(1_000_000 - i)
	}
	b.Run("line-with-matches", keys("up", "down"))
	b.Run("next-match", keys("N", "n"))
}

// BenchmarkPagingMemory pages through 200 MB of transcript in a real store and reports the memory that is not the store's mapped file.
func BenchmarkPagingMemory(b *testing.B) {
	s := newShelf(b)
	s.session(mainKey)
	text := strings.Repeat("a line of a transcript that goes on for a while\\n", 40)
	const messages, batch = 100_000, 4000
	for i := 0; i < messages; i += batch {
		s.update(func(tx core.Tx) error {
			list := make([]core.Message, batch)
			for j := range list {
				list[j] = core.Message{Role: core.RoleAssistant, At: noon.UnixMilli(), Raw: fmt.Appendf(nil, `{"role":"assistant","content":"message %d\n%s"}`, i+j, text)}
			}
			_, _, err := tx.Append(idOf(mainKey), list...)
			return err
		})
	}
	c := s.read(mainKey, 160, 50)
	debug.FreeOSMemory()
	for b.Loop() {
		screens := 0
		for c.press("home"); !c.m.trans.follow; screens++ {
			c.press("pgdown")
			_ = c.m.View()
		}
		b.ReportMetric(float64(screens), "screens/op")
	}
	b.ReportMetric(float64(anonymous(b))/(1<<20), "MB-anonymous")
}

// anonymous is the process's resident memory that maps no file, in bytes.
func anonymous(b *testing.B) int {
	b.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0 // only Linux tells
	}
	for _, line := range strings.Split(string(status), "\n") {
		if rest, ok := strings.CutPrefix(line, "RssAnon:"); ok {
			kb, err := strconv.Atoi(strings.Fields(rest)[0])
			require.NoError(b, err)
			return kb << 10
		}
	}
	return 0
}
