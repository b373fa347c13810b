package ui

import "cordboard/core"

// state is what a session is doing, always shown as glyph and word (console.md §1).
type state uint8

const (
	stateRunning state = iota
	stateQueued
	stateIdle
	stateFailed
	stateAborted
	stateArchived
	stateCount
)

func stateOf(h *core.Head) state {
	switch {
	case h.Run == core.RunRunning:
		return stateRunning
	case h.Run == core.RunQueued:
		return stateQueued
	case h.Flags.Has(core.FlagArchived):
		return stateArchived
	case h.Flags.Has(core.FlagFailed):
		return stateFailed
	case h.Flags.Has(core.FlagAborted):
		return stateAborted
	}
	return stateIdle
}

func (s state) glyph() string { return [stateCount]string{"●", "◌", "·", "✗", "⊘", "▫"}[s] }

func (s state) word() string {
	return [stateCount]string{"running", "queued", "idle", "failed", "aborted", "archived"}[s]
}
