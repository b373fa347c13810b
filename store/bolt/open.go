package bolt

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"go.etcd.io/bbolt"

	"cordboard/core"
)

var metaApp = []byte("app")

const appName = "cordboard"

// Open opens the store, for writing makes and migrates it. A file that is in use, missing (for reading), empty, foreign, cut short,
// damaged or of a newer cordboard is a core.Error with a store code; such a file is left byte for byte as it was.
func Open(options Options) (*Store, error) {
	o, err := options.withDefaults()
	if err != nil {
		return nil, err
	}
	if o.ReadOnly {
		return openReader(o)
	}
	return openWriter(o)
}

func openWriter(o Options) (*Store, error) {
	if err := os.MkdirAll(filepath.Dir(o.Path), 0o700); err != nil {
		return nil, core.Errorf(core.CodeStoreIO, "the data directory of %s cannot be made: %w", o.Path, err)
	}
	if err := create(&o); err != nil {
		return nil, err
	}
	f, err := lockFile(&o, true)
	if err != nil {
		return nil, err
	}
	h, err := readHeader(f)
	if err != nil {
		_ = f.Close()
		return nil, core.Errorf(core.CodeStoreIO, "the store %s cannot be read: %w", o.Path, err)
	}
	db, schema, err := openDB(f, &o)
	if err != nil {
		return nil, err
	}
	if err := migrate(db, o.Path, schema, o.migrations); err != nil {
		_ = db.Close()
		return nil, err
	}
	removeLeftovers(&o)
	return startWriter(o, f, db, schema != currentSchema(o.migrations) || h.freelist == noFreelist)
}

// leftoverAge is how old a half-made copy beside the store must be to belong to nobody any more.
const leftoverAge = time.Hour

// removeLeftovers removes what a compact or restore that was killed left beside the store; they can be as large as it.
func removeLeftovers(o *Options) {
	names, err := filepath.Glob(filepath.Join(filepath.Dir(o.Path), filepath.Base(o.Path)+".new-*"))
	if err != nil {
		return // a data directory with signs of a pattern in its name: they stay
	}
	for _, name := range names {
		if info, err := os.Lstat(name); err == nil && info.Mode().IsRegular() && o.Now().Sub(info.ModTime()) > leftoverAge {
			_ = os.Remove(name)
		}
	}
}

// smallFile is the size up to which every page is looked at whenever the file is opened for writing; a larger file only after it was not
// closed cleanly, when bbolt reads it all anyway.
const smallFile = 64 << 20

// openDB checks a locked file and hands it to bbolt. It closes the file when it fails.
func openDB(f *os.File, o *Options) (db *bbolt.DB, schema int, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = damaged(o.Path, fmt.Errorf("%v", r))
		}
		if err != nil {
			_ = f.Close()
		}
	}()
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	h, err := checkHeader(o.Path, f)
	if err != nil {
		return nil, 0, err
	}
	all := !o.ReadOnly && (h.freelist == noFreelist || h.size <= smallFile)
	if err := checkPages(o.Path, f, &h, all); err != nil {
		return nil, 0, err
	}
	db, err = bbolt.Open(o.Path, 0o600, boltOptions(f, h.size, o))
	if err != nil {
		return nil, 0, core.Errorf(core.CodeStoreIO, "the store %s cannot be opened: %w", o.Path, err)
	}
	schema, err = readSchema(db, o)
	if err != nil {
		_ = db.Close()
	}
	return db, schema, err
}

func boltOptions(f *os.File, size int64, o *Options) *bbolt.Options {
	b := &bbolt.Options{
		ReadOnly:       o.ReadOnly,
		Timeout:        1, // the lock is ours already
		NoFreelistSync: true,
		FreelistType:   bbolt.FreelistMapType,
		OpenFile:       func(string, int, os.FileMode) (*os.File, error) { return f, nil },
	}
	if !o.ReadOnly {
		b.InitialMmapSize = int(max(minMap, 2*size))
	}
	return b
}

// minMap is mapped at least: while the file stays below it, growing never waits for readers. It costs address space only.
const minMap = 1 << 30

// readSchema makes sure that the file is ours and of a schema that this program knows.
func readSchema(db *bbolt.DB, o *Options) (schema int, err error) {
	err = db.View(func(tx *bbolt.Tx) error {
		meta := tx.Bucket(bucketNames[bMeta])
		if meta == nil || string(meta.Get(metaApp)) != appName || len(meta.Get(metaSchema)) != 8 {
			return foreign(o.Path, "is a bbolt file of some other program")
		}
		schema = int(binary.BigEndian.Uint64(meta.Get(metaSchema)))
		if err := checkSchema(o.Path, schema, o); err != nil {
			return err
		}
		for _, name := range bucketNames {
			if schema == currentSchema(o.migrations) && tx.Bucket(name) == nil {
				return damaged(o.Path, fmt.Errorf("table %q is missing", name))
			}
		}
		return nil
	})
	return schema, err
}

// create makes a new store when there is none. It is built beside its place and linked there whole, so that a crash leaves either no
// store or a good one, and of two processes that make one at the same time both go on with the same.
func create(o *Options) error {
	if _, err := os.Lstat(o.Path); !errors.Is(err, fs.ErrNotExist) {
		return nil // whatever it is, opening tells
	}
	temp, err := os.CreateTemp(filepath.Dir(o.Path), filepath.Base(o.Path)+".new-*")
	if err != nil {
		return core.Errorf(core.CodeStoreIO, "no store can be made at %s: %w", o.Path, err)
	}
	defer func() { _ = os.Remove(temp.Name()) }()
	if err := initialise(temp, o); err != nil {
		return core.Errorf(core.CodeStoreIO, "no store could be made at %s: %w", o.Path, err)
	}
	if err := os.Link(temp.Name(), o.Path); err != nil && !errors.Is(err, fs.ErrExist) {
		return core.Errorf(core.CodeStoreIO, "no store could be made at %s: %w", o.Path, err)
	}
	return syncDir(filepath.Dir(o.Path))
}

func initialise(f *os.File, o *Options) error {
	db, err := bbolt.Open(f.Name(), 0o600, &bbolt.Options{OpenFile: func(string, int, os.FileMode) (*os.File, error) { return f, nil }})
	if err != nil {
		return err
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		if err := createBuckets(tx); err != nil {
			return err
		}
		meta := tx.Bucket(bucketNames[bMeta])
		for name, value := range map[string][]byte{
			string(metaApp): []byte(appName), string(metaEpoch): []byte(o.NewEpoch()),
			string(metaSchema): be64(uint64(currentSchema(o.migrations))), string(metaSessions): be64(0), string(metaFree): be64(0),
		} {
			if err := meta.Put([]byte(name), value); err != nil {
				return err
			}
		}
		return nil
	})
	if closed := db.Close(); err == nil {
		err = closed
	}
	return err
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err == nil {
		err = d.Sync()
		_ = d.Close()
	}
	if err != nil {
		return fmt.Errorf("directory %s: %w", dir, core.Errorf(core.CodeStoreIO, "its entries could not be made durable: %w", err))
	}
	return nil
}
