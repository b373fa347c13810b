package wire

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"

	"cordboard/core"
)

// MaxSocketPath is the longest path that a unix socket can have everywhere, in bytes.
const MaxSocketPath = 100

// Listen makes a unix socket that only this user may connect to, in the place of whatever is there: the caller must hold what keeps two
// servers of one path apart. Connections of other users are closed unheard.
func Listen(path string) (net.Listener, error) {
	fresh := filepath.Join(filepath.Dir(path), fmt.Sprintf(".%d.sock", os.Getpid()))
	if err := os.Remove(fresh); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, core.Errorf(core.CodeStoreIO, "the socket %s cannot be made: %w", path, err)
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: fresh, Net: "unix"})
	if err != nil {
		return nil, core.Errorf(core.CodeStoreIO, "the socket %s cannot be made: %w", path, err)
	}
	l.SetUnlinkOnClose(false) // it has another name by then
	err = os.Chmod(fresh, 0o600)
	if err == nil {
		err = os.Rename(fresh, path) // so nobody sees one that is not private yet
	}
	if err != nil {
		_ = l.Close()
		_ = os.Remove(fresh)
		return nil, core.Errorf(core.CodeStoreIO, "the socket %s cannot be made: %w", path, err)
	}
	return ownOnly{l}, nil
}

// ownOnly accepts connections of this process's user.
type ownOnly struct{ *net.UnixListener }

func (l ownOnly) Accept() (net.Conn, error) {
	for {
		c, err := l.AcceptUnix()
		if err != nil {
			return nil, err
		}
		if peer, err := PeerOf(c); err == nil && peer.UID == os.Getuid() {
			return c, nil
		}
		_ = c.Close()
	}
}

// Peer is the process at the other end of a unix socket: who made the socket listen, or who connected. PID is 0 where the system does
// not tell.
type Peer struct{ UID, PID int }
