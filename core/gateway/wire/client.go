package wire

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"sync"

	"github.com/coder/websocket"

	"cordboard/core"
)

// LostError says that the connection ended while a call ran or before it began: whether a call that ran did its work is not known.
type LostError struct {
	// Reason is what the server said when it closed the connection, "" when it said nothing.
	Reason string
	err    error
}

func (e *LostError) Error() string {
	if e.Reason != "" {
		return "the connection to the owner of the store ended: " + e.Reason
	}
	return "the connection to the owner of the store ended"
}

func (e *LostError) Unwrap() error { return e.err }

// Client is the calling end of a connection: any number of calls run side by side.
type Client struct {
	ws     *websocket.Conn
	ctx    context.Context
	cancel context.CancelFunc
	work   sync.WaitGroup
	out    chan []byte
	gone   chan struct{} // closed when the connection has ended; lost says how

	mu      sync.Mutex
	last    uint64
	pending map[uint64]*pending
	lost    *LostError
}

// unsent is how many frames may wait to be written. A server that leaves so many unread is stuck.
const unsent = 2 * maxCalls

// pending is a call that waits.
type pending struct {
	answer chan frame // one

	mu    sync.Mutex // held while event runs, so that none comes after the call has returned
	event func(payload json.RawMessage)
}

func (p *pending) take(f frame) {
	switch f.Type {
	case typeResponse:
		select {
		case p.answer <- f:
		default: // a second answer
		}
	case typeEvent:
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.event != nil {
			p.event(f.Body)
		}
	}
}

func (p *pending) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.event = nil
}

// NewClient says hello over an open connection, which it takes over: it is closed when hello fails. answer is hello's.
func NewClient(ctx context.Context, conn net.Conn, hello any) (c *Client, answer json.RawMessage, err error) {
	once := make(chan net.Conn, 1)
	once <- conn
	transport := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		select {
		case c := <-once:
			return c, nil
		default:
			return nil, net.ErrClosed
		}
	}}
	ws, _, err := websocket.Dial(ctx, "ws://cordboard/", &websocket.DialOptions{HTTPClient: &http.Client{Transport: transport}})
	if err != nil {
		_ = conn.Close()
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		return nil, nil, &LostError{err: err}
	}
	ws.SetReadLimit(-1)
	c = &Client{ws: ws, out: make(chan []byte, unsent), gone: make(chan struct{}), pending: map[uint64]*pending{}}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	c.work.Go(c.reads)
	c.work.Go(c.writes)
	params, err := Marshal(hello)
	if err == nil {
		answer, err = c.Call(ctx, MethodHello, params, nil)
	}
	if err != nil {
		c.Close()
		return nil, nil, err
	}
	return c, answer, nil
}

// Close ends the connection and every call on it.
func (c *Client) Close() {
	c.cancel()
	_ = c.ws.CloseNow()
	c.work.Wait()
}

// Gone is closed when the connection has ended.
func (c *Client) Gone() <-chan struct{} { return c.gone }

// Lost says how the connection ended, nil while it is up.
func (c *Client) Lost() *LostError {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lost
}

// Call makes a call and returns its answer, whose bytes are the caller's own. An end of ctx cancels the call at the server too. event,
// when not nil, gets the call's events in their order; while it runs nothing else is read.
func (c *Client) Call(ctx context.Context, method string, params []byte, event func(json.RawMessage)) (json.RawMessage, error) {
	if n := len(params); n > FrameLimit-len(method)-100 {
		return nil, core.Errorf(core.CodeInvalidParams, "the request is %d bytes: a request may have up to %d MiB", n, FrameLimit>>20)
	}
	p := &pending{answer: make(chan frame, 1), event: event}
	id, err := c.enter(p)
	if err != nil {
		return nil, err
	}
	defer c.leave(id, p)
	select {
	case c.out <- appendRequest(make([]byte, 0, len(params)+128), id, method, params):
	case <-c.gone:
		return nil, c.Lost()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	select {
	case f := <-p.answer:
		return answered(f)
	case <-c.gone:
		select {
		case f := <-p.answer: // it came just before
			return answered(f)
		default:
			return nil, c.Lost()
		}
	case <-ctx.Done():
		select {
		case c.out <- appendCancel(nil, id):
		default:
			_ = c.ws.CloseNow()
		}
		return nil, ctx.Err()
	}
}

func answered(f frame) (json.RawMessage, error) {
	if f.OK {
		return f.Body, nil
	}
	return nil, f.Error
}

func (c *Client) enter(p *pending) (uint64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lost != nil {
		return 0, c.lost
	}
	c.last++
	c.pending[c.last] = p
	return c.last, nil
}

func (c *Client) leave(id uint64, p *pending) {
	c.mu.Lock()
	delete(c.pending, id)
	c.mu.Unlock()
	p.forget()
}

// reads hands answers and events to their calls until the connection ends.
func (c *Client) reads() {
	for {
		_, data, err := c.ws.Read(c.ctx)
		if err != nil {
			c.end(err)
			return
		}
		f, err := parse(data)
		if err != nil {
			_ = c.ws.CloseNow()
			c.end(err)
			return
		}
		c.mu.Lock()
		p := c.pending[f.ID]
		c.mu.Unlock()
		if p != nil { // else its caller has gone
			p.take(f)
		}
	}
}

// writes sends frames one after the other until the connection ends.
func (c *Client) writes() {
	for {
		select {
		case data := <-c.out:
			if err := c.ws.Write(c.ctx, websocket.MessageText, data); err != nil {
				_ = c.ws.CloseNow() // which ends reads
				return
			}
		case <-c.gone:
			return
		}
	}
}

func (c *Client) end(err error) {
	lost := &LostError{err: err}
	if closed, ok := errors.AsType[websocket.CloseError](err); ok {
		lost.Reason = closed.Reason
	}
	c.mu.Lock()
	c.lost = lost
	c.mu.Unlock()
	close(c.gone)
}
