package openclaw

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path"
	"slices"
	"strings"

	"cordboard/core"
)

// plan is what an import is going to do, decided before anything is written.
type plan struct {
	src         *source
	indexes     []*os.File // held open: entries are read from them late, and the gateway replaces the files by others
	transcripts []*transcript
	rows        []*row
	runs        []core.Run
	bytes       int64
}

// transcript is one generation of a source: a file, or for a session that has none yet a place without one.
type transcript struct {
	found
	gen     core.Generation // to be stored
	row     *row            // the session whose current generation it is
	stored  bool            // the generation is in the store
	from    core.SourceFile // what was read before of this file, or of the one it was renamed from
	renamed bool
	current bool // nothing is new in it since
	blocked bool // its generation belongs to someone else here
	begun   bool // a step of it has been sent
}

func (p *plan) close() {
	for _, f := range p.indexes {
		f.Close()
	}
	p.src.close()
}

// newPlan reads what is small in a source and compares it with the store.
func newPlan(ctx context.Context, store core.Store, dir string, problems *problems) (*plan, error) {
	src, err := openSource(dir, problems)
	if err != nil {
		return nil, err
	}
	p := &plan{src: src}
	if err := p.read(problems); err != nil {
		p.close()
		return nil, err
	}
	err = store.View(ctx, func(r core.Reader) error { return p.compare(r, problems) })
	if err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

func (p *plan) read(problems *problems) error {
	reg, err := p.readRegistry(problems)
	if err != nil {
		return err
	}
	p.runs = reg.runs
	files := map[string]*transcript{}
	for _, a := range p.src.agents {
		for _, f := range a.files {
			t := &transcript{found: f}
			files[f.path] = t
			p.transcripts = append(p.transcripts, t)
			p.bytes += f.size
		}
	}
	keys := map[string]*row{}
	for _, a := range p.src.agents {
		if err := p.readIndex(a, reg, keys, problems); err != nil {
			return err
		}
	}
	slices.SortFunc(p.rows, func(a, b *row) int { return strings.Compare(a.session.Key, b.session.Key) })
	for _, r := range p.rows {
		p.attach(r, files)
	}
	p.name()
	for i := range p.runs {
		if r := keys[p.runs[i].SessionKey]; r != nil {
			p.runs[i].SessionID = r.session.SessionID
		}
	}
	return nil
}

func (p *plan) readRegistry(problems *problems) (registry, error) {
	if !p.src.registry {
		return registry{}, nil
	}
	f, err := p.src.root.Open(registryPath)
	if err != nil {
		problems.add(Problem{File: registryPath, Reason: "cannot be read: " + cause(err)})
		return registry{}, nil
	}
	defer f.Close()
	return readRegistry(f, registryPath, problems)
}

// readIndex reads an agent's sessions.json. A key that another agent's file has as well is a problem: the first one stays.
func (p *plan) readIndex(a agentDir, reg registry, keys map[string]*row, problems *problems) error {
	if a.index == "" {
		return nil
	}
	f, err := p.src.root.Open(a.index)
	if err != nil {
		problems.add(Problem{File: a.index, Reason: "cannot be read: " + cause(err)})
		return nil
	}
	p.indexes = append(p.indexes, f)
	entries, err := readEntries(f, a.index, problems)
	if err != nil {
		return err
	}
	for _, e := range entries {
		report := func(reason string) {
			problems.add(Problem{File: e.path, Line: e.line, Key: shortKey(e.session.Key), Reason: reason})
		}
		if first, twice := keys[e.session.Key]; twice {
			report("is in " + first.path + " as well, that one counts")
			continue
		}
		r := &row{entry: e, session: e.session}
		reason, ok := fit(&r.session)
		if reason != "" {
			report(reason)
		}
		if !ok {
			continue
		}
		r.session.Source = p.src.dir
		if r.session.UpdatedAt == 0 {
			r.session.UpdatedAt = a.indexTime // until its transcript says better
		}
		r.know(reg.child[e.session.Key])
		keys[e.session.Key] = r
		p.rows = append(p.rows, r)
	}
	return nil
}

// know adds what the registry tells of a session.
func (r *row) know(l lineage) {
	r.parent, r.outcome = l.parent, l.outcome
	r.session.SpawnedBy = cmp.Or(r.session.SpawnedBy, l.parent)
	r.session.Label = cmp.Or(r.session.Label, cut(l.label, 120))
	r.session.LastOutcome = l.outcome
}

// attach finds a session's current transcript: the file its entry names when that lies in the source, else the one of that name beside
// the entry (the path is that of the machine it was written on), else the one called after the sessionId. A named file that is not
// called after the sessionId is one the session has left when there is a better one.
func (p *plan) attach(r *row, files map[string]*transcript) {
	dir := path.Dir(r.path)
	id := r.session.SessionID
	var candidates []string
	if r.sessionFile != "" {
		if rel, ok := p.src.within(r.sessionFile); ok {
			candidates = append(candidates, rel)
		}
		candidates = append(candidates, path.Join(dir, baseName(r.sessionFile)))
	}
	if own := path.Join(dir, id+".jsonl"); id != "" && !strings.HasPrefix(baseName(r.sessionFile), id) {
		candidates = slices.Insert(candidates, 0, own)
	} else {
		candidates = append(candidates, own)
	}
	for _, c := range candidates {
		if t := files[c]; t != nil && t.state == core.GenerationCurrent {
			r.transcript = t
			if t.row == nil || r.session.UpdatedAt > t.row.session.UpdatedAt {
				t.row = r
			}
			return
		}
	}
	if id == "" {
		return
	}
	empty := &transcript{found: found{agent: path.Base(path.Dir(dir)), base: id, state: core.GenerationCurrent}, row: r}
	r.transcript = empty
	files[path.Join(dir, id+".jsonl")] = empty // shared by the sessions of one sessionId
	p.transcripts = append(p.transcripts, empty)
}

// name decides the ids. Of several transcripts of one sessionId the current one takes it, else the newest that was reset or deleted,
// else the newest backup; the others take `<sessionId>.<state>.<time>`.
func (p *plan) name() {
	owner := map[[2]string]string{} // agent, sessionId → key of the session that has it now
	for _, t := range p.transcripts {
		t.gen = core.Generation{SessionID: t.base, Agent: t.agent, State: t.state, EndedAt: t.endedAt}
		if t.path != "" {
			t.gen.File = p.src.dir + string(os.PathSeparator) + strings.ReplaceAll(t.path, "/", string(os.PathSeparator))
		}
		switch {
		case t.row != nil:
			t.gen.SessionID = cmp.Or(t.row.session.SessionID, t.base)
			t.gen.Key = t.row.session.Key
			owner[[2]string{t.agent, t.gen.SessionID}] = t.gen.Key
		case t.state == core.GenerationCurrent:
			t.gen.State = core.GenerationOrphan
		}
	}
	slices.SortFunc(p.transcripts, func(a, b *transcript) int {
		return cmp.Or(
			strings.Compare(a.gen.SessionID, b.gen.SessionID),
			cmp.Compare(rank[a.gen.State], rank[b.gen.State]),
			cmp.Compare(b.endedAt, a.endedAt),
			strings.Compare(a.path, b.path))
	})
	taken := map[string]bool{}
	for _, t := range p.transcripts {
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

var rank = map[core.GenerationState]int{
	core.GenerationCurrent: 0, core.GenerationOrphan: 1, core.GenerationReset: 2, core.GenerationDeleted: 2, core.GenerationBackup: 3,
}

// short is a few characters that stand for a path.
func short(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:4])
}

// compare looks up what the store has of the source, and keeps off what is there of others.
func (p *plan) compare(r core.Reader, problems *problems) error {
	known, claimed := map[string]core.SourceFile{}, map[string]string{}
	err := r.SourceFiles(p.src.dir, func(f *core.SourceFile) bool {
		k := core.SourceFile{
			Source: p.src.dir, Path: strings.Clone(f.Path), Generation: strings.Clone(f.Generation), Size: f.Size, ModTime: f.ModTime,
			Offset: f.Offset, Lines: f.Lines, Sum: strings.Clone(f.Sum),
		}
		known[k.Path] = k
		if k.Generation != "" {
			claimed[k.Generation] = k.Path
		}
		return true
	})
	if err != nil {
		return err
	}
	for _, row := range p.rows {
		if err := p.compareRow(r, row, problems); err != nil {
			return err
		}
	}
	p.disown()
	for _, t := range p.transcripts {
		if err := p.compareTranscript(r, t, known, claimed, problems); err != nil {
			return err
		}
	}
	for _, row := range p.rows {
		if row.transcript != nil {
			row.session.SessionID = row.transcript.gen.ID
		}
	}
	slices.SortFunc(p.transcripts, func(a, b *transcript) int { return strings.Compare(a.gen.ID, b.gen.ID) })
	return nil
}

// compareRow blocks a session whose key is another source's or our own: nobody's row is taken over by an import. Its transcript is
// kept like one that no session names.
func (p *plan) compareRow(r core.Reader, row *row, problems *problems) error {
	stored, ok, err := r.Session(row.session.Key)
	if err != nil || !ok || stored.Source == p.src.dir {
		return err
	}
	row.blocked = true
	whose := "a session of this store that is answered here"
	if stored.Source != "" {
		whose = "a session imported from " + stored.Source
	}
	problems.add(Problem{
		File: row.path, Line: row.line, Key: shortKey(row.session.Key),
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
		if t.gen.State == core.GenerationCurrent {
			t.gen.State = core.GenerationOrphan
		}
		t.blocked = t.path == ""
	}
}

func (p *plan) compareTranscript(r core.Reader, t *transcript, known map[string]core.SourceFile, claimed map[string]string, problems *problems) error {
	g, ours, err := p.storedGeneration(r, t, claimed)
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
	switch before, read := known[t.path]; {
	case read && before.Generation == t.gen.ID:
		t.from = before
		t.current = before.Size == t.size && before.ModTime == t.modTime && g.File == t.gen.File && g.Key == t.gen.Key && g.State == t.gen.State
	case ours && claimed[t.gen.ID] != "":
		t.from, t.renamed = known[claimed[t.gen.ID]], true
	}
	return nil
}

// storedGeneration looks up a transcript's generation; an id that is someone else's here is changed for one that is free.
func (p *plan) storedGeneration(r core.Reader, t *transcript, claimed map[string]string) (g core.Generation, ours bool, err error) {
	for tries := 0; ; tries++ {
		g, ok, err := r.Generation(t.gen.ID)
		if err != nil || !ok {
			return core.Generation{}, false, err
		}
		if _, mine := claimed[g.ID]; mine || tries > 1 {
			return g, true, nil
		}
		s, ok, err := r.Session(g.Key)
		if err != nil {
			return g, false, err
		}
		if ok && s.Source == p.src.dir && g.LastSeq == 0 {
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
