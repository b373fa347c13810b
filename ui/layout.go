package ui

import tea "github.com/charmbracelet/bubbletea"

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
	news   int  // lines above the footer that tell what changed
	over   bool // the inspector lies over the transcript
}

// widths is how many cells the operator made panes wider (or narrower) than they are by themselves, by the shape of the screen.
type widths struct {
	Medium    int `json:"medium,omitempty"`    // tree
	Wide      int `json:"wide,omitempty"`      // tree
	Inspector int `json:"inspector,omitempty"` // where all three are shown
}

// The narrowest a pane is made.
const (
	leastTree       = 24
	leastTranscript = 30
	leastInspector  = 24
)

// arrange is the layout for a window, the pane that has the focus and the widths chosen. It depends on nothing else.
func arrange(w, h int, focus pane, by widths) layout {
	l := layout{w: w, h: h, focus: focus}
	body := rect{0, 1, w, h - 2}
	switch {
	case w < minWidth || h < minHeight:
	case w < mediumWidth:
		l.screen = screenNarrow
		l.panes[focus] = body
	case w < wideWidth:
		l.screen = screenMedium
		tree := clamp(clamp(w*2/5, 34, 44)+by.Medium, leastTree, w-leastTranscript)
		l.panes[paneTree] = rect{0, 1, tree, body.h}
		l.panes[paneTranscript] = rect{tree, 1, w - tree, body.h}
		if focus == paneInspector {
			l.panes[paneInspector] = l.panes[paneTranscript]
			l.over = true
		}
	default:
		l.screen = screenWide
		insp := clamp(clamp(w*24/100, 32, 48)+by.Inspector, leastInspector, w-leastTree-leastTranscript)
		tree := clamp(clamp(w*30/100, 38, 60)+by.Wide, leastTree, w-insp-leastTranscript)
		l.panes[paneTree] = rect{0, 1, tree, body.h}
		l.panes[paneTranscript] = rect{tree, 1, w - tree - insp, body.h}
		l.panes[paneInspector] = rect{w - insp, 1, insp, body.h}
	}
	return l
}

func clamp(n, low, high int) int { return max(low, min(n, high)) }

// widen makes the pane in focus wider, or narrower; the transcript takes what the others leave.
func (m *Model) widen(by int) tea.Cmd {
	before, old := m.lay.panes, m.widths
	step := &m.widths.Wide
	switch {
	case m.lay.screen == screenMedium:
		step = &m.widths.Medium
	case m.focus == paneInspector:
		step = &m.widths.Inspector
	}
	if m.focus == paneTranscript {
		by = -by
	}
	*step += by
	if arrange(m.w, m.h, m.focus, m.widths).panes == before {
		m.widths = old
		m.said = "the panes cannot be parted any further"
	}
	return nil
}

func onePane(m *Model) string {
	switch {
	case m.lay.screen == screenNarrow:
		return "the window shows one pane at a time"
	case m.lay.over:
		return "the inspector lies over the transcript: " + m.keyFor("inspector.toggle") + " closes it"
	}
	return ""
}
