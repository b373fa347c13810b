package bolt

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"cordboard/core"
)

// Locks are the kernel's (flock), so nothing is left over when a process dies. A writer holds the file exclusively, a reader shared
// while it reads. A writer that waits also locks the directory: readers that come later see this and let it go first, so that a
// console that reads all the time cannot starve it.

const lockPoll = 10 * time.Millisecond

// errBusy means that the lock was not to be had at this moment.
var errBusy = errors.New("locked")

// lockFile opens a file of a store and locks it, for writing or reading, waiting up to the timeout.
func lockFile(o *Options, write bool) (*os.File, error) {
	deadline := time.Now().Add(o.Timeout)
	var intent *os.File
	defer func() {
		if intent != nil {
			_ = intent.Close()
		}
	}()
	for {
		if intent == nil && write {
			intent = tryIntent(o.Path)
		}
		f, err := tryLock(o.Path, write)
		if !errors.Is(err, errBusy) {
			return f, err
		}
		if !time.Now().Before(deadline) {
			return nil, lockedError(o.Path)
		}
		<-o.after(lockPoll)
	}
}

// tryLock is one try; errBusy when another process holds the file.
func tryLock(path string, write bool) (*os.File, error) {
	flag, how := os.O_RDONLY, syscall.LOCK_SH
	if write {
		flag, how = os.O_RDWR, syscall.LOCK_EX
	}
	f, err := openRegular(path, flag)
	if err != nil {
		return nil, err
	}
	err = flock(f, how)
	if err == nil && !stillAt(f, path) { // compact or restore put another file there while we waited
		err = errBusy
	}
	if err != nil {
		_ = f.Close()
		if errors.Is(err, errBusy) {
			return nil, err
		}
		return nil, core.Errorf(core.CodeStoreIO, "the store %s cannot be locked on this file system: %w", path, err)
	}
	return f, nil
}

func openRegular(path string, flag int) (*os.File, error) {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		return nil, core.Errorf(core.CodeStoreForeign, "%s is not a regular file (%s), so it is no store: name another data directory", path,
			info.Mode().Type())
	}
	var f *os.File
	if err == nil {
		f, err = os.OpenFile(path, flag, 0)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, core.Errorf(core.CodeStoreMissing, "there is no store at %s: name the data directory that has one with --data, or "+
			"make one with `cordboard import DIR`", path)
	case err != nil:
		return nil, core.Errorf(core.CodeStoreIO, "the store %s cannot be opened: %w", path, err)
	}
	return f, nil
}

func flock(f *os.File, how int) error {
	for {
		err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.EWOULDBLOCK):
			return errBusy
		}
		return err
	}
}

func stillAt(f *os.File, path string) bool {
	held, err := f.Stat()
	if err != nil {
		return false
	}
	now, err := os.Stat(path)
	return err == nil && os.SameFile(held, now)
}

// tryIntent tells readers that a writer waits. It is a courtesy: where directories cannot be locked the writer waits without.
func tryIntent(path string) *os.File {
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return nil
	}
	if flock(dir, syscall.LOCK_EX) != nil {
		_ = dir.Close()
		return nil
	}
	return dir
}

func writerWaits(path string) bool {
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return false
	}
	defer func() { _ = dir.Close() }()
	return errors.Is(flock(dir, syscall.LOCK_SH), errBusy)
}

func lockedError(path string) error {
	who := ""
	if pid := lockHolder(path); pid > 0 {
		who = fmt.Sprintf(" (pid %d)", pid)
	}
	return core.Errorf(core.CodeStoreLocked, "the store %s is in use by another process%s, an import perhaps: wait for its end, or end it", path, who)
}

// lockHolder is the process that the kernel lists as holding the file, 0 when it does not tell or names several.
func lockHolder(path string) int {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	list, err := os.ReadFile("/proc/locks")
	if err != nil || !ok {
		return 0
	}
	holder := 0
	for line := range bytes.Lines(list) {
		f := bytes.Fields(line) // 1: FLOCK ADVISORY WRITE 4711 fe:00:1234 0 EOF
		if len(f) < 6 || string(f[1]) != "FLOCK" || !bytes.HasSuffix(f[5], []byte(":"+strconv.FormatUint(stat.Ino, 10))) {
			continue
		}
		pid, err := strconv.Atoi(string(f[4]))
		if err != nil || holder != 0 && holder != pid {
			return 0
		}
		holder = pid
	}
	return holder
}

// Held reports whether a process has the store at dir open for writing, and its pid when the system tells. A store that is not there is
// held by nobody.
func Held(dir string) (held bool, pid int, err error) {
	path := filepath.Join(dir, FileName)
	f, err := tryLock(path, false)
	switch {
	case err == nil:
		return false, 0, f.Close()
	case errors.Is(err, errBusy):
		return true, lockHolder(path), nil
	case core.CodeOf(err) == core.CodeStoreMissing:
		return false, 0, nil
	}
	return false, 0, err
}
