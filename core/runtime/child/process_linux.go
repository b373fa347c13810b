package child

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// attributes put a child into a group of its own and kill it when its owner dies.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// awaitExit waits until a child has ended and leaves it to be reaped, so that its number cannot be another's yet. false = it could not.
func awaitExit(pid int) bool {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return err == nil
		}
	}
}

// startOf is Process.Start of a child that is not reaped.
func startOf(pid int) uint64 {
	s, _ := statOf(strconv.Itoa(pid)) // 0 where /proc is not to be read
	return s.start
}

// bootID names this start of the machine; "" where it is not told.
func bootID() string {
	id, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(id))
}

// Kill kills the group if a process in it is the recorded one: the command itself, by its start, or what it left behind, by the run in its
// environment. It reports whether there was one.
func (p Process) Kill() (killed bool, err error) {
	if p.PGID <= 1 || p.Boot != "" && p.Boot != bootID() {
		return false, nil // nobody's group, or one of before the machine was started anew
	}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return false, err
	}
	for _, entry := range entries {
		s, err := statOf(entry.Name())
		if err != nil || s.dead || s.group != p.PGID { // no process, or gone meanwhile
			continue
		}
		if entry.Name() == strconv.Itoa(p.PGID) && s.start == p.Start && p.Start != 0 || p.marks(entry.Name()) {
			err := syscall.Kill(-p.PGID, syscall.SIGKILL)
			return err == nil, err
		}
	}
	return false, nil
}

// marks reports whether a process has the run in its environment.
func (p Process) marks(pid string) bool {
	environ, err := os.ReadFile("/proc/" + pid + "/environ")
	if err != nil || p.RunID == "" {
		return false
	}
	for pair := range bytes.SplitSeq(environ, []byte{0}) {
		if string(pair) == RunVariable+"="+p.RunID {
			return true
		}
	}
	return false
}

type stat struct {
	dead  bool // it waits to be reaped
	group int
	start uint64
}

// statOf reads /proc/<pid>/stat. The name in it is in parentheses and may hold anything, so fields are counted from the last one.
func statOf(pid string) (s stat, err error) {
	text, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return s, err
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) < 20 {
		return s, fmt.Errorf("/proc/%s/stat has %d fields after the name", pid, len(fields))
	}
	s.dead = fields[0] == "Z" || fields[0] == "X"
	if s.group, err = strconv.Atoi(fields[2]); err == nil {
		s.start, err = strconv.ParseUint(fields[19], 10, 64)
	}
	return s, err
}
