// Package uitest has a board that lives in memory, for tests and benchmarks of the console that need fleets, floods and faults which no
// imported directory holds. It answers reads as the engine does, by the same orders and bounds; of commands it knows few.
package uitest

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"

	"cordboard/core"
)

// Board is a core.Board over maps. The zero value is not usable; see New.
type Board struct {
	mu      sync.Mutex
	info    core.Info
	heads   map[string]core.Head
	detail  map[string]core.SessionDetail
	logs    map[string][]core.Message // by generation id
	err     error
	rev     core.Rev
	streams map[*stream]bool
	rec     records
	said    map[string]core.Partial // what live runs say, by session
}

var _ core.Board = (*Board)(nil)

// New returns an empty board at path.
func New(path string) *Board {
	return &Board{
		info: core.Info{
			Version: "test", Actor: core.Operator, Owner: "this process",
			Store: core.StoreInfo{Path: path, Epoch: "e1"},
			Names: core.Naming{MainKey: "main", DefaultAgent: "main"},
		},
		heads:   map[string]core.Head{},
		detail:  map[string]core.SessionDetail{},
		logs:    map[string][]core.Message{},
		streams: map[*stream]bool{},
		said:    map[string]core.Partial{},
	}
}

// Put adds or replaces a session and tells the watchers. What d leaves out is plain: the
// current generation is named like the key, sending is allowed.
func (b *Board) Put(h core.Head, d core.SessionDetail) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if d.Session.SessionID == "" {
		d.Session.SessionID = h.Key
	}
	d.Session.Key = h.Key
	if d.Send == (core.Verdict{}) {
		d.Send = core.Verdict{Allowed: true, Rule: "default"}
	}
	if len(d.Generations) == 0 {
		d.Generations = []core.Generation{{ID: d.Session.SessionID, SessionID: d.Session.SessionID, Key: h.Key, State: core.GenerationCurrent}}
	}
	b.detail[h.Key] = d
	b.putHead(h)
}

func (b *Board) putHead(h core.Head) {
	b.rev++
	h.Rev = b.rev
	b.heads[h.Key] = h
	b.tell(core.Change{Kind: core.ChangeSession, ID: h.Key, Head: &h})
}

// Update changes the head of a session and tells the watchers.
func (b *Board) Update(key string, change func(*core.Head)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	h := b.heads[key]
	change(&h)
	b.putHead(h)
}

// Delete removes a session and tells the watchers.
func (b *Board) Delete(key string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.heads, key)
	delete(b.detail, key)
	b.rev++
	b.tell(core.Change{Kind: core.ChangeSession, ID: key, Deleted: true})
}

// Append adds messages to a generation, numbers them and tells the watchers. What its live run was saying is taken for said.
func (b *Board) Append(generation string, messages ...core.Message) {
	b.mu.Lock()
	defer b.mu.Unlock()
	log := b.logs[generation]
	first := uint64(1)
	if len(log) > 0 {
		first = log[len(log)-1].Seq + 1
	}
	for i := range messages {
		messages[i].Seq = first + uint64(i)
	}
	b.logs[generation] = append(log, messages...)
	b.endSaying(generation)
	b.rev++
	b.tell(core.Change{Kind: core.ChangeMessages, ID: generation, FirstSeq: first, LastSeq: first + uint64(len(messages)) - 1})
}

// Fail makes every read fail with err until it is called with nil.
func (b *Board) Fail(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.err = err
}

// Gap tells the watchers that they lost history.
func (b *Board) Gap() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for s := range b.streams {
		s.push(core.Batch{Epoch: b.info.Store.Epoch, To: b.rev, Gap: true})
	}
}

func (b *Board) tell(c core.Change) {
	for s := range b.streams {
		s.push(core.Batch{Epoch: b.info.Store.Epoch, From: b.rev - 1, To: b.rev, Changes: []core.Change{c}})
	}
}

func (b *Board) at() core.Cursor { return core.Cursor{Epoch: b.info.Store.Epoch, Rev: b.rev} }

// Info implements core.Board.
func (b *Board) Info(context.Context) (core.Info, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	info := b.info
	info.Cursor, info.Store.Sessions = b.at(), len(b.heads)
	return info, b.err
}

// Sessions implements core.Board; of the filters it knows Agent and Archived, of the scopes `tree`.
func (b *Board) Sessions(_ context.Context, q core.SessionQuery) (core.SessionPage, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	page := core.SessionPage{At: b.at()}
	heads := make([]core.Head, 0, len(b.heads))
	for _, h := range b.heads {
		if (q.Archived || !h.Flags.Has(core.FlagArchived)) && (q.Agent == "" || strings.HasPrefix(h.Key, "agent:"+q.Agent+":")) {
			heads = append(heads, h)
		}
	}
	slices.SortFunc(heads, func(x, y core.Head) int {
		return cmp.Or(cmp.Compare(y.UpdatedAt, x.UpdatedAt), strings.Compare(x.Key, y.Key))
	})
	if i := slices.IndexFunc(heads, func(h core.Head) bool { return h.Key == q.Cursor }); q.Cursor != "" {
		heads = heads[i+1:]
	}
	limit := cmp.Or(q.Limit, 1000)
	if q.Viewpoint != "" {
		page.Scope = &core.ScopeInfo{Visibility: core.VisibilityTree, Effective: core.VisibilityTree}
	}
	for _, h := range heads[:min(limit, len(heads))] {
		row := core.SessionRow{Head: h}
		if v := see(q.Viewpoint, h); !v.Allowed {
			row.Hidden = &v
		}
		page.Rows = append(page.Rows, row)
	}
	if len(heads) > limit {
		page.Next = heads[limit-1].Key
	}
	return page, b.err
}

// see is what the scope `tree` says; an operator, whose viewpoint is "", sees all.
func see(viewpoint string, h core.Head) core.Verdict {
	if viewpoint == "" || h.Key == viewpoint || h.Parent == viewpoint {
		return core.Verdict{Allowed: true, Rule: "own child"}
	}
	return core.Verdict{Rule: "visibility", ConfigKey: "tools.sessions.visibility", Message: h.Key + " is outside the scope of " + viewpoint}
}

// Messages implements core.Board; of the filter it knows Events.
func (b *Board) Messages(_ context.Context, q core.MessageQuery) (core.MessagePage, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	g, err := b.generation(q)
	if err != nil {
		return core.MessagePage{}, err
	}
	log := b.logs[g.ID]
	from, to := 0, len(log)
	if q.After > 0 {
		from, _ = slices.BinarySearchFunc(log, q.After+1, bySeq)
	}
	if q.Before > 0 {
		to, _ = slices.BinarySearchFunc(log, q.Before, bySeq)
	}
	kept := make([]core.Message, 0, 64)
	limit := cmp.Or(q.Limit, 200)
	step, i := -1, to-1
	if q.After > 0 || q.Oldest {
		step, i = 1, from
	}
	more := false
	for ; i >= from && i < to; i += step {
		if log[i].Role == core.RoleEvent && !q.Filter.Events {
			continue
		}
		if more = len(kept) == limit; more {
			break
		}
		kept = append(kept, log[i])
	}
	if step < 0 {
		slices.Reverse(kept)
	}
	g.Messages = len(log)
	if len(log) > 0 {
		g.FirstSeq, g.LastSeq = log[0].Seq, log[len(log)-1].Seq
	}
	page := core.MessagePage{At: b.at(), Session: g.Key, Generation: g, Messages: kept, More: more}
	if p, ok := b.said[g.Key]; ok && g.State == core.GenerationCurrent {
		page.Partial = &p
	}
	return page, b.err
}

func bySeq(m core.Message, seq uint64) int { return cmp.Compare(m.Seq, seq) }

func (b *Board) generation(q core.MessageQuery) (core.Generation, error) {
	for _, d := range b.detail {
		for _, g := range d.Generations {
			if q.Generation == g.ID || q.Generation == "" && q.Session == d.Session.Key && g.ID == d.Session.SessionID {
				return g, nil
			}
		}
	}
	return core.Generation{}, core.Errorf(core.CodeNotFound, "no transcript answers to %q", cmp.Or(q.Generation, q.Session))
}

// Records implements core.Board.
func (b *Board) Records(_ context.Context, q core.RecordQuery) (core.RecordPage, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if page, ok := b.list(q); ok {
		return page, b.err
	}
	d, ok := b.detail[q.Session]
	if !ok {
		return core.RecordPage{}, core.Errorf(core.CodeNotFound, "no session answers to %q", q.Session)
	}
	d.Head = b.heads[q.Session]
	for i := range d.Generations {
		log := b.logs[d.Generations[i].ID]
		d.Generations[i].Messages = len(log)
	}
	for _, h := range b.heads {
		if h.Parent == q.Session {
			d.Children = append(d.Children, h.Key)
		}
	}
	slices.Sort(d.Children)
	for _, r := range slices.Backward(b.rec.runs) {
		if r.SessionKey == q.Session {
			d.Runs = append(d.Runs, r)
		}
	}
	return core.RecordPage{At: b.at(), Session: &d}, b.err
}

func unsupported(verb string) error {
	return core.Errorf(core.CodeUnsupported, "the test board cannot %s", verb)
}

// Search is refused.
func (b *Board) Search(context.Context, core.SearchQuery) (core.SearchPage, error) {
	return core.SearchPage{}, unsupported("search")
}

// Explain answers for rights: list and history by the scope, send and spawn refused.
func (b *Board) Explain(_ context.Context, q core.Question) (core.Explanation, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if q.Rights == nil {
		return core.Explanation{}, unsupported("explain that")
	}
	v := see(q.Rights.Caller, b.heads[q.Rights.Target])
	no := core.Verdict{Rule: "mirrored", Message: q.Rights.Target + " is read only"}
	return core.Explanation{Verdict: v, Scope: &core.ScopeInfo{Visibility: core.VisibilityTree, Effective: core.VisibilityTree}, Rights: []core.Right{
		{Tool: "sessions_list", Verdict: v}, {Tool: "sessions_history", Verdict: v}, {Tool: "sessions_send", Verdict: no}, {Tool: "sessions_spawn", Verdict: no},
	}}, b.err
}

// Call is refused.
func (b *Board) Call(context.Context, core.ToolCall) (core.ToolResult, error) {
	return core.ToolResult{}, unsupported("call")
}

// Do implements core.Board for what is about runs, deliveries and holds.
func (b *Board) Do(_ context.Context, c core.Command) (core.Receipt, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rec.commands = append(b.rec.commands, c)
	if b.rec.refusal != nil {
		return core.Receipt{}, b.rec.refusal
	}
	if receipt, ok, err := b.work(c); ok {
		return receipt, err
	}
	return core.Receipt{}, unsupported("do")
}

// Watch implements core.Board from now on.
func (b *Board) Watch(context.Context, core.Cursor) (core.Stream, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err != nil {
		return nil, b.err
	}
	s := &stream{board: b, ready: make(chan struct{}, 1), focus: map[string]bool{}}
	b.streams[s] = true
	return s, nil
}

// Close implements core.Board.
func (b *Board) Close() error { return nil }

// stream queues batches without a bound: a test ends before it matters.
type stream struct {
	board *Board
	mu    sync.Mutex
	queue []core.Batch
	ready chan struct{}
	focus map[string]bool // guarded by the board's mutex
}

func (s *stream) push(batch core.Batch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue = append(s.queue, batch)
	select {
	case s.ready <- struct{}{}:
	default:
	}
}

// Next merges everything that is queued.
func (s *stream) Next(ctx context.Context) (core.Batch, error) {
	select {
	case <-ctx.Done():
		return core.Batch{}, ctx.Err()
	case <-s.ready:
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	merged := s.queue[0]
	for _, batch := range s.queue[1:] {
		merged.To, merged.Gap = batch.To, merged.Gap || batch.Gap
		merged.Changes = append(merged.Changes, batch.Changes...)
		merged.Deltas = append(merged.Deltas, batch.Deltas...)
	}
	s.queue = nil
	return merged, nil
}

func (s *stream) Close() error {
	s.board.mu.Lock()
	defer s.board.mu.Unlock()
	delete(s.board.streams, s)
	return nil
}
