package ui

import "cordboard/core"

// state is what a session is doing, always shown as glyph and word (console.md §1). They are in the order in which they want a look.
type state uint8

const (
	stateAsks      state = iota // its live run waits on the operator
	stateStreaming              // its live run has said something
	stateRunning
	stateQueued
	stateHeld // what is queued does not start
	stateIdle
	stateUndelivered // its last outbound text did not arrive, or may not have
	stateFailed
	stateAborted
	stateArchived
	stateCount
)

// stateOf is what a head says. That a live run has said something is in none: see hearing.
func stateOf(h *core.Head) state {
	switch {
	case h.Run == core.RunRunning && h.Flags.Has(core.FlagAsks):
		return stateAsks
	case h.Run == core.RunRunning:
		return stateRunning
	case h.Flags.Has(core.FlagHeld):
		return stateHeld
	case h.Run == core.RunQueued:
		return stateQueued
	case h.Flags.Has(core.FlagArchived):
		return stateArchived
	case h.Flags.Has(core.FlagFailed):
		return stateFailed
	case h.Flags.Has(core.FlagAborted):
		return stateAborted
	case h.Flags.Has(core.FlagUndelivered):
		return stateUndelivered
	}
	return stateIdle
}

func (s state) glyph() string {
	return [stateCount]string{"?", "◎", "●", "◌", "‖", "·", "⊗", "✗", "⊘", "▫"}[s]
}

func (s state) word() string {
	return [stateCount]string{
		"waits on you", "streaming", "running", "queued", "held", "idle", "undelivered", "failed", "aborted", "archived",
	}[s]
}
