package openclaw

import (
	"io/fs"
	"math"
	"time"
)

const (
	// settleTime is how long a file that looks broken or rewritten has to stay as it is before that is believed.
	settleTime = 100 * time.Millisecond
	// settleLimit is how long that is waited for at most: a file that changes all the time is taken as it is then.
	settleLimit = 2 * time.Second
	// runLimit is how long a run of the registry may be without an end before it is taken for interrupted.
	runLimit = 24 * time.Hour
	// share of the time at most that reading one large index may take: one part in so many.
	share = 5
)

// patience is how a follower deals with files that are being written while it reads them. A nil one is an import's: whatever is there is
// taken as it is.
type patience struct {
	clock    func() time.Time
	suspects map[string]suspect // transcripts that do not go on with what was read of them, by path
	wanted   time.Duration      // until something that was put off should be looked at again; 0 is nothing
}

// suspect is a file that may be half-written.
type suspect struct {
	info  fs.FileInfo
	since time.Time // when it was seen first,
	quiet time.Time // and first as it is now
}

func newPatience(clock func() time.Time) *patience {
	return &patience{clock: clock, suspects: map[string]suspect{}}
}

func (p *patience) now() time.Time {
	if p == nil {
		return time.Time{}
	}
	return p.clock()
}

// liveAfter is when a run must have begun that may still be under way: never, for an import.
func (p *patience) liveAfter() int64 {
	if p == nil {
		return math.MaxInt64
	}
	return p.now().Add(-runLimit).UnixMilli()
}

// want asks for another look after d.
func (p *patience) want(d time.Duration) {
	if p != nil && (p.wanted == 0 || d < p.wanted) {
		p.wanted = d
	}
}

// believe reports whether what a file looks like is what it is, and not a moment of its being written; else another look is wanted.
func (p *patience) believe(at string, info fs.FileInfo) bool {
	if p == nil {
		return true
	}
	now := p.now()
	s, known := p.suspects[at]
	if !known {
		s = suspect{info: info, since: now, quiet: now}
	}
	if !sameFile(s.info, info) {
		s.info, s.quiet = info, now
	}
	if now.Sub(s.quiet) >= settleTime || now.Sub(s.since) >= settleLimit {
		delete(p.suspects, at)
		return true
	}
	p.suspects[at] = s
	p.want(settleTime)
	return false
}

// trust forgets that a file was suspected.
func (p *patience) trust(at string) {
	if p != nil {
		delete(p.suspects, at)
	}
}

// reading is when and how a file that is replaced as a whole was read last.
type reading struct {
	ever  bool
	info  fs.FileInfo // what it was then
	again bool        // it is to be read again even when it has not changed
	next  time.Time   // not to be read before
}

// due reports whether a file must be read, given what it is now.
func (r *reading) due(info fs.FileInfo, p *patience) bool {
	if r.ever && !r.again && sameFile(r.info, info) {
		return false
	}
	if p != nil {
		if wait := r.next.Sub(p.now()); wait > 0 {
			r.again = true
			p.want(wait)
			return false
		}
	}
	return true
}

func (r *reading) took(begun time.Time, p *patience) {
	if p != nil {
		now := p.now()
		r.next = now.Add((share - 1) * now.Sub(begun))
	}
}

// done notes that a file was read. A follower does not tell of one that was whole before and is broken now until that can be believed.
func (r *reading) done(at string, info fs.FileInfo, found *problems, broken bool, p *patience, told *problems) {
	doubted := r.ever && broken && !p.believe(at, info)
	if !broken {
		p.trust(at)
	}
	r.ever, r.info, r.again = true, info, doubted
	if !doubted {
		told.addAll(found)
	}
}
