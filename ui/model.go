// Package ui is the console: one tea.Model over a core.Board (console.md).
//
// How it flows. A key becomes an action (actions.go), an action changes a pane or returns a command (cmds.go); what a command brings
// comes back as a message (update.go) and goes to the state it belongs to: heads to the fleet, pages to the transcript, details to the
// inspector. Changes of the store come as batches through one outstanding command (live.go). After every message settle brings what
// depends on what up to date: layout, panes whose content changed, requests that are due. View only puts lines together.
//
// What stays where it is. The cursor of the tree is a session key, the top of the transcript a message's seq and a line in it; neither is
// an index, so nothing that is sorted, loaded or appended moves what is looked at.
//
// What is drawn. Every stored text goes through ui/safe, every line is exactly as wide as its pane, colours are resolved once per theme.
package ui

import (
	"context"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"cordboard/core"
	"cordboard/themes"
)

// Env is everything the console gets from outside: it asks neither the process nor the terminal for anything. Title, Width and Height
// may be left out.
type Env struct {
	Board core.Board
	Theme *themes.Styles
	Title string // what the header calls the store, as a person writes it; "" = the path the board names
	Now   func() time.Time
	Zone  *time.Location // of the times shown
	// Width and Height are the window's size where it is known before the first tea.WindowSizeMsg, else 0.
	Width, Height int
	// State keeps what is remembered until the next run; nil = nothing is.
	State State
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

	fleet    fleet
	tree     tree
	filter   filter
	trans    transcript
	insp     inspector
	layers   []layer // over the panes, the top one last
	toasts   toasts
	focus    pane
	behind   pane // had the focus before the inspector
	archived bool // archived sessions are shown

	link link

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
		env: env, k: k, actions: actions(), ctx: ctx, cancel: cancel,
		fleet: newFleet(), tree: newTree(), filter: newFilter(),
		trans: newTranscript(entryMaker{k: k, read: reading{wrap: true}, zone: env.Zone}),
		w:     env.Width, h: env.Height, barsDirty: true,
	}
	m.keys = newKeymap(m.actions)
	m.seams = seams{after: m.after, listen: m.listen}
	return m
}

// Init implements tea.Model.
func (m *Model) Init() tea.Cmd {
	return tea.Batch(m.load(), m.seams.after(agesEvery, agesMsg{}), m.settle())
}

// Close ends what the console has going on. It is safe to call twice.
func (m *Model) Close() error {
	m.cancel()
	return m.link.close()
}

// Farewell is what to tell the operator once the screen is given back; "" when there is nothing to tell.
func (m *Model) Farewell() string { return m.parting }

// View implements tea.Model. It changes nothing that is seen: called twice it gives the same.
func (m *Model) View() string {
	if m.dirty {
		m.frame, m.dirty = m.compose(), false
	}
	return m.frame
}

func (m *Model) scope() scope {
	switch m.focus {
	case paneTranscript:
		return inTranscript
	case paneInspector:
		return inInspector
	}
	return inTree
}
