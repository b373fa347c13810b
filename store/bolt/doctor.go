package bolt

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime/debug"

	"cordboard/core"
)

// Finding is one thing that is wrong with a store, in a sentence, and what to do about it.
type Finding struct {
	What string `json:"what"`
	Do   string `json:"do"`
}

// Report is what Doctor saw. More counts the findings beyond those listed.
type Report struct {
	Path      string    `json:"path"`
	Bytes     int64     `json:"bytes"` // size of the file
	*Contents           // nil when the damage is such that they could not be counted
	Findings  []Finding `json:"findings"`
	More      int       `json:"more,omitempty"`
}

// Contents are what Doctor has counted, all of it.
type Contents struct {
	Schema      int      `json:"schema"`
	Epoch       string   `json:"epoch"`
	Rev         core.Rev `json:"rev"`
	Sessions    int      `json:"sessions"`
	Transcripts int      `json:"transcripts"`
	Messages    int      `json:"messages"`
	Runs        int      `json:"runs"`
}

// OK reports whether nothing is wrong.
func (r *Report) OK() bool { return len(r.Findings) == 0 }

const maxFindings = 100

// What to do, by what is wrong.
const (
	doRestore = howToRestore
	doExport  = howToRestore + "; without one export what is there (`cordboard export KEY`) and import its source anew"
	doWrite   = "nothing at once: the next commit writes that page anew; make a backup"
)

func (r *Report) found(do, format string, args ...any) {
	if len(r.Findings) == maxFindings {
		r.More++
		return
	}
	r.Findings = append(r.Findings, Finding{fmt.Sprintf(format, args...), do})
}

// Doctor examines a store file that no one writes: bbolt's pages, then every record against every index entry. It never writes. A file
// that is in use, missing, foreign, cut short or of another schema is an error; damage inside is in the report.
func Doctor(ctx context.Context, path string) (Report, error) {
	o, err := Options{Path: path, ReadOnly: true, Timeout: toolTimeout}.withDefaults()
	if err != nil {
		return Report{}, err
	}
	f, err := lockFile(&o, false)
	if err != nil {
		return Report{}, err
	}
	var report Report
	err = guarded(o.Path, func() (err error) {
		report, err = doctor(ctx, o, f)
		return err
	})
	if err != nil {
		return report.damage(err)
	}
	return report, nil
}

// guarded turns the fault of a mapped file that is cut short under it, and any other panic, into an error.
func guarded(path string, fn func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			err = damaged(path, fmt.Errorf("%v", r))
		}
	}()
	return fn()
}

// doctor examines a locked file, and closes it.
func doctor(ctx context.Context, o Options, f *os.File) (Report, error) {
	report := Report{Path: o.Path, Findings: []Finding{}}
	h, err := checkHeader(o.Path, f)
	report.Bytes = h.size
	if err == nil {
		if len(h.broken) == 1 {
			report.found(doWrite, "meta page %d is damaged; the store goes on from the other one", h.broken[0])
		}
		err = checkPages(o.Path, f, &h, true)
	}
	if err != nil {
		_ = f.Close()
		return report.damage(err)
	}
	db, schema, err := openDB(f, &o)
	if err != nil {
		return report.damage(err)
	}
	defer func() { _ = db.Close() }()
	if schema != currentSchema(o.migrations) {
		return report, core.Errorf(core.CodeReadOnly, "the store %s has the older schema %d: open it for writing once, then ask again", o.Path, schema)
	}
	s := &Store{o: o, db: db, closed: make(chan struct{})}
	err = s.view(ctx, func(t *txn) error {
		for damage := range t.tx.Check() {
			report.found(doRestore, "page check: %v", damage)
		}
		if !report.OK() && len(h.broken) == 0 {
			return nil // what hangs together wrongly is not worth a second look
		}
		return examine(t, &report)
	})
	if err != nil {
		return report.damage(err)
	}
	return report, nil
}

// damage turns an error that tells of damage into a finding.
func (r *Report) damage(err error) (Report, error) {
	if core.CodeOf(err) != core.CodeStoreDamaged {
		return *r, err
	}
	r.Contents = nil
	what := err
	if e, ok := errors.AsType[*core.Error](err); ok && e.Err != nil {
		what = e.Err // without its advice
	}
	r.found(doRestore, "the store is damaged: %v", what)
	return *r, nil
}

// Examine looks at every record and index entry of a store in use, without the pages. It reads for as long as that takes.
func (s *Store) Examine(ctx context.Context) (Report, error) {
	report := Report{Path: s.o.Path, Findings: []Finding{}}
	err := s.view(ctx, func(t *txn) error { return examine(t, &report) })
	if err != nil {
		return report.damage(err)
	}
	return report, nil
}

// examination compares records and indexes of one snapshot.
type examination struct {
	*txn
	report *Report
	gens   map[uint64]*genCount // by number
}

func examine(t *txn, r *Report) error {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	x := &examination{txn: t, report: r, gens: map[uint64]*genCount{}}
	r.Contents = &Contents{Schema: int(t.metaNumber(metaSchema)), Epoch: string(t.get(bMeta, metaEpoch)), Rev: t.rev}
	if r.Epoch == "" {
		r.found(doExport, "the store has no epoch")
	}
	return firstError(x.sessions, x.parents, x.transcripts, x.messages, x.runs, x.log, x.records, x.answers)
}

func firstError(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// sessions compares every row with its head, and both numbers with what is counted.
func (x *examination) sessions() error {
	err := x.walk(bSession, nil, nil, func(k, v []byte) bool {
		x.report.Sessions++
		s, row, err := decodeRow(string(k), v)
		switch {
		case err != nil:
			x.report.found(doExport, "%v", err)
			return true
		case s.Key != string(k) || s.UpdatedAt != row.updatedAt || s.SessionID != string(row.sessionID) || row.rev > x.rev:
			x.report.found(doExport, "the row of session %q does not agree with itself", k)
		}
		want, err := x.derive(&s, row.rev)
		if err != nil {
			x.report.found(doExport, "%v", err)
			return true
		}
		switch got := x.get(bUpdated, indexKey(row.updatedAt, s.Key)); {
		case got == nil:
			x.report.found(doExport, "session %q has no head", k)
		case string(got) != string(encodeHead(&want)):
			x.report.found(doExport, "the head of session %q is not that of its row", k)
		}
		if s.SpawnedBy != "" && x.get(bParent, joined(s.SpawnedBy, s.Key)) == nil {
			x.report.found(doExport, "session %q is not among the children of %q", k, s.SpawnedBy)
		}
		return true
	})
	if counted := x.metaNumber(metaSessions); counted != uint64(x.report.Sessions) {
		x.report.found(doExport, "the store counts %d sessions and has %d", counted, x.report.Sessions)
	}
	return err
}

// parents looks for index entries that no row asks for.
func (x *examination) parents() error {
	err := x.walk(bUpdated, nil, nil, func(k, _ []byte) bool {
		if len(k) <= 8 {
			x.report.found(doExport, "a head has no key")
			return true
		}
		row, _, ok := splitRow(x.get(bSession, k[8:]))
		if !ok || row.updatedAt != fromDescending(binary.BigEndian.Uint64(k)) {
			x.report.found(doExport, "the head of %q belongs to no row", k[8:])
		}
		return true
	})
	if err != nil {
		return err
	}
	return x.walk(bParent, nil, nil, func(k, _ []byte) bool {
		parent, child := splitPair(k)
		s, _, ok, err := x.row(child)
		if err == nil && (!ok || s.SpawnedBy != parent) {
			x.report.found(doExport, "%q is listed as a child of %q and is none", child, parent)
		}
		return true
	})
}

// genCount is what a transcript says of its messages and what they say.
type genCount struct {
	id        string
	says, are genHeader
}

func (x *examination) transcripts() error {
	err := x.walk(bGen, nil, nil, func(k, v []byte) bool {
		x.report.Transcripts++
		id := string(k)
		g, err := decodeGen(id, v)
		if err != nil {
			x.report.found(doExport, "%v", err)
			return true
		}
		h, _, _ := splitGen(id, v)
		if x.gens[h.number] != nil || g.ID != id || g.Key != string(h.key) {
			x.report.found(doExport, "transcript %q does not agree with itself", k)
			return true
		}
		if g.Key != "" && x.get(bGenKey, joined(g.Key, id)) == nil {
			x.report.found(doExport, "transcript %q is not among those of session %q", k, g.Key)
		}
		x.gens[h.number] = &genCount{id: id, says: h}
		return true
	})
	if err != nil {
		return err
	}
	return x.walk(bGenKey, nil, nil, func(k, _ []byte) bool {
		key, id := splitPair(k)
		if h, _, ok, err := x.genHeaderOf(id); err == nil && (!ok || string(h.key) != key) {
			x.report.found(doExport, "%q is listed as a transcript of session %q and is none", id, key)
		}
		return true
	})
}

// messages counts every transcript's lines.
func (x *examination) messages() error {
	var m core.Message
	err := x.walk(bMsg, nil, nil, func(k, v []byte) bool {
		if err := decodeMessage(k, v, &m); err != nil {
			x.report.found(doExport, "a message at %x cannot be read: %v", k, err)
			return true
		}
		number := binary.BigEndian.Uint64(k)
		g := x.gens[number]
		if g == nil {
			if x.get(bPurge, be64(number)) == nil {
				x.report.found(doExport, "message %d of number %d belongs to no transcript", m.Seq, number)
			}
			return true
		}
		x.report.Messages++
		g.are.count(&m, m.Seq)
		return true
	})
	for _, g := range x.gens {
		g.are.number, g.are.key, g.says.key = g.says.number, nil, nil
		if fmt.Sprint(g.are) != fmt.Sprint(g.says) {
			x.report.found(doExport, "transcript %q says %+v and its messages %+v", g.id, g.says, g.are)
		}
	}
	return err
}

func (x *examination) log() error {
	var last core.Rev
	return x.walk(bLog, nil, nil, func(k, v []byte) bool {
		rev := core.Rev(revOf(k))
		if last != 0 && rev != last+1 {
			x.report.found(doExport, "the log goes from revision %d to %d", last, rev)
		}
		last = rev
		if _, err := decodeChanges(v); err != nil {
			x.report.found(doExport, "%v", damagedRecord("revision", fmt.Sprint(rev), err))
		}
		return true
	})
}

// splitPair undoes joined.
func splitPair(k []byte) (a, b string) {
	for i, c := range k {
		if c == 0 {
			return string(k[:i]), string(k[i+1:])
		}
	}
	return string(k), ""
}

var errOwnID = errors.New("it bears another name")
