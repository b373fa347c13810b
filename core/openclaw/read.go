package openclaw

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"cordboard/core"
)

// step is a part of an import that is written as a whole, together with what tells the next run that it is done.
type step struct {
	t        *transcript // nil: only a row
	row      *row        // to be written first; nil: none
	rawEntry []byte

	fresh    bool  // what the store has of the generation is replaced
	from     int64 // place in the file where the messages begin
	messages []core.Message
	file     core.SourceFile // to be remembered; Path "" = nothing was read
	created  int64           // time of the first header
	last     int64           // time of the last message
	outcome  core.RunOutcome // how the last reply among the messages ended, "" when there is none
	first    bool            // the first step of its file,
	done     bool            // and the last one
	left     core.SourceFile // what was read of this file before into another generation,
	drop     bool            // which is in what is read now, so that it goes
	keep     *remains        // what the store has of the generation is in no file any more
	alone    bool            // the row of its transcript is not to be touched
	size     int64           // bytes of file this step accounts for, for the progress
}

// batch is what goes into one transaction.
type batch struct {
	steps   []step
	bytes   int64
	records int // lines and rows
}

// reader is the reading half of an import: it turns files into batches, side by side with the writing half.
type reader struct {
	plan     *plan
	opts     Options
	problems *problems
	out      chan<- batch
	now      batch
	held     map[string]bool // sessionIds whose files are left for another look,
	again    []string        // and those files of them that are to be looked at
	partial  int
	read     int64
}

// run sends every batch; the caller closes nothing and takes until run returns. An error is a source that cannot be read at all, or
// ctx's end.
func (r *reader) run(ctx context.Context) error {
	for _, t := range r.plan.work {
		if err := r.transcript(ctx, t); err != nil {
			return err
		}
	}
	for _, row := range r.plan.rowWork {
		if err := r.send(ctx, step{row: row}); err != nil {
			return err
		}
	}
	return r.flush(ctx)
}

// send adds a step to the batch, the entry of its row read, and passes the batch on when it is full.
func (r *reader) send(ctx context.Context, s step) error {
	if s.row != nil {
		raw, err := s.row.raw()
		switch {
		case errors.Is(err, errReplaced) && r.plan.cat.patience != nil:
			r.again, s.row = append(r.again, s.row.index.path), nil
		case err != nil:
			r.problems.add(Problem{File: s.row.index.path, Line: s.row.line, Key: shortKey(s.row.session.Key), Reason: "cannot be read again: " + cause(err)})
			s.row = nil
		}
		s.rawEntry = raw
		r.now.bytes += int64(len(raw))
	}
	r.now.steps = append(r.now.steps, s)
	r.now.records += 1 + len(s.messages)
	if r.now.bytes < r.opts.BatchBytes && r.now.records < r.opts.BatchRecords {
		return ctx.Err()
	}
	return r.flush(ctx)
}

func (r *reader) flush(ctx context.Context) error {
	if len(r.now.steps) == 0 {
		return ctx.Err()
	}
	select {
	case r.out <- r.now:
		r.now = batch{}
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// transcript reads what is new in one file. A file that cannot be read is a problem, not an error: its session comes in without it.
func (r *reader) transcript(ctx context.Context, t *transcript) error {
	row := t.row
	if row != nil && row.done {
		row = nil
	}
	switch {
	case t.blocked, r.held[t.gen.SessionID]:
		return nil
	case t.current, t.path == "":
		return r.send(ctx, step{t: t, row: row, done: true, size: t.size})
	}
	file, err := r.plan.src.root.Open(t.path)
	if err == nil {
		defer file.Close()
		err = r.file(ctx, t, row, file)
	}
	switch {
	case err == nil || ctx.Err() != nil:
		return err
	case errors.Is(err, errHeld), r.plan.cat.patience != nil && errors.Is(err, fs.ErrNotExist):
		r.held[t.gen.SessionID] = true
		r.again = append(r.again, t.path)
		return nil
	}
	r.problems.add(Problem{File: t.path, Reason: "cannot be read: " + cause(err)})
	if t.begun {
		row = nil
	}
	return r.send(ctx, step{t: t, row: row, done: true, size: t.size})
}

// errHeld says that a file is being written anew, or is another one than was planned: it and what else there is of its session is
// looked at again.
var errHeld = errors.New("the file is being written")

func (r *reader) file(ctx context.Context, t *transcript, row *row, file *os.File) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	patience := r.plan.cat.patience
	if patience != nil && (!os.SameFile(info, t.info) || info.Size() < t.size) {
		return errHeld
	}
	c := cutter{reader: r, t: t, size: info.Size(), modTime: info.ModTime().UnixNano()}
	if t.from.Offset > 0 {
		grown := patience != nil && c.size > t.from.Size // a follower has no time to read all of it for each line that is added
		lines, same, err := resume(until{ctx, file}, c.size, t.from.Offset, t.from.Sum, grown)
		switch {
		case err != nil:
			return err
		case same:
			patience.trust(t.path)
			c.lines, c.line = lines, t.from.Lines
		case !patience.believe(t.path, info):
			return errHeld
		default:
			if !r.archived(t, t.from, t) {
				c.step.keep = remainsOf(t.from)
			}
			r.problems.add(Problem{File: t.path, Reason: rewritten(c.step.keep != nil), once: true})
		}
	}
	switch {
	case t.taken.Offset > 0 && !patience.believe(t.path, info):
		return errHeld
	case t.taken.Offset > 0 && !r.archived(t, t.taken, nil):
		c.step.keep = remainsOf(t.taken)
	case t.stray.LastSeq > 0:
		c.step.keep = strayRemains(&t.stray)
	}
	if c.lines == nil {
		c.lines = newLineReader(until{ctx, file}, 0, c.size)
		c.step.fresh = true
	}
	if t.left.Generation != "" {
		_, same, err := resume(until{ctx, file}, c.size, t.left.Offset, t.left.Sum, false)
		if err != nil {
			return err
		}
		c.step.left, c.step.drop = t.left, same
	}
	c.step.t, c.step.row, c.step.from, c.step.first = t, row, c.lines.offset, true
	return c.run(ctx)
}

func rewritten(keep bool) string {
	if keep {
		return "was rewritten: read anew, what it held before is kept as a backup"
	}
	return "was rewritten: read anew, what it held before is in an archive beside it"
}

// archived reports whether the source has what was read of a transcript before in another file than that one: the one it was read of, or one
// of the same sessionId.
func (r *reader) archived(t *transcript, read core.SourceFile, than *transcript) bool {
	base := strings.TrimSuffix(path.Base(read.Path), ".jsonl")
	for _, other := range r.plan.transcripts {
		if other == than || other.path == "" || other.blocked || other.size < read.Offset ||
			other.gen.SessionID != t.gen.SessionID && other.base != base {
			continue
		}
		file, err := r.plan.src.root.Open(other.path)
		if err != nil {
			continue
		}
		_, same, err := resume(file, other.size, read.Offset, read.Sum, false)
		file.Close()
		if err == nil && same {
			return true
		}
	}
	return false
}

// cutter cuts one file into steps.
type cutter struct {
	*reader
	t       *transcript
	lines   *lineReader
	line    int // lines taken
	size    int64
	modTime int64
	step    step
	bytes   int64 // of the step
}

func (c *cutter) run(ctx context.Context) error {
	for {
		line, complete, err := c.lines.next()
		if err == io.EOF {
			break
		}
		c.line++
		if err == errLineTooLong {
			c.report(err.Error() + ": skipped")
			continue
		}
		if err != nil {
			return err
		}
		if !c.take(line, complete) {
			break
		}
		if c.now.bytes+c.bytes >= c.opts.BatchBytes || c.now.records+len(c.step.messages) >= c.opts.BatchRecords {
			if err := c.slice(ctx, false); err != nil {
				return err
			}
		}
	}
	return c.slice(ctx, true)
}

// take adds a line to the step; false leaves it for the next run, because it is still being written.
func (c *cutter) take(line []byte, complete bool) bool {
	m, ok, reason := cutLine(line)
	if !complete && (!ok || reason != "") && c.t.state == core.GenerationCurrent {
		c.lines.putBack(len(line))
		c.line--
		c.partial++
		return false
	}
	if reason != "" {
		if !ok {
			reason += ": skipped"
		}
		c.report(reason)
	}
	if !ok {
		return true
	}
	if c.step.created == 0 && c.t.gen.CreatedAt == 0 {
		c.step.created = headerTime(&m)
	}
	if m.Role != core.RoleEvent {
		c.step.last = max(c.step.last, m.At)
	}
	if outcome := outcomeOf(&m); outcome != "" {
		c.step.outcome = outcome
	}
	c.step.messages = append(c.step.messages, m)
	c.bytes += int64(len(line))
	return true
}

func (c *cutter) report(reason string) {
	c.problems.add(Problem{File: c.t.path, Line: c.line, Reason: reason, once: true})
}

// slice ends the step and begins the next one. Of a file that is not done, the size that is remembered is no file's: the next run
// reads on.
func (c *cutter) slice(ctx context.Context, done bool) error {
	s := c.step
	s.file = core.SourceFile{
		Source: c.plan.src.dir, Path: c.t.path, Generation: c.t.gen.ID,
		Size: c.size, ModTime: c.modTime, Offset: c.lines.offset, Lines: c.line, Sum: c.lines.sum(),
	}
	s.done, s.size = done, c.lines.offset-s.from
	if !done {
		s.file.Size = -1
	} else {
		s.size = c.size - s.from
	}
	if s.first {
		s.size += s.from
	}
	c.read += c.lines.offset - s.from
	c.now.bytes += c.bytes
	c.bytes = 0
	c.step = step{t: c.t, from: c.lines.offset}
	c.t.begun = true
	return c.send(ctx, s)
}
