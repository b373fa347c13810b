package engine_test

import (
	"context"
	"os"
	"path/filepath"

	"cordboard/core"
	"cordboard/store/bolt"
)

// copyStore writes a store's present state into another directory, where it can be opened as after a crash.
func copyStore(store core.Store, dir string) error {
	f, err := os.OpenFile(filepath.Join(dir, bolt.FileName), os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = store.Backup(context.Background(), f)
	return err
}
