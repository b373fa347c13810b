package openclaw

import (
	"cmp"
	"context"
	"maps"
	"path"
	"slices"
	"strings"

	"cordboard/core"
)

// plan is what a source holds and what an import is going to do about it, decided before anything is written.
type plan struct {
	cat         *catalog
	src         *source
	transcripts []*transcript          // all there are, by the id of their generation
	rows        []*row                 // all there are, by key
	at          map[string]*transcript // by place
	archives    map[string]*transcript // the newest archive of a place where no file is
	sessions    map[string]*row        // by key
	runs        map[string]core.Run    // all there are
	work        []*transcript          // to be read: of an import all of them
	rowWork     []*row                 // to be written beside those of work's transcripts
	runWork     []core.Run             // to be written
	bytes       int64                  // of work
	skipped     int                    // entries of sessions.json files that are not taken over
	others      map[string]int         // of these the ones whose key is taken here: by the source that has it, "" = answered here
}

// transcript is one generation of a source: a file, or for a session that has none a place without one.
type transcript struct {
	found
	place   string          // path of its file, or where that would be
	named   core.Generation // as the source alone tells it
	gen     core.Generation // to be stored
	row     *row            // the session whose current generation it is
	stored  bool            // the generation is in the store
	from    core.SourceFile // what was read before of this file, or of the one it was renamed from
	renamed bool
	left    core.SourceFile // what was read before of this file into a generation that it is not any more,
	leftTo  bool            // which another file is now
	taken   core.SourceFile // what was read into its generation before of another file, which is still there
	kept    core.Generation // the stored facts of it that count, where its session is in no sessions.json
	known   string          // the sessionId that it had when it was read before, where its name tells another
	stray   core.Generation // what its generation holds, when that is of no file that is known
	current bool            // nothing is new in it since
	gone    bool            // no entry has the key of its session
	blocked bool            // its generation belongs to someone else here
	begun   bool            // a step of it has been sent
	done    bool            // the store has all of it
}

// newPlan reads what is small and has changed in a source, and compares with the store what has changed since the last plan.
func (c *catalog) newPlan(ctx context.Context, store core.Store, problems *problems) (*plan, error) {
	p := &plan{
		cat: c, src: c.src, at: map[string]*transcript{}, archives: map[string]*transcript{}, sessions: map[string]*row{}, runs: map[string]core.Run{},
		others: map[string]int{},
	}
	if err := p.read(ctx, problems); err != nil {
		return nil, err
	}
	if err := store.View(ctx, func(r core.Reader) error { return p.compare(ctx, r, problems) }); err != nil {
		return nil, err
	}
	c.last = p
	return p, nil
}

// further plans to read on in transcripts that have grown and nothing else; ok is false when one of them is not in the last plan.
func (c *catalog) further(ctx context.Context, store core.Store, grown []string, problems *problems) (p *plan, ok bool, err error) {
	if c.last == nil {
		return nil, false, nil
	}
	next := *c.last
	p = &next
	p.work, p.rowWork, p.runWork, p.bytes = nil, nil, nil, 0
	for _, at := range grown {
		t, f := p.at[at], p.src.file(at)
		if t == nil || f == nil || !t.done {
			return nil, false, nil
		}
		p.work = append(p.work, t)
	}
	for _, t := range p.work {
		t.found = *p.src.file(t.place)
		t.current, t.begun, t.renamed, t.done = false, false, false, false
		t.left, t.taken, t.stray = core.SourceFile{}, core.SourceFile{}, core.Generation{}
		p.bytes += t.size
	}
	err = store.View(ctx, func(r core.Reader) error {
		for _, t := range p.work {
			if err := p.compareTranscript(r, t, problems); err != nil {
				return err
			}
			t.done = t.blocked
		}
		return nil
	})
	return p, true, err
}

func (p *plan) read(ctx context.Context, problems *problems) error {
	p.cat.readRegistry(ctx, problems)
	for _, id := range slices.Sorted(maps.Keys(p.src.agents)) {
		p.addFiles(p.src.agents[id])
	}
	for _, id := range slices.Sorted(maps.Keys(p.src.agents)) {
		a := p.src.agents[id]
		p.cat.readIndex(ctx, a, problems)
		if err := ctx.Err(); err != nil {
			return err // what was read of it is no whole index
		}
		p.addRows(a.indexPath(), problems)
	}
	for _, at := range slices.Sorted(maps.Keys(p.cat.indexes)) {
		if p.src.agents[agentOf(at)] == nil {
			p.addRows(at, problems) // its directory is gone, for a while or for good: its sessions stay
		}
	}
	slices.SortFunc(p.rows, func(a, b *row) int { return strings.Compare(a.session.Key, b.session.Key) })
	for _, r := range p.rows {
		if err := ctx.Err(); err != nil {
			return err
		}
		p.attach(r)
	}
	for _, run := range p.cat.registry.runs {
		if r := p.sessions[run.SessionKey]; r != nil {
			run.SessionID = r.session.SessionID
		}
		p.runs[run.ID] = run
	}
	return ctx.Err()
}

func (p *plan) addFiles(a *agentDir) {
	for _, at := range slices.Sorted(maps.Keys(a.files)) {
		t := &transcript{found: *a.files[at], place: at}
		p.at[at] = t
		p.transcripts = append(p.transcripts, t)
		if t.state == core.GenerationCurrent {
			continue
		}
		own := path.Join(a.at, t.base+".jsonl")
		if newest := p.archives[own]; newest == nil || t.endedAt > newest.endedAt {
			p.archives[own] = t
		}
	}
}

// addRows makes a row of every entry of an agent's sessions.json. A key that another agent's file has as well is a problem: the first one
// stays.
func (p *plan) addRows(at string, problems *problems) {
	x := p.cat.indexes[at]
	p.skipped += x.out
	for _, e := range x.entries {
		report := func(reason string) {
			problems.add(Problem{File: at, Line: e.line, Key: shortKey(e.session.Key), Reason: reason})
		}
		if first, twice := p.sessions[e.session.Key]; twice {
			p.skipped++
			report("is in " + first.index.path + " as well, that one counts")
			continue
		}
		if e.misfit != "" {
			report(e.misfit)
		}
		if e.unfit {
			p.skipped++
			continue
		}
		r := &row{entry: e, session: e.fitted}
		r.session.Source = p.src.dir
		if r.session.UpdatedAt == 0 && x.seen.info != nil {
			r.session.UpdatedAt = x.seen.info.ModTime().UnixMilli() // until its transcript says better
		}
		if reason := r.know(p.cat.registry.child[e.session.Key]); reason != "" {
			problems.add(Problem{File: registryPath, Key: shortKey(e.session.Key), Reason: reason})
		}
		p.sessions[e.session.Key] = r
		p.rows = append(p.rows, r)
	}
}

// know adds what the registry tells of a session, as far as its row has room for it; reason, when not "", says what it has none for.
func (r *row) know(l lineage) (reason string) {
	r.lineage = l
	r.session.LastOutcome = l.outcome
	if had := r.session; had.Label == "" && l.label != "" {
		if r.session.Label = cut(l.label, 120); !fits(&r.session) {
			r.session, reason = had, "the label of its run is too long for its row: left out"
		}
	}
	if had := r.session; had.SpawnedBy == "" && l.parent != "" {
		if r.session.SpawnedBy = l.parent; !fits(&r.session) {
			r.session, reason = had, "the key of the session that spawned it is too long for its row: left out"
		}
	}
	return reason
}

// attach finds a session's current transcript: the file its entry names when that lies in the source, else the one of that name beside
// the entry (the path is that of the machine it was written on), else the one called after the sessionId. A named file that is not
// called after the sessionId is one the session has left when there is a better one.
func (p *plan) attach(r *row) {
	dir := path.Dir(r.index.path)
	id := r.session.SessionID
	own := path.Join(dir, id+".jsonl")
	var candidates []string
	if r.sessionFile != "" {
		if rel, ok := p.src.within(r.sessionFile); ok {
			candidates = append(candidates, rel)
		}
		candidates = append(candidates, path.Join(dir, baseName(r.sessionFile)))
	}
	if id != "" && !strings.HasPrefix(baseName(r.sessionFile), id) {
		candidates = slices.Insert(candidates, 0, own)
	} else {
		candidates = append(candidates, own)
	}
	for _, c := range candidates {
		if t := p.at[c]; t != nil && t.state == core.GenerationCurrent {
			t.serve(r)
			return
		}
	}
	if id == "" {
		return
	}
	t := p.heir(own)
	for _, c := range candidates {
		if t == nil && p.cat.known[c].Generation == id {
			t = p.heir(c)
		}
	}
	if t == nil {
		t = &transcript{found: found{agent: agentOf(own), base: id, state: core.GenerationCurrent}, place: own}
		p.at[own] = t // shared by the sessions of one sessionId
		p.transcripts = append(p.transcripts, t)
	}
	t.serve(r)
}

// serve makes a transcript a session's current one; of several sessions the one that was updated last has it.
func (t *transcript) serve(r *row) {
	r.transcript = t
	if t.row == nil || r.session.UpdatedAt > t.row.session.UpdatedAt {
		t.row = r
	}
}

// heir is the archive that a transcript has become while its session's entry still names it: a reset, compaction or delete that is half
// done. nil when there is none. What was read of the transcript has to be in it.
func (p *plan) heir(own string) *transcript {
	t := p.archives[own]
	before := p.cat.known[own]
	if t == nil || before.Generation == "" {
		return t
	}
	file, err := p.src.root.Open(t.path)
	if err != nil {
		return nil
	}
	defer file.Close()
	if _, same, err := resume(file, t.size, before.Offset, before.Sum, false); err != nil || !same {
		return nil
	}
	return t
}

// retain finds the transcripts whose session is stored and in no sessions.json any more, or in none that can be read: the session stays, and
// so does its transcript.
func (p *plan) retain(ctx context.Context, r core.Reader) error {
	for _, t := range p.transcripts {
		if err := ctx.Err(); err != nil {
			return err
		}
		stored := cmp.Or(p.cat.known[t.path].Generation, t.base) // a file that is new may be one of its name anew
		if t.row != nil || t.path == "" || t.state != core.GenerationCurrent {
			continue
		}
		g, ok, err := r.Generation(stored)
		if err != nil {
			return err
		}
		if !ok || g.Key == "" || p.sessions[g.Key] != nil {
			continue
		}
		s, ok, err := r.Session(g.Key)
		if err != nil {
			return err
		}
		if ok && s.Source == p.src.dir && s.SessionID == stored {
			t.kept = g
		}
	}
	return nil
}
