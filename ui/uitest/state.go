package uitest

import (
	"bytes"
	"sync"
)

// State keeps what a console remembers in memory; it is a ui.State.
type State struct {
	mu    sync.Mutex
	err   error
	files map[string][]byte
}

// NewState returns an empty one.
func NewState() *State { return &State{files: map[string][]byte{}} }

// Fail makes every call fail from now on; nil ends that.
func (s *State) Fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
}

// Set writes a file, Text reads one.
func (s *State) Set(name, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files[name] = []byte(text)
}

// Text is what a file holds, "" when there is none.
func (s *State) Text(name string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return string(s.files[name])
}

// Load implements ui.State.
func (s *State) Load(name string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return bytes.Clone(s.files[name]), s.err
}

// Save implements ui.State.
func (s *State) Save(name string, data []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.files[name] = bytes.Clone(data)
	}
	return s.err
}
