package openclaw

import (
	"cmp"
	"context"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"

	"cordboard/core"
)

// What of a source the store does not have yet.

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
