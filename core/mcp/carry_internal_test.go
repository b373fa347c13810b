package mcp

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// A server never works where the owner does, which may be the data directory.
func TestPlaceOfAServer(t *testing.T) {
	home := t.TempDir()
	for given, want := range map[string]string{home: home, "": "/", home + "/missing": "/", "relative": "/"} {
		s := &source{box: &Toolbox{options: ToolboxOptions{Getenv: func(string) string { return given }}}}
		assert.Equal(t, want, s.place(), given)
	}
}
