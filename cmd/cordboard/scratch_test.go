package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A scratch directory goes with its verb; one that a killed process left goes with the next, and nothing else does.
func TestScratchDirectories(t *testing.T) {
	parent := t.TempDir()
	alive, err := newScratch(parent, "demo-")
	require.NoError(t, err)
	killed, err := newScratch(parent, "demo-")
	require.NoError(t, err)
	require.NoError(t, killed.lock.Close(), "as the kernel does for a process that was killed")
	require.NoError(t, os.WriteFile(filepath.Join(killed.path, "store"), nil, 0o600))
	theirs := filepath.Join(parent, "demo-theirs")
	require.NoError(t, os.Mkdir(theirs, 0o700))
	other, err := newScratch(parent, "bench-")
	require.NoError(t, err)
	require.NoError(t, other.lock.Close())
	linked := filepath.Join(parent, "demo-link")
	require.NoError(t, os.Symlink(other.path, linked))

	next, err := newScratch(parent, "demo-")
	require.NoError(t, err)
	assert.NoDirExists(t, killed.path)
	assert.DirExists(t, alive.path, "another process works there")
	assert.DirExists(t, theirs, "it has no lock: not made by us")
	assert.DirExists(t, other.path, "another verb's, also behind a link")
	next.remove()
	alive.remove()
	assert.NoDirExists(t, next.path)
	assert.NoDirExists(t, alive.path)

	_, err = newScratch(filepath.Join(parent, "nowhere"), "demo-")
	assert.Error(t, err)
}
