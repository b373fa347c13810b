package host

import (
	"context"
	"encoding/json"
	"net"
	"sync/atomic"
	"time"

	"cordboard/core"
	"cordboard/core/gateway/wire"
)

// helloWithin is how long an owner that has taken a connection may need to answer hello. It serves only once it is ready, so one that takes
// longer is suspended or stuck, and whoever asked would wait for ever.
const helloWithin = 10 * time.Second

// hello says hello to an owner.
func (l *link) hello(ctx context.Context, conn *net.UnixConn, h hello) (*wire.Client, json.RawMessage, error) {
	if l.child != nil { // its way in is open before the owner is ready
		return wire.NewClient(ctx, conn, h)
	}
	peer, err := wire.PeerOf(conn)
	if err != nil {
		return nil, nil, core.Errorf(core.CodeStoreIO, "the owner of the store: %w", err)
	}
	inTime, cancel := context.WithCancel(ctx)
	var late atomic.Bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		if l.options.Clock.Sleep(inTime, helloWithin) == nil {
			late.Store(true)
			cancel()
		}
	}()
	c, answer, err := wire.NewClient(inTime, conn, h)
	cancel()
	<-done
	if err != nil && late.Load() {
		return nil, nil, core.Errorf(core.CodeUnsupported, "the owner of the store (pid %d) does not answer for %s: it is suspended or stuck; `kill -CONT %[1]d` wakes it, "+
			"`kill -9 %[1]d` ends it, and nothing that it accepted is lost", peer.PID, helloWithin)
	}
	return c, answer, err
}
