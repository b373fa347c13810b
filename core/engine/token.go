package engine

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"

	"cordboard/core"
)

// pass lets the child of a run in as that run's session. It is in memory only, dies with the run or when it is given back, and keeps of its
// token no more than is needed to know it again.
type pass struct {
	sum     [sha256.Size]byte
	session string
	ctx     context.Context // ends with the pass
	end     context.CancelFunc
}

// token makes what the child of a run shows at the socket. Of a run that is over it opens nothing.
func (d *driver) token(run *core.Run) string {
	token := rand.Text()
	p := &pass{sum: sha256.Sum256([]byte(token)), session: run.SessionKey}
	p.ctx, p.end = context.WithCancel(d.ctx)
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, live := d.live[run.ID]; !live || d.passes[run.ID] != nil {
		p.end()
		return token
	}
	d.passes[run.ID] = p
	return token
}

// pass makes a token that lets in as a run's session for longer than the run, until it is given back.
func (d *driver) pass(run *core.Run) (token string, giveBack func()) {
	token = rand.Text()
	p := &pass{sum: sha256.Sum256([]byte(token)), session: run.SessionKey}
	p.ctx, p.end = context.WithCancel(d.ctx)
	d.mu.Lock()
	defer d.mu.Unlock()
	place := run.SessionKey + " " + token // no run has such an id
	d.passes[place] = p
	return token, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.revoke(place)
	}
}

// revoke ends a pass: of a run, by its id. The caller holds mu.
func (d *driver) revoke(run string) {
	if p := d.passes[run]; p != nil {
		p.end()
		delete(d.passes, run)
	}
}

// passOf finds the pass of a token, comparing with each in the same time.
func (d *driver) passOf(token string) *pass {
	sum := sha256.Sum256([]byte(token))
	d.mu.Lock()
	defer d.mu.Unlock()
	var found *pass
	for _, p := range d.passes {
		if subtle.ConstantTimeCompare(p.sum[:], sum[:]) == 1 {
			found = p
		}
	}
	return found
}

// TokenBoard is the board of the session whose run a token was made for (engine.md §3), and a context that ends with that token: nobody may
// use the board any longer. A session that as names, "" for none, must be that one. What is called there belongs to the run as if its
// runtime had called it.
func (e *Engine) TokenBoard(token, as string) (core.Board, context.Context, error) {
	var p *pass
	if e.drive != nil {
		p = e.drive.passOf(token)
	}
	switch {
	case p == nil:
		return nil, nil, core.Errorf(core.CodeForbidden, "the token in CORDBOARD_TOKEN is not that of a run that lives: it ends with the run it was made for")
	case as != "" && e.names.Canonical(as, e.names.AgentOf(p.session)) != p.session:
		return nil, nil, core.Errorf(core.CodeForbidden, "a command that plays %s acts as that session and may not act as %q: leave --as out", p.session, as)
	}
	return &board{Engine: e, actor: core.Actor{Kind: core.ActorSession, Session: p.session}}, p.ctx, nil
}
