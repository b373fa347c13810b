package acp

import "sync"

// keeper holds the programs that have no turn, by session key. A session has one turn at a time, so a program that is taken is nobody
// else's.
type keeper struct {
	mu     sync.Mutex
	kept   map[string]*program
	out    map[*program]bool // those that have a turn
	closed bool
}

func newKeeper() keeper { return keeper{kept: map[string]*program{}, out: map[*program]bool{}} }

// take hands out the program of a session, nil when there is none that lives and knows this transcript. One that knows an older one is ended.
func (k *keeper) take(key, transcript string) *program {
	k.mu.Lock()
	p := k.kept[key]
	delete(k.kept, key)
	usable := p != nil && p.transcript == transcript && p.wake() && p.alive()
	if usable {
		k.out[p] = true
	}
	k.mu.Unlock()
	if p != nil && !usable {
		p.kill()
		return nil
	}
	return p
}

// begin counts a program that was started; false when the runtime is closed.
func (k *keeper) begin(p *program) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.closed {
		k.out[p] = true
	}
	return !k.closed
}

// drop forgets a program that has a turn, which then ends it.
func (k *keeper) drop(p *program) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.out, p)
}

// rest keeps a program for the next turn, for as long as it may be idle. One that ended, or was broken off, is not.
func (k *keeper) rest(key string, p *program, o Options) {
	k.mu.Lock()
	delete(k.out, p)
	keep := !k.closed && p.alive() && !p.broken
	if keep {
		k.kept[key] = p
		p.stop = o.After(o.Idle, func() { k.retire(key, p) })
	}
	k.mu.Unlock()
	if !keep {
		p.kill()
	}
}

// retire ends a program that has been idle for long enough.
func (k *keeper) retire(key string, p *program) {
	k.mu.Lock()
	idle := k.kept[key] == p
	if idle {
		delete(k.kept, key)
	}
	k.mu.Unlock()
	if idle {
		p.kill()
	}
}

func (k *keeper) close() {
	k.mu.Lock()
	k.closed = true
	var all []*program
	for key, p := range k.kept {
		p.wake()
		delete(k.kept, key)
		all = append(all, p)
	}
	for p := range k.out {
		all = append(all, p)
	}
	k.mu.Unlock()
	for _, p := range all {
		p.kill()
	}
}

// wake stops the clock of an idle program. false = its time is up already.
func (p *program) wake() bool { return p.stop == nil || p.stop() }
