package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// datasync has the disk take what was written to a file.
func datasync(f *os.File) error { return unix.Fdatasync(int(f.Fd())) }
