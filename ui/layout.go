package ui

// pane names one of the three parts of the screen.
type pane uint8

const (
	paneTree pane = iota
	paneTranscript
	paneInspector
)

// screen is the shape that fits the window (console.md §1).
type screen uint8

const (
	screenTooSmall screen = iota
	screenNarrow          // one pane at a time
	screenMedium          // tree and transcript, the inspector over them
	screenWide            // all three
)

// The smallest window that is drawn, and where the shapes change, in cells.
const (
	minWidth    = 40
	minHeight   = 10
	mediumWidth = 80
	wideWidth   = 120
)

// rect is a part of the window in cells. A rect without width is not shown.
type rect struct{ x, y, w, h int }

func (r rect) shown() bool { return r.w > 0 && r.h > 0 }

// inner is what a box's border leaves.
func (r rect) inner() (w, h int) { return max(r.w-2, 0), max(r.h-2, 0) }

// layout says where everything is. Panes include their borders; header and footer take one line each.
type layout struct {
	screen screen
	w, h   int
	panes  [3]rect
	focus  pane
	over   bool // the inspector lies over the transcript
}

// arrange is the layout for a window and the pane that has the focus. It depends on nothing else.
func arrange(w, h int, focus pane) layout {
	l := layout{w: w, h: h, focus: focus}
	body := rect{0, 1, w, h - 2}
	switch {
	case w < minWidth || h < minHeight:
	case w < mediumWidth:
		l.screen = screenNarrow
		l.panes[focus] = body
	case w < wideWidth:
		l.screen = screenMedium
		tree := clamp(w*2/5, 34, 44)
		l.panes[paneTree] = rect{0, 1, tree, body.h}
		l.panes[paneTranscript] = rect{tree, 1, w - tree, body.h}
		if focus == paneInspector {
			l.panes[paneInspector] = l.panes[paneTranscript]
			l.over = true
		}
	default:
		l.screen = screenWide
		tree, insp := clamp(w*30/100, 38, 60), clamp(w*24/100, 32, 48)
		l.panes[paneTree] = rect{0, 1, tree, body.h}
		l.panes[paneTranscript] = rect{tree, 1, w - tree - insp, body.h}
		l.panes[paneInspector] = rect{w - insp, 1, insp, body.h}
	}
	return l
}

func clamp(n, low, high int) int { return max(low, min(n, high)) }
