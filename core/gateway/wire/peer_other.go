//go:build !linux

package wire

import (
	"net"
	"os"
)

// PeerOf takes the peer for this user: the modes of socket and directory keep others out.
func PeerOf(*net.UnixConn) (Peer, error) { return Peer{UID: os.Getuid()}, nil }
