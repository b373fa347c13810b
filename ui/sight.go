package ui

import (
	"cmp"
	"context"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"cordboard/core"
)

// sight is whose eyes the tree is looked at with. The zero value is the operator's, who sees everything (console.md §3). It is always
// one whole answer of the board: until another has come, the screen shows and names the old one.
type sight struct {
	viewpoint  string          // key of the session looked as; "" = the operator
	scope      core.Visibility // tried instead of the configured one; "" = as configured
	info       core.ScopeInfo
	configured core.Visibility
	seen       map[string]bool
	hidden     map[string]core.Verdict // what the viewpoint may not see, and why
}

// looking is what concerns the request for a sight.
type looking struct {
	hide   bool // rows that the viewpoint may not see are left out instead of dimmed
	number int  // of the last request; answers to older ones are dropped
	busy   bool // it is under way
	stale  bool // sessions came, went or changed their parent since it was asked
}

// lookGap is the least time between two questions while sessions come and go.
const lookGap = 100 * time.Millisecond

// sees reports whether the viewpoint may see a session. One that the board has not told of yet it may not.
func (s *sight) sees(key string) bool { return s.viewpoint == "" || s.seen[key] }

// shown are the only sessions that the tree holds, nil when it holds all.
func (m *Model) onlySeen() map[string]bool {
	if m.sight.viewpoint == "" || !m.looking.hide {
		return nil
	}
	return m.sight.seen
}

type sightMsg struct {
	number int
	again  bool // the same sight, asked again because the fleet has changed
	sight
	err error
}

// lookAs asks for what a session sees under a scope, "" for the configured one; as the operator when the session is "".
func (m *Model) lookAs(viewpoint string, scope core.Visibility) tea.Cmd {
	m.looking.number++
	m.looking.stale = false
	if viewpoint == "" {
		m.looking.busy = false
		return m.setSight(sight{})
	}
	m.looking.busy = true
	return m.lookCmd(sightMsg{number: m.looking.number, sight: sight{viewpoint: viewpoint, scope: scope}})
}

func (m *Model) lookCmd(msg sightMsg) tea.Cmd {
	return func() tea.Msg {
		s, err := guarded(func() (sight, error) { return look(m.ctx, m.env.Board, msg.viewpoint, msg.scope) })
		s.viewpoint, s.scope, msg.err = msg.viewpoint, msg.scope, err
		msg.sight = s
		return msg
	}
}

// look asks the board for all rows as a session sees them.
func look(ctx context.Context, board core.Board, viewpoint string, scope core.Visibility) (sight, error) {
	s := sight{seen: map[string]bool{}, hidden: map[string]core.Verdict{}}
	q := core.SessionQuery{Viewpoint: viewpoint, Scope: scope, WithHidden: true, Archived: true, Limit: 10_000}
	for {
		page, err := board.Sessions(ctx, q)
		if err != nil {
			return s, err
		}
		for i := range page.Rows {
			if row := &page.Rows[i]; row.Hidden != nil {
				s.hidden[row.Key] = *row.Hidden
			} else {
				s.seen[row.Key] = true
			}
		}
		if page.Scope != nil {
			s.info = *page.Scope
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			break
		}
	}
	s.configured = s.info.Visibility
	if scope == "" {
		return s, nil
	}
	page, err := board.Sessions(ctx, core.SessionQuery{Viewpoint: viewpoint, Limit: 1})
	if err == nil && page.Scope != nil {
		s.configured = page.Scope.Visibility
	}
	return s, err
}

func (msg sightMsg) apply(m *Model) tea.Cmd {
	if msg.number != m.looking.number || m.ended(msg.err) {
		return nil
	}
	m.looking.busy = false
	switch {
	case msg.err != nil && msg.again:
		m.looking.stale = true // the load that follows the failure asks again
		return nil
	case msg.err != nil:
		return m.warn("cannot look as " + msg.viewpoint + ": " + msg.err.Error())
	}
	again := tea.Cmd(nil)
	if m.looking.stale || m.unasked(msg.sight) {
		m.looking.stale = false
		again = m.lookSoon()
	}
	return tea.Batch(m.setSight(msg.sight), again)
}

// unasked reports whether a session is known that the answer does not tell of: it moved between two pages.
func (m *Model) unasked(s sight) bool {
	if m.fleet.loading || len(s.seen)+len(s.hidden) >= len(m.fleet.heads) {
		return false
	}
	for key := range m.fleet.heads {
		if _, hidden := s.hidden[key]; !hidden && !s.seen[key] {
			return true
		}
	}
	return false
}

func (m *Model) setSight(s sight) tea.Cmd {
	m.sight = s
	m.barsDirty, m.tree.dirty, m.insp.dirty, m.trans.dirty = true, true, true, true
	return m.rebuild()
}

// lookAgain keeps the sight true after sessions came, went or changed their parent: key and parent are all that the rule looks at.
func (m *Model) lookAgain() tea.Cmd {
	switch {
	case m.sight.viewpoint == "":
		return nil
	case m.looking.busy:
		m.looking.stale = true
		return nil
	}
	return m.lookSoon()
}

func (m *Model) lookSoon() tea.Cmd {
	m.looking.busy = true
	return m.seams.after(lookGap, lookMsg{m.looking.number})
}

type lookMsg struct{ number int }

func (msg lookMsg) apply(m *Model) tea.Cmd {
	if msg.number != m.looking.number {
		return nil
	}
	if m.fleet.heads[m.sight.viewpoint] == nil && m.fleet.loaded > 0 && !m.fleet.loading {
		m.said = m.sight.viewpoint + " is gone: you look as the operator again"
		return m.lookAs("", "")
	}
	m.looking.number++
	m.looking.stale = false
	return m.lookCmd(sightMsg{number: m.looking.number, again: true, sight: sight{viewpoint: m.sight.viewpoint, scope: m.sight.scope}})
}

// cycleScope tries the next scope for the viewpoint: what it would see if tools.sessions.visibility were that.
func (m *Model) cycleScope() tea.Cmd {
	return m.lookAs(m.sight.viewpoint, nextScope(cmp.Or(m.sight.scope, m.sight.configured)))
}

func nextScope(scope core.Visibility) core.Visibility {
	i := slices.Index(core.Visibilities, scope)
	return core.Visibilities[(i+1)%len(core.Visibilities)]
}

// lookAsThis looks through the eyes of the session under the cursor, or as the operator again when it does already.
func (m *Model) lookAsThis() tea.Cmd {
	if key := m.tree.selected(); key != m.sight.viewpoint {
		return m.lookAs(key, m.sight.scope)
	}
	return m.lookAs("", "")
}

// pickViewpoint chooses among the operator and all sessions.
func (m *Model) pickViewpoint() tea.Cmd {
	return m.pick("Look as", "the operator, who sees everything", func(m *Model, key string) tea.Cmd {
		return m.lookAs(key, m.sight.scope)
	})
}

func (m *Model) toggleHidden() tea.Cmd {
	m.looking.hide = !m.looking.hide
	m.said = "what it may not see is dimmed"
	if m.looking.hide {
		m.said = "what it may not see is left out"
	}
	return m.rebuild()
}

// cannotLook says why there are no eyes but one's own.
func cannotLook(m *Model) string {
	if kind := m.fleet.info.Actor.Kind; kind != "" && kind != core.ActorOperator {
		return "only the operator looks through another session's eyes"
	}
	return m.fleet.info.Missing["explain"]
}

func cannotLookAsThis(m *Model) string {
	if m.tree.selected() == "" && m.sight.viewpoint == "" {
		return "choose a session: an agent has no eyes of its own"
	}
	return cannotLook(m)
}

func notLooking(m *Model) string {
	if m.sight.viewpoint == "" {
		return "the operator sees everything: " + m.keyFor("look.this") + " looks through this session's eyes, " + m.keyFor("look.pick") + " through another's"
	}
	return ""
}
