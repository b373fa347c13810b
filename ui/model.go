// Package ui is the console: one tea.Model over a core.Board (console.md).
//
// How it flows. A key becomes an action (actions.go), an action changes a pane or returns a command (cmds.go); what a command brings
// comes back as a message (update.go) and goes to the state it belongs to: heads to the fleet, pages to the transcript, details to the
// inspector. Changes of the store come as batches through one outstanding command (live.go). After every message settle brings what
// depends on what up to date: layout, panes whose content changed, requests that are due. View only puts lines together.
//
// What stays where it is. The cursor of the tree is a session key, the top of the transcript a message's seq and a line in it; neither is
// an index, so nothing that is sorted, loaded or appended moves what is looked at. The same holds for the message under the cursor
// (cursor.go), for the matches of a search (find.go) and for the places that jumps lead to and from (visit.go).
//
// What is written. A form (form.go) is bound to the session it was opened on and keeps its text as a draft (drafts.go) until that is sent;
// what was sent is a flight (flight.go), which goes on when its form is closed.
//
// What takes the place of the panes: the views of runs, exchanges, deliveries, audit and usage (stage.go, table.go). They are layers whose
// keys are actions with scopes of their own, and they hear of changes and ask the board by themselves.
//
// What is drawn. Every stored text goes through ui/safe, every line is exactly as wide as its pane, colours are resolved once per theme.
package ui

import (
	"context"
	"strings"
	"sync/atomic"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"cordboard/core"
	"cordboard/themes"
	"cordboard/ui/md"
)

// Env is everything the console gets from outside: it asks neither the process nor the terminal for anything. Title, Width and Height
// may be left out.
type Env struct {
	Board core.Board
	Theme *themes.Styles
	// ThemeName is what Theme is called. ThemeFixed says that the command line chose it, so that none kept from an earlier run is put on.
	ThemeName  string
	ThemeAsked string // what the config says, "auto" included: a theme kept from an earlier run holds only while that stays as it was
	ThemeFixed bool
	// Looks are the other themes to choose from; nil = none.
	Looks Looks
	Title string // what the header calls the store, as a person writes it; "" = the path the board names
	Now   func() time.Time
	Zone  *time.Location // of the times shown
	// Width and Height are the window's size where it is known before the first tea.WindowSizeMsg, else 0.
	Width, Height int
	// Accessible makes the screen linear: one pane, no boxes, what changes is told in lines of its own, and Cursor says where the
	// terminal's own cursor belongs. ASCII draws our own signs and borders in it. Mouse says that the wheel and clicks are wanted.
	Accessible, ASCII, Mouse bool
	// NoSuspend is why the console cannot be suspended now; "" = it can. nil = it always can.
	NoSuspend func() string
	// Notify tells of a failure outside the screen (ui.notifications); nil = nobody wants that.
	Notify func(text string)
	// Keys are the operator's own keys, checked by ReadKeys.
	Keys Keys
	// State keeps what is remembered until the next run; nil = nothing is.
	State State
	// Export writes a session's transcript to a file and returns its path; nil = there is no place for files.
	Export func(ctx context.Context, session string) (string, error)
	// Outside is what lies beyond the screen: clipboard, files, editor, pager; nil = nothing does.
	Outside Outside
	// OpenClaw are the state directories found on this machine, offered on an empty store.
	OpenClaw []string
	// NewID makes an id that nobody else makes; nil = messages carry no idempotency key.
	NewID func() string
	// Start is where the console opens.
	Start Start
	// Notices are told as toasts at the start: what went wrong on the way here and was done without.
	Notices []string
}

// Start is where a console opens: what deep links on the command line say. Blank fields say nothing.
type Start struct {
	Session string // key of the session under the cursor
	View    string // name of a saved view
	Filter  string // text
	LookAs  string // key of the session through whose eyes the tree is seen
}

// Model is the console. Close it after the program has ended.
type Model struct {
	env     Env
	k       *inks
	actions []action
	keys    keymap
	ctx     context.Context
	cancel  context.CancelFunc
	seams   seams

	fleet  fleet
	tree   tree
	filter filter
	trans  transcript
	reads
	talks
	hearing  hearing
	permits  requests
	lineup   lineup
	insp     inspector
	stand    stand // views in the place of the panes
	sequence sequence
	rush     rush
	layers   []layer // over the panes, the top one last
	toasts   toasts
	attire   attire
	focus    pane
	behind   pane // had the focus before the inspector
	order    order
	sight    sight
	looking  looking
	marks    marks
	undo     []undoable // the last job last
	unread   unread
	reading  readingNow
	views    []SavedView // by name
	linked   bool        // the command line chose the filters of this run: those of the last one stay remembered

	link     link
	arrival  arrival
	memories []memory
	keeper   keeper
	unsaved  error    // of the last save, at the end
	early    []string // notices from before the first frame
	widths   widths
	mouse    bool
	ran      []string      // ids of commands last run from the palette
	news     []string      // told by the accessible console
	point    atomic.Uint32 // the selection on the screen: row << 16 | column

	w, h    int
	lay     layout
	said    string // an answer to the last key
	trouble string // why the view may be behind the store
	lastKey time.Time
	parting string

	boxes     [3][]string // panes as drawn
	barsDirty bool
	head      string
	foot      string
	laidOut   layout // what the boxes were drawn for
	dirty     bool
	frame     string
}

// New makes a console on a board. The board stays the caller's to close.
func New(env Env) *Model {
	ctx, cancel := context.WithCancel(context.Background())
	k := newInks(env.Theme)
	m := &Model{
		env: env, k: k, actions: env.Keys.over(actions()), ctx: ctx, cancel: cancel,
		fleet: newFleet(), tree: newTree(), filter: newFilter(), reads: newReads(), talks: newTalks(), hearing: newHearing(), lineup: newLineup(),
		trans: newTranscript(entryMaker{k: k, md: md.New(), marks: env.Accessible, read: reading{wrap: true}, zone: env.Zone}),
		w:     env.Width, h: env.Height, barsDirty: true,
	}
	m.keys = newKeymap(m.actions)
	m.seams = seams{after: m.after, listen: m.listen, exec: m.execute}
	m.attire.name, m.mouse = env.ThemeName, env.Mouse
	m.memories, m.keeper.state = memories(), env.State
	m.early = env.Notices
	m.recallAll()
	m.recallDrafts()
	if env.Start.Session != "" {
		m.arrival = arrival{key: env.Start.Session, asked: true}
	}
	return m
}

// Init implements tea.Model.
func (m *Model) Init() tea.Cmd {
	cmds := []tea.Cmd{m.load(), m.seams.after(agesEvery, agesMsg{}), m.startSeeing()}
	for _, text := range m.early {
		cmds = append(cmds, m.warn(text))
	}
	return m.guard(tea.Batch(append(cmds, m.settle())...))
}

// Close ends what the console has going on and saves what it remembers. It is safe to call twice. That nothing can be remembered is no
// failure of what was done here: Farewell tells it.
func (m *Model) Close() error {
	m.cancel()
	m.unsaved = m.saveNow()
	return m.link.close()
}

// Farewell is what to tell the operator once the screen is given back, "" when there is nothing to tell. Close comes before it.
func (m *Model) Farewell() string {
	if m.unsaved == nil {
		return m.parting
	}
	return strings.TrimSpace(m.parting + " What this console remembers could not be saved: " + m.unsaved.Error())
}

// Left is where the console was left, for the command line that comes back there.
func (m *Model) Left() Start {
	return Start{Session: m.tree.selected(), Filter: strings.TrimSpace(m.filter.input.Value()), LookAs: m.sight.viewpoint}
}

// View implements tea.Model. It changes nothing that is seen: called twice it gives the same.
func (m *Model) View() string {
	if m.dirty {
		m.frame, m.dirty = m.compose(), false
	}
	return m.frame
}

func (m *Model) scope() scope {
	if s := m.stage(); s != nil {
		return s.scope()
	}
	switch m.focus {
	case paneTranscript:
		return inTranscript
	case paneInspector:
		return inInspector
	}
	return inTree
}
