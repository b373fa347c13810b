package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordboard/ui/safe"
)

func sample() *table {
	t := &table{columns: []column{
		{title: "SESSION", grow: true, tail: true},
		{title: "NAME", spare: 2},
		{title: "NOTE", spare: 3},
		{title: "TOKENS", right: true},
	}}
	t.add("agent:main:telegram:group:-1001843377", "Ops Lounge", nothing, "8.3k")
	t.add("agent:main:会議室:\x1b[31m", "会議", "", "12")
	return t
}

func render(t *testing.T, width int) []string {
	t.Helper()
	var out strings.Builder
	require.NoError(t, sample().write(&out, width))
	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
}

// Without a terminal nothing is cut; on one every line fits, spare columns go first, and a key keeps its end.
func TestTableFitsTheTerminal(t *testing.T) {
	assert.Equal(t, []string{
		"SESSION                                NAME        TOKENS",
		"agent:main:telegram:group:-1001843377  Ops Lounge    8.3k",
		"agent:main:会議室:␛[31m                会議            12",
	}, render(t, 0))
	assert.Equal(t, []string{
		"SESSION                            TOKENS",
		"…:main:telegram:group:-1001843377    8.3k",
		"agent:main:会議室:␛[31m                12",
	}, render(t, 41))
	for width := 22; width < 90; width++ {
		for _, line := range render(t, width) {
			assert.LessOrEqual(t, safe.Width(line), width)
		}
	}
}

// A target is met or missed by the median, at the edge too; a figure without one is never marked.
func TestBenchMarksMisses(t *testing.T) {
	for _, c := range []struct {
		target string
		median float64
		missed bool
	}{
		{"≤ 3", 2.9, false}, {"≤ 3", 3, false}, {"≤ 3", 3.1, true}, {"≥ 0.12", 0.11, true}, {"≥ 0.12", 0.12, false}, {"≥ 333", 400, false}, {"", 1e9, false},
	} {
		assert.Equal(t, c.missed, figure{Target: c.target, Median: c.median, P95: 1e6}.misses(), "%v of %s", c.median, c.target)
	}
	var out strings.Builder
	a := &app{streams: streams{out: &out, width: func() int { return 0 }}}
	require.NoError(t, a.benchTable(benchReport{Figures: []figure{{Work: "slow", Target: "≤ 1", Median: 2, Missed: true}, {Work: "fast", Target: "≤ 1"}}}))
	assert.Contains(t, out.String(), "≤ 1 ✗\n")
	assert.Contains(t, out.String(), "targets judge the median: 1 target missed (✗)")
	assert.Equal(t, 2, strings.Count(out.String(), "✗"))
}

func TestFigures(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 5 << 20: "5.0 MiB", 3 << 30: "3.0 GiB"} {
		assert.Equal(t, want, bytesText(n))
	}
}
