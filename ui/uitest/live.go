package uitest

import (
	"slices"

	"cordboard/core"
)

// Say lets the live run of a session say more and tells the streams that focus it.
func (b *Board) Say(session, text string) { b.speak(session, text, false) }

// Think is Say for what the run thinks.
func (b *Board) Think(session, text string) { b.speak(session, text, true) }

func (b *Board) speak(session, text string, thought bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p, live := b.said[session]
	if !live {
		p = core.Partial{Run: "run-" + session, After: b.lastSeq(b.detail[session].Session.SessionID)}
	}
	grows := &p.Text
	if thought {
		grows = &p.Thought
	}
	d := core.Delta{Session: session, Run: p.Run, After: p.After, Offset: len(*grows), Text: text, Thought: thought}
	*grows += text
	b.said[session] = p
	for s := range b.streams {
		if s.focus[session] {
			s.push(core.Batch{Epoch: b.info.Store.Epoch, From: b.rev, To: b.rev, Deltas: []core.Delta{d}})
		}
	}
}

func (b *Board) lastSeq(generation string) uint64 {
	log := b.logs[generation]
	if len(log) == 0 {
		return 0
	}
	return log[len(log)-1].Seq
}

// endSaying drops what was said in a transcript that now holds it.
func (b *Board) endSaying(generation string) {
	for session := range b.said {
		if b.detail[session].Session.SessionID != generation {
			continue
		}
		delete(b.said, session)
		for s := range b.streams {
			s.drop(session)
		}
	}
}

func (s *stream) drop(session string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.queue {
		s.queue[i].Deltas = slices.DeleteFunc(s.queue[i].Deltas, func(d core.Delta) bool { return d.Session == session })
	}
}

// Focused reports whether anybody listens to what a session's live run says.
func (b *Board) Focused(session string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for s := range b.streams {
		if s.focus[session] {
			return true
		}
	}
	return false
}

// Waiting reports whether a stream has something to tell.
func (b *Board) Waiting() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for s := range b.streams {
		if len(s.ready) > 0 {
			return true
		}
	}
	return false
}

// Focus implements core.Stream. Where a run stands that is in the middle of a reply is told first.
func (s *stream) Focus(sessions ...string) error {
	b := s.board
	b.mu.Lock()
	defer b.mu.Unlock()
	was := s.focus
	s.focus = map[string]bool{}
	for _, session := range sessions {
		s.focus[session] = true
		if p, live := b.said[session]; live && !was[session] {
			s.push(core.Batch{Epoch: b.info.Store.Epoch, From: b.rev, To: b.rev, Deltas: []core.Delta{
				{Session: session, Run: p.Run, After: p.After, Offset: len(p.Thought), Thought: true},
				{Session: session, Run: p.Run, After: p.After, Offset: len(p.Text)},
			}})
		}
	}
	return nil
}
