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

// Which generation each transcript of a source is.

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
