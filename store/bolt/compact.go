package bolt

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"go.etcd.io/bbolt"

	"cordboard/core"
)

// Compacted tells what Compact did, in bytes of the file.
type Compacted struct {
	Before int64 `json:"before"`
	After  int64 `json:"after"` // Before when the copy was no smaller: then the file was left alone
}

// Compact writes a store anew without its free pages. The source is opened for reading, so nobody writes meanwhile and nothing can
// grow it; the copy is made beside it with mode 0600, examined, counted against the source and made durable, and only then renamed
// over it. Whatever fails before that, and a copy that is no smaller, leaves the source as it is and removes the copy. progress (may be nil) is told the bytes copied
// and an upper bound of all. A store in use is store_locked; a damaged one is refused, since a copy would hide the damage.
func Compact(ctx context.Context, path string, progress func(done, all int64)) (Compacted, error) {
	o, err := Options{Path: path, ReadOnly: true, Timeout: toolTimeout}.withDefaults()
	if err != nil {
		return Compacted{}, err
	}
	if real, err := filepath.EvalSymlinks(o.Path); err == nil {
		o.Path = real // the file is replaced where it is, not the link to it
	}
	src, size, err := openWhole(&o)
	if err != nil {
		return Compacted{}, err
	}
	defer func() { _ = src.Close() }()
	c := &copier{ctx: ctx, all: size, progress: progress}
	var done Compacted
	err = guarded(o.Path, func() (err error) {
		done, err = c.compact(ctx, &o, src, size)
		return err
	})
	return done, err
}

func (c *copier) compact(ctx context.Context, o *Options, src *bbolt.DB, size int64) (Compacted, error) {
	after, err := replaceWith(o, func(temp *os.File) error {
		if err := c.copyTo(temp, src); err != nil {
			return core.Errorf(core.CodeStoreIO, "the compacted copy of %s could not be written, the store stays as it is: %w", o.Path, err)
		}
		c.tellAll()
		if err := c.verify(ctx, temp.Name()); err != nil {
			return err
		}
		return worthwhile(temp, size)
	}, os.Rename)
	if errors.Is(err, errNoGain) {
		return Compacted{Before: size, After: size}, nil
	}
	return Compacted{Before: size, After: after}, err
}

// errNoGain means that the copy is as large as the source: a young or full store has nothing to give back.
var errNoGain = errors.New("the copy is not smaller")

func worthwhile(temp *os.File, size int64) error {
	info, err := os.Stat(temp.Name())
	if err == nil && info.Size() >= size {
		err = errNoGain
	}
	return err
}

// openWhole opens a file for reading that has no damaged page.
func openWhole(o *Options) (*bbolt.DB, int64, error) {
	f, err := lockFile(o, false)
	if err != nil {
		return nil, 0, err
	}
	h, err := checkHeader(o.Path, f)
	if err == nil {
		err = checkPages(o.Path, f, &h, true)
	}
	if err != nil {
		_ = f.Close()
		return nil, 0, err
	}
	db, schema, err := openDB(f, o)
	if err == nil && schema != currentSchema(o.migrations) {
		_ = db.Close()
		err = core.Errorf(core.CodeReadOnly, "the store %s has the older schema %d: open it for writing once so that it is migrated", o.Path, schema)
	}
	return db, h.size, err
}

// replaceWith lets fill write a file beside the store and puts it into its place.
func replaceWith(o *Options, fill func(temp *os.File) error, place func(from, to string) error) (size int64, err error) {
	temp, err := os.CreateTemp(filepath.Dir(o.Path), filepath.Base(o.Path)+".new-*")
	if err != nil {
		return 0, core.Errorf(core.CodeStoreIO, "no file can be made beside %s: %w", o.Path, err)
	}
	name := temp.Name()
	defer func() {
		_ = temp.Close()
		_ = os.Remove(name) // gone already when it is in its place
	}()
	if err := fill(temp); err != nil {
		return 0, err
	}
	info, err := os.Stat(name)
	if err == nil {
		err = ownAs(name, o.Path)
	}
	if err == nil {
		err = place(name, o.Path)
	}
	if err != nil {
		return 0, core.Errorf(core.CodeStoreIO, "the new file could not be put into the place of %s: %w", o.Path, err)
	}
	return info.Size(), syncDir(filepath.Dir(o.Path))
}

// ownAs gives a new file the owner and mode of the one it replaces, so that root compacting a user's store does not lock him out.
func ownAs(name, path string) error {
	old, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := os.Chmod(name, old.Mode().Perm()); err != nil {
		return err
	}
	if stat, ok := old.Sys().(*syscall.Stat_t); ok && int(stat.Uid) != os.Geteuid() {
		return os.Chown(name, int(stat.Uid), int(stat.Gid))
	}
	return nil
}

// copier copies every table of a store, in key order, with pages filled for how the table grows.
type copier struct {
	ctx      context.Context
	all      int64
	done     int64
	progress func(done, all int64)
	counts   [bucketCount]int
	pending  int
}

const (
	copyStep   = 8 << 20 // bytes per transaction
	copyEvery  = 4096    // pairs between two looks at the context
	randomFill = 0.8     // tables that are written all over: room for a while
)

func (c *copier) copyTo(temp *os.File, src *bbolt.DB) error {
	dst, err := bbolt.Open(temp.Name(), 0o600, &bbolt.Options{
		FreelistType: bbolt.FreelistMapType, OpenFile: func(string, int, os.FileMode) (*os.File, error) { return temp, nil },
	})
	if err != nil {
		return err
	}
	dst.AllocSize = minGrow
	err = src.View(func(from *bbolt.Tx) error {
		to, err := dst.Begin(true)
		if err != nil {
			return err
		}
		defer func() { _ = to.Rollback() }()
		for id := range bucketCount {
			if to, err = c.table(dst, to, from, id); err != nil {
				return err
			}
		}
		return to.Commit()
	})
	if closed := dst.Close(); err == nil {
		err = closed
	}
	return err
}

// table copies one table, committing every few megabytes; it returns the transaction that goes on.
func (c *copier) table(dst *bbolt.DB, to, from *bbolt.Tx, id bucket) (*bbolt.Tx, error) {
	source := from.Bucket(bucketNames[id])
	b, err := to.CreateBucket(bucketNames[id])
	if err != nil {
		return to, err
	}
	if err := b.SetSequence(source.Sequence()); err != nil {
		return to, err
	}
	cursor := source.Cursor()
	for k, v := cursor.First(); k != nil; k, v = cursor.Next() {
		if c.skip(id, from, k) {
			continue
		}
		if c.pending >= copyStep {
			if err := to.Commit(); err != nil {
				return to, err
			}
			next, err := dst.Begin(true)
			if err != nil {
				return to, err
			}
			to, b, c.pending = next, next.Bucket(bucketNames[id]), 0
		}
		if b.FillPercent = randomFill; appendOnly[id] {
			b.FillPercent = appendFill
		}
		if err := b.Put(k, v); err != nil {
			return to, err
		}
		c.counts[id]++
		c.pending += len(k) + len(v)
		if err := c.tell(len(k) + len(v)); err != nil {
			return to, err
		}
	}
	return to, nil
}

// skip leaves out what deleted transcripts left, which the writer would have removed bit by bit.
func (c *copier) skip(id bucket, from *bbolt.Tx, k []byte) bool {
	return id == bPurge || id == bMsg && len(k) == 16 && from.Bucket(bucketNames[bPurge]).Get(k[:8]) != nil
}

func (c *copier) tell(n int) error {
	before := c.done / copyEvery
	if c.done += int64(n); c.done/copyEvery == before {
		return nil
	}
	if c.progress != nil {
		c.progress(min(c.done, c.all), c.all)
	}
	return c.ctx.Err()
}

func (c *copier) tellAll() {
	if c.progress != nil {
		c.progress(c.all, c.all)
	}
}

// verify examines the copy and counts its tables.
func (c *copier) verify(ctx context.Context, path string) error {
	report, err := Doctor(ctx, path)
	if err != nil {
		return err
	}
	if !report.OK() {
		return core.Errorf(core.CodeStoreDamaged, "the store is not compacted: its records do not hold together (%s); run doctor",
			report.Findings[0].What)
	}
	o, err := Options{Path: path, ReadOnly: true, Timeout: toolTimeout}.withDefaults()
	if err != nil {
		return err
	}
	db, _, err := openWhole(&o)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	return db.View(func(tx *bbolt.Tx) error {
		for id, want := range c.counts {
			got := 0
			cursor := tx.Bucket(bucketNames[id]).Cursor()
			for k, _ := cursor.First(); k != nil; k, _ = cursor.Next() {
				got++
			}
			if got != want {
				return core.Errorf(core.CodeStoreIO, "the compacted copy has %d of %d records in %q", got, want, bucketNames[id])
			}
		}
		return nil
	})
}
