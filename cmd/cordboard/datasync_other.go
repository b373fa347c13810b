//go:build !linux

package main

import "os"

// datasync has the disk take what was written to a file; not every system can leave out its times.
func datasync(f *os.File) error { return f.Sync() }
