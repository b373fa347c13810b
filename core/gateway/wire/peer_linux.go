package wire

import (
	"net"

	"golang.org/x/sys/unix"
)

// PeerOf asks the kernel.
func PeerOf(c *net.UnixConn) (Peer, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return Peer{}, err
	}
	var cred *unix.Ucred
	var asked error
	if err := raw.Control(func(fd uintptr) {
		cred, asked = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); err != nil {
		return Peer{}, err
	}
	if asked != nil {
		return Peer{}, asked
	}
	return Peer{UID: int(cred.Uid), PID: int(cred.Pid)}, nil
}
