package config_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordboard/core/config"
)

func TestFindModel(t *testing.T) {
	c, _, err := config.Parse("f", []byte(`{ models: { providers: { p: { baseUrl: "http://h", models: [{ id: "m", thinking: ["low"] }, { id: "x/y" }, { id: "both" }] },
		q: { baseUrl: "http://h", models: [{ id: "both" }] } } } }`))
	require.NoError(t, err)
	for name, want := range map[string][]string{
		"p/m": {"p/m"}, "m": {"p/m"}, "x/y": {"p/x/y"}, "p/x/y": {"p/x/y"}, "both": {"p/both", "q/both"}, "q/both": {"q/both"}, "echo/any": {"echo/any"},
		"echo/": nil, "p/": nil, "p/no": nil, "no": nil, "": nil, "/m": nil,
	} {
		assert.Equal(t, want, c.FindModel(name), name)
	}
	levels, ok := c.DeclaresThinking("p/m", "high")
	assert.False(t, ok)
	assert.Equal(t, []string{"low"}, levels)
	for _, known := range [][2]string{{"p/m", "low"}, {"echo/echo", "high"}, {"not/configured", "high"}} {
		_, ok := c.DeclaresThinking(known[0], known[1])
		assert.True(t, ok, known)
	}
}
