package main

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// What cannot be taken back is asked about at a terminal, and only a yes is one.
func TestConfirm(t *testing.T) {
	for answer, want := range map[string]bool{"y\n": true, "YES\n": true, " yes": true, "n\n": false, "\n": false, "": false, "yeah\n": false} {
		var errs bytes.Buffer
		a := &app{streams: streams{in: strings.NewReader(answer), err: &errs, terminal: true}}
		err := a.confirm(t.Context(), false, "delete", "Delete \x1b[2Ja?")
		assert.Equal(t, want, err == nil, "%q", answer)
		asked := "Delete ␛[2Ja? [y/N] "
		if !strings.HasSuffix(answer, "\n") {
			asked += "\n"
		}
		assert.Equal(t, asked, errs.String())
	}
}

func TestConfirmIsNotAlwaysAsked(t *testing.T) {
	a := &app{streams: streams{in: strings.NewReader("y\n"), err: io.Discard}}
	assert.ErrorContains(t, a.confirm(t.Context(), false, "delete", "Sure?"), "--yes")
	assert.NoError(t, a.confirm(t.Context(), true, "delete", "Sure?"))

	a.terminal = true
	asked, w := io.Pipe()
	defer w.Close()
	a.in = asked
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	assert.ErrorIs(t, a.confirm(ctx, false, "delete", "Sure?"), context.Canceled)
}
