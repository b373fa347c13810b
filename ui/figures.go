package ui

import (
	"fmt"
	"strconv"
	"time"

	"cordboard/core"
)

// unknown is shown for a figure nobody knows: it is not 0 (console.md §2).
const unknown = "–"

// age is how long ago at (ms) was, in at most 4 cells. It only changes as fast as its unit, so rows do not flicker.
func age(now time.Time, at int64) string {
	if at <= 0 {
		return unknown
	}
	const day = 24 * time.Hour
	switch d := now.Sub(time.UnixMilli(at)); {
	case d < time.Minute:
		return "now"
	case d < time.Hour:
		return strconv.Itoa(int(d/time.Minute)) + "m"
	case d < day:
		return strconv.Itoa(int(d/time.Hour)) + "h"
	case d < 14*day:
		return strconv.Itoa(int(d/day)) + "d"
	case d < 90*day:
		return strconv.Itoa(int(d/(7*day))) + "w"
	case d < 365*day:
		return strconv.Itoa(int(d/(30*day))) + "mo"
	case d < 100*365*day:
		return strconv.Itoa(int(d/(365*day))) + "y"
	}
	return unknown
}

// count writes a figure in at most 4 cells whatever it is: 999, 9.4k, 128k, 1.0M, 9.0P.
func count(n int64) string {
	const units = "kMGTPE"
	if n < 0 {
		return unknown
	}
	if n < 1000 {
		return strconv.FormatInt(n, 10)
	}
	v, unit := float64(n)/1000, 0
	for v >= 999.5 && unit < len(units)-1 {
		v, unit = v/1000, unit+1
	}
	if v < 9.95 {
		return fmt.Sprintf("%.1f%c", v, units[unit])
	}
	return fmt.Sprintf("%.0f%c", v, units[unit])
}

// bytesOf writes a size for people: 312 B, 1.2 KB, 5 MB.
func bytesOf(n int64) string {
	const units = "KMGT"
	if n < 1000 {
		return strconv.FormatInt(max(n, 0), 10) + " B"
	}
	v, unit := float64(n)/1000, 0
	for v >= 999.5 && unit < len(units)-1 {
		v, unit = v/1000, unit+1
	}
	if v < 9.95 {
		return fmt.Sprintf("%.1f %cB", v, units[unit])
	}
	return fmt.Sprintf("%.0f %cB", v, units[unit])
}

// tokens is a head's token figure: unknown as a dash, a stale one marked.
func tokens(h *core.Head) string {
	switch {
	case h.Flags.Has(core.FlagTokensStale):
		return "~" + count(h.Tokens)
	case h.Flags.Has(core.FlagTokensKnown):
		return count(h.Tokens)
	}
	return unknown
}

// filled is how much of the context window is used, from 0 to 1; false when either figure is not known.
func filled(h *core.Head) (float64, bool) {
	if !h.Flags.Has(core.FlagTokensKnown|core.FlagContextKnown) || h.ContextTokens <= 0 {
		return 0, false
	}
	return max(0, min(1, float64(h.Tokens)/float64(h.ContextTokens))), true
}

// plural is "1 session", "2 sessions".
func plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + one + "s"
}

func childrenOf(n int) string {
	if n == 1 {
		return "1 child"
	}
	return strconv.Itoa(n) + " children"
}
