package main

import (
	"context"
	"fmt"
	"io"
)

// input reads all of standard input, which may hold at most limit bytes. An interrupt ends the wait for it.
func (a *app) input(ctx context.Context, limit int64) ([]byte, error) {
	type result struct {
		data []byte
		err  error
	}
	read := make(chan result, 1)
	go func() { // a read that nobody ends goes with the process
		data, err := io.ReadAll(io.LimitReader(a.in, limit+1))
		read <- result{data, err}
	}()
	select {
	case r := <-read:
		if r.err == nil && int64(len(r.data)) > limit {
			return nil, &usageError{fmt.Errorf("standard input is longer than %s", bytesText(limit))}
		}
		return r.data, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
