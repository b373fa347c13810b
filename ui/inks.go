package ui

import (
	"strings"

	"github.com/charmbracelet/lipgloss"

	"cordboard/themes"
	"cordboard/ui/md"
)

// ink is a style resolved to what is written before and after a text, so that a frame costs no style arithmetic.
type ink struct{ before, after string }

func inkOf(s lipgloss.Style) ink {
	const probe = "x"
	before, after, _ := strings.Cut(s.Render(probe), probe)
	return ink{before, after}
}

// shades are the inks on one ground.
type shades struct {
	text, strong, muted, dim             ink
	accent, accent2, ok, warn, err, busy ink
	state                                [stateCount]ink
}

// inks are the theme's styles as the console draws them.
type inks struct {
	shades                      // the screen
	sel, bar, panel, off shades // the cursor's row, header and footer, overlays; off is what stands aside

	border, borderFocus, title, titleFocus       ink
	panelBorder, panelTitle, header, filter      ink
	guide, key, below                            ink
	user, agent, tool, system, session, thinking ink
	match, matchCurrent, filterNote              ink
	md                                           [md.Styles]ink // Markdown's styles
}

// plain reports whether nothing but characters is seen: no colour, no bold.
func (k *inks) plain() bool { return k.md[md.Bold].before == "" }

func newInks(s *themes.Styles) *inks {
	k := &inks{
		shades: shadesOf(s.Base), sel: shadesOf(s.Selected), bar: shadesOf(s.Bar), panel: shadesOf(s.Panel),
		border: inkOf(s.Frame.Border), borderFocus: inkOf(s.Frame.BorderFocus),
		title: inkOf(s.Frame.Title), titleFocus: inkOf(s.Frame.TitleFocus),
		panelBorder: inkOf(s.Dialog.Border), panelTitle: inkOf(s.Dialog.Title),
		header: inkOf(s.Frame.Header), filter: inkOf(s.Frame.Filter),
		guide: inkOf(s.Tree.Guide), key: inkOf(s.Status.Key), below: inkOf(s.Transcript.Below),
		user: inkOf(s.Transcript.User), agent: inkOf(s.Transcript.Agent), tool: inkOf(s.Transcript.Tool),
		system: inkOf(s.Transcript.System), session: inkOf(s.Transcript.Session), thinking: inkOf(s.Transcript.Thinking),
		filterNote: inkOf(s.Base.Warn), match: inkOf(s.Transcript.Match), matchCurrent: inkOf(s.Transcript.MatchCurrent),
	}
	for style := range k.md {
		k.md[style] = inkOf(md.Ink(s, md.Style(style)))
	}
	k.off = k.only(k.dim)
	return k
}

func shadesOf(s themes.Inks) shades {
	sh := shades{
		text: inkOf(s.Text), strong: inkOf(s.Strong), muted: inkOf(s.Muted), dim: inkOf(s.Dim),
		accent: inkOf(s.Accent), accent2: inkOf(s.Accent2),
		ok: inkOf(s.OK), warn: inkOf(s.Warn), err: inkOf(s.Err), busy: inkOf(s.Busy),
	}
	for state, style := range map[state]lipgloss.Style{
		stateAsks: s.Warn, stateStreaming: s.State.Running, stateRunning: s.State.Running, stateQueued: s.State.Queued, stateHeld: s.Warn,
		stateIdle: s.State.Idle, stateUndelivered: s.Warn, stateFailed: s.State.Failed, stateAborted: s.State.Aborted,
		stateArchived: s.State.Archived,
	} {
		sh.state[state] = inkOf(style)
	}
	return sh
}

// only is a ground on which everything is drawn in one ink.
func (k *inks) only(one ink) shades {
	sh := shades{text: one, strong: one, muted: one, dim: one, accent: one, accent2: one, ok: one, warn: one, err: one, busy: one}
	for i := range sh.state {
		sh.state[i] = one
	}
	return sh
}
