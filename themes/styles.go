package themes

import (
	"strings"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"
)

// Styles are a palette's styles, ready to draw: compile once per theme and renderer. They hold no width, border or padding: panes
// wrap and pad plain text first and style it last. Text that carries a style is emitted by Render; to draw thousands of runs per
// frame, render a probe once and keep what stands before and after it.
type Styles struct {
	Name string
	Dark bool

	// Inks, by the surface they are drawn on.
	Base, Panel, Selected, Bar Inks

	// Groups, by the place that draws.
	Frame      Frame
	Tree       Tree
	Transcript Transcript
	Dialog     Dialog
	Help       Help
	Status     Status
	State      State // on Base; Selected.State is the same on the row under the cursor
	Policy     Policy
}

// Inks are all text colours on one surface.
type Inks struct {
	Text, Strong, Muted, Dim  lipgloss.Style
	Accent, Accent2           lipgloss.Style
	OK, Warn, Err, Info, Busy lipgloss.Style
	User, Agent, Tool, System lipgloss.Style
	Code, DiffAdd, DiffDel    lipgloss.Style
	State                     State
}

// Frame is what surrounds the panes.
type Frame struct {
	Border, BorderFocus lipgloss.Style // box drawing
	Title, TitleFocus   lipgloss.Style
	Header, HeaderNote  lipgloss.Style // the first line of the screen
	Filter              lipgloss.Style // in the header, when one is set
	Shade               lipgloss.Style // what lies under an overlay
}

// Tree is the session tree.
type Tree struct {
	Row, Selected, Hidden lipgloss.Style // Hidden: dimmed when looking through a session's eyes
	Agent, Guide, Note    lipgloss.Style
	Marked, Unread        lipgloss.Style
}

// Transcript is the reading pane.
type Transcript struct {
	User, Agent, Tool, System lipgloss.Style // headings, by who speaks
	Session                   lipgloss.Style // the other side of an inter-session message
	Text, Time, Thinking      lipgloss.Style
	Heading, Code, Link       lipgloss.Style
	DiffAdd, DiffDel          lipgloss.Style
	Match, MatchCurrent       lipgloss.Style
	Below                     lipgloss.Style // "37 new"
}

// Dialog is forms, confirmations, pickers and the command palette.
type Dialog struct {
	Border, Title, Text, Label, Hint, Error lipgloss.Style
	Field, FieldFocus                       lipgloss.Style
	Button, ButtonFocus, Danger             lipgloss.Style
}

// Help is the key help, on a panel.
type Help struct{ Section, Key, Text, Disabled lipgloss.Style }

// Status is the footer and its toasts.
type Status struct{ Key, Text, Disabled, OK, Warn, Err, Info lipgloss.Style }

// State is what a session does; glyph and word come with it.
type State struct {
	Idle, Queued, Running, Streaming, Waiting, Failed, Aborted, Archived lipgloss.Style
}

// Policy is the verdict on sending.
type Policy struct{ Allow, Deny, Inherit lipgloss.Style }

// Compile resolves every style of p for r. A palette without a colour for what must stand out (selection, matches, focus) says it
// with reverse, underline or bold; a renderer of the Ascii profile writes no escape at all, so glyphs must say it there.
func Compile(p Palette, r *lipgloss.Renderer) *Styles {
	if r.ColorProfile() == termenv.ANSI256 {
		p = p.in256()
	}
	c := compiler{p.Roles, r}
	s := &Styles{
		Name: p.Name, Dark: p.Dark,
		Base:     c.inks(c.surface(p.Roles.Bg)),
		Panel:    c.inks(c.surface(p.Roles.BgPanel)),
		Selected: c.inks(c.standOut(p.Roles.BgSelected)),
		Bar:      c.inks(c.surface(p.Roles.BgBar)),
	}
	s.Frame, s.Tree = c.frame(s), c.tree(s)
	s.Transcript = c.transcript(s)
	s.Dialog = c.dialog(s)
	s.Help = Help{Section: s.Panel.Strong, Key: s.Panel.Accent, Text: s.Panel.Text, Disabled: s.Panel.Dim}
	s.Status = Status{Key: s.Bar.Accent.Bold(true), Text: s.Bar.Muted, Disabled: s.Bar.Dim, OK: s.Bar.OK, Warn: s.Bar.Warn, Err: s.Bar.Err, Info: s.Bar.Info}
	s.State = s.Base.State
	s.Policy = Policy{Allow: s.Base.OK, Deny: s.Base.Err, Inherit: s.Base.Muted}
	return s
}

type compiler struct {
	Roles
	renderer *lipgloss.Renderer
}

// lipgloss is c as lipgloss writes it; "ansi:8" is its "8".
func (c Color) lipgloss() lipgloss.Color {
	return lipgloss.Color(strings.TrimPrefix(string(c), "ansi:"))
}

func (c compiler) surface(bg Color) lipgloss.Style {
	s := c.renderer.NewStyle()
	if bg != "" {
		s = s.Background(bg.lipgloss())
	}
	return s
}

// standOut is a surface that must differ from the screen.
func (c compiler) standOut(bg Color) lipgloss.Style { return c.surface(bg).Reverse(bg == "") }

func ink(on lipgloss.Style, fg Color) lipgloss.Style {
	if fg == "" {
		return on
	}
	return on.Foreground(fg.lipgloss())
}

func (c compiler) inks(on lipgloss.Style) Inks {
	i := Inks{
		Text: ink(on, c.Fg), Strong: ink(on, c.Fg).Bold(true), Muted: ink(on, c.FgMuted), Dim: ink(on, c.FgDim),
		Accent: ink(on, c.Accent), Accent2: ink(on, c.Accent2),
		OK: ink(on, c.OK), Warn: ink(on, c.Warn), Err: ink(on, c.Err).Bold(true), Info: ink(on, c.Info), Busy: ink(on, c.Busy),
		User: ink(on, c.RoleUser), Agent: ink(on, c.RoleAgent), Tool: ink(on, c.RoleTool), System: ink(on, c.RoleSystem),
		Code: ink(on, c.Code), DiffAdd: ink(on, c.DiffAdd), DiffDel: ink(on, c.DiffDel),
	}
	i.State = State{
		Idle: i.Muted, Queued: i.Info, Running: i.Busy, Streaming: i.Busy.Bold(true), Waiting: i.Warn, Failed: i.Err, Aborted: i.Warn,
		Archived: i.Dim,
	}
	return i
}

func (c compiler) frame(s *Styles) Frame {
	base := c.surface(c.Bg)
	return Frame{
		Border: ink(base, c.Border), BorderFocus: ink(base, c.BorderFocus).Bold(true),
		Title: s.Base.Muted, TitleFocus: s.Base.Accent.Bold(true),
		Header: s.Bar.Strong, HeaderNote: s.Bar.Muted, Filter: s.Bar.Warn, Shade: s.Base.Dim,
	}
}

func (c compiler) tree(s *Styles) Tree {
	return Tree{
		Row: s.Base.Text, Selected: s.Selected.Text, Hidden: s.Base.Dim,
		Agent: s.Base.Strong, Guide: ink(c.surface(c.Bg), c.Border), Note: s.Base.Muted,
		Marked: s.Base.Accent.Bold(true), Unread: s.Base.Accent.Bold(true),
	}
}

func (c compiler) transcript(s *Styles) Transcript {
	match := ink(c.surface(c.Match), c.MatchFg).Underline(c.Match == "")
	return Transcript{
		User: s.Base.User.Bold(true), Agent: s.Base.Agent.Bold(true), Tool: s.Base.Tool.Bold(true), System: s.Base.System.Bold(true),
		Session: s.Base.Accent2.Bold(true),
		Text:    s.Base.Text, Time: s.Base.Dim, Thinking: s.Base.Dim,
		Heading: s.Base.Accent.Bold(true), Code: s.Base.Code, Link: s.Base.Accent2.Underline(true),
		DiffAdd: s.Base.DiffAdd, DiffDel: s.Base.DiffDel,
		Match: match, MatchCurrent: ink(c.standOut(c.MatchCurrent), c.MatchCurrentFg).Bold(true),
		Below: s.Base.Accent.Bold(true),
	}
}

func (c compiler) dialog(s *Styles) Dialog {
	panel := c.surface(c.BgPanel)
	return Dialog{
		Border: ink(panel, c.BorderFocus), Title: s.Panel.Accent.Bold(true), Text: s.Panel.Text, Label: s.Panel.Muted, Hint: s.Panel.Dim,
		Error: s.Panel.Err, Field: s.Panel.Text, FieldFocus: s.Panel.Text.Underline(true),
		Button: s.Panel.Muted, ButtonFocus: s.Selected.Strong, Danger: s.Panel.Err,
	}
}
