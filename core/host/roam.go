package host

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"cordboard/core"
)

const (
	fileWait  = 50 * time.Millisecond // for the file, before it is asked who holds it
	lookEvery = time.Second           // whether there is an owner now, while nothing else tells
	mostMoves = 4                     // of one call, between the file and owners that come and go
)

// roam is a reader's way to a store: its owner while there is one, else the file. Which it is shows in what a call answers: a file that
// is locked has an owner, an owner that is gone has left the file.
type roam struct {
	options Options

	mu       sync.Mutex
	file     *Host // opened when it is first needed
	link     *Host
	attached bool
}

// newRoam finds out where to begin.
func newRoam(ctx context.Context, o Options) (*roam, error) {
	l := newLink(o, false)
	r := &roam{options: o, link: &Host{owner: l}, attached: true}
	err := l.probe(ctx)
	if !errors.Is(err, errNoOwner) {
		return r, err
	}
	r.attached = false
	_, err = r.host()
	return r, err
}

// host is where the store is reached now.
func (r *roam) host() (*Host, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.attached {
		return r.link, nil
	}
	if r.file == nil {
		o := r.options
		o.LockWait = fileWait
		file, err := open(o, true)
		if err != nil {
			return nil, err
		}
		r.file = file
	}
	return r.file, nil
}

// moved reports whether an error says that the store is now reached otherwise than by h.
func (r *roam) moved(h *Host, err error) bool {
	owned := core.CodeOf(err) == core.CodeStoreLocked && h.owner == nil
	left := errors.Is(err, errNoOwner)
	if !owned && !left {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.attached = owned
	return true
}

// try does something on the store, again when it turns out to be reached otherwise.
func (r *roam) try(fn func(h *Host) error) error {
	for moves := 1; ; moves++ {
		h, err := r.host()
		if err != nil {
			return err
		}
		if err = fn(h); !r.moved(h, err) || moves == mostMoves {
			return err
		}
	}
}

func (r *roam) isAttached() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.attached
}

func (r *roam) close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	err := r.link.Close()
	if r.file != nil {
		err = errors.Join(err, r.file.Close())
	}
	return err
}

// roamBoard is a board for reading that goes where the store is reached.
type roamBoard struct {
	roam  *roam
	actor core.Actor

	mu     sync.Mutex
	boards map[*Host]core.Board
}

func newRoamBoard(ctx context.Context, r *roam, actor core.Actor) (core.Board, error) {
	b := &roamBoard{roam: r, actor: actor, boards: map[*Host]core.Board{}}
	if err := r.try(func(h *Host) error {
		_, err := b.on(ctx, h)
		return err
	}); err != nil {
		return nil, err
	}
	return b, nil
}

func (b *roamBoard) on(ctx context.Context, h *Host) (core.Board, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if board := b.boards[h]; board != nil {
		return board, nil
	}
	board, err := h.Board(ctx, b.actor)
	if err != nil {
		return nil, err
	}
	b.boards[h] = board
	return board, nil
}

// roaming asks the board of wherever the store is reached.
func roaming[Q, A any](ctx context.Context, b *roamBoard, ask func(core.Board, context.Context, Q) (A, error), q Q) (answer A, err error) {
	err = b.roam.try(func(h *Host) error {
		board, err := b.on(ctx, h)
		if err == nil {
			answer, err = ask(board, ctx, q)
		}
		return err
	})
	return answer, err
}

// Info implements core.Board.
func (b *roamBoard) Info(ctx context.Context) (core.Info, error) {
	return roaming(ctx, b, func(board core.Board, ctx context.Context, _ struct{}) (core.Info, error) { return board.Info(ctx) }, struct{}{})
}

// Sessions implements core.Board.
func (b *roamBoard) Sessions(ctx context.Context, q core.SessionQuery) (core.SessionPage, error) {
	return roaming(ctx, b, core.Board.Sessions, q)
}

// Messages implements core.Board.
func (b *roamBoard) Messages(ctx context.Context, q core.MessageQuery) (core.MessagePage, error) {
	return roaming(ctx, b, core.Board.Messages, q)
}

// Records implements core.Board.
func (b *roamBoard) Records(ctx context.Context, q core.RecordQuery) (core.RecordPage, error) {
	return roaming(ctx, b, core.Board.Records, q)
}

// Search implements core.Board.
func (b *roamBoard) Search(ctx context.Context, q core.SearchQuery) (core.SearchPage, error) {
	return roaming(ctx, b, core.Board.Search, q)
}

// Explain implements core.Board.
func (b *roamBoard) Explain(ctx context.Context, q core.Question) (core.Explanation, error) {
	return roaming(ctx, b, core.Board.Explain, q)
}

// Call implements core.Board.
func (b *roamBoard) Call(ctx context.Context, c core.ToolCall) (core.ToolResult, error) {
	return roaming(ctx, b, core.Board.Call, c)
}

// Do implements core.Board.
func (b *roamBoard) Do(ctx context.Context, c core.Command) (core.Receipt, error) {
	return roaming(ctx, b, core.Board.Do, c)
}

// Watch implements core.Board.
func (b *roamBoard) Watch(ctx context.Context, from core.Cursor) (core.Stream, error) {
	if from == (core.Cursor{}) {
		page, err := b.Sessions(ctx, core.SessionQuery{Limit: 1})
		if err != nil {
			return nil, err
		}
		from = page.At
	}
	return &roamStream{board: b, at: from}, nil
}

// Close implements core.Board.
func (b *roamBoard) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	var err error
	for _, board := range b.boards {
		err = errors.Join(err, board.Close())
	}
	return err
}

// roamStream is a stream that goes on at the same place wherever the store is reached.
type roamStream struct {
	board *roamBoard
	at    core.Cursor

	mu    sync.Mutex
	host  *Host // that inner is of
	inner core.Stream
	focus []string
}

// Next implements core.Stream.
func (s *roamStream) Next(ctx context.Context) (batch core.Batch, err error) {
	err = s.board.roam.try(func(h *Host) error {
		if err := s.on(ctx, h); err != nil {
			return err
		}
		batch, err = s.next(ctx, h)
		return err
	})
	if err != nil {
		return core.Batch{}, err
	}
	s.at = core.Cursor{Epoch: batch.Epoch, Rev: batch.To}
	return batch, nil
}

func (s *roamStream) on(ctx context.Context, h *Host) error {
	if s.isOn(h) {
		return nil
	}
	if err := s.Close(); err != nil {
		return err
	}
	board, err := s.board.on(ctx, h)
	if err != nil {
		return err
	}
	inner, err := board.Watch(ctx, s.at)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.host, s.inner = h, inner
	return inner.Focus(s.focus...)
}

func (s *roamStream) isOn(h *Host) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.host == h
}

// Focus implements core.Stream. Where the store is reached otherwise, it is focused again.
func (s *roamStream) Focus(sessions ...string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.focus = slices.Clone(sessions)
	if s.inner == nil {
		return nil
	}
	return s.inner.Focus(sessions...)
}

// errOwned says that the file has got an owner.
var errOwned = core.Errorf(core.CodeStoreLocked, "the store has an owner now")

// next waits for a batch. Of the file nothing more is to be heard once it has an owner: so that is looked for meanwhile.
func (s *roamStream) next(ctx context.Context, h *Host) (core.Batch, error) {
	if h.owner != nil {
		return s.inner.Next(ctx)
	}
	wait, cancel := context.WithCancelCause(ctx)
	var looking sync.WaitGroup
	looking.Go(func() {
		link := s.board.roam.link.owner
		for link.options.Clock.Sleep(wait, lookEvery) == nil {
			if link.answers(wait) {
				cancel(errOwned)
			}
		}
	})
	batch, err := s.inner.Next(wait)
	cancel(nil)
	looking.Wait()
	if err != nil && errors.Is(context.Cause(wait), errOwned) {
		return core.Batch{}, errOwned
	}
	return batch, err
}

// Close implements core.Stream.
func (s *roamStream) Close() error {
	s.mu.Lock()
	inner := s.inner
	s.host, s.inner = nil, nil
	s.mu.Unlock()
	if inner == nil {
		return nil
	}
	return inner.Close()
}
