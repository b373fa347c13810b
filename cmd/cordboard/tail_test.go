package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// following is a tail that runs.
type following struct {
	t     *testing.T
	lines *bufio.Reader
	stop  context.CancelFunc
	code  chan int
}

func startTail(t *testing.T, args ...string) *following {
	t.Helper()
	path, err := binary()
	require.NoError(t, err)
	r, w := io.Pipe()
	ctx, stop := context.WithCancel(t.Context())
	f := &following{t, bufio.NewReader(r), stop, make(chan int, 1)}
	var errs bytes.Buffer
	go func() { // ends with ctx, and is waited for by ends
		code := run(ctx, append([]string{"tail"}, args...), streams{
			in: strings.NewReader(""), out: w, err: &errs, getenv: func(string) string { return "" }, width: func() int { return 0 }, program: []string{path},
		})
		_ = w.Close()
		f.code <- code
	}()
	return f
}

// sees reads on until a line holds the text, and returns all it read.
func (f *following) sees(text string) (read string) {
	f.t.Helper()
	for {
		line, err := f.lines.ReadString('\n')
		read += line
		if strings.Contains(line, text) {
			return read
		}
		require.NoError(f.t, err, "%q did not come: %s", text, read)
	}
}

// ends interrupts it.
func (f *following) ends() {
	f.t.Helper()
	f.stop()
	_, _ = io.Copy(io.Discard, f.lines)
	assert.Equal(f.t, exitOK, <-f.code)
}

// Messages come as they are written, each once, over an owner that comes, a reset, and one that goes.
func TestTail(t *testing.T) {
	h := newHome(t)
	store := h.dir + "/state/cordboard"
	h.verb(t, "send", "main", "first")
	h.verb(t, "send", "main", "second")
	h.verb(t, "serve", "--stop")
	text := startTail(t, "main", "--data", store, "--config", "", "--limit", "2")
	raw := startTail(t, "main", "--data", store, "--config", "", "--limit", "0", "--json")
	read := text.sees("second")
	read += text.sees("second")
	assert.NotContains(t, read, "first")
	h.verb(t, "send", "main", "third")
	read = text.sees("third") + text.sees("third")
	assert.NotContains(t, read, "second")
	assert.Contains(t, raw.sees("third"), `"role":"user"`)
	assert.Contains(t, raw.sees("third"), `"role":"assistant"`)
	h.verb(t, "reset", "main", "--yes")
	h.verb(t, "send", "main", "fourth")
	assert.Contains(t, text.sees("fourth"), "a new transcript begins")
	text.sees("fourth")
	h.verb(t, "serve", "--stop")
	h.verb(t, "send", "main", "fifth")
	assert.NotContains(t, text.sees("fifth"), "fourth")
	assert.Contains(t, raw.sees("fifth"), `"text":"fourth"`)
	text.ends()
	raw.ends()
}

func TestTailOfNobody(t *testing.T) {
	store := t.TempDir() + "/D"
	_, code := cordboard(t, "import", "../../testdata/openclaw", "--data", store, "--config", "")
	require.Zero(t, code)
	_, code = cordboard(t, "tail", "agent:main:nobody", "--data", store, "--config", "")
	assert.Equal(t, exitFailed, code)
	_, code = cordboard(t, "tail", "agent:ops:main", "--limit", "-1", "--data", store, "--config", "")
	assert.Equal(t, exitUsage, code)
}
