package ui

import (
	"fmt"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/muesli/termenv"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cordboard/core"
	"cordboard/core/proptest"
	"cordboard/themes"
)

// hostileShelf is the real engine over hostile messages in sessions, in an older transcript and in one that no session names.
func hostileShelf(t *testing.T) *shelf {
	s := newShelf(t)
	for i := range 4 {
		s.session(fmt.Sprintf("agent:main:%d%s", i, hostile[i]))
	}
	s.orphan("stray" + hostile[1])
	s.update(func(tx core.Tx) error {
		var ids []string
		if err := tx.AllGenerations("", func(g *core.Generation) bool { ids = append(ids, string([]byte(g.ID))); return true }); err != nil {
			return err
		}
		for _, id := range ids {
			for i := range 2 * len(hostile) {
				m := hostileMessage(i)
				if _, flags, _, err := core.Inspect(m.Raw); err == nil {
					m.Flags = flags
				}
				if _, _, err := tx.Append(id, m); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return s
}

// R146, R171: whatever is searched for, filtered, unfolded, listed and copied, no frame is of another size or holds a foreign escape.
func TestEveryReadingFrameIsSound(t *testing.T) {
	s := hostileShelf(t)
	keys := []string{
		"enter", "esc", "up", "down", "J", "K", "home", "end", "pgup", "pgdown", "t", "T", "w", "m", "$", "/", "n", "N", "ctrl+f", "f", "F", "g", "o", "x", "y", "Y",
		"c", "b", "p", "P", "E", "tab", " ", "a", "e", ";", "一", "1", "4", "5", "backspace",
	}
	for _, profile := range []termenv.Profile{termenv.Ascii, termenv.TrueColor} {
		proptest.Check(t, func(rt *rapid.T) {
			c := newConsole(t, s.board, 80, 24)
			b := c.withOutside()
			c.dress(themes.Dark, profile)
			c.press("enter")
			for range rapid.IntRange(1, 2).Draw(rt, "sizes") {
				w, h := rapid.IntRange(1, 200).Draw(rt, "w"), rapid.IntRange(1, 60).Draw(rt, "h")
				c.send(tea.WindowSizeMsg{Width: w, Height: h})
				for _, key := range rapid.SliceOfN(rapid.SampledFrom(keys), 0, 14).Draw(rt, "keys") {
					c.press(key)
					sound(rt, c.view(), w, h)
				}
			}
			for _, text := range b.opened {
				require.NotContains(rt, text, "\x1b")
			}
		})
	}
}

// Every layer of reading at every size.
func TestReadingLayersAtEverySize(t *testing.T) {
	s := hostileShelf(t)
	for _, open := range [][]string{{"/", "e"}, {"ctrl+f", "e", "tab", "down"}, {"f"}, {"g", "o"}, {"x"}, {"K", "K", "Y"}, {"F", "f", "enter", "esc"}} {
		c := newConsole(t, s.board, 80, 24)
		c.withOutside()
		c.press("enter")
		c.press(open...)
		for w := 1; w <= 200; w += 1 + w/4 {
			for h := 1; h <= 60; h += 1 + h/3 {
				c.send(tea.WindowSizeMsg{Width: w, Height: h})
				sound(t, c.view(), w, h)
			}
		}
	}
}
