package ui

import (
	"strconv"
	"strings"
	"time"

	"cordboard/core"
	"cordboard/core/key"
	"cordboard/ui/safe"
)

// Widths of the tree's inside from which on a column is shown, in cells.
const (
	tokensFrom = 40
	mirrorFrom = 44
)

// treeView is what a row needs to be drawn.
type treeView struct {
	k      *inks
	tree   *tree
	heads  map[string]*core.Head
	words  bool // what else is a sign is said in words
	sight  *sight
	marks  map[string]bool
	unread *unread
	heard  *hearing
	line   *lineup
	now    time.Time
	w      int
	focus  bool
}

// draw renders the rows on the screen.
func (v treeView) draw() []string {
	t := v.tree
	out := make([]string, 0, t.height)
	for i := t.top; i < min(t.top+t.height, len(t.rows)); i++ {
		out = append(out, v.row(t.rows[i], i == t.index))
	}
	return out
}

// row draws one line: cursor, lineage, name, and right-aligned what there is room for.
func (v treeView) row(r row, cursor bool) string {
	n := &v.tree.forest.nodes[r.node]
	sh := &v.k.shades
	switch {
	case cursor:
		sh = &v.k.sel
	case r.aside, !n.isAgent() && !v.sight.sees(n.id):
		sh = &v.k.off
	}
	l := newLine(v.w)
	switch {
	case cursor && v.focus:
		l.add(sh.accent, "▌")
	case cursor:
		l.add(sh.accent, "▏")
	default:
		l.space(sh.text, 1)
	}
	h := v.heads[n.id]
	if n.isAgent() || h == nil {
		v.agent(l, sh, n, r)
	} else {
		v.session(l, sh, n, h, r)
	}
	return l.end(sh.text)
}

func foldMark(n *node, r row) string {
	switch {
	case len(n.kids) == 0:
		return " "
	case r.folded:
		return "▸"
	}
	return "▾"
}

func (v treeView) agent(l *line, sh *shades, n *node, r row) {
	l.add(sh.muted, foldMark(n, r)+" ")
	all := v.tree.forest.owned[n.agent]
	total, short := plural(all, "session"), count(int64(all))
	if v.tree.matches != nil {
		short = count(int64(v.tree.found[n.agent])) + " of " + short
		total = short
	}
	if l.left < 24 {
		total = short
	}
	l.add(sh.strong, safe.Cut(safe.Column(n.agent), l.left-len(total)-2))
	l.space(sh.text, l.left-len(total)-1).add(sh.dim, total)
}

// guide is the lineage in front of a session: two cells for every level below its agent.
func guide(n *node, r row, room int) string {
	var b strings.Builder
	first := max(1, r.depth-max(room/8, 1)) // a deep lineage keeps its nearest levels
	for d := first; d < r.depth; d++ {
		if d > 1 && d < 64 && r.guides&(1<<d) != 0 {
			b.WriteString("│ ")
		} else {
			b.WriteString("  ")
		}
	}
	branch := " "
	if r.depth > 1 {
		branch = "├"
		if r.last {
			branch = "└"
		}
	}
	b.WriteString(branch)
	b.WriteString(foldMark(n, r))
	return b.String()
}

func (v treeView) session(l *line, sh *shades, n *node, h *core.Head, r row) {
	st := v.heard.stateOf(h)
	live := v.liveKids(n)
	sign := run{sh.state[st], st.glyph() + " "}
	if live > 0 && st == stateIdle {
		sign = run{sh.busy, "◐ "}
	}
	lead, branch := "", guide(n, r, v.w)
	if v.marks[n.id] {
		lead, branch = "◆", strings.TrimPrefix(branch, " ")
	}
	l.add(sh.accent, lead).add(sh.dim, branch).addAll([]run{sign})
	right := v.columns(sh, h)
	facts := v.facts(sh, n, h, st, r)
	if live > 0 {
		name := safe.Width(safe.Column(firstOf(h.Title, shortKey(n.id))))
		facts = append(facts, run{sh.busy, waiting(st, live, l.left-widthOf(right)-widthOf(facts)-name)})
	}
	facts = append(facts, v.behind(sh, h, st, l.left-widthOf(right)-widthOf(facts))...)
	below := ""
	if r.folded {
		below = " +" + count(int64(v.tree.forest.below(r.node)))
	}
	l.addAll(v.name(sh, n, h, l.left-widthOf(right)-widthOf(facts)-len(below))).add(sh.muted, below)
	room := l.left - widthOf(right) - widthOf(facts)
	tag, whole := "", true
	if len(facts) == 0 {
		tag, whole = kindTag(h, room-2)
	}
	if tail := tailOf(h, room-safe.Width(tag)-4); whole && tail != "" {
		l.add(sh.dim, "  "+tail)
	}
	l.space(sh.text, l.left-widthOf(right)-widthOf(facts)-safe.Width(tag))
	l.add(sh.dim, tag).addAll(facts).addAll(right)
}

// liveKids counts the children of a session that run or wait.
func (v treeView) liveKids(n *node) (live int) {
	for _, kid := range n.kids {
		if h := v.heads[v.tree.forest.nodes[kid].id]; h != nil && h.Run != "" {
			live++
		}
	}
	return live
}

// waiting is what a session does that has live children: it waits on them, or is at work beside them. The name goes before long words.
func waiting(st state, live, room int) string {
	n := strconv.Itoa(live)
	words := []string{" " + childrenOf(live) + " live", " " + n + " live"}
	if st == stateIdle {
		words = []string{" waiting on " + childrenOf(live), " waiting on " + n, " " + n + " live"}
	}
	for _, text := range words {
		if len(text) <= room {
			return text
		}
	}
	return words[len(words)-1]
}

// tailOf is the end of the key of a session that shows a name instead, when it says more and there is room.
func tailOf(h *core.Head, room int) string {
	short := safe.Column(shortKey(h.Key))
	if h.Title == "" || room < 8 || strings.HasSuffix(strings.ToLower(short), strings.ToLower(h.Title)) {
		return ""
	}
	return safe.KeepTail(short, min(room, 20))
}

// columns are the figures at the right edge; they stand below each other.
func (v treeView) columns(sh *shades, h *core.Head) []run {
	var runs []run
	if v.w >= tokensFrom {
		runs = append(runs, run{sh.muted, safe.PadLeft(tokens(h), 6) + " "})
		meter, full := " ", sh.dim
		if part, ok := filled(h); ok {
			meter = gauge(part)
			if part >= gaugeWarns {
				full = gaugeInk(sh, part)
			}
		}
		runs = append(runs, run{full, meter})
	}
	news := " "
	if v.unread.news(h) {
		news = "•"
	}
	runs = append(runs, run{sh.accent, news}, run{sh.muted, safe.PadLeft(age(v.now, h.UpdatedAt), 4) + " "})
	if v.w >= mirrorFrom {
		mirror := "  "
		if h.Flags.Has(core.FlagMirrored) {
			mirror = "⇣ "
		}
		runs = append(runs, run{sh.dim, mirror})
	}
	return runs
}

func gauge(part float64) string {
	const steps = "▁▂▃▄▅▆▇█"
	return string([]rune(steps)[min(int(part*8), 7)])
}

// Parts of the context window from which on a gauge is coloured.
const (
	gaugeWarns  = 0.7
	gaugeAlarms = 0.9
)

func gaugeInk(sh *shades, part float64) ink {
	switch {
	case part >= gaugeAlarms:
		return sh.err
	case part >= gaugeWarns:
		return sh.warn
	}
	return sh.ok
}

// facts are the words that matter more than the kind: what the session does when it is not idle, an override of the send policy, and
// that its parent is not there.
func (v treeView) facts(sh *shades, n *node, h *core.Head, st state, r row) []run {
	var runs []run
	if n.id == v.sight.viewpoint {
		runs = append(runs, run{sh.accent, " ◉"})
	}
	if text := v.signsInWords(h); v.words && text != "" {
		runs = append(runs, run{sh.accent, text})
	}
	if !v.sight.sees(n.id) {
		runs = append(runs, run{sh.dim, " hidden"})
	}
	if r.pinned {
		runs = append(runs, run{sh.muted, " " + st.word() + " " + age(v.now, h.UpdatedAt)})
	}
	if st != stateIdle && !r.pinned {
		runs = append(runs, run{sh.state[st], " " + st.word() + v.place(h, st)})
	}
	if st != stateUndelivered && h.Flags.Has(core.FlagUndelivered) {
		runs = append(runs, run{sh.warn, " " + stateUndelivered.word()})
	}
	switch {
	case h.Flags.Has(core.FlagSendDeny):
		runs = append(runs, run{sh.warn, " ▲deny"})
	case h.Flags.Has(core.FlagSendAllow):
		runs = append(runs, run{sh.ok, " ▲allow"})
	}
	if n.adrift != notAdrift {
		runs = append(runs, run{sh.warn, " " + n.adrift.word()})
	}
	return runs
}

// signsInWords are the marks of a row for who hears it read.
func (v treeView) signsInWords(h *core.Head) string {
	text := ""
	if v.marks[h.Key] {
		text += " marked"
	}
	if v.unread.news(h) {
		text += " unread"
	}
	if h.Key == v.sight.viewpoint {
		text += " viewpoint"
	}
	return text
}

// place is how many runs wait in a queued session's line.
func (v treeView) place(h *core.Head, st state) string {
	if n := v.line.waiting[h.Key]; n > 0 && st == stateQueued {
		return " #" + count(int64(n))
	}
	return ""
}

// behind tells of runs that wait behind what a session does, where there is room beside its name.
func (v treeView) behind(sh *shades, h *core.Head, st state, room int) []run {
	const name = 12
	n := v.line.waiting[h.Key]
	if n == 0 || st == stateQueued || room < name+5 {
		return nil
	}
	return []run{{sh.state[stateQueued], " +" + count(int64(n))}}
}

func (a adrift) word() string {
	switch a {
	case parentGone:
		return "detached"
	case parentArchived:
		return "parent archived"
	case parentLoop:
		return "loop"
	case parentUnseen:
		return "parent hidden"
	case parentElsewhere:
		return "other's child"
	}
	return ""
}

// name is the display name, else the key without its agent. A session that runs under another agent than the row above says so.
func (v treeView) name(sh *shades, n *node, h *core.Head, room int) []run {
	ground := sh.text
	if n.main || n.live || v.unread.news(h) {
		ground = sh.strong
	}
	name, cut := safe.Column(h.Title), safe.Cut
	if name == "" {
		name, cut = safe.Column(shortKey(n.id)), safe.CutMiddle
	}
	above := &v.tree.forest.nodes[n.parent]
	if above.agent == n.agent {
		return []run{{ground, cut(name, room)}}
	}
	agent := safe.Cut(safe.Column(n.agent), max(room/3, room-safe.Width(name)-1))
	return []run{{sh.accent2, agent + "/"}, {ground, cut(name, room-safe.Width(agent)-1)}}
}

// shortKey is a key without `agent:<id>:`; the row above says the agent.
func shortKey(k string) string {
	if parts, ok := key.Parse(k); ok {
		return parts.Rest
	}
	return k
}

// kindTag says what sort of session it is and on which channel, where the name alone might not: in full, or in one word, or not at all
// where there is no room. whole reports that nothing was left out.
func kindTag(h *core.Head, room int) (tag string, whole bool) {
	full, short := "", ""
	switch {
	case h.Kind != core.KindOther && h.Kind != core.KindMain:
		full, short = string(h.Kind), string(h.Kind)
	case h.Parent != "" || key.IsSubagent(h.Key):
		full, short = "sub-agent", "sub"
	}
	if h.Channel != "" && h.Channel != "unknown" && h.Channel != "internal" && full != "sub-agent" {
		short = safe.Column(h.Channel)
		full = strings.TrimSpace(full + " " + short)
	}
	switch {
	case safe.Width(full) <= room:
		return full, true
	case safe.Width(short) <= room:
		return short, false
	}
	return "", false
}
