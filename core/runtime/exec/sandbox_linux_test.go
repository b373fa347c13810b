package exec_test

import (
	"os"
	osexec "os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordboard/core/runtime/exec"
)

// A sandbox command hides the data directory from the child, which still gets its message and context. Where the system makes no
// sandboxes the turn fails: nothing runs outside of one.
func TestSandboxHidesData(t *testing.T) {
	data := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(data, "cordboard.db"), []byte("secret"), 0o600))
	r, a := script(t, "spy.sh", data)
	s := newSink()
	_, err := r.Turn(t.Context(), turn("hello\n"), s)
	require.NoError(t, err)
	assert.Equal(t, "it is there\nhello\n1", s.String())

	jail := filepath.Join(filepath.Dir(a.Command[1]), "jail.sh")
	a.Sandboxed, a.Sandbox = true, []string{"unshare", "-Urm", "sh", jail, data, "--"}
	s = newSink()
	_, err = r.Turn(t.Context(), turn("hello\n"), s)
	if osexec.Command("unshare", "-Urm", "sh", jail, t.TempDir(), "--", "true").Run() == nil {
		require.NoError(t, err)
		assert.Equal(t, "nothing is there\nhello\n1", s.String())
		return
	}
	var failed *exec.Exit
	require.ErrorAs(t, err, &failed)
	assert.Empty(t, s.String())
}
