package ui

import (
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"cordboard/core"
)

// scope says where an action's keys work.
type scope uint8

const (
	anywhere scope = iota
	inTree
	inTranscript
	inInspector
	inView // any view that takes the place of the panes; those that follow are such
	inRuns
	inExchanges
	inTimeline
	inDeliveries
	inAudit
	inUsage
)

var scopeTitles = [...]string{"Everywhere", "Sessions", "Transcript", "Inspector", "In every view", "Runs", "Exchanges", "Exchange", "Deliveries", "Audit", "Usage"}

// isView reports whether the keys are those of a view that has taken the place of the panes.
func (s scope) isView() bool { return s >= inView }

// chain is where an action of a key is looked for, in this order.
func (s scope) chain() []scope {
	if s > inView {
		return []scope{s, inView, anywhere}
	}
	return []scope{s, anywhere}
}

// action is something the operator can do, as data: dispatch, footer, help, palette and keymap files derive from it (console.md §8).
type action struct {
	id    string   // stable name, "area.verb": what keymap files call it
	keys  []string // as bubbletea names them; the first is the one the footer shows
	text  string   // for help and palette
	hint  string   // for the footer; "" keeps it out
	scope scope
	over  bool // one that works anywhere also does while a view has taken the place of the panes
	run   func(*Model) tea.Cmd
	off   func(*Model) string // why it cannot be done now, "" = it can
}

// actions lists every action, in the order of the footer and of the help. Each area lists its own.
func actions() []action {
	return slices.Concat(talkActions(), globalActions(), treeActions(), seeActions(), readingActions(), transcriptActions(), inspectorActions(), viewScopeActions())
}

// globalActions work in every pane.
func globalActions() []action {
	return []action{
		{id: "pane.next", keys: []string{"tab"}, text: "next pane", hint: "pane", run: func(m *Model) tea.Cmd { return m.cycle(1) }},
		{id: "pane.previous", keys: []string{"shift+tab"}, text: "previous pane", run: func(m *Model) tea.Cmd { return m.cycle(-1) }},
		{id: "filter.edit", keys: []string{"/"}, text: "filter sessions by key, name, label, id, channel and model", hint: "filter", run: (*Model).editFilter},
		{id: "inspector.toggle", keys: []string{"i"}, text: "inspector: what is known of the session", hint: "inspect", run: (*Model).toggleInspector},
		{id: "pane.wider", keys: []string{"}"}, text: "make the pane wider", run: func(m *Model) tea.Cmd { return m.widen(4) }, off: onePane},
		{id: "pane.narrower", keys: []string{"{"}, text: "make the pane narrower", run: func(m *Model) tea.Cmd { return m.widen(-4) }, off: onePane},
		{id: "session.parent", keys: []string{"u"}, text: "go to the session that spawned this one", run: (*Model).toParent, off: noParent},
		{id: "console.refresh", keys: []string{"ctrl+r", "f5"}, text: "read everything anew", over: true, run: (*Model).refresh},
		{id: "palette.open", keys: []string{":"}, text: "find a command and run it", hint: "commands", over: true, run: (*Model).openPalette},
		{id: "help.open", keys: []string{"?"}, text: "this help", hint: "help", over: true, run: (*Model).openHelp},
		{id: "console.back", keys: []string{"esc"}, text: "back: close what is open, to the sessions, clear marks, filters, the viewpoint", run: (*Model).back},
		{id: "theme.choose", keys: []string{"ctrl+t"}, text: "try themes on and keep one", over: true, run: (*Model).openLooks, off: noLooks},
		{id: "mouse.toggle", text: "let the mouse scroll and choose, or leave it to the terminal", over: true, run: (*Model).toggleMouse},
		{id: "notices.open", keys: []string{"ctrl+n"}, text: "what was told lately", over: true, run: (*Model).openNotices},
		{id: "console.redraw", keys: []string{"ctrl+l"}, text: "draw the screen anew", over: true, run: func(*Model) tea.Cmd { return tea.ClearScreen }},
		{id: "console.suspend", keys: []string{"ctrl+z"}, text: "suspend; fg brings it back", over: true, run: (*Model).suspend, off: (*Model).noSuspend},
		{id: "console.quit", keys: []string{"q"}, text: "quit; nothing that runs is stopped by it", hint: "quit", over: true, run: (*Model).quit},
		{id: "console.interrupt", keys: []string{"ctrl+c"}, text: "quit too; it stops nothing that runs", over: true, run: (*Model).interrupt},
	}
}

// label is the action's keys as people read them.
func (a *action) label() string {
	names := make([]string, len(a.keys))
	for i, key := range a.keys {
		names[i] = keyLabel(key)
	}
	return strings.Join(names, " ")
}

// keyLabel is a key as people read it.
func keyLabel(key string) string {
	if first, second, two := cutKeys(key); two {
		return keyLabel(first) + keyLabel(second)
	}
	for _, modifier := range [...]string{"ctrl+", "alt+", "shift+"} {
		if rest, ok := strings.CutPrefix(key, modifier); ok && rest != "" {
			return modifier + keyLabel(rest)
		}
	}
	switch key {
	case "up":
		return "↑"
	case "down":
		return "↓"
	case "left":
		return "←"
	case "right":
		return "→"
	case " ":
		return "space"
	case "pgdown":
		return "pgdn"
	}
	return key
}

// action finds an action by its id, nil when there is none.
func (m *Model) action(id string) *action {
	for i := range m.actions {
		if m.actions[i].id == id {
			return &m.actions[i]
		}
	}
	return nil
}

func noParent(m *Model) string {
	h := m.fleet.heads[m.tree.selected()]
	if h == nil || h.Parent == "" {
		return "nobody spawned this session"
	}
	parent := m.fleet.heads[h.Parent]
	if parent == nil {
		return "the session that spawned this one is gone"
	}
	if _, ok := m.tree.forest.find(h.Parent); ok {
		return ""
	}
	switch {
	case parent.Flags.Has(core.FlagArchived) && !m.filter.archived:
		return "the session that spawned this one is archived: " + m.keyFor("archived.toggle") + " shows it"
	case m.onlySeen() != nil:
		return "the session that spawned this one is hidden from " + m.sight.viewpoint + ": " + m.keyFor("look.hide") + " shows it dimmed"
	}
	return "the filter leaves out the session that spawned this one: " + m.keyFor("filter.clear") + " clears it"
}
