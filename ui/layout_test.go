package ui

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// drawLayout paints each pane with its letter, so that a layout is tested by its picture.
func drawLayout(l layout) string {
	grid := make([][]byte, l.h)
	for y := range grid {
		grid[y] = []byte(strings.Repeat(".", l.w))
	}
	for p, r := range l.panes {
		for y := r.y; y < r.y+r.h; y++ {
			for x := r.x; x < r.x+r.w; x++ {
				grid[y][x] = "STI"[p]
			}
		}
	}
	out := make([]string, 0, l.h)
	for y, row := range grid {
		if y == 0 || y == l.h-1 || string(row) != string(grid[y-1]) {
			out = append(out, string(row)) // a row like the one above it tells nothing
		}
	}
	return strings.Join(out, "\n")
}

func TestLayout(t *testing.T) {
	line := func(runs ...any) string {
		var b strings.Builder
		for i := 0; i < len(runs); i += 2 {
			b.WriteString(strings.Repeat(runs[i].(string), runs[i+1].(int)))
		}
		return b.String()
	}
	bars := func(w int, body string) string { return line(".", w) + "\n" + body + "\n" + line(".", w) }
	cases := []struct {
		name   string
		w, h   int
		focus  pane
		screen screen
		want   string
	}{
		{"wide", 160, 45, paneTree, screenWide, bars(160, line("S", 48, "T", 74, "I", 38))},
		{"wide, smallest", 120, 10, paneInspector, screenWide, bars(120, line("S", 38, "T", 50, "I", 32))},
		{"wide, very", 300, 80, paneTranscript, screenWide, bars(300, line("S", 60, "T", 192, "I", 48))},
		{"medium", 80, 24, paneTree, screenMedium, bars(80, line("S", 34, "T", 46))},
		{"medium, inspector", 80, 24, paneInspector, screenMedium, bars(80, line("S", 34, "I", 46))},
		{"medium, widest", 119, 24, paneTranscript, screenMedium, bars(119, line("S", 44, "T", 75))},
		{"narrow, tree", 40, 12, paneTree, screenNarrow, bars(40, line("S", 40))},
		{"narrow, transcript", 79, 12, paneTranscript, screenNarrow, bars(79, line("T", 79))},
		{"narrow, inspector", 40, 10, paneInspector, screenNarrow, bars(40, line("I", 40))},
		{"too low", 200, 9, paneTree, screenTooSmall, line(".", 200) + "\n" + line(".", 200)},
		{"too narrow", 39, 40, paneTree, screenTooSmall, line(".", 39) + "\n" + line(".", 39)},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			l := arrange(c.w, c.h, c.focus, widths{})
			require.Equal(t, c.screen, l.screen)
			require.Equal(t, c.want, drawLayout(l))
		})
	}
}

// At every size the panes of a screen fill the body exactly, and the one in focus is shown.
func TestLayoutFillsTheBody(t *testing.T) {
	for w := minWidth; w <= 260; w++ {
		for _, focus := range []pane{paneTree, paneTranscript, paneInspector} {
			l := arrange(w, 30, focus, widths{})
			sum := 0
			for p, r := range l.panes {
				if r.shown() && !(l.over && pane(p) == paneTranscript) {
					sum += r.w
					require.Equal(t, 28, r.h)
				}
			}
			require.Equal(t, w, sum, "width %d", w)
			require.True(t, l.panes[focus].shown())
		}
	}
}
