package openclaw

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordboard/core"
)

// fading is a context that ends after it was asked so many times.
type fading struct {
	context.Context
	left  int64
	asked atomic.Int64
}

func (f *fading) Err() error {
	if f.asked.Add(1) > f.left {
		return context.Canceled
	}
	return nil
}

// Wherever in its planning an import is told to stop, it stops there, with nothing written, and it is asked for every part of what is large.
func TestCancelledWhileItPlans(t *testing.T) {
	const many = 3000
	d := newState(t)
	var index strings.Builder
	for i := range many {
		fmt.Fprintf(&index, ",\n  \"agent:a:k%d\": {\n    \"sessionId\": \"s%d\",\n    \"note\": %q\n  }", i, i, strings.Repeat("n", 400))
	}
	d.write("a", indexName, "{"+index.String()[1:]+"\n}")
	d.writeAt("subagents/runs.json", `{"version":2,"runs":{}}`)
	s := newStore(t)
	counting := &fading{Context: t.Context(), left: 1 << 30}
	p := planned(counting, t, s, d.dir)
	require.Len(t, p.rows, many)
	require.Greater(t, counting.asked.Load(), int64(3*many), "it is asked for every entry")
	for left := int64(0); left < counting.asked.Load(); left += 1 + counting.asked.Load()/50 {
		_, err := Import(&fading{Context: t.Context(), left: left}, s, d.dir, Options{})
		require.ErrorIs(t, err, context.Canceled, left)
	}
	assert.Empty(t, sessionKeys(t, s))
}

func planned(ctx context.Context, t testing.TB, s core.Store, dir string) *plan {
	t.Helper()
	var found problems
	c, err := openCatalog(ctx, s, dir)
	require.NoError(t, err)
	defer c.close()
	_, err = c.src.scan(ctx, &found)
	require.NoError(t, err)
	p, err := c.newPlan(ctx, s, &found)
	require.NoError(t, err)
	return p
}
