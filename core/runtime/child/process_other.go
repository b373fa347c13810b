//go:build !linux

package child

import "syscall"

// attributes put a child into a group of its own. Its owner's death is not told to it here.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// awaitExit cannot wait without reaping here.
func awaitExit(int) bool { return false }

// startOf is not told here.
func startOf(int) uint64 { return 0 }

// bootID is not told here.
func bootID() string { return "" }

// Kill kills nothing here: that the group is still the recorded one cannot be proved.
func (p Process) Kill() (killed bool, err error) { return false, nil }
