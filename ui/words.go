package ui

import (
	"time"

	"cordboard/core"
)

// What the verbs of the shell say of a session is what the console says of it: these are the console's own words and figures.

// Age is how long ago a time (ms) was, in at most four cells: now, 5m, 3h, 2d, 6w, 4mo, 2y.
func Age(now time.Time, at int64) string { return age(now, at) }

// StateWord is what a session is doing: running, queued, idle, failed, aborted or archived.
func StateWord(h *core.Head) string { return stateOf(h).word() }

// Count writes a figure in at most four cells: 999, 9.4k, 128k, 1.0M.
func Count(n int64) string { return count(n) }

// Tokens is a session's token figure, a dash when nobody knows it; one that may have changed since is marked with a tilde.
func Tokens(h *core.Head) string { return tokens(h) }
