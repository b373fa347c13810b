package main

import (
	"errors"
	"fmt"
	"io"
)

// output is standard output that remembers what it could not take: a verb that is told nothing of it has failed all the same.
type output struct {
	to  io.Writer
	err error // of the first write that failed
}

// Write implements io.Writer.
func (o *output) Write(p []byte) (int, error) {
	if o.err != nil {
		return 0, o.err
	}
	n, err := o.to.Write(p)
	o.err = err
	return n, err
}

// failure is what a verb failed with: with its output, when that is where it failed and it ended well otherwise.
func (o *output) failure(err error) error {
	if o == nil || o.err == nil || err != nil && !errors.Is(err, o.err) {
		return err
	}
	return fmt.Errorf("the output is not whole: %w", o.err)
}
