package storetest

import (
	"context"
	"errors"

	"cordboard/core"
)

// Twice returns a store that runs every Update function once for nothing and once for good: a function that carries something over from
// its first run, or has an effect outside, shows itself. The first run also proves that what is undone leaves no trace.
func Twice(s core.Store) core.Store { return twice{s} }

type twice struct{ core.Store }

var errOnce = errors.New("the first of two runs")

func (s twice) Update(ctx context.Context, fn func(core.Tx) error) (core.Rev, error) {
	ran := false
	_, err := s.Store.Update(ctx, func(tx core.Tx) error {
		ran = true
		_ = fn(tx)
		return errOnce
	})
	if !ran {
		return 0, err // closed, cancelled or read-only: there will be no second run either
	}
	return s.Store.Update(ctx, fn)
}
