package ui

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"cordboard/core"
	"cordboard/core/key"
)

// sorts is a set of kinds as the filter tells them apart: core's, and sub-agents, which are most of its `other`.
type sorts uint16

const subagent core.Kind = "sub-agent"

// kindsShown are the kinds in the order they are shown; a set of them has bit i for the i-th.
var kindsShown = [...]core.Kind{core.KindMain, core.KindGroup, core.KindCron, core.KindHook, core.KindNode, subagent, core.KindOther}

const everySort = sorts(1<<len(kindsShown)) - 1

// sortOf is the bit of a session's kind.
func sortOf(h *core.Head) sorts {
	kind := h.Kind
	if kind == core.KindOther && (h.Parent != "" || key.IsSubagent(h.Key)) {
		kind = subagent
	}
	for i, k := range kindsShown {
		if k == kind {
			return 1 << i
		}
	}
	return 1 << (len(kindsShown) - 1)
}

// kinds names what is in a set.
func (s sorts) kinds() []core.Kind {
	var list []core.Kind
	for i, k := range kindsShown {
		if s&(1<<i) != 0 {
			list = append(list, k)
		}
	}
	return list
}

// sortsNamed is the set of the named kinds; false when one is not a kind.
func sortsNamed(kinds []core.Kind) (s sorts, ok bool) {
	for _, k := range kinds {
		i := slices.Index(kindsShown[:], k)
		if i < 0 {
			return 0, false
		}
		s |= 1 << i
	}
	return s, true
}

// criteria are what the tree is narrowed by, the text aside. The zero value is no filter at all, and nobody but the operator sets any of
// it (R048).
type criteria struct {
	kinds    sorts // 0 = all
	agent    string
	channel  string
	live     bool
	within   time.Duration // updated not longer ago; 0 = whenever
	archived bool          // archived sessions too
	needs    bool          // only those that need the operator
}

// The times that the menu offers.
var withins = [...]time.Duration{15 * time.Minute, time.Hour, 6 * time.Hour, 24 * time.Hour, 7 * 24 * time.Hour}

// lapse is a span as people write it: 15m, 6h, 7d.
func lapse(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d >= 2*day && d%day == 0:
		return strconv.Itoa(int(d/day)) + "d"
	case d >= time.Hour && d%time.Hour == 0:
		return strconv.Itoa(int(d/time.Hour)) + "h"
	}
	return strconv.Itoa(int(d/time.Minute)) + "m"
}

// sieve is a bit for every criterion, so that a session can be told which of them it fails.
type sieve uint16

const (
	byText sieve = 1 << iota
	byKind
	byAgent
	byChannel
	byLive
	byTime
	byArchive
	bySight // the viewpoint may not see it and hidden rows are left out
	byNeed
)

// question is all that decides which sessions are in view. It is asked beside the screen and holds nothing that changes.
type question struct {
	criteria
	query string
	seen  map[string]bool // nil = all
	now   time.Time
	keep  string // the session under the cursor, when it was in view under the same filter
}

// narrows reports whether rows have to match to be in view.
func (q *question) narrows() bool {
	return strings.TrimSpace(q.query) != "" || q.kinds != 0 || q.channel != "" || q.live || q.needs || q.within != 0
}

// fails is every criterion a session does not meet.
func (q *question) fails(c *candidate, words []word) sieve {
	h := c.head
	var f sieve
	set := func(bit sieve, failed bool) {
		if failed {
			f |= bit
		}
	}
	set(byKind, q.kinds != 0 && q.kinds&sortOf(h) == 0)
	set(byAgent, q.agent != "" && c.agent != q.agent)
	set(byChannel, q.channel != "" && h.Channel != q.channel)
	set(byLive, q.live && !live(h))
	set(byTime, q.within != 0 && q.now.Sub(time.UnixMilli(h.UpdatedAt)) > q.within && !live(h))
	set(byArchive, !q.archived && h.Flags.Has(core.FlagArchived))
	set(byNeed, q.needs && !needsYou(h))
	set(bySight, q.seen != nil && !q.seen[h.Key])
	set(byText, len(words) > 0 && !c.matches(words))
	return f
}

func live(h *core.Head) bool { return h.Run == core.RunRunning || h.Run == core.RunQueued }

// needsYou reports whether somebody has to do something about a session: its run waits for a person, the last one failed, or what it had
// to tell did not go out. Of a mirrored one that is somebody else's to do, and what is archived is done with.
func needsYou(h *core.Head) bool {
	return h.Flags&(core.FlagAsks|core.FlagFailed|core.FlagUndelivered) != 0 && h.Flags&(core.FlagMirrored|core.FlagArchived) == 0
}

// findings are the answer: the sessions that meet every criterion, and those that stay in view all the same — main sessions that are too
// old (R050), and the one under the cursor once it has ended, grown old or been seen to: what is being read is not taken away. matches is nil when rows
// need not match.
type findings struct {
	matches map[string]bool // true = found, false = kept in view
	keep    string          // the question's
	found   int
	all     int // sessions there would be without any criterion
	facets  *facets
}

// facets count what each choice of the menu would leave, the other criteria being as they are.
type facets struct {
	live, archived int
	needs          int
	kinds          [len(kindsShown)]int
	within         [len(withins)]int
	agents         map[string]int
	channels       map[string]int
}

// ask answers a question about a list of candidates.
func ask(q question, list []candidate, counted bool) findings {
	a := findings{keep: q.keep}
	if q.narrows() {
		a.matches = map[string]bool{}
	}
	if counted {
		a.facets = &facets{agents: map[string]int{}, channels: map[string]int{}}
	}
	words := wordsOf(q.query)
	for i := range list {
		c := &list[i]
		fails := q.fails(c, words)
		if fails&bySight == 0 && (q.archived || !c.head.Flags.Has(core.FlagArchived)) {
			a.all++
		}
		switch {
		case fails == 0:
			a.found++
			if a.matches != nil {
				a.matches[c.head.Key] = true
			}
		case fails == byTime && c.head.Kind == core.KindMain, fails&^(byTime|byLive|byNeed) == 0 && c.head.Key == q.keep:
			a.matches[c.head.Key] = false
		}
		if counted {
			a.facets.count(&q, c, fails)
		}
	}
	return a
}

// count adds a session to every choice that would leave it: the one whose criterion alone it fails, and all it meets already.
func (f *facets) count(q *question, c *candidate, fails sieve) {
	h := c.head
	but := func(bit sieve) bool { return fails&^bit == 0 }
	if but(byLive) && live(h) {
		f.live++
	}
	if but(byNeed) && needsYou(h) {
		f.needs++
	}
	if but(byArchive) && h.Flags.Has(core.FlagArchived) {
		f.archived++
	}
	if but(byKind) {
		for i := range kindsShown {
			if sortOf(h) == 1<<i {
				f.kinds[i]++
			}
		}
	}
	if but(byTime) {
		for i, d := range withins {
			if live(h) || q.now.Sub(time.UnixMilli(h.UpdatedAt)) <= d {
				f.within[i]++
			}
		}
	}
	if but(byAgent) {
		f.agents[c.agent]++
	}
	if but(byChannel) {
		f.channels[h.Channel]++
	}
}

// words are the criteria as the header tells them.
func (c criteria) words() []string {
	var list []string
	switch kinds, without := c.kinds.kinds(), (everySort &^ c.kinds).kinds(); {
	case c.kinds == 0:
	case len(kinds) <= len(without):
		list = append(list, joined(kinds, "+"))
	default:
		list = append(list, "no "+joined(without, ", no "))
	}
	if c.agent != "" {
		list = append(list, "agent "+c.agent)
	}
	if c.channel != "" {
		list = append(list, c.channel)
	}
	if c.live {
		list = append(list, "live")
	}
	if c.needs {
		list = append(list, "needs you")
	}
	if c.within != 0 {
		list = append(list, "updated within "+lapse(c.within))
	}
	if c.archived {
		list = append(list, "archived too")
	}
	return list
}

func joined(kinds []core.Kind, joint string) string {
	list := make([]string, len(kinds))
	for i, k := range kinds {
		list[i] = string(k)
	}
	return strings.Join(list, joint)
}
