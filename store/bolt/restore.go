package bolt

import (
	"context"
	"io"
	"os"
	"path/filepath"

	"go.etcd.io/bbolt"

	"cordboard/core"
)

// Restore makes a store at o.Path or o.Dir from a backup, under a new epoch, so that a cursor of the old life is not taken for one of
// the new (engine.md §7). It examines the backup first and never writes over a store that is there.
func Restore(ctx context.Context, backup string, options Options) error {
	o, err := options.withDefaults()
	if err != nil {
		return err
	}
	if _, err := os.Lstat(o.Path); err == nil {
		return core.Errorf(core.CodeConflict, "there is something at %s already: move it away, a backup is never restored over it", o.Path)
	}
	report, err := Doctor(ctx, backup)
	if err != nil {
		return err
	}
	if !report.OK() {
		return core.Errorf(core.CodeStoreDamaged, "the backup %s is not restored: %s", backup, report.Findings[0].What)
	}
	if err := os.MkdirAll(filepath.Dir(o.Path), 0o700); err != nil {
		return core.Errorf(core.CodeStoreIO, "the data directory of %s cannot be made: %w", o.Path, err)
	}
	_, err = replaceWith(&o, func(temp *os.File) error {
		if err := copyFile(ctx, temp, backup); err != nil {
			return core.Errorf(core.CodeStoreIO, "the backup %s could not be copied: %w", backup, err)
		}
		return newLife(temp, &o)
	}, os.Link) // which fails when there is a store
	return err
}

func copyFile(ctx context.Context, to *os.File, from string) error {
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	_, err = io.Copy(&contextWriter{ctx: ctx, w: to}, f)
	return err
}

// newLife gives a copied store an epoch of its own and writes its freelist, so that it opens at once.
func newLife(temp *os.File, o *Options) error {
	db, err := bbolt.Open(temp.Name(), 0o600, &bbolt.Options{
		FreelistType: bbolt.FreelistMapType, OpenFile: func(string, int, os.FileMode) (*os.File, error) { return temp, nil },
	})
	if err == nil {
		err = db.Update(func(tx *bbolt.Tx) error { return tx.Bucket(bucketNames[bMeta]).Put(metaEpoch, []byte(o.NewEpoch())) })
		if closed := db.Close(); err == nil {
			err = closed
		}
	}
	if err != nil {
		return core.Errorf(core.CodeStoreIO, "the restored store %s could not be written: %w", o.Path, err)
	}
	return nil
}
