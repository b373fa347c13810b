package main

import (
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// scratchDir is a directory that lives as long as a verb works in it. It holds a locked file, so that what a killed process left behind
// can be told from what another one works in: the kernel lets go of the lock whatever happens.
type scratchDir struct {
	path string
	lock *os.File
}

const scratchLock = "in-use"

// newScratch makes a directory below parent ("" = the system's), and removes those of the same prefix that nobody works in any more.
func newScratch(parent, prefix string) (*scratchDir, error) {
	if parent == "" {
		parent = os.TempDir()
	}
	removeLeftovers(parent, prefix)
	dir, err := os.MkdirTemp(parent, prefix)
	if err != nil {
		return nil, err
	}
	lock, err := lockNew(filepath.Join(dir, scratchLock))
	if err != nil {
		_ = os.RemoveAll(dir)
		return nil, err
	}
	return &scratchDir{dir, lock}, nil
}

// remove removes the directory and all that is in it.
func (s *scratchDir) remove() {
	_ = os.RemoveAll(s.path)
	_ = s.lock.Close()
}

// lockNew makes a locked file: it has its name only once it is locked.
func lockNew(path string) (*os.File, error) {
	f, err := os.Create(path + ".new")
	if err != nil {
		return nil, err
	}
	if err = tryFlock(f); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

func tryFlock(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) }

// removeLeftovers removes the scratch directories that are ours and whose lock nobody holds. Those without a lock file are left alone.
func removeLeftovers(parent, prefix string) {
	dirs, err := filepath.Glob(filepath.Join(parent, prefix+"*"))
	if err != nil {
		return
	}
	for _, dir := range dirs {
		if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
			continue
		}
		lock, err := os.OpenFile(filepath.Join(dir, scratchLock), os.O_RDWR|unix.O_NOFOLLOW, 0)
		if err != nil {
			continue // not made by us, or not ours to write
		}
		if tryFlock(lock) == nil {
			_ = os.RemoveAll(dir)
		}
		_ = lock.Close()
	}
}
