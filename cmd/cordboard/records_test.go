package main

import (
	"bytes"
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordboard/core"
)

// recordBoard answers with the records it is given.
type recordBoard struct {
	core.Board
	usage []core.UsageRow
	runs  []core.Run
	audit int // so many entries, of as many revisions
	asked []int
}

func (b *recordBoard) Info(context.Context) (core.Info, error) {
	return core.Info{Names: core.Naming{MainKey: "main", DefaultAgent: "main"}}, nil
}

func (b *recordBoard) Records(_ context.Context, q core.RecordQuery) (page core.RecordPage, _ error) {
	b.asked = append(b.asked, q.Limit)
	switch q.Kind {
	case core.RecordUsage:
		page.Usage = b.usage
	case core.RecordRuns:
		page.Runs = b.runs
	case core.RecordAudit:
		last := core.Rev(b.audit)
		if q.Before > 0 {
			last = q.Before - 1
		}
		for rev := last; rev > 0 && len(page.Audit) < q.Limit; rev-- {
			page.Audit = append(page.Audit, core.AuditEntry{Rev: rev})
		}
	}
	return page, nil
}

func cost(c float64) *float64 { return &c }

// Usage is summed by what was asked for, the day it begins at included; what has no price is not nothing.
func TestUsageSums(t *testing.T) {
	usage := func(in, out int64, cost *float64) core.Usage { return core.Usage{Input: in, Output: out, Cost: cost} }
	b := &recordBoard{
		usage: []core.UsageRow{
			{Day: "2026-11-30", Agent: "main", Model: "a/x", Runs: 2, Usage: usage(10, 1, cost(0.5))},
			{Day: "2026-11-30", Agent: "ops", Model: "b/y", Runs: 1, Usage: usage(5, 5, nil)},
			{Day: "2026-11-29", Agent: "main", Model: "b/y", Runs: 4, Usage: usage(100, 0, nil)},
			{Day: "2026-11-28", Agent: "main", Model: "a/x", Runs: 1, Usage: usage(1, 1, cost(0.25))},
		},
		runs: []core.Run{
			{SessionKey: "agent:ops:main", State: core.RunEnded, StartedAt: 1, EndedAt: 86_400_000, Usage: &core.Usage{Input: 3, Cost: cost(1)}},
			{SessionKey: "agent:ops:main", State: core.RunEnded, StartedAt: 1, EndedAt: 86_399_999},
			{SessionKey: "agent:ops:main", State: core.RunEnded, EndedAt: 5},
			{SessionKey: "agent:ops:main", State: core.RunRunning, StartedAt: 1},
			{SessionKey: "agent:ops:main", Kind: core.RunNote, State: core.RunEnded, StartedAt: 1, EndedAt: 5},
		},
	}
	for _, c := range []struct {
		by    []string
		since string
		want  []usageRow
	}{
		{[]string{"agent"}, "", []usageRow{
			{Agent: "main", Runs: 7, Input: 111, Output: 2, Cost: cost(0.75), Unpriced: true},
			{Agent: "ops", Runs: 1, Input: 5, Output: 5, Unpriced: true},
		}},
		{[]string{" Model", "day"}, "2026-11-29", []usageRow{
			{Day: "2026-11-30", Model: "a/x", Runs: 2, Input: 10, Output: 1, Cost: cost(0.5)},
			{Day: "2026-11-30", Model: "b/y", Runs: 1, Input: 5, Output: 5, Unpriced: true},
			{Day: "2026-11-29", Model: "b/y", Runs: 4, Input: 100, Unpriced: true},
		}},
		{[]string{"session"}, "", []usageRow{{Session: "agent:ops:main", Runs: 2, Input: 3, Cost: cost(1), Unpriced: true}}},
		{[]string{"day", "session", "agent"}, "1970-01-02", []usageRow{{Day: "1970-01-02", Agent: "ops", Session: "agent:ops:main", Runs: 1, Input: 3, Cost: cost(1)}}},
		{[]string{"agent"}, "2027-01-01", []usageRow{}},
	} {
		q, err := usageQueryOf(c.by, c.since)
		require.NoError(t, err)
		rows, err := q.rows(t.Context(), b)
		require.NoError(t, err)
		assert.Equal(t, c.want, rows, "%v since %s", c.by, c.since)
	}
	total := totalOf([]usageRow{{Runs: 1, Input: 2, Cost: cost(0.5)}, {Runs: 2, Output: 3, Unpriced: true}})
	assert.Equal(t, usageRow{Runs: 3, Input: 2, Output: 3, Cost: cost(0.5), Unpriced: true}, total)
	assert.Equal(t, []string{"3", "2", "3", "≥ 0.5000"}, total.figures())
}

// The audit comes a page at a time, each entry once, as many as were asked for.
func TestAuditPages(t *testing.T) {
	for _, c := range []struct {
		stored, limit int
		all           bool
		want          int
		asked         []int
	}{
		{0, 200, false, 0, []int{200}},
		{2500, 200, false, 200, []int{200}},
		{2500, 1500, false, 1500, []int{1000, 500}},
		{2500, 200, true, 2500, []int{1000, 1000, 1000}},
		{2000, 200, true, 2000, []int{1000, 1000, 1000}},
		{3, 200, true, 3, []int{1000}},
	} {
		b := &recordBoard{audit: c.stored}
		next := core.Rev(c.stored)
		seen := 0
		require.NoError(t, eachAudit(t.Context(), b, c.limit, c.all, func(e core.AuditEntry) error {
			assert.Equal(t, next, e.Rev)
			next--
			seen++
			return nil
		}))
		assert.Equal(t, c.want, seen)
		assert.Equal(t, c.asked, b.asked)
	}
}

// What an exchange did is told in the order it happened, stored text never drives the terminal.
func TestExchangeStepText(t *testing.T) {
	var out bytes.Buffer
	a := &app{owned: true}
	a.exchangeStep(&out, core.ExchangeStep{
		Name: "turn 1", From: "a", Speaker: "b", Message: "over\nto you", Reply: "\x1b[2Jdone",
		Run: core.Run{ID: "x/t1", State: core.RunEnded, Outcome: core.OutcomeOK, StartedAt: 1000, EndedAt: 2500},
	})
	a.exchangeStep(&out, core.ExchangeStep{
		Name: "announce", From: "a", Speaker: "b", Message: "say it",
		Run: core.Run{ID: "x/announce", State: core.RunEnded, Outcome: core.OutcomeError, Error: "no model", StartedAt: 1000, EndedAt: 1000},
	})
	assert.Equal(t, "\nturn 1  a → b  ok, 1.5s  run x/t1\n  over\n  to you\n  ⇠ ␛[2Jdone\n\nannounce  a → b  error, 0s  run x/announce\n  say it\n  error: no model\n",
		out.String())
}
