package openclaw

import (
	"cmp"
	"context"

	"cordboard/core"
)

const (
	defaultBatchBytes   = 2 << 20
	defaultBatchRecords = 2000
	// ahead is how many batches are read while one is written.
	ahead = 2
)

// Options of Import. The zero value is the default of each.
type Options struct {
	// Progress is called when it is known how much there is to do and after every transaction, by the goroutine that called Import.
	Progress     func(Progress)
	BatchBytes   int64 // of lines and entries in one transaction, default 2 MiB; a longer line goes alone
	BatchRecords int   // lines and rows in one transaction, default 2000
}

func (o Options) withDefaults() Options {
	if o.BatchBytes <= 0 {
		o.BatchBytes = defaultBatchBytes
	}
	if o.BatchRecords <= 0 {
		o.BatchRecords = defaultBatchRecords
	}
	if o.Progress == nil {
		o.Progress = func(Progress) {}
	}
	return o
}

// Import copies an OpenClaw state directory into a store (engine.md §9); its sessions are mirrored. Again for the same directory it adds
// what is new: lines, sessions, changed entries. A directory that has not changed writes nothing. Every transaction leaves a state from
// which the next run goes on, so a killed import loses nothing and doubles nothing; ctx ends it between two of them, and the report
// then tells what was done. What is broken in the source is in the report, not in the error.
//
// A transcript that was rewritten is read anew in the place of the old one, which is kept as a backup unless the source has one.
// A row's field that was changed here stays until the source changes that field. What disappeared from the source stays; a session
// that the source has deleted (its entry is gone and its transcript put away) is archived.
func Import(ctx context.Context, store core.Store, dir string, opts Options) (Report, error) {
	var found problems
	c, err := openCatalog(ctx, store, dir)
	if err != nil {
		return Report{}, err
	}
	defer c.close()
	if _, err := c.src.scan(ctx, &found); err != nil {
		return Report{}, err
	}
	if err := c.rehome(ctx, store, &found); err != nil {
		return Report{}, err
	}
	p, err := c.newPlan(ctx, store, &found)
	if err != nil {
		return Report{Problems: found.list, ProblemCount: found.count}, err
	}
	im := newImporter(store, p, opts, &found)
	err = im.run(ctx)
	return im.report(), err
}

// importer is the writing half of one import.
type importer struct {
	store    core.Store
	plan     *plan
	opts     Options
	problems *problems
	reader   reader
	done     Progress
	changed  map[string]*SessionChange // by generation, or key where there is none
	refused  refusals
	strict   bool // what the store refuses because someone else wrote there ends the import
}

func newImporter(store core.Store, p *plan, opts Options, found *problems) *importer {
	return &importer{store: store, plan: p, opts: opts.withDefaults(), problems: found, changed: map[string]*SessionChange{}}
}

func (im *importer) run(ctx context.Context) error {
	im.done.TotalBytes, im.done.TotalFiles = im.plan.bytes, len(im.plan.work)
	im.tell(Tally{})
	reading, stop := context.WithCancel(ctx)
	defer stop()
	batches, ended := make(chan batch, ahead), make(chan error, 1)
	im.reader = reader{plan: im.plan, opts: im.opts, problems: im.problems, out: batches, held: map[string]bool{}}
	go func() {
		defer close(batches)
		ended <- im.reader.run(reading)
	}()
	var err error
	for b := range batches {
		if err == nil {
			err = im.write(ctx, b)
		}
		if err != nil {
			stop()
		}
	}
	if readErr := <-ended; err == nil {
		err = readErr
	}
	if err != nil {
		return err
	}
	return im.writeRuns(ctx)
}

// write puts one batch into one transaction, without the steps of files and rows that the store refuses.
func (im *importer) write(ctx context.Context, b batch) error {
	b.steps = im.welcome(b.steps)
	for i := range b.steps {
		if s := &b.steps[i]; s.keep != nil {
			if err := keepOld(ctx, im.store, s.t.gen.ID, s.keep, im.opts); err != nil {
				return err
			}
		}
	}
	counts := make([]Tally, len(b.steps))
	for {
		at := -1
		_, err := im.store.Update(ctx, func(tx core.Tx) error {
			for i := range b.steps {
				counts[i] = Tally{}
				if err := b.steps[i].apply(tx, &counts[i]); err != nil {
					at = i
					return err
				}
			}
			at = -1
			return nil
		})
		if err == nil {
			break
		}
		if at < 0 || !im.refusable(err) {
			return err
		}
		im.refuse(&b.steps[at], err)
		b.steps = im.welcome(b.steps)
	}
	var n Tally
	for i := range b.steps {
		im.written(&b.steps[i], counts[i])
		n = n.plus(counts[i])
	}
	im.tell(n)
	return nil
}

// written takes note of a step that is in the store.
func (im *importer) written(s *step, n Tally) {
	im.done.Bytes += s.size
	if s.done {
		im.done.Files++
	}
	im.plan.cat.remember(s)
	if s.row != nil {
		s.row.done = true
	}
	if s.t != nil && s.done {
		s.t.done = s.t.path == "" || s.t.current || s.file.Path != ""
	}
	im.note(s, n)
}

// note adds a step to what has changed.
func (im *importer) note(s *step, n Tally) {
	c := SessionChange{
		Messages: n.Messages, Events: n.Events, Added: n.Sessions.Added > 0, Rewritten: s.first && s.fresh && s.t.from.Offset+s.t.taken.Offset > 0,
	}
	row := s.row
	if s.t != nil {
		c.Key, c.Generation, row = s.t.gen.Key, s.t.gen.ID, cmp.Or(row, s.t.row)
	}
	if row != nil {
		c.Key = row.session.Key
	}
	if n.Messages+n.Events+n.Sessions.Changed == 0 && !c.Added && !c.Rewritten {
		return
	}
	id := cmp.Or(c.Generation, c.Key)
	if had := im.changed[id]; had != nil {
		c.Messages, c.Events = c.Messages+had.Messages, c.Events+had.Events
		c.Added, c.Rewritten = c.Added || had.Added, c.Rewritten || had.Rewritten
	}
	im.changed[id] = &c
}

func (im *importer) tell(n Tally) {
	im.done.Tally = im.done.plus(n)
	im.done.Problems = im.problems.total()
	im.opts.Progress(im.done)
}

func (im *importer) writeRuns(ctx context.Context) error {
	const perBatch = 500
	for runs := im.plan.runWork; len(runs) > 0; {
		part := runs[:min(perBatch, len(runs))]
		runs = runs[len(part):]
		if err := im.writeRunBatch(ctx, part); err != nil {
			return err
		}
	}
	return nil
}

func (im *importer) writeRunBatch(ctx context.Context, runs []core.Run) error {
	var n Tally
	var skipped []string
	_, err := im.store.Update(ctx, func(tx core.Tx) error {
		n, skipped = Tally{}, nil
		for _, run := range runs {
			ok, err := applyRun(tx, im.plan.src.dir, run, &n)
			if err != nil {
				return err
			}
			if !ok {
				skipped = append(skipped, run.ID)
			}
		}
		return nil
	})
	switch {
	case err != nil && !im.refusable(err):
		return err
	case err != nil && len(runs) == 1:
		im.refuseRun(runs[0].ID, err)
		return nil
	case err != nil:
		for i := range runs {
			if err := im.writeRunBatch(ctx, runs[i:i+1]); err != nil {
				return err
			}
		}
		return nil
	}
	for _, id := range skipped {
		im.problems.add(Problem{File: registryPath, Key: id, Reason: "is a run of another session of this store: left alone"})
	}
	im.tell(n)
	return nil
}

func (im *importer) report() Report {
	tally := im.done.Tally
	tally.Sessions.Skipped += im.plan.skipped
	return Report{
		Source: im.plan.src.dir, Agents: len(im.plan.src.agents), Bytes: im.reader.read, Tally: tally, Partial: im.reader.partial,
		Others: im.plan.others, Problems: im.problems.list, ProblemCount: im.problems.count, Config: im.plan.src.config,
	}
}
