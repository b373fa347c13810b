package bolt

import (
	"cmp"
	"encoding/binary"
	"math"

	"cordboard/core"
)

// Layout of a generation: version, number, messages, tool results, first seq, last seq, bytes (8 bytes each), session key with its
// length, JSON of its facts. An append rewrites the numbers and copies the rest.
const genVersion = 1

type genHeader struct {
	number      uint64 // first part of its messages' keys
	messages    uint64
	toolResults uint64
	firstSeq    uint64
	lastSeq     uint64
	bytes       uint64
	key         []byte // borrowed
}

func (h *genHeader) append(out []byte) []byte {
	out = append(out, genVersion)
	for _, n := range [...]uint64{h.number, h.messages, h.toolResults, h.firstSeq, h.lastSeq, h.bytes} {
		out = binary.BigEndian.AppendUint64(out, n)
	}
	out = binary.AppendUvarint(out, uint64(len(h.key)))
	return append(out, h.key...)
}

func splitGen(id string, v []byte) (h genHeader, facts []byte, err error) {
	d := decoder{rest: v}
	ok := d.byte() == genVersion
	for _, n := range [...]*uint64{&h.number, &h.messages, &h.toolResults, &h.firstSeq, &h.lastSeq, &h.bytes} {
		*n = d.uint64()
	}
	h.key = d.bytes()
	if !ok || d.err != nil {
		return h, nil, damagedRecord("transcript", id, errShort)
	}
	return h, d.rest, nil
}

func decodeGen(id string, v []byte) (g core.Generation, err error) {
	h, facts, err := splitGen(id, v)
	if err != nil {
		return g, err
	}
	if err := decode(facts, "transcript", id, &g); err != nil {
		return g, err
	}
	g.Messages, g.ToolResults, g.Bytes = int(h.messages), int(h.toolResults), int64(h.bytes)
	g.FirstSeq, g.LastSeq = h.firstSeq, h.lastSeq
	return g, nil
}

// genHeaderOf looks a generation's numbers up. The rest of the value is its facts, borrowed.
func (t *txn) genHeaderOf(id string) (h genHeader, facts []byte, ok bool, err error) {
	v := t.get(bGen, []byte(id))
	if v == nil {
		return h, nil, false, nil
	}
	h, facts, err = splitGen(id, v)
	return h, facts, err == nil, err
}

// currentSeq is the last seq of a session's current generation, 0 when it has none of its own.
func (t *txn) currentSeq(s *core.Session) (uint64, error) {
	if s.SessionID == "" {
		return 0, nil
	}
	h, _, ok, err := t.genHeaderOf(s.SessionID)
	if err != nil || !ok || string(h.key) != s.Key {
		return 0, err
	}
	return h.lastSeq, nil
}

// Generation returns a transcript's facts and counts.
func (t *txn) Generation(id string) (g core.Generation, ok bool, err error) {
	v := t.get(bGen, []byte(id))
	if v == nil {
		return g, false, nil
	}
	g, err = decodeGen(id, v)
	return g, err == nil, err
}

// Generations walks a session's transcripts by id.
func (t *txn) Generations(key string, visit func(*core.Generation) bool) error {
	prefix := joined(key, "")
	var bad error
	err := t.walk(bGenKey, prefix, prefix, func(k, _ []byte) bool {
		id := string(k[len(prefix):])
		g, ok, err := t.Generation(id)
		if err == nil && !ok {
			err = damagedRecord("transcript", id, errNoRecord)
		}
		if err != nil {
			bad = cmp.Or(bad, err)
			return true
		}
		return visit(&g)
	})
	return cmp.Or(err, bad)
}

// AllGenerations walks every transcript by id.
func (t *txn) AllGenerations(after string, visit func(*core.Generation) bool) error {
	var bad error
	err := t.walk(bGen, nil, append([]byte(after), 0), func(k, v []byte) bool {
		g, err := decodeGen(string(k), v)
		if err != nil {
			bad = cmp.Or(bad, err)
			return true
		}
		return visit(&g)
	})
	return cmp.Or(err, bad)
}

// PutGeneration writes a transcript's facts; its numbers stay the store's.
func (t *txn) PutGeneration(g core.Generation) error {
	if err := checkID("transcript id", g.ID); err != nil {
		return err
	}
	if g.Key != "" {
		if err := checkKey(g.Key); err != nil {
			return err
		}
	}
	h, _, known, err := t.genHeaderOf(g.ID)
	if err != nil {
		return err
	}
	oldKey := string(h.key)
	if !known {
		if h.number, err = t.nextNumber(bGen); err != nil {
			return err
		}
	}
	if err := t.moveGenKey(g.ID, oldKey, g.Key); err != nil {
		return err
	}
	g.Messages, g.ToolResults, g.FirstSeq, g.LastSeq, g.Bytes = 0, 0, 0, 0, 0 // kept in the header only
	h.key = []byte(g.Key)
	value, err := encode(h.append(nil), &g)
	if err != nil {
		return err
	}
	if err := t.put(bGen, []byte(g.ID), value); err != nil {
		return err
	}
	t.changes.note(core.Change{Kind: core.ChangeGeneration, ID: g.ID})
	return t.refreshCurrent(g.ID, oldKey, g.Key)
}

func (t *txn) moveGenKey(id, from, to string) error {
	if from != "" && from != to {
		if err := t.del(bGenKey, joined(from, id)); err != nil {
			return err
		}
	}
	if to == "" {
		return nil
	}
	return t.put(bGenKey, joined(to, id), []byte{})
}

// refreshCurrent derives the heads of those of the sessions anew whose current generation is id.
func (t *txn) refreshCurrent(id string, keys ...string) error {
	for i, key := range keys {
		if key == "" || i > 0 && key == keys[0] {
			continue
		}
		row, _, ok := splitRow(t.get(bSession, []byte(key)))
		if !ok || string(row.sessionID) != id {
			continue
		}
		if err := t.refreshHead(key); err != nil {
			return err
		}
	}
	return nil
}

// inlineDelete is the number of messages that are removed in the transaction that deletes their transcript; the rest goes in slices
// behind later commits, so that no transaction gets long.
const inlineDelete = 1000

// DeleteGeneration removes a transcript with its messages. What is not there is no error.
func (t *txn) DeleteGeneration(id string) error {
	h, _, ok, err := t.genHeaderOf(id)
	if err != nil || !ok {
		return err
	}
	key := string(h.key)
	if key != "" {
		if err := t.del(bGenKey, joined(key, id)); err != nil {
			return err
		}
	}
	if err := t.del(bGen, []byte(id)); err != nil {
		return err
	}
	left, err := t.purge(h.number, inlineDelete)
	if err != nil {
		return err
	}
	if left {
		if err := t.put(bPurge, be64(h.number), []byte{}); err != nil {
			return err
		}
	}
	t.changes.note(core.Change{Kind: core.ChangeGeneration, ID: id, Deleted: true})
	return t.refreshCurrent(id, key)
}

// purge removes up to limit messages of a generation number and reports whether there are more.
func (t *txn) purge(number uint64, limit int) (more bool, err error) {
	prefix := be64(number)
	keys := make([]byte, 0, 16*min(limit, 64))
	err = t.walk(bMsg, prefix, prefix, func(k, _ []byte) bool {
		more = len(keys) == 16*limit
		if !more {
			keys = append(keys, k...)
		}
		return !more
	})
	for ; err == nil && len(keys) > 0; keys = keys[16:] {
		err = t.del(bMsg, keys[:16])
	}
	return more, err
}

func messageKey(number, seq uint64) []byte {
	out := binary.BigEndian.AppendUint64(make([]byte, 0, 16), number)
	return binary.BigEndian.AppendUint64(out, seq)
}

// Messages walks a range of a transcript; what it visits is borrowed. A transcript that is not there has no messages.
func (t *txn) Messages(generation string, r core.SeqRange, visit func(*core.Message) bool) error {
	h, _, ok, err := t.genHeaderOf(generation)
	if err != nil || !ok {
		return err
	}
	var m core.Message
	var bad error
	step := func(k, v []byte) bool {
		if err := decodeMessage(k, v, &m); err != nil {
			bad = cmp.Or(bad, damagedRecord("a message of transcript", generation, err))
			return true
		}
		if outside(m.Seq, r) {
			return false
		}
		return visit(&m)
	}
	prefix := be64(h.number)
	switch {
	case r.Backward && r.Before == 0:
		err = t.walkBack(bMsg, prefix, be64(h.number+1), step)
	case r.Backward:
		err = t.walkBack(bMsg, prefix, messageKey(h.number, r.Before), step)
	case r.After < math.MaxUint64:
		err = t.walk(bMsg, prefix, messageKey(h.number, r.After+1), step)
	}
	return cmp.Or(err, bad)
}

func outside(seq uint64, r core.SeqRange) bool {
	return seq <= r.After || r.Before != 0 && seq >= r.Before
}

// Append adds messages to the end of a transcript. Seqs that are given must go up from the last one.
func (t *txn) Append(generation string, messages ...core.Message) (first, last uint64, err error) {
	h, facts, ok, err := t.genHeaderOf(generation)
	if err != nil {
		return 0, 0, err
	}
	if !ok {
		return 0, 0, core.Errorf(core.CodeNotFound, "there is no transcript %q to append to", generation)
	}
	if len(messages) == 0 {
		return 0, 0, nil
	}
	for i := range messages {
		m := &messages[i]
		seq, err := nextSeq(generation, h.lastSeq, m.Seq)
		if err != nil {
			return 0, 0, err
		}
		if err := t.put(bMsg, messageKey(h.number, seq), encodeMessage(m)); err != nil {
			return 0, 0, err
		}
		h.count(m, seq)
		if i == 0 {
			first = seq
		}
	}
	if err := t.put(bGen, []byte(generation), append(h.append(nil), facts...)); err != nil {
		return 0, 0, err
	}
	t.changes.note(core.Change{Kind: core.ChangeMessages, ID: generation, FirstSeq: first, LastSeq: h.lastSeq})
	return first, h.lastSeq, t.refreshCurrent(generation, string(h.key))
}

func nextSeq(generation string, last, asked uint64) (uint64, error) {
	switch {
	case last == math.MaxUint64:
		return 0, core.Errorf(core.CodeInvalidParams, "transcript %q is full: no seq follows %d", generation, last)
	case asked == 0:
		return last + 1, nil
	case asked <= last:
		return 0, core.Errorf(core.CodeInvalidParams, "seq %d cannot be appended to transcript %q: its last one is %d", asked, generation, last)
	}
	return asked, nil
}

// count adds a message to the numbers. Lines that are no messages take a seq and are counted by nothing.
func (h *genHeader) count(m *core.Message, seq uint64) {
	if h.firstSeq == 0 {
		h.firstSeq = seq
	}
	h.lastSeq = seq
	if m.Role == core.RoleEvent {
		return
	}
	h.messages++
	h.bytes += uint64(len(m.Raw))
	if m.Role == core.RoleToolResult {
		h.toolResults++
	}
}
