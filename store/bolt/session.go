package bolt

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"

	"cordboard/core"
)

// maxRowBytes bounds the JSON of a row: bulk belongs into messages, runs and entries (engine.md §8).
const maxRowBytes = 4096

// Layout of a row: version, updatedAt, revision, session id with its length, JSON. Moving the index entry needs no decoding.
const rowVersion = 1

type rowHeader struct {
	updatedAt int64
	rev       core.Rev
	sessionID []byte // borrowed
}

func encodeRow(s *core.Session, rev core.Rev) ([]byte, error) {
	out := []byte{rowVersion}
	out = binary.BigEndian.AppendUint64(out, uint64(s.UpdatedAt))
	out = binary.BigEndian.AppendUint64(out, uint64(rev))
	out = binary.AppendUvarint(out, uint64(len(s.SessionID)))
	out = append(out, s.SessionID...)
	header := len(out)
	out, err := encode(out, s)
	if err == nil && len(out)-header > maxRowBytes {
		return nil, core.Errorf(core.CodeInvalidParams, "the row of session %q would have %d bytes; at most %d are stored: shorten its "+
			"label and display name", s.Key, len(out)-header, maxRowBytes)
	}
	return out, err
}

func splitRow(v []byte) (h rowHeader, row []byte, ok bool) {
	d := decoder{rest: v}
	ok = d.byte() == rowVersion
	h.updatedAt, h.rev, h.sessionID = int64(d.uint64()), core.Rev(d.uint64()), d.bytes()
	return h, d.rest, ok && d.err == nil
}

func decodeRow(key string, v []byte) (s core.Session, h rowHeader, err error) {
	h, row, ok := splitRow(v)
	if !ok {
		return s, h, damagedRecord("session", key, errShort)
	}
	if err = decode(row, "session", key, &s); err != nil {
		return s, h, err
	}
	return s, h, nil
}

// row looks a row up, decoded.
func (t *txn) row(key string) (s core.Session, h rowHeader, ok bool, err error) {
	v := t.get(bSession, []byte(key))
	if v == nil {
		return s, h, false, nil
	}
	s, h, err = decodeRow(key, v)
	return s, h, err == nil, err
}

// Session returns a row.
func (t *txn) Session(key string) (core.Session, bool, error) {
	s, _, ok, err := t.row(key)
	return s, ok, err
}

// Head returns a session's index entry; its strings are borrowed.
func (t *txn) Head(key string) (h core.Head, ok bool, err error) {
	v := t.get(bSession, []byte(key))
	if v == nil {
		return h, false, nil
	}
	row, _, ok := splitRow(v)
	if !ok {
		return h, false, damagedRecord("session", key, errShort)
	}
	k := indexKey(row.updatedAt, key)
	if !decodeHead(k, t.get(bUpdated, k), &h) {
		return core.Head{}, false, damagedRecord("head of session", key, errNoHead)
	}
	return h, true, nil
}

var errNoHead = errors.New("its index entry is missing or damaged")

// Heads walks the head index, newest first. Here and in every walk a damaged record is left out and told of at the end, so that one bad
// record does not hide the others.
func (t *txn) Heads(after core.HeadCursor, visit func(*core.Head) bool) error {
	var from []byte
	if after != (core.HeadCursor{}) {
		from = append(indexKey(after.UpdatedAt, after.Key), 0) // the first place behind that key
	}
	var h core.Head
	var bad error
	err := t.walk(bUpdated, nil, from, func(k, v []byte) bool {
		if !decodeHead(k, v, &h) {
			bad = cmp.Or(bad, damagedRecord("the head at", string(k), errNoHead))
			return true
		}
		return visit(&h)
	})
	return cmp.Or(err, bad)
}

// Children walks the keys of a session's children in key order.
func (t *txn) Children(parent string, visit func(string) bool) error {
	prefix := joined(parent, "")
	return t.walk(bParent, prefix, prefix, func(k, _ []byte) bool { return visit(borrow(k[len(prefix):])) })
}

// Entry returns an imported entry, borrowed.
func (t *txn) Entry(key string) (json.RawMessage, bool, error) {
	v := t.get(bEntry, []byte(key))
	return v, v != nil, nil
}

// PutSession writes a row and moves its head.
func (t *txn) PutSession(s core.Session) error {
	if err := checkKey(s.Key); err != nil {
		return err
	}
	if s.SessionID != "" {
		if err := checkID("session id", s.SessionID); err != nil {
			return err
		}
	}
	if s.SpawnedBy != "" {
		if err := checkText("spawning session's key", s.SpawnedBy, core.MaxKeyBytes); err != nil {
			return err
		}
	}
	row, err := encodeRow(&s, t.rev)
	if err != nil {
		return err
	}
	head, err := t.derive(&s, t.rev)
	if err != nil {
		return err
	}
	if err := t.dropIndexes(s.Key, &s); err != nil {
		return err
	}
	if err := t.put(bSession, []byte(s.Key), row); err != nil {
		return err
	}
	if s.SpawnedBy != "" {
		if err := t.put(bParent, joined(s.SpawnedBy, s.Key), []byte{}); err != nil {
			return err
		}
	}
	return t.putHead(&head)
}

// dropIndexes removes those index entries of a key's stored row that the next row does not have (nil: there is none), and counts rows.
func (t *txn) dropIndexes(key string, next *core.Session) error {
	old, header, ok, err := t.row(key)
	if err != nil {
		return err
	}
	if ok && (next == nil || header.updatedAt != next.UpdatedAt) {
		if err := t.del(bUpdated, indexKey(header.updatedAt, key)); err != nil {
			return err
		}
	}
	if ok && old.SpawnedBy != "" && (next == nil || old.SpawnedBy != next.SpawnedBy) {
		if err := t.del(bParent, joined(old.SpawnedBy, key)); err != nil {
			return err
		}
	}
	switch count := t.metaNumber(metaSessions); {
	case ok && next == nil:
		return t.setMetaNumber(metaSessions, count-1)
	case !ok && next != nil:
		return t.setMetaNumber(metaSessions, count+1)
	}
	return nil
}

// derive makes a row's head from the row, its current generation and its runs.
func (t *txn) derive(s *core.Session, rev core.Rev) (core.Head, error) {
	lastSeq, err := t.currentSeq(s)
	return deriveHead(s, rev, lastSeq, t.runState(s.Key)), err
}

func (t *txn) putHead(h *core.Head) error {
	t.changes.note(core.Change{Kind: core.ChangeSession, ID: h.Key})
	return t.put(bUpdated, indexKey(h.UpdatedAt, h.Key), encodeHead(h))
}

// refreshHead derives a session's head anew after one of its runs or its current generation moved.
func (t *txn) refreshHead(key string) error {
	s, header, ok, err := t.row(key)
	if err != nil || !ok {
		return err
	}
	h, err := t.derive(&s, header.rev)
	if err != nil {
		return err
	}
	if bytes.Equal(t.get(bUpdated, indexKey(h.UpdatedAt, key)), encodeHead(&h)) {
		return nil
	}
	return t.putHead(&h)
}

// DeleteSession removes the row, its head and its entry. What is not there is no error.
func (t *txn) DeleteSession(key string) error {
	if t.get(bEntry, []byte(key)) != nil {
		if err := t.del(bEntry, []byte(key)); err != nil {
			return err
		}
	}
	if t.get(bSession, []byte(key)) == nil {
		return nil
	}
	if err := t.dropIndexes(key, nil); err != nil {
		return err
	}
	t.changes.note(core.Change{Kind: core.ChangeSession, ID: key, Deleted: true})
	return t.del(bSession, []byte(key))
}

// PutEntry keeps an imported entry byte for byte.
func (t *txn) PutEntry(key string, entry json.RawMessage) error {
	if err := checkKey(key); err != nil {
		return err
	}
	if len(entry) == 0 {
		return core.Errorf(core.CodeInvalidParams, "the imported entry of session %q must not be empty", key)
	}
	t.changes.note(core.Change{Kind: core.ChangeSession, ID: key})
	return t.put(bEntry, []byte(key), entry)
}
