package ui

import (
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"cordboard/core"
	"cordboard/ui/safe"
)

// The accessible console (console.md §6) shows one pane at a time without boxes, tells what changes in lines that are added at the
// bottom, the newest last, and keeps the terminal's own cursor at the selection, where a screen reader or a magnifier looks.

// newsLines is how many lines at the bottom tell what changed.
func newsLines(h int) int {
	if h < 18 {
		return 2
	}
	return 4
}

// linear is the layout of the accessible console.
func linear(w, h int, focus pane) layout {
	l := layout{w: w, h: h, focus: focus}
	if w < minWidth || h < minHeight {
		return l
	}
	l.screen = screenNarrow
	l.news = newsLines(h)
	l.panes[focus] = rect{0, 1, w, h - 2 - l.news}
	return l
}

// announce adds a line to the news of the accessible console. Others see it happen.
func (m *Model) announce(text string) {
	if !m.env.Accessible {
		return
	}
	m.news = append(m.news, safe.Line(text))
	if most := 50; len(m.news) > most {
		m.news = m.news[len(m.news)-most:]
	}
	m.dirty = true
}

// newsBox is the last of the news, as lines.
func (m *Model) newsBox() []string {
	var lines []string
	for _, text := range m.news[max(len(m.news)-m.lay.news, 0):] {
		lines = append(lines, newLine(m.lay.w).space(m.k.text, 1).add(m.k.text, text).end(m.k.text))
	}
	for len(lines) < m.lay.news {
		lines = append([]string{newLine(m.lay.w).end(m.k.text)}, lines...)
	}
	return lines
}

// announceHead tells of a session that came, went or does something else now.
func (m *Model) announceHead(old, now *core.Head) {
	switch {
	case !m.env.Accessible:
	case old == nil && now != nil:
		m.announce("new session: " + nameOf(now))
	case now == nil && old != nil:
		m.announce("session gone: " + nameOf(old))
	case now != nil && stateOf(old) != stateOf(now) && stateOf(now) != stateFailed: // a failure is told to everybody
		m.announce(nameOf(now) + ": " + stateOf(now).word())
	}
}

// announceMessages tells of messages that came to the transcript that is open.
func (m *Model) announceMessages(c core.Change) {
	if m.env.Accessible && m.trans.known && c.ID == m.trans.gen.ID && c.LastSeq >= c.FirstSeq {
		n := int(c.LastSeq - c.FirstSeq + 1)
		m.announce(strconv.Itoa(n) + " more in " + m.trans.key)
	}
}

// pointed is a layer that knows where in its box the cursor belongs, in cells from its top left corner.
type pointed interface{ point(m *Model) (x, y int) }

// Cursor is where the terminal's own cursor belongs, from 1. It may be called while the console works.
func (m *Model) Cursor() (row, col int) {
	at := m.point.Load()
	return int(at>>16) + 1, int(at&0xffff) + 1
}

// placeCursor finds the selection on the screen.
func (m *Model) placeCursor() {
	x, y := 0, 0
	switch l := m.top(); {
	case m.lay.screen == screenTooSmall:
	case l != nil:
		x, y = m.pointIn(l)
	default:
		x, y = m.pointInPane()
	}
	m.point.Store(uint32(clamp(y, 0, max(m.h-1, 0)))<<16 | uint32(clamp(x, 0, max(m.w-1, 0)))) //nolint:gosec // a window is no wider
}

func (m *Model) pointIn(l layer) (x, y int) {
	box := l.draw(m)
	if len(box) == 0 {
		return 0, 0
	}
	x, y = 1, 1
	if p, ok := l.(pointed); ok {
		x, y = p.point(m)
	} else if i, j, ok := markIn(box); ok {
		x, y = i, j
	}
	left, top := m.corner(l, m.inGlyphs(box))
	return left + x, top + y
}

// markIn finds where something is typed in a box, else the mark of its row that is chosen.
func markIn(box []string) (x, y int, ok bool) {
	for _, mark := range [...]string{"▏", "▌"} {
		for y, text := range box {
			if before, _, ok := strings.Cut(ansi.Strip(text), mark); ok {
				return safe.Width(before), y, true
			}
		}
	}
	return 0, 0, false
}

func (m *Model) pointInPane() (x, y int) {
	r := m.lay.panes[m.focus]
	switch m.focus {
	case paneTree:
		first := r.y + r.h - 1 - m.tree.height
		if m.filter.editing {
			return r.x + 4 + safe.Width(safe.Line(m.filter.input.Value())), max(first-1, 0)
		}
		return r.x + 1, first + m.tree.index - m.tree.top
	case paneTranscript:
		return m.pointInTranscript(r)
	}
	return r.x + 1, r.y + 1
}

// failedSince tells of a session that failed while the console is open, and rings if that is wanted.
func (m *Model) failedSince(old, now *core.Head) tea.Cmd {
	if old == nil || now == nil || stateOf(old) == stateFailed || stateOf(now) != stateFailed {
		return nil
	}
	text := "failed: " + nameOf(now)
	cmds := []tea.Cmd{m.warn(text)}
	if ring := m.env.Notify; ring != nil {
		cmds = append(cmds, func() tea.Msg { ring(safe.Line(text)); return nil })
	}
	return tea.Batch(cmds...)
}
