package board

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"cordboard/core"
	"cordboard/core/gateway/wire"
)

// Watch implements core.Board.
func (c *Client) Watch(ctx context.Context, from core.Cursor) (core.Stream, error) {
	s := &follower{client: c, at: from}
	if err := s.steadily(ctx, func() error { return nil }); err != nil {
		return nil, err
	}
	return s, nil
}

// follower is a stream at the other end. The place it has reached is its own, so that it goes on there after whatever happened.
type follower struct {
	client *Client
	at     core.Cursor

	mu       sync.Mutex
	conn     *wire.Client // that the stream was opened on; nil when it must be opened anew
	id       uint64
	focus    []string
	focusing sync.Mutex // held while the focus is told, so that the newest is told last
}

// opened is where the stream is open.
func (f *follower) opened() (conn *wire.Client, id uint64, focus []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.conn, f.id, f.focus
}

func (f *follower) set(conn *wire.Client, id uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.conn, f.id = conn, id
}

// open opens the stream at the place it has reached, unless it is open.
func (f *follower) open(ctx context.Context) error {
	if conn, _, _ := f.opened(); conn != nil {
		return nil
	}
	conn, err := f.client.connect(ctx)
	if err != nil {
		return err
	}
	raw, err := wire.Marshal(f.at)
	if err != nil {
		return err
	}
	answer, err := decoded[watchAnswer](conn.Call(ctx, "cordboard.watch", raw, nil))
	if err != nil {
		return err
	}
	f.at = answer.From
	f.set(conn, answer.Stream)
	return f.tellFocus(ctx)
}

// Focus implements core.Stream. A stream that is opened anew after a loss focuses again.
func (f *follower) Focus(sessions ...string) error {
	if len(sessions) > core.MaxFocus {
		return core.Errorf(core.CodeInvalidParams, "a focus on %d sessions: at most %d are listened to", len(sessions), core.MaxFocus)
	}
	f.mu.Lock()
	f.focus = slices.Clone(sessions)
	f.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), focusTime)
	defer cancel()
	err := f.tellFocus(ctx)
	if _, lost := errors.AsType[*wire.LostError](err); lost {
		return nil
	}
	return err
}

// focusTime bounds telling the server what is in focus.
const focusTime = 5 * time.Second

func (f *follower) tellFocus(ctx context.Context) error {
	f.focusing.Lock()
	defer f.focusing.Unlock()
	conn, id, focus := f.opened()
	if conn == nil {
		return nil // it is told when the stream is opened
	}
	raw, err := wire.Marshal(focusParams{id, focus})
	if err == nil {
		_, err = conn.Call(ctx, "cordboard.focus", raw, nil)
	}
	return err
}

// Next implements core.Stream.
func (f *follower) Next(ctx context.Context) (batch core.Batch, err error) {
	err = f.steadily(ctx, func() error {
		conn, id, _ := f.opened()
		raw, err := wire.Marshal(streamParams{id})
		if err != nil {
			return err
		}
		batch, err = decoded[core.Batch](conn.Call(ctx, "cordboard.next", raw, nil))
		return err
	})
	if err != nil {
		return core.Batch{}, err
	}
	f.at = core.Cursor{Epoch: batch.Epoch, Rev: batch.To}
	return batch, nil
}

// steadily does something on the open stream, which is opened anew, and it done again, when the connection is lost.
func (f *follower) steadily(ctx context.Context, fn func() error) error {
	p := patience{now: f.client.options.Now}
	for {
		p.begin()
		err := f.open(ctx)
		if err == nil {
			err = fn()
		}
		lost, isLost := errors.AsType[*wire.LostError](err)
		switch {
		case err == nil:
			return nil
		case !isLost: // a batch may be on its way that nobody will get: go on from the last that was delivered
			f.leave()
			return err
		}
		f.set(nil, 0)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case f.client.isClosed():
			return errClosed
		case p.over():
			return p.error(lost)
		}
	}
}

// leaveTime bounds telling the server that a stream is over: it would find out by itself when the connection ends.
const leaveTime = time.Second

func (f *follower) leave() {
	conn, id, _ := f.opened()
	if conn == nil {
		return
	}
	f.set(nil, 0)
	ctx, cancel := context.WithTimeout(context.Background(), leaveTime)
	defer cancel()
	if raw, err := wire.Marshal(streamParams{id}); err == nil {
		_, _ = conn.Call(ctx, "cordboard.unwatch", raw, nil)
	}
}

// Close implements core.Stream.
func (f *follower) Close() error {
	f.leave()
	return nil
}
