package openclaw

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"os"
	"path"
	"reflect"
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

// recognise finds the archives of transcripts that were a session's although they are not called after its sessionId.
func (p *plan) recognise(ctx context.Context, r core.Reader) error {
	for _, t := range p.transcripts {
		if err := ctx.Err(); err != nil {
			return err
		}
		if t.state == core.GenerationCurrent || t.row != nil {
			continue
		}
		own := path.Join(path.Dir(t.path), t.base+".jsonl")
		stored := p.cat.known[t.path].Generation
		if stored == "" && p.archives[own] == t && !p.onDisk(own) {
			stored = p.cat.known[own].Generation
		}
		if stored == "" || strings.HasPrefix(stored, t.base) {
			continue
		}
		g, _, err := r.Generation(stored)
		if err != nil {
			return err
		}
		t.known = g.SessionID
	}
	return nil
}

// name decides the ids. Of several transcripts of one sessionId the current one takes it, else the newest that was reset or deleted,
// else the newest backup; the others take `<sessionId>.<state>.<time>`.
func (p *plan) name() {
	owner := map[[2]string]string{} // agent, sessionId → key of the session that has it now
	for _, t := range p.transcripts {
		t.gen = core.Generation{SessionID: cmp.Or(t.known, t.base), Agent: t.agent, State: t.state, EndedAt: t.endedAt}
		if t.path != "" {
			t.gen.File = p.src.dir + string(os.PathSeparator) + strings.ReplaceAll(t.path, "/", string(os.PathSeparator))
		}
		switch {
		case t.row != nil:
			t.gen.SessionID = cmp.Or(t.row.session.SessionID, t.base)
			t.gen.Key = t.row.session.Key
			t.gen.State, t.gen.EndedAt = core.GenerationCurrent, 0
			owner[[2]string{t.agent, t.gen.SessionID}] = t.gen.Key
		case t.state == core.GenerationCurrent:
			t.gen.State = core.GenerationOrphan
		}
	}
	slices.SortFunc(p.transcripts, func(a, b *transcript) int {
		return cmp.Or(
			strings.Compare(a.gen.SessionID, b.gen.SessionID),
			cmp.Compare(rank[a.gen.State], rank[b.gen.State]),
			cmp.Compare(b.gen.EndedAt, a.gen.EndedAt),
			strings.Compare(a.path, b.path))
	})
	taken := p.nameKept(owner)
	for _, t := range p.transcripts {
		if t.gen.ID != "" {
			continue
		}
		t.gen.ID = t.gen.SessionID
		for _, more := range []string{"." + string(t.gen.State) + "." + t.suffix, "." + t.agent, "." + short(t.path)} {
			if !taken[t.gen.ID] {
				break
			}
			t.gen.ID += more
		}
		taken[t.gen.ID] = true
		if t.gen.Key == "" {
			t.gen.Key = owner[[2]string{t.agent, t.gen.SessionID}]
		}
	}
}

// nameKept gives the transcripts whose session is in no sessions.json what they had, unless another session has that by now.
func (p *plan) nameKept(owner map[[2]string]string) (taken map[string]bool) {
	taken = map[string]bool{}
	ids := map[string]bool{}
	for at := range owner {
		ids[at[1]] = true
	}
	for _, t := range p.transcripts {
		if t.kept.ID != "" && !ids[t.kept.ID] {
			t.gen.ID, t.gen.SessionID, t.gen.Key, t.gen.State = t.kept.ID, t.kept.SessionID, t.kept.Key, core.GenerationCurrent
			taken[t.gen.ID] = true
		}
	}
	return taken
}

var rank = map[core.GenerationState]int{
	core.GenerationCurrent: 0, core.GenerationOrphan: 1, core.GenerationReset: 2, core.GenerationDeleted: 2, core.GenerationBackup: 3,
}

// short is a few characters that stand for a path.
func short(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:4])
}

// compare looks up what the store has of the source, and keeps off what is there of others. What has not changed since the last plan
// is not looked up again.
func (p *plan) compare(ctx context.Context, r core.Reader, problems *problems) error {
	last := p.cat.last
	if err := p.retain(ctx, r); err != nil {
		return err
	}
	if err := p.recognise(ctx, r); err != nil {
		return err
	}
	p.name()
	for _, row := range p.rows {
		if err := ctx.Err(); err != nil {
			return err
		}
		if last != nil && row.carry(last.sessions[row.session.Key]) {
			continue
		}
		if err := p.compareRow(r, row, problems); err != nil {
			return err
		}
	}
	p.disown()
	for _, t := range p.transcripts {
		if err := ctx.Err(); err != nil {
			return err
		}
		t.named = t.gen
		if last != nil && t.carry(last.at[t.place]) {
			continue
		}
		if err := p.compareTranscript(r, t, problems); err != nil {
			return err
		}
	}
	for _, row := range p.rows {
		if row.transcript != nil {
			row.session.SessionID = row.transcript.gen.ID
		}
		if row.done && !row.blocked && last.sessions[row.session.Key].session.SessionID != row.session.SessionID {
			row.done = false
		}
	}
	p.handOver()
	slices.SortFunc(p.transcripts, func(a, b *transcript) int { return strings.Compare(a.gen.ID, b.gen.ID) })
	p.choose(last)
	return nil
}

// handOver tells apart the generations that a transcript leaves for good from those that another one takes.
func (p *plan) handOver() {
	ids := make(map[string]bool, len(p.transcripts))
	for _, t := range p.transcripts {
		ids[t.gen.ID] = true
	}
	for _, t := range p.transcripts {
		t.leftTo = ids[t.left.Generation]
	}
}

// carry takes over what the last plan found out about a session and reports whether that was done and nothing has changed.
func (r *row) carry(old *row) bool {
	if old == nil || !old.done || old.entry != r.entry || old.lineage != r.lineage {
		return false
	}
	r.blocked, r.done = old.blocked, true
	return true
}

// carry takes over what the last plan found out about a transcript and reports whether that was done and nothing has changed.
func (t *transcript) carry(old *transcript) bool {
	if old == nil || !old.done || old.path != t.path || old.size != t.size || old.modTime != t.modTime || old.named != t.named ||
		t.path != "" && !os.SameFile(old.info, t.info) {
		return false
	}
	t.gen, t.stored, t.from, t.current, t.blocked, t.done = old.gen, old.stored, old.from, true, old.blocked, true
	return true
}

// choose decides what there is to do: for a first plan everything, so that the import can tell of all of it.
func (p *plan) choose(last *plan) {
	for _, t := range p.transcripts {
		t.done, t.gone = t.done || t.blocked, p.sessions[t.gen.Key] == nil
		if !t.done || t.row != nil && t.row.transcript == t && !t.row.done {
			p.work = append(p.work, t)
			p.bytes += t.size
		}
	}
	for _, r := range p.rows {
		withTranscript := r.transcript != nil && r.transcript.row == r && !r.transcript.blocked
		if !r.done && !withTranscript {
			p.rowWork = append(p.rowWork, r)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(p.runs)) {
		if last == nil || !reflect.DeepEqual(last.runs[id], p.runs[id]) {
			p.runWork = append(p.runWork, p.runs[id])
		}
	}
}

// compareRow blocks a session whose key is another source's or our own: nobody's row is taken over by an import. Its transcript is
// kept like one that no session names.
func (p *plan) compareRow(r core.Reader, row *row, problems *problems) error {
	stored, ok, err := r.Session(row.session.Key)
	if err != nil || !ok || stored.Source == p.src.dir {
		return err
	}
	row.blocked, row.done = true, true
	p.skipped++
	p.others[stored.Source]++
	whose := "a session of this store that is answered here"
	if stored.Source != "" {
		whose = "a session imported from " + stored.Source
	}
	problems.add(Problem{
		File: row.index.path, Line: row.line, Key: shortKey(row.session.Key),
		Reason: "is " + whose + " already: its row is left alone, its transcript is kept without a session",
	})
	return nil
}

// disown takes the transcripts of blocked sessions away from them.
func (p *plan) disown() {
	blocked := map[string]bool{}
	for _, row := range p.rows {
		if row.blocked {
			blocked[row.session.Key] = true
		}
	}
	for _, t := range p.transcripts {
		if !blocked[t.gen.Key] {
			continue
		}
		t.row, t.gen.Key = nil, ""
		if t.gen.State = t.state; t.state == core.GenerationCurrent {
			t.gen.State = core.GenerationOrphan
		}
		t.gen.EndedAt = t.endedAt
		t.blocked = t.path == ""
	}
}

func (p *plan) compareTranscript(r core.Reader, t *transcript, problems *problems) error {
	known, claimed := p.cat.known, p.cat.claimed
	g, ours, err := p.storedGeneration(r, t)
	if err != nil {
		return err
	}
	t.stored = ours
	if ours {
		t.gen.Key = cmp.Or(t.gen.Key, g.Key)
		t.gen.CreatedAt = g.CreatedAt
		adopted, err := p.adopted(r, g.Key)
		if err != nil {
			return err
		}
		if adopted && g.LastSeq > 0 {
			t.blocked = true
			problems.add(Problem{File: t.path, Key: shortKey(g.Key), Reason: "belongs to a session that is answered here now: left alone"})
			return nil
		}
	}
	if t.path == "" {
		return nil
	}
	before, holder := known[t.path], claimed[t.gen.ID]
	if before.Generation != "" && before.Generation != t.gen.ID {
		t.left = before
	}
	switch {
	case before.Generation == t.gen.ID:
		t.from = before
		t.current = before.Size == t.size && before.ModTime == t.modTime && g.File == t.gen.File && g.Key == t.gen.Key && g.State == t.gen.State
	case holder != "" && p.onDisk(holder):
		t.taken = known[holder]
	case ours && holder != "":
		t.from, t.renamed = known[holder], true
	case ours && g.LastSeq > 0:
		t.stray = g
	}
	return nil
}

// onDisk reports whether the source has a file of that path now.
func (p *plan) onDisk(at string) bool {
	t := p.at[at]
	return t != nil && t.path != ""
}

// storedGeneration looks up a transcript's generation; an id that is someone else's here is changed for one that is free.
func (p *plan) storedGeneration(r core.Reader, t *transcript) (g core.Generation, ours bool, err error) {
	for tries := 0; ; tries++ {
		g, ok, err := r.Generation(t.gen.ID)
		if err != nil || !ok {
			return core.Generation{}, false, err
		}
		_, mine := p.cat.claimed[g.ID]
		if mine || tries > 1 || strings.HasPrefix(g.File, p.src.dir+string(os.PathSeparator)) {
			return g, true, nil
		}
		s, ok, err := r.Session(g.Key)
		if err != nil {
			return g, false, err
		}
		if ok && s.Source == p.src.dir && (g.LastSeq == 0 || g.File == "") {
			return g, true, nil
		}
		t.gen.ID += "." + string(t.gen.State) + "." + short(p.src.dir)
	}
}

func (p *plan) adopted(r core.Reader, key string) (bool, error) {
	if key == "" {
		return false, nil
	}
	s, ok, err := r.Session(key)
	return ok && s.Source != p.src.dir, err
}
