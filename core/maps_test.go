package core_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Package comments are the maps by which a reader finds his way: every Go file they name is there: beside the comment, below core, or below
// the root.
func TestMapsNameFilesThatExist(t *testing.T) {
	root := moduleRoot(t)
	goFile := regexp.MustCompile(`[a-z0-9_]+(/[a-z0-9_]+)*\.go\b`)
	named := 0
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(file, ".go") {
			return err
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.PackageClauseOnly|parser.ParseComments)
		require.NoError(t, err)
		for _, name := range goFile.FindAllString(parsed.Doc.Text(), -1) {
			named++
			here := slices.ContainsFunc([]string{filepath.Dir(file), filepath.Join(root, "core"), root}, func(dir string) bool {
				return exists(filepath.Join(dir, name))
			})
			assert.True(t, here, "the package comment in %s names %s, which is not there", file, name)
		}
		return nil
	})
	require.NoError(t, err)
	assert.Positive(t, named)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
