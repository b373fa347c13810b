package bolt

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"runtime/debug"

	"go.etcd.io/bbolt"

	"cordboard/core"
)

// txn is what one View or Update function works with: a bbolt transaction and, for a writer, what it changed so far. Several writing
// functions share one bbolt transaction, one after the other.
type txn struct {
	ctx     context.Context
	tx      *bbolt.Tx
	buckets [bucketCount]*bbolt.Bucket
	rev     core.Rev // of the snapshot; for a writer the one its writes take
	inStore bool     // bbolt is at work: a panic now is a fault of the file, not of the function
	walking int      // walks under way: a write now would make them skip or repeat
	wrote   bool
	audits  uint32
	changes changeSet
}

var (
	_ core.Reader = (*txn)(nil)
	_ core.Tx     = (*txn)(nil)
)

// Rev is the revision of the snapshot; in an Update function the one that its writes will carry.
func (t *txn) Rev() core.Rev { return t.rev }

// bucket returns a table. Its absence is damage: open made them all, or told of an older schema that is only read (see has).
func (t *txn) bucket(id bucket) *bbolt.Bucket {
	if t.tx == nil {
		panic("a store Reader was used after its function had returned")
	}
	if t.buckets[id] == nil {
		b := t.tx.Bucket(bucketNames[id])
		if b == nil {
			panic(fmt.Sprintf("table %q is missing", bucketNames[id]))
		}
		if appendOnly[id] {
			b.FillPercent = appendFill
		}
		t.buckets[id] = b
	}
	return t.buckets[id]
}

// has reports whether a table is there that stores of an older schema lack: one that is only read was not migrated.
func (t *txn) has(id bucket) bool { return t.tx != nil && t.tx.Bucket(bucketNames[id]) != nil }

func (t *txn) get(id bucket, key []byte) []byte {
	t.inStore = true
	v := t.bucket(id).Get(key)
	t.inStore = false
	return v
}

func (t *txn) put(id bucket, key, value []byte) error {
	if t.walking > 0 {
		return errWriteInWalk
	}
	t.inStore, t.wrote = true, true
	err := t.bucket(id).Put(key, value)
	t.inStore = false
	return err
}

func (t *txn) del(id bucket, key []byte) error {
	if t.walking > 0 {
		return errWriteInWalk
	}
	t.inStore, t.wrote = true, true
	err := t.bucket(id).Delete(key)
	t.inStore = false
	return err
}

var errWriteInWalk = core.Errorf(core.CodeInternal, "a store function wrote inside a visit function: collect first, write after the walk")

func (t *txn) nextNumber(id bucket) (uint64, error) {
	t.inStore, t.wrote = true, true
	n, err := t.bucket(id).NextSequence()
	t.inStore = false
	return n, err
}

// walk visits the pairs whose key begins with prefix, from the first key ≥ from, until fn returns false.
func (t *txn) walk(id bucket, prefix, from []byte, fn func(k, v []byte) bool) error {
	start := func(c *bbolt.Cursor) ([]byte, []byte) { return c.Seek(from) }
	return t.each(id, prefix, start, (*bbolt.Cursor).Next, fn)
}

// walkBack visits the pairs whose key begins with prefix backwards, from the last key < before.
func (t *txn) walkBack(id bucket, prefix, before []byte, fn func(k, v []byte) bool) error {
	start := func(c *bbolt.Cursor) ([]byte, []byte) {
		if k, _ := c.Seek(before); k == nil {
			return c.Last()
		}
		return c.Prev()
	}
	return t.each(id, prefix, start, (*bbolt.Cursor).Prev, fn)
}

func (t *txn) each(id bucket, prefix []byte, start, next func(*bbolt.Cursor) ([]byte, []byte), fn func(k, v []byte) bool) error {
	t.walking++
	defer func() { t.walking-- }()
	t.inStore = true
	c := t.bucket(id).Cursor()
	k, v := start(c)
	t.inStore = false
	for n := 1; k != nil && bytes.HasPrefix(k, prefix); n++ {
		if !fn(k, v) {
			return nil
		}
		if n%cancelEvery == 0 && t.ctx.Err() != nil {
			return t.ctx.Err()
		}
		t.inStore = true
		k, v = next(c)
		t.inStore = false
	}
	return nil
}

// cancelEvery is the number of pairs a walk visits between two looks at its context.
const cancelEvery = 512

// first returns the first pair whose key begins with prefix.
func (t *txn) first(id bucket, prefix []byte) (k, v []byte) {
	t.inStore = true
	k, v = t.bucket(id).Cursor().Seek(prefix)
	t.inStore = false
	if !bytes.HasPrefix(k, prefix) {
		return nil, nil
	}
	return k, v
}

func (t *txn) last(id bucket) (k, v []byte) {
	t.inStore = true
	k, v = t.bucket(id).Cursor().Last()
	t.inStore = false
	return k, v
}

// newest is the revision of the last commit that this transaction sees.
func (t *txn) newest() core.Rev {
	k, _ := t.last(bLog)
	return core.Rev(revOf(k))
}

func (t *txn) metaNumber(name []byte) uint64 {
	if v := t.get(bMeta, name); len(v) == 8 {
		return binary.BigEndian.Uint64(v)
	}
	return 0
}

func (t *txn) setMetaNumber(name []byte, n uint64) error { return t.put(bMeta, name, be64(n)) }

// call runs a function of the caller and turns its panic into an error. finish is called whatever happens, runtime.Goexit included.
func (t *txn) call(fn func() error, finish func(error)) {
	done := false
	var err error
	defer func() {
		if r := recover(); r != nil {
			err = t.panicked(r)
		} else if !done {
			err = core.Errorf(core.CodeInternal, "a store function ended its goroutine instead of returning")
		}
		finish(err)
	}()
	err = fn()
	done = true
}

// panicked names a panic: bbolt's own, which means a damaged file, or one of the function.
func (t *txn) panicked(r any) error {
	cause := fmt.Errorf("%v\n%s", r, debug.Stack())
	if t.inStore {
		return &core.Error{Code: core.CodeStoreDamaged, Message: fmt.Sprintf("the store file is damaged (%v): run doctor", r), Err: cause}
	}
	return &core.Error{Code: core.CodeInternal, Message: fmt.Sprintf("a store function panicked: %v", r), Err: cause}
}

// decode reads a record's JSON.
func decode(data []byte, what, id string, into any) error {
	if err := json.Unmarshal(data, into); err != nil {
		return damagedRecord(what, id, err)
	}
	return nil
}

func damagedRecord(what, id string, err error) error {
	return core.Errorf(core.CodeStoreDamaged, "%s %q in the store cannot be read (run doctor): %w", what, id, err)
}
