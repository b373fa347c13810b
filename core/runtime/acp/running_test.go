package acp_test

import "syscall"

// running reports whether anybody of a process group lives.
func running(pgid int) bool { return syscall.Kill(-pgid, 0) == nil }
