package storetest

import (
	"maps"
	"math"
	"slices"

	"cordboard/core"
)

// content is all that a store holds, in plain values.
type content struct {
	Rev         core.Rev
	Sessions    map[string]core.Session
	Entries     map[string]string
	Heads       []core.Head
	Children    map[string][]string
	Generations map[string]core.Generation
	OfSession   map[string][]string
	Messages    map[string][]core.Message
	Runs        []core.Run
	RunsOf      map[string][]string
	Live        []string
	Exchanges   []core.Exchange
	Deliveries  []core.Delivery
	Due         []core.Due
	Audit       []core.AuditEntry
	Sources     []core.SourceFile
	Holds       []core.Hold
	Usage       []core.UsageRow
}

// universe names what cannot be listed.
type universe struct {
	keys    []string // sessions and parents to ask for
	sources []string
}

// dump reads everything that lists itself.
func (h *harness) dump() content {
	h.t.Helper()
	var c content
	h.view(func(r core.Reader) { c = h.contentOf(r, universe{}) })
	return c
}

func (h *harness) contentOf(r core.Reader, u universe) content {
	h.t.Helper()
	c := content{
		Rev: r.Rev(), Sessions: map[string]core.Session{}, Entries: map[string]string{}, Children: map[string][]string{},
		Generations: map[string]core.Generation{}, OfSession: map[string][]string{}, Messages: map[string][]core.Message{},
		RunsOf: map[string][]string{},
	}
	c.Heads = h.headsAfter(r, core.HeadCursor{})
	h.NoError(r.AllGenerations("", func(g *core.Generation) bool {
		c.Generations[g.ID] = *g
		c.Messages[g.ID] = h.messages(r, g.ID, core.SeqRange{})
		return true
	}))
	h.NoError(r.Runs("", func(run *core.Run) bool {
		c.Runs = append(c.Runs, *run)
		return true
	}))
	for _, key := range slices.Compact(slices.Sorted(slices.Values(append(keysOf(c.Heads), u.keys...)))) {
		h.sessionContent(r, key, &c)
	}
	h.NoError(r.LiveRuns(func(run *core.Run) bool {
		c.Live = append(c.Live, run.ID)
		return true
	}))
	h.recordContent(r, u, &c)
	return c
}

func (h *harness) sessionContent(r core.Reader, key string, c *content) {
	h.t.Helper()
	s, ok, err := r.Session(key)
	h.NoError(err)
	if ok {
		c.Sessions[key] = s
	}
	entry, ok, err := r.Entry(key)
	h.NoError(err)
	if ok {
		c.Entries[key] = string(entry)
	}
	h.NoError(r.Children(key, func(child string) bool {
		c.Children[key] = append(c.Children[key], string([]byte(child)))
		return true
	}))
	h.NoError(r.Generations(key, func(g *core.Generation) bool {
		c.OfSession[key] = append(c.OfSession[key], g.ID)
		return true
	}))
	h.NoError(r.Runs(key, func(run *core.Run) bool {
		c.RunsOf[key] = append(c.RunsOf[key], run.ID)
		return true
	}))
}

func (h *harness) recordContent(r core.Reader, u universe, c *content) {
	h.t.Helper()
	h.NoError(r.Exchanges(func(x *core.Exchange) bool {
		c.Exchanges = append(c.Exchanges, *x)
		return true
	}))
	h.NoError(r.Deliveries(func(d *core.Delivery) bool {
		c.Deliveries = append(c.Deliveries, *d)
		return true
	}))
	h.NoError(r.Due(math.MaxInt64, func(d core.Due) bool {
		c.Due = append(c.Due, d)
		return true
	}))
	h.NoError(r.Audit(0, func(e *core.AuditEntry) bool {
		c.Audit = append(c.Audit, *e)
		return true
	}))
	h.NoError(r.Holds(func(hold *core.Hold) bool {
		c.Holds = append(c.Holds, *hold)
		return true
	}))
	h.NoError(r.Usage(func(u *core.UsageRow) bool {
		c.Usage = append(c.Usage, *u)
		return true
	}))
	for _, source := range u.sources {
		h.NoError(r.SourceFiles(source, func(f *core.SourceFile) bool {
			c.Sources = append(c.Sources, *f)
			return true
		}))
	}
}

func (h *harness) messages(r core.Reader, generation string, s core.SeqRange) (out []core.Message) {
	h.t.Helper()
	h.NoError(r.Messages(generation, s, func(m *core.Message) bool {
		out = append(out, cloneMessage(m))
		return true
	}))
	return out
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
