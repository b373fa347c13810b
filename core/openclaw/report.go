package openclaw

import (
	"fmt"
	"strings"
	"sync"
)

// maxProblems is how many problems a report keeps; ProblemCount counts them all.
const maxProblems = 1000

// Problem is something of a source that could not be taken over as it is. File is a path within the source, Line counts from 1 (0 = the
// whole file), Key is the session or run it concerns, "" for none. Key and Reason may hold text of the source: show them sanitised.
type Problem struct {
	File   string `json:"file"`
	Line   int    `json:"line,omitempty"`
	Key    string `json:"key,omitempty"`
	Reason string `json:"reason"`

	once bool // cannot be found again unless it happens again
}

// String is `file:line: key: reason` without the parts that are not there.
func (p Problem) String() string {
	var b strings.Builder
	b.WriteString(p.File)
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d", p.Line)
	}
	if p.Key != "" {
		b.WriteString(": " + p.Key)
	}
	b.WriteString(": " + p.Reason)
	return b.String()
}

// problems gathers what both halves of an import report.
type problems struct {
	mu    sync.Mutex
	list  []Problem
	count int
}

func (p *problems) add(problem Problem) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.count++; len(p.list) < maxProblems {
		p.list = append(p.list, problem)
	}
}

// addAll takes over what another one gathered.
func (p *problems) addAll(from *problems) {
	for _, problem := range from.list {
		p.add(problem)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.count += from.count - len(from.list)
}

func (p *problems) total() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.count
}

// Counts says what became of the records of one kind.
type Counts struct {
	Added     int `json:"added"`
	Changed   int `json:"changed"`
	Unchanged int `json:"unchanged"`
	Skipped   int `json:"skipped"` // reported among the problems
}

func (c Counts) plus(d Counts) Counts {
	return Counts{c.Added + d.Added, c.Changed + d.Changed, c.Unchanged + d.Unchanged, c.Skipped + d.Skipped}
}

// Tally counts what an import wrote.
type Tally struct {
	Sessions    Counts `json:"sessions"`
	Transcripts Counts `json:"transcripts"` // files: read for the first time, read further or anew, nothing new in them
	Runs        Counts `json:"runs"`
	Messages    int    `json:"messages"` // added, tool results included
	Events      int    `json:"events"`   // added lines that are not messages
}

func (t Tally) plus(d Tally) Tally {
	return Tally{
		Sessions: t.Sessions.plus(d.Sessions), Transcripts: t.Transcripts.plus(d.Transcripts), Runs: t.Runs.plus(d.Runs),
		Messages: t.Messages + d.Messages, Events: t.Events + d.Events,
	}
}

// Report is what an import did.
type Report struct {
	Source string `json:"source"` // the directory, absolute, links resolved
	Agents int    `json:"agents"`
	Bytes  int64  `json:"bytes"` // of transcripts read in this run
	Tally
	Partial      int       `json:"partial"` // current transcripts whose last line is still being written: left for the next run
	Problems     []Problem `json:"problems,omitempty"`
	ProblemCount int       `json:"problemCount"`
	// Others counts the skipped sessions whose keys another directory has in this store, by that directory; "" = answered here.
	Others map[string]int `json:"others,omitempty"`
	Config string         `json:"config,omitempty"` // the directory's openclaw.json when it is there; it is not taken over
}

// Progress is where an import stands. Bytes are those of transcripts, unchanged files included.
type Progress struct {
	Bytes, TotalBytes int64
	Files, TotalFiles int
	Tally
	Problems int
}

// SessionChange is what was written of one transcript and its session.
type SessionChange struct {
	Key        string `json:"key,omitempty"` // "" for a transcript that no session names
	Generation string `json:"generation,omitempty"`
	Added      bool   `json:"added,omitempty"`     // the session is new
	Rewritten  bool   `json:"rewritten,omitempty"` // the transcript was read anew
	Messages   int    `json:"messages"`            // added, tool results included
	Events     int    `json:"events"`              // added lines that are not messages
}
