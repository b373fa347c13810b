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
