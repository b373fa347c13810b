package ui

import (
	"strconv"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"cordboard/core"
	"cordboard/ui/safe"
)

// transcriptList is the layer that lists what can be read beside the current transcripts: the older ones of a session, and those that no
// session names.
type transcriptList struct {
	key     string // session, "" = none is chosen
	own     []core.Generation
	orphans []core.Generation
	loading bool
	err     error
	at      int
}

// listWide is the most the list takes across.
const listWide = 100

// orphansMost is how many transcripts without a session are listed.
const orphansMost = 1000

type orphansMsg struct {
	list *transcriptList
	page core.RecordPage
	err  error
}

func (m *Model) openTranscripts() tea.Cmd {
	l := &transcriptList{key: m.trans.key, own: m.generations(), loading: true}
	for i, g := range l.own {
		if g.ID == m.trans.gen.ID {
			l.at = i
		}
	}
	m.open(l)
	return func() tea.Msg {
		page, err := guarded(func() (core.RecordPage, error) {
			return m.env.Board.Records(m.ctx, core.RecordQuery{Kind: core.RecordOrphans, Limit: orphansMost})
		})
		return orphansMsg{l, page, err}
	}
}

func (msg orphansMsg) apply(m *Model) tea.Cmd {
	if m.ended(msg.err) {
		return nil
	}
	l := msg.list
	l.loading, l.err, l.orphans = false, msg.err, msg.page.Generations
	if len(l.own) == 0 {
		for i, g := range l.orphans {
			if g.ID == m.trans.gen.ID {
				l.at = i
			}
		}
	}
	m.dirty = true
	return nil
}

func (l *transcriptList) len() int { return len(l.own) + len(l.orphans) }

func (l *transcriptList) press(m *Model, msg tea.KeyMsg) tea.Cmd {
	last := max(l.len()-1, 0)
	switch msg.String() {
	case "down", "j":
		l.at = min(l.at+1, last)
	case "up", "k":
		l.at = max(l.at-1, 0)
	case "pgdown":
		l.at = min(l.at+10, last)
	case "pgup":
		l.at = max(l.at-10, 0)
	case "home", "g":
		l.at = 0
	case "end", "G":
		l.at = last
	case "enter":
		if l.at >= l.len() {
			return nil
		}
		m.closeTop()
		if l.at < len(l.own) {
			return m.visitTo(target{key: l.key, generation: l.own[l.at].ID})
		}
		return m.visitTo(target{generation: l.orphans[l.at-len(l.own)].ID})
	case "q":
		m.closeTop()
	}
	return nil
}

func (l *transcriptList) draw(m *Model) []string {
	w, room := m.layerRoom(listWide)
	all, under := l.lines(m, w-2)
	rows, top := middle(under, len(all), room-2)
	return m.panel("Transcripts", "enter reads · esc closes", all[top:top+rows], w, rows+2)
}

func (l *transcriptList) point(m *Model) (x, y int) {
	w, room := m.layerRoom(listWide)
	all, under := l.lines(m, w-2)
	_, top := middle(under, len(all), room-2)
	return 1, 1 + under - top
}

// lines are the whole list, and which of them the cursor is on.
func (l *transcriptList) lines(m *Model, w int) (all []string, under int) {
	k := &m.k.panel
	heading := func(text string) { all = append(all, newLine(w).add(k.muted, " "+safe.Cut(text, w-2)).end(k.text)) }
	if l.key != "" {
		heading(safe.Line(l.key))
	}
	for i := range l.own {
		if i == l.at {
			under = len(all)
		}
		all = append(all, l.line(m, &l.own[i], i == l.at, w))
	}
	switch {
	case l.loading:
		heading("No session names these: reading…")
	case l.err != nil:
		heading(safe.Line(l.err.Error()))
	case len(l.orphans) == 0:
		heading("Every other transcript is named by a session.")
	default:
		heading("No session names these")
	}
	for i := range l.orphans {
		if len(l.own)+i == l.at {
			under = len(all)
		}
		all = append(all, l.line(m, &l.orphans[i], len(l.own)+i == l.at, w))
	}
	return all, under
}

func (l *transcriptList) line(m *Model, g *core.Generation, here bool, w int) string {
	sh, mark := &m.k.panel, "   "
	if here {
		sh, mark = &m.k.sel, " ▌ "
	}
	when := "–"
	if at := max(g.CreatedAt, g.EndedAt); at > 0 {
		when = time.UnixMilli(at).In(m.env.Zone).Format("2 Jan 2006 15:04")
	}
	out := newLine(w).add(sh.accent, mark).add(sh.text, safe.Fit(safe.Column(string(g.State)), 9))
	if w >= minWidth+20 {
		out.add(sh.muted, safe.Pad(when, 19))
	}
	out.add(sh.text, safe.PadLeft(strconv.Itoa(g.Messages), 7)+" msg  ")
	return out.add(sh.muted, safe.CutMiddle(safe.Column(fileOf(g)), out.left-1)).end(sh.text)
}

// fileOf is the name of the file a transcript was read from, else its id, and whose it is when no session names it.
func fileOf(g *core.Generation) string {
	name := firstOf(g.File[strings.LastIndexByte(g.File, '/')+1:], g.ID)
	if g.Key == "" && g.Agent != "" {
		return g.Agent + " · " + name
	}
	return name
}
