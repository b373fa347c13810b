package ui

import (
	"context"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"cordboard/core"
	"cordboard/ui/safe"
)

// findAll is the search over every session. It outlives the layer that shows it, so that one hit after the other can be looked at.
type findAll struct {
	field   field
	older   bool // older transcripts and those that no session names too
	needle  needle
	hits    []core.SearchHit
	scanned int64
	running bool
	capped  bool
	number  int
	cancel  context.CancelFunc
	err     error
	at, top int // line under the cursor, and the first in view
}

const (
	findAllMost = 2000 // hits that are listed
	findAllStep = 100  // hits that a step may bring: the first shall come soon
	findAllWide = 120
)

// findAllLayer shows it.
type findAllLayer struct{}

func (m *Model) openFindAll() tea.Cmd {
	m.findAll.field.input.CursorEnd()
	m.open(findAllLayer{})
	return nil
}

// findAllMsg is what a step of the search brought.
type findAllMsg struct {
	number int
	query  core.SearchQuery
	page   core.SearchPage
	err    error
}

// findEverywhere begins the search for what stands in the field.
func (m *Model) findEverywhere() tea.Cmd {
	f := &m.findAll
	f.stop()
	text := f.field.text()
	f.needle, f.hits, f.scanned, f.capped, f.err, f.at, f.top = newNeedle(text), nil, 0, false, nil, 0, 0
	if strings.TrimSpace(text) == "" {
		return nil
	}
	f.running = true
	return m.findAllCmd(core.SearchQuery{Text: text, Generation: f.older, Limit: findAllStep})
}

func (m *Model) findAllCmd(q core.SearchQuery) tea.Cmd {
	ctx, cancel := context.WithCancel(m.ctx)
	m.findAll.cancel = cancel
	number := m.findAll.number
	return func() tea.Msg {
		page, err := guarded(func() (core.SearchPage, error) { return m.env.Board.Search(ctx, q) })
		if ctx.Err() != nil {
			return nil
		}
		return findAllMsg{number, q, page, err}
	}
}

// stop ends the search at work; what it found stays.
func (f *findAll) stop() {
	if f.cancel != nil {
		f.cancel()
	}
	f.cancel, f.running = nil, false
	f.number++
}

func (msg findAllMsg) apply(m *Model) tea.Cmd {
	f := &m.findAll
	if msg.number != f.number || m.ended(msg.err) {
		return nil
	}
	m.dirty = true
	f.cancel()
	if core.CodeOf(msg.err) == core.CodeStoreLocked { // another process only holds the store for a moment
		return m.seams.after(retryAfter(msg.err), findAllAgainMsg{msg.number, msg.query})
	}
	f.hits = append(f.hits, msg.page.Hits...)
	f.scanned += msg.page.Scanned
	f.capped = len(f.hits) >= findAllMost
	if f.err = msg.err; f.err != nil || msg.page.Next == "" || f.capped {
		f.stop()
		return nil
	}
	msg.query.Cursor = msg.page.Next
	return m.findAllCmd(msg.query)
}

// findAllAgainMsg takes a step again.
type findAllAgainMsg struct {
	number int
	query  core.SearchQuery
}

func (msg findAllAgainMsg) apply(m *Model) tea.Cmd {
	if msg.number != m.findAll.number {
		return nil
	}
	return m.findAllCmd(msg.query)
}

// dismissed ends the search when esc closes the layer.
func (findAllLayer) dismissed(m *Model) tea.Cmd {
	m.findAll.stop()
	return nil
}

func (findAllLayer) press(m *Model, msg tea.KeyMsg) tea.Cmd {
	f := &m.findAll
	last := max(len(f.hits)-1, 0)
	switch msg.String() {
	case "down", "ctrl+n":
		f.at = min(f.at+1, last)
	case "up", "ctrl+p":
		f.at = max(f.at-1, 0)
	case "pgdown":
		f.at = min(f.at+m.findAllRows(), last)
	case "pgup":
		f.at = max(f.at-m.findAllRows(), 0)
	case "ctrl+g", "tab":
		f.older = !f.older
		return m.findEverywhere()
	case "ctrl+x":
		f.stop()
	case "enter":
		if len(f.hits) == 0 {
			return nil
		}
		m.closeTop()
		return m.openHit(f.hits[f.at])
	default:
		if f.field.press(msg) {
			return m.findEverywhere()
		}
		return nil
	}
	f.keepInView(m.findAllRows())
	return nil
}

// openHit shows a hit where it was said, and searches on in that transcript.
func (m *Model) openHit(h core.SearchHit) tea.Cmd {
	text := m.findAll.field.text()
	m.clearFind()
	m.find.field.input.SetValue(text)
	m.find.needle = newNeedle(text) // settle searches when the transcript is there
	return m.visitTo(target{key: h.Session, generation: h.Generation, seq: h.Seq, needle: m.find.needle})
}

func (f *findAll) keepInView(rows int) { f.top = clamp(f.top, f.at-rows+1, f.at) }

// findAllRows is how many hits are in view, two lines each.
func (m *Model) findAllRows() int {
	_, room := m.layerRoom(findAllWide)
	return max((room-4)/2, 1)
}

func (findAllLayer) draw(m *Model) []string {
	f := &m.findAll
	w, room := m.layerRoom(findAllWide)
	k := &m.k.panel
	lines := []string{f.field.line(w-2, "/ ", k), newLine(w-2).add(k.muted, " "+safe.Cut(f.state(), w-4)).end(k.text)}
	rows := m.findAllRows()
	for i := f.top; i < min(f.top+rows, len(f.hits)); i++ {
		lines = append(lines, m.hitLines(i, w-2)...)
	}
	return m.panel("Search every session", f.foot(w), lines, w, room)
}

func (f *findAll) foot(w int) string {
	other := "tab older too"
	switch {
	case f.running:
		other = "ctrl+x stops"
	case f.older:
		other = "tab current only"
	}
	if w < mediumWidth-20 {
		return other + " · esc"
	}
	return "enter opens · " + other + " · esc closes"
}

// point is in the field until there is something to choose from.
func (findAllLayer) point(m *Model) (x, y int) {
	f := &m.findAll
	if len(f.hits) == 0 {
		return 4 + safe.Width(safe.Line(f.field.text())), 1
	}
	return 1, 3 + 2*(f.at-f.top)
}

// state is how far the search is.
func (f *findAll) state() string {
	what := plural(len(f.hits), "hit")
	if f.older {
		what += " · older transcripts too"
	}
	switch {
	case f.err != nil:
		return safe.Line(f.err.Error())
	case !f.needle.set():
		return "type what to look for: upper and lower case are alike"
	case f.running:
		return what + " · searching… " + bytesOf(f.scanned)
	case f.capped:
		return "the first " + what + ": say more of it"
	}
	return what + " in " + bytesOf(f.scanned)
}

// hitLines tell of a hit: where, who and when, and what was said around it.
func (m *Model) hitLines(i, w int) []string {
	h := m.findAll.hits[i]
	sh, mark := &m.k.panel, "   "
	over := m.k.match
	if i == m.findAll.at {
		sh, mark, over = &m.k.sel, " ▌ ", m.k.matchCurrent
	}
	age := ""
	if h.At > 0 {
		age = ago(m.env.Now(), h.At)
	}
	who := map[core.Role]string{core.RoleAssistant: "agent", core.RoleToolResult: "tool"}[h.Role]
	note := firstOf(who, h.Role.String()) + prefixed(" · ", age)
	head := newLine(w).add(sh.accent, mark)
	name := m.hitName(h)
	head.add(sh.strong, safe.Cut(name, max(head.left-safe.Width(note)-3, 1)))
	head.space(sh.text, head.left-safe.Width(note)-1).add(sh.muted, note)
	before, match, after := safe.Line(h.Snippet[:h.Match[0]]), safe.Line(h.Snippet[h.Match[0]:h.Match[1]]), safe.Line(h.Snippet[h.Match[1]:])
	said := newLine(w).add(sh.accent, mark)
	before = safe.KeepTail(before, max(said.left/3, said.left-safe.Width(match)-safe.Width(after)-1))
	said.add(sh.text, before).add(over, match).add(sh.text, after)
	return []string{head.end(sh.text), said.end(sh.text)}
}

// hitName is the session of a hit as a person knows it, and which of its transcripts it is when that is not the current one.
func (m *Model) hitName(h core.SearchHit) string {
	if h.Session == "" {
		return "no session · " + safe.Line(h.Generation)
	}
	name := safe.Line(h.Session)
	if head := m.fleet.heads[h.Session]; head != nil {
		if title := nameOf(head); title != safe.Column(shortKey(h.Session)) && title != "" {
			name = title + " · " + name
		}
	}
	return name
}
