package ui

import "encoding/json"

// State keeps what a console remembers between two runs, per user and store (console.md §6). Load returns no bytes and no error for
// a name never saved. Both are called beside the screen or before it is drawn; a console that has none remembers nothing.
type State interface {
	Load(name string) ([]byte, error)
	Save(name string, data []byte) error
}

// memory is one thing that is remembered. Its name is its key in the file.
type memory struct {
	name string
	keep func(*Model) any // what encoding/json writes; nil = nothing to remember
	// recall takes up what an earlier run kept. An error is told as a toast and what was kept is left alone.
	recall func(*Model, json.RawMessage) error
}

// memories lists everything that is remembered. Each area lists its own.
func memories() []memory { return nil }
