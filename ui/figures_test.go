package ui

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cordboard/core"
	"cordboard/core/proptest"
	"cordboard/ui/safe"
)

func TestAge(t *testing.T) {
	const day = 24 * time.Hour
	cases := []struct {
		ago  time.Duration
		want string
	}{
		{-time.Hour, "now"},
		{0, "now"},
		{59 * time.Second, "now"},
		{time.Minute, "1m"},
		{59 * time.Minute, "59m"},
		{time.Hour, "1h"},
		{23 * time.Hour, "23h"},
		{day, "1d"},
		{13 * day, "13d"},
		{14 * day, "2w"},
		{89 * day, "12w"},
		{90 * day, "3mo"},
		{364 * day, "12mo"},
		{365 * day, "1y"},
		{40 * 365 * day, "40y"},
	}
	for _, c := range cases {
		require.Equal(t, c.want, age(noon, noon.Add(-c.ago).UnixMilli()), c.ago)
	}
	require.Equal(t, "–", age(noon, 0))
	require.Equal(t, "–", age(noon, -5))
}

func TestCount(t *testing.T) {
	for n, want := range map[int64]string{
		-1: "–", 0: "0", 999: "999", 1000: "1.0k", 9440: "9.4k", 9949: "9.9k", 9950: "10k", 12_034: "12k", 128_000: "128k", 999_499: "999k", 999_500: "1.0M",
		1_000_000: "1.0M", 12_345_678: "12M", 1 << 40: "1.1T", 9_007_199_254_740_992: "9.0P", math.MaxInt64: "9.2E",
	} {
		require.Equal(t, want, count(n), n)
	}
}

func TestBytes(t *testing.T) {
	for n, want := range map[int64]string{-1: "0 B", 0: "0 B", 312: "312 B", 1200: "1.2 KB", 12_000: "12 KB", 5_000_000: "5.0 MB", 1 << 40: "1.1 TB"} {
		require.Equal(t, want, bytesOf(n), n)
	}
}

// R057: 0, unknown and stale are drawn differently, and a meter is never over- or underfull.
func TestTokens(t *testing.T) {
	known, stale, context := core.FlagTokensKnown, core.FlagTokensKnown|core.FlagTokensStale, core.FlagContextKnown
	cases := []struct {
		name string
		head core.Head
		want string
		part float64
		ok   bool
	}{
		{"zero", core.Head{Flags: known | context, ContextTokens: 100}, "0", 0, true},
		{"unknown", core.Head{Flags: context, ContextTokens: 100}, "–", 0, false},
		{"stale", core.Head{Flags: stale | context, Tokens: 50, ContextTokens: 100}, "~50", 0.5, true},
		{"no window", core.Head{Flags: known, Tokens: 50}, "50", 0, false},
		{"a window of 0", core.Head{Flags: known | context, Tokens: 50}, "50", 0, false},
		{"more than the window", core.Head{Flags: known | context, Tokens: 300, ContextTokens: 100}, "300", 1, true},
		{"negative", core.Head{Flags: known | context, Tokens: -3, ContextTokens: 100}, "–", 0, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, tokens(&c.head))
			part, ok := filled(&c.head)
			require.Equal(t, c.ok, ok)
			require.InDelta(t, c.part, part, 1e-9)
		})
	}
}

func TestFiguresAreShort(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		require.LessOrEqual(t, safe.Width(count(rapid.Int64().Draw(t, "n"))), 4)
		require.LessOrEqual(t, safe.Width(age(noon, rapid.Int64().Draw(t, "at"))), 4)
	})
}
