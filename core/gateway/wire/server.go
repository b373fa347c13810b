package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"runtime/debug"
	"sync"
	"time"

	"github.com/coder/websocket"

	"cordboard/core"
)

// MethodHello is the first request of every connection.
const MethodHello = "hello"

const (
	maxCalls   = 1024                   // running calls of one connection
	helloTime  = 5 * time.Second        // from connecting to hello
	goodbye    = 300 * time.Millisecond // how long a client has to answer when the server closes
	maxReason  = 120                    // bytes of a close frame's reason; the protocol allows 123
	headerTime = 5 * time.Second        // for the HTTP request that a connection begins with
)

// Request is one call of a client.
type Request struct {
	Method string
	Params json.RawMessage
	// Emit sends the client an event of this call; it blocks while the client does not read.
	Emit func(payload []byte) error
}

// Session answers the calls of one connection, many at a time.
type Session interface {
	// Call appends the JSON of its answer to out. An error is sent as the core.Error that it is or wraps. ctx ends when the client cancels
	// the call or is gone.
	Call(ctx context.Context, r Request, out []byte) ([]byte, error)
	Close() error
}

// Greeter answers hello: with a session and the JSON of its answer, or with an error, which ends the connection.
type Greeter func(ctx context.Context, params json.RawMessage) (Session, []byte, error)

// Server serves connections until it is closed. Every connection and every call has a goroutine of its own, so a client that does not
// read holds up nobody else.
type Server struct {
	greet  Greeter
	http   *http.Server
	ctx    context.Context
	cancel context.CancelFunc
	work   sync.WaitGroup

	mu     sync.Mutex
	conns  map[*websocket.Conn]struct{}
	closed bool
	// moved is told of every connection that comes or goes.
	moved func(open int)
}

// NewServer makes a server. moved, when not nil, is called with the number of open connections whenever it changes; it must not block.
func NewServer(greet Greeter, moved func(open int)) *Server {
	s := &Server{greet: greet, conns: map[*websocket.Conn]struct{}{}, moved: moved}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.http = &http.Server{Handler: http.HandlerFunc(s.accept), ReadHeaderTimeout: headerTime}
	return s
}

// Serve takes connections from l until Close; it then returns nil.
func (s *Server) Serve(l net.Listener) error {
	err := s.http.Serve(l)
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// Close takes no more connections, tells the open ones why they end, ends their calls and waits for all of it.
func (s *Server) Close(reason string) {
	s.mu.Lock()
	s.closed = true
	var open []*websocket.Conn
	for c := range s.conns {
		open = append(open, c)
	}
	s.mu.Unlock()
	_ = s.http.Close()
	var told sync.WaitGroup
	for _, c := range open {
		told.Go(func() { _ = c.Close(websocket.StatusGoingAway, reason) })
	}
	late := time.AfterFunc(goodbye, s.drop)
	told.Wait()
	late.Stop()
	s.cancel()
	s.work.Wait()
}

// drop closes what is still open without a word.
func (s *Server) drop() {
	s.cancel()
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		_ = c.CloseNow()
	}
}

func (s *Server) accept(w http.ResponseWriter, r *http.Request) {
	ws, err := websocket.Accept(w, r, nil)
	if err != nil {
		return // it has been answered
	}
	if !s.enter(ws) {
		_ = ws.CloseNow()
		return
	}
	defer s.leave(ws)
	c := &serverConn{server: s, ws: ws, running: map[uint64]context.CancelFunc{}}
	c.serve(s.ctx)
}

func (s *Server) enter(ws *websocket.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.work.Add(1)
	s.conns[ws] = struct{}{}
	s.tell()
	return true
}

func (s *Server) leave(ws *websocket.Conn) {
	_ = ws.CloseNow()
	s.mu.Lock()
	delete(s.conns, ws)
	s.tell()
	s.mu.Unlock()
	s.work.Done()
}

func (s *Server) tell() {
	if s.moved != nil {
		s.moved(len(s.conns))
	}
}

// serverConn is one connection.
type serverConn struct {
	server  *Server
	ws      *websocket.Conn
	session Session
	calls   sync.WaitGroup

	mu      sync.Mutex
	running map[uint64]context.CancelFunc
}

func (c *serverConn) serve(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	if c.hello(ctx) {
		c.ws.SetReadLimit(FrameLimit)
		for c.next(ctx) {
		}
	}
	cancel()
	c.calls.Wait()
	if c.session != nil {
		_ = c.session.Close()
	}
}

// hello answers the first request.
func (c *serverConn) hello(ctx context.Context) bool {
	c.ws.SetReadLimit(HelloLimit)
	first, cancel := context.WithTimeout(ctx, helloTime)
	defer cancel()
	f, ok := c.read(first)
	switch {
	case !ok:
		return false
	case f.Type != typeRequest || f.Method != MethodHello:
		c.refuse(websocket.StatusPolicyViolation, "the first request must be hello")
		return false
	}
	session, answer, err := c.server.greet(first, f.Body)
	if err != nil {
		_ = c.write(ctx, appendFailure(nil, f.ID, asError(err)))
		c.refuse(websocket.StatusPolicyViolation, err.Error())
		return false
	}
	c.session = session
	return c.write(ctx, append(append(appendAnswer(nil, f.ID), answer...), '}')) == nil
}

// next takes one frame; false ends the connection.
func (c *serverConn) next(ctx context.Context) bool {
	f, ok := c.read(ctx)
	if !ok {
		return false
	}
	switch f.Type {
	case typeCancel:
		c.mu.Lock()
		if cancel := c.running[f.ID]; cancel != nil {
			cancel()
		}
		c.mu.Unlock()
		return true
	case typeRequest:
		return c.start(ctx, f)
	}
	c.refuse(websocket.StatusPolicyViolation, fmt.Sprintf("a client sends req and cancel, not %q", f.Type))
	return false
}

// read takes one frame; one that is none closes the connection with a named reason.
func (c *serverConn) read(ctx context.Context) (frame, bool) {
	kind, data, err := c.ws.Read(ctx)
	if err != nil {
		return frame{}, false // too big: the library has closed it and said so
	}
	if kind != websocket.MessageText || messageType(data) != websocket.MessageText {
		c.refuse(websocket.StatusInvalidFramePayloadData, "a frame is UTF-8 text")
		return frame{}, false
	}
	f, err := parse(data)
	if err != nil {
		c.refuse(websocket.StatusPolicyViolation, "a frame is a JSON object with type, id and, for a request, method")
		return frame{}, false
	}
	return f, true
}

// refuse closes the connection with a reason.
func (c *serverConn) refuse(code websocket.StatusCode, reason string) {
	if len(reason) > maxReason {
		reason = reason[:maxReason]
	}
	late := time.AfterFunc(goodbye, func() { _ = c.ws.CloseNow() })
	defer late.Stop()
	_ = c.ws.Close(code, reason)
}

func (c *serverConn) start(ctx context.Context, f frame) bool {
	call, cancel := context.WithCancel(ctx)
	c.mu.Lock()
	_, twice := c.running[f.ID]
	full := len(c.running) >= maxCalls
	if !twice && !full {
		c.running[f.ID] = cancel
	}
	c.mu.Unlock()
	switch {
	case twice:
		cancel()
		c.refuse(websocket.StatusPolicyViolation, fmt.Sprintf("two calls run under id %d", f.ID))
		return false
	case full:
		cancel()
		return c.write(ctx, appendFailure(nil, f.ID, core.Errorf(core.CodeUnsupported, "%d calls run on this connection already, the most it may have", maxCalls))) == nil
	}
	c.calls.Go(func() {
		defer cancel()
		c.answer(ctx, call, f)
	})
	return true
}

// answer makes a call and sends what comes of it.
func (c *serverConn) answer(ctx, call context.Context, f frame) {
	out, err := c.call(call, f)
	if err != nil {
		out = appendFailure(nil, f.ID, asError(err))
	} else {
		out = append(out, '}')
	}
	c.mu.Lock()
	delete(c.running, f.ID)
	c.mu.Unlock()
	_ = c.write(ctx, out) // a client that is gone needs no answer
}

func (c *serverConn) call(ctx context.Context, f frame) (out []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = core.Errorf(core.CodeInternal, "%s broke down: %v\n%s", f.Method, p, debug.Stack())
		}
	}()
	emit := func(payload []byte) error { return c.write(ctx, appendEvent(nil, f.ID, payload)) }
	return c.session.Call(ctx, Request{Method: f.Method, Params: f.Body, Emit: emit}, appendAnswer(make([]byte, 0, 512), f.ID))
}

// write sends a frame. It ends with the connection, not with the call: half a message would end the connection too.
func (c *serverConn) write(ctx context.Context, data []byte) error {
	return c.ws.Write(context.WithoutCancel(ctx), messageType(data), data)
}

// asError is err as it crosses the wire: the code of the core.Error in it, and all of its text.
func asError(err error) *core.Error {
	if e, ok := errors.AsType[*core.Error](err); ok {
		return &core.Error{Code: e.Code, Message: err.Error(), ConfigKey: e.ConfigKey, Allowed: e.Allowed, Param: e.Param}
	}
	return &core.Error{Code: core.CodeInternal, Message: err.Error()}
}
