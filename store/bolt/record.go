package bolt

import (
	"cmp"
	"encoding/binary"
	"errors"
	"math"

	"cordboard/core"
)

var errNoRecord = errors.New("an index names it, but it is not there")

// record looks a JSON record up.
func record[T any](t *txn, id bucket, what, name string) (r T, ok bool, err error) {
	v := t.get(id, []byte(name))
	if v == nil {
		return r, false, nil
	}
	err = decode(v, what, name, &r)
	return r, err == nil, err
}

// records walks JSON records in key order.
func records[T any](t *txn, id bucket, what string, prefix, from []byte, visit func(k []byte, r *T) bool) error {
	var bad error
	err := t.walk(id, prefix, from, func(k, v []byte) bool {
		var r T
		if err := decode(v, what, string(k), &r); err != nil {
			bad = cmp.Or(bad, err)
			return true
		}
		return visit(k, &r)
	})
	return cmp.Or(err, bad)
}

// recordsBack walks JSON records against key order, from the last key before the given one.
func recordsBack[T any](t *txn, id bucket, what string, before []byte, visit func(k []byte, r *T) bool) error {
	var bad error
	err := t.walkBack(id, nil, before, func(k, v []byte) bool {
		var r T
		if err := decode(v, what, string(k), &r); err != nil {
			bad = cmp.Or(bad, err)
			return true
		}
		return visit(k, &r)
	})
	return cmp.Or(err, bad)
}

func (t *txn) putRecord(id bucket, key []byte, r any) error {
	value, err := encode(nil, r)
	if err != nil {
		return err
	}
	return t.put(id, key, value)
}

// Exchange returns an exchange.
func (t *txn) Exchange(id string) (core.Exchange, bool, error) {
	return record[core.Exchange](t, bExch, "exchange", id)
}

// Exchanges walks every exchange by id.
func (t *txn) Exchanges(visit func(*core.Exchange) bool) error {
	return records(t, bExch, "exchange", nil, nil, func(_ []byte, r *core.Exchange) bool { return visit(r) })
}

// PutExchange writes an exchange.
func (t *txn) PutExchange(x core.Exchange) error {
	if err := checkID("exchange id", x.ID); err != nil {
		return err
	}
	t.changes.note(core.Change{Kind: core.ChangeExchange, ID: x.ID})
	return t.putRecord(bExch, []byte(x.ID), &x)
}

// Delivery returns a delivery.
func (t *txn) Delivery(id string) (core.Delivery, bool, error) {
	return record[core.Delivery](t, bDlv, "delivery", id)
}

// Deliveries walks every delivery by id.
func (t *txn) Deliveries(visit func(*core.Delivery) bool) error {
	return records(t, bDlv, "delivery", nil, nil, func(_ []byte, r *core.Delivery) bool { return visit(r) })
}

// PutDelivery writes a delivery.
func (t *txn) PutDelivery(d core.Delivery) error {
	if err := checkID("delivery id", d.ID); err != nil {
		return err
	}
	t.changes.note(core.Change{Kind: core.ChangeDelivery, ID: d.ID})
	return t.putRecord(bDlv, []byte(d.ID), &d)
}

func dueKey(d core.Due) []byte {
	return append(binary.BigEndian.AppendUint64(nil, ascending(d.At)), joined(d.Kind, d.ID)...)
}

// Due walks what is due, soonest first.
func (t *txn) Due(until int64, visit func(core.Due) bool) error {
	var bad error
	err := t.walk(bDue, nil, nil, func(k, _ []byte) bool {
		d, ok := decodeDue(k)
		if !ok {
			bad = cmp.Or(bad, damagedRecord("due entry", string(k), errShort))
			return true
		}
		return d.At <= until && visit(d)
	})
	return cmp.Or(err, bad)
}

func decodeDue(k []byte) (core.Due, bool) {
	if len(k) < 9 {
		return core.Due{}, false
	}
	for i, b := range k[8:] {
		if b == 0 {
			return core.Due{
				At: fromAscending(binary.BigEndian.Uint64(k)), Kind: string(k[8 : 8+i]), ID: string(k[8+i+1:]),
			}, true
		}
	}
	return core.Due{}, false
}

// PutDue notes something to do.
func (t *txn) PutDue(d core.Due) error {
	if err := checkText("kind of a due entry", d.Kind, core.MaxKeyBytes); err != nil {
		return err
	}
	if err := checkText("id of a due entry", d.ID, 2*core.MaxKeyBytes); err != nil {
		return err
	}
	return t.put(bDue, dueKey(d), []byte{})
}

// DeleteDue removes one entry. What is not there is no error.
func (t *txn) DeleteDue(d core.Due) error {
	if t.get(bDue, dueKey(d)) == nil {
		return nil
	}
	return t.del(bDue, dueKey(d))
}

const (
	maxScopeBytes = 4096
	answerKept    = 24 * 60 * 60 * 1000 // ms (engine.md §1)
	answersSwept  = 4                   // old answers removed per new one: sweeping keeps up and no transaction gets long
)

// Idempotent returns what a command answered.
func (t *txn) Idempotent(scope string) (a core.Answer, ok bool, err error) {
	v := t.get(bIdem, []byte(scope))
	if v == nil {
		return a, false, nil
	}
	d := decoder{rest: v}
	a.At, a.Hash = int64(d.uint64()), string(d.bytes())
	if d.err != nil {
		return core.Answer{}, false, damagedRecord("answer", scope, d.err)
	}
	a.Body = append(a.Body, d.rest...)
	return a, true, nil
}

// PutIdempotent keeps an answer byte for byte, and sweeps answers that are more than a day older than it.
func (t *txn) PutIdempotent(scope string, a core.Answer) error {
	if scope == "" || len(scope) > maxScopeBytes {
		return core.Errorf(core.CodeInvalidParams, "an idempotency scope has 1 to %d bytes, not %d", maxScopeBytes, len(scope))
	}
	if err := t.dropAnswer([]byte(scope)); err != nil {
		return err
	}
	if err := t.sweepAnswers(a.At - answerKept); err != nil {
		return err
	}
	value := binary.BigEndian.AppendUint64(nil, uint64(a.At))
	value = binary.AppendUvarint(value, uint64(len(a.Hash)))
	value = append(append(value, a.Hash...), a.Body...)
	if err := t.put(bIdem, []byte(scope), value); err != nil {
		return err
	}
	return t.put(bIdemAt, answerKey(a.At, []byte(scope)), []byte{})
}

func answerKey(at int64, scope []byte) []byte {
	return append(binary.BigEndian.AppendUint64(nil, ascending(at)), scope...)
}

func (t *txn) dropAnswer(scope []byte) error {
	v := t.get(bIdem, scope)
	if len(v) < 8 {
		return nil
	}
	if err := t.del(bIdemAt, answerKey(int64(binary.BigEndian.Uint64(v)), scope)); err != nil {
		return err
	}
	return t.del(bIdem, scope)
}

func (t *txn) sweepAnswers(before int64) error {
	for range answersSwept {
		k, _ := t.first(bIdemAt, nil)
		if len(k) < 8 || fromAscending(binary.BigEndian.Uint64(k)) >= before {
			return nil
		}
		if err := t.dropAnswer(append([]byte(nil), k[8:]...)); err != nil {
			return err
		}
	}
	return nil
}

// Audit walks the commands of the revisions before a given one, newest first.
func (t *txn) Audit(before core.Rev, visit func(*core.AuditEntry) bool) error {
	if before == 0 {
		before = math.MaxUint64
	}
	return recordsBack(t, bAudit, "audit entry", be64(uint64(before)), func(_ []byte, r *core.AuditEntry) bool { return visit(r) })
}

// AddAudit records a command.
func (t *txn) AddAudit(e core.AuditEntry) error {
	e.Rev = t.rev
	t.audits++
	return t.putRecord(bAudit, binary.BigEndian.AppendUint32(be64(uint64(t.rev)), t.audits), &e)
}

// SourceFile returns how far a file of a source was read.
func (t *txn) SourceFile(source, path string) (core.SourceFile, bool, error) {
	f, ok, err := record[core.SourceFile](t, bSource, "source file", string(joined(source, path)))
	if ok {
		f.Source, f.Path = source, path // JSON cannot hold a name that is not UTF-8
	}
	return f, ok, err
}

// SourceFiles walks a source's files by path.
func (t *txn) SourceFiles(source string, visit func(*core.SourceFile) bool) error {
	prefix := joined(source, "")
	return records(t, bSource, "source file", prefix, prefix, func(k []byte, f *core.SourceFile) bool {
		f.Source, f.Path = source, string(k[len(prefix):])
		return visit(f)
	})
}

const maxPathBytes = 4096 // what the kernel takes

// PutSourceFile remembers how far a file was read.
func (t *txn) PutSourceFile(f core.SourceFile) error {
	if err := checkPath("source directory", f.Source); err != nil {
		return err
	}
	if err := checkPath("path of a source's file", f.Path); err != nil {
		return err
	}
	return t.putRecord(bSource, joined(f.Source, f.Path), &f)
}
