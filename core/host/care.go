package host

import (
	"context"
	"path/filepath"

	"cordboard/store/bolt"
)

// DoctorReport is what Doctor saw.
type DoctorReport = bolt.Report

// Doctor examines the store of the options; it writes nothing and wants no one else to write meanwhile.
func Doctor(ctx context.Context, o Options) (DoctorReport, error) { return bolt.Doctor(ctx, o.file()) }

func (o Options) file() string { return filepath.Join(o.dir(), bolt.FileName) }

// Compacted tells what Compact did.
type Compacted = bolt.Compacted

// Compact writes the store anew without its free pages; see bolt.Compact.
func Compact(ctx context.Context, o Options, progress func(done, all int64)) (Compacted, error) {
	return bolt.Compact(ctx, o.file(), progress)
}

// Restore puts a backup in place of a store that is not there; it never overwrites one.
func Restore(ctx context.Context, o Options, backup string) error {
	return bolt.Restore(ctx, backup, bolt.Options{Dir: o.dir(), Timeout: o.LockWait})
}
