package openclaw

import (
	"errors"

	"cordboard/core"
)

// refusals are the files and rows of one import that the store does not take: none of them keeps the others out.
type refusals struct {
	transcripts map[*transcript]bool
	rows        map[*row]bool
}

// rowError is what the store said against a step's row, as opposed to its transcript.
type rowError struct{ error }

func (e rowError) Unwrap() error { return e.error }

// refusable reports whether the store has something against what is written and not against writing.
func (im *importer) refusable(err error) bool {
	switch core.CodeOf(err) {
	case core.CodeConflict:
		return !im.strict
	case core.CodeInvalidParams:
		return true
	}
	return false
}

// refuse leaves out what of a step the store does not take, and reports it. A row that came into being meanwhile keeps its transcript.
func (im *importer) refuse(s *step, err error) {
	_, ofRow := errors.AsType[rowError](err)
	of := s.row
	if of == nil && ofRow && s.t != nil {
		of = s.t.row
	}
	if of != nil && (ofRow || s.t == nil) {
		if im.refused.rows == nil {
			im.refused.rows = map[*row]bool{}
		}
		im.refused.rows[of] = true
		of.done = true
		im.done.Sessions.Skipped++
		im.problems.add(Problem{File: of.index.path, Line: of.line, Key: shortKey(of.session.Key), Reason: "is left out: " + err.Error()})
	}
	if s.t != nil && (!ofRow || core.CodeOf(err) == core.CodeConflict) {
		if im.refused.transcripts == nil {
			im.refused.transcripts = map[*transcript]bool{}
		}
		im.refused.transcripts[s.t] = true
		im.done.Transcripts.Skipped++
		im.problems.add(Problem{File: s.t.place, Key: shortKey(s.t.gen.Key), Reason: "is left out: " + err.Error()})
	}
}

func (im *importer) refuseRun(id string, err error) {
	im.done.Runs.Skipped++
	im.problems.add(Problem{File: registryPath, Line: im.plan.cat.registry.lines[id], Key: shortKey(id), Reason: "is left out: " + err.Error()})
}

// welcome returns the steps without what was refused.
func (im *importer) welcome(steps []step) []step {
	if len(im.refused.rows)+len(im.refused.transcripts) == 0 {
		return steps
	}
	var rest []step
	for _, s := range steps {
		if s.t != nil && im.refused.transcripts[s.t] {
			s.t = nil
			s.messages, s.file = nil, core.SourceFile{}
		}
		if s.row != nil && im.refused.rows[s.row] {
			s.row, s.rawEntry = nil, nil
		}
		s.alone = s.t != nil && im.refused.rows[s.t.row]
		if s.t != nil || s.row != nil {
			rest = append(rest, s)
		}
	}
	return rest
}
