package ui

import (
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"cordboard/core"
)

// readFilter is what the transcript leaves out, as the operator chooses it.
type readFilter struct {
	out    voices // who is left out
	errors bool   // only what failed
	within time.Duration
}

// voices are kinds of transcript lines, a bit each in the order of voicesShown.
type voices uint8

var voicesShown = [...]struct {
	label string
	roles []core.Role
}{
	{"user", []core.Role{core.RoleUser}},
	{"agent", []core.Role{core.RoleAssistant}},
	{"tools", []core.Role{core.RoleToolResult}},
	{"system", []core.Role{core.RoleSystem, core.RoleOther}},
	{"events", []core.Role{core.RoleEvent}},
}

const everyVoice = voices(1<<len(voicesShown)) - 1

// readWithins are the times that the menu offers.
var readWithins = [...]time.Duration{time.Hour, 6 * time.Hour, 24 * time.Hour, 7 * 24 * time.Hour, 30 * 24 * time.Hour}

func (f readFilter) active() bool { return f != readFilter{} }

// query is the filter as the board takes it. Times count back from now.
func (f readFilter) query(now time.Time) core.MessageFilter {
	q := core.MessageFilter{Events: true, Errors: f.errors}
	if f.out != 0 {
		q.Events = false
		for i, v := range voicesShown {
			if f.out&(1<<i) == 0 {
				q.Roles = append(q.Roles, v.roles...)
				q.Events = q.Events || v.roles[0] == core.RoleEvent
			}
		}
	}
	if f.within > 0 {
		q.Since = now.Add(-f.within).UnixMilli()
	}
	return q
}

// text is the filter in a few words: what is left in when that is less than what is left out.
func (f readFilter) text() string {
	var words, in, out []string
	for i, v := range voicesShown {
		if f.out&(1<<i) != 0 {
			out = append(out, "no "+v.label)
		} else {
			in = append(in, v.label)
		}
	}
	switch {
	case f.out == 0:
	case len(out) < len(in):
		words = append(words, out...)
	default:
		words = append(words, "only "+strings.Join(in, ", "))
	}
	if f.errors {
		words = append(words, "errors")
	}
	if f.within > 0 {
		words = append(words, "last "+lapse(f.within))
	}
	return strings.Join(words, " · ")
}

// everything is a transcript with nothing left out.
func everything() core.MessageFilter { return readFilter{}.query(time.Time{}) }

func same(a, b core.MessageFilter) bool {
	return a.NoTools == b.NoTools && a.Events == b.Events && a.Errors == b.Errors && a.Since == b.Since && slices.Equal(a.Roles, b.Roles)
}

// setNarrow fetches the transcript anew through a filter; the message under the cursor stays, or the one after it.
func (t *transcript) setNarrow(f core.MessageFilter) {
	if same(f, t.narrow) {
		return
	}
	t.narrow = f
	t.items.clear()
	t.fetch.number++ // what is under way is not filtered like this
	t.known, t.dirty, t.start = false, true, false
	t.seek = nil
	if !t.follow && t.cursor.at > 0 {
		t.seek = &jump{seq: t.cursor.at}
	}
}

func (m *Model) setReadFilter(f readFilter) tea.Cmd {
	m.readFilter = f
	m.trans.setNarrow(f.query(m.env.Now()))
	return nil
}

func (m *Model) openReadMenu() tea.Cmd {
	m.open(&readMenu{})
	return nil
}

func (m *Model) clearReadFilter() tea.Cmd { return m.setReadFilter(readFilter{}) }

func noReadFilter(m *Model) string {
	if !m.readFilter.active() {
		return "nothing is left out of this transcript"
	}
	return ""
}

// readMenu is the layer that chooses what the transcript leaves out.
type readMenu struct{ at int }

// readChoice is a line of it.
type readChoice struct {
	choice
	apply func(*readFilter)
}

func (m *Model) readChoices() []readChoice {
	f := m.readFilter
	list := []readChoice{}
	for i, v := range voicesShown {
		bit := voices(1 << i)
		list = append(list, readChoice{
			choice{label: v.label, on: f.out&bit == 0, many: true},
			func(f *readFilter) {
				if f.out ^= bit; f.out == everyVoice {
					f.out = 0 // nobody is left: all are
				}
			},
		})
	}
	list = append(list, readChoice{choice{label: "errors only", on: f.errors, many: true}, func(f *readFilter) { f.errors = !f.errors }})
	for _, d := range readWithins {
		list = append(list, readChoice{choice{label: "last " + lapse(d), on: f.within == d}, func(f *readFilter) { f.within = toggled(f.within, d) }})
	}
	return list
}

func (r *readMenu) press(m *Model, msg tea.KeyMsg) tea.Cmd {
	list := m.readChoices()
	f := m.readFilter
	switch msg.String() {
	case "down", "j":
		r.at = min(r.at+1, len(list)-1)
	case "up", "k":
		r.at = max(r.at-1, 0)
	case "home", "g":
		r.at = 0
	case "end", "G":
		r.at = len(list) - 1
	case " ":
		list[r.at].apply(&f)
		return m.setReadFilter(f)
	case "enter":
		if r.at < len(voicesShown) {
			f.out = toggled(f.out, everyVoice&^(1<<r.at))
		} else {
			list[r.at].apply(&f)
		}
		return m.setReadFilter(f)
	case "F":
		return m.clearReadFilter()
	case "f", "q":
		m.closeTop()
	}
	return nil
}

func (r *readMenu) draw(m *Model) []string {
	const wide = 44
	w, room := m.layerRoom(wide)
	list := m.readChoices()
	rows, top := middle(r.at, len(list), room-2)
	var lines []string
	for i := top; i < top+rows; i++ {
		lines = append(lines, list[i].draw(m.k, i == r.at, w-2))
	}
	return m.panel("Show in transcripts", "space on/off · enter only · F all", lines, w, rows+2)
}

func (r *readMenu) point(m *Model) (x, y int) {
	_, room := m.layerRoom(0)
	_, top := middle(r.at, len(m.readChoices()), room-2)
	return 1, 1 + r.at - top
}

// middle is how many of n lines fit, and which is the first when the one at the cursor is to be in the middle.
func middle(at, n, room int) (rows, top int) {
	rows = max(min(room, n), 0)
	return rows, clamp(at-rows/2, 0, n-rows)
}
