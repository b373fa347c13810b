package bolt

import (
	"context"
	"encoding/binary"
	"errors"

	"cordboard/core"
)

// changeSet collects what one function changed: one change per record in the order of first mention, last state wins, ranges unite.
type changeSet struct {
	list []core.Change
	at   map[changeID]int
}

type changeID struct {
	kind core.ChangeKind
	id   string
}

func (c *changeSet) note(change core.Change) {
	name := changeID{change.Kind, change.ID}
	i, known := c.at[name]
	if !known {
		if c.at == nil {
			c.at = make(map[changeID]int)
		}
		c.at[name] = len(c.list)
		c.list = append(c.list, change)
		return
	}
	old := &c.list[i]
	if old.FirstSeq != 0 && change.FirstSeq > old.FirstSeq {
		change.FirstSeq = old.FirstSeq
	}
	*old = change
}

var changeKinds = [...]core.ChangeKind{
	core.ChangeSession, core.ChangeMessages, core.ChangeGeneration, core.ChangeRun,
	core.ChangeExchange, core.ChangeDelivery, core.ChangeHold,
}

const changeDeleted = 0x80 // set in a change's kind byte

// encodeChanges packs a revision's changes: kind byte, id, first and last seq each.
func encodeChanges(changes []core.Change) []byte {
	out := []byte{}
	for i := range changes {
		c := &changes[i]
		kind := byte(0)
		for n, known := range changeKinds {
			if c.Kind == known {
				kind = byte(n)
			}
		}
		if c.Deleted {
			kind |= changeDeleted
		}
		out = append(out, kind)
		out = binary.AppendUvarint(out, uint64(len(c.ID)))
		out = append(out, c.ID...)
		out = binary.AppendUvarint(out, c.FirstSeq)
		out = binary.AppendUvarint(out, c.LastSeq)
	}
	return out
}

var errShort = errors.New("it ends too early")

func decodeChanges(data []byte) ([]core.Change, error) {
	var out []core.Change
	d := decoder{rest: data}
	for len(d.rest) > 0 && d.err == nil {
		kind := d.byte()
		c := core.Change{Deleted: kind&changeDeleted != 0}
		if n := int(kind &^ changeDeleted); n < len(changeKinds) {
			c.Kind = changeKinds[n]
		} else {
			return nil, errors.New("it has a change of an unknown kind")
		}
		c.ID = string(d.bytes())
		c.FirstSeq, c.LastSeq = d.uvarint(), d.uvarint()
		out = append(out, c)
	}
	return out, d.err
}

// decoder reads the parts of a binary value; the first that does not fit sets err and all later ones are zero.
type decoder struct {
	rest []byte
	err  error
}

func (d *decoder) take(n uint64) []byte {
	if uint64(len(d.rest)) < n {
		d.rest, d.err = nil, errShort
		return nil
	}
	out := d.rest[:n:n]
	d.rest = d.rest[n:]
	return out
}

func (d *decoder) byte() byte {
	if b := d.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (d *decoder) uint64() uint64 {
	if b := d.take(8); b != nil {
		return binary.BigEndian.Uint64(b)
	}
	return 0
}

func (d *decoder) uvarint() uint64 {
	n, size := binary.Uvarint(d.rest)
	if size <= 0 {
		d.rest, d.err = nil, errShort
		return 0
	}
	d.rest = d.rest[size:]
	return n
}

func (d *decoder) varint() int64 {
	n := d.uvarint()
	return int64(n>>1) ^ -int64(n&1)
}

func (d *decoder) bytes() []byte { return d.take(d.uvarint()) }

// writeLog stores this function's changes under its revision.
func (t *txn) writeLog() error {
	return t.put(bLog, be64(uint64(t.rev)), encodeChanges(t.changes.list))
}

// trimLog removes the oldest revisions once there are a slice more than keep, so that a commit rarely touches the log's old end. It
// removes what is there, two slices at most: revisions are numbers in a file and may be any.
func (t *txn) trimLog(keep, slice uint64) error {
	oldest, _ := t.first(bLog, nil)
	newest := uint64(t.newest())
	if oldest == nil || newest-revOf(oldest) < keep+slice {
		return nil
	}
	var old [][]byte
	err := t.walk(bLog, nil, nil, func(k, _ []byte) bool {
		if revOf(k) > newest-keep || uint64(len(old)) == 2*slice {
			return false
		}
		old = append(old, append([]byte(nil), k...))
		return true
	})
	for i := 0; err == nil && i < len(old); i++ {
		err = t.del(bLog, old[i])
	}
	return err
}

// revOf reads a key of the log; one of another length, which nothing here writes, is 0.
func revOf(k []byte) uint64 {
	if len(k) != 8 {
		return 0
	}
	return binary.BigEndian.Uint64(k)
}

// Changes returns the revisions after from, oldest first (engine.md §7).
func (s *Store) Changes(ctx context.Context, from core.Rev, limit int) ([]core.Revision, error) {
	var out []core.Revision
	err := s.view(ctx, func(t *txn) error {
		var err error
		out, err = t.changesAfter(from, limit)
		return err
	})
	return out, err
}

func (t *txn) changesAfter(from core.Rev, limit int) ([]core.Revision, error) {
	if from == t.rev {
		return nil, nil
	}
	oldest, _ := t.first(bLog, nil)
	if from > t.rev || oldest == nil || uint64(from)+1 < revOf(oldest) {
		return nil, core.ErrGap
	}
	if limit <= 0 {
		return nil, nil
	}
	var out []core.Revision
	var bad error
	err := t.walk(bLog, nil, be64(uint64(from)+1), func(k, v []byte) bool {
		rev := core.Revision{Rev: core.Rev(revOf(k))}
		if rev.Changes, bad = decodeChanges(v); bad != nil {
			bad = damagedRecord("revision", "", bad)
			return false
		}
		out = append(out, rev)
		return len(out) < limit
	})
	if err == nil {
		err = bad
	}
	return out, err
}
