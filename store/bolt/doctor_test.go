package bolt_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"

	"cordboard/core"
	"cordboard/store/bolt"
)

func be(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

// first returns copies of the first pair of a table whose key holds a text.
func first(b *bbolt.Bucket, text string) (k, v []byte) {
	c := b.Cursor()
	for k, v = c.First(); k != nil && !strings.Contains(string(k), text); k, v = c.Next() {
	}
	return bytes.Clone(k), bytes.Clone(v)
}

// TestDoctorFinds plants one wrong thing each.
func TestDoctorFinds(t *testing.T) {
	const key = "agent:main:s0001"
	drop := func(text string) func(b *bbolt.Bucket) error {
		return func(b *bbolt.Bucket) error {
			k, _ := first(b, text)
			return b.Delete(k)
		}
	}
	put := func(k, v []byte) func(b *bbolt.Bucket) error {
		return func(b *bbolt.Bucket) error { return b.Put(k, v) }
	}
	flip := func(text string, at int) func(b *bbolt.Bucket) error {
		return func(b *bbolt.Bucket) error {
			k, v := first(b, text)
			v[at] ^= 1
			return b.Put(k, v)
		}
	}
	for name, c := range map[string]struct {
		table string
		harm  func(b *bbolt.Bucket) error
		says  string
	}{
		"a head is missing":          {"ix_updated", drop(key), `session "` + key + `" has no head`},
		"a head is old":              {"ix_updated", flip(key, 3), `the head of session "` + key + `" is not`},
		"a head too many":            {"ix_updated", put(append(be(5), key...), []byte{1}), "belongs to no row"},
		"a head without a key":       {"ix_updated", put([]byte("short"), []byte{1}), "no key"},
		"a row is gone":              {"session", drop(key), "belongs to no row"},
		"a row is cut":               {"session", put([]byte(key), []byte{1, 2}), "cannot be read"},
		"a row is not JSON":          {"session", put([]byte(key), append(make([]byte, 18), '{')), "cannot be read"},
		"a child is missing":         {"ix_parent", drop(key), "not among the children"},
		"a child too many":           {"ix_parent", put([]byte("p\x00"+key), []byte{}), "listed as a child"},
		"sessions are miscounted":    {"meta", put([]byte("sessions"), be(77)), "counts 77 sessions and has 3"},
		"the epoch is gone":          {"meta", drop("epoch"), "no epoch"},
		"a transcript is cut":        {"gen", put([]byte("t-"+key), []byte{1}), "cannot be read"},
		"a transcript is not listed": {"ix_gen", drop(key), "not among those of session"},
		"a transcript is listed":     {"ix_gen", put([]byte("x\x00t-"+key), []byte{}), "listed as a transcript"},
		"a message is gone":          {"msg", drop(""), "and its messages"},
		"a message is cut":           {"msg", func(b *bbolt.Bucket) error { k, _ := first(b, ""); return b.Put(k, []byte{1}) }, "message at"},
		"a message is an orphan":     {"msg", put(append(be(99), be(1)...), []byte{1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}), "belongs to no transcript"},
		"a run is cut":               {"run", put([]byte("live"), []byte{1}), "cannot be read"},
		"a run is under another id":  {"run", func(b *bbolt.Bucket) error { _, v := first(b, "live"); return b.Put([]byte("other"), v) }, "another name"},
		"a run is not in its place":  {"ix_run", drop(""), "not in its place among the runs"},
		"a place of a run too many":  {"ix_run", put([]byte("x\x00yyyyyyyyzzzzzzzz"), []byte("live")), `index "ix_run" has`},
		"a live run is not queued":   {"queue", drop(""), "not in its place in the queue"},
		"a queued run is not live":   {"live", drop(""), "not in its place in the queue"},
		"a live entry too many":      {"live", put(be(77), []byte("live")), `index "live" has 2`},
		"a revision is missing":      {"log", func(b *bbolt.Bucket) error { return b.Delete(be(2)) }, "from revision 1 to 3"},
		"a revision is cut":          {"log", put(be(2), []byte{0, 9}), "cannot be read"},
		"a due entry is cut":         {"due", put([]byte("x"), []byte{}), "due entry"},
		"an exchange is not JSON":    {"exch", put([]byte("x"), []byte("{")), `exchange "x"`},
		"an exchange is another's":   {"exch", put([]byte("x"), []byte(`{"exchangeId":"y"}`)), "another name"},
		"a delivery is not JSON":     {"dlv", put([]byte("x"), []byte("[]")), `delivery "x"`},
		"an audit entry is not JSON": {"audit", put(be(1), []byte("-")), "audit entry"},
		"a source file is not JSON":  {"srcfile", put([]byte("s\x00p"), []byte("-")), "source file"},
		"an answer is never swept":   {"ix_idem", drop("scope"), "never be swept"},
		"a sweep of nothing":         {"ix_idem", put(append(be(1), "gone"...), []byte{}), "not there"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := open(t, dir)
			fill(t, s, 3, 4)
			update(t, s, func(tx core.Tx) error {
				if err := tx.PutIdempotent("scope", core.Answer{At: 5}); err != nil {
					return err
				}
				return tx.PutRun(core.Run{ID: "live", SessionKey: key, State: core.RunQueued})
			})
			require.NoError(t, s.Close())
			requireSound(t, dir)

			good, err := os.ReadFile(file(dir))
			require.NoError(t, err)
			bad := boltFile(t, good, func(tx *bbolt.Tx) error { return c.harm(tx.Bucket([]byte(c.table))) })
			require.NoError(t, os.WriteFile(file(dir), bad, 0o600))
			report, err := bolt.Doctor(t.Context(), file(dir))
			require.NoError(t, err)
			requireFound(t, report, c.says)
			require.Equal(t, bad, must(os.ReadFile(file(dir))), "the doctor only looks")
		})
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func requireFound(t *testing.T, r bolt.Report, says string) {
	t.Helper()
	require.False(t, r.OK())
	var all []string
	for _, f := range r.Findings {
		require.NotEmpty(t, f.Do)
		all = append(all, f.What)
	}
	require.Contains(t, strings.Join(all, "\n"), says)
}

// TestDoctorPages is R198: a damaged page is reported with its number, and opening for writing does not go on over it.
func TestDoctorPages(t *testing.T) {
	dir := filled(t, 30, 30)
	data := must(os.ReadFile(file(dir)))
	for at := 2 * page; at+page <= len(data); at += page {
		if binary.NativeEndian.Uint16(data[at+8:]) == 2 && binary.NativeEndian.Uint64(data[at:]) == uint64(at/page) { // a leaf
			data[at+8] = 0x40
		}
	}
	require.NoError(t, os.WriteFile(file(dir), data, 0o600))
	report, err := bolt.Doctor(t.Context(), file(dir))
	require.NoError(t, err)
	requireFound(t, report, "page ")
	require.Contains(t, report.Findings[0].Do, "backup")
	requireRefused(t, file(dir), core.CodeStoreDamaged, "page ")
}

func TestDoctorCapsItsList(t *testing.T) {
	dir := filled(t, 200, 1)
	data := boltFile(t, must(os.ReadFile(file(dir))), func(tx *bbolt.Tx) error {
		if err := tx.DeleteBucket([]byte("ix_updated")); err != nil {
			return err
		}
		_, err := tx.CreateBucket([]byte("ix_updated"))
		return err
	})
	require.NoError(t, os.WriteFile(file(dir), data, 0o600))
	report, err := bolt.Doctor(t.Context(), file(dir))
	require.NoError(t, err)
	require.Len(t, report.Findings, 100)
	require.Equal(t, 100, report.More)
}

// A store whose records could not all be counted gets no counts: a figure that was not counted would be taken for one that was.
func TestDoctorTellsNoNumberItDidNotCount(t *testing.T) {
	dir := filled(t, 30, 20)
	good := must(os.ReadFile(file(dir)))
	whole, err := bolt.Doctor(t.Context(), file(dir))
	require.NoError(t, err)
	require.Equal(t, 30, whole.Sessions)
	for name, bad := range map[string][]byte{
		"pages overlaid":  append(bytes.Clone(good[:2*page]), bytes.Repeat([]byte{0xAA}, len(good)-2*page)...),
		"a missing table": without(t, good, "ix_parent"),
	} {
		require.NoError(t, os.WriteFile(file(dir), bad, 0o600))
		report, err := bolt.Doctor(t.Context(), file(dir))
		require.NoError(t, err, name)
		require.False(t, report.OK(), name)
		require.Nil(t, report.Contents, name)
		require.EqualValues(t, len(bad), report.Bytes, name)
		text := string(must(json.Marshal(report)))
		for _, figure := range []string{"sessions", "messages", "transcripts", "runs", "schema", "rev"} {
			require.NotContains(t, text, `"`+figure+`":`, name)
		}
		require.NotContains(t, report.Findings[0].What, "--restore", "%s: advice stands apart", name)
		require.Contains(t, report.Findings[0].Do, "cordboard doctor --restore FILE", name)
	}
}

// Who restores a backup that is no good is not told to restore a backup.
func TestBadBackups(t *testing.T) {
	source := filled(t, 30, 20)
	good := must(os.ReadFile(file(source)))
	for name, c := range map[string]struct {
		data []byte
		says string
	}{
		"empty":         {[]byte{}, "it is empty"},
		"a text":        {bytes.Repeat([]byte("not a store\n"), 1000), "it is no store"},
		"cut short":     {good[:len(good)/2], "it was cut short"},
		"overlaid":      {append(bytes.Clone(good[:2*page]), bytes.Repeat([]byte{0xAA}, len(good)-2*page)...), "page"},
		"another's":     {foreignBolt(t, "theirs"), "other program"},
		"missing":       {nil, "there is no backup at"},
		"a newer store": {newerSchema(t, good), "schema 1000"},
	} {
		t.Run(name, func(t *testing.T) {
			backup := filepath.Join(t.TempDir(), "copy.db")
			if c.data != nil {
				require.NoError(t, os.WriteFile(backup, c.data, 0o600))
			}
			dir := filepath.Join(t.TempDir(), "data")
			err := bolt.Restore(t.Context(), backup, bolt.Options{Dir: dir})
			require.ErrorContains(t, err, c.says)
			require.ErrorContains(t, err, backup)
			require.NotContains(t, err.Error(), "--restore")
			require.NoDirExists(t, dir)
		})
	}
	held := open(t, source)
	err := bolt.Restore(t.Context(), file(source), bolt.Options{Dir: t.TempDir()})
	require.ErrorContains(t, err, "a store in use, not a backup")
	require.NoError(t, held.Close())
}
