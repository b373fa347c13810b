package engine

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"strings"

	"cordboard/core"
)

const (
	searchHits   = 50
	maxHits      = 1000
	searchBudget = 24 << 20 // bytes of message JSON looked at per call
	searchHeads  = 2000     // sessions looked at per call, so that many empty ones end a call too
)

// searchCursor is where a search goes on: in Generation of Key before Seq, or, once Orphans is set, after that generation id.
type searchCursor struct {
	UpdatedAt  int64  `json:"u,omitempty"`
	Key        string `json:"k,omitempty"`
	Generation string `json:"g,omitempty"`
	Seq        uint64 `json:"s,omitempty"`
	Orphans    bool   `json:"o,omitempty"`
}

// Search implements core.Board: it looks through what the actor may see, in the order of the session list.
func (b *board) Search(ctx context.Context, q core.SearchQuery) (core.SearchPage, error) {
	needle, err := newNeedle(q.Text)
	if err != nil {
		return core.SearchPage{}, err
	}
	if q.Limit < 0 || q.Limit > maxHits {
		return core.SearchPage{}, core.Errorf(core.CodeInvalidParams, "limit %d: 1 to %d, or 0 for %d", q.Limit, maxHits, searchHits)
	}
	if q.After > 0 && q.Session == "" {
		return core.SearchPage{}, core.Errorf(core.CodeInvalidParams, "after %d names a message of one session: give the session too", q.After)
	}
	if q.Limit == 0 {
		q.Limit = searchHits
	}
	from, err := decodeSearchCursor(q.Cursor)
	if err != nil {
		return core.SearchPage{}, err
	}
	s := searcher{board: b, ctx: ctx, q: q, needle: needle, at: from, page: core.SearchPage{Hits: []core.SearchHit{}}}
	err = b.store.View(ctx, func(r core.Reader) error {
		if s.viewer, err = b.viewer(r, b.actor, ""); err != nil {
			return err
		}
		s.reader = r
		return s.run()
	})
	return s.page, err
}

// searcher is one call's work. It stops when full() says so and then leaves its place in at.
type searcher struct {
	board  *board
	ctx    context.Context
	reader core.Reader
	viewer viewer
	q      core.SearchQuery
	needle needle
	at     searchCursor
	heads  int
	page   core.SearchPage
}

func (s *searcher) full() bool {
	return len(s.page.Hits) >= s.q.Limit || s.page.Scanned >= searchBudget || s.heads >= searchHeads || s.ctx.Err() != nil
}

func (s *searcher) run() error {
	if s.q.Session != "" {
		return s.one()
	}
	done := s.at.Orphans
	if !done {
		var err error
		if done, err = s.sessions(); err != nil {
			return err
		}
	}
	if done && s.q.Generation && s.viewer.operator {
		var err error
		if done, err = s.orphans(); err != nil {
			return err
		}
	}
	if !done {
		s.page.Next = s.at.encode()
	}
	return s.ctx.Err()
}

// one searches a single session or generation.
func (s *searcher) one() error {
	found, err := s.board.resolve(s.reader, s.viewer, s.q.Session)
	if err != nil {
		return err
	}
	generations := []string{found.generation}
	if s.q.Generation && found.exists {
		if generations, err = s.generationsOf(found.key); err != nil {
			return err
		}
	}
	s.at.Key = found.key
	done, err := s.generations(found.key, generations)
	if err == nil && !done {
		s.page.Next = s.at.encode()
	}
	if err == nil {
		err = s.ctx.Err()
	}
	return err
}

// sessions walks the head index from where the cursor stands; done says that it came to its end.
func (s *searcher) sessions() (done bool, err error) {
	resume := s.at
	if resume.Generation != "" {
		if done, err := s.resumed(resume.Key); err != nil || !done {
			return false, err
		}
	}
	done = true
	after := core.HeadCursor{UpdatedAt: resume.UpdatedAt, Key: resume.Key}
	var inner error
	err = s.reader.Heads(after, func(h *core.Head) bool {
		if s.full() {
			done = false
			return false
		}
		s.heads++
		s.at = searchCursor{UpdatedAt: h.UpdatedAt, Key: strings.Clone(h.Key)}
		if !s.wanted(h) {
			return true
		}
		done, inner = s.session(s.at.Key)
		return done && inner == nil
	})
	if err == nil {
		err = inner
	}
	return done, err
}

// resumed goes on in the session that the cursor names. A cursor opens nothing: whoever brings it must see that session.
func (s *searcher) resumed(key string) (done bool, err error) {
	head, ok, err := s.reader.Head(key)
	if err != nil || !ok || !s.wanted(&head) {
		return true, err
	}
	return s.session(key)
}

func (s *searcher) wanted(h *core.Head) bool {
	if s.board.names.Reserved(h.Key) || s.q.Agent != "" && s.board.names.AgentOf(h.Key) != s.q.Agent {
		return false
	}
	fillParent(s.reader, h)
	return s.viewer.operator || s.viewer.allows(h.Key, h.Parent)
}

// session searches one session; it leaves the cursor behind it when it is done.
func (s *searcher) session(key string) (done bool, err error) {
	ids, err := s.generationsToSearch(key)
	if err != nil {
		return false, err
	}
	if done, err = s.generations(key, ids); err == nil && done {
		s.at.Generation, s.at.Seq = "", 0
	}
	return done, err
}

func (s *searcher) generationsToSearch(key string) ([]string, error) {
	if s.q.Generation {
		return s.generationsOf(key)
	}
	session, ok, err := s.reader.Session(key)
	if err != nil || !ok || session.SessionID == "" {
		return nil, err
	}
	return []string{session.SessionID}, nil
}

func (s *searcher) generationsOf(key string) ([]string, error) {
	var ids []string
	err := s.reader.Generations(key, func(g *core.Generation) bool {
		ids = append(ids, strings.Clone(g.ID))
		return true
	})
	return ids, err
}

// generations searches the given ones in order, from the cursor's on; done says that all were searched to their start.
func (s *searcher) generations(key string, ids []string) (done bool, err error) {
	skip := s.at.Generation != ""
	for _, id := range ids {
		if skip && id != s.at.Generation {
			continue
		}
		before := uint64(0)
		if skip {
			before = s.at.Seq
		}
		skip = false
		if done, err := s.generation(key, id, before); err != nil || !done {
			return false, err
		}
	}
	return true, nil
}

func (s *searcher) generation(key, id string, before uint64) (done bool, err error) {
	done = true
	s.at.Generation, s.at.Seq = id, before
	err = s.reader.Messages(id, core.SeqRange{After: s.q.After, Before: before, Backward: true}, func(m *core.Message) bool {
		if s.full() {
			done = false
			return false
		}
		s.at.Seq = m.Seq
		if m.Role == core.RoleEvent {
			return true
		}
		s.page.Scanned += int64(len(m.Raw))
		if snippet, at, ok := s.needle.find(m.Raw); ok {
			s.page.Hits = append(s.page.Hits, core.SearchHit{
				Session: key, Generation: id, Seq: m.Seq, Role: m.Role, At: m.At,
				Snippet: snippet, Match: at,
			})
		}
		return true
	})
	return done, err
}

// orphans searches the transcripts that no session names.
func (s *searcher) orphans() (done bool, err error) {
	resume := s.at
	if !resume.Orphans {
		resume = searchCursor{}
	}
	s.at = searchCursor{Orphans: true, Key: resume.Key, Generation: resume.Generation, Seq: resume.Seq}
	if s.at.Generation != "" {
		if done, err := s.generation("", s.at.Generation, s.at.Seq); err != nil || !done {
			return false, err
		}
	}
	var ids []string
	if err := s.reader.AllGenerations(s.at.Generation, func(g *core.Generation) bool {
		_, named, lookErr := s.reader.Session(g.Key)
		if err = lookErr; err != nil {
			return false
		}
		if (g.Key == "" || !named) && (s.q.Agent == "" || g.Agent == s.q.Agent) {
			ids = append(ids, strings.Clone(g.ID))
		}
		return true
	}); err != nil {
		return false, err
	}
	for _, id := range ids {
		if done, err := s.generation("", id, 0); err != nil || !done {
			return false, err
		}
	}
	return true, err
}

func (c searchCursor) encode() string {
	data, err := json.Marshal(c)
	if err != nil {
		return "" // a struct of strings and numbers always marshals
	}
	return base64.RawURLEncoding.EncodeToString(data)
}

func decodeSearchCursor(text string) (c searchCursor, err error) {
	if text == "" {
		return c, nil
	}
	data, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		err = json.Unmarshal(data, &c)
	}
	if err != nil {
		return c, core.Errorf(core.CodeInvalidParams, "cursor %q is not one that a search returned", text)
	}
	return c, nil
}
