package ui

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"cordboard/core"
)

// deliveries is the texts that went out to chats or were to: those that need somebody first, then the newest.
type deliveries struct {
	view
	all    map[string]*core.Delivery
	only   bool // those that did not arrive
	capped bool
}

// openDeliveries lists the texts of the session under the cursor, else of all.
func (m *Model) openDeliveries() tea.Cmd {
	v := m.stand.deliveries
	if v == nil {
		v = &deliveries{view: newView()}
		m.stand.deliveries = v
	}
	if key := m.tree.selected(); m.stage() == nil && v.session != key {
		v.session = key
		v.another()
	}
	return m.openStage(v)
}

func (v *deliveries) scope() scope { return inDeliveries }

func (v *deliveries) query() core.RecordQuery {
	return core.RecordQuery{Kind: core.RecordDeliveries, Session: v.session, Limit: listMost}
}

func (v *deliveries) take(page core.RecordPage) {
	v.all = make(map[string]*core.Delivery, len(page.Deliveries))
	for i := range page.Deliveries {
		v.all[page.Deliveries[i].ID] = &page.Deliveries[i]
	}
	v.capped = len(page.Deliveries) >= listMost
}

func (v *deliveries) hear(c core.Change, _ core.Rev) bool { return c.Kind == core.ChangeDelivery }

// astray reports whether a text did not arrive, and nothing further is done about it by itself.
func astray(d *core.Delivery) bool {
	switch d.State {
	case core.DeliveryPending, core.DeliveryAttempting, core.DeliveryDelivered:
		return false
	}
	return true
}

func (v *deliveries) arrange(m *Model) {
	words := v.words()
	var ids []string
	for id, d := range v.all {
		if (!v.only || astray(d)) && (len(words) == 0 || holdsAll(v.text(m, d), words)) {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(a, b string) int {
		x, y := v.all[a], v.all[b]
		if asks := canRetry(x); asks != canRetry(y) {
			return trueFirst(asks)
		}
		return cmp.Or(cmp.Compare(y.CreatedAt, x.CreatedAt), strings.Compare(a, b))
	})
	v.rows.set(ids)
}

func (v *deliveries) text(m *Model, d *core.Delivery) string {
	_, word, _ := deliverySign(&m.k.shades, d)
	return strings.ToLower(strings.Join([]string{
		word, string(d.State), d.ID, d.RunID, d.SessionKey, m.placed(d.SessionKey), routeWords(d.Route), d.Rule, glance(d.LastError), glance(d.Text),
	}, "\n"))
}

// ticks is true while a text waits for its next attempt.
func (v *deliveries) ticks() bool {
	return slices.ContainsFunc(v.rows.shown(), func(id string) bool { return v.all[id] != nil && v.all[id].NextAttemptAt > 0 })
}

func (v *deliveries) current() *core.Delivery { return v.all[v.rows.cursor] }

func (v *deliveries) about() string {
	if d := v.current(); d != nil {
		return d.SessionKey
	}
	return ""
}

func (v *deliveries) draw(m *Model) []string { return m.drawTable(v) }

func (v *deliveries) title(m *Model) string {
	title := "Deliveries"
	if v.only {
		title = "Deliveries that did not arrive"
	}
	if v.session != "" {
		return title + " of " + m.placed(v.session)
	}
	return title + " of all sessions"
}

func (v *deliveries) none() string {
	if v.only {
		return "Everything arrived, or is on its way."
	}
	return "Nothing was sent to a chat" + map[bool]string{true: " from here", false: ""}[v.session != ""] + " yet."
}

func (v *deliveries) foot() string {
	if v.capped {
		return "the newest " + strconv.Itoa(listMost)
	}
	return ""
}

// deliveryColumns are the widths of the columns; the text takes the rest.
func deliveryColumns(w int) (state, session, route, tries, age int) {
	switch {
	case w >= 100:
		return 11, 22, 26, 5, 4
	case w >= 60:
		return 11, 18, 20, 0, 4
	}
	return 11, 0, max(w-14, 8), 0, 0
}

func (v *deliveries) caption(l *line, k *shades, w int) {
	state, session, route, tries, aged := deliveryColumns(w)
	cell(l, k.dim, "state", state)
	cell(l, k.dim, "session", session)
	cell(l, k.dim, "to", route)
	figure(l, k.dim, "tries", tries)
	figure(l, k.dim, "age", aged)
	if l.left > 8 {
		l.add(k.dim, "error or text")
	}
}

func (v *deliveries) row(m *Model, l *line, k *shades, id string, w int) {
	state, session, route, tries, aged := deliveryColumns(w)
	d := v.all[id]
	if d == nil {
		return
	}
	glyph, word, paint := deliverySign(k, d)
	cell(l, paint, glyph+" "+word, state)
	cell(l, k.text, m.placed(d.SessionKey), session)
	cell(l, k.text, routeWords(d.Route), route)
	figure(l, k.muted, strconv.Itoa(d.Attempts), tries)
	figure(l, k.muted, age(m.env.Now(), d.CreatedAt), aged)
	if l.left > 8 {
		l.add(k.muted, glance(firstOf(d.LastError, prefixed("rule ", d.Rule), d.Text)))
	}
}

func (v *deliveries) sheet(m *Model, s *sheet) {
	d := v.current()
	if d == nil {
		return
	}
	glyph, word, paint := deliverySign(&s.k.shades, d)
	s.runs("state", run{paint, glyph + " " + word})
	if story := m.deliveryStory(d); story != "" {
		s.text(s.k.muted, story)
	}
	if canRetry(d) {
		s.text(s.k.accent, m.keyFor("deliveries.retry")+" tries it again.")
	}
	s.fact("error", s.k.err, d.LastError)
	s.fact("rule", s.k.warn, d.Rule)
	s.fact("session", s.k.accent2, d.SessionKey)
	s.fact("channel", s.k.text, d.Route.Channel)
	s.fact("to", s.k.text, d.Route.To)
	s.fact("account", s.k.text, d.Route.AccountID)
	s.fact("thread", s.k.text, d.Route.ThreadID)
	s.fact("tries", s.k.text, strconv.Itoa(d.Attempts))
	s.fact("next try", s.k.text, until(m.env.Now(), d.NextAttemptAt))
	s.heading("Text")
	s.longText(s.k.text, d.Text)
	s.heading("Record")
	s.fact("id", s.k.text, d.ID)
	s.fact("run", s.k.text, d.RunID)
	s.fact("created", s.k.text, clock(d.CreatedAt, m.env.Zone))
}

// until is how long it is to a time, "" when none is set.
func until(now time.Time, at int64) string {
	if at <= 0 {
		return ""
	}
	if left := time.UnixMilli(at).Sub(now); left >= time.Second {
		return "in " + whole(left)
	}
	return "now"
}

// deliveryActions are what can be done with an outbound text.
func deliveryActions() []action {
	return []action{
		{id: "deliveries.go", keys: []string{"enter"}, text: "go to the session that the text is of", hint: "go there", scope: inDeliveries, run: (*Model).goToDelivery, off: noRow},
		{id: "deliveries.retry", keys: []string{"R"}, text: "try a text again that gave up or whose fate is not known", hint: "retry", scope: inDeliveries, run: (*Model).retryDelivery, off: cannotRetryDelivery},
		{id: "deliveries.only", keys: []string{"f"}, text: "all texts, or those that did not arrive", hint: "which", scope: inDeliveries, run: (*Model).onlyAstray},
		{id: "deliveries.copy", keys: []string{"y"}, text: "copy the text", scope: inDeliveries, run: (*Model).copyDelivery, off: cannotCopyRow},
	}
}

// deliveryHere is the text under the cursor of the deliveries, nil when there is none.
func deliveryHere(m *Model) *core.Delivery {
	if v, ok := m.stage().(*deliveries); ok {
		return v.current()
	}
	return nil
}

func (m *Model) goToDelivery() tea.Cmd { return m.leaveTo(target{key: deliveryHere(m).SessionKey}) }

// retryDelivery tries a text again. One that may have arrived is asked about: it would arrive twice.
func (m *Model) retryDelivery() tea.Cmd {
	return m.retryText(deliveryHere(m))
}

func (m *Model) retryText(d *core.Delivery) tea.Cmd {
	key, id := d.SessionKey, d.ID
	again := func(m *Model) tea.Cmd {
		return m.carryOut("tried again: a text of", key, core.Command{Retry: &core.Retry{Delivery: id}})
	}
	if d.State != core.DeliveryUnknown {
		return again(m)
	}
	return m.confirm(&confirm{
		title: "Send it again?", what: []string{"It was being sent when the owner ended. If it did arrive, it will arrive twice."},
		names: []string{routeWords(d.Route)}, yes: again,
	})
}

func cannotRetryDelivery(m *Model) string {
	switch d := deliveryHere(m); {
	case d == nil:
		return "there is no text here"
	case d.Kept():
		return "it is kept here: the channel " + d.Route.Channel + " is not configured to go anywhere"
	case d.State == core.DeliveryDelivered:
		return "it has arrived"
	case !canRetry(d):
		return "only a text that gave up, or whose fate is not known, is tried again"
	}
	return cannotDo(m)
}

func (m *Model) onlyAstray() tea.Cmd {
	if v, ok := m.stage().(*deliveries); ok {
		v.only, v.listed = !v.only, false
	}
	return nil
}

func (m *Model) copyDelivery() tea.Cmd { return m.handOver("text", deliveryHere(m).Text) }
