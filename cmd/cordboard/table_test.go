package main

import (
	"strings"
	"testing"
	"time"

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

func TestFigures(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1.0k", 9949: "9.9k", 9950: "10k", 999_499: "999k", 999_500: "1.0M", 34_000_000: "34M"} {
		assert.Equal(t, want, compact(n))
	}
	now := time.UnixMilli(1_796_000_000_000)
	for ago, want := range map[time.Duration]string{0: "now", -time.Hour: "now", 59 * time.Second: "now", time.Minute: "1m", 59 * time.Minute: "59m", 47 * time.Hour: "47h", 48 * time.Hour: "2d"} {
		assert.Equal(t, want, age(now, now.Add(-ago).UnixMilli()))
	}
	assert.Equal(t, nothing, age(now, 0))
	for n, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 5 << 20: "5.0 MiB", 3 << 30: "3.0 GiB"} {
		assert.Equal(t, want, bytesText(n))
	}
}
