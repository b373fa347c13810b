package bolt

import (
	"context"
	"errors"
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
	if err := checkBackup(ctx, backup); err != nil {
		return err
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

// checkBackup refuses a backup that is not whole, in words about backups: there is nothing to restore in its place.
func checkBackup(ctx context.Context, backup string) error {
	const other = "name another one, written by `cordboard backup`"
	report, err := Doctor(ctx, backup)
	refused, _ := errors.AsType[*core.Error](err)
	switch {
	case err == nil && report.OK():
		return nil
	case err == nil:
		return core.Errorf(core.CodeStoreDamaged, "the backup %s is not restored (%s): "+other, backup, report.Findings[0].What)
	case refused == nil || refused.Code == core.CodeStoreIO:
		return err
	case refused.Code == core.CodeStoreMissing:
		return core.Errorf(refused.Code, "there is no backup at %s: "+other, backup)
	case refused.Code == core.CodeStoreLocked:
		return core.Errorf(refused.Code, "%s is a store in use, not a backup: "+other, backup)
	case refused.Err != nil:
		return core.Errorf(refused.Code, "the backup %s is not restored, it %w: "+other, backup, refused.Err)
	}
	return core.Errorf(refused.Code, "the backup %s is not restored: %w", backup, err)
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
