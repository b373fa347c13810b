package ui

import (
	"fmt"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/muesli/termenv"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cordboard/core/proptest"
	"cordboard/themes"
	"cordboard/ui/safe"
)

func paste(text string) tea.KeyMsg {
	return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(text), Paste: true}
}

// What is typed, pasted and cut is what a plain string would be, byte for byte, and what is counted is there.
func TestEditorIsAString(t *testing.T) {
	bits := []string{"a", "word ", "\n", "\t", "\r\n", "会議", "e\u0301", "👩‍👩‍👧", "\x1b[2J", "\u202e", strings.Repeat("x", 5000), strings.Repeat("日本 ", 2000), "\x00"}
	keys := []string{"left", "right", "up", "down", "home", "end", "pgup", "pgdown", "ctrl+a"}
	cuts := []string{"backspace", "delete", "ctrl+w", "ctrl+u", "ctrl+k", "alt+d"}
	proptest.Check(t, func(t *rapid.T) {
		e := newEditor("")
		w, h := rapid.IntRange(2, 60).Draw(t, "w"), rapid.IntRange(1, 12).Draw(t, "h")
		for range rapid.IntRange(0, 25).Draw(t, "steps") {
			before, at := e.text(), e.offset()
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0, 1:
				bit := rapid.SampledFrom(bits).Draw(t, "bit")
				e.press(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(bit)}, w, h)
				require.Equal(t, before[:at]+bit+before[at:], e.text())
				require.Equal(t, at+len(bit), e.offset())
			case 2:
				require.True(t, e.press(keyMsg(rapid.SampledFrom(keys).Draw(t, "key")), w, h))
				require.Equal(t, before, e.text(), "to move changes nothing")
			case 3:
				key := rapid.SampledFrom(cuts).Draw(t, "cut")
				require.True(t, e.pressCut(key))
				now := e.offset()
				gone := len(before) - len(e.text())
				require.GreaterOrEqual(t, gone, 0)
				require.Equal(t, before[:now]+before[now+gone:], e.text(), key)
			}
			text := e.text()
			require.Equal(t, len(text), e.bytes)
			require.Equal(t, strings.Count(text, "\n"), e.breaks)
			for _, l := range e.draw(&inksOf(t).panel, w, h, true) {
				require.Equal(t, w, safe.Width(l))
			}
		}
	})
}

func inksOf(t tester) *inks { return newInks(styles(t, themes.Dark, termenv.Ascii)) }

// offset is where in the text the cursor is.
func (e *editor) offset() int {
	n := e.off
	for _, p := range e.pieces[:e.at] {
		n += len(p.text)
		if p.end {
			n++
		}
	}
	return n
}

// The cursor can be walked over every character there and back, and by rows from one end to the other.
func TestEditorWalks(t *testing.T) {
	text := "one two\n\n" + strings.Repeat("long ", 2000) + "\n会議は明日です\tend\r\n" + strings.Repeat("日", 3000)
	for _, w := range []int{3, 10, 80} {
		e := newEditor(text)
		steps := 0
		for e.offset() > 0 {
			was := e.offset()
			e.place(e.before(e.at, e.off))
			require.Less(t, e.offset(), was)
			steps++
		}
		for range steps {
			e.place(e.after(e.at, e.off))
		}
		require.Equal(t, len(text), e.offset())
		e.toStart()
		for {
			was := e.offset()
			e.move(1, w)
			if e.cursorRow(w) == (rowAt{len(e.pieces) - 1, len(rowsOf(e.pieces[len(e.pieces)-1].text, w)) - 1}) {
				break
			}
			require.Greater(t, e.offset(), was)
		}
		e.press(keyMsg("end"), w+1, 5)
		require.Equal(t, len(text), e.offset())
	}
}

func TestEditorKeepsItsColumn(t *testing.T) {
	e := newEditor("12345678\n12\n12345678")
	e.place(0, 6)
	e.move(1, 40)
	require.Equal(t, 1, e.at)
	require.Equal(t, 2, e.off)
	e.move(1, 40)
	require.Equal(t, 6, e.off)
	e.move(-2, 40)
	require.Equal(t, 6, e.off)
}

func TestEditorDraws(t *testing.T) {
	e := newEditor("one two three\n\tx\x1b[2J\n会議は")
	lines := e.draw(&inksOf(t).panel, 9, 6, true)
	require.Equal(t, []string{"one two  ", "three    ", "    x␛[2 ", "J        ", "会議は▏  "}, lines[:5])
	e.place(0, 4)
	require.Equal(t, "one ▏two ", e.draw(&inksOf(t).panel, 9, 6, true)[0])
}

// A terminal that pastes newlines as carriage returns means newlines; what has newlines of its own stays as it is.
func TestPastedLineEnds(t *testing.T) {
	for pastedText, want := range map[string]string{"a\rb\rc": "a\nb\nc", "a\r\nb\r\n": "a\r\nb\r\n", "a\rb\nc": "a\rb\nc", "\ta\x01": "\ta\x01"} {
		e := newEditor("")
		e.press(paste(pastedText), 80, 10)
		require.Equal(t, want, e.text())
	}
}

// A key in a text of a megabyte, in many lines and in one: what it costs does not grow with the text.
func BenchmarkKeyInAMegabyte(b *testing.B) {
	for name, text := range map[string]string{
		"lines": strings.Repeat(strings.Repeat("word ", 20)+"\n", 10_000),
		"line":  strings.Repeat("word ", 200_000),
		"cjk":   strings.Repeat("会議は明日です。", 44_000),
	} {
		k := inksOf(b)
		b.Run(name, func(b *testing.B) {
			e := newEditor(text)
			e.place(len(e.pieces)/2, 0)
			b.ReportAllocs()
			for b.Loop() {
				e.press(keyMsg("x"), 94, 14)
				e.draw(&k.panel, 94, 14, true)
			}
		})
	}
}

// What a key changes of a large text is one piece.
func TestAKeyTouchesOnePiece(t *testing.T) {
	e := newEditor(strings.Repeat("word ", 200_000))
	e.place(100, 7)
	before := append([]piece(nil), e.pieces...)
	e.press(keyMsg("x"), 80, 10)
	changed := 0
	for i := range e.pieces {
		require.LessOrEqual(t, len(e.pieces[i].text), pieceMost)
		if i >= len(before) || e.pieces[i] != before[i] {
			changed++
		}
	}
	require.LessOrEqual(t, len(e.pieces), len(before)+1)
	require.NotZero(t, changed, fmt.Sprint(len(before)))
}
