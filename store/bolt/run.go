package bolt

import (
	"cmp"
	"encoding/binary"
	"math"

	"cordboard/core"
)

// Layout of a run: version, queue number, JSON. The queue number is given at the first put and orders what waits.
const runVersion = 1

func splitRun(id string, v []byte) (number uint64, record []byte, err error) {
	d := decoder{rest: v}
	ok := d.byte() == runVersion
	number = d.uint64()
	if !ok || d.err != nil {
		return 0, nil, damagedRecord("run", id, errShort)
	}
	return number, d.rest, nil
}

func decodeRun(id string, v []byte) (r core.Run, number uint64, err error) {
	number, record, err := splitRun(id, v)
	if err == nil {
		err = decode(record, "run", id, &r)
	}
	return r, number, err
}

func (t *txn) runOf(id string) (r core.Run, number uint64, ok bool, err error) {
	v := t.get(bRun, []byte(id))
	if v == nil {
		return r, 0, false, nil
	}
	r, number, err = decodeRun(id, v)
	return r, number, err == nil, err
}

// Run returns a run.
func (t *txn) Run(id string) (core.Run, bool, error) {
	r, _, ok, err := t.runOf(id)
	return r, ok, err
}

// runTimeKey is a run's place in the list of its session, or of all when session is "": newest first.
func runTimeKey(session string, queuedAt int64, number uint64) []byte {
	out := binary.BigEndian.AppendUint64(joined(session, ""), descending(queuedAt))
	return binary.BigEndian.AppendUint64(out, math.MaxUint64-number)
}

func live(s core.RunState) bool { return s == core.RunQueued || s == core.RunRunning }

// queueKey is a live run's place in its session: the running one, then the queue.
func queueKey(r *core.Run, number uint64) []byte {
	return binary.BigEndian.AppendUint64(append(joined(r.SessionKey, ""), queueState(r.State)), number)
}

func queueState(s core.RunState) byte {
	if s == core.RunRunning {
		return 0
	}
	return 1
}

// runState is what a session's head shows: running before queued.
func (t *txn) runState(key string) core.RunState {
	prefix := joined(key, "")
	k, _ := t.first(bQueue, prefix)
	switch {
	case len(k) <= len(prefix):
		return ""
	case k[len(prefix)] == 0:
		return core.RunRunning
	}
	return core.RunQueued
}

// PutRun writes a run, its places and its session's head.
func (t *txn) PutRun(r core.Run) error {
	if err := checkID("run id", r.ID); err != nil {
		return err
	}
	if err := checkKey(r.SessionKey); err != nil {
		return err
	}
	old, number, known, err := t.runOf(r.ID)
	if err != nil {
		return err
	}
	if known {
		if err := t.dropRunIndexes(&old, number, &r); err != nil {
			return err
		}
	} else if number, err = t.nextNumber(bRun); err != nil {
		return err
	}
	value, err := encode(binary.BigEndian.AppendUint64([]byte{runVersion}, number), &r)
	if err != nil {
		return err
	}
	if err := t.put(bRun, []byte(r.ID), value); err != nil {
		return err
	}
	t.changes.note(core.Change{Kind: core.ChangeRun, ID: r.ID})
	if err := t.putRunIndexes(&r, number); err != nil {
		return err
	}
	if known && old.SessionKey != r.SessionKey {
		if err := t.refreshHead(old.SessionKey); err != nil {
			return err
		}
	}
	return t.refreshHead(r.SessionKey)
}

// dropRunIndexes removes those places of the old record that the next one does not have.
func (t *txn) dropRunIndexes(old *core.Run, number uint64, next *core.Run) error {
	moved := old.SessionKey != next.SessionKey
	if moved || old.QueuedAt != next.QueuedAt {
		for _, session := range [...]string{old.SessionKey, ""} {
			if err := t.del(bRunTime, runTimeKey(session, old.QueuedAt, number)); err != nil {
				return err
			}
		}
	}
	if live(old.State) && (moved || old.State != next.State) {
		if err := t.del(bQueue, queueKey(old, number)); err != nil {
			return err
		}
	}
	if live(old.State) && !live(next.State) {
		return t.del(bLive, be64(number))
	}
	return nil
}

func (t *txn) putRunIndexes(r *core.Run, number uint64) error {
	id := []byte(r.ID)
	for _, session := range [...]string{r.SessionKey, ""} {
		if err := t.putNew(bRunTime, runTimeKey(session, r.QueuedAt, number), id); err != nil {
			return err
		}
	}
	if !live(r.State) {
		return nil
	}
	if err := t.putNew(bLive, be64(number), id); err != nil {
		return err
	}
	return t.putNew(bQueue, queueKey(r, number), id)
}

// putNew puts an index entry that may be there already, in which case no page is touched.
func (t *txn) putNew(id bucket, key, value []byte) error {
	if t.get(id, key) != nil {
		return nil
	}
	return t.put(id, key, value)
}

// Runs walks a session's runs, or all when sessionKey is "", newest first.
func (t *txn) Runs(sessionKey string, visit func(*core.Run) bool) error {
	return t.walkRuns(bRunTime, joined(sessionKey, ""), visit)
}

// LiveRuns walks queued and running runs in the order in which they were first put.
func (t *txn) LiveRuns(visit func(*core.Run) bool) error { return t.walkRuns(bLive, nil, visit) }

func (t *txn) walkRuns(index bucket, prefix []byte, visit func(*core.Run) bool) error {
	var bad error
	err := t.walk(index, prefix, prefix, func(_, id []byte) bool {
		r, _, ok, err := t.runOf(string(id))
		if err == nil && !ok {
			err = damagedRecord("run", string(id), errNoRecord)
		}
		if err != nil {
			bad = cmp.Or(bad, err)
			return true
		}
		return visit(&r)
	})
	return cmp.Or(err, bad)
}
