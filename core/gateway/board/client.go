package board

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"cordboard/core"
	"cordboard/core/gateway/wire"
)

// Dial makes a connection that has said hello. It is called again when one was lost.
type Dial func(ctx context.Context) (*wire.Client, error)

// Options are what a client is told.
type Options struct {
	Now   func() time.Time
	NewID func() string // keys of commands that have none, so that they can be repeated
}

// Client is a core.Board at the other end of a wire. A connection that is lost is made anew by the next call. A call that was on its way
// then is repeated when that is safe: reads and waits (for what is left of them), tools that only read, and commands, which have a key. Any
// other answers CodeUnsupported: whether it was done is not known.
type Client struct {
	dial    Dial
	options Options

	making chan struct{} // held while a connection is made
	mu     sync.Mutex
	conn   *wire.Client
	closed bool
}

// NewClient makes a board over connections that dial makes. The first is made at once, so that its error is told.
func NewClient(ctx context.Context, dial Dial, options Options) (*Client, error) {
	c := &Client{dial: dial, options: options, making: make(chan struct{}, 1)}
	if _, err := c.connect(ctx); err != nil {
		return nil, err
	}
	return c, nil
}

// Close ends the board and what still runs on it.
func (c *Client) Close() error {
	c.mu.Lock()
	conn := c.conn
	c.conn, c.closed = nil, true
	c.mu.Unlock()
	if conn != nil {
		conn.Close()
	}
	return nil
}

// connect returns the connection, made anew when it was lost. Callers that come together share one.
func (c *Client) connect(ctx context.Context) (*wire.Client, error) {
	if conn, err := c.current(); conn != nil || err != nil {
		return conn, err
	}
	select {
	case c.making <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-c.making }()
	if conn, err := c.current(); conn != nil || err != nil {
		return conn, err
	}
	conn, err := c.dial(ctx)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		conn.Close()
		return nil, errClosed
	}
	c.conn = conn
	return conn, nil
}

var errClosed = core.Errorf(core.CodeUnsupported, "the board is closed")

// current is the connection that is up, nil when there is none.
func (c *Client) current() (*wire.Client, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, errClosed
	}
	if c.conn == nil {
		return nil, nil
	}
	select {
	case <-c.conn.Gone():
		c.conn.Close()
		c.conn = nil
	default:
	}
	return c.conn, nil
}

// patience counts the connections that a call lost soon after it had got them: an owner that dies of the call itself is not started for
// ever, while a long wait outlives any number of owners.
type patience struct {
	now    func() time.Time
	since  time.Time
	losses int
}

const (
	mostLosses = 5
	soon       = time.Second
)

func (p *patience) begin() { p.since = p.now() }

// over notes a loss and reports whether it was one too many.
func (p *patience) over() bool {
	if p.now().Sub(p.since) >= soon {
		p.losses = 0
	}
	p.losses++
	return p.losses == mostLosses
}

func (p *patience) error(lost error) error {
	return core.Errorf(core.CodeUnsupported, "%w, %d times in a row: see its log", lost, p.losses)
}

// call makes a call. params makes them anew for each try, of which there is one unless repeat is set.
func (c *Client) call(ctx context.Context, method string, repeat bool, params func() ([]byte, error)) (json.RawMessage, error) {
	p := patience{now: c.options.Now}
	for {
		conn, err := c.connect(ctx)
		if err != nil {
			return nil, err
		}
		p.begin()
		raw, err := params()
		if err != nil {
			return nil, err
		}
		answer, err := conn.Call(ctx, method, raw, nil)
		lost, isLost := errors.AsType[*wire.LostError](err)
		switch {
		case !isLost:
			return answer, err
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case c.isClosed():
			return nil, errClosed
		case !repeat:
			return nil, core.Errorf(core.CodeUnsupported, "%w while it was asked to do this: whether it was done is not known, look before you repeat it", lost)
		case p.over():
			return nil, p.error(lost)
		}
	}
}

func (c *Client) isClosed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closed
}

// ask is a call that reads: repeated after a loss, its answer decoded.
func ask[A any](ctx context.Context, c *Client, method string, q any) (answer A, err error) {
	return decoded[A](c.call(ctx, method, true, func() ([]byte, error) { return wire.Marshal(q) }))
}

func decoded[A any](raw json.RawMessage, err error) (answer A, _ error) {
	if err == nil {
		err = json.Unmarshal(raw, &answer)
	}
	return answer, err
}

// Info implements core.Board.
func (c *Client) Info(ctx context.Context) (core.Info, error) {
	return ask[core.Info](ctx, c, "cordboard.info", struct{}{})
}

// Sessions implements core.Board.
func (c *Client) Sessions(ctx context.Context, q core.SessionQuery) (core.SessionPage, error) {
	return ask[core.SessionPage](ctx, c, "cordboard.sessions", q)
}

// Messages implements core.Board.
func (c *Client) Messages(ctx context.Context, q core.MessageQuery) (core.MessagePage, error) {
	return ask[core.MessagePage](ctx, c, "cordboard.messages", q)
}

// Records implements core.Board. A wait goes on over a loss, for what is left of it.
func (c *Client) Records(ctx context.Context, q core.RecordQuery) (core.RecordPage, error) {
	began := c.options.Now()
	answer, err := decoded[recordAnswer](c.call(ctx, "cordboard.records", true, func() ([]byte, error) {
		left := q
		if q.Wait > 0 {
			left.Wait = max(1, q.Wait-c.options.Now().Sub(began).Milliseconds())
		}
		return wire.Marshal(left)
	}))
	return answer.page(), err
}

// Search implements core.Board.
func (c *Client) Search(ctx context.Context, q core.SearchQuery) (core.SearchPage, error) {
	return ask[core.SearchPage](ctx, c, "cordboard.search", q)
}

// Explain implements core.Board.
func (c *Client) Explain(ctx context.Context, q core.Question) (core.Explanation, error) {
	return ask[core.Explanation](ctx, c, "cordboard.explain", q)
}

// readOnly are the tools that change nothing, so that a call of them may be repeated.
var readOnly = map[string]bool{"sessions_list": true, "sessions_history": true, "agents_list": true}

// Call implements core.Board. A send gets a key when it has none, as commands do.
func (c *Client) Call(ctx context.Context, t core.ToolCall) (core.ToolResult, error) {
	once := t.Tool == "sessions_send"
	if once && t.Key == "" {
		t.Key = c.options.NewID()
	}
	raw, err := c.call(ctx, "cordboard.call", once || readOnly[t.Tool], func() ([]byte, error) { return appendCall(t) })
	if err != nil {
		return core.ToolResult{}, err
	}
	return readResult(raw)
}

// Do implements core.Board. A command gets a key when it has none: then it is done once, however often it is asked for.
func (c *Client) Do(ctx context.Context, command core.Command) (core.Receipt, error) {
	if command.Key == "" {
		command.Key = c.options.NewID()
	}
	params := doParamsOf(command)
	return decoded[core.Receipt](c.call(ctx, "cordboard.do", true, func() ([]byte, error) { return wire.Marshal(params) }))
}
