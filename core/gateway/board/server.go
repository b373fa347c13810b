package board

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"sync"

	"cordboard/core"
	"cordboard/core/gateway/wire"
)

// maxStreams bounds the streams of one connection.
const maxStreams = 64

// Session answers the methods of one connection from a Board. Close closes both.
type Session struct {
	board core.Board

	mu      sync.Mutex
	last    uint64
	streams map[uint64]*stream
}

// stream is one open watch. A Stream is for one goroutine at a time, but for its Focus.
type stream struct {
	mu sync.Mutex
	core.Stream
}

// NewSession makes a session over a board, which it takes over.
func NewSession(b core.Board) *Session { return &Session{board: b, streams: map[uint64]*stream{}} }

// Close ends the streams and the board.
func (s *Session) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, open := range s.streams {
		_ = open.Close()
		delete(s.streams, id)
	}
	return s.board.Close()
}

// Call implements wire.Session.
func (s *Session) Call(ctx context.Context, r wire.Request, out []byte) ([]byte, error) {
	m, ok := methods[r.Method]
	if !ok {
		return out, core.Errorf(core.CodeUnsupported, "there is no method %q", r.Method)
	}
	return m(ctx, s, r.Params, out)
}

type method func(ctx context.Context, s *Session, params []byte, out []byte) ([]byte, error)

var methods = map[string]method{
	"cordboard.info": plain(func(ctx context.Context, s *Session, _ struct{}) (core.Info, error) { return s.board.Info(ctx) }),
	"cordboard.sessions": plain(func(ctx context.Context, s *Session, q core.SessionQuery) (core.SessionPage, error) {
		return s.board.Sessions(ctx, q)
	}),
	"cordboard.messages": spliced(func(ctx context.Context, s *Session, q core.MessageQuery) (core.MessagePage, error) {
		return s.board.Messages(ctx, q)
	}, appendMessages),
	"cordboard.records": spliced(func(ctx context.Context, s *Session, q core.RecordQuery) (core.RecordPage, error) {
		return s.board.Records(ctx, q)
	}, appendRecords),
	"cordboard.search": plain(func(ctx context.Context, s *Session, q core.SearchQuery) (core.SearchPage, error) {
		return s.board.Search(ctx, q)
	}),
	"cordboard.explain": plain(func(ctx context.Context, s *Session, q core.Question) (core.Explanation, error) {
		return s.board.Explain(ctx, q)
	}),
	"cordboard.call": spliced(func(ctx context.Context, s *Session, p callParams) (core.ToolResult, error) {
		return s.board.Call(ctx, p.call())
	}, appendResult),
	"cordboard.do": plain(func(ctx context.Context, s *Session, p doParams) (core.Receipt, error) {
		return s.board.Do(ctx, p.command())
	}),
	"cordboard.watch": plain(func(ctx context.Context, s *Session, from core.Cursor) (watchAnswer, error) {
		return s.watch(ctx, from)
	}),
	"cordboard.next": plain(func(ctx context.Context, s *Session, p streamParams) (core.Batch, error) {
		return s.next(ctx, p.Stream)
	}),
	"cordboard.focus": plain(func(_ context.Context, s *Session, p focusParams) (struct{}, error) {
		return struct{}{}, s.focus(p)
	}),
	"cordboard.unwatch": plain(func(_ context.Context, s *Session, p streamParams) (struct{}, error) {
		return struct{}{}, s.unwatch(p.Stream)
	}),
}

// plain is a method whose answer is written as its type says.
func plain[Q, A any](fn func(context.Context, *Session, Q) (A, error)) method {
	return spliced(fn, func(out []byte, answer A) ([]byte, error) { return wire.Append(out, answer) })
}

// spliced is a method whose answer holds bytes that are to stay as they are.
func spliced[Q, A any](fn func(context.Context, *Session, Q) (A, error), write func([]byte, A) ([]byte, error)) method {
	return func(ctx context.Context, s *Session, params, out []byte) ([]byte, error) {
		var q Q
		if err := strict(params, &q); err != nil {
			return out, err
		}
		answer, err := fn(ctx, s, q)
		if err != nil {
			return out, err
		}
		return write(out, answer)
	}
}

// strict reads params, all of them and nothing else.
func strict(params []byte, into any) error {
	if len(params) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(params))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return core.Errorf(core.CodeInvalidParams, "the params cannot be read: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return core.Errorf(core.CodeInvalidParams, "the params are more than one JSON value")
	}
	return nil
}

// watch opens a stream. The zero cursor is made the one of now, so that the client knows where to go on after a loss.
func (s *Session) watch(ctx context.Context, from core.Cursor) (watchAnswer, error) {
	if from == (core.Cursor{}) {
		page, err := s.board.Sessions(ctx, core.SessionQuery{Limit: 1})
		if err != nil {
			return watchAnswer{}, err
		}
		from = page.At
	}
	opened, err := s.board.Watch(ctx, from)
	if err != nil {
		return watchAnswer{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.streams) >= maxStreams {
		_ = opened.Close()
		return watchAnswer{}, core.Errorf(core.CodeUnsupported, "%d streams are open on this connection already, the most it may have", maxStreams)
	}
	s.last++
	s.streams[s.last] = &stream{Stream: opened}
	return watchAnswer{s.last, from}, nil
}

func (s *Session) next(ctx context.Context, id uint64) (core.Batch, error) {
	s.mu.Lock()
	open := s.streams[id]
	s.mu.Unlock()
	if open == nil {
		return core.Batch{}, noStream(id)
	}
	open.mu.Lock()
	defer open.mu.Unlock()
	return open.Next(ctx)
}

// focus does not wait for a next that is under way: that is what it is to bring more to.
func (s *Session) focus(p focusParams) error {
	s.mu.Lock()
	open := s.streams[p.Stream]
	s.mu.Unlock()
	if open == nil {
		return noStream(p.Stream)
	}
	return open.Focus(p.Sessions...)
}

func noStream(id uint64) error {
	return core.Errorf(core.CodeNotFound, "there is no stream %d on this connection", id)
}

func (s *Session) unwatch(id uint64) error {
	s.mu.Lock()
	open := s.streams[id]
	delete(s.streams, id)
	s.mu.Unlock()
	if open == nil {
		return nil
	}
	open.mu.Lock() // a next that still runs has been cancelled, or is about to answer
	defer open.mu.Unlock()
	return open.Close()
}
