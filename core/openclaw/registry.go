package openclaw

import (
	"encoding/json"
	"errors"
	"io"

	"cordboard/core"
	"cordboard/core/key"
)

// registry is what subagents/runs.json tells: the runs, and per child who spawned it.
type registry struct {
	runs  []core.Run
	child map[string]lineage
	lines map[string]int // of the runs, by id
}

// lineage is what the runs of one child session tell of it.
type lineage struct {
	parent  string
	label   string
	first   int64 // when the oldest run was made: that one's requester is the parent
	outcome core.RunOutcome
	latest  int64 // when the newest run was made: that one's outcome counts
}

// registered is one run as the registry writes it.
type registered struct {
	RunID               string   `json:"runId"`
	ChildSessionKey     string   `json:"childSessionKey"`
	RequesterSessionKey string   `json:"requesterSessionKey"`
	Task                string   `json:"task"`
	Cleanup             string   `json:"cleanup"`
	Label               string   `json:"label"`
	Model               string   `json:"model"`
	CreatedAt           *integer `json:"createdAt"`
	StartedAt           *integer `json:"startedAt"`
	EndedAt             *integer `json:"endedAt"`
	Outcome             struct {
		Status string `json:"status"`
		Error  string `json:"error"`
	} `json:"outcome"`
	FrozenResultText string `json:"frozenResultText"`
}

// readRegistry reads a runs.json run by run, with the same patience as readEntries.
//
// A run without an end that began after live (ms) may be under way: it tells of lineage and is not among the runs yet.
func readRegistry(file io.Reader, path string, live int64, problems *problems) (reg registry, broken bool) {
	reg = registry{child: map[string]lineage{}, lines: map[string]int{}}
	in := newObjectReader(file)
	if err := in.into("runs"); err != nil {
		reason := errNoObject.Error()
		if err == io.EOF {
			reason = "has no `runs`"
		}
		problems.add(Problem{File: path, Line: in.line, Reason: reason})
		return reg, true
	}
	for {
		m, err := in.next()
		switch {
		case err == io.EOF:
			return reg, broken
		case errors.Is(err, errCutOff), errors.Is(err, errNoObject), errors.Is(err, errLost):
			problems.add(Problem{File: path, Line: in.line, Reason: err.Error()})
			return reg, true
		case err != nil:
			problems.add(Problem{File: path, Line: in.line, Reason: "cannot be read: " + cause(err)})
			return reg, true
		}
		reason := m.reason
		broken = broken || reason != ""
		if reason == "" {
			before := len(reg.runs)
			reason = reg.add(m.key, m.raw, live)
			if len(reg.runs) > before {
				reg.lines[m.key] = m.line
			}
		}
		if reason != "" {
			problems.add(Problem{File: path, Line: m.line, Key: shortKey(m.key), Reason: reason})
		}
	}
}

// add takes one run over; reason, when not "", says what was wrong with it.
func (reg *registry) add(id string, raw []byte, live int64) (reason string) {
	var r registered
	if err := json.Unmarshal(raw, &r); err != nil {
		reason = "has a field of a wrong type: " + err.Error()
	}
	if id == "" || !usableID(id) {
		return "has an id that cannot be used"
	}
	if err := key.Valid(r.ChildSessionKey); err != nil {
		return "its childSessionKey cannot be used: " + err.Error()
	}
	if r.RequesterSessionKey != "" {
		if err := key.Valid(r.RequesterSessionKey); err != nil {
			reason = "its requesterSessionKey cannot be used, the run is kept without one: " + err.Error()
			r.RequesterSessionKey = ""
		}
	}
	run := r.run(id)
	if r.Outcome.Status == "" && run.EndedAt == 0 && max(run.QueuedAt, run.StartedAt) > live {
		run.Outcome = ""
	} else {
		reg.runs = append(reg.runs, run)
	}
	reg.note(&r, run)
	return reason
}

func (reg *registry) note(r *registered, run core.Run) {
	l, known := reg.child[run.SessionKey]
	if made := run.QueuedAt; !known || made < l.first {
		l.parent, l.first = run.RequesterKey, made
		if r.Label != "" {
			l.label = r.Label
		}
	}
	if made := run.QueuedAt; !known || made >= l.latest {
		l.outcome, l.latest = run.Outcome, made
	}
	reg.child[run.SessionKey] = l
}

// run is the registry's run as ours. Nothing in a mirror is live: a run whose end the registry does not hold counts as interrupted, with no
// time of its end.
func (r *registered) run(id string) core.Run {
	run := core.Run{
		ID: id, SessionKey: r.ChildSessionKey, Kind: core.RunSpawn, Lane: "subagent", State: core.RunEnded,
		QueuedAt: r.CreatedAt.value(), StartedAt: r.StartedAt.value(), EndedAt: r.EndedAt.value(),
		RequesterKey: r.RequesterSessionKey, Message: r.Task, Label: r.Label, Model: r.Model, Cleanup: r.Cleanup,
		Result: r.FrozenResultText, Error: r.Outcome.Error, Mirrored: true,
	}
	switch r.Outcome.Status {
	case "ok", "error", "timeout", "aborted", "interrupted":
		run.Outcome = core.RunOutcome(r.Outcome.Status)
	case "killed", "cancelled", "canceled":
		run.Outcome = core.OutcomeAborted
	case "":
		run.Outcome = core.OutcomeInterrupted
		run.Error = "the registry it was read from holds no end of this run"
	default:
		run.Outcome = core.OutcomeError
		if run.Error == "" {
			run.Error = "ended with status " + r.Outcome.Status
		}
	}
	return run
}
