package engine

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"cordboard/core"
)

// report is what a sub-agent's requester is told (session-tools.md §8). It is made of what the engine knows; of what the model wrote only
// result and notes are taken.
type report struct {
	run       *core.Run // the sub-agent's, ended; Result is what it came to
	reply     string    // of the announce step; "" = there was none
	cause     string    // of an outcome other than ok
	sessionID string
	path      string // of the transcript's file; "" = there is none
}

const noOutput = "(no output)"

// text is the announce as it is stored, sent and put into the requester's transcript.
func (r report) text() string {
	result, notes := sections(r.reply)
	if result == "" {
		result = strings.TrimSpace(r.run.Result)
	}
	if result == "" {
		result = noOutput
	}
	if r.cause != "" {
		notes = strings.TrimSpace(notes + "\nError: " + oneLine(r.cause))
	}
	if notes == "" {
		notes = "- (none)"
	}
	return "Status: " + string(r.run.Outcome) + "\nResult: " + inside(result) + "\nNotes: " + inside(notes) + "\nstats:  " + strings.Join(r.stats(), " • ")
}

// stats are the figures; what is not known is left out.
func (r report) stats() []string {
	parts := []string{"runtime " + lasted(r.run)}
	if u := r.run.Usage; u != nil {
		parts = append(parts, fmt.Sprintf("tokens %s (in %s / out %s)", short(u.Input+u.Output), short(u.Input), short(u.Output)))
		if u.Cost != nil {
			parts = append(parts, "est $"+strconv.FormatFloat(*u.Cost, 'f', 4, 64))
		}
	}
	parts = append(parts, "sessionKey "+r.run.SessionKey, "sessionId "+r.sessionID)
	if r.path != "" {
		parts = append(parts, "transcript "+r.path)
	}
	if r.run.Model != "" {
		parts = append(parts, "model "+r.run.Model)
	}
	return parts
}

// lasted is how long a run ran; one that never started took no time.
func lasted(run *core.Run) string {
	if run.StartedAt == 0 {
		return "0s"
	}
	return (time.Duration(run.EndedAt-run.StartedAt) * time.Millisecond).Round(time.Second).String()
}

// short is a number as people read it: 12, 1.0k, 2.5m.
func short(n int64) string {
	switch {
	case n < 1000:
		return strconv.FormatInt(n, 10)
	case n < 999_950:
		return strconv.FormatFloat(float64(n)/1000, 'f', 1, 64) + "k"
	}
	return strconv.FormatFloat(float64(n)/1e6, 'f', 1, 64) + "m"
}

// labels begin the lines of a report.
var labels = [...]string{"Status:", "Result:", "Notes:", "stats:", "Stats:"}

// sections takes result and notes out of a reply: the sections that it names, else all of it is the result. A status or figures of the
// model's own, in its first or last line as in the form it was shown, are left out.
func sections(reply string) (result, notes string) {
	lines := strings.Split(strings.TrimSpace(reply), "\n")
	if _, ok := labelled(lines[0], "Status:"); ok {
		lines = lines[1:]
	}
	if n := len(lines); n > 0 {
		if _, ok := labelled(lines[n-1], "stats:"); ok {
			lines = lines[:n-1]
		} else if _, ok := labelled(lines[n-1], "Stats:"); ok {
			lines = lines[:n-1]
		}
	}
	var all, results, noted []string
	named, into := false, &all
	for _, line := range lines {
		if rest, ok := labelled(line, "Result:"); ok && !named {
			named, into, line = true, &results, rest
		} else if rest, ok := labelled(line, "Notes:"); ok && noted == nil {
			into, line = &noted, rest
		}
		*into = append(*into, line)
	}
	if !named {
		results = all
	}
	return joinedLines(results), joinedLines(noted)
}

func joinedLines(lines []string) string { return strings.TrimSpace(strings.Join(lines, "\n")) }

// labelled reports whether a line begins with a label, also in bold or as a heading, and returns the rest.
func labelled(line, label string) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(strings.TrimLeft(line, "#* "), label)
	return strings.TrimSpace(strings.TrimPrefix(rest, "**")), ok
}

// inside keeps a text from being read as another line of the report: what begins like one is moved in.
func inside(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines[1:] {
		for _, label := range labels {
			if strings.HasPrefix(line, label) {
				lines[i+1] = "  " + line
			}
		}
	}
	return strings.Join(lines, "\n")
}

// silence reports whether the answer of an announce step is the token and nothing else.
func silence(reply string) bool {
	return strings.TrimSpace(reply) != "" && announcement(reply) == ""
}
