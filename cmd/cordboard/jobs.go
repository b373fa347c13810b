package main

import (
	"bytes"
	"context"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"cordboard/core/host"
)

// suspending is why a console on this host cannot be suspended now, "" when it can: a stop stops the whole process, and with it what runs in
// it (gateway.md §1).
func suspending(h *host.Host) func() string {
	alone := noSuspend()
	return func() string {
		runs, clients := h.Busy(context.Background())
		switch {
		case alone != "":
			return alone
		case runs > 0:
			return counted(runs, "run") + " would stand still: agents run in this process"
		case clients > 0:
			return counted(clients, "client") + " would get no answer: the store's owner is this process"
		}
		return ""
	}
}

// noSuspend is why the console cannot be suspended, "" when it can: a process that nobody in its session waits for is not stopped by
// SIGTSTP, and nobody could bring it back (setpgid(2), orphaned process groups). So it is where the console is all that runs in a tmux
// window or under ssh.
func noSuspend() string {
	group := unix.Getpgrp()
	session, err := unix.Getsid(0)
	if err != nil {
		return ""
	}
	for pid := os.Getppid(); ; {
		theirs, err := unix.Getpgid(pid)
		if err == nil && theirs == group {
			above, known := parentOf(pid)
			if !known {
				return ""
			}
			pid = above
			continue
		}
		if sid, err := unix.Getsid(pid); err != nil || sid != session {
			return "no shell waits here that could bring the console back"
		}
		return ""
	}
}

// parentOf is the parent of a process, where /proc tells it.
func parentOf(pid int) (int, bool) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, false
	}
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:])) // after the name: state, parent
	if len(fields) < 2 {
		return 0, false
	}
	parent, err := strconv.Atoi(fields[1])
	return parent, err == nil && parent > 0
}
