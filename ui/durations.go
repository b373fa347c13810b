package ui

import (
	"fmt"
	"strconv"
	"time"
)

// durationWide is the most that a duration takes, in cells.
const durationWide = 6

// lasted is how long something took that is over, "" when a time is missing: 12ms, 3.2s, 42s, 3m05s, 2h04m, 3d04h.
func lasted(from, to int64) string {
	if from <= 0 || to < from {
		return ""
	}
	switch d := time.Duration(to-from) * time.Millisecond; {
	case d == 0:
		return "0s"
	case d < 100*time.Millisecond:
		return strconv.FormatInt(to-from, 10) + "ms"
	case d < 10*time.Second:
		return fmt.Sprintf("%.1fs", float64(d/(100*time.Millisecond))/10)
	default:
		return whole(d)
	}
}

// ticking is how long something goes on since, in whole seconds, so that it changes once a second and never flickers.
func ticking(now time.Time, since int64) string {
	if since <= 0 {
		return ""
	}
	return whole(max(now.Sub(time.UnixMilli(since)), 0))
}

func whole(d time.Duration) string {
	const day = 24 * time.Hour
	two := func(big, small time.Duration, a, b string) string {
		return fmt.Sprintf("%d%s%02d%s", d/big, a, d%big/small, b)
	}
	switch {
	case d < time.Minute:
		return strconv.Itoa(int(d/time.Second)) + "s"
	case d < time.Hour:
		return two(time.Minute, time.Second, "m", "s")
	case d < day:
		return two(time.Hour, time.Minute, "h", "m")
	case d < 1000*day:
		return two(day, time.Hour, "d", "h")
	}
	return strconv.Itoa(int(d/day)) + "d"
}
