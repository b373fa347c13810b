package early

import (
	"go/build"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestImportsNothingButLipgloss(t *testing.T) {
	pkg, err := build.ImportDir(".", 0)
	require.NoError(t, err)
	require.Equal(t, []string{"github.com/charmbracelet/lipgloss"}, pkg.Imports)
}

// TestRunsBeforeBubbletea builds a program that links both and reads the order of inits from the runtime's own trace.
func TestRunsBeforeBubbletea(t *testing.T) {
	const self, tea = "cordboard/themes/early", "github.com/charmbracelet/bubbletea"
	dir, err := os.MkdirTemp(".", "_order") // inside the module, so that it may import us
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	program := "package main\n\nimport (\n\t_ \"" + tea + "\"\n\t_ \"" + self + "\"\n)\n\nfunc main() {}\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.go"), []byte(program), 0o600))
	bin := filepath.Join(t.TempDir(), "order")
	out, err := exec.Command("go", "build", "-o", bin, "./"+dir).CombinedOutput()
	require.NoError(t, err, string(out))

	run := exec.Command(bin)
	run.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	trace, err := run.CombinedOutput()
	require.NoError(t, err, string(trace))

	var order []string
	for _, m := range regexp.MustCompile(`(?m)^init (\S+) @`).FindAllStringSubmatch(string(trace), -1) {
		if m[1] == self || m[1] == tea {
			order = append(order, m[1])
		}
	}
	require.Equal(t, []string{self, tea}, order, strings.TrimSpace(string(trace)))
}
