package ui

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"cordboard/core"
	"cordboard/ui/safe"
)

// permission is the layer that answers what a session's agent asks permission for: what it would do, with what, and a key for each answer.
// It is deaf to keys that were meant for what was there before it, and for the request before the one that it shows.
type permission struct {
	key    string // session
	id     string // request under the cursor
	since  time.Time
	busy   bool
	refuse string // why the last answer was not taken
	scroller
}

const permissionWide = 84

func newPermission(m *Model, key string) *permission {
	p := &permission{key: key}
	p.turn(m, m.requestsOf(key, "")[0].ID)
	return p
}

// turn shows another request.
func (p *permission) turn(m *Model, id string) {
	if p.id != id {
		p.id, p.since, p.refuse, p.scroller = id, m.env.Now(), "", scroller{}
	}
}

// settle goes on to what waits next when the request under the cursor is gone, and closes when nothing does.
func (p *permission) settle(m *Model) {
	list := m.requestsOf(p.key, "")
	if len(list) == 0 {
		m.drop(p)
		return
	}
	if at, _ := p.current(m); at < 0 {
		p.turn(m, list[0].ID)
	}
}

// current is the request under the cursor, -1 when it is gone.
func (p *permission) current(m *Model) (int, core.Approval) {
	for i, r := range m.requestsOf(p.key, "") {
		if r.ID == p.id {
			return i, r
		}
	}
	return -1, core.Approval{}
}

// optionKeys are the keys of a request's options: what they do names them, else a digit.
func optionKeys(options []core.ApprovalOption) []string {
	usual := map[string]string{"allow_once": "y", "allow_always": "a", "reject_once": "n", "reject_always": "d"}
	taken, keys := map[string]bool{}, make([]string, len(options))
	for i, o := range options {
		key := usual[o.Kind]
		if key == "" || taken[key] {
			if key = ""; i < 9 {
				key = strconv.Itoa(i + 1)
			}
		}
		keys[i], taken[key] = key, true
	}
	return keys
}

func (p *permission) press(m *Model, msg tea.KeyMsg) tea.Cmd {
	list := m.requestsOf(p.key, "")
	at, r := p.current(m)
	if at < 0 || p.busy {
		return nil
	}
	switch key := msg.String(); key {
	case "tab", "right":
		p.turn(m, list[(at+1)%len(list)].ID)
	case "shift+tab", "left":
		p.turn(m, list[(at+len(list)-1)%len(list)].ID)
	default:
		if m.env.Now().Sub(p.since) >= confirmGrace {
			for i, own := range optionKeys(r.Options) {
				if own != "" && own == key {
					return p.answer(m, r, r.Options[i])
				}
			}
		}
		w, room := m.layerRoom(permissionWide)
		p.scroll(key, len(p.lines(m, w-2)), room-2)
	}
	return nil
}

type permittedMsg struct {
	layer  *permission
	option string
	err    error
}

func (p *permission) answer(m *Model, r core.Approval, o core.ApprovalOption) tea.Cmd {
	p.busy = true
	c := core.Command{Key: m.newID(), Approve: &core.Approve{ID: r.ID, Option: o.ID}}
	board, ctx := m.env.Board, m.ctx
	return func() tea.Msg {
		_, err := guarded(func() (core.Receipt, error) { return board.Do(ctx, c) })
		return permittedMsg{p, firstOf(o.Name, o.ID), err}
	}
}

func (msg permittedMsg) apply(m *Model) tea.Cmd {
	p := msg.layer
	p.busy = false
	if m.ended(msg.err) {
		return nil
	}
	m.dirty, m.barsDirty = true, true
	if p.refuse = ""; msg.err != nil {
		p.refuse = refusalOf(msg.err)
	} else {
		m.said = "answered " + m.nameFor(p.key) + ": " + msg.option
	}
	return m.askRequests()
}

func (p *permission) hints(m *Model) []hint {
	var list []hint
	_, r := p.current(m)
	for i, key := range optionKeys(r.Options) {
		list = append(list, hint{key, safe.Cut(safe.Line(firstOf(r.Options[i].Name, r.Options[i].ID)), 24)})
	}
	if len(m.requestsOf(p.key, "")) > 1 {
		list = append(list, hint{"tab", "next request"})
	}
	return append(list, hint{"esc", "answer later"})
}

func (p *permission) draw(m *Model) []string {
	w, room := m.layerRoom(permissionWide)
	return p.scroller.draw(m, safe.Line("Permission for "+m.nameFor(p.key)), p.lines(m, w-2), w, room)
}

// lines tell what is asked: the options before what goes with it, which may be long.
func (p *permission) lines(m *Model, w int) []string {
	k := *m.k
	k.shades = m.k.panel
	s := &sheet{k: &k, w: w}
	list := m.requestsOf(p.key, "")
	at, r := p.current(m)
	if len(list) > 1 {
		for i := range list {
			mark, ground := "   ", k.muted
			if i == at {
				mark, ground = " ▌ ", k.text
			}
			s.out = append(s.out, newLine(w).add(k.accent, mark).add(ground, safe.Cut(safe.Line(list[i].Title), max(w-4, 1))).end(k.text))
		}
		s.blank()
	}
	if at < 0 {
		s.text(k.muted, "It was answered, or its run has ended.")
		return s.out
	}
	s.text(k.strong, r.Title)
	s.text(k.muted, "asked "+ago(m.env.Now(), r.At)+" by "+m.called(p.key))
	s.blank()
	for i, key := range optionKeys(r.Options) {
		o := r.Options[i]
		ground := k.text
		if strings.HasPrefix(o.Kind, "reject") {
			ground = k.warn
		}
		l := newLine(w).add(k.accent, " "+safe.Pad(firstOf(key, "–"), 3)).add(ground, safe.Cut(safe.Line(firstOf(o.Name, o.ID)), max(w-6, 1)))
		l.space(k.text, 2).add(k.dim, safe.Cut(safe.Line(strings.ReplaceAll(o.Kind, "_", " ")), max(l.left-1, 0)))
		s.out = append(s.out, l.end(k.text))
	}
	if p.refuse != "" {
		s.out = append(s.out, troubleLines(m, p.refuse, w)...)
	}
	if text := indented(r.Params); text != "" {
		s.heading("With")
		for _, t := range safe.Wrap(safe.Block(firstBytes(text, 16<<10)), max(w-2, 1)) {
			s.out = append(s.out, newLine(w).add(k.text, " "+t).end(k.text))
		}
	}
	s.heading("Record")
	s.fact("run", k.muted, r.Run)
	s.fact("call", k.muted, r.Call)
	return s.out
}

// indented is JSON as a person reads it.
func indented(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return string(raw)
	}
	return b.String()
}
