package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"cordboard/ui/safe"
)

// bar is a progress bar on standard error, drawn only where a person can see it and at most ten times a second.
type bar struct {
	w       io.Writer
	title   string
	visible bool
	width   func() int // of the terminal, nil or 0 = not known
	drawn   time.Time
}

func (a *app) newBar(title string) *bar {
	return &bar{w: a.err, title: title, visible: a.progress && !a.json, width: a.barWidth}
}

const barCells = 30

// show draws the bar at done of total (any unit), with a note behind it that must be safe to print.
func (b *bar) show(done, total int64, note string) {
	now := time.Now()
	if !b.visible || now.Sub(b.drawn) < 100*time.Millisecond {
		return
	}
	b.drawn = now
	share := 0.0
	if total > 0 {
		share = min(1, float64(done)/float64(total))
	}
	fmt.Fprint(b.w, "\r\x1b[K"+b.line(share, note))
}

// line is the bar at a share of its length, no wider than the terminal: one that wraps would be left standing.
func (b *bar) line(share float64, note string) string {
	full := int(share * barCells)
	text := fmt.Sprintf("%s %s%s %3.0f%%  %s", b.title, strings.Repeat("█", full), strings.Repeat("░", barCells-full), share*100, note)
	if b.width == nil {
		return text
	}
	if w := b.width(); w > 0 {
		text = safe.Cut(text, w-1)
	}
	return text
}

// done takes the bar away.
func (b *bar) done() {
	if b.visible && !b.drawn.IsZero() {
		fmt.Fprint(b.w, "\r\x1b[K")
	}
}
