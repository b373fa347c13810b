package host

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net"
	"os"

	"cordboard/core"
	"cordboard/core/gateway/board"
	"cordboard/core/gateway/wire"
)

// Child is what a command that plays an agent finds in its environment: where its owner is, and the token of its run.
type Child struct{ Socket, Token string }

// AsChild is the way of such a command to its owner, as the session of its run and nobody else, for as long as that run lives (engine.md
// §3). No owner is started, and the store is not looked for.
func AsChild(ctx context.Context, o Options, c Child) (*Host, error) {
	l := newLink(o, false)
	l.child = &c
	if err := l.probe(ctx); err != nil {
		return nil, err
	}
	return &Host{owner: l}, nil
}

// door is where commands that play agents come in. It is there before the first of them runs, and answers once the owner serves.
type door struct {
	path     string
	listener net.Listener
	wire     *wire.Server // nil until it answers
	served   chan error
}

func newDoor(o Options) (*door, error) {
	path, err := o.door()
	if err != nil {
		return nil, err
	}
	listener, err := listen(path)
	if err != nil {
		return nil, err
	}
	return &door{path: path, listener: listener, served: make(chan error, 1)}, nil
}

// open begins to answer.
func (d *door) open(greet wire.Greeter) {
	d.wire = wire.NewServer(greet, nil)
	go func() { d.served <- d.wire.Serve(d.listener) }() // close waits for it
}

// close takes the socket away and ends what came in by it.
func (d *door) close(reason string) error {
	err := os.Remove(d.path)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if d.wire == nil {
		return errors.Join(err, d.listener.Close())
	}
	d.wire.Close(reason)
	return errors.Join(err, <-d.served)
}

// greetChild answers hello at the door: with the board of the session whose token is shown, and with no other.
func (s *server) greetChild(_ context.Context, params json.RawMessage) (wire.Session, []byte, error) {
	var h hello
	if err := json.Unmarshal(params, &h); err != nil {
		return nil, nil, core.Errorf(core.CodeInvalidParams, "hello cannot be read: %w", err)
	}
	if h.Version != s.options.Version {
		return nil, nil, core.Errorf(core.CodeVersion, "the owner that started this command (pid %d) is cordboard %s, this is %s: put the same one into the command's PATH",
			os.Getpid(), s.options.Version, h.Version)
	}
	b, run, err := s.engine.TokenBoard(h.Token, h.Actor.Session)
	if err != nil {
		return nil, nil, err
	}
	answer, err := wire.Marshal(welcome{Config: s.config})
	return &childSession{board.NewSession(b), run}, answer, err
}

// childSession answers the connection of a command that plays an agent.
type childSession struct {
	*board.Session
	run context.Context // ends with the run
}

// childMayCall are the methods of a command that plays an agent. Its session's tools are all it has: whatever else reads knows their scope,
// but neither their bounds and masking nor the rule that takes them from a sub-agent.
var childMayCall = map[string]bool{"cordboard.info": true, "cordboard.call": true}

// Call implements wire.Session. What it calls ends with the run, and after that nothing is called.
func (c *childSession) Call(ctx context.Context, r wire.Request, out []byte) ([]byte, error) {
	if !childMayCall[r.Method] {
		return out, core.Errorf(core.CodeForbidden, "a command that plays an agent has the session tools of its session and nothing else: `cordboard call TOOL JSON` calls one")
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(c.run, cancel)
	defer stop()
	if c.run.Err() == nil {
		answer, err := c.Session.Call(ctx, r, out)
		if c.run.Err() == nil {
			return answer, err
		}
	}
	return out, core.Errorf(core.CodeForbidden, "the run that this command plays has ended, and its token with it")
}
