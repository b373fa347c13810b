package ui

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/muesli/termenv"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cordboard/core"
	"cordboard/core/proptest"
	"cordboard/themes"
	"cordboard/ui/uitest"
)

// hostile texts try to drive the terminal, to hide and reorder, and to be wider than they look.
var hostile = []string{
	"\x1b[2J\x1b[H\x1b[31mred\x1b[0m", "\x1b]0;owned\x07", "\x1b]52;c;cm0gLXJmIC8=\x07", "\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\",
	"\x1bP1$r0m\x1b\\", "\x1b_apc\x1b\\", "\x1b[6n\x1bc", "\x1b]2;never closed", "\u009b31m\u009d0;x\u009c", "access\u202e\u2066// admin only\u2069\u202c",
	"a\u200bb\u2060c\ufeffd", "100 %\r  0 %", "rm\b\bls", "NUL\x00", "\xff\xfe\xc3", "tab\tab", "一二三四五六七八九十", "👨‍👩‍👧‍👦🇩🇪☁️👍🏽",
	"e\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301", strings.Repeat("long", 3000), "a\n\nb\r\nc", "", " ", "\u3000",
}

// hostileBoard has hostile text in every field that is shown.
func hostileBoard() *uitest.Board {
	b := uitest.New("/data/" + hostile[0])
	pick := func(i int) string { return hostile[i%len(hostile)] }
	for i := range hostile {
		key := fmt.Sprintf("agent:main:%d%s", i, pick(i))
		h := core.Head{
			Key: key, Title: pick(i + 1), Channel: pick(i + 2), Kind: core.Kinds[i%len(core.Kinds)], UpdatedAt: int64(i) * 1e9,
			Tokens: int64(i) * 1e5, ContextTokens: 1e5, Flags: core.HeadFlags(i * 37),
		}
		if i%3 == 1 {
			h.Parent = fmt.Sprintf("agent:main:%d%s", i-1, pick(i-1))
		}
		run := core.Run{Kind: core.RunKind(pick(i)), State: core.RunEnded, Outcome: core.RunOutcome(pick(i + 1)), Label: pick(i + 2), Result: pick(i + 3), Error: pick(i + 4)}
		id := fmt.Sprintf("g%d%s", i, pick(i))
		b.Put(h, core.SessionDetail{
			Session: core.Session{SessionID: id, Model: pick(i), ModelProvider: pick(i + 1), Source: pick(i + 2), ThinkingLevel: pick(i + 3)},
			Send:    core.Verdict{Rule: pick(i + 4), ConfigKey: pick(i + 5)}, Runs: []core.Run{run}, Children: []string{pick(i)},
			Generations: []core.Generation{
				{ID: id, SessionID: id, State: core.GenerationCurrent, CreatedAt: 1},
				{ID: id + "old", SessionID: id, State: core.GenerationState(pick(i)), EndedAt: 1},
			},
		})
		for j := range hostile {
			b.Append(id, hostileMessage(i+j))
		}
		hostileRecords(b, i, key)
	}
	return b
}

func hostileMessage(i int) core.Message {
	pick := func(n int) string { return hostile[(i+n)%len(hostile)] }
	role := []core.Role{core.RoleUser, core.RoleAssistant, core.RoleToolResult, core.RoleSystem, core.RoleOther, core.RoleEvent}[i%6]
	m := core.Message{Role: role, At: int64(i) * 86_000_000}
	if role == core.RoleEvent {
		m.Raw, _ = json.Marshal(map[string]any{"type": []string{"compaction", "custom", "session", pick(0)}[i%4], "summary": pick(1), "customType": pick(2), "cwd": pick(3)})
		return m
	}
	m.Raw, _ = json.Marshal(map[string]any{
		"role": pick(0), "model": pick(1), "toolName": pick(2), "stopReason": []string{"error", "aborted", "stop", "length"}[i%4], "errorMessage": pick(3),
		"isError": i%2 == 0, "usage": map[string]any{"input": 1e300, "output": -5},
		"provenance": map[string]any{"kind": []string{"inter_session", "x"}[i%2], "sourceSessionKey": pick(4), "sourceTool": pick(5), "via": pick(6)},
		"content": []any{
			map[string]any{"type": "text", "text": pick(7)},
			map[string]any{"type": "thinking", "thinking": pick(8)},
			map[string]any{"type": "toolCall", "name": pick(9), "arguments": map[string]any{pick(10): pick(11)}},
			map[string]any{"type": "image", "mimeType": pick(12), "data": "AAAA"},
			map[string]any{"type": pick(13)},
			pick(14),
		},
	})
	return m
}

var sgr = regexp.MustCompile(`\x1b\[[0-9;:]*m`)

// sound checks what holds for every frame: it has the window's size, and of escapes only colours.
func sound(t require.TestingT, frame string, w, h int) {
	if w <= 0 || h <= 0 {
		require.Empty(t, frame)
		return
	}
	fits(t, frame, w, h)
	plain := sgr.ReplaceAllString(frame, "")
	for _, r := range strings.ReplaceAll(plain, "\n", "") {
		require.False(t, r < 0x20 || r >= 0x7f && r < 0xa0, "control character %U", r)
		require.False(t, r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069, "bidi control %U", r)
	}
}

// R146, R148, R171, R219, R225: whatever is stored, pressed and resized, no panic, no line of another width, no foreign escape.
func TestEveryFrameIsSound(t *testing.T) {
	board := hostileBoard()
	keys := []string{
		"down", "up", "pgdown", "pgup", "g", "G", " ", "left", "right", "-", "+", "a", "u", "r", "ctrl+r", "R", "e", "s", "A", "H", "!", "tab", "shift+tab", "enter", "esc", "i", "?", "t", "T",
		"w", "o", "O", "0", "$", "/", "x", "一", "backspace",
		"f", "F", "S", "V", "L", "v", "d", "X", "m", "M", "ctrl+a", "E", "z", "b", "n", ".", ",", "[", "]", "U", "3",
	}
	for _, profile := range []termenv.Profile{termenv.Ascii, termenv.TrueColor} {
		proptest.Check(t, func(t *rapid.T) {
			c := newConsole(t, board, 0, 0)
			c.dress(themes.Dark, profile)
			sound(t, c.view(), 0, 0)
			for range rapid.IntRange(1, 8).Draw(t, "sizes") {
				w, h := rapid.IntRange(0, 200).Draw(t, "w"), rapid.IntRange(0, 60).Draw(t, "h")
				c.send(tea.WindowSizeMsg{Width: w, Height: h})
				sound(t, c.view(), w, h)
				for _, key := range rapid.SliceOfN(rapid.SampledFrom(keys), 0, 6).Draw(t, "keys") {
					c.press(key)
					sound(t, c.view(), w, h)
				}
			}
		})
	}
}

// Every size from nothing to large, each screen in turn.
func TestEverySize(t *testing.T) {
	c := newConsole(t, hostileBoard(), 80, 24)
	screens := [][]string{
		{},
		{"enter", "t", "T"},
		{"w", "$"},
		{"i"},
		{"?"},
		{"esc", "esc", "esc", "/", "一"},
		{"esc", "f", "down", " "},
		{"F", "esc", "V", "down"},
		{"X"},
		{"esc", "L", "一"},
		{"esc", "ctrl+a", "x"},
		{"esc", "b"},
		{"esc", "esc", "esc", "r"},
		{"i"},
		{"i", "/", "o"},
		{"esc", "esc", "e", "s", "down"},
		{"enter", "down", "i"},
		{"esc", "esc", "g", "d", "s", "down"},
		{"i"},
		{"esc", "A", "down"},
		{"i"},
		{"esc", "g", "u", "down"},
		{"tab", "i"},
	}
	for _, keys := range screens {
		c.press(keys...)
		for w := 1; w <= 200; w += 1 + w/12 {
			for h := 1; h <= 60; h += 1 + h/6 {
				c.send(tea.WindowSizeMsg{Width: w, Height: h})
				sound(t, c.view(), w, h)
			}
		}
		c.send(tea.WindowSizeMsg{Width: 80, Height: 24})
	}
}

// R218: View changes nothing; called twice it gives the same.
func TestViewIsPure(t *testing.T) {
	c := newConsole(t, hostileBoard(), 160, 45)
	for range 200 {
		keys := []string{"down", "enter", "up", "esc", "i", "t"}
		c.press(keys[rand.IntN(len(keys))])
		first := c.view()
		require.Equal(t, first, c.view())
	}
}

// A panic in a command becomes an error on the screen and the console lives on (R209).
func TestPanicInACommand(t *testing.T) {
	b := talk(3)
	c := newConsole(t, panics{b}, 80, 24)
	require.Contains(t, c.footer(), "the console failed inside: out of order")
	c.press("?")
	require.Contains(t, c.view(), "next row")
}

type panics struct{ *uitest.Board }

func (panics) Info(context.Context) (core.Info, error) { panic("out of order") }
