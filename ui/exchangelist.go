package ui

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"cordboard/core"
)

// exchangeList is the exchanges between sessions, those under way first, then the newest.
type exchangeList struct {
	view
	all    map[string]*core.Exchange
	capped bool
}

// listMost is how many exchanges and deliveries are listed: the newest.
const listMost = 1000

func newExchangeList() *exchangeList { return &exchangeList{view: newView()} }

// openExchanges lists the exchanges of the session under the cursor, else of all.
func (m *Model) openExchanges() tea.Cmd {
	v := m.stand.exchanges
	if v == nil {
		v = newExchangeList()
		m.stand.exchanges = v
	}
	if key := m.tree.selected(); m.stage() == nil && v.session != key {
		v.session = key
		v.another()
	}
	return m.openStage(v)
}

func (v *exchangeList) scope() scope { return inExchanges }

func (v *exchangeList) query() core.RecordQuery {
	return core.RecordQuery{Kind: core.RecordExchanges, Session: v.session, Limit: listMost}
}

func (v *exchangeList) take(page core.RecordPage) {
	v.all = make(map[string]*core.Exchange, len(page.Exchanges))
	for i := range page.Exchanges {
		v.all[page.Exchanges[i].ID] = &page.Exchanges[i]
	}
	v.capped = len(page.Exchanges) >= listMost
}

func (v *exchangeList) hear(c core.Change, _ core.Rev) bool { return c.Kind == core.ChangeExchange }

func (v *exchangeList) arrange(m *Model) {
	words := v.words()
	var ids []string
	for id, x := range v.all {
		if len(words) == 0 || holdsAll(v.text(m, x), words) {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(a, b string) int {
		x, y := v.all[a], v.all[b]
		if over := exchangeOver(x); over != exchangeOver(y) {
			return trueFirst(!over)
		}
		return cmp.Or(cmp.Compare(y.CreatedAt, x.CreatedAt), strings.Compare(a, b))
	})
	v.rows.set(ids)
}

func (v *exchangeList) text(m *Model, x *core.Exchange) string {
	_, words, _ := exchangeSign(&m.k.shades, x)
	return strings.ToLower(strings.Join([]string{
		words, x.ID, x.ChainID, x.RequesterKey, m.placed(x.RequesterKey), x.TargetKey, m.placed(x.TargetKey), x.Reason, glance(x.Request),
	}, "\n"))
}

func (v *exchangeList) ticks() bool { return false }

func (v *exchangeList) current() *core.Exchange { return v.all[v.rows.cursor] }

// about is the session that the exchange under the cursor was asked of.
func (v *exchangeList) about() string {
	if x := v.current(); x != nil {
		return x.TargetKey
	}
	return ""
}

func (v *exchangeList) draw(m *Model) []string { return m.drawTable(v) }

func (v *exchangeList) title(m *Model) string {
	if v.session != "" {
		return "Exchanges of " + m.placed(v.session)
	}
	return "Exchanges of all sessions"
}

func (v *exchangeList) none() string {
	return "No session has written to another" + map[bool]string{true: " here", false: ""}[v.session != ""] + " yet."
}

func (v *exchangeList) foot() string {
	if v.capped {
		return "the newest " + strconv.Itoa(listMost)
	}
	return ""
}

// exchangeColumns are the widths of the columns; the request takes the rest.
func exchangeColumns(w int) (state, from, to, age int) {
	switch {
	case w >= 100:
		return 14, 22, 22, 4
	case w >= 60:
		return 14, 18, 18, 0
	}
	return 14, 0, max(w-16, 8), 0
}

func (v *exchangeList) caption(l *line, k *shades, w int) {
	state, from, to, aged := exchangeColumns(w)
	cell(l, k.dim, "state", state)
	cell(l, k.dim, "from", from)
	cell(l, k.dim, "to", to)
	figure(l, k.dim, "age", aged)
	if l.left > 8 {
		l.add(k.dim, "request")
	}
}

func (v *exchangeList) row(m *Model, l *line, k *shades, id string, w int) {
	state, from, to, aged := exchangeColumns(w)
	x := v.all[id]
	if x == nil {
		return
	}
	glyph, words, paint := exchangeSign(k, x)
	cell(l, paint, glyph+" "+words, state)
	cell(l, k.text, m.placed(x.RequesterKey), from)
	cell(l, k.text, m.placed(x.TargetKey), to)
	figure(l, k.muted, age(m.env.Now(), x.CreatedAt), aged)
	if l.left > 8 {
		l.add(k.muted, glance(x.Request))
	}
}

func (v *exchangeList) sheet(m *Model, s *sheet) {
	if x := v.current(); x != nil {
		m.exchangeSheet(s, x)
		s.heading("Request")
		s.longText(s.k.text, x.Request)
		if x.FirstReply != "" {
			s.heading("First reply")
			s.longText(s.k.text, x.FirstReply)
		}
		if x.LatestReply != "" && x.LatestReply != x.FirstReply {
			s.heading("Latest reply")
			s.longText(s.k.text, x.LatestReply)
		}
	}
}

// exchangeSheet tells of an exchange, its texts aside.
func (m *Model) exchangeSheet(s *sheet, x *core.Exchange) {
	glyph, words, paint := exchangeSign(&s.k.shades, x)
	s.runs("state", run{paint, glyph + " " + words})
	s.text(s.k.muted, m.exchangeStory(x))
	s.fact("from", s.k.accent2, x.RequesterKey)
	s.fact("to", s.k.accent2, x.TargetKey)
	s.fact("turns", s.k.text, strconv.Itoa(x.Turn)+" of at most "+strconv.Itoa(x.Turns))
	s.fact("announce", s.k.text, map[bool]string{true: "wanted", false: "no"}[x.Announce])
	s.fact("chain", s.k.text, x.ChainID+prefixed(" · hop ", strconv.Itoa(x.Hop)))
	s.fact("began", s.k.text, clock(x.CreatedAt, m.env.Zone))
	s.fact("changed", s.k.text, clock(x.UpdatedAt, m.env.Zone))
	s.fact("id", s.k.muted, x.ID)
}
