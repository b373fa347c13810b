package engine

import (
	"strings"
	"sync"
	"unicode/utf8"

	"cordboard/core"
)

// voice is a text that grows by whole characters: one that a chunk ends inside waits for its rest, and bytes that are none are replaced.
// So every piece of it crosses a wire as it is.
type voice struct {
	said  strings.Builder
	begun string // the first bytes of a character
	taken int    // bytes that are on their way into a line of the transcript
}

func (v *voice) add(delta string) {
	data := v.begun + delta
	whole := len(data)
	for n := 1; n < utf8.UTFMax && n <= len(data); n++ {
		if tail := data[len(data)-n:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRuneInString(tail) {
				whole -= n
			}
			break
		}
	}
	v.said.WriteString(replaced(data[:whole]))
	v.begun = data[whole:]
}

// replaced is a text with every byte that is part of no character replaced, as JSON would.
func replaced(text string) string { return strings.Map(func(r rune) rune { return r }, text) }

// take is what was said since the last take: it goes into a line of the transcript and is heard until that is written.
func (v *voice) take() string {
	v.said.WriteString(replaced(v.begun))
	v.begun = ""
	text := v.said.String()[v.taken:]
	v.taken += len(text)
	return text
}

// drop forgets the first n bytes, which are in the transcript now.
func (v *voice) drop(n int) {
	if n == 0 {
		return
	}
	rest := v.said.String()[n:]
	v.said.Reset()
	v.said.WriteString(rest)
	v.taken -= n
}

// floor is who is speaking: the live runs by session, and the streams that listen to them.
type floor struct {
	mu        sync.Mutex
	speaking  map[string]*sink
	listening map[string]map[*ear]bool
}

func newFloor() floor {
	return floor{speaking: map[string]*sink{}, listening: map[string]map[*ear]bool{}}
}

// give lets a run be heard until leave.
func (f *floor) give(s *sink) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.speaking[s.run.SessionKey] = s
}

func (f *floor) leave(session, run string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if s := f.speaking[session]; s != nil && s.run.ID == run {
		delete(f.speaking, session)
	}
}

// speaker is the live run of a session, nil when there is none here.
func (f *floor) speaker(session string) *sink {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.speaking[session]
}

// rustle tells the streams that listen to a session that there is something to hear. It waits for none of them.
func (f *floor) rustle(session string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for e := range f.listening[session] {
		signal(e.rustled)
	}
}

// listen lets an ear be told of some sessions in place of others.
func (f *floor) listen(e *ear, from, to []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, session := range from {
		delete(f.listening[session], e)
		if len(f.listening[session]) == 0 {
			delete(f.listening, session)
		}
	}
	for _, session := range to {
		if f.listening[session] == nil {
			f.listening[session] = map[*ear]bool{}
		}
		f.listening[session][e] = true
	}
}

// partial is what a session's live run is saying, as it stands below the lines of a snapshot; nil when the snapshot has no live run that
// is heard here, or holds a line of it that its sink does not know yet.
func (e *Engine) partial(r core.Reader, s *core.Session) (*core.Partial, error) {
	out := e.floor.speaker(s.Key)
	if out == nil || s.LiveRun != out.run.ID {
		return nil, nil
	}
	run, ok, err := r.Run(s.LiveRun)
	if err != nil || !ok {
		return nil, err
	}
	out.mu.Lock()
	defer out.mu.Unlock()
	if run.LastSeq != out.after {
		return nil, nil
	}
	return &core.Partial{Run: run.ID, After: out.after, Text: out.text.said.String(), Thought: out.thought.said.String()}, nil
}
