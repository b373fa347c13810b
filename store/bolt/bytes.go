package bolt

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math"
	"strings"
	"unicode/utf8"
	"unsafe"

	"cordboard/core"
)

// borrow returns b as a string without a copy: valid only as long as the transaction that b came from.
func borrow(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

func be64(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

// ascending maps a time to a number that sorts like it, negative ones included.
func ascending(at int64) uint64 { return uint64(at) ^ 1<<63 }

func fromAscending(n uint64) int64 { return int64(n ^ 1<<63) }

// descending maps a time to a number that sorts the other way round.
func descending(at int64) uint64 { return math.MaxUint64 - ascending(at) }

func fromDescending(n uint64) int64 { return fromAscending(math.MaxUint64 - n) }

// joined is a NUL b: no key holds a NUL, so the pairs of one a lie together.
func joined(a, b string) []byte {
	out := make([]byte, 0, len(a)+1+len(b))
	return append(append(append(out, a...), 0), b...)
}

// encode writes a record as compact JSON, `<` and `&` as they are.
func encode(prefix []byte, record any) ([]byte, error) {
	buf := bytes.NewBuffer(prefix)
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(record); err != nil {
		return nil, core.Errorf(core.CodeInvalidParams, "a %T cannot be stored: %w", record, err)
	}
	out := buf.Bytes()
	return out[:len(out)-1], nil // without the encoder's newline
}

func checkText(what, s string, limit int) error {
	switch {
	case s == "":
		return core.Errorf(core.CodeInvalidParams, "a %s must not be empty", what)
	case len(s) > limit:
		return core.Errorf(core.CodeInvalidParams, "the %s starting %.40q has %d bytes; at most %d are stored", what, s, len(s), limit)
	case strings.IndexByte(s, 0) >= 0:
		return core.Errorf(core.CodeInvalidParams, "the %s %.80q holds a NUL, which no key may", what, s)
	case !utf8.ValidString(s):
		return core.Errorf(core.CodeInvalidParams, "the %s %.80q is not UTF-8", what, s)
	}
	return nil
}

func checkKey(key string) error { return checkText("session key", key, core.MaxKeyBytes) }

// checkPath is checkText for names of files, which need not be UTF-8.
func checkPath(what, s string) error {
	if s == "" || len(s) > maxPathBytes || strings.IndexByte(s, 0) >= 0 {
		return core.Errorf(core.CodeInvalidParams, "the %s %.80q must have 1 to %d bytes and no NUL", what, s, maxPathBytes)
	}
	return nil
}

func checkID(what, id string) error { return checkText(what, id, core.MaxKeyBytes) }
