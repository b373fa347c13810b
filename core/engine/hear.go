package engine

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"cordboard/core"
)

// hearEvery is the least time between two batches with text (engine.md §7: at most 30 Hz).
const hearEvery = time.Second/30 + 1

// errRustled ends the wait for a commit: there is text to tell.
var errRustled = errors.New("text was said")

// ear is a stream's side of what live runs say.
type ear struct {
	rustled chan struct{} // there may be something to tell

	// Of the goroutine that calls Next.
	pending bool
	next    time.Time // when text may be told again

	mu     sync.Mutex
	told   map[string]told // by focused session
	closed bool
}

// told is how much of a run's partial a stream was told.
type told struct {
	run           string
	after         uint64
	text, thought int  // bytes
	joined        bool // the focus came in the middle: where it stands is to be told first
}

func newEar() ear { return ear{rustled: make(chan struct{}, 1), told: map[string]told{}} }

// Focus implements core.Stream. What a run has said before is not told again: where it stands is, so that the partial is read.
func (s *stream) Focus(sessions ...string) error {
	if len(sessions) > core.MaxFocus {
		return core.Errorf(core.CodeInvalidParams, "a focus on %d sessions: at most %d are listened to", len(sessions), core.MaxFocus)
	}
	e := &s.ear
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil
	}
	was := e.told
	e.told = make(map[string]told, len(sessions))
	floor := &s.board.floor
	floor.listen(e, slices.Collect(maps.Keys(was)), sessions)
	for _, session := range sessions {
		known, kept := was[session]
		if out := floor.speaker(session); !kept && out != nil {
			known = out.joined()
		}
		e.told[session] = known
	}
	signal(e.rustled)
	return nil
}

// joined is where a focus that is taken now comes in.
func (s *sink) joined() told {
	s.mu.Lock()
	defer s.mu.Unlock()
	text, thought := s.text.said.Len(), s.thought.said.Len()
	return told{s.run.ID, s.after, text, thought, text+thought > 0}
}

// Close implements core.Stream.
func (s *stream) Close() error {
	if err := s.Focus(); err != nil {
		return err
	}
	s.ear.mu.Lock()
	defer s.ear.mu.Unlock()
	s.ear.closed = true
	return nil
}

// wait returns when something was committed after the place of the stream, or when there is text to tell and it may be told.
func (s *stream) wait(ctx context.Context) error {
	waiting, cancel := context.WithCancelCause(ctx)
	var listening sync.WaitGroup
	listening.Go(func() {
		if s.hears(waiting) {
			cancel(errRustled)
		}
	})
	_, err := s.board.store.Await(waiting, s.at.Rev)
	cancel(nil)
	listening.Wait()
	if errors.Is(context.Cause(waiting), errRustled) && ctx.Err() == nil {
		return nil
	}
	return err
}

// hears waits for something to hear and for the time to tell it. A commit ends the wait before: what was heard stays pending.
func (s *stream) hears(ctx context.Context) bool {
	e := &s.ear
	if !e.pending {
		select {
		case <-e.rustled:
			e.pending = true
		case <-ctx.Done():
			return false
		}
	}
	pause := e.next.Sub(s.board.clock.Now())
	return pause <= 0 || s.board.clock.Sleep(ctx, pause) == nil
}

// hear adds what the focused runs said since they were last told of, if it is time. The snapshot is the one that fills the batch, at
// its end or later: of a run that has ended there, or has written a line its sink does not know, nothing is told. So no text comes after
// the line of the transcript that holds it.
func (s *stream) hear(r core.Reader, v viewer, batch *core.Batch) error {
	e := &s.ear
	now := s.board.clock.Now()
	if !e.pending || now.Before(e.next) {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, session := range slices.Sorted(maps.Keys(e.told)) {
		known := e.told[session]
		if !s.board.floor.speaker(session).news(known) {
			continue
		}
		row, ok, err := r.Session(session)
		if err != nil {
			return err
		}
		if !ok || !v.operator && !v.allows(row.Key, row.SpawnedBy) {
			continue
		}
		partial, err := s.board.partial(r, &row)
		if err != nil {
			return err
		}
		if partial != nil {
			batch.Deltas = append(batch.Deltas, known.deltas(session, partial)...)
			e.told[session] = told{partial.Run, partial.After, len(partial.Text), len(partial.Thought), false}
		}
	}
	e.pending = false
	if len(batch.Deltas) > 0 {
		e.next = now.Add(hearEvery)
	}
	return nil
}

// news reports whether there may be more to tell than what is known.
func (s *sink) news(known told) bool {
	if s == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return known != told{s.run.ID, s.after, s.text.said.Len(), s.thought.said.Len(), false}
}

// deltas are what a partial holds beyond what was told of it.
func (t told) deltas(session string, p *core.Partial) (list []core.Delta) {
	if t.run != p.Run || t.after != p.After {
		t = told{}
	}
	add := func(thought bool, from int, text string) {
		if len(text) > from || t.joined && from > 0 {
			list = append(list, core.Delta{Session: session, Run: p.Run, After: p.After, Offset: from, Text: text[from:], Thought: thought})
		}
	}
	add(true, t.thought, p.Thought)
	add(false, t.text, p.Text)
	return list
}
