package core_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cordboard/core"
	"cordboard/core/proptest"
)

func TestNearest(t *testing.T) {
	words := []string{"visibility", "mainKey", "dmScope", "id", "fps", "url"}
	for name, want := range map[string]string{
		"visibilty": "visibility", "vsiibility": "visibility", "MAINKEY": "mainKey", "dmscop": "dmScope", "di": "id", "fsp": "fps", "uri": "url",
		"colour": "", "x": "", "session_key": "", strings.Repeat("visibility", 5): "",
	} {
		assert.Equal(t, want, core.Nearest(name, words), name)
	}
}

func TestDistanceIsAMetric(t *testing.T) {
	word := rapid.StringMatching(`[abé]{0,6}`)
	proptest.Check(t, func(t *rapid.T) {
		a, b := word.Draw(t, "a"), word.Draw(t, "b")
		d := core.Distance(a, b)
		require.Equal(t, d, core.Distance(b, a))
		require.Equal(t, a == b, d == 0)
		require.LessOrEqual(t, d, max(len([]rune(a)), len([]rune(b))))
		require.Equal(t, d, core.Distance("x"+a, "x"+b), "a common start costs nothing")
	})
}
