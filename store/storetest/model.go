package storetest

import (
	"cmp"
	"maps"
	"slices"

	"cordboard/core"
	"cordboard/core/key"
)

// model is the store as plain maps: slow and plainly right. A function runs on a copy that is kept when it succeeds.
type model struct {
	rev        core.Rev
	sessions   map[string]core.Session
	rowRev     map[string]core.Rev
	entries    map[string]string
	gens       map[string]core.Generation
	messages   map[string][]core.Message
	runs       map[string]core.Run
	runOrder   []string // by first put
	exchanges  map[string]core.Exchange
	deliveries map[string]core.Delivery
	due        map[core.Due]bool
	audit      []core.AuditEntry
	sources    map[[2]string]core.SourceFile
	holds      map[core.Hold]bool
	usage      map[core.UsageRow]int64 // how often one run of 3 tokens was added to a counter
	log        []core.Revision

	wrote   bool
	changes []core.Change
}

func newModel() *model {
	return &model{
		sessions: map[string]core.Session{}, rowRev: map[string]core.Rev{}, entries: map[string]string{},
		gens: map[string]core.Generation{}, messages: map[string][]core.Message{}, runs: map[string]core.Run{},
		exchanges: map[string]core.Exchange{}, deliveries: map[string]core.Delivery{}, due: map[core.Due]bool{},
		sources: map[[2]string]core.SourceFile{}, holds: map[core.Hold]bool{}, usage: map[core.UsageRow]int64{},
	}
}

// begin copies the model for one function.
func (m *model) begin() *model {
	out := *m
	out.sessions, out.rowRev, out.entries = maps.Clone(m.sessions), maps.Clone(m.rowRev), maps.Clone(m.entries)
	out.gens, out.messages, out.runs = maps.Clone(m.gens), maps.Clone(m.messages), maps.Clone(m.runs)
	out.exchanges, out.deliveries = maps.Clone(m.exchanges), maps.Clone(m.deliveries)
	out.due, out.sources = maps.Clone(m.due), maps.Clone(m.sources)
	out.holds, out.usage = maps.Clone(m.holds), maps.Clone(m.usage)
	out.runOrder, out.audit, out.log = slices.Clip(m.runOrder), slices.Clip(m.audit), slices.Clip(m.log)
	out.wrote, out.changes, out.rev = false, nil, m.rev+1
	return &out
}

// commit ends the function: its changes become a revision.
func (m *model) commit() {
	if !m.wrote {
		m.rev--
		return
	}
	m.log = append(m.log, core.Revision{Rev: m.rev, Changes: m.changes})
}

func (m *model) note(c core.Change) {
	m.wrote = true
	for i := range m.changes {
		if old := &m.changes[i]; old.Kind == c.Kind && old.ID == c.ID {
			if old.FirstSeq != 0 && c.FirstSeq != 0 {
				c.FirstSeq = min(c.FirstSeq, old.FirstSeq)
			}
			*old = c
			return
		}
	}
	m.changes = append(m.changes, c)
}

// moving runs a write and notes the sessions whose heads it changed.
func (m *model) moving(write func()) {
	before := m.heads()
	write()
	old := map[string]core.Head{}
	for _, h := range before {
		old[h.Key] = h
	}
	for _, h := range m.heads() {
		if was, ok := old[h.Key]; ok && was != h {
			m.note(core.Change{Kind: core.ChangeSession, ID: h.Key})
		}
	}
}

func (m *model) putSession(s core.Session) {
	m.sessions[s.Key], m.rowRev[s.Key] = s, m.rev
	m.note(core.Change{Kind: core.ChangeSession, ID: s.Key})
}

func (m *model) deleteSession(key string) {
	if _, ok := m.entries[key]; ok {
		delete(m.entries, key)
		m.wrote = true
	}
	if _, ok := m.sessions[key]; ok {
		delete(m.sessions, key)
		m.note(core.Change{Kind: core.ChangeSession, ID: key, Deleted: true})
	}
}

func (m *model) putGeneration(g core.Generation) {
	m.moving(func() {
		old := m.gens[g.ID]
		g.Messages, g.ToolResults, g.FirstSeq, g.LastSeq, g.Bytes = old.Messages, old.ToolResults, old.FirstSeq, old.LastSeq, old.Bytes
		m.gens[g.ID] = g
		m.note(core.Change{Kind: core.ChangeGeneration, ID: g.ID})
	})
}

func (m *model) deleteGeneration(id string) {
	if _, ok := m.gens[id]; !ok {
		return
	}
	m.moving(func() {
		delete(m.gens, id)
		delete(m.messages, id)
		m.note(core.Change{Kind: core.ChangeGeneration, ID: id, Deleted: true})
	})
}

// append mirrors Tx.Append for messages with ascending seqs; ok is false where the store must refuse.
func (m *model) append(id string, messages []core.Message) (first, last uint64, ok bool) {
	g, known := m.gens[id]
	if !known {
		return 0, 0, false
	}
	all := slices.Clip(m.messages[id])
	for i, msg := range messages {
		if msg.Seq == 0 {
			msg.Seq = g.LastSeq + 1
		}
		if msg.Seq <= g.LastSeq {
			return 0, 0, false
		}
		g.FirstSeq, g.LastSeq = cmp.Or(g.FirstSeq, msg.Seq), msg.Seq
		if msg.Role != core.RoleEvent {
			g.Messages++
			g.Bytes += int64(len(msg.Raw))
		}
		if msg.Role == core.RoleToolResult {
			g.ToolResults++
		}
		if all = append(all, msg); i == 0 {
			first = msg.Seq
		}
	}
	if len(messages) == 0 {
		return 0, 0, true
	}
	m.moving(func() {
		m.gens[id], m.messages[id] = g, all
		m.note(core.Change{Kind: core.ChangeMessages, ID: id, FirstSeq: first, LastSeq: g.LastSeq})
	})
	return first, g.LastSeq, true
}

func (m *model) putRun(r core.Run) {
	m.moving(func() {
		if _, known := m.runs[r.ID]; !known {
			m.runOrder = append(m.runOrder, r.ID)
		}
		m.runs[r.ID] = r
		m.note(core.Change{Kind: core.ChangeRun, ID: r.ID})
	})
}

func (m *model) hold(h core.Hold, release bool) {
	if m.holds[h] != release {
		return
	}
	id := h.Session
	if h.Agent != "" {
		id = "agent:" + h.Agent
	}
	m.note(core.Change{Kind: core.ChangeHold, ID: id, Deleted: release})
	if release {
		delete(m.holds, h)
	} else {
		m.holds[h] = true
	}
}

// heads derives every head, newest first.
func (m *model) heads() []core.Head {
	var out []core.Head
	for _, s := range m.sessions {
		kind := key.BaseKind(s.Key, s.ChatType)
		h := core.Head{
			Key: s.Key, UpdatedAt: s.UpdatedAt, Kind: kind, Parent: s.SpawnedBy, Title: cmp.Or(s.DisplayName, s.Label),
			Channel: key.ChannelField(kind, s.Channel, s.LastChannel, s.Key), Run: m.runState(s.Key), Rev: m.rowRev[s.Key],
		}
		if s.Label != "" {
			h.Flags |= core.FlagLabelled
		}
		if s.TotalTokens != nil {
			h.Flags |= core.FlagTokensKnown
			h.Tokens = *s.TotalTokens
		}
		if g, ok := m.gens[s.SessionID]; ok && g.Key == s.Key {
			h.LastSeq = g.LastSeq
		}
		out = append(out, h)
	}
	slices.SortFunc(out, func(a, b core.Head) int {
		return cmp.Or(cmp.Compare(b.UpdatedAt, a.UpdatedAt), cmp.Compare(a.Key, b.Key))
	})
	return out
}

func (m *model) runState(key string) core.RunState {
	state := core.RunState("")
	for _, r := range m.runs {
		if r.SessionKey != key {
			continue
		}
		if r.State == core.RunRunning || r.State == core.RunQueued && state == "" {
			state = r.State
		}
	}
	return state
}

// content is what the store must show for this model.
func (m *model) content(u universe) content {
	c := content{
		Rev: m.rev, Sessions: m.sessions, Entries: m.entries, Heads: m.heads(), Children: map[string][]string{}, Generations: m.gens,
		OfSession: map[string][]string{}, Messages: map[string][]core.Message{}, RunsOf: map[string][]string{},
	}
	for _, e := range slices.Backward(m.audit) {
		c.Audit = append(c.Audit, e)
	}
	c.Holds = slices.SortedFunc(maps.Keys(m.holds), func(a, b core.Hold) int {
		return cmp.Or(cmp.Compare(a.Session, b.Session), cmp.Compare(a.Agent, b.Agent))
	})
	for _, u := range slices.SortedFunc(maps.Keys(m.usage), func(a, b core.UsageRow) int {
		return cmp.Or(cmp.Compare(b.Day, a.Day), cmp.Compare(a.Agent, b.Agent), cmp.Compare(a.Model, b.Model))
	}) {
		n := m.usage[u]
		u.Runs, u.Input = n, 3*n
		c.Usage = append(c.Usage, u)
	}
	for _, k := range sortedKeys(m.sessions) {
		if parent := m.sessions[k].SpawnedBy; parent != "" {
			c.Children[parent] = append(c.Children[parent], k)
		}
	}
	for _, id := range sortedKeys(m.gens) {
		c.Messages[id] = m.messages[id]
		if k := m.gens[id].Key; k != "" {
			c.OfSession[k] = append(c.OfSession[k], id)
		}
	}
	m.runContent(&c)
	for _, id := range sortedKeys(m.exchanges) {
		c.Exchanges = append(c.Exchanges, m.exchanges[id])
	}
	for _, id := range sortedKeys(m.deliveries) {
		c.Deliveries = append(c.Deliveries, m.deliveries[id])
	}
	c.Due = slices.SortedFunc(maps.Keys(m.due), func(a, b core.Due) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID))
	})
	for _, source := range u.sources {
		for _, f := range slices.SortedFunc(maps.Values(m.sources), func(a, b core.SourceFile) int { return cmp.Compare(a.Path, b.Path) }) {
			if f.Source == source {
				c.Sources = append(c.Sources, f)
			}
		}
	}
	return c
}

func (m *model) runContent(c *content) {
	newest := slices.Clone(m.runOrder)
	slices.Reverse(newest)
	slices.SortStableFunc(newest, func(a, b string) int { return cmp.Compare(m.runs[b].QueuedAt, m.runs[a].QueuedAt) })
	for _, id := range newest {
		r := m.runs[id]
		c.Runs = append(c.Runs, r)
		c.RunsOf[r.SessionKey] = append(c.RunsOf[r.SessionKey], id)
	}
	for _, id := range m.runOrder {
		if s := m.runs[id].State; s == core.RunQueued || s == core.RunRunning {
			c.Live = append(c.Live, id)
		}
	}
}
