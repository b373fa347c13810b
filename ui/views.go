package ui

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"cordboard/core"
	"cordboard/ui/safe"
)

// SavedView is an order, filters and a viewpoint under a name, as it is kept between two runs. What is absent is not set.
type SavedView struct {
	Name     string          `json:"name"`
	Sort     string          `json:"sort,omitempty"` // recency, name, tokens or state
	Text     string          `json:"text,omitempty"`
	Kinds    []core.Kind     `json:"kinds,omitempty"` // core's, and "sub-agent"
	Agent    string          `json:"agent,omitempty"`
	Channel  string          `json:"channel,omitempty"`
	Live     bool            `json:"live,omitempty"`
	Needs    bool            `json:"needsYou,omitempty"`
	Minutes  int             `json:"withinMinutes,omitempty"`
	Archived bool            `json:"archived,omitempty"`
	LookAs   string          `json:"lookAs,omitempty"` // session key
	Scope    core.Visibility `json:"scope,omitempty"`  // tried for it
	Hide     bool            `json:"hide,omitempty"`   // what it may not see is left out
}

// check says what is wrong with a view that was kept.
func (v *SavedView) check() error {
	_, order := orderNamed(v.Sort)
	_, kinds := sortsNamed(v.Kinds)
	switch {
	case strings.TrimSpace(v.Name) == "":
		return fmt.Errorf("a saved view has no name")
	case v.Sort != "" && !order:
		return fmt.Errorf("saved view %q: sort %q is none of recency, name, tokens, state", v.Name, v.Sort)
	case !kinds:
		return fmt.Errorf("saved view %q: kinds %q: each one of %q", v.Name, v.Kinds, kindsShown)
	case v.Minutes < 0:
		return fmt.Errorf("saved view %q: withinMinutes %d is below 0", v.Name, v.Minutes)
	case v.Scope != "" && !slices.Contains(core.Visibilities, v.Scope):
		return fmt.Errorf("saved view %q: scope %q is none of %q", v.Name, v.Scope, core.Visibilities)
	}
	return nil
}

// view is what the tree shows now.
func (m *Model) view(name string) SavedView {
	c := m.filter.criteria
	v := SavedView{
		Name: name, Text: strings.TrimSpace(m.filter.input.Value()), Kinds: c.kinds.kinds(), Agent: c.agent, Channel: c.channel, Live: c.live, Needs: c.needs,
		Minutes: int(c.within / time.Minute), Archived: c.archived, LookAs: m.sight.viewpoint, Scope: m.sight.scope, Hide: m.looking.hide,
	}
	if m.order != byRecency {
		v.Sort = m.order.word()
	}
	return v
}

// words tell what a view sets.
func (v *SavedView) words() string {
	kinds, _ := sortsNamed(v.Kinds)
	c := criteria{kinds, v.Agent, v.Channel, v.Live, time.Duration(v.Minutes) * time.Minute, v.Archived, v.Needs}
	var words []string
	if v.Sort != "" {
		words = append(words, "sort "+v.Sort)
	}
	if v.Text != "" {
		words = append(words, "/ "+v.Text)
	}
	words = append(words, c.words()...)
	if v.LookAs != "" {
		words = append(words, "as "+v.LookAs+prefixed(" scope ", string(v.Scope)))
	}
	if len(words) == 0 {
		return "everything, by recency"
	}
	return strings.Join(words, " · ")
}

// applyView shows the tree as a view says: what the view does not set is not set.
func (m *Model) applyView(v SavedView) tea.Cmd {
	m.takeView(v)
	var about tea.Cmd
	if v.Text != "" {
		about = m.askAbout()
	}
	return tea.Batch(m.runFilter(), m.rebuild(), m.lookAs(v.LookAs, v.Scope), about)
}

// takeView takes up order and filters; nothing is asked for yet.
func (m *Model) takeView(v SavedView) {
	kinds, _ := sortsNamed(v.Kinds)
	m.order, _ = orderNamed(v.Sort)
	m.filter.criteria = criteria{kinds, v.Agent, v.Channel, v.Live, time.Duration(v.Minutes) * time.Minute, v.Archived, v.Needs}
	m.closeFilter()
	m.filter.input.SetValue(v.Text)
	m.looking.hide = v.Hide
	m.barsDirty = true
}

// viewsMemory keeps the saved views. One that is damaged is left out by name, the others are in force.
func viewsMemory() memory {
	return memory{
		name: "views",
		keep: func(m *Model) any {
			if m.views == nil {
				return nil
			}
			return m.views
		},
		recall: func(m *Model, raw json.RawMessage) error {
			var list []json.RawMessage
			if err := json.Unmarshal(raw, &list); err != nil {
				return err
			}
			var wrong error
			for _, each := range list {
				var v SavedView
				err := json.Unmarshal(each, &v)
				if err == nil {
					err = v.check()
				}
				if err != nil {
					wrong = err
					continue
				}
				m.putView(v)
			}
			return wrong
		},
	}
}

// filterMemory keeps order and filters; whose eyes one looked with is no lasting choice, nor is what a link on the command line asked for.
func filterMemory() memory {
	return memory{
		name: "filters",
		keep: func(m *Model) any {
			if m.linked {
				return nil
			}
			v := m.view("last")
			v.LookAs, v.Scope = "", ""
			return v
		},
		recall: func(m *Model, raw json.RawMessage) error {
			var v SavedView
			err := json.Unmarshal(raw, &v)
			if err == nil {
				err = v.check()
			}
			if err == nil {
				m.takeView(v)
			}
			return err
		},
	}
}

func (m *Model) putView(v SavedView) {
	m.dropView(v.Name)
	m.views = append(m.views, v)
	slices.SortFunc(m.views, func(a, b SavedView) int { return strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)) })
}

func (m *Model) dropView(name string) {
	m.views = slices.DeleteFunc(m.views, func(v SavedView) bool { return v.Name == name })
}

// viewList is the layer of the saved views.
type viewList struct {
	at     int
	naming bool // the field is open
	field  field
}

const viewsWide = 84

func (m *Model) openViews() tea.Cmd {
	m.open(&viewList{naming: len(m.views) == 0, field: newField()})
	return nil
}

func (l *viewList) press(m *Model, msg tea.KeyMsg) tea.Cmd {
	if l.naming {
		return l.name(m, msg)
	}
	l.at = clamp(l.at, 0, max(len(m.views)-1, 0))
	switch msg.String() {
	case "down", "j":
		l.at = min(l.at+1, max(len(m.views)-1, 0))
	case "up", "k":
		l.at = max(l.at-1, 0)
	case "n":
		l.naming, l.field = true, newField()
	case "x":
		if len(m.views) > 0 {
			m.said = "view " + m.views[l.at].Name + " is gone"
			m.dropView(m.views[l.at].Name)
			l.at = clamp(l.at, 0, max(len(m.views)-1, 0))
		}
	case "enter":
		if len(m.views) == 0 {
			return nil
		}
		v := m.views[l.at]
		m.closeTop()
		m.said = "view " + v.Name
		return m.applyView(v)
	case "q", "b":
		m.closeTop()
	}
	return nil
}

func (l *viewList) name(m *Model, msg tea.KeyMsg) tea.Cmd {
	if msg.String() != "enter" {
		l.field.press(msg)
		return nil
	}
	name := strings.TrimSpace(l.field.text())
	if name == "" {
		return nil
	}
	m.putView(m.view(name))
	l.at = slices.IndexFunc(m.views, func(v SavedView) bool { return v.Name == name })
	l.naming = false
	m.said = "this view is kept as " + name
	return nil
}

func (l *viewList) draw(m *Model) []string {
	w, room := m.layerRoom(viewsWide)
	k := &m.k.panel
	var lines []string
	if l.naming {
		now := m.view("")
		lines = append(lines, l.field.line(w-2, "name of this view: ", k), newLine(w-2).add(k.muted, " "+safe.Line(now.words())).end(k.text))
	}
	rows := max(room-3-len(lines), 1)
	top := clamp(l.at-rows+1, 0, max(len(m.views)-rows, 0))
	for i := top; i < min(top+rows, len(m.views)); i++ {
		sh, mark := k, "   "
		if i == l.at && !l.naming {
			sh, mark = &m.k.sel, " ▌ "
		}
		v := &m.views[i]
		lines = append(lines, newLine(w-2).add(sh.accent, mark).add(sh.text, safe.Pad(safe.Cut(safe.Line(v.Name), (w-2)/3), (w-2)/3)).add(sh.muted, "  "+v.words()).end(sh.text))
	}
	foot := "enter applies · n keeps this view · x deletes"
	if l.naming {
		foot = "enter keeps it · esc leaves it"
	}
	return m.panel("Saved views", foot, lines, w, len(lines)+2)
}
