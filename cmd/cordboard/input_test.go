package main

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordboard/ui/safe"
)

// A verb that waits for its input is ended by an interrupt.
func TestInputEndsWithAnInterrupt(t *testing.T) {
	hung, end := io.Pipe()
	defer end.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := (&app{streams: streams{in: hung}}).input(ctx, 10)
	assert.ErrorIs(t, err, context.Canceled)

	data, err := (&app{streams: streams{in: strings.NewReader("0123456789")}}).input(t.Context(), 10)
	require.NoError(t, err)
	assert.Equal(t, "0123456789", string(data))
	_, err = (&app{streams: streams{in: strings.NewReader("0123456789x")}}).input(t.Context(), 10)
	assert.ErrorContains(t, err, "10 B")
}

// A bar is never wider than the terminal: one that wraps would be left standing at the next.
func TestBarFitsTheTerminal(t *testing.T) {
	for _, w := range []int{20, 40, 80, 200} {
		var out bytes.Buffer
		b := &bar{w: &out, title: "importing", visible: true, width: func() int { return w }}
		b.show(5, 10, strings.Repeat("many sessions ", 10))
		line := strings.TrimPrefix(out.String(), "\r\x1b[K")
		assert.Less(t, safe.Width(line), w)
	}
}
